// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_metrics.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

std::string name_of(NcuMetrics& metrics, const std::optional<NcuMetric>& metric) {
  return metric ? metrics.name(metric->index) : "";
}

TEST(NcuMetrics, NamesOfCounters) {
  Imported imported;
  NcuMetrics metrics(imported);
  for (const char* name : {"dram__bytes.sum", "a__b.c", "l1tex__t9_x.avg.pct"})
    EXPECT_EQ(name_of(metrics, metrics.add(name)), name);
  for (const char* name : {"", "dram_bytes.sum", "__bytes.sum", "dram__bytes", "dram__.sum",
                           "dram__bytes.", "dram__Bytes.sum", "dram__bytes..sum", "dram__a.b.",
                           "dram__b-c.sum", "a.b__c", "launch__waves_per_multiprocessor"})
    EXPECT_FALSE(metrics.add(name)) << name;
  EXPECT_EQ(imported.metrics.size(), 3u);
}

TEST(NcuMetrics, OneNameForTheSame) {
  Imported imported;
  imported.metrics = {"dram__bytes.sum", "sm__mine.ratio"};
  NcuMetrics metrics(imported);
  EXPECT_EQ(metrics.add("sm__mine.ratio")->index, 1u);
  EXPECT_EQ(metrics.add("dram__bytes.sum")->index, 0u);
  EXPECT_TRUE(metrics.counts(0));
  EXPECT_FALSE(metrics.counts(1));
  EXPECT_EQ(name_of(metrics, metrics.add("sm__sass_thread_inst_executed_op_ffma_pred_on.sum")),
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  EXPECT_TRUE(metrics.counts(2));
  EXPECT_EQ(metrics.add("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum")->index, 2u);
  for (const char* name :
       {"gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max"})
    EXPECT_EQ(metrics.add(name)->index, 3u) << name;
  EXPECT_EQ(name_of(metrics, metrics.add("gpu__time_duration.min")), "gpu__time_duration.min");
  EXPECT_FALSE(metrics.counts(4)) << "no report takes part of it";
}

TEST(NcuMetrics, DerivedOnesAreMultiples) {
  Imported imported;
  NcuMetrics metrics(imported);
  const auto achieved = metrics.add("derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2");
  EXPECT_EQ(name_of(metrics, achieved),
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed");
  EXPECT_EQ(achieved->scale, 0.5);
  const auto possible = metrics.add("derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4");
  EXPECT_EQ(name_of(metrics, possible),
            "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained");
  EXPECT_EQ(possible->scale, 0.25);
  EXPECT_EQ(metrics.add("derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4")->scale, 0.25);
  EXPECT_EQ(
      metrics.add("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained")->scale, 1);
  for (const char* name :
       {"derived__sm__other_x2", "derived__lts__other_x2", "derived__smsp__a_b_x", "derived__a_x2b",
        "derived__smsp__a_b_x0", "derived__smsp__a_b_x-1"})
    EXPECT_FALSE(metrics.add(name)) << name;
  EXPECT_EQ(name_of(metrics, metrics.add("derived__lts__lts2xbar_bytes.sum")),
            "derived__lts__lts2xbar_bytes.sum");
  EXPECT_EQ(name_of(metrics, metrics.add("sm__a_x2.sum")), "sm__a_x2.sum");
}

TEST(NcuMetrics, RowsNameThemByMetricOrTitle) {
  Imported imported;
  NcuMetrics metrics(imported);
  EXPECT_EQ(name_of(metrics, metrics.find("Duration", "ns")), "gpu__time_duration.sum");
  EXPECT_EQ(name_of(metrics, metrics.find("dram__bytes.sum", "byte")), "dram__bytes.sum");
  EXPECT_FALSE(metrics.find("Some Title", ""));
  EXPECT_FALSE(metrics.find("launch__grid_size", ""));
}

TEST(PartsOfSums, WhatASumInTheListHasInIt) {
  const std::string tensor = "sm__ops_path_tensor_";
  const auto parts = [&](std::vector<std::string> names) {
    for (std::string& name : names) name = tensor + name;
    auto found = parts_of_sums(names);
    for (std::string& name : found) name = name.substr(tensor.size());
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(parts({"src_fp16.sum", "src_fp16_dst_fp32.sum", "src_bf16_dst_fp32.sum"}),
            (Names{"src_fp16_dst_fp32.sum"}));
  EXPECT_EQ(parts({"src_fp16_sparsity_on.sum", "src_fp16.sum"}),
            (Names{"src_fp16_sparsity_on.sum"}));
  EXPECT_EQ(parts({"src_fp16_dst_fp32_sparsity_off.sum", "src_fp16_dst_fp32.sum"}),
            (Names{"src_fp16_dst_fp32_sparsity_off.sum"}));
  EXPECT_EQ(parts({"src_fp16_dst_fp32_sparsity_off.sum", "src_fp16_sparsity_off.sum"}),
            (Names{"src_fp16_dst_fp32_sparsity_off.sum"}));
  EXPECT_EQ(parts({"op_hmma_src_fp16.sum", "src_fp16.sum"}), (Names{"op_hmma_src_fp16.sum"}));
  EXPECT_EQ(parts({"op_hmma_src_fp16_dst_fp32_sparsity_on.sum", "src_fp16.sum"}),
            (Names{"op_hmma_src_fp16_dst_fp32_sparsity_on.sum"}));
  EXPECT_EQ(parts({"src_fp16_dst_fp32.sum", "src_fp16_dst_fp16.sum"}), Names{});
  EXPECT_EQ(parts({"src_fp16.sum", "src_fp16.sum"}), Names{}) << "it is no part of itself";
  EXPECT_EQ(parts_of_sums({"dram__x_sparsity_on.sum", "dram__x.sum"}), Names{});
}

}  // namespace
}  // namespace gable
