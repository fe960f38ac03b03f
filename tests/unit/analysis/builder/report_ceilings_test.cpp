// SPDX-License-Identifier: Apache-2.0
// Which roofs a report has: at the clock of its counter windows, at the highest, and measured ones.
#include <fstream>

#include "analysis/profile/profile_state.h"
#include "analysis/roofline/ceilings.h"
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

const std::vector<std::string> kRoofs = {
    "lts__t_bytes.sum.peak_sustained", "lts__cycles_elapsed.avg.per_second",
    "l1tex__t_bytes.sum.peak_sustained", "dram__bytes.sum.peak_sustained",
    "dram__cycles_elapsed.avg.per_second"};

class StatedRoofs : public ReportCeilings {
 protected:
  // Of a chip whose caches no attribute tells of; of a kernel that ran a quarter of the time, and
  // one that ran the rest.
  void count(std::vector<double> values, std::vector<double> others, double cycles = 1) {
    DeviceInfo device = a100();
    device.chip = "GB202";
    device.compute_major = 12;
    device.memory_bus_bits = bus_bits;
    profile.add_device(device);
    std::vector<std::string> names = {"gpu__time_duration.sum", "sm__cycles_elapsed.avg"};
    names.insert(names.end(), kRoofs.begin(), kRoofs.end());
    profile.set_metrics(kCounted, names);
    profile.set_roof_metrics(kRoofs);
    begin(1, kCounted);
    values.insert(values.begin(), {1000, cycles * 1000});
    others.insert(others.begin(), {3000, cycles * 3600});
    sample(kCounted, key(layer({"net"}), "k"), values);
    sample(kCounted, key(layer({"net"}), "k2"), others);
    end(kCounted);
  }
  std::int32_t bus_bits = 5120;
};

TEST_F(StatedRoofs, ArePeaksPerCycleAtTheClockOfTheirUnit) {
  count({4096, 1.0e9, 21760, 512, 3e9}, {4096, 1.4e9, 21760, 512, 3e9});
  const Report made = kept(report());
  const Ceiling* l2 = find(made, "l2", SmClock::none);
  ASSERT_NE(l2, nullptr);
  EXPECT_EQ(l2->value, 4096 * 1.3e9);  // long kernels weigh most
  EXPECT_EQ(l2->kind, CeilingKind::memory);
  EXPECT_EQ(l2->source,
            "theoretical: CUPTI states 4096 byte per cycle (lts__t_bytes.sum.peak_sustained) x "
            "1.3 GHz, the L2 clock of the counter windows");
  const Ceiling* l1 = find(made, "l1", SmClock::measured);
  ASSERT_NE(l1, nullptr);
  EXPECT_EQ(l1->value, 21760 * 1.15e9);
  EXPECT_EQ(l1->source,
            "theoretical: CUPTI states 21760 byte per cycle (l1tex__t_bytes.sum.peak_sustained) x "
            "1.15 GHz, the SM clock of the counter windows");
  // The attributes tell DRAM's.
  const Ceiling* dram = find(made, "dram", SmClock::none);
  ASSERT_NE(dram, nullptr);
  EXPECT_EQ(dram->value, 1555.2e9);
  EXPECT_TRUE(has_note(made,
                       "Roofs of device 0 that CUPTI states, at the clocks of the counter windows: "
                       "l2, l1."));
  EXPECT_NE(render_table({made}).find(
                "\nRoofs: l2, l1 stated by CUPTI at the clocks of the counter windows; others "),
            std::string::npos);
}

TEST_F(StatedRoofs, OfDramAreTakenWhereNoAttributeTellsIt) {
  bus_bits = 0;
  count({4096, 1e9, 21760, 512, 3e9}, {4096, 1e9, 21760, 512, 3e9});
  const Report made = report();
  const Ceiling* dram = find(made, "dram", SmClock::none);
  ASSERT_NE(dram, nullptr);
  EXPECT_EQ(dram->value, 512 * 3e9);
  EXPECT_NE(dram->source.find("CUPTI states 512 byte per cycle"), std::string::npos);
}

// A unit that moves nothing, or stands still, is one that nobody was told about.
TEST_F(StatedRoofs, OfNothingAreUnknown) {
  bus_bits = 0;
  const double nan = std::nan("");
  count({4096, 0, 0, nan, 3e9}, {4096, 0, 0, nan, 3e9}, 0);
  const Report made = report();
  for (const Ceiling& each : made.ceilings)
    EXPECT_TRUE(each.kind == CeilingKind::compute) << each.name << " " << each.source;
  EXPECT_FALSE(has_note(made, "that CUPTI states"));
}

TEST_F(StatedRoofs, AreWhatSomeKernelTells) {
  count({0, 0, 0, 0, 0}, {4096, 1.4e9, 21760, 512, 3e9});
  const Report made = report();
  EXPECT_EQ(find(made, "l2", SmClock::none)->value, 4096 * 1.4e9);
  EXPECT_EQ(find(made, "l1", SmClock::measured)->value, 21760 * 1.15e9);
}

