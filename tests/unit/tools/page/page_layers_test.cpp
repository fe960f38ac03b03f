// SPDX-License-Identifier: Apache-2.0
// The tree in the page's data: every column of a layer.
#include <gtest/gtest.h>

#include "tests/unit/tools/page/page_rows.h"

namespace gable::tests {
namespace {

LayerRow whole_layer() {
  LayerRow row;
  row.id = 7;
  row.parent = 3;
  row.path = {"net", "conv"};
  row.dotted = "layer1.conv";
  row.direction = Direction::backward;
  row.device = 1;
  row.depth = 2;
  row.calls = 4;
  row.launches = 5;
  row.time_self_ns = 101;
  row.time_total_ns = 102;
  row.time_busy_ns = 103;
  row.cpu_ns = 104;
  row.span_ns = 105;
  row.sync_ns = 106;
  row.time_source = TimeSource::hw;
  row.flops = {1, 0.5, std::nullopt, {{"bf16", 300}, {"fp8", 0}}, 301.5};
  row.ops = {{"int8", 9}};
  row.bytes = {201, 202, 203, 204, 205};
  row.intensity = {1.5, 1.25, 1.125};
  row.flops_per_s = 1e12;
  row.bytes_per_s = 2e11;
  row.roof = {0.25, Bound::memory, "l2", MemoryLevel::l2, "measured", 11, 12};
  row.saving_ns = 51;
  row.time_share = 0.125;
  row.path_ns = 52;
  row.host_path_ns = 53;
  row.step_saving = StepSaving{54, 55};
  row.step_saving_self = StepSaving{56, 57};
  row.coverage = {0.9, 0.8, 0.7};
  row.flops_over_forward = 2.5;
  row.tokens =
      Tokens{.forwards = 2, .per_forward = 64, .per_sequence = 4, .wall_ns = 1000, .host_ns = 2000};
  return row;
}

Report report_of(const std::vector<LayerRow>& layers) {
  Report report;
  report.layers = layers;
  return report;
}

TEST(PageLayers, EveryNumberHasItsColumn) {
  const auto rows = layer_rows(report_of({whole_layer()}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], Json::parse(R"({
    "id": 7, "parent": 3, "$name": "conv", "$dotted": "layer1.conv", "$direction": "backward",
    "device": 1, "depth": 2, "calls": 4, "self": 101, "busy": 103, "host": 104, "span": 105,
    "wait": 106, "share": 0.125, "hostPath": 53, "overForward": 2.5, "tokenNs": 250,
    "launches": 5, "time": 102, "$timeSource": "hw", "flops": 301.5,
    "%types": {"fp64": 1, "fp32": 0.5, "bf16 tensor": 300, "int8 operations": 9},
    "dram": 201, "l2": 204, "l1": 205, "fraction": 0.25, "$bound": "memory", "$ceiling": "l2",
    "$level": "l2", "$source": "measured", "saving": 51, "onPath": 52, "savingLow": 54,
    "savingHigh": 55, "coverTime": 0.9, "coverFlops": 0.8, "coverBytes": 0.7,
    "occupancy": null, "warp_efficiency": null, "warp_efficiency_predicated": null,
    "branch_uniformity": null, "l1_hit_rate": null, "l2_hit_rate": null, "sectors_per_load": null,
    "sectors_per_store": null, "l2_sectors_per_request": null, "compute_throughput": null,
    "memory_throughput": null, "dram_throughput": null, "%mix": {}, "%memory_mix": {},
    "intensity": 1.5, "intensityL2": 1.25, "intensityL1": 1.125, "rate": 1000000000000,
    "bandwidth": 200000000000, "$modules": "", "$inputs": "", "$outputs": "", "parameters": null,
    "modelFlops": null, "modelBytes": null, "modelFlopsCover": null, "modelBytesCover": null,
    "flopsRatio": null, "bytesRatio": null, "allocated": null})"))
      << rows[0].dump(1);
}

TEST(PageLayers, WhatIsUnknownIsNull) {
  const auto rows = layer_rows(report_of({whole_layer(), LayerRow()}));
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [column, value] : rows[1].items()) {
    if (column == "id" || column == "device" || column == "depth")
      EXPECT_EQ(value, 0) << column;
    else if (column == "$direction")
      EXPECT_EQ(value, "none");
    else if (column == "$bound")
      EXPECT_EQ(value, "unknown");
    else if (column.front() == '$')
      EXPECT_EQ(value, "") << column;
    else if (column.front() == '%')
      EXPECT_TRUE(value.empty()) << column;
    else
      EXPECT_TRUE(value.is_null()) << column;
  }
  EXPECT_EQ(rows[1].size(), rows[0].size());
}

TEST(PageLayers, WhatAllRowsShareStandsOnce) {
  LayerRow first, second;
  first.id = 1;
  second.id = 2;
  first.time_total_ns = second.time_total_ns = 5;
  const Json table = page_json(report_of({first, second}))["reports"][0]["layers"];
  EXPECT_EQ(table["columns"], Json({"id"}));
  EXPECT_EQ(table["rows"], Json::parse("[[1], [2]]"));
  EXPECT_EQ(table["same"]["time"], 5);
  EXPECT_FALSE(table["same"].contains("id"));
  EXPECT_EQ(page_json(Report())["reports"][0]["layers"],
            Json::parse(R"({"columns": [], "rows": [], "same": {}})"));
}

TEST(PageLayers, MetricsOfTheSets) {
  LayerRow row;
  SetMetrics& metrics = row.metrics.emplace();
  metrics.occupancy = 0.1;
  metrics.warp_efficiency = 0.2;
  metrics.dram_throughput = 0.3;
  metrics.mix = {{"fp32", 0.75}, {"integer", 0.25}, {"bit", 0}};
  metrics.memory_mix = {{"global", 0.5}, {"local", std::nullopt}};
  const auto rows = layer_rows(report_of({row}));
  EXPECT_EQ(rows[0]["occupancy"], 0.1);
  EXPECT_EQ(rows[0]["warp_efficiency"], 0.2);
  EXPECT_EQ(rows[0]["dram_throughput"], 0.3);
  EXPECT_EQ(rows[0]["%mix"], Json::parse(R"({"fp32": 0.75, "integer": 0.25})"));
  EXPECT_EQ(rows[0]["%memory_mix"], Json::parse(R"({"global": 0.5})"));
}

TEST(PageLayers, WhatTheFrameworkKnows) {
  LayerRow row;
  LayerModel& model = row.model.emplace();
  model.inputs = {{"float32", {2, 3, 32}}, {"int64", {5}}};
  model.outputs = std::vector<TensorShape>{TensorShape{"bfloat16", {}}};
  model.parameters = 1;
  model.all.flops = 2;
  model.all.bytes = 3;
  model.self.flops = 20;
  model.self.bytes = 30;
  model.flops_coverage = 0.4;
  model.bytes_coverage = 0.5;
  model.flops_ratio = 6;
  model.bytes_ratio = 7;
  model.allocated_bytes = 8;
  const auto rows = layer_rows(report_of({row}));
  EXPECT_EQ(rows[0]["$inputs"], "float32 2x3x32, int64 5");
  EXPECT_EQ(rows[0]["$outputs"], "bfloat16 ");
  EXPECT_EQ(rows[0]["parameters"], 1);
  EXPECT_EQ(rows[0]["modelFlops"], 2);
  EXPECT_EQ(rows[0]["modelBytes"], 3);
  EXPECT_EQ(rows[0]["modelFlopsCover"], 0.4);
  EXPECT_EQ(rows[0]["modelBytesCover"], 0.5);
  EXPECT_EQ(rows[0]["flopsRatio"], 6);
  EXPECT_EQ(rows[0]["bytesRatio"], 7);
  EXPECT_EQ(rows[0]["allocated"], 8);
}

std::string modules_of(std::size_t count, std::uint64_t left_out) {
  LayerRow row;
  row.compiled.emplace();
  row.compiled->left_out = left_out;
  for (std::size_t i = 0; i < count; ++i)
    row.compiled->modules.push_back({"m" + std::to_string(i), "Linear"});
  return layer_rows(report_of({row}))[0]["$modules"];
}

TEST(PageLayers, ModulesOfACompiledLayer) {
  EXPECT_EQ(modules_of(0, 0), "");
  EXPECT_EQ(modules_of(1, 0), "m0 (Linear)");
  EXPECT_EQ(modules_of(2, 0), "m0 (Linear), m1 (Linear)");
  EXPECT_EQ(modules_of(2, 1), "m0 (Linear), m1 (Linear) and 1 more");
  const std::string twelve = modules_of(12, 0);
  EXPECT_TRUE(twelve.ends_with(", m11 (Linear)")) << twelve;
  EXPECT_EQ(modules_of(13, 0), twelve + " and 1 more");
  EXPECT_EQ(modules_of(14, 5), twelve + " and 7 more");
}

TEST(PageLayers, ModulesOfACompiledLayerByTheirTime) {
  LayerRow row;
  row.compiled.emplace().modules = {{"a", "Linear"}, {"b", "ReLU", 1500}, {"c", "Linear", 2e6}};
  EXPECT_EQ(layer_rows(report_of({row}))[0]["$modules"],
            "c (Linear) 2.00 ms, b (ReLU) 1.50 us, a (Linear)");
  row.compiled->fused = true;
  row.compiled->modules.resize(2);
  EXPECT_EQ(layer_rows(report_of({row}))[0]["$modules"],
            "b (ReLU) 1.50 us, a (Linear); together in each kernel");
}

TEST(PageLayers, NumbersHaveFiveDigits) {
  const auto text = [](double value) {
    LayerRow row;
    row.cpu_ns = value;
    return layer_rows(report_of({row}))[0]["host"].dump();
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(123456), "123460");
  EXPECT_EQ(text(-123456), "-123460");
  EXPECT_EQ(text(0.123456), "0.12346");
  EXPECT_EQ(text(2.5), "2.5");
  EXPECT_EQ(text(9.9999e14), "999990000000000");
  EXPECT_EQ(text(1e15), "1e+15");
  EXPECT_EQ(text(2e20), "2e+20");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null");
}

}  // namespace
}  // namespace gable::tests
