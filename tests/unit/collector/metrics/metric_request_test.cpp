// SPDX-License-Identifier: Apache-2.0
// --metrics on one chip of the real host API: what a user types becomes metrics of one pass, and
// what cannot be had becomes one sentence that says why.
#include "collector/metrics/metric_request.h"
#include "collector/cupti/cupti_params.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collector/metrics/plan.h"
#include "tests/unit/collector/real_cupti.h"

namespace gable {
namespace {

// The base names of a type. Gable has no use for the call, so it is not in its table of calls.
std::vector<std::string> metrics_of(CUpti_Profiler_Host_Object* object, CUpti_MetricType type) {
  std::vector<std::string> names;
  void* library = dlopen(real_cupti().path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return names;
  const auto call = reinterpret_cast<decltype(&::cuptiProfilerHostGetBaseMetrics)>(
      dlsym(library, "cuptiProfilerHostGetBaseMetrics"));
  CUpti_Profiler_Host_GetBaseMetrics_Params params{};
  params.structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE;
  params.pHostObject = object;
  params.metricType = type;
  if (call != nullptr && call(&params) == CUPTI_SUCCESS)
    for (std::size_t i = 0; i < params.numMetrics; ++i) names.emplace_back(params.ppMetricNames[i]);
  dlclose(library);
  return names;
}

class Asked : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_REAL_CUPTI(); }

