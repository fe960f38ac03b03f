// SPDX-License-Identifier: Apache-2.0
#include "collector/options/block.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

TEST(EarlyBlock, IsTakenOnce) {
  EarlyBlock early;
  EXPECT_FALSE(early.take());
  early.begin({{.wait = 1, .warmup = 2, .active = 3, .repeat = 4}, {"conv"}, {"fc"}});
  const auto taken = early.take();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->schedule.active, 3u);
  EXPECT_EQ(taken->include, std::vector<std::string>{"conv"});
  EXPECT_EQ(taken->exclude, std::vector<std::string>{"fc"});
  EXPECT_FALSE(early.take());
}

TEST(EarlyBlock, TheLastOneCounts) {
  EarlyBlock early;
  early.begin({{}, {"first"}, {}});
  early.begin({{}, {"second"}, {}});
  EXPECT_EQ(early.take()->include, std::vector<std::string>{"second"});
}

TEST(EarlyBlock, OneThatEndedIsNotOpened) {
  EarlyBlock early;
  early.begin({});
  early.end();
  EXPECT_FALSE(early.take());
}

}  // namespace
}  // namespace gable
