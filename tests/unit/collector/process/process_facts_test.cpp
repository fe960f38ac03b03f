// SPDX-License-Identifier: Apache-2.0
#include "collector/process/process_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gable {
namespace {

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
