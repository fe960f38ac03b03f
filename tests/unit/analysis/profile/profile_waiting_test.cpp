// SPDX-License-Identifier: Apache-2.0
// Windows that ended and wait for their records, and what bounds them.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class WaitingWindows : public ProfileTest {};

TEST_F(WaitingWindows, RecordsAreAwaitedAfterTheWindowEnded) {
  const LaunchKey k = key(0, "k");
  begin(1, kTime);
  const std::uint32_t first = launch(k), second = launch(k);
  end(kTime);
  EXPECT_EQ(profile.pending_records(), 2u);
  record(second, 200, 260);  // in any order
  EXPECT_EQ(profile.pending_records(), 1u);
  EXPECT_FALSE(
      kernel_named(report(), "k").time_mean_ns.has_value());  // held until the window is complete
  record(first, 100, 140);
  EXPECT_EQ(profile.pending_records(), 0u);
  EXPECT_EQ(kernel_named(report(), "k").time_mean_ns, 50);
  EXPECT_EQ(report().run.lost.unattributed_launches, 0u);
}

TEST_F(WaitingWindows, MissingRecordsAreCountedAndMakeUnionsUnknown) {
  profile.count_step(1);
  begin(1, kTime);
  timed(key(layer({"a"}), "k"), 100, 150);
  const std::uint32_t missing = launch(key(layer({"a"}), "k"));
  end(kTime);
  profile.finish_records();
  EXPECT_EQ(profile.pending_records(), 0u);
  Report made = report();
  EXPECT_EQ(made.run.lost.unattributed_launches, 1u);
  EXPECT_EQ(kernel_named(made, "k").time_mean_ns, 50);
  EXPECT_FALSE(layer_at(made, {"a"}).time_busy_ns.has_value());
  EXPECT_FALSE(made.step.busy_ns.has_value());
  record(missing, 160, 170);  // too late: its launch is counted already
  EXPECT_EQ(report().run.lost.unattributed_launches, 1u);
}

TEST_F(WaitingWindows, ManyShortWindowsMayWaitForTheirRecords) {
  std::vector<std::uint32_t> launches;
  for (WindowId id = 1; id <= 64; ++id) {
    begin(id, kTime);
    launches.push_back(launch(key(0, "k")));
    end(kTime);
  }
  EXPECT_EQ(profile.pending_records(), 64u);
  for (const std::uint32_t each : launches)
    record(each, std::uint64_t{each} * 100, std::uint64_t{each} * 100 + 10);
  EXPECT_EQ(report().run.steps.time, 64u);
  EXPECT_EQ(kernel_named(report(), "k").samples_time, 64u);
  EXPECT_EQ(report().run.lost.unattributed_launches, 0u);
}

TEST_F(WaitingWindows, TheOldestWindowIsGivenUpWhenTooManyWait) {
  ProfileLimits limits;
  limits.max_waiting_windows = 64;
  Profile small(layers, functions, limits);
  std::uint32_t correlation = 0;
  for (WindowId id = 1; id <= 66; ++id) {
    small.begin_window(id, kTime);
    small.add(LaunchEvent{key(0, "k"), id, ++correlation, false});
    WindowEnd end;
    end.window = id;
    end.phase = kTime;
    end.launches = 1;
    small.end_window(end);
  }
  EXPECT_EQ(small.pending_records(), 64u);  // of windows 3 to 66
  const Report made = build_report(small, RunInfo{});
  EXPECT_EQ(made.run.lost.unattributed_launches, 2u);
  EXPECT_EQ(made.run.steps.time, 2u);  // closed ones; the others have not joined yet
}

TEST_F(WaitingWindows, WindowsThatHoldManyRecordsAreGivenUpEarlier) {
  ProfileLimits limits;
  limits.max_waiting_records = 100;
  Profile small(layers, functions, limits);
  std::uint32_t correlation = 0;
  for (WindowId id = 1; id <= 3; ++id) {
    small.begin_window(id, kTime);
    for (int i = 0; i < 60; ++i) {
      small.add(LaunchEvent{key(0, "k"), id, ++correlation, false});
      if (i == 0) continue;  // its record never comes
      KernelRecord arrived;
      arrived.start_ns = std::uint64_t{correlation} * 100;
      arrived.end_ns = arrived.start_ns + 10;
      arrived.correlation = correlation;
      small.add(arrived);
    }
    WindowEnd end;
    end.window = id;
    end.phase = kTime;
    end.launches = 60;
    small.end_window(end);
  }
  EXPECT_EQ(small.pending_records(), 1u);
  const Report made = build_report(small, RunInfo{});
  EXPECT_EQ(made.run.lost.unattributed_launches, 2u);
  EXPECT_EQ(kernel_named(made, "k").samples_time, 118u);  // what had come of the two counts
}

TEST_F(WaitingWindows, TooManyRecordsForAUnionStillGiveDurations) {
  ProfileLimits limits;
  limits.max_window_records = 3;
  Profile small(layers, functions, limits);
  const LaunchKey k = key(0, "k");
  small.count_step(1);
  small.begin_window(1, kTime);
  for (std::uint32_t i = 1; i <= 5; ++i) {
    small.add(LaunchEvent{k, 1, i, false});
    KernelRecord record;
    record.start_ns = std::uint64_t{i} * 100;
    record.end_ns = i * 100 + i;
    record.correlation = i;
    small.add(record);
  }
  WindowEnd end;
  end.window = 1;
  end.phase = kTime;
  small.end_window(end);
  const Report made = build_report(small, RunInfo{});
  EXPECT_EQ(kernel_named(made, "k").samples_time, 5u);
  EXPECT_EQ(kernel_named(made, "k").time_mean_ns, 3);
  EXPECT_FALSE(made.step.busy_ns.has_value());
}

TEST_F(WaitingWindows, LaunchesBeyondThePendingBoundAreCountedAsLost) {
  ProfileLimits limits;
  limits.max_pending = 2;
  Profile small(layers, functions, limits);
  small.begin_window(1, kTime);
  for (std::uint32_t i = 1; i <= 5; ++i) small.add(LaunchEvent{key(0, "k"), 1, i, false});
  EXPECT_EQ(small.pending_records(), 2u);
  KernelRecord record;
  record.start_ns = 1;
  record.end_ns = 2;
  for (record.correlation = 1; record.correlation <= 5; ++record.correlation) small.add(record);
  WindowEnd end;
  end.window = 1;
  end.phase = kTime;
  small.end_window(end);
  const Report made = build_report(small, RunInfo{});
  EXPECT_EQ(made.run.lost.unattributed_launches, 3u);
  EXPECT_EQ(kernel_named(made, "k").samples_time, 2u);
}

}  // namespace
}  // namespace gable::tests
