// SPDX-License-Identifier: Apache-2.0
// Which layer a node of a CUDA graph has, and that graphs captured for ever take no more memory.
#include "collector/layers/graph_nodes.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr std::uint64_t id_of(std::uint32_t graph, std::uint32_t node) {
  return (std::uint64_t{graph} << 32) | node;
}

class Nodes : public ::testing::Test {
 protected:
  GraphNodes::Node kernel(LayerId layer, std::uint32_t blocks, bool complete = true) const {
    GraphNodes::Node node;
    node.kind = GraphNodes::Kind::kernel;
    node.key.layer = layer;
    node.key.function = 7;
    node.key.grid = {blocks, 1, 1};
    node.key.block = {32, 1, 1};
    node.complete = complete;
    return node;
  }
  // Captured as `graph`, instantiated as `exec`; the handle is its id.
  void make(GraphNodes& nodes, std::uint32_t graph, std::uint32_t exec,
            const std::vector<GraphNodes::Node>& all) {
    for (std::uint32_t i = 0; i < all.size(); ++i) nodes.created(graph, id_of(graph, i), all[i]);
    for (std::uint32_t i = 0; i < all.size(); ++i)
      nodes.cloned(exec, id_of(exec, i), all[i].kind, id_of(graph, i));
    nodes.exec_created(handle(exec), exec, graph, {exec});
  }
  static const void* handle(std::uintptr_t exec) { return reinterpret_cast<const void*>(exec); }
  std::optional<LayerId> layer_of(const GraphNodes& nodes, std::uint64_t node) const {
    std::vector<GraphKernelRecord> records(1);
    std::vector<CopyRecord> none;
    records[0].node = node;
    nodes.place(records, none);
    return records[0].placed ? std::optional<LayerId>(records[0].key.layer) : std::nullopt;
  }

  LayerTree layers;
  LayerId model = layers.child(0, "model");
  LayerId conv = layers.child(model, "conv");
  LayerId relu = layers.child(model, "relu");
  LayerId deep = layers.child(layers.child(relu, "a"), "b");
  LayerId other = layers.child(0, "other");
};

// A kernel's name in a record may be gone with its module.
TEST_F(Nodes, KnowTheFunctionOfALaunchThatWasSeen) {
  GraphNodes nodes(layers);
  make(nodes, 1, 2, {kernel(conv, 1), kernel(relu, 1, false)});
  EXPECT_EQ(nodes.function_of(id_of(1, 0)), 7u);
  EXPECT_EQ(nodes.function_of(id_of(2, 0)), 7u);
  EXPECT_EQ(nodes.function_of(id_of(2, 1)), std::nullopt);  // its launch was not seen
  EXPECT_EQ(nodes.function_of(id_of(3, 0)), std::nullopt);
  nodes.exec_changed(handle(2), false);
  EXPECT_EQ(nodes.function_of(id_of(2, 0)), std::nullopt);
}

TEST_F(Nodes, TheCommonLayerIsTheLowestThatHasThemAll) {
  GraphNodes nodes(layers);
  auto common = [&, next = 10u](const std::vector<LayerId>& of) mutable {
    std::vector<GraphNodes::Node> all;
    all.reserve(of.size());
    for (const LayerId layer : of) all.push_back(kernel(layer, 1));
    make(nodes, next, next + 1, all);
    next += 2;
    return nodes.shape(handle(next - 1)).layer;
  };
  EXPECT_EQ(common({conv, conv}), conv);
  EXPECT_EQ(common({conv, relu}), model);
  EXPECT_EQ(common({conv, deep}), model);
  EXPECT_EQ(common({relu, deep}), relu);
  EXPECT_EQ(common({deep, model}), model);
  EXPECT_EQ(common({deep, other}), 0u);
  EXPECT_EQ(common({0, deep}), 0u);
}

TEST_F(Nodes, AShapeHasItsKernelsOnceEachWithTheirNumber) {
  GraphNodes nodes(layers);
  GraphNodes::Node copy = kernel(relu, 1);
  copy.kind = GraphNodes::Kind::copy;
  make(nodes, 1, 2, {kernel(conv, 3), kernel(relu, 5), kernel(conv, 3), copy});
  const GraphShape shape = nodes.shape(handle(2));
  EXPECT_EQ(shape.kernels, 3u);
  EXPECT_EQ((std::pair{shape.blocks, shape.threads}),
            (std::pair<std::uint64_t, std::uint64_t>{11, 352}));
  ASSERT_EQ(shape.known.size(), 2u);
  EXPECT_EQ(shape.known[0].count + shape.known[1].count, 3u);
  // The same kernels captured again in another order are the same graph.
  make(nodes, 3, 4, {kernel(relu, 5), kernel(conv, 3), kernel(conv, 3)});
  EXPECT_TRUE(nodes.shape(handle(4)) == shape);
}

