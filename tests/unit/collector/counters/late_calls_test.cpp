// SPDX-License-Identifier: Apache-2.0
// A call of CUPTI that comes back after nobody waits for it any more: what it began is ended, so
// that the program's next launches are in no range of ours.
#include <gtest/gtest.h>

#include <thread>

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

TEST(LateCalls, ARangeThatWasPushedTooLateIsPoppedAndTheSessionEnded) {
  ScriptedCupti cupti;
  CuptiApi api = cupti.api();
  g_push = api.cuptiRangeProfilerPushRange;
  api.cuptiRangeProfilerPushRange = late_push;
  PassPlan plan;
  plan.phase = {PhaseKind::hw, 0};
  plan.metrics = {"dram__sectors_read.sum"};
  plan.config_image.assign(100, 7);
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

}  // namespace
}  // namespace gable
