// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/injection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/unit/temporary_folder.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

class Injection : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GABLE_OPTIONS"})
      unsetenv(name);
  }
};

TEST_F(Injection, IsHeldByAnotherToolOnly) {
  EXPECT_EQ(injection_holder("/ours.so"), "");
  setenv("CUDA_INJECTION64_PATH", "", 1);
  setenv("NVTX_INJECTION64_PATH", "/ours.so", 1);
  EXPECT_EQ(injection_holder("/ours.so"), "");
  setenv("NVTX_INJECTION64_PATH", "/theirs.so", 1);
  EXPECT_EQ(injection_holder("/ours.so"), "NVTX_INJECTION64_PATH is /theirs.so");
  setenv("CUDA_INJECTION64_PATH", "/other.so", 1);
  EXPECT_EQ(injection_holder("/ours.so"), "CUDA_INJECTION64_PATH is /other.so");
}

TEST_F(Injection, SetsBothWaysInAndTheOptions) {
  setenv("CUDA_INJECTION64_PATH", "/old.so", 1);
  setenv("GABLE_OPTIONS", "old", 1);
  set_injection("/ours.so", {});
  EXPECT_EQ(variable("CUDA_INJECTION64_PATH"), "/ours.so");
  EXPECT_EQ(variable("NVTX_INJECTION64_PATH"), "/ours.so");
  EXPECT_EQ(variable("GABLE_OPTIONS"), to_options({}));
}

TEST_F(Injection, TakesOnlyOursOut) {
  setenv("CUDA_INJECTION64_PATH", "/ours.so", 1);
  setenv("NVTX_INJECTION64_PATH", "/theirs.so", 1);
  clear_own_injection("/ours.so");
  EXPECT_EQ(variable("CUDA_INJECTION64_PATH"), "unset");
  EXPECT_EQ(variable("NVTX_INJECTION64_PATH"), "/theirs.so");
}

TEST(FullPath, BeginsAtTheRoot) {
  EXPECT_EQ(full_path("/a/./b/../c"), "/a/c");
  EXPECT_EQ(full_path("a/../b"), (std::filesystem::current_path() / "b").string());
}

TEST(FullPath, NeedsTheCurrentFolder) {
  const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const tests::TemporaryFolder gone;
  ASSERT_EQ(chdir(gone.path().c_str()), 0);
  ASSERT_EQ(rmdir(gone.path().c_str()), 0);
  EXPECT_THROW(static_cast<void>(full_path("a")), WrongUse);
  EXPECT_EQ(full_path("/a"), "/a");
  ASSERT_EQ(fchdir(here), 0);
  close(here);
}

TEST(Playback, RefusesWhatIsNoFile) {
  EXPECT_THROW(set_playback("/gable/no/such/recording"), WrongUse);
  EXPECT_THROW(set_playback("/"), WrongUse);
}

TEST(ManifestOfReports, NamesEveryReportOnce) {
  std::string path;
  {
    const Manifest manifest;
    path = manifest.path();
    ASSERT_TRUE(std::filesystem::exists(path));
    EXPECT_TRUE(manifest.read().empty());
    EXPECT_FALSE(manifest.saw_launch());
    std::ofstream(path) << "7\tb.json\n7\ta\tb.json\n8\tb.json\n7\tb.json\nno tab\nx\tc.json\n"
                        << "9x\tc.json\n\tc.json\n";
    const auto entries = manifest.read();
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].pid, 7);
    EXPECT_EQ(entries[0].path, "b.json");
    EXPECT_EQ(entries[1].pid, 7);
    EXPECT_EQ(entries[1].path, "a\tb.json");
    EXPECT_EQ(entries[2].pid, 8);
    EXPECT_EQ(entries[2].path, "b.json");
    EXPECT_FALSE(manifest.saw_launch());
    std::ofstream(path) << "\t\n";
    EXPECT_FALSE(manifest.saw_launch());
    std::ofstream(path) << "7\t\n";
    EXPECT_TRUE(manifest.saw_launch());
    EXPECT_TRUE(manifest.read().empty());
    std::ofstream(path) << "7\t/tmp/what was left out\n";
    EXPECT_FALSE(manifest.saw_rank_left_out());
    std::ofstream(path) << "7 left out\n8\tb.json\n";
    EXPECT_TRUE(manifest.saw_rank_left_out());
    EXPECT_FALSE(manifest.saw_launch());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

class PlaceOfTheManifest : public testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("TMPDIR");
    if (value != nullptr) before_ = value;
  }
  void TearDown() override {
    if (before_) {
      setenv("TMPDIR", before_->c_str(), 1);
    } else {
      unsetenv("TMPDIR");
    }
  }
  static int next_file() {
    const int file = dup(0);
    close(file);
    return file;
  }

  const tests::TemporaryFolder folder_;

 private:
  std::optional<std::string> before_;
};

TEST_F(PlaceOfTheManifest, IsTheTemporaryFolder) {
  setenv("TMPDIR", folder_.path().c_str(), 1);
  const int file = next_file();
  {
    const Manifest manifest;
    EXPECT_EQ(manifest.path().rfind(folder_.at("gable-reports-"), 0), 0U) << manifest.path();
    EXPECT_EQ(next_file(), file) << "a file is left open";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(PlaceOfTheManifest, IsAnotherWhereThatFolderIsOfNoUse) {
  for (const char* useless : {"/gable/no/such/folder", "/proc"}) {
    setenv("TMPDIR", useless, 1);
    const Manifest manifest;
    EXPECT_EQ(manifest.path().rfind("/tmp/gable-reports-", 0), 0U) << manifest.path();
  }
}

}  // namespace
}  // namespace gable
