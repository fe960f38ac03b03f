// SPDX-License-Identifier: Apache-2.0
// Ranges that are walked through tell the same as ranges that are all in memory.
#include "tools/import/records/range_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tools/import/records/range_nest.h"

namespace gable {
namespace {

struct Call {
  std::uint32_t thread = 0;
  std::uint64_t when = 0, start = 0, end = 0;
  std::int32_t device = 0;
};

// Nested ranges and some that are not, such as start/end ranges, and open ones.
std::vector<SweptRange> drawn_ranges(std::mt19937& draw, RangeNames& names) {
  std::vector<SweptRange> ranges;
  for (int i = 0; i < 60; ++i) {
    SweptRange range;
    range.start_ns = draw() % 500;
    range.end_ns = draw() % 20 == 0 ? UINT64_MAX : range.start_ns + draw() % 120;
    range.thread = draw() % 3;
    range.name = names.id("range " + std::to_string(draw() % 6));
    const bool known = std::any_of(ranges.begin(), ranges.end(), [&](const SweptRange& other) {
      return std::tie(other.thread, other.start_ns, other.end_ns) ==
             std::tie(range.thread, range.start_ns, range.end_ns);
    });
    if (!known) ranges.push_back(range);  // which of two is around the other is open
  }
  return ranges;
}

TEST(RangeSweepOf, AnyRangesAndCalls) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 draw(seed);
    Imported swept, nested;
    RangeNest nest(nested.layers);
    RangeNames names;
    SweptRanges ranges(256);
    for (const SweptRange& range : drawn_ranges(draw, names)) {
      ranges.add(range);
      RangeNest::Range same;
      same.start_ns = range.start_ns;
      same.end_ns = range.end_ns;
      same.thread = range.thread;
      same.name = nest.name(names.text(range.name));
      nest.add(same);
    }
    nest.nest();
    std::vector<Call> calls(80);
    for (Call& call : calls) {
      call.thread = draw() % 4;
      call.when = draw() % 640;
      call.start = call.when + draw() % 50;
      call.end = call.start + draw() % 50;
      call.device = static_cast<std::int32_t>(draw() % 2);
    }
    std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      return std::tie(a.thread, a.when) < std::tie(b.thread, b.when);
    });
    std::vector<std::pair<std::uint64_t, LayerId>> seen, expected;
    RangeSweep sweep(ranges, names, swept.layers, [&](const SweptRange& range, LayerId layer) {
      seen.emplace_back(range.start_ns, layer);
    });
    for (const Call& call : calls) {
      const std::uint32_t range = nest.at(call.thread, call.when);
      ASSERT_EQ(sweep.at(call.thread, call.when), nest.layer(range)) << "seed " << seed;
      sweep.project(call.device, call.start, call.end);
      nest.project(range, call.device, call.start, call.end);
    }
    sweep.finish(swept);
    nest.finish(nested);
    for (const RangeNest::Range& range : nest.ranges())
      expected.emplace_back(range.start_ns, range.layer);
    EXPECT_EQ(seen, expected) << "seed " << seed;
    ASSERT_EQ(swept.projections.size(), nested.projections.size()) << "seed " << seed;
    for (const auto& [where, sum] : nested.projections) {
      const Projection& own = swept.projections[where];
      EXPECT_EQ(own.instances, sum.instances) << "seed " << seed;
      EXPECT_EQ(own.span_ns, sum.span_ns) << "seed " << seed;
      EXPECT_EQ(own.operations, sum.operations) << "seed " << seed;
    }
  }
}

TEST(RangeSweepOf, WhichRangesAreOuter) {
  RangeNames names;
  SweptRanges ranges;
  const auto add = [&](const char* name, std::uint64_t start, std::uint64_t end,
                       std::uint32_t thread = 1) {
    ranges.add({start, end, thread, names.id(name)});
  };
  add("innermost", 30, 40);
  add("step", 10, 100);
  add("layer", 20, 50);
  add("layer", 60, 70);
  add("innermost", 15, 16, 2);
  const std::map<std::uint32_t, std::uint64_t> expected = {
      {names.id("step"), 1}, {names.id("layer"), 2}, {names.id("innermost"), 1}};
  EXPECT_EQ(outer_ranges(ranges), expected);
}

}  // namespace
}  // namespace gable
