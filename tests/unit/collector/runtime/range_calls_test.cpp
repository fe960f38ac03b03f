// SPDX-License-Identifier: Apache-2.0
// Ranges and modules as programs open and close them on a thread.
#include "collector/runtime/range_calls.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collector/layers/thread_state.h"
#include "collector/process/clock.h"
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

TEST_F(RangeCalls, PartsOfACompiledRegionTakeTurns) {
  EXPECT_EQ(name_module(501, -1, {"P"}, "p"), 1);
  EXPECT_EQ(open_part(1), 0);
  EXPECT_EQ(layer(), "P");
  EXPECT_EQ(name_part(1, {"a", "b"}, 2, true, {}), 2);
  EXPECT_EQ(layer(), "P/a/b");
  EXPECT_EQ(open_part(2), 0) << "which ends the part that was open";
  EXPECT_EQ(layer(), "P");
  EXPECT_EQ(name_part(2, {"a", "b + c"}, 1, true, {{"a.b", "Linear"}, {"", "Net"}}), 2);
  EXPECT_EQ(layer(), "P/a/b + c");
  EXPECT_EQ(open_part(1), 2);
  EXPECT_EQ(layer(), "P/a/b");
  end_part();
  EXPECT_EQ(layer(), "P");
  end_part();
  EXPECT_EQ(layer(), "P");
  EXPECT_TRUE(close_own(1));

  const LayerId p = rt.layers.child(0, "P", Direction::forward);
  const LayerId a = rt.layers.child(p, "a"), b = rt.layers.child(a, "b");
  EXPECT_EQ(rt.layers.dotted(a), "p.a");
  EXPECT_EQ(rt.layers.dotted(b), "p.a.b");
  const LayerId both = rt.layers.child(a, "b + c");
  EXPECT_EQ(rt.layers.dotted(both), "");
  EXPECT_FALSE(rt.layers.compiled(b));
  const auto region = rt.layers.compiled(both);
  ASSERT_TRUE(region && region->fused);
  ASSERT_EQ(region->modules.size(), 2u);
  EXPECT_EQ(region->modules[0].name, "p.a.b");
  EXPECT_EQ(region->modules[0].kind, "Linear");
  EXPECT_EQ(region->modules[1].name, "p");
}

TEST_F(RangeCalls, PartsOfACompiledFunctionStandBelowTheModelsClass) {
  EXPECT_EQ(open_part(11), 0);
  EXPECT_EQ(name_part(11, {"Net", "x"}, 2, false, {}), 1);
  EXPECT_EQ(layer(), "Net/x");
  EXPECT_EQ(open_part(12), 0);
  EXPECT_EQ(name_part(12, {}, 0, true, {}), 1) << "of the function itself";
  EXPECT_NE(layer(), "Net/x");
  end_part();
  const LayerId net = rt.layers.child(0, "Net", Direction::forward);
  EXPECT_EQ(rt.layers.dotted(net), "");
  EXPECT_EQ(rt.layers.dotted(rt.layers.child(net, "x")), "x");
}

TEST_F(RangeCalls, AModelsOwnPartInAKernelHasItsClassForAName) {
  EXPECT_EQ(name_module(531, -1, {"R"}, ""), 1);
  EXPECT_EQ(name_part(31, {"self + a"}, 0, true, {{"", "R"}, {"a", "ReLU"}}), 2);
  close_own(1);
  const LayerId r = rt.layers.child(0, "R", Direction::forward);
  const auto region = rt.layers.compiled(rt.layers.child(r, "self + a"));
  ASSERT_TRUE(region);
  EXPECT_EQ(region->modules.at(0).name, "R");
  EXPECT_EQ(region->modules.at(1).name, "a");
}

