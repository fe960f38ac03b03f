// SPDX-License-Identifier: Apache-2.0
// Sums of which parts are unknown, and kernels that stand for a layer's work by formula.
#include "analysis/roofline/partial_sum.h"

#include <gtest/gtest.h>

#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/model_work.h"

namespace gable {
namespace {

LayerRow row(std::int32_t depth, Maybe time_ns, Maybe coverage) {
  LayerRow made;
  made.depth = depth;
  made.time_total_ns = time_ns;
  made.coverage.time = coverage;
  return made;
}

TEST(PartialSums, AreWholeWhereAllIsCovered) {
  EXPECT_TRUE(covers(1));
  EXPECT_TRUE(covers(kFullCoverage));
  EXPECT_FALSE(covers(kFullCoverage - 0.001));
  EXPECT_FALSE(covers(std::nullopt));
  EXPECT_EQ(whole_sum(5, 1), 5);
  EXPECT_EQ(whole_sum(5, 0.5), std::nullopt);
  EXPECT_EQ(whole_sum(5, std::nullopt), 5);
  EXPECT_EQ(whole_sum(std::nullopt, 1), std::nullopt);
}

TEST(PartialSums, OfTheRootsOfAllDevices) {
  Report report;
  EXPECT_EQ(time_of_roots(report), std::nullopt);
  EXPECT_EQ(coverage_of(report, &Coverage::time), 1);
  report.layers = {row(0, 30, 1), row(1, 20, 0.5), row(0, 12, 1)};
  EXPECT_EQ(time_of_roots(report), 42);
  EXPECT_EQ(coverage_of(report, &Coverage::time), 1);
  EXPECT_EQ(time_of_shares({report}), "time");
  report.layers[2].coverage.time = 0.75;
  EXPECT_EQ(time_of_roots(report), std::nullopt);
  EXPECT_EQ(coverage_of(report, &Coverage::time), 0.75);
  EXPECT_EQ(coverage_of(report, &Coverage::flops), 0);
  EXPECT_EQ(time_of_shares({Report(), report}), "known time");
  report.layers[2] = row(0, std::nullopt, std::nullopt);
  EXPECT_EQ(time_of_roots(report), std::nullopt);
}

TEST(PartialSums, SayAtLeastWhereAPartIsUnknown) {
  PartialSum sum;
  EXPECT_FALSE(sum.value);
  EXPECT_EQ(sum.text("FLOP"), "unknown");
  EXPECT_EQ(sum.time_text(), "-");
  sum.add(1000, 1);
  sum.add(500, 1);
  EXPECT_EQ(sum.text("FLOP"), "1.50 kFLOP");
  EXPECT_EQ(sum.time_text(), "1.50 us");
  PartialSum part = sum;
  part.add(std::nullopt, 1);
  EXPECT_EQ(part.text("FLOP"), "at least 1.50 kFLOP");
  EXPECT_EQ(part.time_text(), "at least 1.50 us");
  part.add(500, 1);  // it stays so
  EXPECT_EQ(part.text("FLOP"), "at least 2.00 kFLOP");
  sum.add(500, 0.5);
  EXPECT_EQ(sum.text("FLOP"), "at least 2.00 kFLOP");
  PartialSum none;
  none.add(std::nullopt, 1);
  EXPECT_EQ(none.text("B"), "unknown");
}

// Each type is where its roof is; of a type without one nothing is known.
TEST(KernelOfModel, HasItsWorkUnderItsRoofs) {
  const Roofline roofline({{0, CeilingKind::compute, "bf16_tensor", 1e15, ""},
                           {0, CeilingKind::compute, "fp32", 1e13, ""}});
  LayerRow layer = row(1, 100, 1);
  layer.time_self_ns = 40;
  layer.time_source = TimeSource::time;
  LayerModel::Part own;
  own.bytes = 9;
  own.flops = 63;
  own.types = {{"bf16", 1}, {"fp64", 2}, {"fp16", 4}, {"fp32", 8}, {"tf32", 16}, {"fp8", 32}};
  const KernelRow kernel = kernel_of_model(roofline, own, layer);
  EXPECT_EQ(kernel.launches, 1);
  EXPECT_EQ(kernel.time_mean_ns, 40);
  EXPECT_EQ(kernel.time_total_ns, 40);
  EXPECT_EQ(kernel.time_source, TimeSource::time);
  EXPECT_EQ(kernel.bytes.dram, 9);
  EXPECT_EQ(kernel.flops.total, 63);
  EXPECT_EQ(kernel.flops.tensor.at("bf16"), 1);
  EXPECT_EQ(kernel.flops.fp64, 2);
  EXPECT_EQ(kernel.flops.fp16, 4);
  EXPECT_EQ(kernel.flops.fp32, 24);  // TF32 without tensor cores is FP32
  EXPECT_EQ(kernel.flops.tensor.at("fp8"), 32);
  EXPECT_EQ(kernel.flops.tensor.size(), 2u);
  // A time that is known in part is none, unless it is 0.
  layer.coverage.time = 0.5;
  EXPECT_EQ(kernel_of_model(roofline, own, layer).time_mean_ns, std::nullopt);
  layer.time_self_ns = 0;
  EXPECT_EQ(kernel_of_model(roofline, own, layer).time_mean_ns, 0);
}

TEST(CollectivesOfRoots, AreAdded) {
  Report report;
  EXPECT_FALSE(collectives_of_roots(report));
  report.layers.resize(4);
  report.layers[0].collectives = CollectiveTimes{10, 1, 2, std::nullopt};
  report.layers[1].collectives = CollectiveTimes{100, 100, 100, 100};
  report.layers[1].parent = 0;
  report.layers[3].collectives = CollectiveTimes{20, 5, std::nullopt, 7};
  const auto sum = collectives_of_roots(report);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->time_ns, 30);
  EXPECT_EQ(sum->wait_ns, 6);
  EXPECT_EQ(sum->transfer_ns, 2);
  EXPECT_EQ(sum->others_wait_ns, 7);
}

TEST(CollectivesOfLayers, AreThoseOfTheirKernels) {
  Report report;
  report.layers.resize(2);
  report.layers[1].id = 1;
  report.layers[1].parent = 0;
  KernelRow kernel;
  kernel.name = "ncclDevKernel_AllReduce";
  kernel.layer = 1;
  kernel.launches = 2;
  kernel.time_total_ns = 30;
  kernel.collective.emplace();
  kernel.collective->wait_ns = 4;
  kernel.collective->transfer_ns = 11;
  kernel.collective->others_wait_ns = 1;
  KernelRow again = kernel, other = kernel, plain = kernel;
  again.graph = 1;
  other.name = "gemm";
  plain.layer = 0;
  plain.collective->wait_ns.reset();
  report.kernels = {kernel, again, other, plain};
  fill_link_roofs(report);
  ASSERT_TRUE(report.layers[1].collectives && report.layers[0].collectives);
  EXPECT_EQ(report.layers[1].collectives->time_ns, 30);
  EXPECT_EQ(report.layers[1].collectives->wait_ns, 8);
  EXPECT_EQ(report.layers[1].collectives->transfer_ns, 22);
  EXPECT_EQ(report.layers[1].collectives->others_wait_ns, 2);
  EXPECT_EQ(report.layers[0].collectives->time_ns, 60);
  EXPECT_EQ(report.layers[0].collectives->wait_ns, 8);
}

}  // namespace
}  // namespace gable
