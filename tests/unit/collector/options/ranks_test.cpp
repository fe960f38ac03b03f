// SPDX-License-Identifier: Apache-2.0
#include "collector/options/ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace gable {
namespace {

using Variables = std::vector<std::pair<const char*, const char*>>;

constexpr const char* kAll[] = {"RANK",
                                "OMPI_COMM_WORLD_RANK",
                                "PMI_RANK",
                                "MV2_COMM_WORLD_RANK",
                                "FLUX_TASK_RANK",
                                "FLUX_JOB_SIZE",
                                "JSM_NAMESPACE_RANK",
                                "JSM_NAMESPACE_SIZE",
                                "JSM_NAMESPACE_LOCAL_SIZE",
                                "PALS_RANKID",
                                "PMIX_RANK",
                                "SLURM_PROCID",
                                "WORLD_SIZE",
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
      {{{"FLUX_JOB_SIZE", "4"}}, Ranks::several, false},
      {{{"JSM_NAMESPACE_SIZE", "4"}, {"JSM_NAMESPACE_LOCAL_SIZE", "4"}}, Ranks::several, true},
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

class ToldRank : public ::testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : kAll) ::unsetenv(name);
  }
};

TEST_F(ToldRank, EachLaunchersVariableAndTheInnermostFirst) {
  EXPECT_EQ(told_rank(), std::nullopt);
  int value = 9;
  for (const char* name :
       {"SLURM_PROCID", "PMIX_RANK", "PALS_RANKID", "JSM_NAMESPACE_RANK", "FLUX_TASK_RANK",
        "MV2_COMM_WORLD_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "RANK"}) {
    setenv(name, std::to_string(--value).c_str(), 1);
    EXPECT_EQ(told_rank(), value) << name;
    EXPECT_TRUE(is_rank_variable(name));
  }
  EXPECT_FALSE(is_rank_variable("WORLD_SIZE"));
  EXPECT_FALSE(is_rank_variable(""));
}

TEST_F(ToldRank, WhatIsNoNumberIsPassedOver) {
  setenv("SLURM_PROCID", "4", 1);
  for (const char* text : {"", "x", "3x", "-1"}) {
    setenv("RANK", text, 1);
    EXPECT_EQ(told_rank(), 4) << text;
  }
  setenv("RANK", "0", 1);
  EXPECT_EQ(told_rank(), 0);
}

TEST_F(ToldRank, APlaceInAJobIsToldByOneLauncher) {
  setenv("RANK", "0", 1);
  EXPECT_FALSE(told_place()) << "of how many is unknown";
  setenv("WORLD_SIZE", "1", 1);
  EXPECT_FALSE(told_place()) << "the only one";
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_FALSE(told_place()) << "which of them is unknown";
  setenv("SLURM_PROCID", "3", 1);
  ASSERT_TRUE(told_place());
  EXPECT_EQ(told_place()->rank, 3) << "each of four programs has a rank 0 of its own";
  EXPECT_EQ(told_place()->size, 4);
  setenv("WORLD_SIZE", "8", 1);
  EXPECT_EQ(told_place()->rank, 0);
  EXPECT_EQ(told_place()->size, 8);
}

}  // namespace
}  // namespace gable
