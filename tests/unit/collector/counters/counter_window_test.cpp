// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: the counters of one kernel shown for another. Every window that
// cannot be trusted must be thrown away, with the reason; every one that can must be kept.
#include "collector/counters/counter_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/unit/collector/script/scripted_cupti.h"

namespace gable {
namespace {

constexpr char kSectors[] = "dram__sectors_read.sum";
constexpr char kCtas[] = "sm__ctas_launched.sum";

PassPlan a_plan(std::vector<std::string> metrics = {kSectors, kCtas}) {
  PassPlan plan;
  plan.phase = {PhaseKind::hw, 0};
  plan.metrics = std::move(metrics);
  plan.config_image.assign(64, 1);
  return plan;
}

// Launch i has a grid of i + 1 blocks, and reads 100 + i sectors.
LaunchKey key(std::uint32_t i) {
  LaunchKey k;
  k.function = i;
  k.grid = {i + 1, 1, 1};
  return k;
}

double right_value(const std::string& metric, std::size_t i) {
  return metric == kCtas ? static_cast<double>(i + 1) : 100.0 + static_cast<double>(i);
}

class CounterWindowTest : public testing::TestWithParam<RangeMode> {
 protected:
  CounterWindowTest() { cupti_.value = right_value; }
  ~CounterWindowTest() override { EXPECT_EQ(cupti_.broken_rules(), std::vector<std::string>{}); }

  void launch(std::uint32_t i, bool succeeds = true) {
    const bool ranged = window_.before_launch(1000 + i, key(i));
    if (succeeds) cupti_.kernel();
    if (ranged) window_.after_launch(succeeds);
  }
  CounterResult run(std::uint32_t launches, std::size_t room = 16) {
    EXPECT_EQ(window_.begin(plan_, room, GetParam()).sentence, "");
    for (std::uint32_t i = 0; i < launches; ++i) launch(i);
    return window_.end();
  }
  // What everyone thrown away must be: empty, with a sentence.
  static void expect_thrown_away(const CounterResult& result, const char* words) {
    EXPECT_FALSE(result.keep);
    EXPECT_NE(result.reason.find(words), std::string::npos) << result.reason;
    EXPECT_TRUE(result.reason.ends_with(".")) << result.reason;
    EXPECT_TRUE(result.keys.empty());
    EXPECT_TRUE(result.values.empty());
  }

