// SPDX-License-Identifier: Apache-2.0
// Layers, kernels and waiting of ranks as one.
#include <gtest/gtest.h>

#include "tests/unit/tools/merge/ranks.h"
#include "tools/merge/merge_kernel.h"
#include "tools/merge/saving_bounds.h"
#include "tools/merge/waiting.h"

namespace gable::tests {
namespace {

TEST(MergeRows, EveryNumberOfALayer) {
  for (Maybe LayerRow::*part :
       {&LayerRow::calls, &LayerRow::cpu_ns, &LayerRow::sync_ns, &LayerRow::time_busy_ns,
        &LayerRow::path_ns, &LayerRow::host_path_ns, &LayerRow::span_ns}) {
    Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1), third = rank_of(2, 10, 1);
    one.layers[1].*part = 30;
    other.layers[1].*part = 90;
    third.layers.pop_back();  // this rank has no such layer
    third.kernels.clear();
    third.copies.clear();
    const bool span = part == &LayerRow::span_ns;  // a stretch of time of those that have it
    EXPECT_EQ(merged({one, other, third}).layers.at(1).*part, span ? 60.0 : 40.0);
    other.layers[1].*part = std::nullopt;
    EXPECT_FALSE(merged({one, other}).layers.at(1).*part);
  }
}

TEST(MergeRows, SavingsOfALayerAreBounds) {
  Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1);
  one.layers[1].step_saving = StepSaving{2, 8};
  other.layers[1].step_saving = StepSaving{3, 5};
  one.layers[1].step_saving_self = StepSaving{4, 5};
  other.layers[1].step_saving_self = StepSaving{1, 9};
  const LayerRow row = merged({one, other}).layers.at(1);
  EXPECT_EQ(row.step_saving->low_ns, 2);
  EXPECT_EQ(row.step_saving->high_ns, 8);
  EXPECT_EQ(row.step_saving_self->low_ns, 1);
  EXPECT_EQ(row.step_saving_self->high_ns, 9);
}

TEST(SavingBounds, TheLeastAndTheMost) {
  SavingBounds bounds;
  EXPECT_FALSE(bounds.of(1));
  bounds.add(StepSaving{3, 4});
  EXPECT_EQ(bounds.of(1)->low_ns, 3);
  EXPECT_EQ(bounds.of(2)->low_ns, 0);  // the other would win nothing
  EXPECT_EQ(bounds.of(2)->high_ns, 4);
  bounds.add(StepSaving{2, 9});
  bounds.add(StepSaving{5, 1});
  EXPECT_EQ(bounds.of(3)->low_ns, 2);
  EXPECT_EQ(bounds.of(3)->high_ns, 9);
  bounds.add(std::nullopt);
  EXPECT_FALSE(bounds.of(3));
}

TEST(MergeRows, NamesThatOneRankKnows) {
  Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1);
  other.layers[1].dotted = "net";
  other.layers[1].compiled.emplace().left_out = 3;
  other.layers[1].compiled->modules.push_back({"a", "Linear", 5});
  Report third = other;
  third.run.rank = 2;
  third.layers[1].dotted = "other";
  third.layers[1].compiled->left_out = 4;
  const LayerRow row = merged({one, other, third}).layers.at(1);
  EXPECT_EQ(row.dotted, "net");
  EXPECT_EQ(row.compiled->left_out, 3u);
  EXPECT_FALSE(row.compiled->modules.at(0).time_ns) << "that was one rank's";
}

TEST(MergeRows, ALayerThatOnlyCopiesHasNoTime) {
  Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1);
  for (Report* each : {&one, &other}) {
    each->kernels.clear();
    each->layers[0].time_total_ns = each->layers[1].time_total_ns = 0;
  }
  EXPECT_EQ(merged({one, other}).layers.at(1).time_total_ns, 0.0);
  other.layers[1].time_total_ns.reset();
  EXPECT_FALSE(merged({one, other}).layers.at(1).time_total_ns);
}

