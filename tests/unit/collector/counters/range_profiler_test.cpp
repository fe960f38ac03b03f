// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a crash inside their program because CUPTI still used an image
// that we had freed, a window that hangs because a call came in the wrong order, or a refusal that
// names no way out.
#include "collector/counters/range_profiler.h"

#include <gtest/gtest.h>

#include <memory>

#include "collector/cupti/remedies.h"
#include "tests/unit/collector/script/scripted_cupti.h"

namespace gable {
namespace {

CUcontext a_context() { return reinterpret_cast<CUcontext>(0x1000); }

PassPlan a_filled_plan(std::uint8_t fill = 7) {
  PassPlan plan;
  plan.phase = {PhaseKind::hw, 0};
  plan.metrics = {"dram__sectors_read.sum", "sm__ctas_launched.sum"};
  plan.config_image.assign(100, fill);
  return plan;
}

using Calls = std::vector<std::string>;

// One window of `launches` launches as CounterWindow drives it.
CuptiFailure window(ScriptedCupti& cupti, RangeProfiler& profiler, const PassPlan& plan,
                    RangeProfiler::Reading& reading, int launches = 2) {
  static const std::vector<std::string> names = {"0", "1", "2", "3", "4", "5", "6", "7"};
  if (auto failure = profiler.start(plan, RangeMode::user, 8); failure.failed()) return failure;
  for (int i = 0; i < launches; ++i) {
    if (auto failure = profiler.push(names[static_cast<std::size_t>(i)].c_str()); failure.failed())
      return failure;
    cupti.kernel();
    if (auto failure = profiler.pop(); failure.failed()) return failure;
  }
  if (auto failure = profiler.stop(); failure.failed()) return failure;
  return profiler.read(reading);
}

TEST(RangeProfiler, CallsComeInCuptisOrder) {
  ScriptedCupti cupti;
  const auto plan = a_filled_plan();
  {
    ProfilerEngine engine(cupti.api());
    RangeProfiler profiler(engine, a_context(), "GH100");
    RangeProfiler::Reading reading;
    EXPECT_EQ(window(cupti, profiler, plan, reading, 1).sentence, "");
  }
  EXPECT_EQ(
      cupti.calls(),
      (Calls{"cuptiProfilerInitialize", "cuptiRangeProfilerEnable", "cuptiProfilerHostInitialize",
             "cuptiProfilerHostConfigAddMetrics", "cuptiRangeProfilerGetCounterDataSize",
             "cuptiRangeProfilerCounterDataImageInitialize", "cuptiRangeProfilerSetConfig",
             "cuptiRangeProfilerStart", "cuptiRangeProfilerPushRange", "cuptiRangeProfilerPopRange",
             "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData",
             "cuptiRangeProfilerGetCounterDataInfo", "cuptiRangeProfilerCounterDataGetRangeInfo",
             "cuptiProfilerHostEvaluateToGpuValues", "cuptiRangeProfilerDisable",
             "cuptiProfilerHostDeinitialize"}));
  EXPECT_EQ(cupti.broken_rules(), Calls{});
  EXPECT_EQ(cupti.live_objects(), 0);
}

TEST(RangeProfiler, ReadsNamesAndValuesOfEachRange) {
  ScriptedCupti cupti;
  cupti.value = [](const std::string& metric, std::size_t launch) {
    return metric == "dram__sectors_read.sum" ? 100.0 + static_cast<double>(launch) : 3.0;
  };
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  RangeProfiler::Reading reading;
  ASSERT_EQ(window(cupti, profiler, plan, reading).sentence, "");
  ASSERT_EQ(reading.ranges.size(), 2u);
  EXPECT_EQ(reading.ranges[0].name, "0");
  EXPECT_EQ(reading.ranges[1].name, "1");
  EXPECT_EQ(reading.ranges[1].values, (std::vector<double>{101.0, 3.0}));
  EXPECT_EQ(reading.dropped, 0u);
}

// The engine is initialised once, each plan's host object made once, an object while the plan is
// the same.
TEST(RangeProfiler, ManyWindowsReuseWhatTheyCan) {
  ScriptedCupti cupti;
  const auto first = a_filled_plan(1), second = a_filled_plan(2);
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  for (int i = 0; i < 6; ++i) {
    RangeProfiler::Reading reading;
    ASSERT_EQ(window(cupti, profiler, i < 3 ? first : second, reading).sentence, "");
    EXPECT_EQ(reading.ranges.size(), 2u);
  }
  EXPECT_EQ(cupti.count("cuptiProfilerInitialize"), 1);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerEnable"), 2);
  EXPECT_EQ(cupti.count("cuptiProfilerHostInitialize"), 2);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerCounterDataImageInitialize"), 6);
  EXPECT_EQ(cupti.broken_rules(), Calls{});
}

// An object keeps its first configuration, whatever SetConfig answers.
TEST(RangeProfiler, OtherMetricsOtherRangesAndMoreRoomGetAFreshObject) {
  ScriptedCupti cupti;
  const auto first = a_filled_plan(1), second = a_filled_plan(2);
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  const auto enabled_for = [&](const PassPlan& plan, RangeMode mode, std::size_t room) {
    EXPECT_FALSE(profiler.start(plan, mode, room).failed());
    EXPECT_FALSE(profiler.stop().failed());
    return cupti.count("cuptiRangeProfilerEnable");
  };
  EXPECT_EQ(enabled_for(first, RangeMode::user, 64), 1);
  EXPECT_EQ(enabled_for(first, RangeMode::user, 32), 1);
  EXPECT_EQ(enabled_for(second, RangeMode::user, 64), 2);
  EXPECT_EQ(enabled_for(second, RangeMode::automatic, 64), 3);
  EXPECT_EQ(enabled_for(second, RangeMode::automatic, 65), 4);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerDisable"), 3);
  EXPECT_EQ(cupti.broken_rules(), Calls{});
}

TEST(RangeProfiler, FewerRangesWhereMemoryIsShort) {
  ScriptedCupti cupti;
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  profiler.limit_ranges(300, {CUPTI_ERROR_OUT_OF_MEMORY, "Little is free."});
  ASSERT_FALSE(profiler.start(plan, RangeMode::user, 400).failed());
  EXPECT_EQ(profiler.most_ranges(), 300u);
  EXPECT_EQ(profiler.refused_ranges().sentence, "Little is free.");
  profiler.limit_ranges(5, {CUPTI_ERROR_OUT_OF_MEMORY, "Less is free."});
  EXPECT_EQ(profiler.most_ranges(), 256u) << "fewer are not worth a window";
}

TEST(RangeProfiler, ARefusedSecondConfigurationGetsAFreshObject) {
  ScriptedCupti cupti;
  cupti.second_config_refused = true;
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  RangeProfiler::Reading reading;
  ASSERT_EQ(window(cupti, profiler, plan, reading).sentence, "");
  ASSERT_EQ(window(cupti, profiler, plan, reading).sentence, "");
  EXPECT_EQ(reading.ranges.size(), 2u);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerEnable"), 2);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerDisable"), 1);
  EXPECT_EQ(cupti.broken_rules(), Calls{});
}