  ScriptedCupti cupti_;
  const PassPlan plan_ = a_plan();
  ProfilerEngine engine_{cupti_.api()};
  CounterWindow window_{engine_, reinterpret_cast<CUcontext>(0x1000), "GH100"};
};

INSTANTIATE_TEST_SUITE_P(Modes, CounterWindowTest,
                         testing::Values(RangeMode::user, RangeMode::automatic),
                         [](const auto& mode) {
                           return mode.param == RangeMode::user ? "user" : "automatic";
                         });

void expect_launches(const CounterResult& result, const std::vector<std::uint32_t>& launches) {
  ASSERT_TRUE(result.keep) << result.reason;
  ASSERT_EQ(result.keys.size(), launches.size());
  ASSERT_EQ(result.metrics, 2u);
  for (std::size_t row = 0; row < launches.size(); ++row) {
    EXPECT_EQ(result.keys[row], key(launches[row]));
    EXPECT_EQ(result.ordinals[row], 1000 + launches[row]);
    EXPECT_EQ(result.values[row * 2], 100.0 + launches[row]);
  }
}

TEST_P(CounterWindowTest, EachLaunchGetsItsOwnValues) { expect_launches(run(5), {0, 1, 2, 3, 4}); }

TEST_P(CounterWindowTest, AlsoWhenRangesComeBackInAnotherOrder) {
  cupti_.reversed = true;
  expect_launches(run(5), {0, 1, 2, 3, 4});
}

TEST_P(CounterWindowTest, AndInWindowAfterWindow) {
  for (std::uint32_t n : {3u, 16u, 1u}) {
    const auto result = run(n);
    EXPECT_TRUE(result.keep) << result.reason;
    EXPECT_EQ(result.keys.size(), n);
  }
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerEnable"), 1);
}

TEST_P(CounterWindowTest, AWindowWithoutLaunchesIsKeptAndEmpty) {
  const auto result = run(0);
  EXPECT_TRUE(result.keep) << result.reason;
  EXPECT_TRUE(result.keys.empty());
}

TEST_P(CounterWindowTest, AFailedLaunchHasNoValuesAndSpoilsNothing) {
  cupti_.value = [](const std::string& metric, std::size_t place) {
    // In automatic mode the failed launch made no range: the second range is launch 2.
    const auto launch = GetParam() == RangeMode::automatic && place >= 1 ? place + 1 : place;
    return right_value(metric, launch);
  };
  ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
  launch(0);
  launch(1, false);
  launch(2);
  expect_launches(window_.end(), {0, 2});
}

TEST_P(CounterWindowTest, DroppedRangesThrowItAway) {
  cupti_.drop_ranges = 2;
  const auto result = run(5);
  expect_thrown_away(result, "2 ranges were dropped");
  EXPECT_EQ(result.dropped, 2u);
}

TEST_P(CounterWindowTest, RangesLostInSilenceThrowItAway) {
  cupti_.lose_ranges = 1;
  const auto result = run(5);
  expect_thrown_away(result, "1 launch came back without counters");
  EXPECT_EQ(result.missing, 1u);
}

TEST_P(CounterWindowTest, AWrongCountOfThreadBlocksThrowsItAway) {
  cupti_.value = [](const std::string& metric, std::size_t i) {
    return right_value(metric, i) + (metric == kCtas && i == 3 ? 1 : 0);
  };
  const auto result = run(5);
  expect_thrown_away(result, "thread blocks");
  EXPECT_EQ(result.mismatched, 1u);
}

TEST_P(CounterWindowTest, AnUnknownCountOfThreadBlocksThrowsItAway) {
  cupti_.value = [](const std::string& metric, std::size_t i) {
    return metric == kCtas ? std::numeric_limits<double>::quiet_NaN() : right_value(metric, i);
  };
  expect_thrown_away(run(2), "thread blocks");
}

// The flops pass has no count of thread blocks: nothing to compare, and zero is a fine value.
TEST_P(CounterWindowTest, WithoutAChecksumInThePassThereIsNoneToFail) {
  // Static: a plan lives at least as long as the window that uses it.
  static const auto flops = a_plan({"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"});
  // Nothing but zeros in the first window would be distrusted.
  EXPECT_TRUE(run(1).keep);
  cupti_.value = [](const std::string&, std::size_t) { return 0.0; };
  ASSERT_FALSE(window_.begin(flops, 16, GetParam()).failed());
  launch(0);
  const auto result = window_.end();
  EXPECT_TRUE(result.keep) << result.reason;
  EXPECT_EQ(result.values, std::vector<double>{0.0});
}

TEST_P(CounterWindowTest, OneLaunchTooManyThrowsItAwayAndSaysHowMany) {
  const auto result = run(7, 4);
  expect_thrown_away(result, "more launches than the 4");
  EXPECT_EQ(result.unranged, 3u);
  expect_launches(run(7, 7), {0, 1, 2, 3, 4, 5, 6});
}

using AutomaticWindowTest = CounterWindowTest;
INSTANTIATE_TEST_SUITE_P(Mode, AutomaticWindowTest, testing::Values(RangeMode::automatic));

TEST_P(AutomaticWindowTest, ARangeWithoutALaunchThrowsItAway) {
  ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
  launch(0);
  cupti_.kernel();  // a kernel that we did not see
  expect_thrown_away(window_.end(), "dropped");
}

TEST_P(CounterWindowTest, AFailingStopIsTheReason) {
  cupti_.fail("cuptiRangeProfilerStop", CUPTI_ERROR_HARDWARE_BUSY);
  const auto result = run(2);
  expect_thrown_away(result, "cuptiRangeProfilerStop");
  EXPECT_EQ(result.code, CUPTI_ERROR_HARDWARE_BUSY);
}

using UserWindowTest = CounterWindowTest;
INSTANTIATE_TEST_SUITE_P(Mode, UserWindowTest, testing::Values(RangeMode::user));

TEST_P(UserWindowTest, AFailingPushEndsTheRangingAndIsTheReason) {
  cupti_.fail("cuptiRangeProfilerPushRange", CUPTI_ERROR_UNKNOWN, 2);
  const auto result = run(5);
  expect_thrown_away(result, "cuptiRangeProfilerPushRange");
  // Two good ones, the bad one, once more on the caller's thread, and no more.
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPushRange"), 4);
}

TEST_P(CounterWindowTest, ARefusedBeginLeavesItClosed) {
  cupti_.fail("cuptiRangeProfilerStart", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  const auto failure = window_.begin(plan_, 16, GetParam());
  EXPECT_NE(failure.sentence.find("--cap-add=SYS_ADMIN"), std::string::npos);
  EXPECT_FALSE(window_.active());
  EXPECT_FALSE(window_.before_launch(0, key(0)));
  expect_thrown_away(window_.end(), "No counter window");
  EXPECT_TRUE(window_.enabled());
  EXPECT_FALSE(window_.close().failed());
  EXPECT_FALSE(window_.enabled());
}

TEST_P(CounterWindowTest, OutsideAWindowLaunchesAreLeftAlone) {
  EXPECT_FALSE(window_.before_launch(0, key(0)));
  EXPECT_TRUE(run(1).keep);
  EXPECT_FALSE(window_.before_launch(0, key(0)));
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPushRange"), GetParam() == RangeMode::user ? 1 : 0);
}

TEST_P(CounterWindowTest, AfterAbandonCuptiIsNotCalledAgain) {
  ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
  launch(0);
  const auto before = cupti_.calls().size();
  window_.abandon();
  EXPECT_FALSE(window_.before_launch(1, key(1)));
  EXPECT_FALSE(window_.end().keep);
  EXPECT_FALSE(window_.close().failed());
  EXPECT_EQ(cupti_.calls().size(), before);
}

// Threads of one context launch at the same time, as PyTorch's backward does: ranges never nest,
// every launch has exactly its own kernel.
TEST_P(CounterWindowTest, ThreadsTakeTurns) {
  constexpr std::uint32_t kThreads = 4, kEach = 50;
  cupti_.value = [](const std::string& metric, std::size_t) { return metric == kCtas ? 7.0 : 1.0; };
  ASSERT_FALSE(window_.begin(plan_, std::size_t{kThreads} * kEach, GetParam()).failed());
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        LaunchKey k;
        k.function = t;
        k.grid = {7, 1, 1};
        ASSERT_TRUE(window_.before_launch(t * kEach + i, k));
        cupti_.kernel();
        window_.after_launch(true);
      }
    });
  for (auto& thread : threads) thread.join();
  const auto result = window_.end();
  ASSERT_TRUE(result.keep) << result.reason;
  EXPECT_EQ(result.keys.size(), kThreads * kEach);
  for (const auto kernels : cupti_.kernels_in_ranges()) EXPECT_EQ(kernels, 1u);
}

