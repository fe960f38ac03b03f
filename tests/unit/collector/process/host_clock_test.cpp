// SPDX-License-Identifier: Apache-2.0
#include "collector/process/host_clock.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr std::uint64_t kNow = 1'795'368'488'000'000'000;

TEST(HostClock, AsksBeforeAnythingWasAnswered) {
  const HostClock clock;
  EXPECT_EQ(clock.read(), 0u);
}

TEST(HostClock, ReadsTheSystemsClockItselfWhereCuptiAnswersWithIt) {
  HostClock clock;
  clock.take({kNow, kNow + 70, kNow + 90});
  EXPECT_EQ(clock.read(kNow + 100), kNow + 100);
  EXPECT_EQ(clock.read(kNow + HostClock::kTrust), kNow + HostClock::kTrust);
}

TEST(HostClock, AsksAgainAfterAWhile) {
  HostClock clock;
  clock.take({kNow, kNow + 70, kNow + 90});
  EXPECT_EQ(clock.read(kNow + 90 + HostClock::kTrust), 0u);
}

TEST(HostClock, AsksWhereTheSystemsClockWasSetBack) {
  HostClock clock;
  clock.take({kNow, kNow + 70, kNow + 90});
  EXPECT_EQ(clock.read(kNow - 3'600'000'000'000), 0u);
}

TEST(HostClock, AsksAlwaysWhereCuptiHasAClockOfItsOwn) {
  HostClock clock;
  clock.take({kNow, kNow - 1, kNow + 90});
  EXPECT_EQ(clock.read(kNow + 100), 0u);
  clock.take({kNow, kNow + 91, kNow + 90});
  EXPECT_EQ(clock.read(kNow + 100), 0u);
}

TEST(HostClock, NoticesAnotherClock) {
  HostClock clock;
  clock.take({kNow, kNow + 70, kNow + 90});
  clock.take({kNow + 1000, 5000, kNow + 1100});  // ticks of a processor, as another tool may set
  EXPECT_EQ(clock.read(kNow + 1200), 0u);
}

}  // namespace
}  // namespace gable
