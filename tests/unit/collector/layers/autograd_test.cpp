// SPDX-License-Identifier: Apache-2.0
// From node numbers to layers, with nodes made by hand.
#include "collector/layers/autograd.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <thread>

#include "collector/layers/thread_state.h"

namespace gable {
namespace {

TEST(NodeLayers, ANodeIsOfTheLayerThatWasOpenWhenItWasMade) {
  NodeLayers nodes;
  EXPECT_EQ(nodes.layer_of(3), 0U);
  nodes.open(10, 1);
  nodes.open(20, 2);
  nodes.open(30, 1);
  EXPECT_EQ(nodes.layer_of(9), 0U);
  EXPECT_EQ(nodes.layer_of(10), 1U);
  EXPECT_EQ(nodes.layer_of(19), 1U);
  EXPECT_EQ(nodes.layer_of(20), 2U);
  EXPECT_EQ(nodes.layer_of(1000), 1U);
}

TEST(NodeLayers, ALayerInWhichNoNodeWasMadeLeavesNoTrace) {
  NodeLayers nodes;
  nodes.open(10, 1);
  nodes.open(20, 2);
  nodes.open(20, 3);
  EXPECT_EQ(nodes.layer_of(20), 3U);
  EXPECT_EQ(nodes.layer_of(19), 1U);
}

TEST(NodeLayers, TheNewestAreKept) {
  NodeLayers nodes;
  const std::uint64_t count = NodeLayers::kMost + 100;
  for (std::uint64_t i = 0; i < count; ++i) nodes.open(2 * i, static_cast<LayerId>(1 + i % 1000));
  EXPECT_EQ(nodes.layer_of(0), 0U) << "too long ago: unknown, not another's";
  EXPECT_EQ(nodes.layer_of(199), 0U);
  EXPECT_EQ(nodes.layer_of(200), 1 + 100 % 1000U);
  EXPECT_EQ(nodes.layer_of(2 * count), 1 + (count - 1) % 1000);
  nodes.start_anew();
  EXPECT_EQ(nodes.layer_of(2 * count), 0U);
}

// As PyTorch's: the number and the maker lie somewhere within, and a smart pointer leads to it.
struct Node {
  std::uint64_t padding[2] = {};
  std::uint64_t number = 0, maker = 0;
};
// A std::shared_ptr as GCC's library lays it out, which PyTorch is made with: our own may be
// another.
struct Owners {
  const void* functions = nullptr;
  std::int32_t count = 1, weak = 1;
};
struct Shared {
  explicit Shared(Node* to, Owners* of) : node(to), owners(of) {
    if (owners != nullptr) ++owners->count;
  }
  ~Shared() {}  // NOLINT(modernize-use-equals-default): so it is returned as PyTorch's is
  Node* node;
  Owners* owners;
};
// Of newer versions: the node counts itself, and the pointer is one word.
struct Intrusive {
  explicit Intrusive(Node* to) : node(to) {
    if (node != nullptr) ++node->padding[1];
  }
  ~Intrusive() {}  // NOLINT(modernize-use-equals-default)
  Node* node;
};
std::unique_ptr<Node> g_running;
Owners g_owners;
Shared current_node() { return Shared(g_running.get(), g_running ? &g_owners : nullptr); }
Intrusive current_intrusive_node() { return Intrusive(g_running.get()); }
template <typename Pointer>
CurrentNode as_torchs(Pointer (*function)()) {
  return reinterpret_cast<CurrentNode>(reinterpret_cast<void*>(function));
}
std::uint64_t g_next = 0, g_thread = 0;

class Backward : public testing::Test {
 protected:
  Backward() {
    g_running = nullptr;
    g_next = 0;
    g_thread = ++last_thread_;
    autograd_.number_nodes({[] { return g_next; }, [] { return g_thread; }});
    thread().nodes.start_anew();
    thread().backward = {};
  }
  ~Backward() override {
    thread().nodes.start_anew();
    thread().backward = {};
    g_running = nullptr;
  }
  void attach() {
    autograd_.attach({as_torchs(&current_node), offsetof(Node, number), offsetof(Node, maker), 0});
  }
  void run(std::uint64_t number, std::uint64_t maker) {
    g_running = std::make_unique<Node>();
    g_owners = {};
    g_running->number = number;
    g_running->maker = maker;
  }
  static ThreadState& thread() { return this_thread(); }

