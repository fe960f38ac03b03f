// SPDX-License-Identifier: Apache-2.0
// Every chip that the real host API lists: what would go wrong for its users is a window that CUPTI
// refuses, a roofline without one of its counters, or a set of --metrics that names what the chip
// does not have. One test a chip, which plans it once.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "analysis/events/quantities.h"
#include "collector/metrics/chip_metrics.h"
#include "collector/metrics/plan.h"
#include "collector/options/metric_sets.h"
#include "tests/unit/collector/real_cupti.h"

namespace gable {
namespace {

// Passes of the roofline as CUPTI 13.0 has them, and hardware passes that a set adds. Each costs
// its windows of a run: more of them is a regression, fewer a reason to be glad and to change the
// table.
struct Expected {
  const char* chip;
  std::size_t groups, warps, cache;
  const char* dram_read;  // empty: the chip has no memory of its own, or CUPTI does not count it
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.chip; }

constexpr const char *kUsual = "dram__sectors_read.sum", *kOp = "dram__sectors_op_read.sum",
                     *kNone = "";
const Expected kChips[] = {
    {"GV100", 1, 0, 3, kUsual},  {"TU102", 1, 1, 1, kUsual}, {"TU104", 1, 1, 1, kUsual},
    {"TU106", 1, 1, 1, kUsual},  {"TU116", 1, 1, 1, kUsual}, {"TU117", 1, 1, 1, kUsual},
    {"GA100", 4, 0, 1, kUsual},  {"GA102", 4, 0, 1, kUsual}, {"GA103", 4, 0, 1, kUsual},
    {"GA104", 4, 0, 1, kUsual},  {"GA106", 4, 0, 1, kUsual}, {"GA107", 4, 0, 1, kUsual},
    {"GA10B", 4, 0, 1, kNone},   {"GH100", 4, 0, 1, kUsual}, {"AD102", 5, 0, 1, kUsual},
    {"AD103", 5, 0, 1, kUsual},  {"AD104", 5, 0, 1, kUsual}, {"AD106", 5, 0, 1, kUsual},
    {"AD107", 5, 0, 1, kUsual},  {"GB100", 7, 1, 1, kUsual}, {"GB102", 7, 1, 1, kUsual},
    {"GB110", 10, 0, 1, kUsual}, {"GB10B", 7, 1, 1, kNone},  {"GB202", 9, 0, 1, kOp},
    {"GB203", 9, 0, 1, kOp},     {"GB205", 9, 0, 1, kOp},    {"GB206", 9, 0, 1, kOp},
    {"GB207", 9, 0, 1, kOp},     {"GB20B", 9, 0, 1, kNone}};

// GV11B is older than compute capability 7.5, and CUPTI's range profiler refuses it.
constexpr const char* kRefused = "GV11B";

bool holds(const PassPlan& pass, const std::string& metric) {
  return std::find(pass.metrics.begin(), pass.metrics.end(), metric) != pass.metrics.end();
}

bool holds(const PassPlan& pass, Quantity quantity) {
  return std::any_of(pass.metrics.begin(), pass.metrics.end(), [&](const std::string& metric) {
    const auto* role = role_of(metric);
    return role != nullptr && role->quantity == quantity;
  });
}

bool planned(const MetricPlan& plan, const std::string& metric) {
  return std::any_of(plan.passes.begin(), plan.passes.end(),
                     [&](const PassPlan& pass) { return holds(pass, metric); });
}

std::size_t groups_of(const MetricPlan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.passes.begin(), plan.passes.end(),
                    [](const PassPlan& pass) { return pass.phase.kind == PhaseKind::hw; }));
}

std::string sass(const std::string& op) {
  return "smsp__sass_thread_inst_executed_op_" + op + "_pred_on.sum";
}

class ChipPlan : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_REAL_CUPTI();
    if (chip_.check().failed())
      GTEST_SKIP() << "the CUPTI at hand does not know " << GetParam().chip;
  }

  // Asked anew, beside the planner: every configuration is one pass and can be verified.
  void expect_single_passes(const MetricPlan& plan) {
    EXPECT_EQ(plan.error, "");
    for (const PassPlan& pass : plan.passes) {
      SCOPED_TRACE(to_string(pass.phase));
      ChipMetrics fresh(real_cupti(), plan.chip);
      std::vector<std::uint8_t> image;
      EXPECT_EQ(fresh.configure(pass.metrics, image), 1u);
      EXPECT_EQ(image.size(), pass.config_image.size());
      EXPECT_FALSE(image.empty());
      const std::set<std::string> once(pass.metrics.begin(), pass.metrics.end());
      EXPECT_EQ(once.size(), pass.metrics.size());
      if (pass.phase.kind != PhaseKind::hw) continue;
      EXPECT_TRUE(holds(pass, Quantity::ctas));
      EXPECT_TRUE(holds(pass, Quantity::duration_ns));
    }
  }

  void expect_roofline(const MetricPlan& plan);
  void expect_escapes(const MetricPlan& plan);
  void expect_set(const MetricSet& set, std::size_t roofline_passes);

  ChipMetrics chip_{real_cupti(), GetParam().chip};
};

