// SPDX-License-Identifier: Apache-2.0
// Ranges of an imported trace as layers: which was open at a call, and what the GPU did for it.
#include "tools/import/records/range_nest.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

class RangeNestOf : public testing::Test {
 protected:
  void add(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t thread = 1) {
    RangeNest::Range range;
    range.start_ns = start;
    range.end_ns = end;
    range.thread = thread;
    range.name = nest.name(name);
    nest.add(range);
  }
  RangeNest::Range& added() { return nest.ranges().back(); }
  std::string open_at(std::uint64_t when, std::uint32_t thread = 1) {
    const auto range = nest.at(thread, when);
    return range == RangeNest::kNone ? "none" : nest.text(nest.ranges()[range].name);
  }
  std::string path_at(std::uint64_t when, std::uint32_t thread = 1) {
    std::string path;
    for (LayerId id = nest.layer(nest.at(thread, when)); id != 0; id = layers.node(id).parent)
      path = "/" + std::string(layers.node(id).name) + path;
    return path;
  }
  LayerTree layers;
  RangeNest nest{layers};
};

TEST_F(RangeNestOf, TheInnermostOpenOne) {
  add("inner", 20, 30);
  add("outer", 10, 50);
  add("same_start", 10, 15);
  add("next", 30, 40);
  add("elsewhere", 0, 100, 2);
  nest.nest();
  const std::pair<std::uint64_t, const char*> seen[] = {
      {9, "none"},   {10, "same_start"}, {14, "same_start"}, {15, "outer"}, {20, "inner"},
      {29, "inner"}, {30, "next"},       {40, "outer"},      {49, "outer"}, {50, "none"}};
  for (const auto& [when, name] : seen) EXPECT_EQ(open_at(when), name) << when;
  EXPECT_EQ(open_at(10, 2), "elsewhere");
  EXPECT_EQ(open_at(10, 3), "none");
  EXPECT_EQ(path_at(25), "/outer/inner");
  EXPECT_EQ(path_at(35), "/outer/next");
  EXPECT_EQ(path_at(5, 2), "/elsewhere");
  EXPECT_EQ(path_at(5), "");
}

TEST_F(RangeNestOf, OfGroupedRangesTheOutermostIsALayer) {
  add("module", 0, 100);
  add("op", 10, 50);
  added().grouped = true;
  add("op_within", 20, 40);
  added().grouped = true;
  add("only_found", 25, 30);
  added().is_layer = false;
  nest.nest();
  EXPECT_EQ(path_at(15), "/module/op");
  EXPECT_EQ(path_at(22), "/module/op");
  EXPECT_EQ(open_at(22), "op_within");
  EXPECT_EQ(open_at(27), "only_found");
  EXPECT_EQ(path_at(27), "/module/op");
}

TEST_F(RangeNestOf, WithinANeutralRangeNothingHasADirection) {
  add("optimizer", 0, 50);
  added().neutral = true;
  add("step", 10, 20);
  added().direction = Direction::forward;
  add("forward", 60, 90);
  added().direction = Direction::forward;
  nest.nest();
  EXPECT_EQ(layers.node(nest.layer(nest.at(1, 15))).direction, Direction::none);
  EXPECT_EQ(layers.node(nest.layer(nest.at(1, 65))).direction, Direction::forward);
}

TEST_F(RangeNestOf, WorkCountsForAllRangesAroundIt) {
  add("outer", 0, 100);
  add("inner", 10, 50);
  add("inner", 60, 90);
  nest.nest();
  nest.project(nest.at(1, 20), 0, 200, 210);
  nest.project(nest.at(1, 30), 0, 205, 240);
  nest.project(nest.at(1, 70), 0, 300, 310);
  nest.project(nest.at(1, 5), 0, 190, 195);
  nest.project(nest.at(1, 20), 1, 400, 500);
  nest.project(nest.at(1, 200), 0, 1, 2);  // in none
  const LayerId inner = nest.layer(nest.at(1, 20)), outer = nest.layer(nest.at(1, 5));
  EXPECT_EQ(nest.layer(nest.at(1, 70)), inner);
  Imported imported;
  nest.finish(imported);
  ASSERT_EQ(imported.projections.size(), 4u);
  const auto sum = [&](std::int32_t device, LayerId layer) {
    return imported.projections.at({device, layer});
  };
  EXPECT_EQ(sum(0, inner).instances, 2u);
  EXPECT_EQ(sum(0, inner).span_ns, 40u + 10);
  EXPECT_EQ(sum(0, inner).operations, 3u);
  EXPECT_EQ(sum(0, outer).instances, 1u);
  EXPECT_EQ(sum(0, outer).span_ns, 310u - 190);
  EXPECT_EQ(sum(0, outer).operations, 4u);
  EXPECT_EQ(sum(1, inner).span_ns, 100u);
  EXPECT_EQ(sum(1, outer).operations, 1u);
}

TEST_F(RangeNestOf, InputsAreFetchedInRangesOfLoaders) {
  add("enumerate(DataLoader)#_A.__next__", 10, 20);
  add("enumerate(DataLoader)", 30, 40);
  add("enumerate(DataLoader)#_B.__next__", 50, 60, 2);
  nest.nest();
  const auto fetched = [this](std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> starts;
    for (const InputWait& each : nest.inputs(from, to)) starts.push_back(each.start_ns);
    return starts;
  };
  using Starts = std::vector<std::uint64_t>;
  EXPECT_EQ(fetched(0, 100), (Starts{10, 50}));
  EXPECT_EQ(fetched(19, 50), Starts{10});
  EXPECT_EQ(fetched(20, 51), Starts{50});
  EXPECT_EQ(fetched(20, 50), Starts{});
  EXPECT_EQ(nest.inputs(40, 60)[0].end_ns, 60u);
  EXPECT_EQ(nest.inputs(40, 60)[0].thread, 2u);
}

TEST_F(RangeNestOf, WorkOfWhatIsNoLayerCountsAroundIt) {
  add("outer", 0, 100);
  add("found", 10, 50);
  added().is_layer = false;
  nest.nest();
  nest.project(nest.at(1, 20), 0, 200, 210);
  Imported imported;
  nest.finish(imported);
  ASSERT_EQ(imported.projections.size(), 1u);
  EXPECT_EQ(imported.projections.begin()->second.instances, 1u);
  nest.finish(imported);
  EXPECT_EQ(imported.projections.begin()->second.instances, 1u) << "its sums are told once";
}

TEST_F(RangeNestOf, WithinIsToldAtEveryDepth) {
  add("op", 0, 100);
  added().grouped = true;
  add("module", 10, 90);
  add("op_within", 20, 40);
  added().grouped = true;
  nest.nest();
  EXPECT_FALSE(nest.ranges()[0].within);
  EXPECT_TRUE(nest.ranges()[1].within);
  EXPECT_TRUE(nest.ranges()[2].within);
  EXPECT_EQ(path_at(30), "/op/module");
  EXPECT_EQ(path_at(15), "/op/module");
}

}  // namespace
}  // namespace gable