TEST_F(Nodes, WhatWasNotSeenIsUnknown) {
  GraphNodes nodes(layers);
  make(nodes, 1, 2, {kernel(conv, 3), kernel(relu, 5, false)});
  GraphShape shape = nodes.shape(handle(2));
  EXPECT_EQ((std::pair{shape.kernels, shape.known.size()}),
            (std::pair<std::uint32_t, std::size_t>{2, 0}));
  EXPECT_EQ(shape.blocks, 0u);
  // Nodes turned off: nobody knows how many kernels run.
  nodes.exec_changed(handle(2), true);
  EXPECT_EQ(nodes.shape(handle(2)).kernels, 0u);
  // A clone of something unseen.
  nodes.cloned(5, id_of(5, 1), GraphNodes::Kind::kernel, id_of(77, 1));
  nodes.exec_created(handle(5), 5, 77, {5});
  EXPECT_EQ(nodes.shape(handle(5)).kernels, 0u);
  EXPECT_EQ(nodes.shape(handle(6)).kernels, 0u);
}

TEST_F(Nodes, AChangeMakesItsParametersUnknownAndItsNameToo) {
  GraphNodes nodes(layers);
  make(nodes, 1, 2, {kernel(conv, 3)});
  nodes.name(handle(2), {true, 9, {}, 2});
  EXPECT_EQ(nodes.launched(handle(2)).graph, 9u);
  nodes.exec_changed(handle(2), false);
  EXPECT_FALSE(nodes.launched(handle(2)).named);
  const GraphShape shape = nodes.shape(handle(2));
  EXPECT_EQ((std::pair{shape.kernels, shape.known.size()}),
            (std::pair<std::uint32_t, std::size_t>{1, 0}));
  EXPECT_EQ(shape.layer, conv);
}

TEST_F(Nodes, KernelsOfConditionalNodesMayRunToo) {
  GraphNodes nodes(layers);
  GraphNodes::Node branch = kernel(relu, 1);
  branch.kind = GraphNodes::Kind::conditional;
  make(nodes, 1, 2, {kernel(conv, 3), branch});
  nodes.created(3, id_of(3, 0), kernel(relu, 8));  // what the branch runs, cloned beside it
  nodes.exec_created(handle(2), 2, 1, {2, 3});
  const GraphShape shape = nodes.shape(handle(2));
  EXPECT_TRUE(shape.more);
  EXPECT_EQ((std::pair{shape.kernels, shape.blocks}),
            (std::pair<std::uint32_t, std::uint64_t>{1, 0}));
}

TEST_F(Nodes, RecordsOfADestroyedGraphStillFindTheirLayer) {
  GraphNodes nodes(layers);
  make(nodes, 1, 2, {kernel(conv, 3)});
  nodes.graph_destroyed(1);
  EXPECT_EQ(layer_of(nodes, id_of(1, 0)), conv);  // an executable graph of it lives
  nodes.exec_destroyed(handle(2));
  EXPECT_EQ(layer_of(nodes, id_of(2, 0)), conv);
  EXPECT_EQ(nodes.shape(handle(2)).kernels, 0u);
}

TEST_F(Nodes, GraphsCapturedForEverTakeNoMoreMemory) {
  GraphNodes nodes(layers, 1000, 100);
  for (std::uint32_t round = 1; round < 5000; ++round) {
    make(nodes, 2 * round, 2 * round + 1, {kernel(conv, 3), kernel(relu, 5)});
    ASSERT_EQ(nodes.shape(handle(2 * round + 1)).kernels, 2u) << round;
    nodes.graph_destroyed(2 * round);
    nodes.exec_destroyed(handle(2 * round + 1));
    ASSERT_LE(nodes.nodes(), 110u) << round;
  }
  EXPECT_EQ(layer_of(nodes, id_of(2 * 4999 + 1, 1)), relu);
  EXPECT_EQ(layer_of(nodes, id_of(3, 1)), std::nullopt);
}

TEST_F(Nodes, TooManyNodesMakeTheirGraphsUnknown) {
  GraphNodes nodes(layers, 6, 100);
  make(nodes, 1, 2, {kernel(conv, 3), kernel(relu, 5)});
  make(nodes, 3, 4, {kernel(conv, 3), kernel(relu, 5)});
  EXPECT_EQ(nodes.shape(handle(2)).kernels, 2u);
  EXPECT_EQ(nodes.shape(handle(4)).kernels, 0u);
}

}  // namespace
}  // namespace gable
