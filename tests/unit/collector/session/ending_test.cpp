// SPDX-License-Identifier: Apache-2.0
// Whatever way a run ends, there is one report, and it says how it ended.
#include "collector/session/ending.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

constexpr char kTimes[] = "--phases time --wait 0 --warmup 0 --active 2";

std::string written(RunOnScript& run) {
  const std::ifstream file(run.reports.output().name());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Ending, TheProgramsEndWritesWhatThereIs) {
  RunOnScript run(kTimes);
  run.steps(4, {"gemm"});
  EXPECT_FALSE(run.ending.begun());
  run.ending.with_program();
  EXPECT_TRUE(run.ending.begun());
  EXPECT_NE(written(run).find("\"gemm\""), std::string::npos);
  EXPECT_NE(written(run).find("\"complete\": true"), std::string::npos);
}

// The worker may be about to write one when the program's thread writes the last report.
TEST(Ending, ASnapshotThatComesLateChangesNothing) {
  RunOnScript run(kTimes);
  run.steps(4, {"gemm"});
  EXPECT_TRUE(run.reports.write(false, false));
  EXPECT_NE(written(run).find("\"complete\": false"), std::string::npos);
  run.ending.with_program();
  const auto last = written(run);
  EXPECT_TRUE(run.reports.write(false, false));
  EXPECT_EQ(written(run), last);
  // The next queue has a report of its own.
  run.reports.output().next_queue();
  EXPECT_TRUE(run.reports.write(false, false));
  EXPECT_NE(written(run).find("\"complete\": false"), std::string::npos);
}

TEST(Ending, TheSecondWayToEndChangesNothing) {
  RunOnScript run(kTimes);
  run.steps(4, {"gemm"});
  run.ending.with_program();
  const auto first = written(run);
  run.ending.for_signal();
  run.ending.with_program();
  EXPECT_EQ(written(run), first);
  EXPECT_FALSE(run.said("ended by a signal"));
}

TEST(Ending, OfTwoWaysAtOnceOneWritesAndTheOtherWaits) {
  RunOnScript run(kTimes);
  run.steps(4, {"gemm"});
  std::thread other([&] { run.ending.with_program(); });
  run.ending.with_program();
  EXPECT_NE(written(run).find("\"gemm\""), std::string::npos);  // whoever wrote it
  other.join();
}

TEST(Ending, ASignalIsSaid) {
  RunOnScript run(kTimes);
  run.steps(4, {"gemm"});
  run.launch("half a step");
  run.ending.for_signal();
  EXPECT_TRUE(run.said("ended by a signal"));
  EXPECT_NE(written(run).find("\"gemm\""), std::string::npos);
}

TEST(Ending, AnotherToolGetsCuptiAndTheReportHasWhatCameBefore) {
  RunOnScript run(kTimes);
  ASSERT_EQ(run.subscription.begin(Callbacks::entry, &run.callbacks, [](const std::string&) {}),
            "");
  run.steps(4, {"gemm"});
  run.ending.for_tool("libtool.so");
  EXPECT_TRUE(run.said("libtool.so uses CUPTI from now on"));
  EXPECT_EQ(run.cupti.count("cuptiUnsubscribe"), 1);
  EXPECT_NE(written(run).find("\"gemm\""), std::string::npos);
}

TEST(Ending, AfterTheQueueThereIsACompleteReportAndCuptiIsFree) {
  RunOnScript run(kTimes);
  ASSERT_EQ(run.subscription.begin(Callbacks::entry, &run.callbacks, [](const std::string&) {}),
            "");
  run.steps(6, {"gemm"});
  ASSERT_TRUE(run.over());
  run.ending.with_queue();
  EXPECT_TRUE(run.ending.complete());
  EXPECT_EQ(run.cupti.count("cuptiUnsubscribe"), 1);
  EXPECT_NE(written(run).find("\"complete\": true"), std::string::npos);
}

// Kernels that never ran to their end have no records: the report says so and does not wait long.
TEST(Ending, RecordsThatDoNotComeAreLostAndCounted) {
  RunOnScript run(kTimes);
  run.steps(4, {"gemm"});
  run.launch("gemm");
  run.c.windows.step_point();
  run.forget_records();
  run.ending.with_program();
  EXPECT_GT(run.report().run.lost.unattributed_launches, 0u);
}

}  // namespace
}  // namespace gable
