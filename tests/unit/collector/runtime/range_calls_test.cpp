// SPDX-License-Identifier: Apache-2.0
// Ranges and modules as programs open and close them on a thread.
#include "collector/runtime/range_calls.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collector/layers/thread_state.h"
#include "collector/runtime/runtime.h"

namespace gable {
namespace {

class RangeCalls : public testing::Test {
 protected:
  Runtime& rt = runtime();
  ThreadState& thread = this_thread();

  RangeCalls() {
    close_own(1);
    rt.hot.span_window.store(kNoWindow);
    (void)spans();
  }
  ~RangeCalls() override {
    close_own(1);
    rt.hot.span_window.store(kNoWindow);
  }
  std::string layer() {
    bool inherited = false;
    return rt.layers.shown(layer_of_launch(rt, thread, inherited));
  }
  // Calls by layer since the last look, and those of them that were timed.
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> spans() {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> found;
    thread.spans.take([&](const SpanSums::Taken& taken) {
      found[rt.layers.shown(taken.layer)] = {taken.sums.calls, taken.sums.timed};
    });
    return found;
  }
};

TEST_F(RangeCalls, ANameIsNeededOnce) {
  EXPECT_EQ(open_module(101), 0);
  EXPECT_EQ(name_module(101, -1, {"Net", "conv"}, "net.conv"), 1);
  EXPECT_EQ(layer(), "Net/conv");
  EXPECT_EQ(open_module_at(0), 101u);
  EXPECT_EQ(open_module_at(1), 0u);
  EXPECT_TRUE(close_own(1)) << "the outermost module has ended";
  EXPECT_EQ(open_module(101), 1);
  EXPECT_EQ(layer(), "Net/conv");
  EXPECT_TRUE(close_own(1));
  EXPECT_FALSE(close_own(1));
  EXPECT_FALSE(close_own(0));
}

TEST_F(RangeCalls, AModuleStandsBelowTheOneThatItsNameStartsFrom) {
  EXPECT_EQ(name_module(201, -1, {"A"}, "a"), 1);
  EXPECT_EQ(name_module(202, 0, {"B"}, "b"), 2);
  EXPECT_EQ(layer(), "A/B");
  EXPECT_EQ(name_module(203, 1, {"C"}, "c"), 3);
  EXPECT_EQ(layer(), "A/C");
  EXPECT_EQ(open_module_at(2), 201u);
  EXPECT_EQ(rt.layers.shown(layer_of_module(202)), "A/B");
  EXPECT_EQ(layer_of_module(204), 0u);
  EXPECT_FALSE(close_own(2)) << "the outermost one goes on";
  EXPECT_EQ(layer(), "A");
  EXPECT_TRUE(close_own(1));
}

TEST_F(RangeCalls, AWrapperIsNoLayer) {
  EXPECT_EQ(name_module(301, -1, {"D"}, "d"), 1);
  EXPECT_EQ(name_module(302, 0, {}, ""), 2);
  EXPECT_EQ(layer(), "D");
  EXPECT_EQ(layer_of_module(302), 0u);
  close_own(1);
  EXPECT_EQ(spans(), (decltype(spans()){{"D", {1, 0}}}));
}

TEST_F(RangeCalls, AnAutomaticRangeEndsWhenAnythingIsOpenedBesideIt) {
  EXPECT_EQ(open_own_range("optimizer", Direction::none, true), 1);
  EXPECT_EQ(open_own_range("loss", Direction::none, false), 1);
  EXPECT_EQ(layer(), "loss");
  end_automatic_range();
  EXPECT_EQ(layer(), "loss") << "that one is none";
  EXPECT_EQ(open_own_range("in", Direction::none, true), 2);
  EXPECT_EQ(open_module(401), 0);
  EXPECT_EQ(layer(), "loss");
  EXPECT_FALSE(close_own(1)) << "no module was open";
}

TEST_F(RangeCalls, OnlyRangesThatBeganInTheOpenWindowAreTimed) {
  push_range(0, "before", Direction::none);
  rt.hot.span_window.store(7);
  push_range(0, "within", Direction::none);
  pop_range(0);
  pop_range(0);
  EXPECT_EQ(spans(), (decltype(spans()){{"before/within", {1, 1}}, {"before", {1, 0}}}));
  push_range(0, "over", Direction::none);
  rt.hot.span_window.store(8);
  pop_range(0);
  EXPECT_EQ(spans(), (decltype(spans()){{"over", {1, 0}}}));
}

TEST_F(RangeCalls, DepthsAreThoseOfNvtx) {
  EXPECT_EQ(push_range(0, "a", Direction::none), 0);
  EXPECT_EQ(push_range(0, "b", Direction::none), 1);
  EXPECT_EQ(pop_range(0), 1);
  EXPECT_EQ(pop_range(0), 0);
  EXPECT_LT(pop_range(0), 0);
}

TEST_F(RangeCalls, AreFollowedUntilTheCollectionIsOver) {
  EXPECT_TRUE(ranges_active());
  set_ranges_active(false);
  EXPECT_FALSE(ranges_active());
  set_ranges_active(true);
  EXPECT_TRUE(ranges_active());
}

}  // namespace
}  // namespace gable
