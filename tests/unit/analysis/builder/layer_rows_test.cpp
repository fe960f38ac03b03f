// SPDX-License-Identifier: Apache-2.0
// Rows of layers: what they say of kernels is the sum of their own and of those below, once.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class LayerRowsOf : public ProfileTest {
 protected:
  LayerRowsOf() {
    profile.add_device(a100());
    profile.set_metrics(kHw1, kHwMetrics);
    profile.set_metrics(kFlops, kFlopsMetrics);
  }
  struct Ran {
    LaunchKey key;
    double sectors, adds;
    std::uint64_t ns;
  };
  void all_windows(const std::vector<Ran>& all) {
    for (int step = 0; step < 3; ++step) profile.count_step(7);
    begin(1, kHw1);
    for (const Ran& ran : all) sample(kHw1, ran.key, {ran.sectors, 0, static_cast<double>(ran.ns)});
    end(kHw1, true, 1000, 2000);
    begin(2, kFlops);
    for (const Ran& ran : all) sample(kFlops, ran.key, {ran.adds, 0, 0});
    end(kFlops, true, 3000, 4000);
    begin(3, kTime);
    std::uint64_t now = 5000;
    for (const Ran& ran : all) {
      timed(ran.key, now, now + ran.ns);
      now += ran.ns + 100;
    }
    end(kTime, true, 5000, now);
  }
};

TEST_F(LayerRowsOf, AParentSavesWhatItsKernelsSaveAndNeverMoreThanItsTime) {
  // 1555.2 byte/ns: 48,600 sectors take a microsecond.
  all_windows({{key(layer({"net"}), "own"), 48600, 10, 3000},
               {key(layer({"net", "a"}), "ka"), 48600, 10, 2000},
               {key(layer({"net", "a", "b"}), "kb"), 48600, 10, 1500}});
  const Report made = report();
  EXPECT_NEAR(*kernel_named(made, "own").saving_ns, 2000, 1e-6);
  EXPECT_NEAR(*layer_at(made, {"net", "a", "b"}).saving_ns, 500, 1e-6);
  EXPECT_NEAR(*layer_at(made, {"net", "a"}).saving_ns, 1500, 1e-6);
  EXPECT_NEAR(*layer_at(made, {"net"}).saving_ns, 3500, 1e-6);
  EXPECT_NEAR(*layer_at(made, {}).saving_ns, 3500, 1e-6);
  for (const LayerRow& row : made.layers) EXPECT_LE(*row.saving_ns, *row.time_total_ns);
}

TEST_F(LayerRowsOf, AModuleHasItsKernelsAndEqualPartsOfThoseThatWereMadeOfSeveral) {
  const LayerId region = layer({"net"}), fused = layer({"net", "a + b"}), a = layer({"net", "a"});
  layers.set_dotted(a, "a");
  layers.set_compiled(
      region, {.modules = {{"a", "Linear"}, {"b", "ReLU"}, {"c", "Dropout"}}, .left_out = 1});
  layers.set_compiled(
      fused,
      {.modules = {{"a", "Linear"}, {"b", "ReLU"}, {"z", "Z"}}, .left_out = 1, .fused = true});
  all_windows({{key(region, "own"), 1, 1, 1000},
               {key(a, "ka"), 1, 1, 2000},
               {key(fused, "kab"), 1, 1, 4000}});
  const Report made = report();
  const auto& modules = layer_at(made, {"net"}).compiled->modules;
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].time_ns, 3000);
  EXPECT_EQ(modules[1].time_ns, 1000);
  EXPECT_FALSE(modules[2].time_ns) << "no kernel is known to be its";
  EXPECT_EQ(layer_at(made, {"net", "a + b"}).compiled->modules[2].time_ns, 1000);
}

}  // namespace
}  // namespace gable::tests