TEST(MergeRows, SpreadOfThreeAndOfUnknownTimes) {
  Report one = rank_of(0, 30, 1), other = rank_of(1, 10, 1), third = rank_of(2, 20, 1);
  const RankSpread spread = *merged({one, other, third}).layers.at(1).spread;
  EXPECT_EQ(spread.gpus, 3u);
  EXPECT_EQ(spread.min_ns, 20);
  EXPECT_EQ(spread.mean_ns, 40);
  EXPECT_EQ(spread.max_ns, 60);
  EXPECT_EQ(spread.slowest, 0);
  EXPECT_NEAR(spread.stddev_ns, 16.33, 0.005);  // sqrt((20² + 0 + 20²) / 3)
  one.layers[1].time_total_ns.reset();
  const RankSpread known = *merged({one, other, third}).layers.at(1).spread;
  EXPECT_EQ(known.gpus, 2u);
  EXPECT_EQ(known.max_ns, 40);
  EXPECT_EQ(known.slowest, 2);
  third.layers[1].time_total_ns = 20;  // of equal ones the first
  EXPECT_EQ(merged({other, third}).layers.at(1).spread->slowest, 0);
}

TEST(MergeRows, ParentsStandBeforeChildrenInTheOrderOfTheFirst) {
  const auto with_layers = [](std::int64_t rank, const std::vector<std::string>& names) {
    Report report = rank_of(rank, 10, 1);
    for (const std::string& name : names) {
      LayerRow row = report.layers[1];
      row.id = static_cast<std::int64_t>(report.layers.size());
      row.parent = 1;
      row.path = {"net", name};
      row.depth = 2;
      report.layers.push_back(row);
    }
    LayerRow last = report.layers[1];
    last.id = static_cast<std::int64_t>(report.layers.size());
    last.path = {"loss"};
    report.layers.push_back(last);
    report.kernels[0].layer = 2;
    report.copies[0].layer.reset();
    return report;
  };
  const Report all = merged({with_layers(0, {"a", "b"}), with_layers(1, {"c", "a"})});
  std::vector<std::string> names;
  for (const LayerRow& row : all.layers) names.push_back(row.path.empty() ? "" : row.path.back());
  EXPECT_EQ(names, (std::vector<std::string>{"", "net", "a", "b", "c", "loss"}));
  for (std::size_t i = 0; i < all.layers.size(); ++i)
    EXPECT_EQ(all.layers[i].id, static_cast<std::int64_t>(i));
  EXPECT_FALSE(all.layers[0].parent);
  EXPECT_EQ(all.layers[4].parent, 1);
  EXPECT_EQ(all.layers[4].depth, 2);
  EXPECT_EQ(all.layers[5].parent, 0);
  ASSERT_EQ(all.kernels.size(), 2u);
  EXPECT_EQ(all.kernels[0].layer, 2);
  EXPECT_EQ(all.kernels[1].layer, 4);
  EXPECT_FALSE(all.copies.at(0).layer);
}

// Each of these keeps rows of one name apart.
TEST(MergeRows, KernelsOfOneKindAreOne) {
  const auto rows = [](auto change) {
    Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1);
    change(other.kernels[0]);
    return merged({one, other}).kernels.size();
  };
  EXPECT_EQ(rows([](KernelRow&) {}), 1u);
  EXPECT_EQ(rows([](KernelRow& row) { row.flops.fp32 = 1; }), 1u);
  EXPECT_EQ(rows([](KernelRow& row) { row.name = "l"; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.layer = 0; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.grid.x = 2; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.block.y = 2; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.cluster.z = 2; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.dynamic_shared = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.time_source = TimeSource::hw; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.time_mean_ns.reset(); }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.flops.total = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.bytes.dram = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.graph = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.ranges = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.nodes = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.collective.emplace().transfer_ns = 1; }), 2u);
  EXPECT_EQ(rows([](KernelRow& row) { row.layer = 77; }), 1u);  // of no layer: left out
}

TEST(KernelMerge, PathAndSavingsAreMeansOverTheGpus) {
  KernelRow row;
  row.launches = 2;
  row.path_ns = 30;
  row.step_saving = StepSaving{2, 6};
  KernelMerge merge;
  merge.add(row);
  row.path_ns = 50;
  row.step_saving = StepSaving{1, 4};
  merge.add(row);
  EXPECT_EQ(merge.result(2).path_ns, 40.0);
  EXPECT_EQ(merge.result(4).path_ns, 20.0);
  EXPECT_EQ(merge.result(2).step_saving->low_ns, 1);
  EXPECT_EQ(merge.result(2).step_saving->high_ns, 6);
  EXPECT_EQ(merge.result(4).step_saving->low_ns, 0);
  EXPECT_FALSE(merge.result(2).time_stddev_ns);
  EXPECT_FALSE(merge.result(2).collective);
}

