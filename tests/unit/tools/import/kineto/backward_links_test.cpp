// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/backward_links.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

class BackwardLinksOf : public testing::Test {
 protected:
  // An operator; without a sequence number it makes no node.
  void op(const char* name, std::uint64_t start, std::uint64_t end,
          std::optional<std::uint64_t> sequence = {}) {
    TraceEvent event;
    event.name = name;
    event.sequence = sequence;
    RangeNest::Range range = range_of(name, start, end);
    range.grouped = true;
    range.tag = static_cast<std::uint32_t>(facts_.size());
    facts_.push_back(autograd_facts(event));
    nest_.add(range);
  }
  void module(const char* name, std::uint64_t start, std::uint64_t end) {
    nest_.add(range_of(name, start, end));
  }
  void link() {
    nest_.nest();
    BackwardLinks(nest_, layers_, [this](std::uint32_t tag) -> const AutogradFacts& {
      return facts_[tag];
    }).link();
  }
  // "path direction" of what is open then.
  std::string at(std::uint64_t when) {
    const LayerId layer = nest_.layer(nest_.at(1, when));
    const Direction direction = layers_.node(layer).direction;
    return layers_.shown(layer) + (direction == Direction::forward     ? " forward"
                                   : direction == Direction::backward  ? " backward"
                                   : direction == Direction::recompute ? " recompute"
                                                                       : "");
  }

 private:
  RangeNest::Range range_of(const char* name, std::uint64_t start, std::uint64_t end) {
    RangeNest::Range range;
    range.start_ns = start;
    range.end_ns = end;
    range.thread = 1;
    range.name = nest_.name(name);
    range.direction = Direction::forward;
    return range;
  }
  LayerTree layers_;
  RangeNest nest_{layers_};
  std::vector<AutogradFacts> facts_;
};

TEST_F(BackwardLinksOf, ANodeHasTheLayerOfItsForward) {
  module("Net", 0, 100);
  module("fc1", 10, 40);
  op("aten::linear", 20, 30, 5);
  module("fc2", 50, 90);
  op("aten::relu", 55, 58, 6);
  op("aten::linear", 60, 70, 6);
  op("autograd::engine::evaluate_function: AddmmBackward0", 200, 250, 6);
  op("AddmmBackward0", 210, 240, 6);
  op("aten::mm", 220, 230);
  op("autograd::engine::evaluate_function: AddmmBackward0", 300, 350, 5);
  op("autograd::engine::evaluate_function: XBackward0", 400, 450, 7);
  op("aten::mm", 420, 430);
  op("torch::autograd::AccumulateGrad", 500, 550);
  link();
  EXPECT_EQ(at(25), "Net/fc1/aten::linear forward");
  EXPECT_EQ(at(65), "Net/fc2/aten::linear forward");
  EXPECT_EQ(at(205), "Net/fc2/aten::linear backward");
  EXPECT_EQ(at(215), "Net/fc2/aten::linear backward");
  EXPECT_EQ(at(225), "Net/fc2/aten::linear backward");
  EXPECT_EQ(at(320), "Net/fc1/aten::linear backward");
  EXPECT_EQ(at(405), "autograd::engine::evaluate_function: XBackward0 backward");
  EXPECT_EQ(at(425), "autograd::engine::evaluate_function: XBackward0 backward");
  EXPECT_EQ(at(520), "torch::autograd::AccumulateGrad backward");
}

TEST_F(BackwardLinksOf, ModulesWithinBackwardAreComputedAgain) {
  module("Net", 0, 100);
  module("block", 10, 60);
  op("aten::mm", 20, 30);
  op("CheckpointFunctionBackward", 200, 300, 5);
  module("block", 210, 250);
  op("aten::mm", 220, 230, 9);
  op("MmBackward0", 260, 280, 9);
  link();
  EXPECT_EQ(at(205), "CheckpointFunctionBackward backward");
  EXPECT_EQ(at(215), "Net/block recompute");
  EXPECT_EQ(at(225), "Net/block/aten::mm recompute");
  EXPECT_EQ(at(270), "Net/block/aten::mm backward");
}

TEST(AutogradFactsOf, AreToldByTheEvent) {
  TraceEvent event;
  event.name = "aten::empty";
  EXPECT_TRUE(autograd_facts(event).makes_tensor);
  EXPECT_FALSE(autograd_facts(event).backward);
  EXPECT_FALSE(autograd_facts(event).has_sequence);
  event.forward_thread = 1;
  EXPECT_TRUE(autograd_facts(event).backward);
  event.name = "empty";
  event.forward_thread = 0;
  event.sequence = 7;
  EXPECT_FALSE(autograd_facts(event).makes_tensor);
  EXPECT_EQ(autograd_facts(event).sequence, 7u);
  EXPECT_TRUE(autograd_facts(event).has_sequence);
  event.name = "aten::emptyx";
  EXPECT_FALSE(autograd_facts(event).makes_tensor);
  for (const char* name : {"AddmmBackward0", "autograd::engine::evaluate_function: x",
                           "torch::autograd::AccumulateGrad"}) {
    event.name = name;
    EXPECT_TRUE(autograd_facts(event).backward) << name;
  }
}

}  // namespace
}  // namespace gable