// fadd, fmul, ffma, DRAM sectors read and written, in as many windows as expected.
void ChipPlan::expect_roofline(const MetricPlan& plan) {
  expect_single_passes(plan);
  EXPECT_EQ(groups_of(plan), GetParam().groups);
  ASSERT_EQ(plan.passes.size(), GetParam().groups + 1);
  EXPECT_TRUE(plan.left_out.empty() && plan.notes.empty() && plan.raw.empty());
  for (const char* op : {"fadd", "fmul", "ffma"})
    EXPECT_TRUE(holds(plan.passes.back(), sass(op))) << op;
  const std::string read = GetParam().dram_read;
  const std::string write = read.empty() ? "" : read.substr(0, read.rfind("read")) + "write.sum";
  for (const PassPlan& pass : plan.passes) {
    if (pass.phase.kind != PhaseKind::hw) continue;
    EXPECT_EQ(holds(pass, Quantity::bytes_dram_read), !read.empty());
    EXPECT_EQ(holds(pass, Quantity::bytes_dram_write), !read.empty());
    if (read.empty()) continue;
    EXPECT_TRUE(holds(pass, read)) << to_string(pass.phase);
    EXPECT_TRUE(holds(pass, write)) << to_string(pass.phase);
  }
  const auto said = std::count(plan.unavailable.begin(), plan.unavailable.end(), "DRAM bytes read");
  EXPECT_EQ(said, read.empty() ? 1 : 0);
}

// Where bulk copies exist they must be looked for, or L1 bytes pass for more than they are.
void ChipPlan::expect_escapes(const MetricPlan& plan) {
  ASSERT_FALSE(plan.passes.empty());
  const PassPlan& flops = plan.passes.back();
  EXPECT_TRUE(holds(flops, "smsp__sass_inst_executed_op_shared.sum"));
  for (const char* op : {"ldgsts", "dshared", "tma", "utccp", "utcmma"}) {
    const std::string metric = "smsp__sass_inst_executed_op_" + std::string(op) + ".sum";
    EXPECT_EQ(holds(flops, metric), chip_.has(metric)) << op;
  }
  const std::string name = GetParam().chip;
  EXPECT_EQ(chip_.has("smsp__sass_inst_executed_op_tma.sum"),
            name == "GH100" || name.rfind("GB", 0) == 0);
}

// Beside the roofline, and alone.
void ChipPlan::expect_set(const MetricSet& set, std::size_t roofline_passes) {
  SCOPED_TRACE(set.name);
  const MetricPlan plan = plan_metrics(chip_, {"roofline", std::string(set.name)});
  expect_single_passes(plan);
  EXPECT_TRUE(plan.left_out.empty());
  const std::size_t more = set.name == "warps"   ? GetParam().warps
                           : set.name == "cache" ? GetParam().cache
                                                 : 0;
  EXPECT_EQ(plan.passes.size() - roofline_passes, more)
      << "passes that --metrics " << set.name << " takes more on " << GetParam().chip
      << ": if that is worth it, kChips of this file has the new number";
  for (const SetQuantity& quantity : set.quantities) {
    const auto& metrics = quantity.metrics;
    const bool exists = std::all_of(metrics.begin(), metrics.end(),
                                    [&](std::string_view metric) { return chip_.has(metric); });
    for (const std::string_view metric : metrics)
      EXPECT_TRUE(!exists || planned(plan, std::string(metric))) << metric;
  }
  // Alone it takes no more passes than beside the roofline.
  const MetricPlan only = plan_metrics(chip_, {std::string(set.name)});
  expect_single_passes(only);
  EXPECT_LE(only.passes.size(), plan.passes.size());
  EXPECT_FALSE(planned(only, sass("fadd")));
  EXPECT_TRUE(only.unavailable.empty());
}

// One test a chip: nearly all of the time goes into questions about single metrics, whose answers
// all of its plans share.
TEST_P(ChipPlan, CollectsTheRooflineAndEverySetInSinglePasses) {
  const MetricPlan plan = plan_metrics(chip_, {});
  expect_roofline(plan);
  expect_escapes(plan);
  for (const MetricSet& set : metric_sets())
    if (set.name != kRooflineSet) expect_set(set, plan.passes.size());
}

INSTANTIATE_TEST_SUITE_P(All, ChipPlan, testing::ValuesIn(kChips),
                         [](const auto& one) { return std::string(one.param.chip); });

// A chip that a newer CUPTI brings is planned like the others, but nobody has looked at its plan.
TEST(ChipPlans, EveryChipOfTheCuptiAtHandIsInTheTable) {
  SKIP_WITHOUT_REAL_CUPTI();
  for (const std::string& chip : supported_chips(real_cupti()))
    EXPECT_TRUE(chip == kRefused ||
                std::any_of(std::begin(kChips), std::end(kChips),
                            [&](const Expected& known) { return chip == known.chip; }))
        << chip << ": look at its plan, and add a row to kChips of this file";
}

// No set promises what no chip has: a metric that a new CUPTI renamed would vanish in silence.
TEST(ChipPlans, EveryMetricOfASetExistsOnSomeChip) {
  SKIP_WITHOUT_REAL_CUPTI();
  ChipMetrics hopper(real_cupti(), "GH100");
  for (const MetricSet& set : metric_sets())
    for (const SetQuantity& quantity : set.quantities)
      for (const auto metric : quantity.metrics) EXPECT_TRUE(hopper.has(metric)) << metric;
}

}  // namespace
}  // namespace gable
