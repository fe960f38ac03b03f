// SPDX-License-Identifier: Apache-2.0
// Which roofs a report has: at the clock of its counter windows, at the highest, and measured ones.
#include <fstream>

#include "analysis/roofline/measured_roofs.h"
#include "analysis/roofline/roofline.h"
#include "tests/unit/analysis/profile_fixture.h"
#include "tools/show/table.h"

namespace gable::tests {
namespace {

constexpr Phase kCounted{PhaseKind::hw, 0};

const Ceiling* find(const Report& report, const std::string& name, SmClock clock) {
  for (const Ceiling& each : report.ceilings) {
    if (each.name == name && each.clock == clock) return &each;
  }
  return nullptr;
}

MeasuredRoofs roofs(bool playback, double fp32) {
  MeasuredRoofs measured;
  measured.device = a100();
  measured.playback = playback;
  measured.measured_at = "2030-01-02T03:04:05Z";
  measured.roofs = {
      {CeilingKind::compute, "fp32", "chains of fma.rn.f32", fp32, 0.004, true, 1.4e9},
      {CeilingKind::memory, "dram", "streaming read, 1024 MiB", 1.3e12, 0.004, true, {}},
      {CeilingKind::memory, "dram", "streaming copy, 1024 MiB", 1.4e12, 0.02, false, {}}};
  return measured;
}

class ReportCeilings : public ProfileTest {
 protected:
  // A kernel that ran a quarter of the time at 1 GHz and the rest at 1.2 GHz.
  void count() {
    profile.add_device(a100());
    profile.set_metrics(kCounted, {"gpu__time_duration.sum", "sm__cycles_elapsed.avg"});
    begin(1, kCounted);
    sample(kCounted, key(layer({"net"}), "k"), {1000, 1000});
    sample(kCounted, key(layer({"net"}), "k2"), {3000, 3600});
    end(kCounted);
  }
};

TEST_F(ReportCeilings, AreAtTheClockOfTheCounterWindowsAndAtTheHighest) {
  count();
  const Report made = report();
  ASSERT_TRUE(made.sm_clock_measured_hz.at(0));
  EXPECT_EQ(*made.sm_clock_measured_hz.at(0), 1.15e9);  // 4600 cycles in 4000 ns
  EXPECT_DOUBLE_EQ(find(made, "fp32", SmClock::measured)->value, 108 * 128 * 1.15e9);
  EXPECT_DOUBLE_EQ(find(made, "fp32", SmClock::boost)->value, 108 * 128 * 1.41e9);
  EXPECT_TRUE(has_note(made,
                       "ran at 1.15 GHz in counter windows, and their highest clock is "
                       "1.41 GHz"));
}

TEST_F(ReportCeilings, TheLaunchLatencyIsTheMeasuredOneWhereTheRunTellsNone) {
  profile.add_device(a100());
  begin(1, kTime);
  timed(key(layer({"net"}), "k"), 0, 3000);
  end(kTime);
  RunInfo run;
  run.source = Source::cupti;
  StoredRoofs stored;
  stored.all = {roofs(false, 18e12)};
  EXPECT_FALSE(build_report(profile, run, stored).step.launch_latency_ns);
  stored.all.front().latency = {4200, 0.1};
  const Report made = build_report(profile, run, stored);
  EXPECT_EQ(made.step.launch_latency_ns, 4200);
  EXPECT_TRUE(has_note(made, "the launch latency is the one that gable ceilings measured."));
  EXPECT_FALSE(has_note(made, "The launch latency is unknown"));
  run.source = Source::imported;  // of a machine with another host
  EXPECT_FALSE(build_report(profile, run, stored).step.launch_latency_ns);
  run.source = Source::playback;  // which nothing was measured for
  EXPECT_FALSE(build_report(profile, run, stored).step.launch_latency_ns);
  stored.all.front().playback = true;
  EXPECT_TRUE(has_note(build_report(profile, run, stored),
                       "that gable ceilings measured on the playback GPU."));
}

TEST_F(ReportCeilings, ALaunchLatencyIsKeptInTheFile) {
  MeasuredRoofs measured = roofs(false, 18e12);
  EXPECT_FALSE(roofs_from_json(to_json(measured)).roofs->latency);
  measured.latency = {4200, 0.125};
  const auto kept = roofs_from_json(to_json(measured)).roofs->latency;
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->ns, 4200);
  EXPECT_EQ(kept->spread, 0.125);
  measured.latency->ns = 0;
  EXPECT_NE(roofs_from_json(to_json(measured)).error.find("is not a time"), std::string::npos);
}

TEST_F(ReportCeilings, AClockThatCannotBeIsNotUsed) {
  profile.add_device(a100());
  profile.set_metrics(kCounted, {"gpu__time_duration.sum", "sm__cycles_elapsed.avg"});
  begin(1, kCounted);
  sample(kCounted, key(layer({"net"}), "k"), {1000, 152280});  // 108 times too many
  end(kCounted);
  const Report made = report();
  EXPECT_TRUE(made.sm_clock_measured_hz.empty());
  EXPECT_EQ(find(made, "fp32", SmClock::measured), nullptr);
  EXPECT_TRUE(has_note(made, "SM clock counted on device 0, 152.3 GHz, is impossible"));
}

TEST_F(ReportCeilings, WithoutCounterWindowsTheHighestClockIsAllThereIs) {
  profile.add_device(a100());
  begin(1, kTime);
  timed(key(layer({"net"}), "k"), 0, 1000);
  end(kTime);
  const Report made = report();
  EXPECT_TRUE(made.sm_clock_measured_hz.empty());
  EXPECT_EQ(find(made, "fp32", SmClock::measured), nullptr);
  ASSERT_NE(find(made, "fp32", SmClock::boost), nullptr);
}

TEST_F(ReportCeilings, MeasuredOnesAreUsedAndThoseAboveTheTheoreticalAreFlagged) {
  count();
  StoredRoofs stored;
  stored.all = {roofs(false, 20e12)};
  stored.problems = {"A file is ignored."};
  const Report made = kept(build_report(profile, RunInfo{}, stored));
  const Roofline roofline(made.ceilings);
  EXPECT_EQ(*roofline.ceiling(0, "fp32"), 20e12);
  EXPECT_EQ(roofline.source(0, "fp32"), "measured");
  EXPECT_EQ(*roofline.ceiling(0, "dram"), 1.4e12);  // the best stream
  EXPECT_EQ(roofline.source(0, "fp64"), "theoretical");
  EXPECT_TRUE(has_note(made, "measured roof fp32 of device 0 is 2.6 % above"));  // 20 / 19.49
  EXPECT_FALSE(has_note(made, "measured roof dram"));
  EXPECT_TRUE(has_note(made, "Roofs of device 0 that `gable ceilings` measured: fp32, dram."));
  EXPECT_TRUE(has_note(made, "A file is ignored."));
  bool found = false;
  for (const Ceiling& each : made.ceilings) {
    found = found || each.source ==
                         "measured: streaming copy, 1024 MiB, spread 2 % (not steady), "
                         "2030-01-02T03:04:05Z";
  }
  EXPECT_TRUE(found);
}

TEST_F(ReportCeilings, TheTableSaysOfWhichRoofsItsFractionsAre) {
  count();
  StoredRoofs stored;
  stored.all = {roofs(false, 19e12)};
  const std::string text = render_table({kept(build_report(profile, RunInfo{}, stored))});
  EXPECT_NE(text.find("\nof roof: gable ceilings measured fp32, dram\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nof roof: theoretical ones are at the SM clock of the counter windows, "
                      "1.15 GHz (highest 1.41 GHz)\n"),
            std::string::npos)
      << text;
}

TEST_F(ReportCeilings, TheTableSaysNothingOfTheHighestClock) {
  profile.add_device(a100());
  profile.set_metrics(kCounted, {"gpu__time_duration.sum", "sm__cycles_elapsed.avg"});
  begin(1, kCounted);
  sample(kCounted, key(layer({"net"}), "k"), {1000, 1405});
  end(kCounted);
  EXPECT_EQ(render_table({report()}).find("of roof:"), std::string::npos);
}

TEST_F(ReportCeilings, PlaybacksRoofsAreForPlaybackAndOthersForTheirOwnGpu) {
  StoredRoofs stored;
  stored.all = {roofs(true, 1e12)};
  EXPECT_EQ(roofs_for(stored, a100(), false), nullptr);
  EXPECT_NE(roofs_for(stored, a100(), true), nullptr);
  DeviceInfo other = a100();
  other.sm_count = 98;  // a part of one
  EXPECT_EQ(roofs_for(stored, other, true), nullptr);
  other = a100();
  other.name = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(roofs_for(stored, other, true), nullptr);
}

TEST(MeasuredRoofsFile, ComesBackAsItWasWritten) {
  const std::string folder = ::testing::TempDir() + "gable-roofs-kept/below";
  const MeasuredRoofs before = roofs(false, 19e12);
  const std::string name = roofs_file_name(before.device, false);
  EXPECT_EQ(name, "ceilings-nvidia-a100-sxm4-40gb-108sm.json");
  EXPECT_EQ(roofs_file_name(before.device, true),
            "ceilings-playback-nvidia-a100-sxm4-40gb-108sm.json");
  ASSERT_EQ(write_roofs_file(before, folder + "/" + name), "");
  const StoredRoofs stored = read_roofs_folder(folder);
  ASSERT_EQ(stored.all.size(), 1u);
  EXPECT_TRUE(stored.problems.empty());
  EXPECT_EQ(to_json(stored.all[0]), to_json(before));
}

TEST(MeasuredRoofsFile, WhatIsDamagedIsIgnoredWithASentence) {
  const std::string folder = ::testing::TempDir() + "gable-roofs-damaged";
  const std::string good = to_json(roofs(false, 19e12));
  std::string no_rate = good;
  no_rate.replace(no_rate.find("19000000000000"), 14, "-1");
  const std::vector<std::string> damaged = {
      good.substr(0, good.size() / 2),
      "",
      "[]",
      "{\"gable_ceilings\": 99}",
      no_rate,
      "{\"gable_ceilings\": 1, \"source\": \"gpu\", \"ceilings\": 7}"};
  for (const std::string& text : damaged) {
    ASSERT_EQ(write_roofs_file(roofs(false, 1), folder + "/ceilings-x.json"), "");
    std::ofstream(folder + "/ceilings-x.json") << text;
    const StoredRoofs stored = read_roofs_folder(folder);
    EXPECT_TRUE(stored.all.empty()) << text;
    ASSERT_EQ(stored.problems.size(), 1u) << text;
    EXPECT_NE(stored.problems[0].find("ceilings-x.json are ignored: "), std::string::npos);
  }
  EXPECT_TRUE(read_roofs_folder(folder + "/nowhere").problems.empty());
}

}  // namespace
}  // namespace gable::tests
