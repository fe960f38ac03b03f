// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user of --scope range: a launch in the range of another layer, and a
// program of several ranks that hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "analysis/profile/range_rows.h"
#include "collector/counters/counter_window.h"
#include "collector/metrics/replay_plan.h"
#include "collector/queue/range_choice.h"
#include "tests/unit/collector/real_cupti.h"
#include "tests/unit/collector/script/scripted_cupti.h"

namespace gable {
namespace {

constexpr char kBlocks[] = "sm__ctas_launched.sum";

class LayerRanges : public testing::Test {
 protected:
  LayerRanges() {
    plan_.phase = {PhaseKind::hw, 0};
    plan_.metrics = {kBlocks};
    plan_.config_image.assign(64, 1);
    EXPECT_EQ(window_.begin(plan_, 4, RangeMode::layer).sentence, "");
  }
  ~LayerRanges() override { EXPECT_EQ(cupti_.broken_rules(), std::vector<std::string>{}); }

  void launch(LayerId layer, bool succeeds = true, int stream = 0) {
    const bool ranged = window_.before_launch(
        0, {range_key(layer, 0, 1), 10, 2, reinterpret_cast<const void*>(stream)});
    if (succeeds) cupti_.kernel();
    if (ranged) window_.after_launch(succeeds);
  }
  void blocks(std::vector<double> counted) {
    cupti_.value = [counted = std::move(counted)](const std::string&, std::size_t place) {
      return counted.at(place);
    };
  }
  static std::vector<std::pair<LayerId, std::uint64_t>> layers(const CounterResult& result) {
    std::vector<std::pair<LayerId, std::uint64_t>> found;
    for (std::size_t i = 0; i < result.keys.size(); ++i)
      found.emplace_back(result.keys[i].layer, result.launches[i]);
    return found;
  }