TEST_F(RangeCalls, APartEndsWithWhatIsAroundItOrOpensBesideIt) {
  EXPECT_EQ(name_module(521, -1, {"Q"}, ""), 1);
  EXPECT_GT(name_part(21, {"a"}, 1, true, {}), 0);
  EXPECT_EQ(open_module(522), 0);
  EXPECT_EQ(layer(), "Q");
  EXPECT_GT(name_part(21, {"a"}, 1, true, {}), 0);
  EXPECT_TRUE(close_own(1));
  EXPECT_EQ(open_module_at(0), 0u);
  EXPECT_EQ(open_own_range("loss", Direction::forward, true), 1);
  end_part();
  EXPECT_EQ(layer(), "loss") << "that is no part";
  EXPECT_EQ(name_part(22, {"after"}, 1, true, {}), 1);
  EXPECT_EQ(layer(), "after");
  end_part();
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

// The longest that a range can have taken: from before it began to after it ended.
TEST_F(RangeCalls, ARangeTakesTheTimeBetweenItsEnds) {
  rt.hot.span_window.store(7);
  const auto before = ticks();
  push_range(0, "timed", Direction::none);
  EXPECT_GE(thread.ranges.open.back().start_ticks, before);
  EXPECT_EQ(thread.ranges.open.back().window, 7u);
  EXPECT_EQ(name_module(601, -1, {"T"}, "t"), 1);
  EXPECT_GE(thread.ranges.open.back().start_ticks, before);
  EXPECT_EQ(thread.ranges.open.back().window, 7u);
  close_own(1);
  pop_range(0);
  const auto most = ticks() - before;
  int seen = 0;
  thread.spans.take([&](const SpanSums::Taken& taken) {
    ++seen;
    EXPECT_GE(taken.sums.ticks, 1u);
    EXPECT_LE(taken.sums.ticks, most);
  });
  EXPECT_EQ(seen, 2);
}

TEST_F(RangeCalls, OutsideOfAWindowNoClockIsRead) {
  push_range(0, "untimed", Direction::none);
  EXPECT_EQ(thread.ranges.open.back().start_ticks, 0u);
  EXPECT_EQ(name_module(602, -1, {"U"}, "u"), 1);
  EXPECT_EQ(thread.ranges.open.back().start_ticks, 0u);
  close_own(1);
  pop_range(0);
}

// As the border of a step does: a window begins with the range.
class BeginsWindow : public RangeListener {
 public:
  explicit BeginsWindow(Runtime& rt) : rt_(rt) {}
  void step_range_begin() override {}
  void step_range_end() override {}
  void range_begins(std::uint32_t, LayerId, const void*) override {
    if (next != kNoWindow) rt_.hot.span_window.store(next);
  }
  void range_ends(std::uint32_t, const void*) override {}
  void communicator_made(Communicator) override {}
  WindowId next = kNoWindow;

 private:
  Runtime& rt_;
};

TEST_F(RangeCalls, ARangeThatBeginsAWindowIsTimedWithinIt) {
  static BeginsWindow listener(rt);  // the runtime keeps it
  rt.ranges.set_listener(&listener);
  rt.ranges.look_at(1);
  listener.next = 9;
  const auto before = ticks();
  push_range(0, "step", Direction::none);
  listener.next = kNoWindow;
  rt.ranges.look_at(0);
  EXPECT_EQ(thread.ranges.open.back().window, 9u);
  EXPECT_GE(thread.ranges.open.back().start_ticks, before);
  pop_range(0);
  EXPECT_EQ(spans(), (decltype(spans()){{"step", {1, 1}}}));
}

TEST_F(RangeCalls, NamesStandBelowTheModuleThatIsFurtherOut) {
  EXPECT_EQ(name_module(701, -1, {"A", "one"}, "a.one"), 1);
  EXPECT_EQ(rt.layers.dotted(layer_of_module(701)), "a.one");
  EXPECT_EQ(push_range(0, "between", Direction::none), 0);
  EXPECT_EQ(name_module(702, 0, {"B"}, "b"), 2);
  EXPECT_EQ(layer(), "A/one/between/B") << "what is open counts too";
  EXPECT_EQ(rt.layers.node(layer_of_module(702)).direction, Direction::forward);
  EXPECT_EQ(open_module_at(0), 702u);
  EXPECT_EQ(open_module_at(1), 701u);
  EXPECT_EQ(open_module_at(2), 0u);
  close_own(1);
  EXPECT_EQ(layer(), "between") << "of another domain, it goes on";
  pop_range(0);
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
