// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/border.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(Border, IsCalledAsTheReportSays) {
  for (const auto point : {StepPoint::forward, StepPoint::optimizer, StepPoint::call}) {
    EXPECT_STREQ(name_of(Border::launches, point), "launches");
    EXPECT_STREQ(name_of(Border::period, point), "period");
    EXPECT_STREQ(name_of(Border::recurring, point), "range");
    EXPECT_STREQ(name_of(Border::profiler, point), "profiler");
    EXPECT_STREQ(name_of(Border::range, point), "range");
  }
  EXPECT_STREQ(name_of(Border::point, StepPoint::forward), "forward");
  EXPECT_STREQ(name_of(Border::point, StepPoint::optimizer), "optimizer");
  EXPECT_STREQ(name_of(Border::point, StepPoint::call), "call");
}

}  // namespace
}  // namespace gable
