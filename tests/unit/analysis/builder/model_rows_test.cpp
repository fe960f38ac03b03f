// SPDX-License-Identifier: Apache-2.0
// What the framework said of layers, in their rows; and rows of which little else is known.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class ModelRows : public ProfileTest {
 protected:
  const LayerId a = layer({"net", "a"}, Direction::forward),
                b = layer({"net", "b"}, Direction::forward);

  // A step of two kernels, of this launch sequence.
  void step(WindowId id, std::uint64_t hash) {
    profile.count_step(hash);
    begin(id, kTime);
    const std::uint64_t at = id * 10'000ull;
    timed(key(a, "ka"), at + 100, at + 200);
    timed(key(b, "kb"), at + 300, at + 350);
    end(kTime, true, at, at + 1000, {}, hash);
  }
  static OperatorWork work(double fp32, double read, double written, std::uint64_t operators) {
    OperatorWork made;
    made.flops["fp32"] = fp32;
    made.bytes_read = read;
    made.bytes_written = written;
    made.operators = operators;
    return made;
  }
};

TEST_F(ModelRows, SumsOfWhatIsKnown) {
  ModelDescription model;
  model.sequence_hash = 5;
  model.work[{0, a}] = work(100, 10, 20, 2);
  model.work[{0, b}] = work(50, 7, 7, 1);
  model.work[{0, b}].flops["tf32"] = 20;
  model.work[{0, b}].bytes_known = false;
  profile.describe(model);
  step(1, 5);
  step(2, 5);
  const Report made = report();
  const auto of = [&](const std::vector<std::string>& path) {
    return *layer_at(made, path, Direction::forward).model;
  };
  EXPECT_EQ(of({"net", "a"}).self.flops, 100);
  EXPECT_EQ(of({"net", "a"}).self.bytes, 30);
  EXPECT_EQ(of({"net", "a"}).operators, 2);
  EXPECT_EQ(of({"net", "b"}).self.flops, 70);
  EXPECT_EQ(of({"net", "b"}).self.types.at("fp32"), 50);
  EXPECT_EQ(of({"net", "b"}).self.types.at("tf32"), 20);
  EXPECT_EQ(of({"net", "b"}).self.bytes, std::nullopt);
  EXPECT_EQ(of({"net"}).self.flops, 0);
  EXPECT_EQ(of({"net"}).self.bytes, 0);
  EXPECT_EQ(of({"net"}).all.flops, 170);
  EXPECT_EQ(of({"net"}).all.bytes, 30);
  EXPECT_EQ(of({"net"}).all.types.at("fp32"), 150);
  EXPECT_EQ(of({"net"}).operators, 3);
  EXPECT_FALSE(layer_at(made, {}).model);  // it has no direction
  EXPECT_EQ(made.step.model_flops, 170);
}

// What one operator leaves unknown is unknown of its layer, and of the step.
TEST_F(ModelRows, FlopsThatOneOperatorLeavesUnknown) {
  ModelDescription model;
  model.sequence_hash = 5;
  model.work[{0, a}] = work(100, 10, 20, 2);
  model.work[{0, b}] = work(50, 7, 8, 1);
  model.work[{0, b}].flops_known = false;
  profile.describe(model);
  step(1, 5);
  const Report made = report();
  EXPECT_EQ(layer_at(made, {"net", "b"}, Direction::forward).model->self.flops, std::nullopt);
  EXPECT_EQ(layer_at(made, {"net", "b"}, Direction::forward).model->self.bytes, 15);
  EXPECT_EQ(layer_at(made, {"net"}, Direction::forward).model->all.flops, 100);
  EXPECT_EQ(layer_at(made, {"net"}, Direction::forward).model->all.bytes, 45);
  EXPECT_EQ(made.step.model_flops, std::nullopt);
}

// A layer that has kernels and no operators was not understood.
TEST_F(ModelRows, ALayerWithoutOperatorsLeavesTheStepUnknown) {
  ModelDescription model;
  model.sequence_hash = 5;
  model.work[{0, a}] = work(100, 10, 20, 2);
  profile.describe(model);
  step(1, 5);
  const Report made = report();
  EXPECT_FALSE(layer_at(made, {"net", "b"}, Direction::forward).model);
  EXPECT_EQ(layer_at(made, {"net"}, Direction::forward).model->all.flops, 100);
  EXPECT_EQ(made.step.model_flops, std::nullopt);
}

