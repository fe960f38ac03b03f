// SPDX-License-Identifier: Apache-2.0
// Kernels in layers below each other: each counts once in every layer above it. The A100's roofs
// are 19.49184 TFLOP/s and 1555.2 GB/s.
#include "analysis/roofline/layer_sum.h"

#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/occupancy.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

// Root 0 > a 1 > b 2. Of each roof, the share of a millisecond that a kernel needs.
class LayerSums : public ::testing::Test {
 protected:
  LayerSums() {
    report.ceilings = theoretical_ceilings(a100());
    add_layer(0, std::nullopt, 0);
    add_layer(1, 0, 1);
    add_layer(2, 1, 2);
  }
  void add_layer(std::int64_t id, std::optional<std::int64_t> parent, int depth) {
    LayerRow& row = report.layers.emplace_back();
    row.id = id;
    row.parent = parent;
    row.depth = depth;
  }
  KernelRow& kernel(std::int64_t layer, double compute_ms, double memory_ms, double time_ms,
                    double launches = 1) {
    KernelRow row;
    row.layer = layer;
    row.name = "k";
    row.launches = launches;
    row.flops.fp32 = row.flops.total = 19.49184e9 * compute_ms;
    row.bytes.dram = 1555.2e6 * memory_ms;
    row.time_mean_ns = time_ms * 1e6;
    row.time_total_ns = time_ms * 1e6 * launches;
    row.time_source = TimeSource::time;
    return report.kernels.emplace_back(row);
  }
  void sum() {
    const Roofline roofline(report.ceilings, std::nullopt);
    for (KernelRow& row : report.kernels) roofline.apply(row);
    sum_layers(report, roofline);
  }

  Report report;
};

TEST_F(LayerSums, AParentSavesWhatItsKernelsSaveAndNoMore) {
  kernel(1, 0.5, 1, 3);     // saves 2 ms
  kernel(2, 1, 0.5, 2, 4);  // 4 x 1 ms
  sum();
  EXPECT_DOUBLE_EQ(*report.layers[2].saving_ns, 4e6);
  EXPECT_DOUBLE_EQ(*report.layers[1].saving_ns, 6e6);
  EXPECT_DOUBLE_EQ(*report.layers[0].saving_ns, 6e6);
  for (const LayerRow& row : report.layers) EXPECT_LE(*row.saving_ns, *row.time_total_ns);
}

TEST_F(LayerSums, WithoutTimesIntensityIsOfTheLaunches) {
  for (const double launches : {95.0, 5.0}) {
    KernelRow& row = kernel(1, 2, 1, 1, launches);
    row.time_mean_ns = row.time_total_ns = std::nullopt;
    row.time_source = TimeSource::unknown;
  }
  report.kernels[1].bytes.dram.reset();
  sum();
  EXPECT_DOUBLE_EQ(*report.layers[1].intensity.dram, 2 * 19.49184e9 / 1555.2e6);
  EXPECT_FALSE(report.layers[1].flops_per_s);
  report.kernels[0].launches = 94;
  sum();
  EXPECT_FALSE(report.layers[1].intensity.dram) << "less than 0.95 of the launches";
  // One time is enough for it to be asked of time.
  report.kernels[0].launches = 95;
  report.kernels[1].time_mean_ns = report.kernels[1].time_total_ns = 1e6;
  report.kernels[1].time_source = TimeSource::time;
  sum();
  EXPECT_FALSE(report.layers[1].intensity.dram);
}

TEST_F(LayerSums, EveryLayerHasItsKernelsOnceAndItsOwnApart) {
  kernel(1, 0.5, 1, 3);
  kernel(2, 1, 0.5, 2, 4);
  sum();
  EXPECT_DOUBLE_EQ(*report.layers[2].time_total_ns, 8e6);
  EXPECT_DOUBLE_EQ(*report.layers[2].time_self_ns, 8e6);
  EXPECT_DOUBLE_EQ(*report.layers[1].time_total_ns, 11e6);
  EXPECT_DOUBLE_EQ(*report.layers[1].time_self_ns, 3e6);
  EXPECT_DOUBLE_EQ(*report.layers[0].time_total_ns, 11e6);
  EXPECT_DOUBLE_EQ(*report.layers[0].time_self_ns, 0);
  EXPECT_DOUBLE_EQ(*report.layers[0].launches, 5);
  EXPECT_DOUBLE_EQ(*report.layers[0].flops.total, 19.49184e9 * 4.5);
  EXPECT_DOUBLE_EQ(*report.layers[0].bytes.dram, 1555.2e6 * 3);
  EXPECT_DOUBLE_EQ(*report.layers[0].roof.compute_ns, 4.5e6);
  EXPECT_DOUBLE_EQ(*report.layers[0].roof.memory_ns, 3e6);
  EXPECT_DOUBLE_EQ(*report.layers[0].roof.fraction, 5.0 / 11);  // of each kernel the longer one
  EXPECT_DOUBLE_EQ(*report.layers[1].time_share, 1);
  EXPECT_DOUBLE_EQ(*report.layers[2].time_share, 8.0 / 11);
}

