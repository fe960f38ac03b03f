// SPDX-License-Identifier: Apache-2.0
// Rules of the model; tests/unit/playback/chips holds it against the toolkit's CUPTI.
#include "tools/playback/cupti/chip_model.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gable::playback {
namespace {

TEST(ChipRules, ChipsAreKnownByTheirName) {
  EXPECT_EQ(ChipModel::find("GH10"), nullptr);
  EXPECT_EQ(ChipModel::find(""), nullptr);
  ASSERT_NE(ChipModel::find("GH100"), nullptr);
  for (const char* name : ChipModel::chips()) {
    ASSERT_NE(ChipModel::find(name), nullptr) << name;
    EXPECT_EQ(ChipModel::find(name)->chip, name);
  }
}

TEST(ChipRules, AMetricHasARollUp) {
  const ChipTable& chip = *ChipModel::find("GH100");
  for (const char* metric : {"dram__sectors_read.sum", "dram__sectors_read.avg",
                             "sm__cycles_elapsed.min", "sm__cycles_elapsed.max"}) {
    EXPECT_TRUE(ChipModel::has(chip, metric)) << metric;
    EXPECT_TRUE(ChipModel::fits_all(metric)) << metric;
  }
  for (const char* metric : {"dram__sectors_read", "dram__sectors_read.pct", "no__such.sum", ""}) {
    EXPECT_FALSE(ChipModel::has(chip, metric)) << metric;
    EXPECT_FALSE(ChipModel::fits_all(metric)) << metric;
  }
}

TEST(ChipRules, InstrumentedMetricsMayBeOfSomeChips) {
  struct Case {
    const char* metric;
    bool on_gh100, on_tu102;
  };
  for (const Case& one : {Case{"smsp__sass_inst_executed.sum", true, true},
                          Case{"smsp__sass_inst_executed_op_tma.sum", true, false},
                          Case{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", true, true},
                          Case{"smsp__sass_thread_inst_executed_op_fp8_pred_on.sum", true, false},
                          Case{"smsp__sass_thread_inst_executed_op_ffma.sum", false, false},
                          Case{"smsp__sass_thread_inst_executed_op_no_pred_on.sum", false, false},
                          Case{"ffma_pred_on.sum", false, false}}) {
    EXPECT_EQ(ChipModel::has(*ChipModel::find("GH100"), one.metric), one.on_gh100) << one.metric;
    EXPECT_EQ(ChipModel::has(*ChipModel::find("TU102"), one.metric), one.on_tu102) << one.metric;
    EXPECT_FALSE(ChipModel::fits_all(one.metric));
  }
}

TEST(ChipRules, InstrumentedMetricsTakeAPassOfTheirOwn) {
  const ChipTable& chip = *ChipModel::find("GH100");
  const std::string plain = "dram__sectors_read.sum", sass = "smsp__sass_inst_executed.sum";
  EXPECT_EQ(ChipModel::passes(chip, {}), 0U);
  EXPECT_EQ(ChipModel::passes(chip, {plain}), 1U);
  EXPECT_EQ(ChipModel::passes(chip, {plain, "dram__sectors_write.sum"}), 1U);
  EXPECT_EQ(ChipModel::passes(chip, {sass}), 1U);
  EXPECT_EQ(ChipModel::passes(chip, {sass, sass}), 1U);
  EXPECT_EQ(ChipModel::passes(chip, {sass, plain}), 2U);
  EXPECT_EQ(ChipModel::passes(chip, {plain, "no__such.sum"}), std::nullopt);
}

// Of the tables' own entries, whatever they are.
TEST(ChipRules, PassesOfAMetricAloneAreThoseOfItsTable) {
  for (const char* name : ChipModel::chips()) {
    const ChipTable& chip = *ChipModel::find(name);
    for (std::size_t i = 0; i < chip.count; ++i) {
      std::string metric(chip.metrics[i].name);
      if (metric.find('.') == std::string::npos) metric += ".sum";
      const std::size_t passes = chip.metrics[i].passes > 1 ? chip.metrics[i].passes : 1;
      EXPECT_EQ(ChipModel::passes(chip, {metric}), passes) << name << " " << metric;
      EXPECT_EQ(ChipModel::passes(chip, {metric, metric}).value_or(0),
                passes > 1 ? 2 * passes - 1 : 1)
          << name << " " << metric;
    }
  }
}

}  // namespace
}  // namespace gable::playback
