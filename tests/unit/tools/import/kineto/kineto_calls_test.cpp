// SPDX-License-Identifier: Apache-2.0
// What the number of work without a call says: launched before the recording began, or not.
#include "tools/import/kineto/kineto_calls.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

class Calls : public testing::Test {
 protected:
  void call(std::uint64_t correlation, std::uint64_t start, std::uint32_t process = 0) {
    TracedCall made;
    made.correlation = correlation;
    made.start_ns = start;
    made.thread = process;
    calls.add(made, process);
  }
  void used(std::int32_t device, std::uint64_t correlation) {
    const TracedCall* call = calls.find(correlation, UINT64_MAX);
    ASSERT_NE(call, nullptr);
    calls.used(device, *call);
  }
  KinetoCalls calls;
};

TEST_F(Calls, ALowerNumberThanAnyCallsIsFromBefore) {
  call(102, 10);
  call(101, 11);  // of a thread that was held up
  call(110, 20);
  calls.sort();
  EXPECT_TRUE(calls.before(100, 0));
  for (const std::uint64_t later : {101u, 105u, 111u, 0u}) EXPECT_FALSE(calls.before(later, 0));
}

TEST_F(Calls, NumbersBeginAnew) {
  call(4'294'967'290u, 10);
  call(7, 20);
  calls.sort();
  EXPECT_TRUE(calls.before(4'294'967'289u, 0));
  EXPECT_FALSE(calls.before(4'294'967'295u, 0));
  EXPECT_FALSE(calls.before(5, 0));
  EXPECT_FALSE(calls.before(9, 0));
}

TEST_F(Calls, NumbersThatBeganAnewBeforeTheRecording) {
  call(3, 10);
  call(7, 20);
  calls.sort();
  EXPECT_TRUE(calls.before(4'294'967'290u, 0));
  EXPECT_TRUE(calls.before(2, 0));
  EXPECT_FALSE(calls.before(5, 0));
}

TEST_F(Calls, WithoutCallsNothingIsKnown) {
  calls.sort();
  EXPECT_FALSE(calls.before(1, 0));
  call(0, 10);
  calls.sort();
  EXPECT_FALSE(calls.before(1, 0));
}

TEST_F(Calls, EachProcessHasNumbersOfItsOwn) {
  call(100, 10, 0);
  call(5000, 10, 1);
  calls.sort();
  used(0, 100);
  used(1, 5000);
  EXPECT_TRUE(calls.before(99, 0));
  EXPECT_FALSE(calls.before(4000, 0));
  EXPECT_TRUE(calls.before(4000, 1));
  // Whose they are is not known: only what is from before in both.
  EXPECT_FALSE(calls.before(4000, 2));
  EXPECT_TRUE(calls.before(99, 2));
  used(0, 5000);
  EXPECT_FALSE(calls.before(4000, 0));
}

TEST_F(Calls, OfTwoProcessesWithOneNumberTheLastBeforeTheWork) {
  call(7, 100, 0);
  call(7, 101, 0);  // of the driver, within the runtime's
  call(7, 500, 1);
  call(7, 900, 0);
  calls.sort();
  EXPECT_EQ(calls.find(7, 450)->start_ns, 100u);
  EXPECT_EQ(calls.find(7, 550)->start_ns, 500u);
  EXPECT_EQ(calls.find(7, 950)->start_ns, 900u);
  EXPECT_EQ(calls.find(7, 50)->start_ns, 100u);  // clocks that differ
  EXPECT_EQ(calls.find(8, 450), nullptr);
  EXPECT_EQ(calls.find(0, 450), nullptr);
}

TEST_F(Calls, NeighboursOfACallThatIsMissing) {
  call(100, 10);
  call(102, 20);
  calls.sort();
  const auto around = calls.around(101);
  ASSERT_TRUE(around);
  EXPECT_EQ(around->first->correlation, 100u);
  EXPECT_EQ(around->second->correlation, 102u);
  for (const std::uint64_t outside : {0u, 99u, 103u}) EXPECT_FALSE(calls.around(outside));
}

}  // namespace
}  // namespace gable
