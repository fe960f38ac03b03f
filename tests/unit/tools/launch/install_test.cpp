// SPDX-License-Identifier: Apache-2.0
// What lies beside a program: a copy of this one in folders made for it, as installations have
// them, tells what it finds there.
#include "tools/launch/install.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"
#include "tools/base/wrong_use.h"
#include "tools/launch/injection.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kPlayback = {
    "playback/libcuda.so.1",      "playback/libcupti.so.13", "playback/libnvidia-ml.so.1",
    "playback/libnvperf_host.so", "playback/gable-player",   "playback/libnvperf_target.so"};

// What the Python side consists of, in the order in which a missing one is looked for.
std::vector<std::string> python_files() {
  std::vector<std::string> files;
  const fs::path inject = fs::path(GABLE_TEST_SOURCE) / "inject";
  for (const char* folder : {"python/startup", "python/gable", "python/gable_profiler"}) {
    for (const auto& file : fs::directory_iterator(inject / folder))
      if (file.path().extension() == ".py")
        files.push_back(fs::relative(file.path(), inject).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

// Run by the copy. From another folder than the one it was started in.
TEST(CopiedProgram, DISABLED_TellsWhatItFinds) {
  const auto tell = [](const char* what, const std::string& found) {
    std::printf("= %s: %s\n", what, found.c_str());
  };
  ASSERT_EQ(chdir("/"), 0);
  tell("library", injected_library());
  tell("python", python_startup_folder());
  tell("no python", no_python_side());
  tell("playback", playback_folder());
  tell("no playback", no_playback());
  tell("lacks", lacks_python_side({}) ? "yes" : "no");
  Settings off;
  off.layers = ModuleLayers::off;
  tell("lacks, off", lacks_python_side(off) ? "yes" : "no");
  set_injection("/ours.so", off);
  tell("PYTHONPATH, off", value_of("PYTHONPATH"));
  set_injection("/ours.so", {});
  tell("PYTHONPATH", value_of("PYTHONPATH"));
  set_injection("/ours.so", {});
  tell("PYTHONPATH again", value_of("PYTHONPATH"));
  for (const char* name : {"DAMAGED", "RECORDING", "RECORDING"}) {
    try {
      tell("played", set_playback(value_of(name)));
      tell("LD_LIBRARY_PATH", value_of("LD_LIBRARY_PATH"));
      tell("GABLE_PLAYBACK", value_of("GABLE_PLAYBACK"));
    } catch (const WrongUse& wrong) {
      tell("not played", wrong.what());
    }
  }
}

class InstalledProgram : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(root_ / "bin");
    // A second name will do where the file system is the same.
    const fs::path me = fs::read_symlink("/proc/self/exe");
    std::error_code other;
    fs::create_hard_link(me, root_ / "bin/program", other);
    if (other) fs::copy_file(me, root_ / "bin/program");
    put("recording.jsonl", R"({"gable_recording": 1, "origin": "hand-written", "note": "n"})");
    put("damaged.jsonl", "{");
  }

  void put(const std::string& name, const std::string& text = "") {
    folder_.file(name, text + "\n");
  }
  void put_all(const std::string& folder, const std::vector<std::string>& files,
               const std::string& but = "") {
    for (const auto& file : files)
      if (file != but) put(folder + "/" + file);
  }

  // The lines that the copy tells; `before`: variables for it.
  void run(const std::string& before = "") {
    const std::string line = "cd '" + root_.string() +
                             "/bin' && unset PYTHONPATH LD_LIBRARY_PATH GABLE_PLAYBACK && " +
                             "RECORDING='" + root_.string() + "/./recording.jsonl' DAMAGED='" +
                             root_.string() + "/damaged.jsonl' " + before +
                             " ./program --gtest_also_run_disabled_tests "
                             "--gtest_filter=CopiedProgram.DISABLED_TellsWhatItFinds 2>&1";
    FILE* told = popen(line.c_str(), "r");
    ASSERT_NE(told, nullptr);
    told_.clear();
    char buffer[4096];
    while (std::fgets(buffer, sizeof buffer, told) != nullptr) told_ += buffer;
    EXPECT_EQ(pclose(told), 0) << told_;
  }
  void expect(const std::string& line) const {
    EXPECT_NE(told_.find("= " + line), std::string::npos) << line << "\n" << told_;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (root_ / name).string(); }

  const tests::TemporaryFolder folder_;
  const fs::path root_ = fs::canonical(folder_.path());
  std::string told_;
};

TEST_F(InstalledProgram, FindsNothingWhereNothingIs) {
  put("lib/other");
  run();
  expect("library: \n");
  expect("python: \n");
  expect("no python: Gable's Python side");
  EXPECT_NE(told_.find(" is not in ../lib/python beside this program, so no module "),
            std::string::npos);
  expect("playback: \n");
  expect("no playback: The playback GPU is not in ../lib/playback beside this program, so ");
  expect("lacks: yes\n");
  expect("lacks, off: no\n");
  expect("PYTHONPATH: unset\n");
  expect("not played: The playback GPU is not in ../lib/playback");
  EXPECT_EQ(told_.find("= LD_LIBRARY_PATH"), std::string::npos);
}

TEST_F(InstalledProgram, FindsEverythingInTheFoldersOfABuild) {
  put("lib/libgable_inject.so");
  put("lib/gable/libgable_inject.so");
  put_all("lib", python_files());
  put_all("lib", kPlayback);
  run();
  expect("library: " + at("lib/libgable_inject.so") + "\n");
  expect("python: " + at("lib/python/startup") + "\n");
  expect("playback: " + at("lib/playback") + "\n");
  expect("lacks: no\n");
  expect("lacks, off: no\n");
  expect("PYTHONPATH, off: unset\n");
  expect("PYTHONPATH: " + at("lib/python/startup") + "\n");
  expect("PYTHONPATH again: " + at("lib/python/startup") + "\n");
  expect("not played: " + at("damaged.jsonl"));
  expect("played: " + at("lib/playback") + "\n= LD_LIBRARY_PATH: " + at("lib/playback") +
         "\n= GABLE_PLAYBACK: " + at("recording.jsonl") + "\n");
  expect("LD_LIBRARY_PATH: " + at("lib/playback") + ":" + at("lib/playback") + "\n");
}

TEST_F(InstalledProgram, FindsEverythingInTheFoldersOfAnInstallation) {
  put("lib/gable/libgable_inject.so");
  put_all("lib/gable", python_files());
  put_all("lib/gable", kPlayback);
  run("PYTHONPATH=/theirs LD_LIBRARY_PATH=/libraries");
  expect("library: " + at("lib/gable/libgable_inject.so") + "\n");
  expect("python: " + at("lib/gable/python/startup") + "\n");
  expect("playback: " + at("lib/gable/playback") + "\n");
  expect("PYTHONPATH, off: /theirs\n");
  expect("PYTHONPATH: " + at("lib/gable/python/startup") + ":/theirs\n");
  expect("PYTHONPATH again: " + at("lib/gable/python/startup") + ":/theirs\n");
  expect("LD_LIBRARY_PATH: " + at("lib/gable/playback") + ":/libraries\n");
}

TEST_F(InstalledProgram, NamesTheFileThatIsMissing) {
  const auto python = python_files();
  put_all("lib", python, python.back());
  put_all("lib", kPlayback, "playback/gable-player");
  run();
  expect("python: \n");
  EXPECT_NE(told_.find("(../lib/" + python.back() + " is missing), so no module "),
            std::string::npos)
      << told_;
  expect("lacks: yes\n");
  expect("PYTHONPATH: unset\n");
  expect("playback: \n");
  expect(
      "no playback: The playback GPU is not complete beside this program "
      "(../lib/playback/gable-player is missing), so ");
  expect("not played: The playback GPU is not complete");
}

TEST_F(InstalledProgram, NamesTheFolderWhereNoFileIsMissing) {
  put_all("lib", kPlayback);
  run();
  expect(
      "no playback: The playback GPU is not complete beside this program "
      "(../lib/playback is missing), so ");
}

}  // namespace
}  // namespace gable
