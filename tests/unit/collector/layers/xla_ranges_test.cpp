// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/xla_ranges.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "analysis/events/layer_tree.h"
#include "collector/layers/range_tracker.h"

namespace gable {
namespace {

using Names = std::vector<std::string>;

TEST(XlaRange, AModuleIsItsNameAndWhatItsOperatorsHaveInCommon) {
  const auto range =
      xla_range("XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=1#");
  EXPECT_EQ(range.names, Names{"jit_step"});
  EXPECT_EQ(range.direction, Direction::none);
  const auto backward = xla_range(
      "XlaModule:#prefix=jit(g)/jit(main)/transpose(jvp(MLP)),hlo_module=jit_g,program_id=2#");
  EXPECT_EQ(backward.names, (Names{"jit_g", "MLP"}));
  EXPECT_EQ(backward.direction, Direction::backward);
  EXPECT_EQ(xla_range("XlaModule:#hlo_module=jit_f,program_id=3#").names, Names{"jit_f"});
}

TEST(XlaRange, AnOperatorIsItsScopesAndTheInstruction) {
  const auto range = xla_range(
      "Thunk:#name=transpose(jvp(MLP))/Dense_0/dot_general,hlo_op=gemm.3,unique_hlo_op_id=7#");
  EXPECT_EQ(range.names, (Names{"MLP", "Dense_0", "dot_general", "gemm.3"}));
  EXPECT_EQ(range.direction, Direction::backward);
  EXPECT_EQ(xla_range("Thunk:#hlo_op=copy.1,unique_hlo_op_id=8#").names, Names{"copy.1"});
  EXPECT_EQ(xla_range("Thunk:#hlo_op=copy.1#").names, Names{"copy.1"});  // of older releases
  EXPECT_EQ(xla_range("Thunk:#name=f/g(a,b)/add,hlo_op=add.1#").names,
            (Names{"f", "a,b", "add", "add.1"}));
}

TEST(XlaRange, AnOperatorOfTensorFlowIsItsPlaceInTheModel) {
  EXPECT_EQ(xla_range("model/dense/MatMul:MatMul#id=7,shape=(half[4,384])#").names,
            (Names{"model", "dense", "MatMul"}));
  EXPECT_EQ(xla_range("MatMul:MatMul").names, Names{"MatMul"});
  EXPECT_EQ(xla_range("ExecutorDoneCallback#id=1#").names, Names{"ExecutorDoneCallback"});
  EXPECT_EQ(xla_range("#id=1#").names, Names{"#id=1#"});
}

TEST(XlaRange, WhatWasCutOrIsUnknownKeepsAName) {
  EXPECT_EQ(xla_range("Thunk:#name=MLP/Dense_0/dot_gen").names,
            (Names{"MLP", "Dense_0", "dot_gen"}));
  EXPECT_EQ(xla_range("XlaPass:#name=fusion,module=jit_f,program_id=1#").names, Names{"XlaPass"});
  EXPECT_EQ(xla_range("Thunk:##").names, Names{"Thunk"});
  EXPECT_EQ(xla_range("anything").names, Names{"anything"});
  EXPECT_EQ(xla_range(":#x=1#").names, Names{":#x=1#"});
  EXPECT_EQ(xla_range("").names, Names{""});
}

class XlaLayers : public testing::Test {
 protected:
  std::string shown() {
    bool inherited = false;
    const LayerId layer = tracker_.layer_of_launch(thread_, inherited);
    const auto node = layers_.node(layer);
    return layers_.shown(layer) + (node.direction == Direction::backward  ? " backward"
                                   : node.direction == Direction::forward ? " forward"
                                                                          : "");
  }
  void push(DomainId domain, std::string_view name) {
    tracker_.push(thread_, domain, name, Direction::none, 0, 0);
  }

  LayerTree layers_;
  RangeTracker tracker_{layers_, RangeNaming({}, ""), {}};
  ThreadRanges thread_;
};

TEST_F(XlaLayers, AreThoseOfTheProgramsScopes) {
  const DomainId xla = tracker_.domain("TSL"), other = tracker_.domain("mine");
  for (int again = 0; again < 2; ++again) {  // the second time from the thread's own table
    push(0, "train");
    push(xla, "XlaModule:#prefix=jit(f)/jit(main),hlo_module=jit_f,program_id=1#");
    EXPECT_EQ(shown(), "train/jit_f");
    push(xla, "Thunk:#name=jvp(MLP)/Dense_0/dot_general,hlo_op=gemm.1,unique_hlo_op_id=1#");
    EXPECT_EQ(shown(), "train/jit_f/MLP/Dense_0/dot_general/gemm.1 forward");
    tracker_.pop(thread_, xla);
    push(xla, "Thunk:#name=transpose(jvp(MLP))/Dense_0/mul,hlo_op=fusion,unique_hlo_op_id=2#");
    EXPECT_EQ(shown(), "train/jit_f/MLP/Dense_0/mul/fusion backward");
    tracker_.pop(thread_, xla);
    tracker_.pop(thread_, xla);
    EXPECT_EQ(shown(), "train");
    push(other, "Thunk:#hlo_op=x#");
    EXPECT_EQ(shown(), "train/mine:Thunk:#hlo_op=x#");
    tracker_.pop(thread_, other);
    tracker_.pop(thread_, 0);
  }
}

// A range around them ends first: they move up with all their names.
TEST_F(XlaLayers, KeepAllTheirNamesWhereARangeAroundThemEnds) {
  const DomainId xla = tracker_.domain("TSL");
  push(0, "train");
  push(xla, "XlaModule:#prefix=jit(f)/jit(main),hlo_module=jit_f,program_id=1#");
  push(xla, "Thunk:#name=MLP/Dense_0/add,hlo_op=fusion.2,unique_hlo_op_id=1#");
  tracker_.pop(thread_, 0);
  EXPECT_EQ(shown(), "jit_f/MLP/Dense_0/add/fusion.2");
  const auto id = tracker_.start(0, "process", Direction::none);
  EXPECT_EQ(shown(), "process/jit_f/MLP/Dense_0/add/fusion.2");
  tracker_.end(id);
  tracker_.pop(thread_, xla);
  EXPECT_EQ(shown(), "jit_f");
}

TEST_F(XlaLayers, AForkedProcessKnowsTheDomain) {
  const DomainId xla = tracker_.domain("TSL");
  RangeTracker child(layers_, RangeNaming({}, ""), tracker_.domains_after_fork());
  child.push(thread_, xla, "Thunk:#hlo_op=copy.1#", Direction::none, 0, 0);
  bool inherited = false;
  EXPECT_EQ(layers_.shown(child.layer_of_launch(thread_, inherited)), "copy.1");
}

TEST(XlaLayersBound, AFullTreeCostsNamesAndNothingElse) {
  LayerTree layers(4);
  RangeTracker tracker(layers, RangeNaming({}, ""), {});
  ThreadRanges thread;
  const DomainId xla = tracker.domain("TSL");
  tracker.push(thread, xla, "Thunk:#name=a/b/c/d,hlo_op=e#", Direction::none, 0, 0);
  const auto id = tracker.start(0, "process", Direction::none);
  bool inherited = false;
  (void)tracker.layer_of_launch(thread, inherited);
  tracker.end(id);
  tracker.pop(thread, xla);
  EXPECT_EQ(layers.shown(tracker.layer_of_launch(thread, inherited)), "(no layer)");
  EXPECT_GT(layers.folded(), 0u);
}

}  // namespace
}  // namespace gable
