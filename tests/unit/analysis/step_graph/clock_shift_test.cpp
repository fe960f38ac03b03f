// SPDX-License-Identifier: Apache-2.0
// A GPU's clock that is off the host's: moved by what cannot be otherwise, and by nothing else.
#include "analysis/step_graph/clock_shift.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

using Kind = RecordedCallKind;

class ClockShifts : public ::testing::Test {
 protected:
  // Calls of 2 us, at `enter_ns`.
  RecordedCall& call(Kind kind, std::uint64_t enter_ns, std::uint32_t correlation = 0) {
    RecordedCall made;
    made.kind = kind;
    made.enter_ns = enter_ns;
    made.exit_ns = enter_ns + 2000;
    made.stream = 7;
    made.correlation = correlation;
    return steps.calls.emplace_back(made);
  }
  void operation(std::uint32_t correlation, std::uint64_t start_ns, std::uint64_t end_ns) {
    RecordedOperation made;
    made.correlation = correlation;
    made.start_ns = start_ns;
    made.end_ns = end_ns;
    steps.operations.push_back(made);
    devices.push_back(0);
  }
  std::uint64_t start(std::size_t i) const { return steps.operations[i].start_ns; }

  RecordedSteps steps;
  std::vector<std::int32_t> devices;
};

TEST_F(ClockShifts, WhatContradictsNothingStaysAsItIs) {
  call(Kind::launch, 100'000, 1);
  call(Kind::stream_synchronize, 102'000).exit_ns = 150'000;
  operation(1, 103'000, 149'000);
  EXPECT_EQ(shift_clocks(steps, devices), 0u);
  EXPECT_EQ(start(0), 103'000u);
}

TEST_F(ClockShifts, NothingStartsBeforeItsLaunchNorEndsAfterItsWait) {
  call(Kind::launch, 100'000, 1);
  operation(1, 95'000, 105'000);
  call(Kind::launch, 200'000, 2);
  operation(2, 203'000, 213'000);
  EXPECT_EQ(shift_clocks(steps, devices), 0u);
  EXPECT_EQ(start(0), 100'000u);
  EXPECT_EQ(start(1), 208'000u);

  call(Kind::stream_synchronize, 210'000).exit_ns = 214'000;  // 4 us too late: half of it
  EXPECT_EQ(shift_clocks(steps, devices), 2000u);
  EXPECT_EQ(start(0), 98'000u);
}

TEST_F(ClockShifts, AWaitIsNotForWhatAnotherThreadIsStillLaunching) {
  call(Kind::launch, 100'000, 1);
  RecordedCall& wait = call(Kind::stream_synchronize, 101'000);
  wait.thread = 1;
  wait.exit_ns = 104'000;
  operation(1, 103'000, 149'000);
  EXPECT_EQ(shift_clocks(steps, devices), 0u);
  EXPECT_EQ(start(0), 103'000u);

  call(Kind::event_record, 104'000).event = 3;
  RecordedCall& event = call(Kind::event_synchronize, 105'000);  // while it is being recorded
  event.event = 3;
  event.thread = 1;
  event.exit_ns = 106'500;
  EXPECT_EQ(shift_clocks(steps, devices), 0u);
  EXPECT_EQ(start(0), 103'000u);
}

TEST_F(ClockShifts, AnOperationWithoutTimesGetsNone) {
  call(Kind::launch, 100'000, 1);
  operation(1, 95'000, 105'000);
  call(Kind::launch, 200'000, 2);
  operation(2, 0, 0);
  (void)shift_clocks(steps, devices);
  EXPECT_EQ(start(0), 100'000u);
  EXPECT_EQ(start(1), 0u);
}

}  // namespace
}  // namespace gable
