// SPDX-License-Identifier: Apache-2.0
#include "tools/files/report_files.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace gable {
namespace {

using Paths = std::vector<std::string>;

void add(ReportFiles& files, const std::string& path, std::int64_t pid,
         std::optional<std::int64_t> queue, std::uint64_t timed = 1) {
  Report report;
  report.run.hostname = "node";
  report.run.pid = pid;
  report.run.queue = queue;
  report.run.steps.time = timed;
  files.reports.push_back(report);
  files.paths.push_back(path);
}

TEST(EarlierQueues, TheNewestOfEachProcessStays) {
  ReportFiles files;
  add(files, "a", 1, 1);
  add(files, "b", 2, 1);
  add(files, "a-3", 1, 3);
  add(files, "a-2", 1, 2);
  EXPECT_EQ(take_out_earlier_queues(files), (Paths{"a", "a-2"}));
  EXPECT_EQ(files.paths, (Paths{"b", "a-3"}));
  EXPECT_EQ(files.reports[0].run.pid, 2);
  EXPECT_EQ(files.reports[1].run.queue, 3);
}

TEST(EarlierQueues, OneThatMeasuredNothingStandsForNone) {
  ReportFiles files;
  add(files, "a", 1, 1);
  add(files, "a-2", 1, 2, 0);
  EXPECT_EQ(take_out_earlier_queues(files), Paths{"a-2"});
  EXPECT_EQ(files.paths, Paths{"a"});
  ReportFiles none;
  add(none, "a", 1, 1, 0);
  add(none, "a-2", 1, 2, 0);
  EXPECT_EQ(take_out_earlier_queues(none), Paths{"a"});
}

TEST(EarlierQueues, OtherRanksAndOtherStartsAreOtherProcesses) {
  ReportFiles files;
  for (int i = 0; i < 4; ++i) add(files, std::to_string(i), 1, 1);
  files.reports[1].run.rank = 1;
  files.reports[2].run.started_at = "2030-01-02T03:04:05Z";
  files.reports[3].run.hostname = "another";
  EXPECT_EQ(take_out_earlier_queues(files), Paths());
  EXPECT_EQ(files.paths, (Paths{"0", "1", "2", "3"}));
}

TEST(EarlierQueues, WhatIsOfNoQueueStays) {
  ReportFiles files;
  add(files, "import", 0, std::nullopt);
  add(files, "another", 0, std::nullopt);
  EXPECT_EQ(take_out_earlier_queues(files), Paths());
  EXPECT_EQ(files.paths, (Paths{"import", "another"}));
}

}  // namespace
}  // namespace gable
