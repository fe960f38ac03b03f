// SPDX-License-Identifier: Apache-2.0
// How a chip's plan is printed, whichever CUPTI made it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT
#include "tools/doctor/doctor_chip.h"

namespace gable::tests {
namespace {

std::string wrapped(const std::string& first, std::size_t indent, const std::string& text) {
  testing::internal::CaptureStdout();
  print_wrapped(first, indent, text);
  return testing::internal::GetCapturedStdout();
}

TEST(DoctorText, IsBrokenAfterAHundredColumns) {
  const std::string fifty(50, 'a'), rest(45, 'b'), path(120, 'p');
  EXPECT_EQ(wrapped("x", 4, "one two"), "x   one two\n");
  EXPECT_EQ(wrapped("x", 4, ""), "x\n");
  EXPECT_EQ(wrapped("", 0, "one"), "one\n");
  EXPECT_EQ(wrapped("longer", 4, "one"), "longerone\n");
  EXPECT_EQ(wrapped("x", 4, fifty + " " + rest), "x   " + fifty + " " + rest + "\n");
  EXPECT_EQ(wrapped("x", 4, fifty + "  " + rest + "b one two"),
            "x   " + fifty + "\n    " + rest + "b one two\n");
  EXPECT_EQ(wrapped("x", 4, path + " one"), "x   " + path + "\n    one\n") << "a path stays whole";
  EXPECT_EQ(wrapped("x", 4, "one " + path), "x   one\n    " + path + "\n");
}

TEST(DoctorText, ListsHaveCommas) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({"a", "b", "c"}), "a, b, c");
}

TEST(DoctorChips, HaveNamesInTheShop) {
  EXPECT_EQ(products_of({}), "");
  EXPECT_EQ(products_of({"GA101"}), "");
  EXPECT_EQ(products_of({"GH100", "GA101", "TU104"}), "T4, H100, H200, GH200");
}

TEST(DoctorChips, AreTooOldBeforeTuring) {
  EXPECT_TRUE(is_too_old("GV100"));
  EXPECT_TRUE(is_too_old("GV11B"));
  for (const char* chip : {"TU102", "GH100", "XGV", ""}) EXPECT_FALSE(is_too_old(chip)) << chip;
}

TEST(DoctorMetric, IsCountedForSomething) {
  const std::pair<const char*, const char*> kMetrics[] = {
      {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "FP64 operations"},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "FP32 operations"},
      {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "FP16 operations"},
      {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "bf16 tensor work"},
      {"sm__ops_path_tensor_src_int8.sum", "int8 tensor work"},
      {"dram__sectors_read.sum", "DRAM bytes read"},
      {"dram__sectors_write.sum", "DRAM bytes written"},
      {"dram__bytes.sum", "DRAM bytes"},
      {"lts__t_sectors_srcunit_tex.sum", "L2 bytes"},
      {"l1tex__t_bytes.sum", "L1 bytes"},
      {"smsp__sass_inst_executed_op_shared.sum", "what L1 bytes miss"},
      {"gpu__time_duration.sum", "duration"},
      {"sm__ctas_launched.sum", "thread blocks"},
      {"sm__cycles_elapsed.avg", "SM cycles"},
      {"sm__inst_executed_pipe_tensor.sum", "tensor instructions"},
      {"sm__inst_executed_pipe_tensor_op_imma.sum", "integer tensor instructions"},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy"},
      {"smsp__sass_inst_executed.sum", "warp instructions"},
      {"lts__t_bytes.sum.peak_sustained", "roof of L2"},
      {"lts__cycles_elapsed.avg.per_second", "roof of L2"},
      {"l1tex__t_bytes.sum.peak_sustained", "roof of L1"},
      {"dram__bytes.sum.peak_sustained", "roof of DRAM"},
      {"gpu__no_such.sum", "asked for"},
  };
  for (const auto& [metric, counts] : kMetrics) EXPECT_EQ(counted_by(metric), counts) << metric;
}

std::string printed(const MetricPlan& plan) {
  testing::internal::CaptureStdout();
  print_plan(plan);
  return testing::internal::GetCapturedStdout();
}

MetricPlan small_plan() {
  MetricPlan plan;
  plan.chip = "GH100";
  plan.passes.resize(2);
  plan.passes[0].phase = {PhaseKind::hw, 0};
  plan.passes[0].metrics = {"dram__sectors_write.sum", "sm__ctas_launched.sum"};
  plan.passes[1].phase = {PhaseKind::flops, 0};
  plan.passes[1].metrics = {"gpu__no_such.sum"};
  return plan;
}

constexpr const char* kTable =
    "phase  metric                   counts\n"
    "hw:1   dram__sectors_write.sum  DRAM bytes written\n"
    "       sm__ctas_launched.sum    thread blocks\n"
    "flops  gpu__no_such.sum         asked for\n"
    "\n";

TEST(DoctorPlan, IsATableAndWhereTimesComeFrom) {
  EXPECT_EQ(printed(small_plan()),
            kTable + std::string("Times come from the phase time, which takes no counters.\n"));
}

TEST(DoctorPlan, SaysWhatIsNotCounted) {
  MetricPlan plan = small_plan();
  plan.chip = "GV100";
  plan.unavailable = {"L1 bytes", "L2 bytes"};
  plan.notes = {"A note."};
  plan.left_out = {{"x", true, "x is left out."}};
  const std::string out = printed(plan);
  const std::string begin = kTable + std::string(
                                         "Not counted on this chip: L1 bytes, L2 bytes.\n"
                                         "A note.\nx is left out.\n");
  EXPECT_EQ(out.substr(0, begin.size()), begin);
  EXPECT_NE(out.find("7.5 or newer."), std::string::npos) << out;
  EXPECT_EQ(out.find("Times come from"), std::string::npos) << out;
}

// Lines that begin at the left border and are broken do so there again.
TEST(DoctorPlan, SentencesAreNotIndented) {
  MetricPlan plan = small_plan();
  const std::string words = std::string(99, 'a') + " bb";
  const std::string broken = std::string(99, 'a') + "\nbb\n";
  plan.notes = {words};
  plan.left_out = {{"x", true, words}};
  EXPECT_EQ(printed(plan).substr(std::string(kTable).size(), 2 * broken.size()), broken + broken);
  plan.unavailable = {std::string(99, 'a')};
  EXPECT_NE(printed(plan).find("on this chip:\n" + std::string(99, 'a') + ".\n"),
            std::string::npos);
  plan.chip = "GV100";
  EXPECT_EQ(printed(plan).find("\n "), printed(small_plan()).find("\n "))
      << "only metrics are indented";
}

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
