// SPDX-License-Identifier: Apache-2.0
// The framework's operators and the kernels that they launch.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class OperatorRows : public ProfileTest {
 protected:
  const LayerId a = layer({"net", "a"}, Direction::forward);

  void step(WindowId id, std::uint64_t hash, std::uint64_t time = 100) {
    profile.count_step(hash);
    begin(id, kTime);
    const std::uint64_t at = id * 10'000ull;
    timed(key(a, "ka"), at + 100, at + 100 + time);
    timed(key(a, "kb"), at + 300, at + 350);
    timed(key(a, "ka"), at + 500, at + 500 + time);
    end(kTime, true, at, at + 1000, {}, hash);
  }
  OperatorCalls calls(const char* name, std::vector<std::pair<LaunchKey, std::uint64_t>> launches) {
    OperatorCalls made;
    made.layer = a;
    made.name = name;
    made.calls = 1;
    made.flops = 10;
    made.bytes = 4;
    made.launches = std::move(launches);
    return made;
  }
  void describe(std::uint64_t hash, std::vector<OperatorCalls> operators) {
    ModelDescription model;
    model.sequence_hash = hash;
    model.operators = std::move(operators);
    profile.describe(model);
  }
};

TEST_F(OperatorRows, TimesAreThoseOfTheirKernels) {
  describe(
      5, {calls("mm", {{key(a, "ka"), 1}}), calls("add", {{key(a, "ka"), 1}, {key(a, "kb"), 1}})});
  step(1, 5);
  step(2, 5);
  const Report made = report();
  ASSERT_EQ(made.operators.size(), 2u);
  const OperatorRow &add = made.operators[0], &mm = made.operators[1];
  EXPECT_EQ(add.name, "add") << "the longest first";
  EXPECT_EQ(add.time_ns, 150);
  EXPECT_EQ(mm.time_ns, 100);
  EXPECT_EQ(mm.calls, 1);
  EXPECT_EQ(mm.launches, 1);
  EXPECT_EQ(mm.flops_analytic, 10);
  EXPECT_EQ(mm.bytes_analytic, 4);
  EXPECT_EQ(mm.direction, Direction::forward);
  EXPECT_TRUE(mm.shared && add.shared) << "both launch ka";
  ASSERT_EQ(add.kernels.size(), 2u);
  for (const OperatorRow::Launched& each : add.kernels)
    EXPECT_EQ(made.kernels.at(static_cast<std::size_t>(each.kernel)).launches,
              each.kernel == mm.kernels[0].kernel ? 2 : 1);
}

TEST_F(OperatorRows, WhatIsNotKnownOfAKernelIsNotKnownOfItsOperator) {
  OperatorCalls none = calls("view", {});
  none.flops = none.bytes = 0;
  OperatorCalls quiet = calls("quiet", {}), unknown = calls("mine", {{key(a, "kb"), 1}});
  unknown.flops_known = unknown.bytes_known = false;
  OperatorCalls many = calls("many", {{key(a, "kb"), 1}});
  many.left_out = 3;
  describe(5, {none, quiet, unknown, many, calls("gone", {{key(a, "of another step"), 1}})});
  step(1, 5);
  std::map<std::string, OperatorRow> rows;
  for (const OperatorRow& row : report().operators) rows[row.name] = row;
  EXPECT_FALSE(rows.contains("view")) << "it launches and moves nothing";
  EXPECT_EQ(rows.at("quiet").time_ns, std::nullopt);
  EXPECT_EQ(rows.at("quiet").launches, 0);
  EXPECT_EQ(rows.at("mine").flops_analytic, std::nullopt);
  EXPECT_EQ(rows.at("mine").bytes_analytic, std::nullopt);
  EXPECT_EQ(rows.at("mine").time_ns, 50);
  EXPECT_EQ(rows.at("many").time_ns, std::nullopt);
  EXPECT_EQ(rows.at("many").launches, 4);
  EXPECT_EQ(rows.at("gone").time_ns, std::nullopt);
  EXPECT_FALSE(rows.at("gone").shared);
}

TEST_F(OperatorRows, StepsOfSeveralKindsHaveTheirShare) {
  describe(5, {calls("mm", {{key(a, "ka"), 1}})});
  describe(6, {calls("mm", {{key(a, "ka"), 3}}), calls("other", {{key(a, "kb"), 1}})});
  for (WindowId id = 1; id <= 3; ++id) step(id, 5);
  step(4, 6);
  std::map<std::string, OperatorRow> rows;
  for (const OperatorRow& row : report().operators) rows[row.name] = row;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows.at("mm").launches, 0.75 * 1 + 0.25 * 3);
  EXPECT_DOUBLE_EQ(rows.at("mm").calls, 1);
  EXPECT_DOUBLE_EQ(rows.at("other").calls, 0.25);
  EXPECT_FALSE(rows.at("mm").shared);
}

TEST_F(OperatorRows, WhatWasLeftOutIsSaid) {
  ModelDescription model;
  model.sequence_hash = 5;
  model.operators = {calls("mm", {})};
  model.operators_left_out = 7;
  profile.describe(model);
  step(1, 5);
  const Report made = report();
  EXPECT_EQ(std::count_if(
                made.run.notes.begin(), made.run.notes.end(),
                [](const std::string& note) { return note.starts_with("Operators: 7 calls "); }),
            1);
}

}  // namespace
}  // namespace gable::tests
