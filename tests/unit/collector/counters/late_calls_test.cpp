// SPDX-License-Identifier: Apache-2.0
// A call of CUPTI that comes back after nobody waits for it any more: what it began is ended, so
// that the program's next launches are in no range of ours.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "collector/counters/counter_window.h"
#include "collector/counters/range_profiler.h"
#include "tests/unit/collector/script/scripted_cupti.h"

namespace gable {
namespace {

using std::chrono::milliseconds;

// Answers as the script does, but half a second after the last one has lost patience.
CUptiResult (*g_push)(CUpti_RangeProfiler_PushRange_Params*) = nullptr;
CUptiResult CUPTIAPI late_push(CUpti_RangeProfiler_PushRange_Params* params) {
  const auto answer = g_push(params);
  std::this_thread::sleep_for(Patience::kPatience + Patience::kMorePatience + milliseconds(500));
  return answer;
}

PassPlan one_metric() {
  PassPlan plan;
  plan.phase = {PhaseKind::hw, 0};
  plan.metrics = {"dram__sectors_read.sum"};
  plan.config_image.assign(100, 7);
  return plan;
}

TEST(LateCalls, ARangeThatWasPushedTooLateIsPoppedAndTheSessionEnded) {
  ScriptedCupti cupti;
  CuptiApi api = cupti.api();
  g_push = api.cuptiRangeProfilerPushRange;
  api.cuptiRangeProfilerPushRange = late_push;
  const PassPlan plan = one_metric();  // CUPTI reads its image for as long as the session lasts
  ProfilerEngine engine(api);
  RangeProfiler profiler(engine, reinterpret_cast<CUcontext>(0x1000), "GH100");
  ASSERT_EQ(profiler.start(plan, RangeMode::user, 8).sentence, "");
  EXPECT_TRUE(profiler.push("0").failed());
  for (int i = 0; i < 500 && cupti.count("cuptiRangeProfilerDisable") == 0; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(cupti.count("cuptiRangeProfilerPushRange"), 1);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerPopRange"), 1);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerStop"), 1);
  EXPECT_EQ(cupti.count("cuptiRangeProfilerDisable"), 1);
  EXPECT_EQ(cupti.broken_rules(), std::vector<std::string>{});
}

// Two threads launch; the push of the first fails while the second waits for its turn.
std::atomic<bool> g_pushing{false};
CUptiResult CUPTIAPI slow_push(CUpti_RangeProfiler_PushRange_Params* params) {
  if (!g_pushing.exchange(true)) std::this_thread::sleep_for(milliseconds(200));
  return g_push(params);
}

TEST(LateCalls, WhoWaitedWhileAPushFailedPushesNothing) {
  for (const RangeMode mode : {RangeMode::user, RangeMode::layer}) {
    ScriptedCupti cupti;
    CuptiApi api = cupti.api();
    g_push = api.cuptiRangeProfilerPushRange;
    g_pushing = false;
    api.cuptiRangeProfilerPushRange = slow_push;
    cupti.fail("cuptiRangeProfilerPushRange", CUPTI_ERROR_UNKNOWN);
    const PassPlan plan = one_metric();
    ProfilerEngine engine(api);
    CounterWindow window(engine, reinterpret_cast<CUcontext>(0x1000), "GH100");
    ASSERT_EQ(window.begin(plan, 8, mode).sentence, "");
    const auto launch = [&](LayerId layer) {
      LaunchKey key;
      key.layer = layer;
      return mode == RangeMode::layer ? window.before_launch(0, {key, 1, 1, nullptr})
                                      : window.before_launch(0, key);
    };
    std::thread first([&] { EXPECT_FALSE(launch(5)); });
    while (!g_pushing) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_FALSE(launch(6));
    first.join();
    // The one that failed, and once more on its caller's thread.
    EXPECT_EQ(cupti.count("cuptiRangeProfilerPushRange"), 2);
    EXPECT_FALSE(window.end().keep);
  }
}

}  // namespace
}  // namespace gable
