// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a configuration that CUPTI cannot collect in one pass (the window
// would be refused or wrong), operations counted twice or by half, or a chip without the counters
// of its roofline.
#include "collector/metrics/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "analysis/events/quantities.h"
#include "analysis/events/roof_metrics.h"
#include "collector/metrics/host_object.h"
#include "collector/metrics/tensor_metric.h"
#include "tests/unit/collector/real_cupti.h"

namespace gable {
namespace {

const MetricPlan& plan_of(const std::string& chip) {
  static std::map<std::string, MetricPlan> plans;
  auto found = plans.find(chip);
  if (found == plans.end()) found = plans.emplace(chip, plan_metrics(real_cupti(), chip)).first;
  return found->second;
}

std::vector<std::string> all_metrics(const MetricPlan& plan) {
  std::vector<std::string> metrics;
  for (const auto& pass : plan.passes)
    metrics.insert(metrics.end(), pass.metrics.begin(), pass.metrics.end());
  return metrics;
}

bool has(const MetricPlan& plan, const std::string& metric) {
  const auto metrics = all_metrics(plan);
  return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
}

bool is_in(const PassPlan& pass, Quantity quantity) {
  return std::any_of(pass.metrics.begin(), pass.metrics.end(), [&](const std::string& metric) {
    const auto* role = role_of(metric);
    return role != nullptr && role->quantity == quantity;
  });
}

bool chip_has(const std::string& chip, const std::string& metric) {
  HostObject host(real_cupti(), chip);
  return !host.open().failed() && !host.add({metric}).failed();
}

std::string shown(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& one : list) text += one + "; ";
  return text;
}

// One chip of each family whose metrics differ; planning all takes seconds in every test.
class EveryFamily : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_REAL_CUPTI(); }
  const std::vector<std::string> chips_ = {"GV100", "TU102", "TU116", "GA100", "GA102",
                                           "GA10B", "GH100", "AD102", "GB100", "GB110",
                                           "GB10B", "GB202", "GB20B"};
};

TEST_F(EveryFamily, HardwareGroupsAreNumberedAndFlopsComesLast) {
  for (const auto& chip : chips_) {
    SCOPED_TRACE(chip);
    const auto& passes = plan_of(chip).passes;
    for (std::size_t i = 0; i + 1 < passes.size(); ++i) {
      EXPECT_EQ(passes[i].phase.kind, PhaseKind::hw);
      EXPECT_EQ(passes[i].phase.group, i);
    }
    EXPECT_EQ(passes.back().phase.kind, PhaseKind::flops);
  }
}

TEST_F(EveryFamily, EveryGroupCanBeVerifiedAndTimed) {
  for (const auto& chip : chips_) {
    SCOPED_TRACE(chip);
    for (const auto& pass : plan_of(chip).passes) {
      if (pass.phase.kind != PhaseKind::hw) continue;
      EXPECT_TRUE(is_in(pass, Quantity::ctas)) << shown(pass.metrics);
      EXPECT_TRUE(is_in(pass, Quantity::duration_ns)) << shown(pass.metrics);
      EXPECT_TRUE(is_in(pass, Quantity::sm_cycles)) << shown(pass.metrics);
      EXPECT_TRUE(is_in(pass, Quantity::bytes_l2)) << shown(pass.metrics);
    }
  }
}

// Packed FP32 instructions are counted apart on data-centre Blackwell: without them FP32 work comes
// out far too low.
TEST_F(EveryFamily, EverySassCounterTheChipHasIsInTheFlopsPass) {
  for (const auto& chip : chips_) {
    SCOPED_TRACE(chip);
    const auto& flops = plan_of(chip).passes.back();
    for (const auto& role : metric_roles()) {
      if (role.metric.find("_sass_") == std::string_view::npos) continue;
      const std::string metric(role.metric);
      const bool planned =
          std::find(flops.metrics.begin(), flops.metrics.end(), metric) != flops.metrics.end();
      EXPECT_EQ(planned, chip_has(chip, metric)) << metric;
    }
  }
  EXPECT_TRUE(has(plan_of("GB100"), "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum"));
}

TEST_F(EveryFamily, NoTensorOperationIsCountedTwice) {
  for (const auto& chip : chips_) {
    SCOPED_TRACE(chip);
    std::vector<TensorName> names;
    for (const auto& metric : all_metrics(plan_of(chip)))
      if (const auto name = parse_tensor_name(metric)) names.push_back(*name);
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = 0; j < names.size(); ++j)
        EXPECT_EQ(tensor_includes(names[i], names[j]), i == j) << i << " " << j;
  }
}

