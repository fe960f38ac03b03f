// SPDX-License-Identifier: Apache-2.0
// Where windows are so many launches, they are counted from where such windows begin: what the
// program did before moves none of them.
#include "collector/windows/step_borders.h"

#include <gtest/gtest.h>

#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

constexpr char kWindowsOfFive[] = "--phases time --wait 0 --warmup 0 --active 2 --window 5";

constexpr Schedule kSchedule = {0, 0, 2, {}};

// Launches that never come again.
class Once {
 public:
  explicit Once(RunOnScript& run) : run_(run) {}
  void launches(int count) {
    for (int i = 0; i < count; ++i) run_.launch("once" + std::to_string(next_++));
  }
  // How many until so many more windows were kept.
  [[nodiscard]] int until_windows(std::uint64_t more) {
    const auto enough = run_.c.windows.counts().time + more;
    int count = 0;
    for (; run_.c.windows.counts().time < enough && count < 1000; ++count) launches(1);
    return count;
  }

 private:
  RunOnScript& run_;
  int next_ = 0;
};

// Two windows of five, which the next launch ends.
constexpr int kTwoWindows = 2 * 5 + 1;

TEST(CountedLaunches, ABlockBeginsWithAWindow) {
  for (int before = 0; before < 5; ++before) {
    RunOnScript run(kWindowsOfFive);
    Once once(run);
    once.launches(before);
    ASSERT_TRUE(run.c.windows.begin_block(kSchedule));
    EXPECT_EQ(once.until_windows(2), kTwoWindows) << before;
  }
}

TEST(CountedLaunches, AFurtherQueueBeginsWithAWindow) {
  RunOnScript run(kWindowsOfFive);
  Once once(run);
  once.launches(8);
  run.c.windows.end_block();
  once.launches(1);
  ASSERT_TRUE(run.over());
  run.c.sink.with_profile([](Profile& profile) { profile.restart(); });
  ASSERT_TRUE(run.c.windows.reopen(kSchedule));
  run.rt.hot.watching.store(true);
  EXPECT_EQ(once.until_windows(2), kTwoWindows);
}

// The program's launches repeat, and then no longer.
TEST(CountedLaunches, AfterTheStepsThatWereFoundTheNextLaunchBeginsAWindow) {
  for (int before = 0; before < 5; ++before) {
    RunOnScript run("--phases time --wait 0 --warmup 0 --active 100 --window 5");
    Once once(run);
    once.launches(before);
    for (int launch = 0; launch < 40 * 12; ++launch) run.launch("k" + std::to_string(launch % 12));
    ASSERT_EQ(run.c.windows.counts().border_name, "period");
    while (run.c.windows.counts().border_name == "period") once.launches(1);
    ASSERT_TRUE(run.said("and then stopped repeating"));
    EXPECT_EQ(once.until_windows(2), kTwoWindows - 1) << before;  // the last one was the first
  }
}

// A range comes again and again, and then no longer.
TEST(CountedLaunches, AfterTheRangesThatWereFoundTheNextLaunchBeginsAWindow) {
  for (int before = 0; before < 5; ++before) {
    RunOnScript run("--phases time --wait 0 --warmup 0 --active 100 --window 5");
    Once once(run);
    once.launches(before);
    for (int step = 0; step < 12; ++step) {
      run.push("iteration");
      for (int k = 0; k < 12; ++k) run.launch("k" + std::to_string((k * 7 + step) % 12));
      run.pop();
    }
    ASSERT_EQ(run.c.windows.counts().border_name, "range");
    while (run.c.windows.counts().border_name == "range") once.launches(1);
    EXPECT_EQ(once.until_windows(2), kTwoWindows) << before;
  }
}

// It turns out that other processes take part: windows are launches from there on.
TEST(CountedLaunches, AfterACommunicatorTheNextLaunchBeginsAWindow) {
  for (int before = 0; before < 5; ++before) {
    RunOnScript run("--phases time --wait 100 --warmup 0 --active 2 --window 5");
    Once once(run);
    once.launches(before);
    for (int launch = 0; launch < 40 * 12; ++launch) run.launch("k" + std::to_string(launch % 12));
    ASSERT_EQ(run.c.windows.counts().border_name, "period");
    run.c.windows.communicator_made(Communicator::processes);
    ASSERT_EQ(run.c.windows.counts().border_name, "launches");
    // The first of the hundred that are waited for is what the period left.
    EXPECT_EQ(once.until_windows(2), 99 * 5 + kTwoWindows) << before;
  }
}

}  // namespace
}  // namespace gable
