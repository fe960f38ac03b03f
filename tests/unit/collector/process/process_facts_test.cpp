// SPDX-License-Identifier: Apache-2.0
#include "collector/process/process_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gable {
namespace {

TEST(ProcessFacts, ASuffixComesBeforeTheLastEndingOfTheFile) {
  EXPECT_EQ(with_suffix("run.json", "2"), "run-2.json");
  EXPECT_EQ(with_suffix("a.b/run.x.json", "2"), "a.b/run.x-2.json");
  EXPECT_EQ(with_suffix("a.b/run", "2"), "a.b/run-2") << "that dot is the folder's";
  EXPECT_EQ(with_suffix("a/.json", "2"), "a/-2.json");
  EXPECT_EQ(with_suffix("run", "2"), "run-2");
}

TEST(ProcessFacts, TheCommandIsShownUnlessTheUserKeepsIt) {
  Settings settings;
  EXPECT_EQ(shown_command_line(settings), testing::internal::GetArgvs());
  settings.no_command = true;
  EXPECT_TRUE(shown_command_line(settings).empty());
}

TEST(ProcessFacts, PlayedByTheOptionOrTheDriversVariable) {
  Settings settings;
  ::unsetenv("GABLE_PLAYBACK");
  EXPECT_FALSE(is_played(settings));
  ::setenv("GABLE_PLAYBACK", "gpu.jsonl", 1);
  EXPECT_TRUE(is_played(settings));
  ::unsetenv("GABLE_PLAYBACK");
  settings.playback = "gpu.jsonl";
  EXPECT_TRUE(is_played(settings));
}

}  // namespace
}  // namespace gable
