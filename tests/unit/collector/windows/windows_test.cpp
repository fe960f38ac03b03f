// SPDX-License-Identifier: Apache-2.0
// A run collects what its queue says, window by window, and CUPTI is told nothing that it does not
// take.
#include "collector/windows/windows.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

const std::vector<std::string> kStep = {"gemm", "relu", "gemm"};
constexpr char kOneOfEach[] = "--phases hw,flops,time --wait 0 --warmup 0 --active 1";

TEST(Windows, EveryPhaseIsCollectedAndThenCuptiIsLetGo) {
  RunOnScript run(kOneOfEach);
  run.steps(12, kStep);
  EXPECT_TRUE(run.over());
  const auto counts = run.c.windows.counts();
  EXPECT_EQ(counts.hw, 1u);
  EXPECT_EQ(counts.flops, 1u);
  EXPECT_EQ(counts.time, 1u);
  EXPECT_FALSE(run.rt.hot.watching.load());
  EXPECT_EQ(run.cupti.count("cuptiRangeProfilerDisable"),
            run.cupti.count("cuptiRangeProfilerEnable"));
  EXPECT_EQ(run.cupti.broken_rules(), std::vector<std::string>{});
  const auto row = run.kernel("gemm");
  EXPECT_EQ(row.launches, 2.0);
  EXPECT_EQ(row.samples_hw, 2u);
  EXPECT_EQ(row.samples_flops, 2u);
  EXPECT_EQ(row.time_mean_ns, 500.0);
}

// A window that cannot be trusted is thrown away, taken again, and spoken of.
TEST(Windows, AWindowWithCountersOfOtherLaunchesIsTakenAgain) {
  RunOnScript run(kOneOfEach);
  run.cupti.value = [](const std::string&, std::size_t) { return 7.0; };  // also thread blocks
  run.steps(3, kStep);
  run.cupti.value = [](const std::string&, std::size_t) { return 1.0; };
  run.steps(14, kStep);
  EXPECT_EQ(run.c.windows.counts().hw, 1u);
  EXPECT_GT(run.report().run.lost.windows, 0u);
  EXPECT_TRUE(run.said("A window of phase hw:1 was thrown away"));
}

TEST(Windows, AKernelThatCameAfterTheQueueIsInNoWindow) {
  RunOnScript run(kOneOfEach);
  run.steps(12, kStep);
  ASSERT_TRUE(run.over());
  run.steps(3, {"late"});
  EXPECT_EQ(run.kernel("late").symbol, "");
}

TEST(Windows, AFurtherQueueCollectsAnew) {
  RunOnScript run(kOneOfEach);
  EXPECT_FALSE(run.c.windows.reopen({}));  // the first is not over
  run.steps(12, kStep);
  ASSERT_TRUE(run.over());
  run.c.sink.with_profile([](Profile& profile) { profile.restart(); });
  Schedule schedule;
  schedule.active = 2;
  ASSERT_TRUE(run.c.windows.reopen(schedule));
  run.rt.hot.watching.store(true);
  run.steps(16, {"other"});
  EXPECT_EQ(run.kernel("gemm").symbol, "");
  EXPECT_EQ(run.c.windows.counts().time, 2u);
}

TEST(Windows, ABlockForgetsWhatCameBeforeIt) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 3");
  run.steps(2, {"before"});
  ASSERT_TRUE(run.c.windows.begin_block({}));
  run.steps(3, {"within"});
  run.c.windows.end_block();
  run.launch("after");
  EXPECT_TRUE(run.over());
  EXPECT_EQ(run.kernel("before").symbol, "");
  EXPECT_EQ(run.kernel("within").symbol, "within");
}

TEST(Windows, TheStepThatTheProgramsEndCutsShortIsNotKept) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 5");
  run.steps(3, {"gemm"});
  run.launch("gemm");
  const auto before = run.c.windows.counts().time;
  run.c.windows.shut_down("The program ended within it.");
  EXPECT_EQ(run.c.windows.counts().time, before);
  EXPECT_FALSE(run.rt.hot.watching.load());
}