TEST_F(LayerSums, AKernelFasterThanItsRoofSavesNothingFromOthers) {
  kernel(1, 2, 1, 1);
  kernel(2, 1, 0.5, 2);
  sum();
  EXPECT_DOUBLE_EQ(*report.layers[1].saving_ns, 1e6);
}

TEST_F(LayerSums, WhereAKernelsWorkIsUnknownRatiosAreUnlessItIsShort) {
  kernel(2, 0.5, 1, 2, 10);
  KernelRow& unknown = kernel(1, 0, 0, 2);
  unknown.flops = {};
  sum();
  EXPECT_NEAR(*report.layers[2].coverage.flops, 1, 1e-12);
  EXPECT_NEAR(*report.layers[1].coverage.flops, 20.0 / 22, 1e-12);
  EXPECT_NEAR(*report.layers[1].coverage.bytes, 1, 1e-12);
  EXPECT_TRUE(report.layers[2].flops_per_s);
  EXPECT_FALSE(report.layers[1].flops_per_s);  // 91 % are too few
  EXPECT_TRUE(report.layers[1].bytes_per_s);
  EXPECT_FALSE(report.layers[1].roof.fraction);
  EXPECT_EQ(report.layers[1].roof.bound, Bound::unknown);
}

TEST_F(LayerSums, ALayerIsSmallWhereMostOfItsTimeIsOfSmallGrids) {
  kernel(1, 0.1, 0.1, 1).flags = {std::string(kSmallGrid)};
  kernel(1, 0.1, 0.1, 0.9);
  sum();
  EXPECT_EQ(report.layers[1].roof.bound, Bound::small);
  kernel(1, 0.01, 0.01, 0.2);
  sum();
  EXPECT_EQ(report.layers[1].roof.bound, Bound::latency);
}

TEST_F(LayerSums, ALayerThatOnlyCopiedKeepsItsZero) {
  report.layers[2].time_total_ns = 0.0;
  kernel(1, 0.5, 1, 3);
  sum();
  EXPECT_EQ(report.layers[2].time_total_ns, 0.0);
  EXPECT_EQ(report.layers[2].launches, 0.0);
  add_layer(3, 1, 2);
  sum();
  EXPECT_FALSE(report.layers[3].time_total_ns);
}

TEST_F(LayerSums, ParentsOfAFileThatGoInACircleEnd) {
  report.layers[1].parent = 2;
  kernel(2, 0.5, 1, 3);
  sum();
  EXPECT_GE(*report.layers[2].time_total_ns, 3e6);
}

TEST_F(LayerSums, MetricsAreOfNearlyAllOfTheTime) {
  const auto sectors = [this](double known_ms, double unknown_ms) {
    report.kernels.clear();
    kernel(1, 0.5, 1, known_ms).metrics.emplace().sectors_per_load = 8;
    kernel(2, 0.5, 1, unknown_ms);
    sum();
    const auto& metrics = report.layers[1].metrics;
    return metrics ? metrics->sectors_per_load : std::nullopt;
  };
  EXPECT_EQ(sectors(95, 5), 8);
  EXPECT_EQ(sectors(94, 6), std::nullopt);
  EXPECT_FALSE(report.layers[2].metrics);
  // The time of most launches is not known.
  KernelRow& untimed = kernel(2, 0.5, 1, 1, 10);
  untimed.time_mean_ns = untimed.time_total_ns = std::nullopt;
  report.kernels.erase(report.kernels.begin() + 1);
  sum();
  EXPECT_FALSE(report.layers[1].metrics);
}

}  // namespace
}  // namespace gable::tests
