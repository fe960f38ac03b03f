// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/budget.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr std::uint64_t kStepNs = 10000000;  // 10 ms
constexpr Phase kPlain{PhaseKind::wait, 0}, kHwPhase{PhaseKind::hw, 0};

class MadeUpRun {
 public:
  explicit MadeUpRun(double percent) : budget(percent) {}
  void step(Phase phase, std::uint64_t wall_ns, std::uint64_t ranged = 0,
            std::uint64_t callbacks_ns = 0) {
    budget.begin(now_);
    budget.ended({phase, 7, 100, ranged, wall_ns, callbacks_ns});
    now_ += wall_ns;
  }
  Budget budget;

 private:
  std::uint64_t now_ = 5000;
};

TEST(Budget, RoomGrowsWithTheRun) {
  MadeUpRun run(3);
  run.step(kPlain, kStepNs);
  EXPECT_EQ(run.budget.launches(), 3) << "3 % of 10 ms, at the guess of 0.1 ms a launch";
  for (int i = 0; i < 9; ++i) run.step(kPlain, kStepNs);
  EXPECT_EQ(run.budget.launches(), 30);
  EXPECT_EQ(run.budget.added_percent(), 0);
}

TEST(Budget, WhatAWindowAddsIsTakenFromTheRoomAndTeachesThePrice) {
  MadeUpRun run(10);
  for (int i = 0; i < 20; ++i) run.step(kPlain, kStepNs);
  EXPECT_EQ(run.budget.launches(), 200);
  run.step(kHwPhase, kStepNs + 10000000, 1000);  // 10 us a launch
  EXPECT_NEAR(*run.budget.added_percent(), 100 * 10.0 / 210, 1e-9);
  const double room = 21e6 - 10e6, of_one = (32 * 0.1e6 + 10e6) / 1032;
  EXPECT_EQ(run.budget.launches(), static_cast<std::uint64_t>(room / of_one));
}

TEST(Budget, BeginningAndReadingCountOnce) {
  MadeUpRun run(10);
  for (int i = 0; i < 10; ++i) run.step(kPlain, kStepNs);
  run.budget.begin(5000 + 10 * kStepNs);
  run.budget.settled(4000000);  // within the window, whose wall time has it too
  run.budget.ended({kHwPhase, 7, 100, 100, kStepNs + 4000000, 0});
  EXPECT_NEAR(*run.budget.added_percent(), 100 * 4.0 / 110, 1e-9);
}

TEST(Budget, NothingFitsWhereCallbacksTakeItAll) {
  MadeUpRun run(3);
  for (std::uint64_t i = 0; i < Budget::kPatience - 1; ++i)
    run.step(kPlain, kStepNs, 0, kStepNs / 20);
  EXPECT_EQ(run.budget.launches(), 0);
  EXPECT_FALSE(run.budget.hopeless()) << "too early to tell";
  run.step(kPlain, kStepNs, 0, kStepNs / 20);
  EXPECT_TRUE(run.budget.hopeless());
}

TEST(Budget, WithoutAPercentageNothingIsLimited) {
  EXPECT_FALSE(Budget(std::nullopt).limited());
  EXPECT_FALSE(Budget(std::nullopt).hopeless());
}

}  // namespace
}  // namespace gable
