// SPDX-License-Identifier: Apache-2.0
#include "collector/process/notes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

TEST(Notes, WhatIsSaidStandsOnceOnStderrAndInTheReport) {
  testing::internal::CaptureStderr();
  Notes notes;
  notes.say("a");
  notes.record("b");
  notes.say("a");
  notes.say("b");
  notes.say("c");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gable: a\ngable: c\n");
  EXPECT_EQ(notes.all(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Notes, ARankThatKeepsThemPrintsOnlyWhatHasNoReport) {
  testing::internal::CaptureStderr();
  Notes notes;
  notes.say("before");
  notes.keep_to_report();
  notes.say("kept");
  notes.insist("no report");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gable: before\ngable: no report\n");
  EXPECT_EQ(notes.all(), (std::vector<std::string>{"before", "kept", "no report"}));
}

TEST(Notes, NothingIsSaidToAFileThatTookTheNumberOfStderr) {
  Notes notes;
  testing::internal::CaptureStderr();
  notes.say("a");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Notes, TwoHundredAreKept) {
  Notes notes;
  for (int i = 0; i < 300; ++i) notes.record(std::to_string(i));
  ASSERT_EQ(notes.all().size(), 200u);
  EXPECT_EQ(notes.all().back(), "199");
}

}  // namespace
}  // namespace gable
