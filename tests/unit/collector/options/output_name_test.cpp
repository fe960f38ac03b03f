// SPDX-License-Identifier: Apache-2.0
#include "collector/options/output_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace gable {
namespace {

TEST(OutputName, PutsInProcessHostAndEnvironment) {
  ASSERT_EQ(setenv("GABLE_TEST_RANK", "7", 1), 0);
  ASSERT_EQ(unsetenv("GABLE_TEST_UNSET"), 0);
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(expand_output_name("gable-%h-%p.json"),
            "gable-" + std::string(host) + "-" + pid + ".json");
  EXPECT_EQ(expand_output_name("r%q{GABLE_TEST_RANK}.json"), "r7.json");
  std::string unset;
  EXPECT_EQ(expand_output_name("r%q{GABLE_TEST_UNSET}.json", &unset), "r" + pid + ".json");
  EXPECT_EQ(unset, "GABLE_TEST_UNSET");
  EXPECT_EQ(expand_output_name("%q{GABLE_TEST_UNSET}%q{GABLE_TEST_RANK}-%q{GABLE_TEST_}", &unset),
            pid + "7-" + pid);
  EXPECT_EQ(unset, "GABLE_TEST_UNSET, GABLE_TEST_UNSET, GABLE_TEST_");
  EXPECT_EQ(expand_output_name("%p%p%h.x"), pid + pid + host + ".x");
  EXPECT_EQ(expand_output_name("a%"), "a%");
  EXPECT_EQ(expand_output_name("}%q{"), "}%q{");
  EXPECT_EQ(expand_output_name("100%.json"), "100%.json");
  EXPECT_EQ(expand_output_name("%x%%q{open"), "%x%%q{open");
  EXPECT_EQ(expand_output_name(""), "");
}

class RankInName : public ::testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : {"RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"})
      unsetenv(name);
  }
  static void is_rank(const char* rank, const char* size) {
    setenv("RANK", rank, 1);
    setenv("WORLD_SIZE", size, 1);
  }
};

TEST_F(RankInName, ItsOwnSequence) {
  std::string unset;
  EXPECT_EQ(expand_output_name("run-%r.json", &unset), "run-" + std::to_string(getpid()) + ".json");
  EXPECT_EQ(unset, "%r");
  is_rank("5", "8");
  unset.clear();
  EXPECT_EQ(expand_output_name("run-%r.json", &unset), "run-5.json");
  EXPECT_EQ(own_output_name("run-%r.json", &unset), "run-5.json");
  EXPECT_EQ(unset, "");
}

TEST_F(RankInName, AddedInAJobOfSeveral) {
  EXPECT_EQ(own_output_name("a.b/run.json"), "a.b/run.json") << "no job";
  is_rank("0", "1");
  EXPECT_EQ(own_output_name("run.json"), "run.json") << "no other rank";
  is_rank("5", "8");
  EXPECT_EQ(own_output_name("a.b/run.json"), "a.b/run-rank5.json");
  EXPECT_EQ(own_output_name("%q{RANK}/run.json"), "5/run.json");
  EXPECT_EQ(own_output_name("%q{WORLD_SIZE}/run.json"), "8/run-rank5.json");
  EXPECT_EQ(own_output_name("/dev/stdout"), "/dev/stdout");
  EXPECT_EQ(own_output_name("/dev/null"), "/dev/null");
}

TEST_F(RankInName, IsThatOfTheLauncherWithSeveralRanks) {
  is_rank("0", "1");
  setenv("SLURM_PROCID", "3", 1);
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_EQ(own_output_name("run.json"), "run-rank3.json");
}

TEST_F(RankInName, OfAPattern) {
  EXPECT_EQ(with_rank("a.b/run-%p.json"), "a.b/run-%p-rank%r.json");
  for (const std::string has : {"%r.json", "%q{RANK}", "a%h-%q{SLURM_PROCID}.json"})
    EXPECT_EQ(with_rank(has), has);
  for (const std::string lacks : {"%q{RANK", "%q{WORLD_SIZE}", "RANK", "%", "%q{}"})
    EXPECT_FALSE(names_rank(lacks)) << lacks;
}

TEST(WithSuffix, GoesBeforeTheExtension) {
  EXPECT_EQ(with_suffix("run.json", "2"), "run-2.json");
  EXPECT_EQ(with_suffix("a.b/run.x.json", "2"), "a.b/run.x-2.json");
  EXPECT_EQ(with_suffix("a.b/run", "2"), "a.b/run-2") << "that dot is the folder's";
  EXPECT_EQ(with_suffix("a/.json", "2"), "a/-2.json");
  EXPECT_EQ(with_suffix("run", "2"), "run-2");
}

}  // namespace
}  // namespace gable
