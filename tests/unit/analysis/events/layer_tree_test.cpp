// SPDX-License-Identifier: Apache-2.0
// Layers by parent, name and direction: each once, for ever, and no more than there is room for.
#include "analysis/events/layer_tree.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace gable {
namespace {

TEST(LayerTreeOf, ALayerIsOnceForEachParentNameAndDirection) {
  LayerTree tree;
  const LayerId a = tree.child(0, "a", Direction::forward);
  EXPECT_EQ(tree.child(0, "a", Direction::forward), a);
  const std::set<LayerId> all = {a, tree.child(0, "a", Direction::backward),
                                 tree.child(0, "b", Direction::forward),
                                 tree.child(a, "a", Direction::forward)};
  EXPECT_EQ(all.size(), 4u);
  EXPECT_FALSE(all.contains(0));
  EXPECT_EQ(tree.size(), 5u);  // with the root
  EXPECT_EQ(tree.folded(), 0u);
}

TEST(LayerTreeOf, NodesPathsAndDirections) {
  LayerTree tree;
  const LayerId a = tree.child(0, "a", Direction::backward);
  const LayerId b = tree.child(a, "b");  // goes on in the direction of its parent
  EXPECT_EQ(tree.node(b).parent, a);
  EXPECT_EQ(tree.node(b).depth, 2);
  EXPECT_EQ(tree.node(b).direction, Direction::backward);
  EXPECT_EQ(tree.child(a, "b", Direction::backward), b);
  EXPECT_EQ(tree.path(b), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tree.shown(b), "a/b");
  EXPECT_EQ(tree.shown(0), "(no layer)");
  EXPECT_TRUE(tree.path(99).empty());
  EXPECT_EQ(tree.node(99).parent, 0u);
  EXPECT_EQ(tree.node(tree.child(99, "c")).parent, 0u);  // of a parent that is none
}

TEST(LayerTreeOf, WhatThereIsNoRoomForIsItsParent) {
  LayerTree tree(3);
  const LayerId a = tree.child(0, "a"), b = tree.child(a, "b");
  EXPECT_EQ(tree.child(b, "c"), b);
  EXPECT_EQ(tree.child(0, "d"), 0u);
  EXPECT_EQ(tree.folded(), 2u);
  EXPECT_EQ(tree.child(a, "b"), b);  // is there already
  EXPECT_EQ(tree.folded(), 2u);
  EXPECT_EQ(tree.size(), 3u);
}

TEST(LayerTreeOf, DepthEnds) {
  LayerTree tree;
  LayerId layer = 0;
  for (int i = 0; i < LayerTree::kMaxDepth; ++i) layer = tree.child(layer, "x");
  EXPECT_EQ(tree.node(layer).depth, LayerTree::kMaxDepth);
  EXPECT_EQ(tree.child(layer, "x"), layer);
  EXPECT_EQ(tree.folded(), 1u);
}

TEST(LayerTreeOf, TheFirstDottedNameAndTheFirstRegionStay) {
  LayerTree tree;
  const LayerId a = tree.child(0, "a");
  EXPECT_EQ(tree.dotted(a), "");
  tree.set_dotted(a, "");
  tree.set_dotted(a, "model.a");
  tree.set_dotted(a, "other");
  EXPECT_EQ(tree.dotted(a), "model.a");
  tree.set_dotted(0, "root");
  EXPECT_EQ(tree.dotted(0), "");
  tree.set_dotted(99, "none");
  EXPECT_EQ(tree.dotted(99), "");
  EXPECT_FALSE(tree.compiled(a));
  CompiledRegion region;
  region.modules.resize(1);
  region.modules[0].name = "first";
  tree.set_compiled(a, region);
  region.modules[0].name = "second";
  tree.set_compiled(a, region);
  ASSERT_TRUE(tree.compiled(a));
  EXPECT_EQ(tree.compiled(a)->modules[0].name, "first");
  tree.set_compiled(0, region);
  tree.set_compiled(99, region);
  EXPECT_FALSE(tree.compiled(0) || tree.compiled(99));
}

TEST(LayerTreeOf, ThreadsThatAskForTheSameGetTheSame) {
  LayerTree tree;
  std::vector<std::vector<LayerId>> found(4);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (auto& ids : found)
    threads.emplace_back([&tree, &ids] {
      for (int i = 0; i < 500; ++i) ids.push_back(tree.child(0, std::to_string(i)));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& ids : found) EXPECT_EQ(ids, found[0]);
  EXPECT_EQ(tree.size(), 501u);
}

TEST(LayerTreeOf, ThereAre65536LayersOf128LevelsUnlessMoreAreAllowed) {
  EXPECT_EQ(LayerTree::kMaxDepth, 128);
  LayerTree tree;
  for (int i = 1; i < 65536; ++i) ASSERT_NE(tree.child(0, std::to_string(i)), 0u);
  EXPECT_EQ(tree.child(0, "more"), 0u);
  EXPECT_EQ(tree.size(), 65536u);
  LayerTree none(0);  // the root is always there
  EXPECT_EQ(none.child(0, "a"), 0u);
  EXPECT_EQ(none.size(), 1u);
  LayerTree two(2);
  EXPECT_EQ(two.child(0, "a"), 1u);
  EXPECT_EQ(two.child(1, "b"), 1u);
}

TEST(LayerTreeOf, NamesAreCleanText) {
  LayerTree tree;
  const LayerId a = tree.child(0, "a\xFFz");
  EXPECT_EQ(tree.child(0, "a\xFFz"), a);
  EXPECT_EQ(tree.node(a).name.find('\xFF'), std::string::npos);
  tree.set_dotted(a, "m\xFF.a");
  EXPECT_EQ(tree.dotted(a).find('\xFF'), std::string::npos);
  EXPECT_FALSE(tree.dotted(a).empty());
  CompiledRegion region;
  region.modules.push_back({"n\xFFm", "k\xFFz"});
  tree.set_compiled(a, region);
  ASSERT_TRUE(tree.compiled(a));
  EXPECT_EQ(tree.compiled(a)->modules[0].name.find('\xFF'), std::string::npos);
  EXPECT_EQ(tree.compiled(a)->modules[0].kind.find('\xFF'), std::string::npos);
  EXPECT_EQ(tree.path(3), std::vector<std::string>());  // one past the last
  EXPECT_EQ(tree.node(2).name, "");
}

TEST(LayerTreeOf, ThreeNamesHaveTwoSeparators) {
  EXPECT_EQ(shown_path({}), "(no layer)");
  EXPECT_EQ(shown_path({"a"}), "a");
  EXPECT_EQ(shown_path({"a", "a", "b"}), "a/a/b");
}

// The number of layers is where ids end: that one itself is none.
TEST(LayerTreeOf, AnIdThatWasNotGivenIsNoLayer) {
  LayerTree tree;
  tree.child(0, "a", Direction::forward);
  EXPECT_EQ(tree.node(2).depth, 0);
  EXPECT_EQ(tree.node(tree.child(2, "b")).parent, 0u);
  tree.set_dotted(3, "none");
  EXPECT_EQ(tree.dotted(3), "");
  CompiledRegion region;
  tree.set_compiled(3, region);
  EXPECT_FALSE(tree.compiled(3));
  tree.set_compiled(1, region);
  EXPECT_TRUE(tree.compiled(1));
}

}  // namespace
}  // namespace gable