  static inline std::uint64_t last_thread_ = 1000;
  LayerTree layers_;
  Autograd autograd_{layers_};
  const LayerId model_ = layers_.child(0, "Net", Direction::forward);
  const LayerId conv_ = layers_.child(model_, "conv", Direction::forward);
};

TEST_F(Backward, ANodeRunsInTheBackwardLayerOfItsForward) {
  layers_.set_dotted(conv_, "conv");
  attach();
  EXPECT_EQ(autograd_.backward_layer(thread()), 0U) << "no node runs";
  g_next = 5;
  autograd_.opened(thread().nodes, conv_);
  g_next = 8;
  autograd_.opened(thread().nodes, model_);
  run(6, g_thread);
  const LayerId layer = autograd_.backward_layer(thread());
  EXPECT_EQ(layers_.node(layer).name, "conv");
  EXPECT_EQ(layers_.node(layer).direction, Direction::backward);
  EXPECT_EQ(layers_.dotted(layer), "conv");
  EXPECT_EQ(g_owners.count, 1) << "no reference is kept";
  EXPECT_EQ(g_owners.weak, 1);
  run(8, g_thread);
  EXPECT_EQ(layers_.node(autograd_.backward_layer(thread())).name, "Net");
}

TEST_F(Backward, ANodeThatCountsItselfIsGivenBack) {
  autograd_.attach({as_torchs(&current_intrusive_node), offsetof(Node, number),
                    offsetof(Node, maker), offsetof(Node, padding) + sizeof(std::uint64_t)});
  g_next = 5;
  autograd_.opened(thread().nodes, conv_);
  run(6, g_thread);
  EXPECT_EQ(layers_.node(autograd_.backward_layer(thread())).name, "conv");
  EXPECT_EQ(g_running->padding[0], 0U);
  EXPECT_EQ(g_running->padding[1], 0U) << "no reference is kept";
}

// So the Python side tells the two kinds of pointers apart.
TEST_F(Backward, OnlyTheWordsThatAreReturnedAreWritten) {
  static int nothing = 0;
  run(6, g_thread);
  void* out[2] = {&nothing, &nothing};
  call_current_node(as_torchs(&current_intrusive_node), out);
  EXPECT_EQ(out[0], g_running.get());
  EXPECT_EQ(out[1], &nothing);
  call_current_node(as_torchs(&current_node), out);
  EXPECT_EQ(out[0], g_running.get());
  EXPECT_EQ(out[1], &g_owners);
}

TEST_F(Backward, ANodeThatBackwardMakesIsOfTheLayerThatMakesIt) {
  attach();
  g_next = 5;
  autograd_.opened(thread().nodes, conv_);
  g_next = 6;
  autograd_.opened(thread().nodes, model_);
  g_next = 7;
  autograd_.opened(thread().nodes, 0);
  g_next = 9;  // 7 and 8 are of no layer
  autograd_.backward_begins(thread().nodes);
  run(6, g_thread);
  g_next = 10;
  const LayerId net = autograd_.backward_layer(thread());  // 9
  run(5, g_thread);
  const LayerId conv = autograd_.backward_layer(thread());
  g_next = 12;
  EXPECT_EQ(autograd_.backward_layer(thread()), conv);  // 10 and 11
  autograd_.opened(thread().nodes, 0);                  // backward has ended
  g_next = 14;
  autograd_.backward_begins(thread().nodes);
  const auto layer_of = [this](std::uint64_t number) {
    run(number, g_thread);
    return autograd_.backward_layer(thread());
  };
  for (const std::uint64_t none : {7, 8, 12, 13}) EXPECT_EQ(layer_of(none), 0U) << none;
  EXPECT_EQ(layer_of(9), net);
  EXPECT_EQ(layer_of(10), conv);
  EXPECT_EQ(layer_of(11), conv);
  EXPECT_EQ(layer_of(6), net);
}

// As on a GPU, whose backward runs on a thread of PyTorch's.
TEST_F(Backward, ThatRunsOnAnotherThreadMakesNodesThere) {
  attach();
  g_next = 5;
  autograd_.opened(thread().nodes, conv_);
  const std::uint64_t forward = g_thread;
  LayerId made = 0, of_forward = 0;
  std::thread([&] {
    g_thread = ++last_thread_;
    g_next = 0;
    run(5, forward);
    of_forward = autograd_.backward_layer(thread());
    g_next = 3;
    EXPECT_EQ(autograd_.backward_layer(thread()), of_forward);
    run(1, g_thread);
    made = autograd_.backward_layer(thread());
    thread().nodes.start_anew();
    thread().backward = {};
  }).join();
  EXPECT_NE(made, 0U);
  EXPECT_EQ(made, of_forward);
}

TEST_F(Backward, ANodeWithoutANumberBelongsToTheOneBefore) {
  attach();
  autograd_.opened(thread().nodes, conv_);
  run(3, g_thread);
  const LayerId before = autograd_.backward_layer(thread());
  run(~std::uint64_t{0}, 0);
  EXPECT_EQ(autograd_.backward_layer(thread()), before);
}

TEST_F(Backward, ANodeOfAThreadThatIsNotKnownHasNoLayer) {
  attach();
  autograd_.opened(thread().nodes, conv_);
  run(3, g_thread + 1000000);
  EXPECT_EQ(autograd_.backward_layer(thread()), 0U);
}

TEST_F(Backward, UnattachedNothingIsAsked) {
  run(3, g_thread);
  EXPECT_EQ(autograd_.running_node(), Autograd::kNoNode);
  EXPECT_EQ(autograd_.backward_layer(thread()), 0U);
}

TEST_F(Backward, LayersWithoutADirectionKeepNone) {
  const LayerId range = layers_.child(0, "step", Direction::none);
  const LayerId inner = layers_.child(range, "Net", Direction::forward);
  const LayerId back = autograd_.turned(inner, Direction::backward);
  EXPECT_EQ(layers_.node(back).direction, Direction::backward);
  EXPECT_EQ(layers_.node(layers_.node(back).parent).direction, Direction::none);
  EXPECT_EQ(autograd_.turned(inner, Direction::backward), back);
}

TEST_F(Backward, OfACompiledRegionBackwardIsCompiledToo) {
  const LayerId region = layers_.child(0, "Net", Direction::forward);
  layers_.set_compiled(region, {.modules = {{"a", "Linear"}}, .left_out = 2});
  const auto back = layers_.compiled(autograd_.turned(region, Direction::backward));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->modules.at(0).name, "a");
  EXPECT_EQ(back->left_out, 2u);
}

}  // namespace
}  // namespace gable
