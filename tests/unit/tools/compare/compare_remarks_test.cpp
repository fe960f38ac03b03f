// SPDX-License-Identifier: Apache-2.0
// What stands against comparing two reports, and what a reader should know beside.
#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/made_report.h"
#include "tools/compare/compare.h"

namespace gable::tests {
namespace {

Report one() {
  MadeReport made;
  made.add_kernel(0, "k", 10, 1000, 100);
  return made.done();
}

TEST(CompareRemarks, SourcesAndUnits) {
  const Report a = one();
  Report b = a;
  EXPECT_TRUE(compare(a, b).remarks.empty());
  b.run.source = Source::cupti;
  EXPECT_TRUE(has(compare(a, b).obstacles.at(0), ": A is from playback"));
  EXPECT_TRUE(has(compare(b, a).obstacles.at(0), ": B is from playback"));
  Report c = b;
  c.run.source = Source::imported;
  EXPECT_TRUE(compare(b, c).obstacles.empty());
  EXPECT_TRUE(has(compare(b, c).remarks.at(0), "A is from cupti, B from import"));
  Report run = a;
  run.run.unit = Unit::run;
  EXPECT_TRUE(has(compare(a, run).obstacles.at(0), "per step, those of B per run"));
  EXPECT_EQ(compare(a, run).remarks.size(), 0u);
  EXPECT_EQ(compare(run, run).remarks.size(), 1u);
  b = a;
  b.run.lost.unattributed_launches = 1;
  EXPECT_EQ(compare(a, b).remarks.size(), 1u);
  EXPECT_TRUE(compare(b, a).remarks.at(0).starts_with("A lost"));
}

TEST(CompareRemarks, WithoutALayerInCommon) {
  MadeReport made;
  made.add_kernel(made.add_layer({"other"}), "other", 10, 1000, 100);
  EXPECT_EQ(compare(one(), made.done()).obstacles.size(), 1u);
}

TEST(CompareRemarks, Gpus) {
  const Report a = one();
  Report b = a;
  b.devices[0].name = "Other";
  EXPECT_TRUE(has(compare(a, b).obstacles.at(0), "GPU (100 SMs), B on Other (100 SMs)"));
  b = a;
  b.devices.push_back(b.devices[0]);
  b.devices[1].id = 1;
  EXPECT_TRUE(compare(a, b).obstacles.empty());  // it is not used
  b.kernels.push_back(b.kernels[0]);
  b.kernels[1].device = 1;
  EXPECT_TRUE(has(compare(a, b).obstacles.at(0), "1 GPUs, B on 2"));
  b = a;
  b.devices[0].memory_clock_max_hz = 5;
  EXPECT_EQ(compare(a, b).remarks.size(), 1u);
}

Report with_clock(double mean_hz) {
  Report report = one();
  report.devices[0].state.emplace().sm_clock.mean = mean_hz;
  return report;
}

TEST(CompareRemarks, MeanClocksThatAgree) {
  EXPECT_FALSE(compare(one(), one()).clocks_agree);
  EXPECT_FALSE(compare(one(), with_clock(1e9)).clocks_agree);
  EXPECT_FALSE(compare(with_clock(1e9), one()).clocks_agree);
  for (const auto& [clock, same] :
       {std::pair{1.02e9, true}, {0.98e9, true}, {1.021e9, false}, {0.979e9, false}}) {
    const Comparison all = compare(with_clock(1e9), with_clock(clock));
    EXPECT_EQ(all.clocks_agree, same) << clock;
    EXPECT_EQ(all.remarks.size(), same ? 0u : 1u) << clock;
  }
  Report a = with_clock(1.2345e9), b = with_clock(1.5e9);
  EXPECT_TRUE(has(compare(a, b).remarks.at(0), "device 0 was 1235 MHz in A and 1500 MHz in B"));
  // Said once, though counter windows differ too.
  a.sm_clock_measured_hz[0] = 1e9;
  b.sm_clock_measured_hz[0] = 2e9;
  EXPECT_EQ(compare(a, b).remarks.size(), 1u);
  a.devices[0].state.reset();
  EXPECT_TRUE(has(compare(a, b).remarks.at(0), "as 1000 MHz in A and 2000 MHz in B"));
  a.sm_clock_measured_hz[0] = 0;
  EXPECT_TRUE(compare(a, b).remarks.empty());
  a.sm_clock_measured_hz[0].reset();
  EXPECT_TRUE(compare(a, b).remarks.empty());
}

TEST(CompareRows, BothNumbersOfKernels) {
  Report a = one(), b = one();
  b.kernels[0].time_total_ns = 30;
  b.kernels[0].launches = 3;
  b.kernels[0].roof.fraction = 0.2;
  b.kernels[0].saving_ns = 7;
  const ComparedRow row = compare(a, b).kernels.at(0);
  EXPECT_EQ(row.time_ns.a, 10.0);
  EXPECT_EQ(row.time_ns.b, 30.0);
  EXPECT_EQ(row.flops.b, 3000.0);
  EXPECT_EQ(row.dram.b, 300.0);
  EXPECT_EQ(row.fraction.b, 0.2);
  EXPECT_EQ(row.saving_ns.b, 7.0);
  EXPECT_EQ(row.launches.b, 3.0);
  EXPECT_EQ(row.layer, "(no layer)");
  EXPECT_EQ(row.share, 1.0);
  EXPECT_FALSE(row.noise_ns);
}

TEST(CompareRows, DifferencesOfLaunchesAndWork) {
  ComparedRow row;
  row.launches = {200, 201};  // half a percent of the larger
  EXPECT_FALSE(row.launches_differ());
  row.launches = {200, 201.1};
  EXPECT_TRUE(row.launches_differ());
  row.launches = {201.1, 200};
  EXPECT_TRUE(row.launches_differ());
  row.launches = {200, std::nullopt};
  EXPECT_TRUE(row.launches_differ());
  row.launches = {};
  EXPECT_FALSE(row.launches_differ());
  EXPECT_TRUE(row.launch_beyond_noise());
  row.time_ns = {10, 12};
  row.launches = {2, 2};
  EXPECT_TRUE(row.launch_beyond_noise());
  EXPECT_TRUE(row.beyond_noise());
  row.range.time_ns = 2;
  EXPECT_FALSE(row.launch_beyond_noise());
  EXPECT_FALSE(row.beyond_noise());
  row.noise_ns = 1;
  EXPECT_FALSE(row.beyond_noise());
  row.time_ns.a.reset();
  EXPECT_TRUE(row.beyond_noise());
  row.launches = {0.5, 0};
  row.time_ns = {1, 1};
  EXPECT_EQ(row.per_launch_ns().a, 2.0);
  EXPECT_FALSE(row.per_launch_ns().b);
}

TEST(CompareRows, NamesOfMatches) {
  EXPECT_EQ(match_name(Match::same), "same");
  EXPECT_EQ(match_name(Match::renamed), "renamed");
  EXPECT_EQ(match_name(Match::reshaped), "reshaped");
  EXPECT_EQ(match_name(Match::added), "new");
  EXPECT_EQ(match_name(Match::gone), "gone");
}

TEST(CompareRows, NoDifferenceOfAnyPart) {
  Comparison all;
  ComparedRow row;
  row.time_ns = {10, 10};
  all.wholes = {row};
  const auto none = [&](const Comparison& comparison, const ComparedRow& of) {
    return no_difference(comparison, {&of});
  };
  EXPECT_TRUE(none(all, row));
  ComparedRow other = row;
  other.time_ns.b.reset();
  EXPECT_FALSE(none(all, other));
  other = row;
  other.flops = {100, 101};
  EXPECT_FALSE(none(all, other));
  other = row;
  other.launches = {100, 101};
  EXPECT_FALSE(none(all, other));
  other = row;
  other.match = Match::added;
  EXPECT_FALSE(none(all, other));
  Comparison changed = all;
  changed.wholes[0].time_ns.b = 20;
  EXPECT_FALSE(none(changed, row));
  changed = all;
  changed.other_work = "work";
  EXPECT_FALSE(none(changed, row));
  changed = all;
  changed.step.wall_ns = {100, 110};
  EXPECT_FALSE(none(changed, row));
  changed.step.noise_ns = 10;
  EXPECT_TRUE(none(changed, row));
  changed.step.noise_ns = 9;
  EXPECT_FALSE(none(changed, row));
  changed.step.wall_range = 10;
  EXPECT_TRUE(none(changed, row));
  changed.step.wall_ns.a.reset();
  EXPECT_FALSE(none(changed, row));
}

}  // namespace
}  // namespace gable::tests
