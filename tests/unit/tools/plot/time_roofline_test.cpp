// SPDX-License-Identifier: Apache-2.0
// The time-based roofline against its definition by intensity and machine balance.
#include "tools/plot/time_roofline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/roofline/roofline.h"

namespace gable::tests {
namespace {

// Published for a V100: 15.7 TFLOP/s in FP32, 900 GB/s.
constexpr double kCompute = 15.7e12, kMemory = 900e9, kBalance = kCompute / kMemory;

struct Work {
  double flops, bytes, ns;
};

std::optional<TimePoint> point_of(const Work& work) {
  return time_point(work.ns, work.flops / kCompute * 1e9, work.bytes / kMemory * 1e9);
}

TEST(TimeRoofline, FollowsTheDefinition) {
  for (const Work& work :
       {Work{1e9, 1e6, 1e5}, Work{1e9, 1e9, 2e6}, Work{kBalance * 1e6, 1e6, 5e4}}) {
    const double intensity = work.flops / work.bytes;
    const auto point = point_of(work);
    ASSERT_TRUE(point);
    if (intensity >= kBalance) {
      EXPECT_DOUBLE_EQ(point->compute_ns, work.ns);
      EXPECT_NEAR(point->memory_ns, work.ns * kBalance / intensity, 1e-6 * work.ns);
    } else {
      EXPECT_DOUBLE_EQ(point->memory_ns, work.ns);
      EXPECT_NEAR(point->compute_ns, work.ns * intensity / kBalance, 1e-6 * work.ns);
    }
  }
}

TEST(TimeRoofline, OpenAndClosedSymbolsLieOnOneIntensityAndTheirDistanceIsTheFraction) {
  const Work work{3e10, 4e8, 7e6};
  const auto point = point_of(work);
  const double open_flops = point->compute_ns * 1e-9 * kCompute;
  const double open_bytes = point->memory_ns * 1e-9 * kMemory;
  EXPECT_NEAR(open_flops / open_bytes, work.flops / work.bytes, 1e-9 * work.flops / work.bytes);
  const double fraction = work.flops / kCompute * 1e9 / work.ns;  // compute binds here
  EXPECT_NEAR(open_flops / work.flops, 1 / fraction, 1e-9);
  EXPECT_NEAR(open_bytes / work.bytes, 1 / fraction, 1e-9);
  EXPECT_NEAR(point->over_roof, 1 / fraction, 1e-9);
}

TEST(TimeRoofline, WithoutAFlopMemoryTakesAllAndUnknownStaysUnknown) {
  const auto copy = time_point(1e5, 0, 8e4);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->compute_ns, 0);
  EXPECT_EQ(copy->memory_ns, 1e5);
  EXPECT_FALSE(time_point(std::nullopt, 1, 1));
  EXPECT_FALSE(time_point(1e5, std::nullopt, 1));
  EXPECT_FALSE(time_point(1e5, 1, std::nullopt));
  EXPECT_FALSE(time_point(1e5, 0, 0));
}

TEST(TimeRoofline, AKernelShorterThanItsLaunchIsInsideItsOverheadBox) {
  const double latency = 4000;
  const auto point = time_point(3e3, 1e3, 2e3);
  const Maybe box = overhead_box_ns(1, latency);
  EXPECT_LT(std::max(point->compute_ns, point->memory_ns), *box);
  EXPECT_EQ(*overhead_box_ns(25, latency), 1e5);  // launches add up
  EXPECT_FALSE(overhead_box_ns(1, std::nullopt));
}

// A published walk-through of ResNet-18 on an A100 (19.5 TFLOP/s, 1555 GB/s): 131.77 GFLOP and 8.03
// GB. It states an intensity of 16.471 and draws the point at 25.6 TFLOP/s, above the roof.
TEST(TimeRoofline, APublishedPointIsDividedRightAndStaysUnderTheRoof) {
  const Roofline roofline({{0, CeilingKind::compute, "fp32", 19.5e12, "theoretical: published"},
                           {0, CeilingKind::memory, "dram", 1555e9, "theoretical: published"}});
  KernelRow row;
  row.flops = {0, 131.77e9, 0, {}, 131.77e9};
  row.bytes.dram = 8.03e9;
  row.time_mean_ns = 1e7;
  row.launches = 1;
  roofline.apply(row);
  EXPECT_NEAR(*row.intensity.dram, 16.410, 0.0005);
  EXPECT_NEAR(19.5e12 / 1555e9, 12.540, 0.0005);  // the ridge point: compute binds
  EXPECT_EQ(row.roof.ceiling, "fp32");
  const double attainable = *row.flops.total / *roofline.times(row).min_ns() * 1e9;
  EXPECT_NEAR(attainable, 19.5e12, 1);  // min(19.5, 16.41 x 1.555 = 25.5)
}

}  // namespace
}  // namespace gable::tests