// Every tensor metric of the chip is covered: planned itself, or through parts that are all
// planned, or through a metric that includes it, or its type is listed as unavailable.
TEST_F(EveryFamily, NoTensorOperationIsLeftOutInSilence) {
  for (const auto& chip : chips_) {
    SCOPED_TRACE(chip);
    const auto& plan = plan_of(chip);
    std::set<std::string> planned;
    for (const auto& metric : all_metrics(plan))
      if (parse_tensor_name(metric)) planned.insert(metric);
    const auto covered = [&](auto&& self, std::string_view metric) -> bool {
      if (planned.count(std::string(metric)) != 0) return true;
      const auto name = parse_tensor_name(metric);
      for (const auto& whole : planned)
        if (tensor_includes(*parse_tensor_name(whole), *name)) return true;
      for (const auto split : {TensorSplit::op, TensorSplit::target, TensorSplit::sparsity}) {
        std::size_t here = 0, held = 0;
        for (const auto part : tensor_parts(metric, split))
          if (chip_has(chip, std::string(part))) ++here, held += self(self, part) ? 1 : 0;
        if (here > 0 && here == held) return true;
      }
      return false;
    };
    for (const auto& role : metric_roles()) {
      if (!parse_tensor_name(role.metric) || !chip_has(chip, std::string(role.metric))) continue;
      const auto unavailable = std::string(role.type) + " tensor operations";
      const bool said =
          std::count(plan.unavailable.begin(), plan.unavailable.end(), unavailable) != 0;
      EXPECT_NE(covered(covered, role.metric), said) << role.metric;
    }
  }
}

TEST_F(EveryFamily, FloatingPointTensorTypesAreAllThere) {
  const std::map<std::string, std::set<std::string>> expected = {
      {"GV100", {"fp16"}},
      {"TU102", {"fp16"}},
      {"GA100", {"fp64", "tf32", "bf16", "fp16"}},
      {"AD102", {"fp64", "tf32", "bf16", "fp16", "fp8"}},
      {"GH100", {"fp64", "tf32", "bf16", "fp16", "fp8"}},
      {"GB100", {"fp64", "tf32", "bf16", "fp16", "fp8", "fp4"}},
      {"GB110", {"fp64", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4"}},
      {"GB202", {"fp64", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4"}}};
  for (const auto& [chip, types] : expected) {
    std::set<std::string> found;
    for (const auto& metric : all_metrics(plan_of(chip)))
      if (const auto* role = role_of(metric);
          role != nullptr && role->quantity == Quantity::flops_tensor)
        found.insert(std::string(role->type));
    EXPECT_EQ(found, types) << chip;
  }
}

// What CUPTI states of a unit needs no pass: groups without these metrics are as many, which
// ChipPlan counts. The clock of DRAM needs a pass of its own on some chips, and some have no DRAM.
TEST_F(EveryFamily, RoofsThatCuptiStatesAreInTheFirstGroup) {
  const std::set<std::string> no_dram = {"GV100", "TU102", "TU116", "GA10B", "GB10B", "GB20B"};
  for (const auto& chip : chips_) {
    SCOPED_TRACE(chip);
    const auto& plan = plan_of(chip);
    std::vector<std::string> expected = {"lts__t_bytes.sum.peak_sustained",
                                         "lts__cycles_elapsed.avg.per_second",
                                         "l1tex__t_bytes.sum.peak_sustained"};
    if (no_dram.count(chip) == 0) {
      expected.emplace_back("dram__bytes.sum.peak_sustained");
      expected.emplace_back("dram__cycles_elapsed.avg.per_second");
    }
    EXPECT_EQ(plan.roofs, expected) << shown(plan.roofs);
    EXPECT_TRUE(plan.raw.empty()) << shown(plan.raw);
    for (const auto& pass : plan.passes)
      for (const auto& metric : pass.metrics)
        EXPECT_TRUE(roof_metric(metric) == nullptr || &pass == &plan.passes.front()) << metric;
    for (const auto& metric : plan.roofs) EXPECT_TRUE(has(plan, metric)) << metric;
  }
}

// Roofs are taken whatever is counted beside them, unless nothing of the hardware is.
TEST_F(EveryFamily, RoofsThatAreAskedForAreRawMetricsToo) {
  const std::string peak = "l1tex__t_bytes.sum.peak_sustained";
  const auto plan = plan_metrics(real_cupti(), "GH100", {peak});
  EXPECT_EQ(plan.raw, std::vector<std::string>{peak});
  EXPECT_EQ(std::count(plan.roofs.begin(), plan.roofs.end(), peak), 1) << shown(plan.roofs);
  const auto metrics = all_metrics(plan);
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), peak), 1) << shown(metrics);
  EXPECT_EQ(plan.passes.size(), 1u);
  EXPECT_TRUE(plan_metrics(real_cupti(), "GH100", {"smsp__sass_inst_executed"}).roofs.empty());
}

int g_asked = 0;

// It runs on a worker thread beside the program's first steps: a second would eat whole phases. A
// question takes CUPTI some 2 ms.
TEST_F(EveryFamily, PlanningAsksFewQuestions) {
  CuptiApi counting = real_cupti();
  counting.cuptiProfilerHostInitialize = [](CUpti_Profiler_Host_Initialize_Params* params) {
    ++g_asked;
    return real_cupti().cuptiProfilerHostInitialize(params);
  };
  for (const auto& chip : chips_) {
    g_asked = 0;
    const auto plan = plan_metrics(counting, chip);
    std::printf("planning %s: %d questions, %zu passes\n", chip.c_str(), g_asked,
                plan.passes.size());
    EXPECT_GT(g_asked, 0) << chip;
    EXPECT_LT(g_asked, 350) << chip;
  }
}

TEST(Plan, AnUnknownChipIsOneSentence) {
  SKIP_WITHOUT_REAL_CUPTI();
  const auto plan = plan_metrics(real_cupti(), "XY999");
  EXPECT_TRUE(plan.passes.empty());
  EXPECT_NE(plan.error.find("CUPTI_ERROR"), std::string::npos) << plan.error;
}

TEST(Plan, WithoutCountersItSaysWhy) {
  CuptiApi api;
  api.why_not = "No CUPTI here.";
  const auto plan = plan_metrics(api, "GH100");
  EXPECT_TRUE(plan.passes.empty());
  EXPECT_EQ(plan.error, "No CUPTI here.");
  EXPECT_TRUE(supported_chips(api).empty());
}

TEST(TensorName, IsTakenApart) {
  const auto name =
      parse_tensor_name("sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_on.sum");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->op, "hmma");
  EXPECT_EQ(name->source, "fp16");
  EXPECT_EQ(name->target, "fp32");
  EXPECT_EQ(name->sparsity, "on");
  EXPECT_FALSE(parse_tensor_name("sm__ops_path_tensor_op_hmma.sum"));
  EXPECT_FALSE(parse_tensor_name("dram__sectors_read.sum"));
}

TEST(TensorName, IncludesOnlyItsParts) {
  const auto whole = *parse_tensor_name("sm__ops_path_tensor_src_fp16.sum");
  const auto part = *parse_tensor_name("sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum");
  const auto other = *parse_tensor_name("sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum");
  EXPECT_TRUE(tensor_includes(whole, part));
  EXPECT_FALSE(tensor_includes(part, whole));
  EXPECT_FALSE(tensor_includes(whole, other));
}

TEST(Quantities, NamesAreUniqueAndParentsComeFirst) {
  const auto& roles = metric_roles();
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    EXPECT_TRUE(seen.insert(roles[i].metric).second) << roles[i].metric;
    EXPECT_EQ(role_of(roles[i].metric), &roles[i]);
    EXPECT_FALSE(roles[i].source.empty());
    const auto whole = parse_tensor_name(roles[i].metric);
    for (std::size_t j = 0; whole && j < i; ++j) {
      const auto earlier = parse_tensor_name(roles[j].metric);
      EXPECT_FALSE(earlier && tensor_includes(*whole, *earlier))
          << roles[i].metric << " " << roles[j].metric;
    }
  }
  EXPECT_EQ(role_of("sm__no_such_metric.sum"), nullptr);
}

