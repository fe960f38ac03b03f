// SPDX-License-Identifier: Apache-2.0
// What readings of a GPU come to.
#include "analysis/events/gpu_state.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

using R = GpuReading;

GpuReading reading(double mhz, std::uint64_t reasons, double watts = 300) {
  return {.sm_clock_hz = mhz * 1e6,
          .memory_clock_hz = 3201e6,
          .power_w = watts,
          .power_limit_w = 700,
          .temperature_c = 60,
          .reasons = reasons};
}

GpuState state_of(const std::vector<GpuReading>& readings) {
  GpuStateSum sum;
  for (const auto& each : readings) sum.add(each);
  return sum.state().value_or(GpuState());
}

TEST(GpuState, IsNothingWithoutAReading) {
  GpuStateSum sum;
  EXPECT_EQ(sum.state(), std::nullopt);
  sum.add(GpuReading());
  EXPECT_EQ(sum.state(), std::nullopt);
}

TEST(GpuState, HasClocksAndPower) {
  const auto state = state_of({reading(1000, 0, 200), reading(1400, 0, 600), reading(1200, 0)});
  EXPECT_EQ(state.samples, 3u);
  EXPECT_EQ(state.sm_clock, (GpuState::Clock{1200e6, 1000e6, 1400e6}));
  EXPECT_EQ(state.memory_clock, (GpuState::Clock{3201e6, 3201e6, 3201e6}));
  EXPECT_NEAR(*state.power_mean_w, 1100.0 / 3, 1e-9);
  EXPECT_EQ(state.power_max_w, 600);
  EXPECT_EQ(state.power_limit_w, 700);
  EXPECT_EQ(state.temperature_max_c, 60);
  EXPECT_EQ(state.throttled, GpuState::Throttled());
  EXPECT_EQ(state.clocks_set, 0);
}

TEST(GpuState, AnIdleGpuHasNoPartInClocksPowerAndShares) {
  auto idle = reading(210, R::kIdle, 70);
  idle.temperature_c = 65;
  const auto state = state_of({idle, reading(1400, R::kPowerCap, 600), idle});
  EXPECT_EQ(state.samples, 1u);
  EXPECT_EQ(state.idle_samples, 2u);
  EXPECT_EQ(state.sm_clock.min, 1400e6);
  EXPECT_EQ(state.power_mean_w, 600);
  EXPECT_EQ(state.throttled->power_cap, 1);
  EXPECT_EQ(state.temperature_max_c, 65);
  const auto never = state_of({idle});
  EXPECT_EQ(never.samples, 0u);
  EXPECT_EQ(never.sm_clock, GpuState::Clock());
  EXPECT_EQ(never.throttled, std::nullopt);
}

TEST(GpuState, EachReasonHasItsShare) {
  const auto state = state_of({reading(1, R::kPowerCap), reading(1, R::kPowerCap | R::kSwThermal),
                               reading(1, R::kHwThermal | R::kHwSlowdown),
                               reading(1, R::kPowerBrake), reading(1, R::kSyncBoost),
                               reading(1, R::kSetByUser), reading(1, R::kDisplay), reading(1, 0)});
  ASSERT_TRUE(state.throttled);
  const auto& throttled = *state.throttled;
  EXPECT_EQ(throttled.power_cap, 0.25);
  EXPECT_EQ(throttled.sw_thermal, 0.125);
  EXPECT_EQ(throttled.hw_thermal, 0.125);
  EXPECT_EQ(throttled.hw_slowdown, 0.125);
  EXPECT_EQ(throttled.power_brake, 0.125);
  EXPECT_EQ(throttled.sync_boost, 0.125);
  // A clock that the user or a display set is not throttled.
  EXPECT_EQ(throttled.any, 0.625);
  EXPECT_EQ(state.clocks_set, 0.125);
}

TEST(GpuState, WhatIsNotReadIsUnknown) {
  GpuReading cold;
  cold.temperature_c = 30;
  const auto state = state_of({cold});
  EXPECT_EQ(state.samples, 1u);
  EXPECT_EQ(state.sm_clock, GpuState::Clock());
  EXPECT_EQ(state.power_mean_w, std::nullopt);
  EXPECT_EQ(state.temperature_max_c, 30);
  EXPECT_EQ(state.throttled, std::nullopt);
  EXPECT_EQ(state.clocks_set, std::nullopt);
  // Shares are of the samples that tell.
  EXPECT_EQ(state_of({cold, reading(1, R::kPowerCap)}).throttled->power_cap, 1);
}

