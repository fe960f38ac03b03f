// SPDX-License-Identifier: Apache-2.0
// What advice is drawn from: parts of the time, where they are, and links.
#include "tools/advice/advice_facts.h"

#include "analysis/roofline/link_roofs.h"
#include "tests/unit/tools/advice/advice_fixture.h"
#include "tools/advice/link_facts.h"

namespace gable::tests {
namespace {

bool any(const PlotRow&) { return true; }
Maybe nothing_left(const PlotRow&) { return 0.0; }

TEST_F(AdviceTest, TheUnitIsTheStepOrTheKernelsTime) {
  kernel("a", 100, 50, 200);
  kernel("b", 100, 50, 300).graph = 1;
  kernel("c", 100, 50, 400);
  EXPECT_EQ(advice_facts(report).kernels.size(), 2u);
  EXPECT_EQ(advice_facts(report).kernels_ns, 600);
  EXPECT_EQ(advice_facts(report).unit_ns, 1e6);
  report.run.unit = Unit::run;
  EXPECT_EQ(advice_facts(report).unit_ns, 600);
  EXPECT_EQ(advice_facts(report).unit, Unit::run);
  report.run.unit = Unit::step;
  report.step.wall_mean_ns.reset();
  EXPECT_EQ(advice_facts(report).unit_ns, 600);
  report.kernels[0].time_mean_ns.reset();
  report.kernels[0].time_total_ns.reset();
  EXPECT_EQ(advice_facts(report).unit_ns, 400);
}

TEST_F(AdviceTest, PartsAreSumsOfWhatIsTimed) {
  kernel("a", 100, 50, 200, "fp32", 2);
  kernel("b", 100, 50, 300, "fp32", 3);
  KernelRow& unknown = kernel("c", 100, 50, 400);
  unknown.time_mean_ns.reset();
  unknown.time_total_ns.reset();
  kernel("other", 100, 50, 500);
  const AdviceFacts facts = advice_facts(report);
  const auto fits = [](const PlotRow& row) { return row.name != "other"; };
  const auto part = facts.part(fits, [](const PlotRow&) { return Maybe(250.0); });
  EXPECT_EQ(part.rows, 2u);
  EXPECT_EQ(part.time_ns, 500);
  EXPECT_EQ(part.launches, 5);
  EXPECT_EQ(part.saving_ns, 50);  // of b alone
  ASSERT_EQ(part.each.size(), 2u);
  EXPECT_EQ(part.each[0].second, 0);
  EXPECT_EQ(part.each[1].second, 50);
  EXPECT_EQ(part.share(1000), 0.5);
  EXPECT_EQ(part.share(0), 0);
  EXPECT_EQ(part.share(0.5), 1000);
  EXPECT_EQ(facts.part(fits).saving_ns, 0);
  EXPECT_EQ(facts.part(fits, [](const PlotRow&) { return Maybe(); }).saving_ns, 0);
}

TEST_F(AdviceTest, NothingIsGainedOffTheCriticalPath) {
  kernel("a", 100, 50, 200).path_ns = 50;
  kernel("b", 100, 50, 200).path_ns = 300;
  kernel("c", 100, 50, 200);
  kernel("d", 0, 0, 0).path_ns = 5;
  const auto part = advice_facts(report).part(
      any, [](const PlotRow& row) { return row.name == "d" ? Maybe(-10.0) : Maybe(100.0); });
  ASSERT_EQ(part.each.size(), 4u);
  EXPECT_EQ(part.each[0].second, 25);
  EXPECT_EQ(part.each[1].second, 100);
  EXPECT_EQ(part.each[2].second, 100);
  EXPECT_EQ(part.each[3].second, 10);
}

TEST_F(AdviceTest, WhatWasReplayedAtTheRoofsBoundsWhatLeavesTheRoofs) {
  KernelRow& row = kernel("a", 100e3, 50e3, 200e3);
  row.step_saving = StepSaving{60e3, 70e3};  // of 100 us above the roof
  const auto saved = [this](double left) {
    return advice_facts(report).part(any, [left](const PlotRow&) { return Maybe(left); }).saving_ns;
  };
  EXPECT_EQ(saved(100e3), 70e3);
  EXPECT_EQ(saved(150e3), 50e3);
  EXPECT_EQ(saved(20e3), 180e3);  // under another roof
}

TEST_F(AdviceTest, ComputingSavesNoMoreThanAStepWithoutIt) {
  kernel("a", 100, 50, 200e3);
  kernel("b", 100, 50, 300e3);
  report.step.exposed.emplace().without.compute = {0, 250e3};
  const auto part = advice_facts(report).part(any, nothing_left);
  EXPECT_EQ(part.saving_ns, 250e3);
  EXPECT_EQ(part.each[0].second, 200e3);
  EXPECT_EQ(part.each[1].second, 250e3);
  report.kernels[0].name = "ncclDevKernel_AllReduce";
  const auto collective = [](const PlotRow& row) { return row.name != "b"; };
  report.step.exposed->without.compute = {0, 1};
  EXPECT_EQ(advice_facts(report).part(collective, nothing_left).saving_ns, 200e3);
  EXPECT_EQ(advice_facts(report).part(any, nothing_left).saving_ns, 1);
}

TEST(AdviceFacts, MemoryHoldsWhereItsRoofIsTheLower) {
  PlotRow row;
  EXPECT_FALSE(memory_holds(row));
  row.sum.roof.memory_ns = 2;
  EXPECT_FALSE(memory_holds(row));
  row.sum.roof.compute_ns = 2;
  EXPECT_TRUE(memory_holds(row));
  row.sum.roof.compute_ns = 2.5;
  EXPECT_FALSE(memory_holds(row));
  row.sum.roof.compute_ns = 0;
  row.sum.roof.memory_ns = 0.5;
  EXPECT_TRUE(memory_holds(row));
  row.sum.roof.bound = Bound::overhead;
  EXPECT_FALSE(memory_holds(row));
  row.sum.roof.bound = Bound::unknown;
  row.sum.roof.memory_ns = 0;
  EXPECT_FALSE(memory_holds(row));
}

std::vector<std::string> names(const std::vector<AdvicePlace>& places) {
  std::vector<std::string> out;
  out.reserve(places.size());
  for (const AdvicePlace& place : places) out.push_back(place.name);
  return out;
}

TEST_F(AdviceTest, PlacesBySavingThenTime) {
  layer({"net", "a"});
  report.layers.back().direction = Direction::forward;
  kernel("k", 100, 50, 200).direction = Direction::forward;
  kernel("k", 100, 50, 100).direction = Direction::forward;
  layer({"net", "b"});
  kernel("l", 100, 50, 900);
  layer({"net", "c"});
  kernel("m", 100, 50, 300);
  layer({"net", "c"});
  report.layers.back().direction = Direction::backward;
  kernel("m", 100, 50, 400).direction = Direction::backward;
  layer({});
  kernel("n", 100, 50, 100);
  const AdviceFacts facts = advice_facts(report);
  Advice advice;
  advice.action = "Do.";
  place(advice, facts.part(any, [](const PlotRow& row) {
    return row.name == "l" ? std::nullopt : Maybe(*row.sum.time_total_ns / 2);
  }));
  EXPECT_EQ(names(advice.layers), (std::vector<std::string>{"net/c", "net/a", "net/c", "net/b"}));
  EXPECT_EQ(advice.layers[0].direction, Direction::backward);
  EXPECT_EQ(advice.layers[1].saving_ns, 150);
  EXPECT_EQ(advice.layers[1].time_ns, 300);
  EXPECT_EQ(names(advice.kernels), (std::vector<std::string>{"m", "k", "n", "l"}));
  EXPECT_EQ(advice.kernels[0].saving_ns, 350);
  EXPECT_EQ(advice.text(),
            "Do. Layers: net/c (backward), net/a (forward), net/c and 1 more."
            " Kernels: m, k, n and 1 more.");
  Advice by_time;
  place(by_time, facts.part([](const PlotRow& row) { return row.name != "n" && row.name != "k"; }));
  EXPECT_EQ(names(by_time.layers), (std::vector<std::string>{"net/b", "net/c", "net/c"}));
  EXPECT_EQ(by_time.layers[1].time_ns, 400);
  Advice none;
  place(none, {});
  EXPECT_EQ(none.action, "");
}

TEST_F(AdviceTest, PlacesOfDevicesAndLongNames) {
  report.devices.push_back(report.devices[0]);
  report.devices[1].id = 1;
  layer({std::string(40, 'x')});
  kernel(std::string(41, 'k'), 100, 50, 200);
  kernel("void <lambda>(int)", 100, 50, 100).device = 1;
  kernel("(other)", 100, 50, 50).device = 1;
  Advice advice;
  place(advice, advice_facts(report).part(any));
  ASSERT_EQ(advice.layers.size(), 2u);
  EXPECT_EQ(advice.layers[0].device, 0);
  EXPECT_EQ(advice.layers[1].device, 1);
  EXPECT_EQ(advice.layers[1].time_ns, 150);
  EXPECT_EQ(names(advice.kernels),
            (std::vector<std::string>{std::string(41, 'k'), "void <lambda>(int)", "(other)"}));
  EXPECT_NE(advice.text().find(std::string(40, 'x')), std::string::npos);
  EXPECT_EQ(advice.text().find(std::string(41, 'k')), std::string::npos);
}

TEST_F(AdviceTest, TheHostIsBusyBeforeLayersThatAreWorthNaming) {
  layer({"net", "a"});
  layer({"net", "b"});
  layer({});
  report.layers[0].host_path_ns = 10e3;
  report.layers[1].host_path_ns = 9.9e3;
  report.layers[2].host_path_ns = 30e3;
  report.layers[3].host_path_ns = 50e3;
  Advice advice;
  place_host(advice, report);
  EXPECT_TRUE(advice.layers.empty());  // no step was recorded
  report.step.graph.emplace().wall_ns = 1e6;
  place_host(advice, report);
  EXPECT_EQ(names(advice.layers), (std::vector<std::string>{"net/b", "net"}));
  EXPECT_EQ(advice.layers[0].time_ns, 30e3);
  EXPECT_EQ(advice.layers[0].saving_ns, 30e3);
  EXPECT_TRUE(advice.text().ends_with(": net/b, net.")) << advice.text();
}

TEST_F(AdviceTest, CopiesByTheirLayersAndDirections) {
  layer({"net", "a"});
  layer({});
  const auto copy = [&](std::optional<std::int64_t> of, Direction direction, const Maybe& time) {
    CopyRow& row = report.copies.emplace_back();
    row.layer = of;
    row.direction = direction;
    row.time_ns = time;
    row.device = 3;
  };
  Advice advice;
  place_copies(advice, report);
  EXPECT_EQ(advice.text(), "");
  copy(0, Direction::none, 10);
  copy(0, Direction::none, std::nullopt);
  copy(0, Direction::none, 20);
  copy(1, Direction::backward, 40);
  copy(1, Direction::forward, 5);
  copy(2, Direction::none, 100);
  copy(77, Direction::none, 100);
  copy(std::nullopt, Direction::none, 100);
  place_copies(advice, report);
  EXPECT_EQ(names(advice.layers), (std::vector<std::string>{"net/a", "net", "net/a"}));
  EXPECT_EQ(advice.layers[0].time_ns, 40);
  EXPECT_EQ(advice.layers[0].direction, Direction::backward);
  EXPECT_EQ(advice.layers[1].time_ns, 30);
  EXPECT_EQ(advice.layers[1].device, 3);
  EXPECT_EQ(advice.text(), " Layers: net/a (backward), net, net/a (forward).");
}

Report with_copies(const std::vector<CopyRow>& copies) {
  Report report;
  report.copies = copies;
  return report;
}

CopyRow copy(CopyKind kind, HostMemory memory, double time, double bytes, double fraction = 0.5,
             const std::string& link = "pcie") {
  CopyRow row;
  row.kind = kind;
  row.host_memory = memory;
  row.time_ns = time;
  row.bytes = bytes;
  row.roof = {fraction, link, "theoretical"};
  return row;
}

TEST(LinkFacts, CopiesBetweenHostAndGpu) {
  const HostCopies sums =
      host_copies(with_copies({copy(CopyKind::host_to_device, HostMemory::pinned, 10, 1),
                               copy(CopyKind::host_to_device, HostMemory::pinned, 1, 1),
                               copy(CopyKind::device_to_host, HostMemory::pageable, 20, 1),
                               copy(CopyKind::device_to_host, HostMemory::pageable, 2, 1),
                               copy(CopyKind::device_to_device, HostMemory::pinned, 40, 1),
                               copy(CopyKind::other, HostMemory::pageable, 80, 1),
                               copy(CopyKind::device_to_host, HostMemory::managed, 5, 1)}));
  EXPECT_EQ(sums.time_ns, 38);
  EXPECT_EQ(sums.pinned_ns, 11);
  EXPECT_EQ(sums.pageable_ns, 22);
  EXPECT_TRUE(sums.mostly_pageable());
  EXPECT_FALSE((HostCopies{10, 5, 5}).mostly_pageable());
  EXPECT_FALSE((HostCopies{10, 5, 5}).all_pinned());
  EXPECT_TRUE((HostCopies{10, 0, 10}).all_pinned());
  EXPECT_TRUE((HostCopies{0.5, 0, 0.5}).all_pinned());
  EXPECT_FALSE((HostCopies{0, 0, 0}).all_pinned());
}

TEST_F(AdviceTest, PlacesThatLookTheSameAreNamedOnce) {
  const std::string same(60, 'x');
  for (const char* end : {"a", "b", "c"}) {
    const std::int64_t id = layer({"net" + same + end + same});
    kernel("work", 1e5, 1e5, 5e5);
    report.kernels.back().layer = id;
  }
  Advice advice;
  place(advice, advice_facts(report).part(any));
  EXPECT_EQ(advice.layers.size(), 3u);
  EXPECT_TRUE(advice.where.find(" and 2 more.") != std::string::npos) << advice.where;
}

TEST(LinkFacts, RateOfCopies) {
  const auto rate = [](const std::vector<CopyRow>& copies) {
    return rate_of_copies(with_copies(copies));
  };
  const auto to_gpu = CopyKind::host_to_device;
  const auto pinned = HostMemory::pinned;
  EXPECT_EQ(rate({}), "");
  // 40 bytes in 10 ns, at a fifth and a half of the roof: 3.5 ns at it.
  const std::string both =
      rate({copy(to_gpu, pinned, 5, 10, 0.2), copy(to_gpu, pinned, 5, 30, 0.5)});
  EXPECT_NE(both.find(" 4.00 GB/s, 35.0 % of what their PCIe links can do."), std::string::npos)
      << both;
  const std::string nvlink = rate({copy(to_gpu, pinned, 10, 10, 0.5, "nvlink")});
  EXPECT_NE(nvlink.find(" 1.00 GB/s, 50.0 % of NVLink's 2.00 GB/s."), std::string::npos) << nvlink;
  // What was measured has a name for each direction, and is one link.
  CopyRow down = copy(to_gpu, pinned, 10, 10, 0.5, "host_to_device");
  CopyRow up = copy(CopyKind::device_to_host, pinned, 10, 10, 0.5, "device_to_host");
  down.roof.source = up.roof.source = "measured";
  const std::string measured = rate({down, up});
  EXPECT_NE(measured.find(" 1.00 GB/s, 50.0 % of the 2.00 GB/s that were measured."),
            std::string::npos)
      << measured;
  up.roof.fraction = 0.25;
  EXPECT_NE(rate({down, up}).find(" of what was measured."), std::string::npos);
  up.roof.source = "theoretical";
  EXPECT_TRUE(rate({down, up}).ends_with(" 1.00 GB/s."));
  // Of two links there is no share.
  const std::string mixed =
      rate({copy(to_gpu, pinned, 5, 10), copy(to_gpu, pinned, 5, 30, 0.5, "nvlink")});
  EXPECT_TRUE(mixed.ends_with(" 4.00 GB/s.")) << mixed;
  CopyRow unbounded = copy(to_gpu, pinned, 10, 10);
  unbounded.roof.fraction.reset();
  EXPECT_TRUE(rate({copy(to_gpu, pinned, 10, 10), unbounded}).ends_with(" 1.00 GB/s."));
  EXPECT_TRUE(rate({copy(to_gpu, pinned, 10, 10, 0)}).ends_with(" 1.00 GB/s."));
  EXPECT_EQ(rate({copy(to_gpu, pinned, 0, 10)}), "");
  EXPECT_EQ(rate({copy(to_gpu, pinned, 10, 0)}), "");
  EXPECT_NE(rate({copy(to_gpu, pinned, 0.5, 0.5)}), "");
  CopyRow unknown = copy(to_gpu, pinned, 10, 10);
  unknown.bytes.reset();
  EXPECT_EQ(rate({unknown, copy(to_gpu, pinned, 10, 10)}), "");
}

KernelRow collective(double launches, double time, double bytes, const Maybe& transfer) {
  KernelRow row;
  row.launches = launches;
  row.time_mean_ns = time;
  row.roof.bound = Bound::communication;
  row.collective.emplace().bus_bytes = bytes;
  row.collective->transfer_ns = transfer;
  return row;
}

TEST(LinkFacts, RateOfCollectives) {
  Report report;
  EXPECT_EQ(rate_of_collectives(report), "");
  // Two launches of 100 bytes in 10 ns and one of 40 in 20.
  report.kernels = {collective(2, 50, 100, 10), collective(1, 50, 40, 20)};
  report.kernels.emplace_back().roof.bound = Bound::memory;
  report.kernels.push_back(collective(9, 1, 1, 1));
  report.kernels.back().graph = 1;
  EXPECT_NE(rate_of_collectives(report).find(" 6.00 GB/s "), std::string::npos)
      << rate_of_collectives(report);
  EXPECT_NE(rate_of_collectives(report).find("transfer"), std::string::npos);
  report.kernels[0].collective->transfer_ns.reset();
  EXPECT_NE(rate_of_collectives(report).find(" 2.00 GB/s "), std::string::npos)  // 240 in 120
      << rate_of_collectives(report);
  EXPECT_EQ(rate_of_collectives(report).find("transfer"), std::string::npos);
  report.kernels[1].collective.reset();
  EXPECT_EQ(rate_of_collectives(report), "");
}

TEST(LinkFacts, ShareOfWaiting) {
  Report report;
  EXPECT_FALSE(waiting_share(report));
  report.run.processes.resize(2);
  for (MergedProcess& process : report.run.processes) process.collectives = {100, 30, 70, 0};
  EXPECT_DOUBLE_EQ(waiting_share(report)->of_time, 0.3);
  EXPECT_EQ(waiting_share(report)->for_whom, "");
  report.run.processes[1].pid = 5;
  report.run.processes[1].collectives = {100, 10, 90, 40};
  EXPECT_DOUBLE_EQ(waiting_share(report)->of_time, 0.2);
  EXPECT_EQ(waiting_share(report)->for_whom, "process 5");
  for (MergedProcess& process : report.run.processes) process.collectives = {0, 0, 0, 0};
  EXPECT_FALSE(waiting_share(report));
}

}  // namespace
}  // namespace gable::tests