  ScriptedCupti cupti_;
  PassPlan plan_;
  ProfilerEngine engine_{cupti_.api()};
  CounterWindow window_{engine_, reinterpret_cast<CUcontext>(0x1000), "GH100"};
};

using Layers = std::vector<std::pair<LayerId, std::uint64_t>>;

TEST_F(LayerRanges, GoOnUntilAnotherLayerComes) {
  blocks({20, 10, 10});
  for (const LayerId layer : {5, 5, 6, 5}) launch(layer);
  const auto result = window_.end();
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(layers(result), (Layers{{5, 2}, {6, 1}, {5, 1}}));
  EXPECT_EQ(cupti_.kernels_in_ranges(), (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPopRange"), 3);
}

TEST_F(LayerRanges, AFailedLaunchCountsInNone) {
  blocks({10, 0});
  launch(5);
  launch(5, false);
  launch(6, false);
  const auto result = window_.end();
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(layers(result), (Layers{{5, 1}}));
}

TEST_F(LayerRanges, WhatIsLeftOutIsBetweenRanges) {
  blocks({10, 10});
  launch(5);
  window_.close_range();
  cupti_.kernel();
  launch(5);
  EXPECT_EQ(layers(window_.end()), (Layers{{5, 1}, {5, 1}}));
  EXPECT_EQ(cupti_.kernels_in_ranges(), (std::vector<std::uint64_t>{1, 1}));
}

TEST_F(LayerRanges, BlocksOfOthersAreBelievedWhereStreamsOverlap) {
  blocks({20, 20});
  launch(5, true, 0);
  launch(6, true, 1);
  EXPECT_EQ(window_.end().reason, "");
}

TEST_F(LayerRanges, BlocksOfNobodyAreNot) {
  blocks({20, 10});
  launch(5);
  launch(6);
  EXPECT_NE(window_.end().reason.find("not match the grid"), std::string::npos);
}

TEST_F(LayerRanges, MoreThanThereIsRoomFor) {
  for (const LayerId layer : {1, 2, 3, 4, 5}) launch(layer);
  EXPECT_NE(window_.end().reason.find("there was room for"), std::string::npos);
}

// After a call that failed, once more on the caller's thread, CUPTI is left alone until the window
// ends, whatever is launched.
TEST_F(LayerRanges, AfterAPushThatFailedNothingIsPushedOrPopped) {
  cupti_.fail("cuptiRangeProfilerPushRange", CUPTI_ERROR_UNKNOWN, 1);
  for (const LayerId layer : {5, 6, 6, 5}) launch(layer);
  window_.close_range();
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPushRange"), 3);
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPopRange"), 1);
  const auto result = window_.end();
  EXPECT_FALSE(result.keep);
  EXPECT_NE(result.reason, "");
  EXPECT_TRUE(result.keys.empty());
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPopRange"), 1);
}

TEST_F(LayerRanges, AfterAPopThatFailedNothingIsPushedOrPopped) {
  cupti_.fail("cuptiRangeProfilerPopRange", CUPTI_ERROR_UNKNOWN);
  for (const LayerId layer : {5, 6, 6, 5}) launch(layer);
  window_.close_range();
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPushRange"), 1);
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPopRange"), 2);
  EXPECT_FALSE(window_.end().keep);
}

TEST_F(LayerRanges, AfterARangeThatCouldNotBeClosedNothingIsPushedOrPopped) {
  cupti_.fail("cuptiRangeProfilerPopRange", CUPTI_ERROR_UNKNOWN);
  launch(5);
  window_.close_range();
  launch(6);
  window_.close_range();
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPushRange"), 1);
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPopRange"), 2);
  EXPECT_FALSE(window_.end().keep);
}

// A launch of one thread must not run in the range of another's.
TEST_F(LayerRanges, OneLaunchAtATime) {
  blocks({10, 10});
  std::thread other([this] { launch(6); });
  launch(5);
  other.join();
  const auto result = window_.end();
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.keys.size(), 2u);
  EXPECT_EQ(cupti_.kernels_in_ranges(), (std::vector<std::uint64_t>{1, 1}));
}

// Records of two GPUs, by start: on GPU 0 layer 1 runs from 0 to 40, layer 2 from 30 to 60.
TEST(OverlapsOfLayers, AreOnOneGpuAndOfOtherLayers) {
  KeyTable keys(16);
  const auto row = [&keys](LayerId layer, std::int32_t device, FunctionId function) {
    LaunchKey key;
    key.layer = layer;
    key.device = device;
    key.function = function;
    return keys.find_or_add(key, 0);
  };
  Overlaps overlaps;
  overlaps.add_window({{0, 40, row(1, 0, 1)},
                       {10, 20, row(1, 0, 2)},
                       {30, 60, row(2, 0, 1)},
                       {30, 60, row(3, 1, 1)}},
                      keys);
  EXPECT_EQ(overlaps.share(0, 1), 10.0 / 50);
  EXPECT_EQ(overlaps.share(0, 2), 10.0 / 30);
  EXPECT_EQ(overlaps.share(1, 3), 0);
  EXPECT_EQ(overlaps.share(1, 1), std::nullopt);
}

TEST(RangeChoiceOf, Ranks) {
  Settings settings;
  EXPECT_EQ(choose_ranges(settings, true).mode, RangeMode::user);
  settings.ranges = RangesBy::automatic;
  EXPECT_EQ(choose_ranges(settings, false).mode, RangeMode::automatic);
  EXPECT_EQ(choose_ranges(settings, true).mode, RangeMode::user);
  settings.replay = Replay::kernel;
  EXPECT_EQ(choose_ranges(settings, false).mode, RangeMode::replay);
  EXPECT_EQ(choose_ranges(settings, true).mode, RangeMode::user);
  EXPECT_NE(choose_ranges(settings, true).sentence, "");
  settings = {};
  settings.scope = CounterScope::range;
  EXPECT_EQ(choose_ranges(settings, true).mode, RangeMode::layer);
  EXPECT_EQ(choose_ranges(settings, true).sentence, "");
}

TEST(RangeChoiceOf, Collectives) {
  EXPECT_TRUE(may_wait_for_ranks("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  EXPECT_TRUE(may_wait_for_ranks("_Z42ncclDevKernel_AllReduce_Sum_f32_RING_LLP11ncclDevComm"));
  EXPECT_FALSE(may_wait_for_ranks("_Z6vector"));
  EXPECT_FALSE(may_wait_for_ranks("_ZN2at6native18with_nccl_in_nameEv"));
}

// CUPTI itself says how many passes all metrics together need.
TEST(ReplayPlan, IsOneConfigurationOfEverything) {
  SKIP_WITHOUT_REAL_CUPTI();
  for (const char* name : {"TU102", "GA100", "GH100", "GB202"}) {
    ChipMetrics chip(real_cupti(), name);
    const auto single = plan_metrics(chip, {});
    const auto plan = replay_plan(chip, single);
    ASSERT_EQ(plan.passes.size(), 1u) << name << ": " << plan.error;
    EXPECT_GE(chip.passes(plan.passes[0].metrics).value_or(0), 2u) << name;
    for (const auto& pass : single.passes)
      for (const auto& metric : pass.metrics)
        EXPECT_EQ(std::count(plan.passes[0].metrics.begin(), plan.passes[0].metrics.end(), metric),
                  1)
            << name << " " << metric;
  }
}

}  // namespace
}  // namespace gable
