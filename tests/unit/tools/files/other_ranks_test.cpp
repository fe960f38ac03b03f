// SPDX-License-Identifier: Apache-2.0
#include "tools/files/other_ranks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/report/report_json.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/tools/made_report.h"

namespace gable {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Paths = std::vector<std::string>;
using Ranks = std::vector<std::int64_t>;

class OtherRanksTest : public ::testing::Test {
 protected:
  std::string report(const std::string& name, std::optional<std::int64_t> rank,
                     bool complete = true) {
    tests::MadeReport made;
    made.report.run.rank = rank;
    made.report.run.complete = complete;
    return folder_.file(name, to_json(made.report));
  }

  [[nodiscard]] OtherRanks others(const std::string& output, std::int64_t size = 3,
                                  const std::string& ranks = {}) const {
    return await_other_ranks(
        {folder_.at(output), ranks, {0, size}, {folder_.at("run-rank0.json")}, since_, 0ms, 0ms});
  }

  tests::TemporaryFolder folder_;
  fs::file_time_type since_ = fs::file_time_type::clock::now();
};

TEST_F(OtherRanksTest, AreFoundByNameInTheirOrder) {
  (void)report("run-rank0.json", 0);
  const Paths expected = {report("run-rank2.json", 2), report("run-rank10.json", 10)};
  (void)report("walk-rank1.json", 1);
  (void)folder_.file("run-rank1.json", "not a report");
  const auto found = others("run.json", 12, "0,1,2,10");
  EXPECT_EQ(found.paths, expected);
  EXPECT_EQ(found.missing, Ranks{1});
  EXPECT_EQ(found.further, 0u);
}

TEST_F(OtherRanksTest, ARanksOwnProcessesAreAllFound) {
  const Paths expected = {report("run-rank1.json", 1), report("run-rank1-41.json", 1)};
  auto found = others("run.json", 2).paths;
  std::sort(found.rbegin(), found.rend());
  EXPECT_EQ(found, expected);
}

TEST_F(OtherRanksTest, OlderFilesAreOfOtherJobs) {
  const auto path = report("run-rank1.json", 1);
  fs::last_write_time(path, since_ - 1min);
  EXPECT_EQ(others("run.json").paths, Paths{});
}

TEST_F(OtherRanksTest, AProcessWithoutARankIsNone) {
  (void)report("run-rank1.json", std::nullopt);
  EXPECT_EQ(others("run.json").paths, Paths{});
}

TEST_F(OtherRanksTest, WithoutAnyOtherNothingIsMissing) {
  (void)report("run-rank0.json", 0);
  EXPECT_EQ(others("run.json").missing, Ranks{}) << "they may write elsewhere";
}

TEST_F(OtherRanksTest, AFolderForEachRankIsNotLookedInto) {
  (void)report("run-rank1.json", 1);
  EXPECT_EQ(others("%q{RANK}/../run.json").paths, Paths{});
}

TEST_F(OtherRanksTest, NamesMayHaveAnySigns) {
  const Paths expected = {report("a[b]*?\\ c-rank1.json", 1)};
  (void)report("ab*?\\ c-rank2.json", 2);
  EXPECT_EQ(others("a[b]*?\\ c.json").paths, expected);
}

TEST_F(OtherRanksTest, IsPatientWithThoseThatAreNotCompleteYet) {
  (void)report("run-rank1.json", 1, false);
  const auto begin = std::chrono::steady_clock::now();
  const auto found =
      await_other_ranks({folder_.at("run.json"), "", {0, 2}, {}, since_, 0ms, 250ms});
  EXPECT_EQ(found.paths, Paths{folder_.at("run-rank1.json")});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 250ms);
}

TEST_F(OtherRanksTest, OfAThousandSomeAreRead) {
  const int more = 3;
  const auto count = static_cast<int>(kMostRanksShown) + more;
  for (int rank = 1; rank <= count; ++rank)
    (void)report("run-rank" + std::to_string(rank) + ".json", rank);
  const auto found = others("run.json", count + 5);
  EXPECT_EQ(found.paths.size(), kMostRanksShown);
  EXPECT_EQ(found.further, 3u);
  EXPECT_EQ(found.missing, Ranks{}) << "not all were looked at";
}

TEST(GlobOfRanks, IsWhatAShellExpands) {
  EXPECT_EQ(glob_of_ranks("/a/run.json"), "/a/run-rank*.json");
  EXPECT_EQ(glob_of_ranks("/a/gable-%h-%p.json"), "/a/gable-*-*-rank*.json");
  EXPECT_EQ(glob_of_ranks("/a b/%r.json"), "'/a b/'*.json");
  EXPECT_EQ(glob_of_ranks("%q{RANK}"), "*");
}

}  // namespace
}  // namespace gable