// --- borders

TEST(StepBorders, WhereNoStepIsKnownAWindowIsSoManyLaunches) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2 --window 5");
  for (int i = 0; i < 21; ++i) run.launch("k" + std::to_string(i));
  EXPECT_EQ(run.c.windows.counts().border_name, "launches");
  EXPECT_EQ(run.c.windows.counts().time, 2u);
  EXPECT_FALSE(run.c.windows.steps_known());
}

TEST(StepBorders, ThePeriodOfTheLaunchesIsTheStep) {
  RunOnScript run("--phases time --active 2");
  for (int step = 0; step < 40; ++step)
    for (int k = 0; k < 12; ++k) run.launch("k" + std::to_string(k));
  const auto counts = run.c.windows.counts();
  EXPECT_EQ(counts.border_name, "period");
  EXPECT_EQ(counts.period, 12u);
  EXPECT_EQ(counts.time, 2u);
  EXPECT_EQ(run.kernel("k3").launches, 1.0);
}

TEST(StepBorders, ARangeThatComesAgainIsTheStepAndIsNamed) {
  RunOnScript run("--phases time --active 2");
  for (int step = 0; step < 12; ++step) {
    run.push("iteration");
    for (int k = 0; k < 12; ++k) run.launch("k" + std::to_string((k * 7 + step) % 12));
    run.pop();
  }
  EXPECT_EQ(run.c.windows.counts().border_name, "range");
  EXPECT_TRUE(run.said("The range 'iteration'"));
}

TEST(StepBorders, ANamedRangeIsTheStepAndNothingElseIs) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2 --step-range ^train");
  run.step({"outside"});
  for (int i = 0; i < 4; ++i) {
    run.push("train");
    run.launch("gemm");
    run.c.windows.step_point();  // is no border here
    run.launch("gemm");
    run.pop();
  }
  EXPECT_EQ(run.c.windows.counts().border_name, "range");
  EXPECT_EQ(run.c.windows.counts().time, 2u);
  EXPECT_EQ(run.kernel("gemm").launches, 2.0);
}

// Free threads have their ranges at the same time, and no moment in which none is open.
TEST(StepBorders, RangesOfThreadsThatAlwaysOverlapAreSteps) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2 --step-range ^train");
  const auto begin = [&] { run.c.windows.step_range_begin(); };
  const auto end = [&] { run.c.windows.step_range_end(); };
  begin();
  std::thread([&] { begin(); }).join();  // never ends
  for (int i = 0; i < 4; ++i) {
    run.launch("gemm");
    end();
    begin();
  }
  EXPECT_GE(run.c.windows.counts().seen, 3u);
}

TEST(StepBorders, AProgramsOwnStepWinsOverOneThatWasFound) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 4");
  run.launch("gemm");
  run.c.windows.step_point(StepPoint::forward);
  run.launch("gemm");
  run.c.windows.step_point(StepPoint::forward);
  EXPECT_EQ(run.c.windows.counts().border_name, "forward");
  run.launch("gemm");
  run.c.windows.step_point(StepPoint::call);
  EXPECT_EQ(run.c.windows.counts().border_name, "call");
  const auto seen = run.c.windows.counts().seen;
  run.launch("gemm");
  run.c.windows.step_point(StepPoint::forward);  // within the program's own step
  EXPECT_EQ(run.c.windows.counts().seen, seen);
}

TEST(StepBorders, TheProfilersStartAndStopAreAStep) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2");
  for (int i = 0; i < 3; ++i) {
    run.launch("outside");
    run.call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_API_EXIT);
    run.launch("gemm");
    run.call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUPTI_API_ENTER);
  }
  EXPECT_EQ(run.c.windows.counts().border_name, "profiler");
  EXPECT_EQ(run.c.windows.counts().time, 2u);
  EXPECT_EQ(run.kernel("gemm").time_mean_ns, 500.0);
}