TEST(RangeProfiler, TakesTheOtherTargetLevelAndRemembersIt) {
  ScriptedCupti cupti;
  cupti.accepted_target = 1;
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  RangeProfiler::Reading reading;
  ASSERT_EQ(window(cupti, profiler, plan, reading).sentence, "");
  ASSERT_EQ(window(cupti, profiler, plan, reading).sentence, "");
  EXPECT_EQ(cupti.count("cuptiRangeProfilerSetConfig"), 3);
}

TEST(RangeProfiler, AnImageThatGrewReplacesTheOldOne) {
  ScriptedCupti cupti;
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  ASSERT_FALSE(profiler.start(plan, RangeMode::user, 4).failed());
  ASSERT_FALSE(profiler.stop().failed());
  const auto small = profiler.image_bytes();
  ASSERT_FALSE(profiler.start(plan, RangeMode::user, 400).failed());
  EXPECT_EQ(profiler.image_bytes(), 100 * small);
}

TEST(RangeProfiler, AnUnfinishedPassIsAFailure) {
  ScriptedCupti cupti;
  cupti.all_passes = 0;
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  RangeProfiler::Reading reading;
  EXPECT_NE(window(cupti, profiler, plan, reading).sentence.find("another pass"),
            std::string::npos);
}

// A destroyed context takes its profiler along: calling CUPTI for it would crash.
TEST(RangeProfiler, AfterAbandonCuptiIsNotCalled) {
  ScriptedCupti cupti;
  const auto plan = a_filled_plan();
  {
    ProfilerEngine engine(cupti.api());
    RangeProfiler profiler(engine, a_context(), "GH100");
    ASSERT_FALSE(profiler.start(plan, RangeMode::user, 4).failed());
    profiler.abandon();
    EXPECT_FALSE(profiler.enabled());
  }
  EXPECT_EQ(cupti.count("cuptiRangeProfilerDisable"), 0);
}

