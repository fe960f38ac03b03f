// SPDX-License-Identifier: Apache-2.0
// Reports of ranks as one: means over the GPUs, known where all know it.
#include "tools/merge/merge.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "analysis/roofline/link_roofs.h"
#include "tests/unit/tools/merge/ranks.h"
#include "tools/merge/waiting.h"

namespace gable::tests {
namespace {

TEST(MergeOf, CopiesAreMeansOverTheGpus) {
  const Report all = merged({rank_of(0, 10, 3), rank_of(1, 10, 5)});
  ASSERT_EQ(all.copies.size(), 1u);
  EXPECT_EQ(all.copies[0].count, 4);
  EXPECT_EQ(all.copies[0].bytes, 4000.0);
  EXPECT_EQ(all.copies[0].time_ns, 200.0);
  EXPECT_EQ(all.copies[0].layer, 1);
}

TEST(MergeOf, CopiesOfWhichOneRankDoesNotKnowTheBytes) {
  Report second = rank_of(1, 10, 5);
  second.copies[0].bytes = std::nullopt;
  const Report all = merged({rank_of(0, 10, 3), second});
  ASSERT_EQ(all.copies.size(), 1u);
  EXPECT_EQ(all.copies[0].count, 4);
  EXPECT_FALSE(all.copies[0].bytes);
  EXPECT_EQ(all.copies[0].time_ns, 200.0);
}

TEST(MergeOf, ACopyThatOnlyOneRankMakesCountsForItsShare) {
  Report second = rank_of(1, 10, 0);
  second.copies.clear();
  Report third = second;
  third.run.rank = 2;
  third.run.pid = 102;
  const Report all = merged({rank_of(0, 10, 3), second, third});
  ASSERT_EQ(all.copies.size(), 1u);
  EXPECT_EQ(all.copies[0].count, 1);
  EXPECT_DOUBLE_EQ(*all.copies[0].bytes, 1000);
}

TEST(MergeOf, CopiesFromAnotherKindOfMemoryStayApart) {
  Report second = rank_of(1, 10, 5);
  second.copies[0].host_memory = HostMemory::pageable;
  const Report all = merged({rank_of(0, 10, 3), second});
  ASSERT_EQ(all.copies.size(), 2u);
  EXPECT_EQ(all.copies[0].host_memory, HostMemory::unknown);
  EXPECT_EQ(all.copies[1].host_memory, HostMemory::pageable);
  EXPECT_DOUBLE_EQ(*all.copies[1].bytes, 2500);
}

TEST(MergeOf, MessagesAreMeansAndKeepWhatAllAgreeOn) {
  Report first = rank_of(0, 10, 3), second = rank_of(1, 30, 5);
  first.kernels[0].collective = {Collective::all_reduce, 2, true, 100, 100, {}, {}, {}, {}, {}};
  second.kernels[0].collective = {Collective::all_reduce, 4, true, 200, 300, {}, {}, {}, {}, {}};
  const Report all = merged({first, second});
  ASSERT_TRUE(all.kernels.at(0).collective);
  const CollectiveRow& both = *all.kernels[0].collective;
  EXPECT_EQ(both.kind, Collective::all_reduce);
  EXPECT_FALSE(both.ranks);
  EXPECT_TRUE(both.one_node);
  EXPECT_EQ(both.bytes, 150);
  EXPECT_EQ(both.bus_bytes, 200);
  EXPECT_EQ(both.bus_bytes_per_s, 200 / 20.0 * 1e9) << "over the mean time";
  second.kernels[0].collective.reset();
  const Report half = merged({first, second});
  ASSERT_TRUE(half.kernels.at(0).collective);
  EXPECT_FALSE(half.kernels[0].collective->bytes) << "nobody knows those of the second";
  EXPECT_FALSE(half.kernels[0].collective->bus_bytes_per_s);
}

// A rank whose collective took `wait` + 10 a launch, and for which the others waited.
Report waiting_rank(std::int64_t rank, double wait, double others = 0, bool known = true) {
  Report report = rank_of(rank, wait + 10, 0);
  KernelRow& kernel = report.kernels[0];
  kernel.name = "ncclDevKernel_AllReduce";
  kernel.collective = {Collective::all_reduce, 4, true, 100, 100, {}, {}, {}, {}, {}};
  if (known) {
    kernel.collective->wait_ns = wait;
    kernel.collective->transfer_ns = 10;
    kernel.collective->others_wait_ns = others;
  }
  fill_link_roofs(report);
  return report;
}

TEST(MergeOf, APlaceIsKeptOnWhichAllAgree) {
  Report first = rank_of(0, 10, 3), second = rank_of(1, 30, 5);
  first.kernels[0].place = second.kernels[0].place = "a.py:1";
  EXPECT_EQ(merged({first, second}).kernels[0].place, "a.py:1");
  second.kernels[0].place = "b.py:1";
  EXPECT_EQ(merged({first, second}).kernels[0].place, "");
}

TEST(MergeOf, WaitingIsMeansAndSumsOfEachProcess) {
  const Report all = merged({waiting_rank(0, 30, 10), waiting_rank(1, 10, 30)});
  ASSERT_EQ(all.kernels.size(), 1u);
  EXPECT_EQ(all.kernels[0].collective->wait_ns, 20);
  EXPECT_EQ(all.kernels[0].collective->transfer_ns, 10);
  EXPECT_EQ(all.kernels[0].collective->others_wait_ns, 20);
  EXPECT_EQ(all.kernels[0].collective->bus_bytes_per_s, 10e9) << "over the transfer";
  for (const LayerRow& layer : all.layers) {
    ASSERT_TRUE(layer.collectives);
    EXPECT_EQ(layer.collectives->time_ns, 60);
    EXPECT_EQ(layer.collectives->wait_ns, 40);
    EXPECT_EQ(layer.collectives->transfer_ns, 20);
  }
  ASSERT_EQ(all.run.processes.size(), 2u);
  EXPECT_EQ(all.run.processes[0].collectives->wait_ns, 60);
  EXPECT_EQ(all.run.processes[1].collectives->wait_ns, 20);
  EXPECT_EQ(all.run.processes[1].collectives->others_wait_ns, 60);
}

TEST(MergeOf, WhoKnowsWaitingAndWhoDoesNotStayApart) {
  const Report all = merged({waiting_rank(0, 30), waiting_rank(1, 10, 30, false)});
  ASSERT_EQ(all.kernels.size(), 2u);
  EXPECT_EQ(all.kernels[0].collective->wait_ns, 30);
  EXPECT_FALSE(all.kernels[1].collective->wait_ns);
  EXPECT_EQ(all.layers[0].collectives->time_ns, (40 + 20) * 2 / 2);
  EXPECT_EQ(all.layers[0].collectives->wait_ns, 30) << "half of the GPUs, and of what is known";
  EXPECT_FALSE(all.run.processes[1].collectives->wait_ns);
  EXPECT_TRUE(waiters(all).empty()) << "one alone waits for nobody that is known";
}

TEST(MergeOf, TheOneForWhichTheOthersWait) {
  const Report late =
      merged({waiting_rank(0, 30, 1), waiting_rank(1, 1, 56), waiting_rank(2, 26, 0)});
  ASSERT_TRUE(late_one(waiters(late)));
  EXPECT_EQ(late_one(waiters(late))->name, "rank 1 on node");
  EXPECT_EQ(waiting_sentence(late),
            "In collectives a process waits 38.0 ns of 58.0 ns a step for the others (65.5 %); the "
            "transfer takes 20.0 ns. 98.2 % of the waiting is for rank 1 on node.");
  const Report in_turn =
      merged({waiting_rank(0, 30, 20), waiting_rank(1, 20, 30), waiting_rank(2, 26, 26)});
  EXPECT_FALSE(late_one(waiters(in_turn)));
  const Report hardly = merged({waiting_rank(0, 0.9, 0.1), waiting_rank(1, 0.1, 0.9)});
  EXPECT_FALSE(late_one(waiters(hardly))) << "less than a tenth of what they take";
  EXPECT_EQ(waiting_sentence(merged({waiting_rank(0, 1, 1, false), waiting_rank(1, 1, 1, false)})),
            "");
}

TEST(MergeOf, LayersAreMeansAndSpreads) {
  const Report all = merged({rank_of(0, 10, 3), rank_of(1, 30, 5)});
  ASSERT_EQ(all.layers.size(), 2u);
  const LayerRow& net = all.layers[1];
  EXPECT_EQ(net.path, std::vector<std::string>{"net"});
  EXPECT_EQ(net.parent, 0);
  EXPECT_EQ(net.calls, 2.5);
  EXPECT_EQ(net.span_ns, 150.0);
  EXPECT_EQ(net.sync_ns, 5.0);
  EXPECT_EQ(net.time_total_ns, 40.0);
  ASSERT_TRUE(net.spread);
  EXPECT_EQ(net.spread->gpus, 2u);
  EXPECT_EQ(net.spread->min_ns, 20);
  EXPECT_EQ(net.spread->mean_ns, 40);
  EXPECT_EQ(net.spread->max_ns, 60);
  EXPECT_EQ(net.spread->stddev_ns, 20);
  EXPECT_EQ(net.spread->slowest, 1);
}

TEST(MergeOf, ALayersSavingIsThatOfItsKernels) {
  const auto with_work = [](std::int64_t rank) {
    Report report = rank_of(rank, 100, 1);
    report.ceilings = {{0, CeilingKind::compute, "fp32", 1e12, "theoretical"},
                       {0, CeilingKind::memory, "dram", 1e12, "theoretical"}};
    KernelRow& kernel = report.kernels[0];
    kernel.flops.fp32 = kernel.flops.total = 40e3;  // 40 ns at the roof
    kernel.bytes.dram = 10e3;
    return report;
  };
  const Report all = merged({with_work(0), with_work(1)});
  ASSERT_EQ(all.kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(*all.kernels[0].saving_ns, 120);  // 2 launches x 60 ns
  EXPECT_DOUBLE_EQ(*all.layers[1].saving_ns, 120);
  EXPECT_DOUBLE_EQ(*all.layers[0].saving_ns, 120);
}

TEST(MergeOf, WhereARankIsSilentTheSumIsUnknown) {
  Report second = rank_of(1, 10, 1);
  second.layers[1].calls = std::nullopt;
  const Report all = merged({rank_of(0, 10, 1), second});
  EXPECT_FALSE(all.layers[1].calls);
  EXPECT_TRUE(all.layers[0].calls);
}

TEST(Merge, OfLinksOnlyWhatAllGpusOfAKindHaveInCommon) {
  Report one = rank_of(0, 100, 1), other = rank_of(1, 100, 1);
  one.devices[0].links = {{5, 16}, {5, 16}, 18, 4};
  other.devices[0].links = {{4, 16}, {5, 16}, 18, 4};
  const Report both = merged({one, other});
  ASSERT_EQ(both.devices.size(), 1u);
  EXPECT_EQ(both.devices[0].links, (DeviceLinks{{0, 16}, {5, 16}, 18, 4}));
  other.devices[0].links.nvlinks.reset();
  EXPECT_EQ(merged({one, other}).devices[0].links.nvlinks, std::nullopt);
}

// A rank with a forward and a backward layer, a kernel in each, and one operator by formula in the
// forward: 4e6 FLOP and 1e3 bytes.
Report modelled_rank(std::int64_t rank, double kernel_ns, double flops = 4e6) {
  Report report = rank_of(rank, kernel_ns, 0);
  report.copies.clear();
  report.ceilings = {{0, CeilingKind::compute, "fp32", 1e13, "theoretical", SmClock::boost},
                     {0, CeilingKind::memory, "dram", 1e12, "theoretical", SmClock::none}};
  LayerRow backward = report.layers[1];
  backward.id = 2;
  report.layers.push_back(backward);
  report.layers[1].direction = Direction::forward;
  report.layers[2].direction = Direction::backward;
  KernelRow other = report.kernels[0];
  other.layer = 2;
  report.kernels.push_back(other);
  for (KernelRow& kernel : report.kernels) {
    const bool forward = kernel.layer == 1;
    kernel.direction = forward ? Direction::forward : Direction::backward;
    kernel.flops.fp32 = kernel.flops.total = forward ? 2e6 : 4e6;
    kernel.bytes.dram = 1000;
  }
  LayerModel& model = report.layers[1].model.emplace();
  model.all = model.self = {flops, 1000, {{"fp32", flops}}};
  model.operators = 1;
  model.flops_per_s = 1;  // of steps like the one that was described
  model.roof.fraction = 0.123;
  model.allocated_bytes = 100.0 * static_cast<double>(rank);
  return report;
}

const LayerRow& row_of(const Report& report, Direction direction) {
  for (const LayerRow& row : report.layers)
    if (row.direction == direction) return row;
  throw std::out_of_range("no such layer");
}

TEST(MergeOf, WhatFollowsFromFormulasIsMadeOfTheMeanTime) {
  const Report all = merged({modelled_rank(0, 1000), modelled_rank(1, 3000)});
  const LayerRow& forward = row_of(all, Direction::forward);
  ASSERT_TRUE(forward.model);
  EXPECT_EQ(forward.time_total_ns, 4000) << "two launches of 2,000 ns";
  EXPECT_EQ(forward.model->flops_per_s, 4e6 / 4000 * 1e9);
  EXPECT_EQ(forward.model->bytes_per_s, 1000 / 4000.0 * 1e9);
  EXPECT_EQ(forward.model->intensity, 4000);
  EXPECT_DOUBLE_EQ(*forward.model->roof.fraction, 0.1) << "400 ns at 1e13 FLOP/s";
  EXPECT_EQ(forward.model->roof.ceiling, "fp32");
  EXPECT_DOUBLE_EQ(*forward.model->saving_ns, 3600);
  EXPECT_EQ(forward.model->flops_ratio, 1) << "two launches of 2e6 FLOP were counted";
  EXPECT_EQ(forward.model->bytes_ratio, 2);
  EXPECT_EQ(forward.model->allocated_bytes, 50);
  EXPECT_EQ(row_of(all, Direction::backward).flops_over_forward, 2);
  EXPECT_FALSE(forward.flops_over_forward);
}

TEST(MergeOf, TheRootHasOperatorsOfItsOwn) {
  const auto at_root = [](std::int64_t rank) {
    Report report = modelled_rank(rank, 1000);
    report.layers[0].model = report.layers[1].model;
    report.layers[1].model.reset();
    report.layers[0].direction = Direction::forward;
    for (KernelRow& kernel : report.kernels) kernel.layer = 0;
    return report;
  };
  const LayerRow root = merged({at_root(0), at_root(1)}).layers.at(0);
  ASSERT_TRUE(root.model);
  EXPECT_TRUE(root.model->flops_per_s);
  EXPECT_TRUE(root.model->roof.fraction);
}

TEST(MergeOf, ARankWhoseStepsDifferFromTheModelLeavesItsTimesOut) {
  Report second = modelled_rank(1, 3000);
  second.layers[1].model->flops_per_s.reset();
  const Report all = merged({modelled_rank(0, 1000), second});
  const LayerModel& model = *row_of(all, Direction::forward).model;
  EXPECT_EQ(model.intensity, 4000);
  EXPECT_FALSE(model.flops_per_s);
  EXPECT_FALSE(model.roof.fraction);
  EXPECT_FALSE(model.flops_ratio);
}

TEST(MergeOf, RanksWithOtherWorkHaveNoModelInCommon) {
  const Report all = merged({modelled_rank(0, 1000), modelled_rank(1, 1000, 5e6)});
  EXPECT_FALSE(row_of(all, Direction::forward).model);
}

TEST(MergeOf, TokensAreMeansOverTheForwards) {
  Report first = modelled_rank(0, 1000), second = modelled_rank(1, 1000);
  first.layers[1].tokens = Tokens{1, 32, 8, 1e6, std::nullopt};
  second.layers[1].tokens = Tokens{3, 32, 8, 3e6, 5e6};
  const Report all = merged({first, second});
  const auto& tokens = row_of(all, Direction::forward).tokens;
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->forwards, 4U);
  EXPECT_EQ(tokens->per_forward, 32);
  EXPECT_EQ(tokens->per_sequence, 8);
  EXPECT_EQ(tokens->wall_ns, 2.5e6);
  EXPECT_FALSE(tokens->host_ns) << "the first does not know it";
  EXPECT_EQ(tokens->ns_each(), 2.5e6 / 8);
  first.layers[1].tokens->host_ns = 1e6;
  EXPECT_EQ(row_of(merged({first, second}), Direction::forward).tokens->host_ns, 4e6);
  second.layers[1].tokens.reset();
  EXPECT_FALSE(row_of(merged({first, second}), Direction::forward).tokens);
}

}  // namespace
}  // namespace gable::tests