TEST_F(StatedRoofs, NeedTheClockOfTheSmsForL1) {
  count({4096, 1e9, 21760, 512, 3e9}, {4096, 1e9, 21760, 512, 3e9}, 100);  // an impossible one
  const Report made = report();
  EXPECT_NE(find(made, "l2", SmClock::none), nullptr);
  EXPECT_EQ(find(made, "l1", SmClock::measured), nullptr);
}

// What attributes tell holds, and what `gable ceilings` measured holds above all.
TEST_F(StatedRoofs, YieldToAttributesAndToMeasuredOnes) {
  count({4096, 1e9, 21760, 512, 3e9}, {4096, 1e9, 21760, 512, 3e9});
  StoredRoofs stored;
  stored.all = {roofs(false, 20e12)};
  stored.all.front().device = profile.state().devices.at(0);
  stored.all.front().roofs.push_back(
      {CeilingKind::memory, "l2", "streaming read, 10 MiB", 3e12, 0.004, true, 1.4e9});
  const Report made = build_report(profile, RunInfo{}, stored);
  EXPECT_EQ(*Roofline(made.ceilings).ceiling(0, "l2"), 3e12);
  profile.add_device(a100());  // whose L2 and L1 the whitepaper tells
  const Report told = report();
  for (const Ceiling& each : told.ceilings) EXPECT_FALSE(is_stated_by_cupti(each)) << each.name;
}

// They tell of the GPU, not of a kernel, unless somebody asked.
TEST_F(StatedRoofs, AreNoCountersOfKernelsUnlessAskedFor) {
  count({4096, 1e9, 21760, 512, 3e9}, {4096, 1e9, 21760, 512, 3e9});
  for (const KernelRow& kernel : report().kernels) {
    EXPECT_EQ(kernel.counters.size(), 2u);
    EXPECT_EQ(kernel.counters.count(kRoofs[0]), 0u);
  }
  profile.set_raw_metrics({kRoofs[0]});
  const Report made = report();
  ASSERT_EQ(made.kernels.size(), 2u);
  for (const KernelRow& kernel : made.kernels) {
    EXPECT_EQ(kernel.counters.size(), 3u);
    EXPECT_EQ(kernel.counters.at(kRoofs[0]), Maybe(4096));
  }
}

// The first border of a step comes after windows of launches, whose values are forgotten.
TEST_F(StatedRoofs, AreStillToldApartOnceStepsBegin) {
  count({1, 1e9, 1, 1, 1e9}, {1, 1e9, 1, 1, 1e9});
  profile.restart();
  begin(2, kCounted);
  sample(kCounted, key(layer({"net"}), "k"), {1000, 1200, 4096, 1e9, 21760, 512, 3e9});
  end(kCounted);
  const Report made = report();
  ASSERT_NE(find(made, "l2", SmClock::none), nullptr);
  EXPECT_EQ(find(made, "l2", SmClock::none)->value, 4096e9);
  EXPECT_EQ(kernel_named(made, "k").counters.size(), 2u);
}

// In a range a peak is each launch's, as it would be alone.
TEST_F(StatedRoofs, OfARangeAreNotDividedByItsLaunches) {
  DeviceInfo device = a100();
  device.compute_major = 12;
  profile.add_device(device);
  profile.set_metrics(kCounted, {"gpu__time_duration.sum", kRoofs[0], kRoofs[1]});
  profile.set_roof_metrics(kRoofs);
  begin(1, kCounted);
  const std::vector<double> values = {1000, 4096, 1.5e9};
  const LaunchKey launched = key(layer({"net"}), "k");
  for (int i = 0; i < 8; ++i) launch(launched);
  profile.add(kCounted, window, CounterSample{launched, values.data(), 8});
  end(kCounted);
  const Report made = report();
  const Ceiling* l2 = find(made, "l2", SmClock::none);
  ASSERT_NE(l2, nullptr);
  EXPECT_EQ(l2->value, 4096 * 1.5e9);
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
  EXPECT_NE(
      text.find("\nRoofs: fp32, dram measured by gable ceilings; others theoretical at 1.15 GHz, "),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(" (highest 1.41 GHz)\n"), std::string::npos) << text;
}

TEST_F(ReportCeilings, TheTableSaysNothingOfTheHighestClock) {
  profile.add_device(a100());
  profile.set_metrics(kCounted, {"gpu__time_duration.sum", "sm__cycles_elapsed.avg"});
  begin(1, kCounted);
  sample(kCounted, key(layer({"net"}), "k"), {1000, 1405});
  end(kCounted);
  EXPECT_EQ(render_table({report()}).find("(highest "), std::string::npos);
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