// A launch that blocks in the driver must not block the program's other threads for longer than the
// turn's timeout.
TEST_P(CounterWindowTest, ALaunchThatStaysInTheDriverHoldsOthersUpOnceOnly) {
  ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
  ASSERT_TRUE(window_.before_launch(0, key(0)));
  cupti_.kernel();
  std::thread other([&] {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(window_.before_launch(1, key(1)));
    EXPECT_GE(std::chrono::steady_clock::now() - start, CounterWindow::kTurnTimeout);
    int held_up = 0;
    for (std::uint32_t i = 2; i < 40; ++i) {
      const auto again = std::chrono::steady_clock::now();
      EXPECT_FALSE(window_.before_launch(i, key(i)));
      if (std::chrono::steady_clock::now() - again >= CounterWindow::kTurnTimeout) ++held_up;
    }
    EXPECT_LE(held_up, 1);  // by a machine that does other work, and not by the window
  });
  other.join();
  window_.after_launch(true);
  const auto result = window_.end();
  expect_thrown_away(result, "overlapped another one");
  EXPECT_TRUE(run(3).keep);  // the next window is fine
}

// end() while a launch has not come back; it comes back in the middle of the next window and must
// not touch that one.
TEST_P(CounterWindowTest, ALateLaunchDoesNotTouchTheNextWindow) {
  ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
  std::atomic<int> stage{0};
  std::thread late([&] {
    EXPECT_TRUE(window_.before_launch(0, key(0)));
    stage = 1;
    while (stage != 2) std::this_thread::yield();
    window_.after_launch(true);
    stage = 3;
  });
  while (stage != 1) std::this_thread::yield();
  EXPECT_FALSE(window_.end().keep);
  // CUPTI's own rule: the range that stayed open is gone with the session.
  EXPECT_FALSE(window_.close().failed());
  ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
  const auto pops = cupti_.count("cuptiRangeProfilerPopRange");
  stage = 2;
  while (stage != 3) std::this_thread::yield();
  late.join();
  EXPECT_EQ(cupti_.count("cuptiRangeProfilerPopRange"), pops);
  launch(0);
  EXPECT_TRUE(window_.end().keep);
}

TEST_P(CounterWindowTest, ALaunchWithinALaunchDoesNotWaitForItself) {
  // The least of several: a machine that does other work may hold up any of them.
  auto least = std::chrono::steady_clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    ASSERT_FALSE(window_.begin(plan_, 16, GetParam()).failed());
    ASSERT_TRUE(window_.before_launch(0, key(0)));
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(window_.before_launch(1, key(1)));
    least = std::min(least, std::chrono::steady_clock::now() - start);
    window_.after_launch(true);
    EXPECT_FALSE(window_.end().keep);
  }
  EXPECT_LT(least, CounterWindow::kTurnTimeout);
}

}  // namespace
}  // namespace gable
