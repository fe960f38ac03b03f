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

}  // namespace
}  // namespace gable::tests