TEST(GpuState, OfTwoGpusCountsTheirSamplesAlike) {
  const auto one = state_of({reading(1000, R::kPowerCap, 100)});
  const auto other =
      state_of({reading(1400, 0, 500), reading(1400, 0, 500), reading(1400, 0, 500)});
  const auto both = together(one, other);
  EXPECT_EQ(both.samples, 4u);
  EXPECT_EQ(both.sm_clock, (GpuState::Clock{1300e6, 1000e6, 1400e6}));
  EXPECT_EQ(both.power_mean_w, 400);
  EXPECT_EQ(both.power_max_w, 500);
  EXPECT_EQ(both.throttled->power_cap, 0.25);
  EXPECT_EQ(both.power_limit_w, 700);
  GpuReading cold;
  cold.temperature_c = 30;
  const auto part = together(one, state_of({cold}));
  EXPECT_EQ(part.sm_clock.mean, std::nullopt);
  EXPECT_EQ(part.power_limit_w, std::nullopt);
  EXPECT_EQ(part.throttled, std::nullopt);
}

// Two samples of the one, six of the other: a mean is a quarter of the way from the other's.
TEST(GpuState, OfTwoGpusHasEveryPart) {
  using Throttled = GpuState::Throttled;
  GpuState one, other;
  one.samples = 2;
  one.idle_samples = 3;
  one.sm_clock = {1000, 900, 1100};
  one.memory_clock = {2000, 1900, 2100};
  one.power_mean_w = 100;
  one.power_max_w = 300;
  one.power_limit_w = 700;
  one.temperature_max_c = 60;
  one.clocks_set = 1;
  one.throttled = Throttled{0.8, 0.04, 0.08, 0.12, 0.16, 0.2, 0.24};
  other.samples = 6;
  other.idle_samples = 5;
  other.sm_clock = {1400, 1300, 1500};
  other.memory_clock = {2400, 1800, 2000};
  other.power_mean_w = 200;
  other.power_max_w = 250;
  other.power_limit_w = 600;
  other.temperature_max_c = 70;
  other.clocks_set = 0;
  other.throttled = Throttled{0, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4};
  const GpuState both = together(one, other);
  EXPECT_EQ(both.samples, 8u);
  EXPECT_EQ(both.idle_samples, 8u);
  EXPECT_EQ(both.sm_clock, (GpuState::Clock{1300, 900, 1500}));
  EXPECT_EQ(both.memory_clock, (GpuState::Clock{2300, 1800, 2100}));
  EXPECT_EQ(both.power_mean_w, 175);
  EXPECT_EQ(both.power_max_w, 300);
  EXPECT_EQ(both.power_limit_w, std::nullopt);
  EXPECT_EQ(both.temperature_max_c, 70);
  EXPECT_EQ(both.clocks_set, 0.25);
  ASSERT_TRUE(both.throttled);
  EXPECT_DOUBLE_EQ(both.throttled->any, 0.2);
  EXPECT_DOUBLE_EQ(both.throttled->power_cap, 0.31);
  EXPECT_DOUBLE_EQ(both.throttled->sw_thermal, 0.32);
  EXPECT_DOUBLE_EQ(both.throttled->hw_thermal, 0.33);
  EXPECT_DOUBLE_EQ(both.throttled->hw_slowdown, 0.34);
  EXPECT_DOUBLE_EQ(both.throttled->power_brake, 0.35);
  EXPECT_DOUBLE_EQ(both.throttled->sync_boost, 0.36);
  // What one of them does not know, whichever it is.
  other.throttled.reset();
  other.clocks_set.reset();
  EXPECT_FALSE(together(one, other).throttled);
  EXPECT_FALSE(together(other, one).throttled);
  EXPECT_FALSE(together(one, other).clocks_set);
  EXPECT_FALSE(together(other, one).clocks_set);
}

// A reading of one thing alone is a reading.
TEST(GpuState, EachPartAloneIsAReading) {
  for (Maybe GpuReading::*part :
       {&GpuReading::sm_clock_hz, &GpuReading::memory_clock_hz, &GpuReading::power_w,
        &GpuReading::power_limit_w, &GpuReading::temperature_c}) {
    GpuReading reading;
    reading.*part = 5;
    EXPECT_EQ(state_of({reading, GpuReading()}).samples, 1u);
  }
  GpuReading reading;
  reading.reasons = 0;
  EXPECT_EQ(state_of({reading}).samples, 1u);
}

TEST(GpuState, TheLastPowerLimitCounts) {
  GpuReading first, second;
  first.power_limit_w = 700;
  second.power_limit_w = 600;
  EXPECT_EQ(state_of({first, second, reading(1, 0)}).power_limit_w, 700);
  EXPECT_EQ(state_of({first, second}).power_limit_w, 600);
}

TEST(GpuState, MeansCountReadingsThatHaveTheValue) {
  GpuReading cold;
  cold.temperature_c = 30;
  const auto state = state_of({reading(1500, 0, 400), cold, reading(1100, 0, 200)});
  EXPECT_EQ(state.samples, 3u);
  EXPECT_EQ(state.sm_clock, (GpuState::Clock{1300e6, 1100e6, 1500e6}));
  EXPECT_EQ(state.power_mean_w, 300);
  EXPECT_EQ(state.power_max_w, 400);
}

}  // namespace
}  // namespace gable
