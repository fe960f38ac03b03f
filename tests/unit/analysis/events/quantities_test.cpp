// SPDX-License-Identifier: Apache-2.0
// What a metric of a given name counts. Names that only other tools' files have are among them.
#include "analysis/events/quantities.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "analysis/events/roof_metrics.h"

namespace gable {
namespace {

TEST(Quantities, NamesThatOtherToolsUseForTheSame) {
  struct Same {
    const char *name, *own;
    double bytes;  // that one of it is
  };
  for (const Same& same : {Same{"dram__bytes_read.sum", "dram__sectors_read.sum", 1},
                           {"dram__bytes_write.sum", "dram__sectors_write.sum", 1},
                           {"dram__bytes_op_read.sum", "dram__sectors_op_read.sum", 1},
                           {"dram__bytes_op_write.sum", "dram__sectors_op_write.sum", 1}}) {
    const MetricRole* const role = role_of(same.name);
    const MetricRole* const own = role_of(same.own);
    ASSERT_TRUE(role != nullptr && own != nullptr) << same.name;
    EXPECT_EQ(role->quantity, own->quantity) << same.name;
    EXPECT_EQ(role->weight, same.bytes) << same.name;
    EXPECT_EQ(own->weight, 32) << same.own;
  }
  EXPECT_EQ(role_of("dram__bytes_op_read.sum")->quantity, Quantity::bytes_dram_read);
  EXPECT_EQ(role_of("dram__bytes_op_write.sum")->quantity, Quantity::bytes_dram_write);
  EXPECT_EQ(role_of("dram__bytes.sum")->quantity, Quantity::bytes_dram);
  EXPECT_EQ(role_of("dram__sectors.sum")->weight, 32);
  EXPECT_EQ(role_of("lts__t_bytes_srcunit_tex.sum")->quantity, Quantity::bytes_l2);
}

// What one of each counts, by Nsight Compute's rules: of 16-bit and packed instructions a lane does
// two operations, of fma twice as many as of add and mul.
TEST(Quantities, WeightsOfInstructionsAndUnits) {
  using enum Quantity;
  struct Role {
    const char* name;
    Quantity quantity;
    double weight;
  };
  const std::string sass = "smsp__sass_thread_inst_executed_op_";
  for (const Role& each : {
           Role{"fadd", flops_fp32, 1},
           {"fmul", flops_fp32, 1},
           {"ffma", flops_fp32, 2},
           {"fadd2", flops_fp32, 2},
           {"fmul2", flops_fp32, 2},
           {"ffma2", flops_fp32, 4},
           {"hadd", flops_fp16, 2},
           {"hmul", flops_fp16, 2},
           {"hfma", flops_fp16, 4},
           {"dadd", flops_fp64, 1},
           {"dmul", flops_fp64, 1},
           {"dfma", flops_fp64, 2},
       }) {
    const MetricRole* const role = role_of(sass + each.name + "_pred_on.sum");
    ASSERT_NE(role, nullptr) << each.name;
    EXPECT_EQ(role->quantity, each.quantity) << each.name;
    EXPECT_EQ(role->weight, each.weight) << each.name;
  }
  for (const Role& each : {
           Role{"lts__t_sectors_srcunit_tex.sum", bytes_l2, 32},
           {"lts__t_bytes_srcunit_tex.sum", bytes_l2, 1},
           {"lts__t_bytes.sum", bytes_l2, 1},
           {"dram__bytes.sum", bytes_dram, 1},
           {"l1tex__t_bytes.sum", bytes_l1, 1},
           {"smsp__sass_inst_executed_op_shared.sum", l1_escapes, 1},
           {"smsp__sass_inst_executed_op_ldgsts.sum", l1_escapes, 1},
           {"smsp__sass_inst_executed_op_dshared.sum", l1_escapes, 1},
           {"smsp__sass_inst_executed_op_tma.sum", l1_escapes, 1},
           {"smsp__sass_inst_executed_op_utccp.sum", l1_escapes, 1},
           {"smsp__sass_inst_executed_op_utcmma.sum", l1_escapes, 1},
           {"gpu__time_duration.sum", duration_ns, 1},
           {"sm__ctas_launched.sum", ctas, 1},
           {"gr__ctas_launched.sum", ctas, 1},
           {"sm__cycles_elapsed.avg", sm_cycles, 1},
           {"sm__cycles_elapsed.max", sm_cycles, 1},
           {"sm__inst_executed_pipe_tensor.sum", tensor_instructions, 1},
           {"sm__inst_executed_pipe_tensor_op_imma.sum", integer_tensor_instructions, 1},
           {"smsp__inst_executed_pipe_tensor_op_imma.sum", integer_tensor_instructions, 1},
       }) {
    const MetricRole* const role = role_of(each.name);
    ASSERT_NE(role, nullptr) << each.name;
    EXPECT_EQ(role->quantity, each.quantity) << each.name;
    EXPECT_EQ(role->weight, each.weight) << each.name;
    EXPECT_EQ(role->coarse, std::string_view(each.name) == "lts__t_bytes.sum") << each.name;
  }
  EXPECT_EQ(role_of("lts__t_bytes"), nullptr);
  EXPECT_EQ(role_of(""), nullptr);
}

// Those of tensor cores count operations, with and without sparsity.
TEST(Quantities, TensorCoresCountOperationsOfTheirInputType) {
  const std::string path = "sm__ops_path_tensor_";
  for (const auto& [name, type, whole] : {std::tuple("src_fp64", "fp64", false),
                                          {"src_tf32_dst_fp32", "tf32", false},
                                          {"op_hgmma_src_bf16_dst_fp32", "bf16", false},
                                          {"src_fp16_bf16_tf32_dst_fp32", "fp16", false},
                                          {"src_fp4_fp6_fp8_dst_fp16", "fp8", false},
                                          {"src_fp4_fp6_dst_fp32", "fp6", false},
                                          {"src_fp4_dst_fp32", "fp4", false},
                                          {"op_imma_src_int8", "int8", true},
                                          {"src_int4", "int4", true},
                                          {"op_bmma_src_int1", "int1", true}}) {
    for (const char* sparsity : {"", "_sparsity_off", "_sparsity_on"}) {
      const MetricRole* const role = role_of(path + name + sparsity + ".sum");
      ASSERT_NE(role, nullptr) << name << sparsity;
      EXPECT_EQ(role->quantity, whole ? Quantity::ops_tensor : Quantity::flops_tensor) << name;
      EXPECT_EQ(role->type, type) << name;
      EXPECT_EQ(role->weight, 1) << name;
      EXPECT_FALSE(role->coarse) << name;
    }
  }
}

// Names that only other tools have are found and not among those to collect.
TEST(Quantities, WhatIsCollectedIsKnownByItsName) {
  ASSERT_FALSE(metric_roles().empty());
  for (const MetricRole& each : metric_roles()) {
    EXPECT_EQ(role_of(each.metric), &each) << each.metric;
    EXPECT_NE(each.metric, "dram__bytes.sum");
  }
}

TEST(Quantities, PartsAreAddedAndNamesForTheSameAreNot) {
  using enum Quantity;
  for (const Quantity sum :
       {flops_fp64, flops_fp32, flops_fp16, flops_tensor, ops_tensor, l1_escapes})
    EXPECT_FALSE(is_one_of(sum)) << static_cast<int>(sum);
  for (const Quantity one : {bytes_dram_read, bytes_dram_write, bytes_dram, bytes_l2, bytes_l1,
                             duration_ns, ctas, sm_cycles, tensor_instructions})
    EXPECT_TRUE(is_one_of(one)) << static_cast<int>(one);
}

TEST(Quantities, RatiosAreKnownByTheirRollUp) {
  for (const char* name : {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "a__b.ratio",
                           "a__b.max_rate", "a__b.sum.per_cycle_active", "a__b.sum.per_second",
                           "a__b.sum.peak_sustained", "a__b.avg.peak_burst"})
    EXPECT_TRUE(is_ratio(name)) << name;
  for (const char* name : {"a__b.sum", "pct__b.avg", "a__peak_sustained.sum", ""})
    EXPECT_FALSE(is_ratio(name)) << name;
}

TEST(RoofMetrics, AreKnownByTheirNamesAndHaveNoSum) {
  for (const RoofMetric& each : kRoofMetrics) {
    EXPECT_EQ(roof_metric(each.peak), &each);
    EXPECT_TRUE(is_ratio(each.peak)) << each.peak;
    if (each.clock.empty()) continue;
    EXPECT_EQ(roof_metric(each.clock), &each);
    EXPECT_TRUE(is_ratio(each.clock)) << each.clock;
  }
  for (const char* name : {"", "lts__t_bytes.sum", "sm__cycles_elapsed.avg"})
    EXPECT_EQ(roof_metric(name), nullptr) << name;
}

}  // namespace
}  // namespace gable