// Three steps of one sequence and one of the other; of the other two were described together.
TEST_F(ModelRows, DescriptionsWeighAsOftenAsTheirSteps) {
  ModelDescription often, seldom;
  often.sequence_hash = 5;
  often.work[{0, a}] = work(100, 10, 20, 2);
  often.work[{0, b}] = work(0, 0, 0, 1);
  seldom.sequence_hash = 6;
  seldom.steps = 2;
  seldom.work[{0, a}] = work(800, 100, 100, 8);
  profile.describe(often);
  profile.describe(seldom);
  for (WindowId id = 1; id <= 3; ++id) step(id, 5);
  step(4, 6);
  const Report made = report();
  const LayerModel& model = *layer_at(made, {"net", "a"}, Direction::forward).model;
  EXPECT_EQ(model.self.flops, 0.75 * 100 + 0.25 * 400);
  EXPECT_EQ(model.self.bytes, 0.75 * 30 + 0.25 * 100);
  EXPECT_EQ(model.operators, 0.75 * 2 + 0.25 * 4);
}

TEST_F(ModelRows, FactsOfModules) {
  ModelDescription model;
  model.sequence_hash = 5;
  model.work[{0, a}] = work(100, 10, 20, 2);
  model.work[{0, b}] = work(100, 10, 20, 2);
  ModuleFacts& facts = model.modules[a];
  facts.inputs = {{"float32", {2, 3}}};
  facts.outputs = {{"bfloat16", {4}}, {"int64", {}}};
  facts.dtypes = {"float32"};
  facts.parameters = 12;
  facts.allocated = 640;
  model.modules[b].parameters = 7;
  profile.describe(model);
  step(1, 5);
  const Report made = report();
  const LayerModel& of_a = *layer_at(made, {"net", "a"}, Direction::forward).model;
  ASSERT_TRUE(of_a.inputs && of_a.outputs);
  EXPECT_EQ(of_a.inputs->at(0).sizes, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(of_a.outputs->size(), 2u);
  EXPECT_EQ(of_a.outputs->at(0).dtype, "bfloat16");
  EXPECT_EQ(of_a.dtypes, std::vector<std::string>{"float32"});
  EXPECT_EQ(of_a.parameters, 12);
  EXPECT_EQ(of_a.allocated_bytes, 640);
  EXPECT_EQ(layer_at(made, {"net", "b"}, Direction::forward).model->parameters, 7);
  EXPECT_FALSE(layer_at(made, {"net", "b"}, Direction::forward).model->allocated_bytes);
  EXPECT_FALSE(layer_at(made, {"net"}, Direction::forward).model->inputs);
}

// Work of a layer that has no row is that of the next one above.
TEST_F(ModelRows, WorkOfALayerWithoutARow) {
  ModelDescription model;
  model.sequence_hash = 5;
  model.work[{0, a}] = work(100, 10, 20, 2);
  model.work[{0, layer({"net", "b", "deep", "er"}, Direction::forward)}] = work(30, 1, 2, 1);
  model.work[{3, a}] = work(1, 1, 1, 1);  // of a device that has none at all
  profile.describe(model);
  step(1, 5);
  const Report made = report();
  EXPECT_EQ(layer_at(made, {"net", "b"}, Direction::forward).model->self.flops, 30);
  EXPECT_EQ(layer_at(made, {"net"}, Direction::forward).model->all.flops, 130);
}

TEST_F(ModelRows, CallsOfStepsThatWereNotMeasured) {
  for (int i = 0; i < 4; ++i) profile.count_step(5);
  launch(key(a, "ka"));
  profile.add(LayerSpan{a, kNoWindow, 0, 6, 0});
  const Report made = report();
  EXPECT_EQ(layer_at(made, {"net", "a"}, Direction::forward).calls, 1.5);
  EXPECT_EQ(layer_at(made, {"net", "a"}, Direction::forward).cpu_ns, std::nullopt);
  EXPECT_EQ(layer_at(made, {"net"}, Direction::forward).calls, std::nullopt);
}

// Without CUPTI the ranges are all there is.
TEST_F(ModelRows, RangesAlone) {
  profile.add(LayerSpan{a, kWholeRun, 900, 3, 2});
  const Report made = report();
  ASSERT_EQ(made.layers.size(), 3u);
  EXPECT_EQ(layer_at(made, {"net", "a"}, Direction::forward).calls, 3);
  EXPECT_EQ(layer_at(made, {"net", "a"}, Direction::forward).cpu_ns, 1350);
  EXPECT_EQ(layer_at(made, {"net", "a"}, Direction::forward).roof.bound, Bound::unknown);
  EXPECT_EQ(layer_at(made, {"net", "a"}, Direction::forward).launches, std::nullopt);
  EXPECT_EQ(made.layers[0].depth, 0);
  EXPECT_EQ(made.layers[1].depth, 1);
  EXPECT_EQ(made.layers[2].parent, made.layers[1].id);
  EXPECT_TRUE(has_launches(profile));
}

}  // namespace
}  // namespace gable::tests