  MetricRequest ask(const std::vector<std::string>& wanted) { return read_request(chip_, wanted); }
  std::string taken(const std::string& name) {
    const MetricRequest request = ask({name});
    EXPECT_EQ(request.metrics.size(), 1u) << name;
    EXPECT_TRUE(request.left_out.empty()) << name;
    return request.metrics.empty() ? "" : request.metrics.front();
  }
  std::string refused(const std::string& name, bool exists) {
    const MetricRequest request = ask({name});
    EXPECT_TRUE(request.metrics.empty()) << name;
    EXPECT_EQ(request.left_out.size(), 1u) << name;
    if (request.left_out.empty()) return "";
    EXPECT_EQ(request.left_out.front().exists, exists);
    return request.left_out.front().sentence;
  }
  static bool has(const MetricNames& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  ChipMetrics chip_{real_cupti(), "GH100"};
};

TEST_F(Asked, NothingIsTheRoofline) {
  EXPECT_TRUE(ask({}).roofline);
  EXPECT_TRUE(ask({"cache", "roofline"}).roofline);
  EXPECT_FALSE(ask({"cache"}).roofline);
  EXPECT_TRUE(ask({}).metrics.empty());
}

TEST_F(Asked, ANameWithoutARollupGetsTheUsualOne) {
  EXPECT_EQ(taken("smsp__inst_executed"), "smsp__inst_executed.sum");
  EXPECT_EQ(taken("l1tex__t_sector_hit_rate"), "l1tex__t_sector_hit_rate.pct");
  EXPECT_EQ(taken("smsp__average_thread_inst_executed_per_inst_executed"),
            "smsp__average_thread_inst_executed_per_inst_executed.ratio");
  EXPECT_EQ(taken("dram__throughput"), "dram__throughput.avg.pct_of_peak_sustained_elapsed");
  // One that has a roll-up keeps it.
  EXPECT_EQ(taken("sm__warps_active.avg.per_cycle_active"),
            "sm__warps_active.avg.per_cycle_active");
}

TEST_F(Asked, WhatTheChipDoesNotHaveIsOneSentence) {
  EXPECT_EQ(refused("dram__sectors_raed.sum", false),
            "dram__sectors_raed.sum is left out: CUPTI has no metric of that name for GH100.");
  EXPECT_EQ(refused("smsp__sass_thread_inst_executed_op_ffma2_pred_on", false),
            "smsp__sass_thread_inst_executed_op_ffma2_pred_on is left out: CUPTI has no metric of "
            "that name for GH100.");
  EXPECT_EQ(refused("dram__bytes.summ", false),
            "dram__bytes.summ is left out: GH100 has no '.summ' of it; ask for dram__bytes.sum.");
}

TEST_F(Asked, WhatNeedsMorePassesAndHasNoPartsIsOneSentence) {
  const auto passes = chip_.passes_alone("l1tex__t_requests.sum");
  ASSERT_TRUE(passes);
  ASSERT_GT(*passes, 1u);
  EXPECT_EQ(refused("l1tex__t_requests", true), "l1tex__t_requests is left out: GH100 needs " +
                                                    std::to_string(*passes) +
                                                    " passes to count it, and a window has one.");
}

TEST_F(Asked, WhatNeedsMorePassesIsReplacedByItsParts) {
  const MetricRequest rate = ask({"lts__t_sector_hit_rate"});
  EXPECT_EQ(rate.metrics, (MetricNames{"lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"}));
  ASSERT_EQ(rate.notes.size(), 1u);
  EXPECT_EQ(rate.notes.front(),
            "GH100 needs 2 passes for lts__t_sector_hit_rate.pct: lts__t_sectors_lookup_hit.sum "
            "and lts__t_sectors.sum are collected in its place.");
  const MetricRequest limited =
      ask({"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld"});
  EXPECT_EQ(limited.metrics, (MetricNames{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}));
  const MetricRequest tensor = ask({"sm__ops_path_tensor_src_fp16"});
  EXPECT_GT(tensor.metrics.size(), 1u);
  for (const auto& metric : tensor.metrics) EXPECT_TRUE(chip_.single(metric)) << metric;
  EXPECT_FALSE(has(tensor.metrics, "sm__ops_path_tensor_src_fp16.sum"));
}

TEST_F(Asked, SetsAndMetricsMixAndEachIsCollectedOnce) {
  const std::vector<std::string> wanted = {"roofline",
                                           "cache",
                                           "smsp__sass_inst_executed_op_shared",
                                           "lts__t_sectors",
                                           "dram__sectors_read.sum",
                                           "dram__bytes_read.sum",
                                           "no__such"};
  const MetricPlan plan = plan_metrics(chip_, wanted);
  MetricNames all;
  for (const PassPlan& pass : plan.passes)
    for (const auto& metric : pass.metrics)
      if (metric.rfind("smsp__", 0) == 0 || metric.rfind("lts__t_sectors.", 0) == 0)
        all.push_back(metric);
  auto once = all;
  std::sort(once.begin(), once.end());
  EXPECT_EQ(std::adjacent_find(once.begin(), once.end()), once.end());
  EXPECT_TRUE(has(plan.raw, "l1tex__t_sectors_lookup_hit.sum"));
  EXPECT_TRUE(has(plan.raw, "dram__bytes_read.sum"));
  // What the roofline collects anyway keeps its part in it.
  EXPECT_FALSE(has(plan.raw, "dram__sectors_read.sum"));
  EXPECT_FALSE(has(plan.raw, "smsp__sass_inst_executed_op_shared.sum"));
  ASSERT_EQ(plan.left_out.size(), 1u);
  EXPECT_EQ(plan.left_out.front().metric, "no__such");
}

TEST_F(Asked, NothingThatExistsIsNoPlanAndSaysWhy) {
  const MetricPlan plan = plan_metrics(chip_, {"no__such", "l1tex__t_requests"});
  EXPECT_TRUE(plan.passes.empty());
  EXPECT_EQ(plan.left_out.size(), 2u);
  EXPECT_EQ(plan.error, "CUPTI collects none of the metrics asked for on GH100.");
}

// Why there is one flops pass, however much is asked for.
TEST(SassMetrics, AllThatAChipHasShareOnePass) {
  SKIP_WITHOUT_REAL_CUPTI();
  for (const char* name : {"TU102", "GA100", "AD102", "GH100", "GB100", "GB110", "GB202"}) {
    ChipMetrics chip(real_cupti(), name);
    GABLE_PARAMS(CUpti_Profiler_Host_Initialize, open);
    open.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    open.pChipName = name;
    ASSERT_EQ(real_cupti().cuptiProfilerHostInitialize(&open), CUPTI_SUCCESS);
    MetricNames sass;
    for (const auto& [type, rollup] : {std::pair(CUPTI_METRIC_TYPE_COUNTER, ".sum"),
                                       std::pair(CUPTI_METRIC_TYPE_RATIO, ".ratio")})
      for (const auto& base : metrics_of(open.pHostObject, type))
        if (base.find("__sass_") != std::string::npos) sass.push_back(base + rollup);
    GABLE_PARAMS(CUpti_Profiler_Host_Deinitialize, close);
    close.pHostObject = open.pHostObject;
    real_cupti().cuptiProfilerHostDeinitialize(&close);
    EXPECT_GT(sass.size(), 100u) << name;
    EXPECT_EQ(chip.passes(sass), 1u) << name;
  }
}

}  // namespace
}  // namespace gable
