// SPDX-License-Identifier: Apache-2.0
// The chart in the page's data: every column of a layer's own work, and of a kernel.
#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/made_report.h"
#include "tests/unit/tools/page/page_rows.h"
#include "tests/unit/tools/whole_kernel.h"
#include "tests/unit/tools/work_by_formula.h"

namespace gable::tests {
namespace {

// Of the kernel, and of the layer that has no other.
constexpr const char* kShared = R"({
    "layer": 1, "$direction": "forward", "device": 0, "$precision": "fp32", "analytic": 0,
    "again": 0, "computeTime": 20, "memoryTime": 16, "overRoof": 2, "launches": 2, "time": 20,
    "$timeSource": "time", "flops": 10000, "%types": {"fp32": 10000}, "dram": 800, "l2": 1600,
    "l1": 3200, "fraction": 0.5, "$bound": "compute", "$ceiling": "fp32", "$level": "",
    "$source": "theoretical", "saving": 10, "onPath": 7, "coverTime": 1, "coverFlops": 1,
    "coverBytes": 1, "occupancy": 0.5, "warp_efficiency": null, "warp_efficiency_predicated": null,
    "branch_uniformity": null, "l1_hit_rate": null, "l2_hit_rate": null, "sectors_per_load": null,
    "sectors_per_store": null, "l2_sectors_per_request": null, "compute_throughput": null,
    "memory_throughput": null, "dram_throughput": null, "%mix": {}, "%memory_mix": {}})";

TEST(PageDots, EveryNumberOfAKernel) {
  const auto rows = dot_rows(one_kernel().done(), "kernels");
  ASSERT_EQ(rows.size(), 1u);
  Json expected = Json::parse(kShared);
  expected.update(Json::parse(R"({
    "$name": "gemm", "savingLow": 3, "savingHigh": 4, "$flags": "hfma_moves launches_differ",
    "$shape": "8x4x2 blocks of 128x3x5", "$place": "kernels.py:12", "registers": 41, "shared": 42, "perSm": 43, "waves": 0.5,
    "$exchange": "", "median": 9, "deviation": 1.5, "samplesHw": 31, "samplesFlops": 32,
    "samplesTime": 33})"));
  EXPECT_EQ(rows[0], expected) << rows[0].dump(1);
}

TEST(PageDots, EveryNumberOfALayer) {
  const auto rows = dot_rows(one_kernel().done(), "layers");
  ASSERT_EQ(rows.size(), 1u);
  Json expected = Json::parse(kShared);
  expected.update(Json::parse(R"({
    "$name": "net", "savingLow": 1, "savingHigh": 2, "intensity": 12.5, "intensityL2": 6.25,
    "intensityL1": 3.125, "rate": 500000000000, "bandwidth": 40000000000})"));
  EXPECT_EQ(rows[0], expected) << rows[0].dump(1);
}

TEST(PageDots, WhatIsUnknownIsNull) {
  MadeReport made;
  KernelRow& kernel = made.add_kernel(0, "k", 10, 0, 0);
  kernel.flops = {};
  kernel.bytes = {};
  Report report = made.done();
  report.kernels[0].layer = 99;  // there is no such layer
  for (const char* kind : {"kernels", "layers"}) {
    const auto rows = dot_rows(report, kind);
    ASSERT_EQ(rows.size(), 1u);
    for (const char* column : {"layer", "computeTime", "memoryTime", "overRoof", "flops", "dram",
                               "fraction", "saving", "onPath", "savingLow", "savingHigh"})
      EXPECT_TRUE(rows[0].at(column).is_null()) << kind << " " << column;
  }
}

TEST(PageDots, AGraphCountsAgain) {
  MadeReport made;
  made.add_kernel(0, "k", 10, 0, 0);
  made.add_kernel(0, "(graph of 1 kernels)", 10, 0, 0).graph = 1;
  const Report report = made.done();
  for (const auto& row : dot_rows(report, "kernels"))
    EXPECT_EQ(row["again"], row["$name"] == "k" ? 0 : 1);
}

TEST(PageDots, WorkByFormulaSaysSo) {
  EXPECT_EQ(dot_rows(work_by_formula(), "layers")[0]["analytic"], 1);
}

std::string exchange_of(const std::optional<CollectiveRow>& collective) {
  MadeReport made;
  made.add_kernel(0, "ncclDevKernel", 10, 0, 0).collective = collective;
  return dot_rows(made.done(), "kernels")[0]["$exchange"];
}

TEST(PageDots, WhatACollectiveExchanges) {
  CollectiveRow row;
  EXPECT_EQ(exchange_of(std::nullopt), "");
  const std::string unknown = exchange_of(row);
  EXPECT_FALSE(unknown.empty());
  EXPECT_FALSE(has(unknown, "all_reduce"));
  row.kind = Collective::all_reduce;
  EXPECT_EQ(exchange_of(row), "all_reduce");

  CollectiveRow one = row;
  one.bytes = 4.19e6;
  EXPECT_TRUE(has(exchange_of(one), "4.19 MB"));
  one = row;
  one.ranks = 8;
  EXPECT_TRUE(has(exchange_of(one), " 8 "));
  one = row;
  one.one_node = true;
  EXPECT_TRUE(has(exchange_of(one), "machine"));
  one = row;
  one.bus_bytes_per_s = 75e9;
  EXPECT_TRUE(has(exchange_of(one), ", 75.0 GB/s"));
  one = row;
  one.roof = {0.25, "nvlink", "theoretical"};
  EXPECT_TRUE(has(exchange_of(one), ", 25.0 % of nvlink"));
  one = row;
  one.wait_ns = 1000;
  EXPECT_EQ(exchange_of(one), "all_reduce");  // the transfer is unknown
  one.transfer_ns = 3000;
  EXPECT_TRUE(has(exchange_of(one), ", 1.00 us "));
  EXPECT_TRUE(has(exchange_of(one), " 3.00 us "));
  one.wait_ns.reset();
  EXPECT_EQ(exchange_of(one), "all_reduce");
}

}  // namespace
}  // namespace gable::tests
