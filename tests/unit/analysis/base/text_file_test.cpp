// SPDX-License-Identifier: Apache-2.0
// A program may end at any moment of a write: what then lies in its folder is the file, or nothing.
#include "analysis/base/text_file.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "analysis/base/plain_file.h"
#include "tests/unit/temporary_folder.h"

namespace gable {
namespace {

class TextFile : public ::testing::Test {
 protected:
  TextFile() {
    watch_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ::inotify_add_watch(watch_, folder_.path().c_str(), IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM);
  }
  ~TextFile() override { ::close(watch_); }
  // Names that anything in the folder ever had since the last question.
  std::set<std::string> names() {
    std::set<std::string> found;
    alignas(inotify_event) std::array<char, 16384> bytes{};
    for (ssize_t got = 0; (got = ::read(watch_, bytes.data(), bytes.size())) > 0;) {
      for (const char* at = bytes.data(); at < bytes.data() + got;) {
        inotify_event event{};
        std::memcpy(&event, at, sizeof event);
        found.insert(at + sizeof event);
        at += sizeof event + event.len;
      }
    }
    return found;
  }
  static std::string numbered(const std::string& path, unsigned number) {
    return path + std::to_string(number);
  }

  const tests::TemporaryFolder folder_;
  int watch_ = -1;
};

TEST_F(TextFile, ANewOneHasNoOtherNameBefore) {
  OwnFile file(folder_.at("r.json"), numbered);
  EXPECT_EQ(file.write("one"), "");
  EXPECT_EQ(names(), std::set<std::string>{"r.json"});
  EXPECT_EQ(read_plain_file(folder_.at("r.json")), "one");
  // Another's is left alone. When this process began is known to a tick, and it has just begun.
  std::filesystem::last_write_time(
      folder_.at("r.json"), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  OwnFile other(folder_.at("r.json"), numbered);
  EXPECT_EQ(other.write("two"), "");
  EXPECT_EQ(names(), std::set<std::string>{"r.json1"});
  EXPECT_EQ(read_plain_file(folder_.at("r.json")), "one");
  EXPECT_EQ(read_plain_file(folder_.at("r.json1")), "two");
}

TEST_F(TextFile, WhatIsWrittenAgainTakesThePlaceOfWhatWasThere) {
  OwnFile file(folder_.at("r.json"), numbered);
  EXPECT_EQ(file.write("one"), "");
  EXPECT_EQ(file.write("two"), "");
  EXPECT_EQ(read_plain_file(folder_.at("r.json")), "two");
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder_.path()))
    ++count;
  EXPECT_EQ(count, 1u);
}

TEST_F(TextFile, AFolderThatIsNotThereIsSaid) {
  OwnFile file(folder_.at("none/r.json"), numbered);
  EXPECT_EQ(file.write("one"),
            folder_.at("none/r.json") + " cannot be written: No such file or directory.");
}

}  // namespace
}  // namespace gable
