// SPDX-License-Identifier: Apache-2.0
// When the state of a GPU is worth a line, and what it says.
#include "analysis/report/gpu_words.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

Report on(GpuState::Throttled throttled, double mhz = 1410, double clocks_set = 0) {
  Report report;
  DeviceInfo& device = report.devices.emplace_back();
  device.sm_clock_max_hz = 1980000000;
  GpuState& state = device.state.emplace();
  state.samples = 50;
  state.sm_clock = {mhz * 1e6, mhz * 1e6 - 1, mhz * 1e6 + 1};
  state.throttled = throttled;
  state.clocks_set = clocks_set;
  return report;
}

using Lines = std::vector<std::string>;

TEST(GpuWords, ATwentiethOfTheSamplesIsNotWorthALine) {
  EXPECT_EQ(gpu_lines(on({.any = 0.05, .power_cap = 0.05})), Lines());
  EXPECT_EQ(gpu_notes(on({.any = 0.05, .power_cap = 0.05})), Lines());
  EXPECT_EQ(
      gpu_lines(on({.any = 0.06, .power_cap = 0.06})),
      Lines{"GPU 0 throttled: power cap, 6 % of samples; mean SM clock 1.41 GHz of 1.98 GHz"});
}

TEST(GpuWords, TheMostFrequentReasonComesFirstAndHasTheRemedy) {
  const auto report = on({.any = 0.7, .power_cap = 0.1, .sw_thermal = 0.625});
  EXPECT_EQ(throttled_by(report.devices[0]),
            "SW thermal slowdown, 63 % of samples, power cap, 10 %");
  EXPECT_EQ(gpu_notes(report),
            Lines{"The clocks of device 0 were throttled (SW thermal slowdown, 63 % of samples, "
                  "power cap, 10 %), its mean SM clock was 1.41 GHz of 1.98 GHz: look at its "
                  "cooling."});
}

TEST(GpuWords, HwSlowdownIsSaidWhereNothingSaysItMoreClosely) {
  EXPECT_EQ(throttled_by(on({.any = 0.5, .hw_thermal = 0.5, .hw_slowdown = 0.5}).devices[0]),
            "HW thermal slowdown, 50 % of samples");
  EXPECT_EQ(throttled_by(on({.any = 0.5, .hw_slowdown = 0.5}).devices[0]),
            "HW slowdown, 50 % of samples");
}

TEST(GpuWords, AClockThatTheUserSetIsLockedAndNotThrottled) {
  const auto report = on({}, 1200, 1);
  EXPECT_FALSE(is_throttled(report.devices[0]));
  EXPECT_EQ(gpu_lines(report), Lines{"GPU 0: SM clock locked at 1.2 GHz of 1.98 GHz"});
  EXPECT_EQ(gpu_lines(on({}, 1980, 1)), Lines());  // at the highest it holds nothing down
}

TEST(GpuWords, AClockThatNeverMovesIsLocked) {
  auto report = on({}, 1200);
  GpuState& state = *report.devices[0].state;
  EXPECT_EQ(gpu_lines(report), Lines());  // it moved
  state.sm_clock.min = state.sm_clock.max = state.sm_clock.mean;
  EXPECT_EQ(gpu_lines(report), Lines{"GPU 0: SM clock locked at 1.2 GHz of 1.98 GHz"});
  EXPECT_NE(gpu_notes(report).at(0).find("probably locked"), std::string::npos);
  state.samples = 9;  // too few to know
  EXPECT_EQ(gpu_lines(report), Lines());
}

TEST(GpuWords, NothingIsSaidOfWhatIsUnknown) {
  Report report;
  report.devices.emplace_back();
  EXPECT_EQ(gpu_lines(report), Lines());
  report.devices[0].state.emplace().samples = 20;
  EXPECT_EQ(gpu_lines(report), Lines());
}

}  // namespace
}  // namespace gable
