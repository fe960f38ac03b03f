// SPDX-License-Identifier: Apache-2.0
// What the framework says of its operators while one step is described.
#include "collector/layers/model_table.h"

#include <gtest/gtest.h>

#include <string>

namespace gable {
namespace {

LaunchKey key(FunctionId function) {
  LaunchKey made;
  made.layer = 3;
  made.function = function;
  return made;
}

TEST(ModelTable, WantsStepsThatLaunchOtherKernels) {
  ModelTable table;
  EXPECT_TRUE(table.expects_new_step(1)) << "none is described yet";
  ASSERT_TRUE(table.begin(1));
  ASSERT_TRUE(table.end());
  table.kept(1);
  EXPECT_FALSE(table.expects_new_step(1));
  EXPECT_FALSE(table.expects_new_step(2)) << "nothing has followed it";
  EXPECT_TRUE(table.expects_new_step(1)) << "2 will follow";
  ASSERT_TRUE(table.begin(4));
  ASSERT_TRUE(table.end());
  table.kept(2);
  EXPECT_FALSE(table.expects_new_step(2));
  EXPECT_FALSE(table.expects_new_step(1));
}

TEST(ModelTable, MemoryIsOfTheOperatorsThatRan) {
  ModelTable table;
  table.add_memory(3, 0, 5);
  ASSERT_TRUE(table.begin(0));
  table.add_peak(0, true, 0, -1, -1);  // without a point there is none
  const auto one = table.open_operator(3, "aten::mm", "", "");
  table.add_memory(2, 0, 10);
  table.add_memory(3, one, 30);
  table.add_memory(3, one, 20);
  table.add_peak(1, true, 1, 40, -1);
  table.add_held({HeldAs::made, {}, 0, 20, 2}, 1);
  table.add_held({HeldAs::parameters, {"net"}, 0, 10, 1}, std::nullopt);
  const auto step = table.end();
  ASSERT_TRUE(step && step->model.memory);
  const StepMemory& memory = *step->model.memory;
  EXPECT_EQ(memory.device, 1);
  EXPECT_EQ(memory.peak, 1u);
  EXPECT_EQ(memory.allocator_peak, 40u);
  EXPECT_EQ(memory.reserved, std::nullopt);
  ASSERT_EQ(memory.points.size(), 3u);
  EXPECT_EQ(memory.names[memory.points[0].name], "");
  EXPECT_EQ(memory.names[memory.points[2].name], "aten::mm");
  EXPECT_EQ(memory.points[2].layer, 3u);
  ASSERT_EQ(memory.held.size(), 2u);
  EXPECT_EQ(memory.held[0].layer, 3u) << "where the operator ran";
  // The next step has nothing of this one.
  ASSERT_TRUE(table.begin(1));
  table.add_memory(2, 0, 10);
  table.add_peak(0, false, 7, -1, -1);
  EXPECT_FALSE(table.end()->model.memory) << "a peak that no point has";
  ASSERT_TRUE(table.begin(2));
  table.add_memory(2, 0, 10);
  table.add_memory(2, 0, 20);
  EXPECT_FALSE(table.end()->model.memory) << "nobody told which is the peak";
}

TEST(ModelTable, CallsThatAreAlikeAreOneOperator) {
  ModelTable table;
  EXPECT_EQ(table.open_operator(3, "aten::mm", "", ""), 0u) << "no step is described";
  ASSERT_TRUE(table.begin(0));
  const auto one = table.open_operator(3, "aten::mm", "float32[2,3];float32[3]", "a.py:1 in f");
  EXPECT_EQ(table.open_operator(3, "aten::mm", "float32[2,3];float32[3]", "a.py:1 in f"), one);
  EXPECT_NE(table.open_operator(3, "aten::mm", "float32[2,4]", "a.py:1 in f"), one);
  EXPECT_NE(table.open_operator(3, "aten::mm", "float32[2,3];float32[3]", "a.py:2 in f"), one);
  EXPECT_NE(table.open_operator(4, "aten::mm", "float32[2,3];float32[3]", "a.py:1 in f"), one);
  table.add_launch(one, key(7));
  table.add_launch(one, key(7));
  table.add_launch(one, key(8));
  table.add_launch(0, key(9));
  table.add_launch(99, key(9));
  table.add_operator(0, 3, one, "fp32", 10, 4, 5);
  table.add_operator(0, 3, one, "fp32", 10, 4, -1);
  const auto step = table.end();
  ASSERT_TRUE(step);
  ASSERT_EQ(step->model.operators.size(), 4u);
  const OperatorCalls& calls = step->model.operators[one - 1];
  EXPECT_EQ(calls.name, "aten::mm");
  ASSERT_EQ(calls.inputs.size(), 2u);
  EXPECT_EQ(calls.inputs[0], (TensorShape{"float32", {2, 3}}));
  EXPECT_EQ(calls.place, "a.py:1 in f");
  EXPECT_EQ(calls.calls, 2u);
  EXPECT_EQ(calls.flops, 20);
  EXPECT_TRUE(calls.flops_known);
  EXPECT_FALSE(calls.bytes_known);
  ASSERT_EQ(calls.launches.size(), 2u);
  EXPECT_EQ(calls.launches[0].second, 2u);
  EXPECT_EQ(step->model.operators_left_out, 0u);
  ASSERT_TRUE(table.begin(1));
  EXPECT_EQ(table.open_operator(3, "aten::add", "", ""), 1u) << "numbers begin anew";
}

TEST(ModelTable, AStepThatWasPutOffIsFollowedByAnother) {
  ModelTable table;
  ASSERT_TRUE(table.begin(0));
  table.put_off("it compiled");
  EXPECT_FALSE(table.end()) << "nothing of it counts";
  EXPECT_EQ(table.why_put_off(), "it compiled");
  EXPECT_TRUE(table.expects_new_step(1)) << "whatever it launches";
  ASSERT_TRUE(table.begin(1));
  ASSERT_TRUE(table.end());
  table.kept(1);
  EXPECT_EQ(table.why_put_off(), "") << "the model is known now";
}

TEST(ModelTable, ALayerThatLaunchesOutsideOfOperatorsHasUnknownWork) {
  ModelTable table;
  EXPECT_FALSE(table.counts_outside());
  ASSERT_TRUE(table.begin(0));
  ASSERT_TRUE(table.counts_outside());
  for (const LayerId layer : {3u, 4u}) table.add_operator(0, layer, 0, "fp32", 10, 4, 5);
  table.add_outside(0, 4);
  table.add_outside(1, 3);  // another GPU's
  table.add_outside(0, 9);  // the optimizer's, say
  const auto step = table.end();
  ASSERT_TRUE(step);
  EXPECT_FALSE(table.counts_outside());
  EXPECT_TRUE(step->model.work.at({0, 3}).flops_known);
  EXPECT_FALSE(step->model.work.at({0, 4}).flops_known);
  EXPECT_FALSE(step->model.work.at({0, 4}).bytes_known);
  EXPECT_FALSE(step->model.work.contains({0, 9}));
  EXPECT_TRUE(step->incomplete);

  ASSERT_TRUE(table.begin(1));
  table.add_operator(0, 3, 0, "fp32", 10, 4, 5);
  table.add_outside(0, 9);
  EXPECT_FALSE(table.end()->incomplete) << "all of the model was described";
  ASSERT_TRUE(table.begin(2));
  table.add_module(5, {});
  table.add_outside(0, 5);
  const auto only = table.end();
  EXPECT_TRUE(only->incomplete) << "a module that calls no operator";
  EXPECT_FALSE(only->model.work.at({0, 5}).flops_known);
}

TEST(ModelTable, ThereIsAnEndToWhatIsKeptApart) {
  ModelTable table;
  ASSERT_TRUE(table.begin(0));
  for (std::size_t i = 0; i < ModelTable::kMostOperators; ++i)
    ASSERT_NE(table.open_operator(3, "op" + std::to_string(i), "", ""), 0u);
  const auto more = table.open_operator(3, "one more", "", "");
  EXPECT_NE(more, 0u) << "what it launches is launched by an operator";
  table.add_launch(more, key(1));
  table.add_operator(0, 3, more, "fp32", 10, 4, 5);
  EXPECT_EQ(table.open_operator(3, "op0", "", ""), 1u) << "known ones go on";
  for (FunctionId i = 0; i < ModelTable::kMostKernels + 2; ++i) table.add_launch(1, key(i));
  const auto step = table.end();
  EXPECT_EQ(step->model.operators_left_out, 1u);
  EXPECT_EQ(step->model.work.at({0, 3}).flops.at("fp32"), 10);
  EXPECT_EQ(step->model.operators[0].launches.size(), ModelTable::kMostKernels);
  EXPECT_EQ(step->model.operators[0].left_out, 2u);
}

}  // namespace
}  // namespace gable
