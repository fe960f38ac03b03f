// SPDX-License-Identifier: Apache-2.0
// What is put aside, forgotten, and taken back when steps are found.
#include "analysis/profile/profile_state.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class ProfileRestart : public ProfileTest {
 protected:
  const LaunchKey k = key(layer({"net"}), "k");

  void timed_window(WindowId id, std::uint64_t ns) {
    begin(id, kTime);
    const std::uint64_t at = id * 10'000ull;
    timed(k, at, at + ns);
    end(kTime, true, at, at + 1000);
  }
};

// Steps came, but none of them was timed: what was timed before takes their place.
TEST_F(ProfileRestart, WhatWasPutAsideIsTakenBack) {
  profile.add_device(a100());
  launch(k);
  profile.add(LayerSpan{k.layer, kNoWindow, 0, 2, 0});
  timed_window(1, 100);
  LostCounts lost;
  lost.records = 2;
  profile.restart(true);
  profile.add_lost(lost);
  EXPECT_FALSE(has_launches(profile));
  profile.count_step(1);
  launch(k);
  profile.add(LayerSpan{k.layer, kNoWindow, 0, 3, 0});
  const LaunchKey fresh = key(layer({"net", "new"}), "fresh");
  launch(fresh);
  EXPECT_TRUE(profile.take_back());
  const Report made = report();
  EXPECT_EQ(made.run.unit, Unit::run);
  EXPECT_EQ(kernel_named(made, "k").launches, 3);  // two before, one since
  EXPECT_EQ(kernel_named(made, "k").time_mean_ns, 100);
  EXPECT_EQ(kernel_named(made, "fresh").launches, 1);
  EXPECT_EQ(layer_at(made, {"net"}).calls, 5);
  EXPECT_EQ(made.run.lost.records, 2u);
  ASSERT_EQ(made.devices.size(), 1u);
  EXPECT_EQ(profile.state().launches, 4u);
  EXPECT_FALSE(profile.take_back());
}

TEST_F(ProfileRestart, StepsThatWereTimedStay) {
  timed_window(1, 100);
  profile.restart(true);
  profile.count_step(1);
  timed_window(2, 300);
  EXPECT_FALSE(profile.take_back());
  EXPECT_EQ(kernel_named(report(), "k").time_mean_ns, 300);
  EXPECT_EQ(kernel_named(report(), "k").launches, 1);
}

TEST_F(ProfileRestart, WhatIsForgottenIsNotTakenBack) {
  timed_window(1, 100);
  profile.restart();
  profile.count_step(1);
  EXPECT_FALSE(profile.take_back());
  EXPECT_EQ(profile.state().launches, 0u);
}

// A second restart adds its launches to those that were put aside.
TEST_F(ProfileRestart, PutAsideTwice) {
  timed_window(1, 100);
  profile.restart(true);
  launch(k);
  launch(key(0, "bare"));
  profile.restart(true);
  profile.count_step(1);
  EXPECT_TRUE(profile.take_back());
  EXPECT_EQ(kernel_named(report(), "k").launches, 2);
  EXPECT_EQ(kernel_named(report(), "bare").launches, 1);
  EXPECT_EQ(profile.state().launches, 3u);
}

// A record of what was put aside still finds its launch.
TEST_F(ProfileRestart, ALateRecordOfWhatWasPutAside) {
  begin(1, kTime);
  const auto late = launch(k);
  end(kTime, true, 10'000, 11'000);
  timed_window(2, 100);
  profile.restart(true);
  profile.count_step(1);
  record(late, 10'000, 10'300);
  EXPECT_EQ(report().run.lost.unattributed_launches, 0u);
  EXPECT_TRUE(profile.take_back());
  EXPECT_EQ(kernel_named(report(), "k").time_mean_ns, 200);
}

TEST_F(ProfileRestart, CountingAnewKeepsWhatWasLost) {
  LostCounts lost;
  lost.records = 3;
  profile.add_lost(lost);
  begin(1, kTime);
  end(kTime, false, 0, 0, "Because.");
  profile.count_anew(false);
  EXPECT_EQ(profile.state().lost.records, 3u);
  EXPECT_EQ(profile.state().reasons.at("Because.").empty, 1u);
  EXPECT_EQ(profile.state().range_function, 0u);
  profile.count_anew(true);
  EXPECT_NE(profile.state().range_function, 0u);
}

TEST_F(ProfileRestart, LinksAndStatesAreOfTheirDevices) {
  DeviceInfo second = a100(), none = a100();
  second.id = 1;
  none.id = -1;
  profile.add_device(a100());
  profile.add_device(second);
  profile.add_device(none);
  std::vector<DeviceLinks> links(1);
  links[0].nvlinks = 5;
  profile.set_links(links);
  std::vector<std::optional<GpuState>> states(2);
  states[1].emplace().samples = 9;
  profile.set_states(states);
  const auto& devices = profile.state().devices;
  EXPECT_EQ(devices.at(0).links.nvlinks, 5);
  EXPECT_EQ(devices.at(1).links.nvlinks, std::nullopt);
  EXPECT_FALSE(devices.at(0).state);
  ASSERT_TRUE(devices.at(1).state);
  EXPECT_EQ(devices.at(1).state->samples, 9u);
  EXPECT_FALSE(devices.at(-1).state);
}

// A launch whose record may never come keeps no window open.
TEST_F(ProfileRestart, ARecordThatIsNotExpected) {
  profile.count_step(1);
  begin(1, kTime);
  timed(k, 10'000, 10'100);
  const auto never = launch(k);
  end(kTime, true, 10'000, 11'000);
  EXPECT_EQ(profile.pending_records(), 1u);
  profile.expect_no_record(never);
  profile.expect_no_record(12'345);
  EXPECT_EQ(profile.pending_records(), 0u);
  const Report made = report();
  EXPECT_EQ(kernel_named(made, "k").time_mean_ns, 100);
  EXPECT_EQ(made.step.busy_ns, std::nullopt);
  record(never, 10'200, 10'300);
  EXPECT_EQ(report().run.lost.unattributed_launches, 0u);
}

TEST_F(ProfileRestart, SpansThatComeAfterTheirWindow) {
  profile.count_step(1);
  timed_window(1, 100);
  profile.add(LayerSpan{k.layer, 1, 500, 2, 2, 30});
  const Report made = report();
  EXPECT_EQ(layer_at(made, {"net"}).calls, 2);
  EXPECT_EQ(layer_at(made, {"net"}).cpu_ns, 500);
  EXPECT_EQ(made.step.sync_ns, 30);
}

}  // namespace
}  // namespace gable::tests
