// SPDX-License-Identifier: Apache-2.0
// One kernel in several reports as one row: launches weigh, and what one of them does not know
// nobody knows.
#include "tools/merge/merge_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace gable {
namespace {

// All numbers are `scale` times their place.
KernelRow row_of(double scale, double launches) {
  KernelRow row;
  row.name = "k";
  row.launches = launches;
  row.time_mean_ns = 100 * scale;
  row.time_total_ns = 100 * scale * launches;
  row.time_median_ns = 90 * scale;
  row.time_min_ns = 80 * scale;
  row.time_max_ns = 120 * scale;
  row.time_stddev_ns = 0;
  row.overlap = 0.1 * scale;
  row.flops = {1 * scale, 2 * scale, 3 * scale, {{"bf16", 4 * scale}}, 5 * scale};
  row.ops = {{"int8", 6 * scale}};
  row.bytes = {7 * scale, 8 * scale, 9 * scale, 10 * scale, 11 * scale};
  row.counters = {{"a.sum", 12 * scale}};
  row.samples_hw = static_cast<std::uint64_t>(scale * 10);
  row.samples_flops = static_cast<std::uint64_t>(scale * 20);
  row.samples_time = static_cast<std::uint64_t>(scale * 30);
  return row;
}

KernelRow merged(const KernelRow& one, const KernelRow& other, double gpus = 2) {
  KernelMerge merge;
  merge.add(one);
  merge.add(other);
  return merge.result(gpus);
}

// Every number of one launch.
const std::vector<std::pair<const char*, std::function<Maybe&(KernelRow&)>>> kMeans = {
    {"mean", [](KernelRow& r) -> Maybe& { return r.time_mean_ns; }},
    {"overlap", [](KernelRow& r) -> Maybe& { return r.overlap; }},
    {"fp64", [](KernelRow& r) -> Maybe& { return r.flops.fp64; }},
    {"fp32", [](KernelRow& r) -> Maybe& { return r.flops.fp32; }},
    {"fp16", [](KernelRow& r) -> Maybe& { return r.flops.fp16; }},
    {"tensor", [](KernelRow& r) -> Maybe& { return r.flops.tensor["bf16"]; }},
    {"total", [](KernelRow& r) -> Maybe& { return r.flops.total; }},
    {"ops", [](KernelRow& r) -> Maybe& { return r.ops["int8"]; }},
    {"dram", [](KernelRow& r) -> Maybe& { return r.bytes.dram; }},
    {"read", [](KernelRow& r) -> Maybe& { return r.bytes.dram_read; }},
    {"write", [](KernelRow& r) -> Maybe& { return r.bytes.dram_write; }},
    {"l2", [](KernelRow& r) -> Maybe& { return r.bytes.l2; }},
    {"l1", [](KernelRow& r) -> Maybe& { return r.bytes.l1; }},
    {"counter", [](KernelRow& r) -> Maybe& { return r.counters["a.sum"]; }},
};

TEST(MergeOfKernels, LaunchesWeighEveryMean) {
  // One launch of 1 and three of 3: 2.5.
  KernelRow row = merged(row_of(1, 1), row_of(3, 3));
  KernelRow expected = row_of(2.5, 2);
  for (const auto& [name, field] : kMeans) {
    ASSERT_TRUE(field(row)) << name;
    EXPECT_DOUBLE_EQ(*field(row), *field(expected)) << name;
  }
  EXPECT_EQ(row.launches, 2);
  EXPECT_DOUBLE_EQ(*row.time_total_ns, (100 + 900) / 2.0);
  EXPECT_EQ(row.samples_hw, 40u);
  EXPECT_EQ(row.samples_flops, 80u);
  EXPECT_EQ(row.samples_time, 120u);
}

TEST(MergeOfKernels, WhatOneDoesNotKnowNobodyKnows) {
  for (const bool first : {true, false}) {
    for (const auto& [name, field] : kMeans) {
      KernelRow known = row_of(1, 1), unknown = row_of(3, 3);
      field(unknown) = std::nullopt;
      KernelRow row = first ? merged(unknown, known) : merged(known, unknown);
      for (const auto& [other, value] : kMeans)
        EXPECT_EQ(value(row).has_value(), std::string(other) != name) << name << " " << other;
    }
  }
}

TEST(MergeOfKernels, ACounterThatOneDoesNotHaveIsUnknown) {
  KernelRow other = row_of(3, 3);
  other.counters = {{"b.sum", 1.0}};
  const KernelRow row = merged(row_of(1, 1), other);
  EXPECT_FALSE(row.counters.at("a.sum"));
  EXPECT_FALSE(row.counters.at("b.sum"));
}

TEST(MergeOfKernels, TheFastestTheSlowestAndNoMedian) {
  for (const bool turned : {false, true}) {
    const KernelRow row =
        turned ? merged(row_of(3, 3), row_of(1, 1)) : merged(row_of(1, 1), row_of(3, 3));
    EXPECT_EQ(row.time_min_ns, 80.0);
    EXPECT_EQ(row.time_max_ns, 360.0);
    EXPECT_FALSE(row.time_median_ns);
  }
  KernelMerge alone;
  alone.add(row_of(1, 1));
  EXPECT_EQ(alone.result(1).time_median_ns, 90.0);
  KernelRow unknown = row_of(3, 3);
  unknown.time_min_ns = unknown.time_max_ns = std::nullopt;
  EXPECT_FALSE(merged(row_of(1, 1), unknown).time_min_ns);
  EXPECT_FALSE(merged(unknown, row_of(1, 1)).time_max_ns);
}

TEST(MergeOfKernels, SpreadIsThatOfAllSamples) {
  KernelRow one = row_of(1, 1), other = row_of(3, 1);
  other.samples_time = one.samples_time;
  // Means of 100 and 300: 100 from 200. Each spreads by 30 around its own.
  EXPECT_DOUBLE_EQ(*merged(one, other).time_stddev_ns, 100);
  one.time_stddev_ns = other.time_stddev_ns = 30;
  EXPECT_DOUBLE_EQ(*merged(one, other).time_stddev_ns, std::sqrt(100.0 * 100 + 30 * 30));
  other.time_stddev_ns = std::nullopt;
  EXPECT_FALSE(merged(one, other).time_stddev_ns);
  EXPECT_FALSE(merged(other, one).time_stddev_ns);
}

TEST(MergeOfKernels, EveryFlagOnceAndThoseOfRoofsNot) {
  KernelRow one = row_of(1, 1), other = row_of(3, 1);
  one.flags = {"above_roof", "launches_differ"};
  other.flags = {"launches_differ", "tensor_inferred"};
  EXPECT_EQ(merged(one, other).flags,
            (std::vector<std::string>{"launches_differ", "tensor_inferred"}));
}

TEST(KernelMerge, SharesAreOfTheSumsOfBothRanks) {
  const char* const sectors = "lts__t_sectors.sum";
  const auto row = [&](double scale, double launches, double hit_rate) {
    KernelRow made = row_of(scale, launches);
    made.counters[sectors] = 100 * scale;
    made.metrics.emplace().l2_hit_rate = hit_rate;
    return made;
  };
  // 3 launches of 100 sectors, and one of 200.
  const KernelRow both = merged(row(1, 3, 0.5), row(2, 1, 1));
  ASSERT_TRUE(both.metrics);
  EXPECT_DOUBLE_EQ(*both.metrics->l2_hit_rate, (150 + 200) / 500.0);
  KernelRow without = row(2, 1, 1);
  without.metrics.reset();
  EXPECT_FALSE(merged(row(1, 3, 0.5), without).metrics);
}

}  // namespace
}  // namespace gable
