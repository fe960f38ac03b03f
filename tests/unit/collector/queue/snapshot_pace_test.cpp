// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/snapshot_pace.h"

#include <gtest/gtest.h>

#include <string>

namespace gable {
namespace {

constexpr std::uint64_t kTick = 100'000'000;  // how often the worker looks

// A program that the worker looks at ten times a second: when its report was written, in tenths.
class PacedRun {
 public:
  explicit PacedRun(std::uint64_t cost_ns = 1'000'000) : cost_ns_(cost_ns) {}
  PacedRun& launches(int ticks) { return go(ticks, 1); }
  PacedRun& is_quiet(int ticks) { return go(ticks, 0); }
  PacedRun& window_ends() {
    ++content_.windows;
    return *this;
  }
  PacedRun& next_report() {
    pace.begin_anew(content_);
    return *this;
  }
  [[nodiscard]] std::string written() const { return written_; }
  SnapshotPace pace;

 private:
  PacedRun& go(int ticks, std::uint64_t launches) {
    for (int i = 0; i < ticks; ++i) {
      content_.events += launches;
      if (pace.due(now_ns_, content_)) {
        pace.wrote(now_ns_, cost_ns_, content_);
        written_ += (written_.empty() ? "" : " ") + std::to_string(now_ns_ / kTick - kStart);
      }
      now_ns_ += kTick;
    }
    return *this;
  }
  static constexpr std::uint64_t kStart = 50;
  const std::uint64_t cost_ns_;
  std::uint64_t now_ns_ = kStart * kTick;
  SnapshotContent content_;
  std::string written_;
};

TEST(SnapshotPace, NothingIsWrittenBeforeTheFirstLaunch) {
  EXPECT_EQ(PacedRun().is_quiet(100).written(), "");
}

TEST(SnapshotPace, TheFirstComesASecondAfterTheFirstLaunch) {
  EXPECT_EQ(PacedRun().is_quiet(20).launches(25).written(), "30");
}

TEST(SnapshotPace, OrAtOnceWhenAWindowIsComplete) {
  EXPECT_EQ(PacedRun().launches(3).window_ends().launches(5).written(), "3");
  EXPECT_EQ(PacedRun().launches(15).window_ends().launches(5).written(), "10 15");
}

TEST(SnapshotPace, ThenEveryFourSecondsWhileAnythingChanges) {
  EXPECT_EQ(PacedRun().window_ends().launches(100).written(), "0 40 80");
  EXPECT_EQ(PacedRun().window_ends().launches(50).is_quiet(100).written(), "0 40 80")
      << "what came between the fortieth and the fiftieth";
  EXPECT_EQ(PacedRun().window_ends().launches(1).is_quiet(300).written(), "0");
}

TEST(SnapshotPace, ALargeReportTakesTwoPercentOfACore) {
  PacedRun run(500'000'000);  // half a second
  EXPECT_FALSE(run.pace.is_stretched());
  EXPECT_EQ(run.window_ends().launches(600).written(), "0 250 500");
  EXPECT_TRUE(run.pace.is_stretched());
}

TEST(SnapshotPace, AnotherReportBeginsAnew) {
  PacedRun run;
  run.window_ends().launches(60).next_report().is_quiet(30).launches(3).window_ends().launches(2);
  EXPECT_EQ(run.written(), "0 40 93");
}

}  // namespace
}  // namespace gable
