// SPDX-License-Identifier: Apache-2.0
// What the framework said of memory, as the report shows it.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class MemoryRows : public ProfileTest {
 protected:
  const LayerId a = layer({"net", "a"}, Direction::forward),
                b = layer({"net", "a"}, Direction::backward),
                without_kernels = layer({"net", "a", "view"}, Direction::forward);

  Report described(StepMemory memory) {
    ModelDescription model;
    model.sequence_hash = 5;
    model.memory = std::move(memory);
    profile.describe(std::move(model));
    profile.count_step(5);
    begin(1, kTime);
    timed(key(a, "ka"), 100, 200);
    timed(key(b, "kb"), 300, 350);
    end(kTime, true, 0, 1000, {}, 5);
    return report();
  }
  static StepMemory memory(std::vector<MemoryPoint> points, std::size_t peak) {
    StepMemory made;
    made.names = {"", "aten::mm"};
    made.points = std::move(points);
    made.peak = peak;
    return made;
  }
};

TEST_F(MemoryRows, WhatIsHeldForWhat) {
  StepMemory made = memory({{a, 0, 10}, {without_kernels, 1, 90}, {b, 1, 100}, {0, 0, 20}}, 2);
  const std::vector<std::string> module = {"net", "a"};
  made.held = {{HeldAs::parameters, module, 0, 10, 1}, {HeldAs::gradients, {"else"}, 0, 5, 1},
               {HeldAs::made, {}, a, 30, 1},           {HeldAs::made, {}, a, 20, 1},
               {HeldAs::made, {}, b, 15, 1},           {HeldAs::given, {}, a, 4, 1},
               {HeldAs::given, {}, b, 3, 1},           {HeldAs::optimizer_state, {}, 0, 2, 1}};
  const Report made_report = described(made);
  ASSERT_TRUE(made_report.memory);
  const MemoryOfStep& rows = *made_report.memory;
  const auto id = [&](Direction direction) {
    return layer_at(made_report, {"net", "a"}, direction).id;
  };
  EXPECT_EQ(rows.peak.at, 2);
  EXPECT_EQ(rows.peak.layer, id(Direction::backward));
  EXPECT_EQ(rows.peak.name, "aten::mm");
  EXPECT_EQ(rows.timeline.at(1).layer, id(Direction::forward)) << "the layer around it";
  ASSERT_EQ(rows.held.size(), 7u);
  EXPECT_EQ(rows.held[0].bytes, 50) << "two tensors of one layer";
  EXPECT_EQ(rows.held[0].held_for, HeldFor::activations);
  EXPECT_EQ(rows.held[1].held_for, HeldFor::backward);
  EXPECT_EQ(rows.held[1].layer, id(Direction::backward));
  EXPECT_EQ(rows.held[2].held_for, HeldFor::parameters);
  EXPECT_EQ(rows.held[2].layer, id(Direction::forward));
  EXPECT_EQ(rows.held[3].held_for, HeldFor::gradients);
  EXPECT_EQ(rows.held[3].layer, std::nullopt) << "no layer has that name";
  EXPECT_EQ(rows.held[3].path, std::vector<std::string>{"else"});
  EXPECT_EQ(rows.held[4].held_for, HeldFor::inputs);
  EXPECT_EQ(rows.held[5].held_for, HeldFor::activations)
      << "what backward is given from outside of modules";
  EXPECT_TRUE(rows.held[5].path.empty());
  EXPECT_EQ(rows.held[6].held_for, HeldFor::optimizer_state);
  EXPECT_EQ(rows.unexplained(), 100 - 89);
}

TEST_F(MemoryRows, OfALongStepTheHighestPointsAreKept) {
  std::vector<MemoryPoint> points;
  for (std::uint64_t i = 0; i < 5000; ++i) points.push_back({a, 1, i % 7 == 0 ? 1000 + i : i});
  const Report made = described(memory(points, 4998));
  const auto& timeline = made.memory->timeline;
  EXPECT_LE(timeline.size(), 514u);
  EXPECT_EQ(timeline.front().at, 0);
  EXPECT_EQ(timeline.back().at, 4999);
  double highest = 0;
  std::int64_t before = -1;
  for (const auto& point : timeline) {
    EXPECT_GT(point.at, before) << "in order";
    before = point.at;
    highest = std::max(highest, point.bytes);
  }
  EXPECT_EQ(highest, 1000 + 4998);
}

TEST_F(MemoryRows, TheRestOfManyRowsIsSummedUp) {
  StepMemory made = memory({{a, 0, 1'000'000}}, 0);
  for (std::uint64_t i = 0; i < 600; ++i)
    made.held.push_back({HeldAs::parameters, {"net", std::to_string(i)}, 0, 1000 + i, 1});
  const Report built = described(made);
  const auto& held = built.memory->held;
  ASSERT_EQ(held.size(), 513u);
  EXPECT_EQ(held.back().path, std::vector<std::string>{"(others)"});
  EXPECT_EQ(held.back().tensors, 88);
  double sum = 0;
  for (const auto& row : held) sum += row.bytes;
  EXPECT_EQ(sum, 600 * 1000 + 599 * 300);
}

TEST_F(MemoryRows, OfStepsThatAreAlikeTheHigherPeak) {
  for (const std::uint64_t bytes : {50, 80, 60}) {
    ModelDescription model;
    model.sequence_hash = 5;
    model.memory = memory({{a, 0, bytes}}, 0);
    profile.describe(std::move(model));
  }
  EXPECT_EQ(described(memory({{a, 0, 70}}, 0)).memory->peak.bytes, 80);
}

TEST_F(MemoryRows, NothingWhereItWasNotAskedFor) {
  ModelDescription model;
  model.sequence_hash = 5;
  profile.describe(std::move(model));
  EXPECT_FALSE(report().memory);
}

}  // namespace
}  // namespace gable::tests
