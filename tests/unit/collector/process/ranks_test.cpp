// SPDX-License-Identifier: Apache-2.0
#include "collector/process/ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace gable {
namespace {

using Variables = std::vector<std::pair<const char*, const char*>>;

constexpr const char* kAll[] = {"WORLD_SIZE",
                                "OMPI_COMM_WORLD_SIZE",
                                "PMI_SIZE",
                                "MV2_COMM_WORLD_SIZE",
                                "SLURM_STEP_NUM_TASKS",
                                "LOCAL_WORLD_SIZE",
                                "MPI_LOCALNRANKS",
                                "SLURM_STEP_NUM_NODES",
                                "OMPI_COMM_WORLD_LOCAL_SIZE",
                                "MV2_COMM_WORLD_LOCAL_SIZE"};

struct Told {
  Variables variables;
  Ranks ranks;
  bool one_node;
};

TEST(ToldRanks, AreWhatTheLaunchersVariablesSay) {
  const std::vector<Told> table = {
      {{}, Ranks::unknown, false},
      {{{"WORLD_SIZE", "0"}}, Ranks::unknown, false},
      {{{"WORLD_SIZE", "x"}}, Ranks::unknown, false},
      {{{"WORLD_SIZE", "1"}}, Ranks::one, true},
      {{{"WORLD_SIZE", "2"}}, Ranks::several, false},
      {{{"WORLD_SIZE", "10"}}, Ranks::several, false},
      {{{"WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}, Ranks::several, false},
      {{{"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}}, Ranks::several, true},
      {{{"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}}, Ranks::several, false},
      {{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}, Ranks::several, true},
      {{{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "4"}}, Ranks::several, true},
      {{{"MV2_COMM_WORLD_SIZE", "4"}, {"MV2_COMM_WORLD_LOCAL_SIZE", "4"}}, Ranks::several, true},
      {{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "1"}}, Ranks::several, true},
      {{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "2"}}, Ranks::several, false},
      {{{"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}, {"SLURM_STEP_NUM_NODES", "1"}},
       Ranks::several,
       false}};
  for (const auto& told : table) {
    std::string said;
    for (const char* name : kAll) ::unsetenv(name);
    for (const auto& [name, value] : told.variables) {
      ::setenv(name, value, 1);
      said += std::string(name) + "=" + value + " ";
    }
    EXPECT_EQ(told_ranks(), told.ranks) << said;
    EXPECT_EQ(many_ranks(), told.ranks == Ranks::several) << said;
    EXPECT_EQ(told_one_node(), told.one_node) << said;
  }
  for (const char* name : kAll) ::unsetenv(name);
}

TEST(ToldRanks, ACommunicatorIsMadeInNcclsOwnDomain) {
  EXPECT_EQ(made_in("NCCL", "ncclCommInitAll"), Communicator::own_gpus);
  EXPECT_EQ(made_in("NCCL", "ncclCommInitRank"), Communicator::processes);
  EXPECT_EQ(made_in("NCCL", "ncclAllReduce"), Communicator::none);
  EXPECT_EQ(made_in("mine", "ncclCommInitAll"), Communicator::none);
}

}  // namespace
}  // namespace gable
