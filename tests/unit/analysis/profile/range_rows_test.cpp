// SPDX-License-Identifier: Apache-2.0
// Where the launches of a layer are counted together the layer has a row for that, and only there.
#include "analysis/profile/range_rows.h"

#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class RangeRows : public ProfileTest {
 protected:
  // With a window in which launches are counted alone, or by layers.
  std::size_t rows_of_ranges(bool by_layers) {
    profile.set_metrics(kHw1, kHwMetrics);
    const LaunchKey launched = key(layer({"net"}), "k");
    const LaunchKey together = range_key(launched.layer, 0, functions.intern(kRangeSymbol));
    begin(++windows_, kHw1);
    launch(launched);
    const double values[] = {1, 2, 3};
    profile.add(kHw1, window, CounterSample{by_layers ? together : launched, values});
    end(kHw1, true, 900, 2000);
    std::size_t count = 0;
    for (const KernelRow& row : report().kernels) count += row.ranges ? 1 : 0;
    return count;
  }

 private:
  WindowId windows_ = 0;
};

TEST_F(RangeRows, AreThereWhereRangesAreCounted) {
  EXPECT_EQ(rows_of_ranges(false), 0u);
  profile.count_anew(true);
  EXPECT_EQ(rows_of_ranges(true), 1u);
  profile.count_anew(true);  // counted anew, but still by layers
  EXPECT_EQ(rows_of_ranges(true), 1u);
  profile.count_anew(false);
  EXPECT_EQ(rows_of_ranges(false), 0u);
}

}  // namespace
}  // namespace gable::tests
