// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/key_choice.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

// Three kernels in a step: by their threads the first is the longest; by the counted durations the
// second is.
class KeyChoiceTest : public ::testing::Test {
 protected:
  LayerTree layers;
  FunctionTable functions;
  Profile profile{layers, functions, {}};
  LaunchKey big, slow, small;

  void SetUp() override {
    profile.set_metrics({PhaseKind::hw, 0}, {"gpu__time_duration.sum", "sm__ctas_launched.sum"});
    for (auto* key : {&big, &slow, &small}) key->block = {128, 1, 1};
    big.function = functions.intern("big");
    big.grid = {4000, 1, 1};
    slow.function = functions.intern("slow");
    slow.grid = {1000, 1, 1};
    small.function = functions.intern("small");
    small.grid = {10, 1, 1};
  }
  // `counted`: with durations of 1, 50 and 1 us.
  void step(WindowId window, bool counted) {
    const Phase phase{counted ? PhaseKind::hw : PhaseKind::warmup, 0};
    profile.begin_window(window, phase);
    for (const auto& [key, launches] : {std::pair{big, 40}, {slow, 40}, {small, 20}}) {
      for (int i = 0; i < launches; ++i) {
        profile.add(LaunchEvent{key, counted ? window : kNoWindow, ++correlation_, false});
        const double values[] = {key == slow ? 50000.0 : 1000.0,
                                 static_cast<double>(key.grid.count())};
        if (counted) profile.add(phase, window, {key, values});
      }
    }
    WindowEnd end;
    end.window = window;
    end.phase = phase;
    end.keep = true;
    end.launches = 100;
    profile.end_window(end);
  }
  [[nodiscard]] KeyChoice choose(std::uint64_t room, std::uint64_t windows,
                                 bool all = false) const {
    ChoiceRequest request;
    request.query.phase = {PhaseKind::hw, 0};
    request.windows = windows;
    request.room = room;
    request.all = all;
    return choose_keys(profile, request);
  }

 private:
  std::uint32_t correlation_ = 0;
};

TEST_F(KeyChoiceTest, ByThreadsWhileNoTimeIsKnown) {
  step(1, false);
  step(2, false);
  const auto choice = choose(50, 2);
  EXPECT_EQ(choice.keys, KeySet{big});
  EXPECT_EQ(choice.launches, 40);
  EXPECT_TRUE(choice.enough());
}

TEST_F(KeyChoiceTest, TheLargestShareOfTheTimeFirst) {
  step(1, true);
  EXPECT_EQ(choose(50, 1).keys, KeySet{slow}) << "nobody lacks samples: all are wanted alike";
  EXPECT_EQ(choose(85, 1).keys, (KeySet{slow, big}));
  EXPECT_EQ(choose(100, 1).keys, (KeySet{slow, big, small}));
}

TEST_F(KeyChoiceTest, NoPartOfAKey) {
  step(1, false);
  const auto choice = choose(39, 1);
  EXPECT_FALSE(choice.enough());
  EXPECT_EQ(choice.least, 40) << "what there must be room for";
  EXPECT_TRUE(choice.keys.empty());
}

TEST_F(KeyChoiceTest, AllOfThemWhereCuptiCountsEveryLaunch) {
  step(1, false);
  EXPECT_FALSE(choose(99, 1, true).enough());
  EXPECT_EQ(choose(100, 1, true).keys.size(), 3);
}

TEST_F(KeyChoiceTest, NothingBeforeALaunchWasSeen) { EXPECT_FALSE(choose(1000, 1).enough()); }

}  // namespace
}  // namespace gable