// The formulas of the design: an ffma is two operations, a 16-bit hfma2 four, a sector 32 bytes.
TEST(Quantities, WeightsAreThoseOfTheFormulas) {
  const auto weight = [](const char* op) {
    return role_of("smsp__sass_thread_inst_executed_op_" + std::string(op) + "_pred_on.sum")
        ->weight;
  };
  EXPECT_EQ(weight("fadd"), 1);
  EXPECT_EQ(weight("fmul"), 1);
  EXPECT_EQ(weight("ffma"), 2);
  EXPECT_EQ(weight("fadd2"), 2);
  EXPECT_EQ(weight("fmul2"), 2);
  EXPECT_EQ(weight("ffma2"), 4);
  EXPECT_EQ(weight("hadd"), 2);
  EXPECT_EQ(weight("hmul"), 2);
  EXPECT_EQ(weight("hfma"), 4);
  EXPECT_EQ(weight("dadd"), 1);
  EXPECT_EQ(weight("dmul"), 1);
  EXPECT_EQ(weight("dfma"), 2);
  EXPECT_EQ(role_of("dram__sectors_read.sum")->weight, 32);
  EXPECT_EQ(role_of("dram__sectors_op_write.sum")->weight, 32);
  EXPECT_EQ(role_of("lts__t_sectors_srcunit_tex.sum")->weight, 32);
  EXPECT_EQ(role_of("sm__ops_path_tensor_src_int8.sum")->quantity, Quantity::ops_tensor);
}

}  // namespace
}  // namespace gable
