// SPDX-License-Identifier: Apache-2.0
// Which launches say how long a launch takes: those that found their GPU idle.
#include "analysis/profile/launch_latency.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gable {
namespace {

class Latency : public ::testing::Test {
 protected:
  void kernel(std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
              std::int32_t device = 0) {
    LaunchKey key;
    key.device = device;
    records_.push_back({start, end, keys_.find_or_add(key, 1)});
    calls_.add_start({start, end, correlation, device, 1, 7});
  }
  void copy(std::uint64_t start, std::uint64_t end) {
    CopyRecord record;
    record.start_ns = start;
    record.end_ns = end;
    calls_.add_copy(record);
  }
  Moments finish() {
    std::sort(records_.begin(), records_.end(),
              [](const HeldRecord& a, const HeldRecord& b) { return a.start < b.start; });
    Moments latency;
    calls_.finish(records_, keys_, latency);
    return latency;
  }

  KeyTable keys_{100};
  std::vector<HeldRecord> records_;
  LaunchLatency calls_;
};

TEST_F(Latency, IsFromTheCallToTheStart) {
  calls_.add_call(1, 1000);
  kernel(1, 4000, 9000);
  calls_.add_call(3, 10000);
  kernel(3, 15000, 16000);
  const Moments latency = finish();
  EXPECT_EQ(latency.count(), 2U);
  EXPECT_EQ(latency.mean(), 4000.0);
}

TEST_F(Latency, OtherLaunchesSayNothing) {
  calls_.add_call(1, 1000);
  kernel(2, 4000, 9000);
  EXPECT_EQ(finish().count(), 0U);
}

TEST_F(Latency, NoneWhereAnotherKernelRan) {
  kernel(7, 500, 3000);  // still runs when the call is made
  calls_.add_call(1, 2000);
  kernel(1, 4000, 5000);
  calls_.add_call(2, 6000);
  kernel(8, 7000, 7500);  // came in between
  kernel(2, 9000, 9500);
  EXPECT_EQ(finish().count(), 0U);
}

TEST_F(Latency, AnotherGpuMayBeBusy) {
  kernel(7, 500, 3000, 1);
  calls_.add_call(1, 2000);
  kernel(1, 4500, 5000);
  EXPECT_EQ(finish().mean(), 2500.0);
}

TEST_F(Latency, NoneWhereACopyRan) {
  calls_.add_call(1, 2000);
  kernel(1, 8000, 9000);
  copy(1000, 2500);
  EXPECT_EQ(finish().count(), 0U);
}

TEST_F(Latency, ACopyBeforeOrAfterDoesNotMatter) {
  calls_.add_call(1, 2000);
  kernel(1, 8000, 9000);
  copy(1000, 2000);
  copy(8500, 9500);
  EXPECT_EQ(finish().mean(), 6000.0);
}

TEST_F(Latency, AClockThatRunsBackwardsIsNoLatency) {
  calls_.add_call(1, 5000);
  kernel(1, 4000, 9000);
  EXPECT_EQ(finish().count(), 0U);
}

TEST_F(Latency, MemoryIsBounded) {
  for (std::uint32_t i = 1; i <= 10 * LaunchLatency::kMaxCalls; ++i) {
    calls_.add_call(i, std::uint64_t{1000} * i);
    kernel(i, 1000 * i + 100, 1000 * i + 200);
  }
  EXPECT_EQ(finish().count(), LaunchLatency::kMaxCalls);
}

TEST_F(Latency, WithTooManyCopiesNothingIsKnown) {
  calls_.add_call(1, 1000);
  kernel(1, 4000, 9000);
  for (std::size_t i = 0; i <= LaunchLatency::kMaxCopies; ++i)
    calls_.add_copy({20000, 21000, 1, 1, 0, CopyKind::peer, 0, false, 0, {}, false});
  EXPECT_EQ(finish().count(), 0U);
}

// --- of recorded steps

using Kind = RecordedCallKind;

class RecordedLatencies : public ::testing::Test {
 protected:
  RecordedLatencies() { record_.work.resize(2); }
  void call(Kind kind, std::uint64_t enter_ns, std::uint64_t stream = 7) {
    RecordedCall made;
    made.kind = kind;
    made.enter_ns = enter_ns;
    made.exit_ns = enter_ns + 1000;
    made.stream = stream;
    made.correlation = kind == Kind::launch ? ++correlation_ : 0;
    record_.steps.calls.push_back(made);
  }
  void launch(std::uint64_t enter_ns, std::uint64_t start_ns, std::uint64_t end_ns,
              std::uint32_t work = 0, OperationKind kind = OperationKind::kernel) {
    call(Kind::launch, enter_ns);
    RecordedOperation made;
    made.correlation = correlation_;
    made.start_ns = start_ns;
    made.end_ns = end_ns;
    made.key = work;
    made.kind = kind;
    record_.steps.operations.push_back(made);
  }
  void border() {
    record_.steps.borders.push_back(static_cast<std::uint32_t>(record_.steps.calls.size()));
  }
  std::optional<double> median() {
    Moments latency;
    add_launch_latencies(record_, latency);
    return latency.median();
  }

  StepRecord record_;
  std::uint32_t correlation_ = 0;
};

TEST_F(RecordedLatencies, AreOfLaunchesThatFindTheGpuIdle) {
  border();
  launch(1000, 9000, 10000);  // what ran before the first step is not known
  border();
  launch(20000, 24000, 30000);  // 4 us
  launch(26000, 31000, 32000);  // into a busy GPU
  launch(40000, 45000, 46000);  // 5 us
  launch(50000, 56000, 57000);  // 6 us
  EXPECT_EQ(median(), 5000.0);
}

TEST_F(RecordedLatencies, AnotherGpuMayBeBusy) {
  record_.work[1].key.device = 1;
  border();
  border();
  launch(20000, 21000, 90000, 1);
  launch(40000, 45000, 46000);
  launch(60000, 100000, 110000, 1);
  EXPECT_EQ(median(), (1000.0 + 5000.0) / 2);
}

TEST_F(RecordedLatencies, WhatWaitsForAnEventOrTheHostTellsNothing) {
  border();
  border();
  call(Kind::stream_wait, 10000);
  launch(20000, 29000, 30000);
  call(Kind::host_function, 31000);
  launch(40000, 49000, 50000);
  call(Kind::stream_wait, 51000, 8);  // of another stream
  launch(60000, 63000, 64000);
  EXPECT_EQ(median(), 3000.0);
}

TEST_F(RecordedLatencies, CopiesKeepTheGpuBusyAndAreNoKernels) {
  border();
  border();
  launch(20000, 21000, 60000, 0, OperationKind::copy);
  launch(40000, 61000, 62000);
  EXPECT_EQ(median(), std::nullopt);
  record_ = StepRecord();
  EXPECT_EQ(median(), std::nullopt);
}

}  // namespace
}  // namespace gable