// --- what is counted where CUPTI refuses

TEST(CountingFallback, WithoutPermissionTimesAreCollectedAndTheReasonIsSaidOnce) {
  RunOnScript run(kOneOfEach);
  run.cupti.fail("cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  run.steps(12, kStep);
  EXPECT_TRUE(run.over());
  EXPECT_EQ(run.c.windows.counts().hw, 0u);
  EXPECT_EQ(run.c.windows.counts().time, 1u);
  int times = 0;
  for (const auto& note : run.rt.notes.all())
    times += note.find("INSUFFICIENT_PRIVILEGES") != std::string::npos ? 1 : 0;
  EXPECT_EQ(times, 1);
  EXPECT_EQ(run.kernel("gemm").samples_hw, 0u);
  EXPECT_EQ(run.kernel("gemm").bytes.dram, std::nullopt);
}

TEST(CountingFallback, WhereARangeCannotBePushedAnotherWayIsTaken) {
  RunOnScript run(kOneOfEach);
  run.cupti.fail("cuptiRangeProfilerPushRange", CUPTI_ERROR_UNKNOWN);
  run.steps(30, kStep);
  EXPECT_TRUE(run.over());
  EXPECT_EQ(run.c.windows.counts().hw, 1u);
  EXPECT_EQ(run.kernel("gemm").samples_hw, 2u);
  EXPECT_EQ(run.cupti.broken_rules(), std::vector<std::string>{});
}

TEST(CountingFallback, WhatIsRefusedOnceIsAskedForAgain) {
  RunOnScript run(kOneOfEach);
  run.cupti.fail("cuptiRangeProfilerStart", CUPTI_ERROR_HARDWARE_BUSY);
  run.step(kStep);
  run.step(kStep);
  run.cupti.work_again("cuptiRangeProfilerStart");
  run.steps(14, kStep);
  EXPECT_TRUE(run.over());
  EXPECT_EQ(run.c.windows.counts().time, 1u);
}

// A kernel that may wait for another rank must not be waited for.
TEST(CountingFallback, BeforeACollectiveNothingWaitsAfterEveryLaunchAnyMore) {
  RunOnScript run(std::string(kOneOfEach) + " --ranges auto");
  run.steps(2, kStep);
  run.step({"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"});
  EXPECT_TRUE(run.said("may wait for other ranks"));
  EXPECT_EQ(run.c.counters.mode(), RangeMode::user);
  run.steps(14, kStep);
  EXPECT_EQ(run.cupti.broken_rules(), std::vector<std::string>{});
}

TEST(CountingFallback, RecordsThatCannotBeHadCostTheTimesAlone) {
  RunOnScript run(kOneOfEach);
  run.cupti.fail("cuptiActivityEnable", CUPTI_ERROR_UNKNOWN);
  run.steps(12, kStep);
  EXPECT_TRUE(run.over());
  EXPECT_EQ(run.c.windows.counts().hw, 1u);
  EXPECT_EQ(run.c.windows.counts().time, 0u);
  EXPECT_EQ(run.kernel("gemm").time_mean_ns, std::nullopt);
}

TEST(CountingFallback, ACounterWindowWithoutLaunchesIsEnded) {
  RunOnScript run(kOneOfEach);
  run.step(kStep);
  run.launch("gemm");  // counters are taken now, and nothing more comes
  ASSERT_TRUE(run.c.counters.active());
  using std::chrono::milliseconds;
  run.c.windows.check_progress(milliseconds(0));
  run.c.windows.check_progress(milliseconds(0));
  EXPECT_FALSE(run.c.counters.active());
  EXPECT_TRUE(run.said("while counters were taken; that window was ended"));
  run.steps(14, kStep);
  EXPECT_EQ(run.c.windows.counts().hw, 1u);
}

}  // namespace
}  // namespace gable
