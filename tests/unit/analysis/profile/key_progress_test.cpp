// SPDX-License-Identifier: Apache-2.0
// What is not known well enough asks for more windows, unless it is less than a hundredth of the
// time: see kWorthAWindow.
#include "analysis/profile/key_progress.h"

#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class KeyProgress : public ProfileTest {
 protected:
  KeyProgress() {
    profile.set_metrics(kHw1, {"gpu__time_duration.sum"});
    profile.set_metrics(kFlops, kFlopsMetrics);
  }
  // A window with these kernels, and how long each of their launches takes.
  struct Ran {
    std::string kernel;
    int launches;
    std::uint64_t ns;
  };
  void timed_window(const std::vector<Ran>& all, bool keep = true) {
    begin(++windows_, kTime);
    for (const Ran& ran : all) {
      for (int i = 0; i < ran.launches; ++i, now_ += 1'000'000)
        timed(key(0, ran.kernel), now_, now_ + ran.ns);
    }
    end(kTime, keep, now_, now_ + 1);
  }
  void counted_window(const std::vector<Ran>& all, Phase phase = kHw1) {
    begin(++windows_, phase);
    for (const Ran& ran : all) {
      for (int i = 0; i < ran.launches; ++i) {
        const auto value = static_cast<double>(ran.ns);
        sample(phase, key(0, ran.kernel),
               phase == kFlops ? std::vector<double>{value, 0, 0} : std::vector<double>{value});
      }
    }
    end(phase, true, now_, now_ + 1);
  }
  [[nodiscard]] KeyNeeds needs(Phase phase, std::uint32_t round = 1) const {
    ProgressQuery query;
    query.phase = phase;
    query.round = round;
    return key_needs(profile, query);
  }

 private:
  WindowId windows_ = 0;
  std::uint64_t now_ = 1'000'000;
};

TEST_F(KeyProgress, TwentiethsAreWorthAWindowAndThousandthsAreNot) {
  // `often` has its three samples after one window, `once` has one.
  timed_window({{"often", 3, 1000}, {"once", 1, 158}});  // 5 % of the time
  auto of_time = needs(kTime);
  EXPECT_NEAR(of_time.samples, 158.0 / 3158, 1e-9);
  EXPECT_TRUE(of_time.more());
  EXPECT_EQ(of_time.keys, 2u);
  profile.restart();
  timed_window({{"often", 3, 1000}, {"once", 1, 15}});  // half a per cent
  of_time = needs(kTime);
  EXPECT_NEAR(of_time.samples, 15.0 / 3015, 1e-9);
  EXPECT_FALSE(of_time.more());
}

TEST_F(KeyProgress, ThreeSamplesAreEnoughAndEveryRoundWantsItsOwn) {
  timed_window({{"k", 2, 1000}});
  EXPECT_TRUE(needs(kTime).more());
  timed_window({{"k", 1, 1000}});
  EXPECT_FALSE(needs(kTime).more());
  EXPECT_TRUE(needs(kTime, 2).more());
  timed_window({{"k", 3, 1000}});
  EXPECT_FALSE(needs(kTime, 2).more());
}

TEST_F(KeyProgress, FlopsAreCountedOnceAndCheckedOnce) {
  counted_window({{"k", 5, 64}}, kFlops);
  EXPECT_TRUE(needs(kFlops).more());
  EXPECT_TRUE(needs(kFlops).new_keys());
  counted_window({{"k", 5, 64}}, kFlops);
  EXPECT_FALSE(needs(kFlops).more());
  EXPECT_FALSE(needs(kFlops).new_keys());
  EXPECT_FALSE(needs(kFlops).wide());
}

TEST_F(KeyProgress, TimesThatSpreadAskForMoreUntilTheirMeanIsKnown) {
  timed_window({{"k", 3, 1000}});
  timed_window({{"k", 3, 1010}});
  EXPECT_FALSE(needs(kTime).wide());  // half a per cent from the mean
  profile.restart();
  timed_window({{"k", 3, 1000}});
  timed_window({{"k", 3, 1100}});
  EXPECT_TRUE(needs(kTime).wide());  // 1050 +- 71: some 12 windows bring the error to 2 %
  for (int i = 0; i < 4; ++i) {
    timed_window({{"k", 3, 1000}});
    timed_window({{"k", 3, 1100}});
  }
  EXPECT_FALSE(needs(kTime).wide());
}

TEST_F(KeyProgress, AWindowThatWasThrownAwayTaughtNothing) {
  counted_window({{"k", 3, 100}});
  EXPECT_FALSE(needs(kHw1).more());
  EXPECT_TRUE(needs(kTime).more());
  timed_window({{"k", 3, 1000}}, false);
  EXPECT_TRUE(needs(kTime).more());
}

// Where no time is known launches count, and where one is asked to guess, threads do.
TEST_F(KeyProgress, WithoutTimesByLaunches) {
  begin(1, kWarmup);
  for (int i = 0; i < 98; ++i) launch(key(0, "often"));
  for (int i = 0; i < 2; ++i) launch(key(0, "large", 98));
  end(kWarmup, false);
  ProgressQuery query;
  query.phase = kHw1;
  for (const auto& want : key_wants(profile, query)) {
    EXPECT_EQ(want.ns, 0);
    EXPECT_TRUE(want.lacks);
  }
  query.guess = true;
  const auto wants = key_wants(profile, query);
  ASSERT_EQ(wants.size(), 2u);
  EXPECT_EQ(wants[0].launches, 98);
  EXPECT_EQ(wants[1].launches, 2);
  EXPECT_DOUBLE_EQ(wants[0].ns, 128);
  EXPECT_DOUBLE_EQ(wants[1].ns, 98 * 128);
}

TEST_F(KeyProgress, AGuessIsAsLongAsOthersTakeForEachThread) {
  counted_window({{"known", 2, 1280}});
  begin(2, kWarmup);
  launch(key(0, "unknown", 3));
  end(kWarmup, false);
  ProgressQuery query;
  query.phase = kHw1;
  query.guess = true;
  const auto wants = key_wants(profile, query);
  ASSERT_EQ(wants.size(), 2u);
  EXPECT_DOUBLE_EQ(wants[0].ns, 1280);
  EXPECT_DOUBLE_EQ(wants[1].ns, 3 * 1280);
}

}  // namespace
}  // namespace gable::tests
