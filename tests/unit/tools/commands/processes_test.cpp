// SPDX-License-Identifier: Apache-2.0
// Several processes of one command: a report for each, one table, the command's own exit code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT

namespace gable::tests {
namespace {

class Processes : public testing::Test {
 protected:
  // Runs `script` with the playback GPU; $PLAY in it is a program that launches kernels.
  Ran profile(const std::string& options, const std::string& script) {
    std::ofstream(folder_ + "/work.jsonl")
        << R"({"gable_recording": 1, "origin": "hand-written", "note": "one kernel, many times"})"
           "\n"
        << R"({"kernel": "work", "name": "work", "grid": [8, 1, 1], "block": [64, 1, 1], )"
        << R"("time_ns": 5000})"
           "\n"
        << R"({"sequence": "s"})"
           "\n"
        << R"({"op": "launch", "kernel": "work"})"
           "\n"
        << R"({"end_sequence": "s"})"
           "\n"
        << R"({"op": "play", "sequence": "s", "times": 50})"
           "\n";
    std::ofstream(folder_ + "/script.sh") << script << "\n";
    const std::string player = std::filesystem::path(GABLE_PROGRAM).parent_path().parent_path() /
                               "lib/playback/gable-player";
    return run_gable(
        "profile --phases time --window 10 --playback work.jsonl " + options + " -- sh script.sh",
        "cd " + folder_ + " && PLAY='" + player + " work.jsonl'");
  }
  [[nodiscard]] std::vector<std::string> reports() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".json") names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  const std::string folder_ = temporary_folder();
};

TEST_F(Processes, EachWritesItsReportAndOneTableShowsAll) {
  const Ran ran = profile("", "$PLAY & $PLAY & $PLAY; wait; exit 5");
  EXPECT_EQ(ran.code, 5);
  EXPECT_EQ(ran.out, "");
  const std::vector<std::string> files = reports();
  ASSERT_EQ(files.size(), 3U) << ran.err;
  EXPECT_EQ(ran.err.rfind("[playback] ", 0), 0U) << ran.err;
  EXPECT_EQ(count(ran.err, "[playback] "), 1U);
  EXPECT_EQ(count(ran.err, "\n3 processes; "), 1U) << ran.err;
  EXPECT_EQ(count(ran.err, "\nNext: "), 1U);
  for (const std::string& file : files) {
    EXPECT_EQ(count(ran.err, "\nReport: " + folder_ + "/" + file + "\n"), 1U) << ran.err;
    // The process is named as its file is: gable-HOST-PID.json.
    const std::string pid = std::regex_replace(file, std::regex(".*-(\\d+)\\.json"), "$1");
    EXPECT_TRUE(std::regex_search(ran.err, std::regex("\nwork +" + pid + " "))) << ran.err;
  }
}

TEST_F(Processes, OneNameForAllLosesNone) {
  const Ran ran = profile("-o run.json", "$PLAY & $PLAY; wait");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(reports().size(), 2U) << ran.err;
  EXPECT_EQ(count(ran.err, "\nReport: "), 2U) << ran.err;
  EXPECT_EQ(count(ran.err, "\n2 processes; "), 1U) << ran.err;
}

TEST_F(Processes, ThoseWithoutLaunchesLeaveNothing) {
  const Ran ran = profile("", "ls >/dev/null; sh -c true; $PLAY; sh -c true");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(reports().size(), 1U) << ran.err;
  EXPECT_EQ(ran.err.find("processes"), std::string::npos) << ran.err;
}

TEST_F(Processes, AChildLeftRunningIsNotWaitedFor) {
  // As a shell would: the command is over when the command is over.
  const Ran ran = profile("", "(sleep 20) >/dev/null 2>&1 & $PLAY; exit 0");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(reports().size(), 1U) << ran.err;
}

TEST_F(Processes, QuietPrintsThePathsAlone) {
  const Ran ran = profile("--quiet", "$PLAY & $PLAY; wait");
  EXPECT_TRUE(std::regex_match(ran.err, std::regex("(Report: /\\S+\\.json\n){2}"))) << ran.err;
}

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