TEST(ProfilerEngine, AsksOnceAndRemembersARefusal) {
  ScriptedCupti cupti;
  cupti.fail("cuptiProfilerInitialize", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  ProfilerEngine engine(cupti.api());
  const auto first = engine.start();
  EXPECT_EQ(first.code, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(engine.start().sentence, first.sentence);
  EXPECT_FALSE(engine.started());
  EXPECT_EQ(cupti.count("cuptiProfilerInitialize"), 1);
}

TEST(ProfilerEngine, WithoutCountersItSaysWhy) {
  CuptiApi api;
  api.why_not = "Only times are taken: this is too old.";
  ProfilerEngine engine(api);
  EXPECT_EQ(engine.start().sentence, api.why_not);
}

class FailingCall : public testing::TestWithParam<const char*> {};

// Whatever call fails: a sentence that names it, no crash, and everything is given back in order.
TEST_P(FailingCall, IsASentenceAndLeavesNothingBehind) {
  ScriptedCupti cupti;
  cupti.fail(GetParam(), CUPTI_ERROR_UNKNOWN);
  const auto plan = a_filled_plan();
  {
    ProfilerEngine engine(cupti.api());
    RangeProfiler profiler(engine, a_context(), "GH100");
    RangeProfiler::Reading reading;
    const auto failure = window(cupti, profiler, plan, reading);
    EXPECT_EQ(failure.code, CUPTI_ERROR_UNKNOWN);
    EXPECT_NE(failure.sentence.find(GetParam()), std::string::npos) << failure.sentence;
    EXPECT_NE(failure.sentence.find("(999)"), std::string::npos) << failure.sentence;
    EXPECT_TRUE(failure.sentence.ends_with(".")) << failure.sentence;
  }
  EXPECT_EQ(cupti.broken_rules(), Calls{});
  // A start that is refused on the helper's thread is tried once on the caller's.
  const auto enabled = std::string(GetParam()) == "cuptiRangeProfilerEnable"
                           ? 0
                           : cupti.count("cuptiRangeProfilerEnable");
  // What cannot be stopped must not be disabled either.
  const bool runs_on = std::string(GetParam()) == "cuptiRangeProfilerStop" ||
                       std::string(GetParam()) == "cuptiRangeProfilerPopRange";
  EXPECT_EQ(cupti.live_objects(), runs_on ? 1 : 0);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerDisable"), runs_on ? enabled - 1 : enabled);
}

INSTANTIATE_TEST_SUITE_P(
    Each, FailingCall,
    testing::Values("cuptiProfilerInitialize", "cuptiRangeProfilerEnable",
                    "cuptiProfilerHostInitialize", "cuptiProfilerHostConfigAddMetrics",
                    "cuptiRangeProfilerGetCounterDataSize",
                    "cuptiRangeProfilerCounterDataImageInitialize", "cuptiRangeProfilerSetConfig",
                    "cuptiRangeProfilerStart", "cuptiRangeProfilerPushRange",
                    "cuptiRangeProfilerPopRange", "cuptiRangeProfilerStop",
                    "cuptiRangeProfilerDecodeData", "cuptiRangeProfilerGetCounterDataInfo",
                    "cuptiRangeProfilerCounterDataGetRangeInfo",
                    "cuptiProfilerHostEvaluateToGpuValues"),
    [](const auto& call) { return std::string(call.param); });

// Some CUPTI may count only for the thread that started it: one window is lost, not all.
TEST(RangeProfiler, WhatCountsNothingForTheHelperIsAskedByTheCaller) {
  ScriptedCupti cupti;
  cupti.value = [](const std::string&, std::size_t) { return 0.0; };
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  RangeProfiler::Reading reading;
  const auto first = window(cupti, profiler, plan, reading);
  EXPECT_TRUE(first.sentence.starts_with("CUPTI counted nothing in it")) << first.sentence;
  EXPECT_EQ(first.code, CUPTI_SUCCESS);
  EXPECT_FALSE(profiler.enabled());
  EXPECT_FALSE(window(cupti, profiler, plan, reading).failed());
  EXPECT_EQ(reading.ranges.empty(), false);
  EXPECT_EQ(cupti.broken_rules(), Calls{});
}

TEST(RangeProfiler, AFailingDisableIsSaidAndKeepsTheImages) {
  ScriptedCupti cupti;
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  ASSERT_FALSE(profiler.start(plan, RangeMode::user, 4).failed());
  cupti.fail("cuptiRangeProfilerDisable", CUPTI_ERROR_UNKNOWN);
  const auto said = profiler.disable().sentence;
  EXPECT_NE(said.find("cuptiRangeProfilerDisable"), std::string::npos);
  EXPECT_GT(profiler.image_bytes(), 0u);
  // Whether it is enabled still, nobody knows: it is not enabled a second time.
  EXPECT_EQ(profiler.start(plan, RangeMode::user, 4).sentence, said);
  EXPECT_EQ(profiler.not_disabled().sentence, said);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerEnable"), 1);
}

// A refusal for good is not tried again in another way.
TEST(RangeProfiler, PermissionIsAskedOnceAndNamesTheRemedy) {
  ScriptedCupti cupti;
  cupti.fail("cuptiRangeProfilerSetConfig", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  const auto plan = a_filled_plan();
  ProfilerEngine engine(cupti.api());
  RangeProfiler profiler(engine, a_context(), "GH100");
  const auto failure = profiler.start(plan, RangeMode::user, 4);
  EXPECT_EQ(failure.code, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_NE(failure.sentence.find("--cap-add=SYS_ADMIN"), std::string::npos) << failure.sentence;
  EXPECT_EQ(cupti.count("cuptiRangeProfilerSetConfig"), 1);
}

TEST(Remedies, EveryRefusalThatAUserCanMendNamesTheWay) {
  const std::pair<CUptiResult, const char*> expected[] = {
      {CUPTI_ERROR_HARDWARE_BUSY, "dcgmi profile --pause"},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "virtual GPU"},
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0"},
      {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "torch.profiler"},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "hypervisor"},
      {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "confidential computing"},
      {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "CMP"},
      {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "nvidia-smi -mig 0"},
      {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "SLI"},
      {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "WSL"}};
  for (const auto& [code, words] : expected) {
    const auto remedy = remedy_for(code);
    EXPECT_NE(remedy.find(words), std::string::npos) << code << ": " << remedy;
    EXPECT_TRUE(remedy.ends_with(".")) << remedy;
  }
  EXPECT_EQ(remedy_for(CUPTI_ERROR_UNKNOWN), "");
}

}  // namespace
}  // namespace gable