TEST(KernelMerge, MessagesOfOtherKinds) {
  KernelRow one, other;
  one.launches = 1;
  other.launches = 3;
  one.collective = {Collective::all_reduce, 2, true, 100, 10, {}, {}, 30, 40, 50};
  other.collective = {Collective::all_gather, 2, false, 200, 50, {}, {}, 50, 80, 90};
  KernelMerge merge;
  merge.add(one);
  merge.add(other);
  const CollectiveRow both = *merge.result(2).collective;
  EXPECT_EQ(both.kind, Collective::unknown);
  EXPECT_EQ(both.ranks, 2);
  EXPECT_FALSE(both.one_node);
  EXPECT_EQ(both.bytes, 175.0);
  EXPECT_EQ(both.bus_bytes, 40.0);
  EXPECT_EQ(both.wait_ns, 45.0);
  EXPECT_EQ(both.transfer_ns, 70.0);
  EXPECT_EQ(both.others_wait_ns, 80.0);
  KernelMerge last;
  last.add(KernelRow());
  last.add(one);
  EXPECT_EQ(last.result(2).collective->kind, Collective::all_reduce);
  EXPECT_FALSE(last.result(2).collective->bytes);
}

Waiter waiter(const std::string& name, double time, double wait, double others) {
  return {name, time, wait, time - wait, others};
}

std::string late(const std::vector<Waiter>& all) {
  const auto found = late_one(all);
  return found ? found->name : "";
}

TEST(Waiting, TheLateOneAtItsBorders) {
  EXPECT_EQ(late({}), "");
  EXPECT_EQ(late({waiter("a", 10, 5, 5)}), "");
  // More than two thirds of 30.
  EXPECT_EQ(late({waiter("a", 100, 30, 0), waiter("b", 100, 0, 21)}), "b");
  EXPECT_EQ(late({waiter("a", 100, 0, 21), waiter("b", 100, 30, 0)}), "a");
  EXPECT_EQ(late({waiter("a", 100, 15, 0), waiter("b", 100, 15, 20)}), "");
  // A tenth of the time of the others, who are two.
  EXPECT_EQ(late({waiter("a", 100, 10, 0), waiter("b", 100, 10, 0), waiter("c", 900, 0, 20)}), "c");
  EXPECT_EQ(late({waiter("a", 101, 10, 0), waiter("b", 100, 10, 0), waiter("c", 900, 0, 20)}), "");
}

TEST(Waiting, OfGpusOfOneProcess) {
  Report report;
  report.layers.resize(3);
  report.layers[1].device = 1;
  report.layers[2].parent = 0;
  for (LayerRow& row : report.layers) row.collectives = {100, 30, 60, std::nullopt};
  report.layers[1].collectives = {200, 50, 150, 5};
  const auto all = waiters(report);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "GPU 0");
  EXPECT_EQ(all[1].name, "GPU 1");
  EXPECT_EQ(all[0].time_ns, 100);
  EXPECT_EQ(all[0].wait_ns, 30);
  EXPECT_EQ(all[0].transfer_ns, 60);
  EXPECT_EQ(all[0].others_wait_ns, 0);
  EXPECT_EQ(all[1].others_wait_ns, 5);
  EXPECT_STREQ(all[0].at_least(), "at least ");
  EXPECT_STREQ(all[1].at_least(), "");
  EXPECT_STREQ(waiter("a", 100, 30, 0).at_least(), "");
  EXPECT_STREQ((Waiter{"a", 100, 30, 65, 0}).at_least(), "");
  const Waiter mean = mean_waiter(all);
  EXPECT_EQ(mean.time_ns, 150);
  EXPECT_EQ(mean.wait_ns, 40);
  EXPECT_EQ(mean.transfer_ns, 105);
  const std::string text = waiting_sentence(report);
  EXPECT_NE(text.find(" a GPU waits 40.0 ns of 150 ns "), std::string::npos) << text;
  EXPECT_NE(text.find("26.7 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("step"), std::string::npos) << text;
  report.layers[1].collectives->wait_ns.reset();
  EXPECT_TRUE(waiters(report).empty());
  report.layers[0].collectives = report.layers[1].collectives = {0, 0, 0, 0};
  EXPECT_EQ(waiting_sentence(report), "");
  report.layers[1].collectives.reset();
  EXPECT_EQ(waiting_sentence(report), "");
}

}  // namespace
}  // namespace gable::tests
