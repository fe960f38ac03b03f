// SPDX-License-Identifier: Apache-2.0
#include "tools/export/summary.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/unit/tools/whole_kernel.h"

namespace gable::tests {
namespace {

using Facts = nlohmann::json;

Facts summary_of(const Report& report, const RowQuery& query = {}, std::size_t rows = 10) {
  return Facts::parse(export_summary({report}, {"a.json"}, query, rows)).at("reports").at(0);
}

TEST(ExportSummary, AKernelWithAllThatIsKnown) {
  const Facts facts = summary_of(one_kernel().done());
  EXPECT_EQ(facts.at("file"), "a.json");
  EXPECT_EQ(facts.at("numbers_from"), "playback");
  EXPECT_EQ(facts.at("numbers_are_per"), "step");
  EXPECT_EQ(facts.at("complete"), true);
  EXPECT_EQ(facts.at("rank"), nullptr);
  EXPECT_EQ(facts.at("devices"), Facts::parse(R"([{"name": "GPU", "sms": 100}])"));
  EXPECT_EQ(facts.at("rows_of_all"), 1);
  EXPECT_EQ(facts.at("rows").at(0), Facts::parse(R"({
      "kernel": "gemm", "layer": "net", "equal_layers": 1, "direction": "forward", "device": 0, "launches": 2,
      "time_ns": 20, "time_share": 1, "flops": 10000, "dram_bytes": 800, "flops_per_s": 500000000000,
      "dram_bytes_per_s": 40000000000, "flops_per_dram_byte": 12.5, "precision": "fp32",
      "work": "counted", "bound": "compute", "roof": "fp32", "of_roof": 0.5,
      "kernel_time_saving_ns": 10, "step_saving": {"low_ns": 3, "high_ns": 4}})"))
      << "of one layer the table shows the kernels";
  EXPECT_EQ(facts.at("time_share_by_bound"), Facts::parse(R"({"compute": 1})"));
  EXPECT_EQ(facts.at("roofs"), Facts::parse(R"([{"name": "fp32", "device": 0,
      "flops_per_s": 1000000000000, "source": "theoretical"}])"));
}

TEST(ExportSummary, WhatIsUnknownIsNull) {
  MadeReport made;
  made.add_layer({"net"}, Direction::forward);
  made.add_kernel(1, "gemm", 10, 5000, 400, 2);
  Report report = made.done();
  for (KernelRow& kernel : report.kernels) {
    kernel.flops = {};
    kernel.bytes = {};
    kernel.time_mean_ns = kernel.time_total_ns = std::nullopt;
  }
  report.run.total.gpu_time_ns = std::numeric_limits<double>::quiet_NaN();
  report.run.unit = Unit::run;
  const Facts facts = summary_of(report);
  EXPECT_EQ(facts.at("step"), nullptr);
  EXPECT_EQ(facts.at("whole_run").at("gpu_time_ns"), nullptr);
  const Facts& row = facts.at("rows").at(0);
  for (const char* name : {"time_ns", "time_share", "flops", "dram_bytes", "flops_per_s",
                           "dram_bytes_per_s", "flops_per_dram_byte", "precision", "roof",
                           "of_roof", "kernel_time_saving_ns", "step_saving"})
    EXPECT_EQ(row.at(name), nullptr) << name << " is " << row.at(name);
  EXPECT_EQ(row.at("bound"), "unknown");
}

TEST(ExportSummary, AStepAndWhatItWouldBeWithout) {
  Report report = one_kernel().done();
  report.step.wall_mean_ns = 123456789;
  report.step.critical_path = PathTimes{1, 2, 3, 4, 1.5, 5, 6, 7};
  report.step.exposed.emplace().communication_ns = 8;
  report.step.exposed->without.communication = {2, 9};
  report.run.lost.records = 3;
  report.run.notes = {"\xff is no UTF-8"};
  const Facts facts = summary_of(report);
  EXPECT_EQ(facts.at("step").at("time_ns"), 123460000) << "five digits";
  EXPECT_EQ(facts.at("step").at("host_ns"), nullptr);
  EXPECT_EQ(facts.at("step").at("critical_path").at("of_host_input_ns"), 1.5);
  EXPECT_EQ(facts.at("step").at("critical_path").at("unexplained_ns"), 7);
  EXPECT_EQ(facts.at("step").at("not_hidden").at("step_saving_without_communication"),
            Facts::parse(R"({"low_ns": 2, "high_ns": 9})"));
  EXPECT_EQ(facts.at("step").at("not_hidden").at("step_saving_without_input"), nullptr);
  EXPECT_EQ(facts.at("lost"), Facts::parse(R"({"records": 3})"));
}

TEST(ExportSummary, TheRowsThatWereAskedFor) {
  MadeReport made;
  for (int i = 0; i < 3; ++i) {
    const auto layer = made.add_layer({"net" + std::to_string(i)}, Direction::forward);
    made.add_kernel(layer, "gemm" + std::to_string(i), 10.0 * (i + 1), 5000, 400, 1);
  }
  RowQuery query;
  query.sort = SortBy::time;
  const Report report = made.done();
  const Facts layers = summary_of(report, query, 1);
  EXPECT_EQ(layers.at("rows").size(), 1u);
  EXPECT_EQ(layers.at("rows").at(0).at("layer"), "net2");
  EXPECT_EQ(layers.at("rows").at(0).count("kernel"), 0u);
  query.kernels = true;
  const Facts facts = summary_of(report, query, 2);
  EXPECT_EQ(facts.at("rows_are"), "kernels");
  EXPECT_EQ(facts.at("rows_of_all"), 3);
  ASSERT_EQ(facts.at("rows").size(), 2u);
  EXPECT_NE(facts.at("rows").at(0).at("kernel").get<std::string>().find("gemm2"),
            std::string::npos);
}

}  // namespace
}  // namespace gable::tests
