// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/progress.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace gable {
namespace {

class ProgressOf : public testing::Test {
 protected:
  // Without contents on the disk.
  std::string file(const std::string& name, std::uint64_t size) const {
    std::string path = folder_.file(name, "");
    std::filesystem::resize_file(path, size);
    return path;
  }
  // What is drawn; stderr is no terminal here, and 80 columns are taken.
  static std::string drawn(const std::function<void()>& what) {
    testing::internal::CaptureStderr();
    what();
    return testing::internal::GetCapturedStderr();
  }

  const tests::TemporaryFolder folder_;
};

std::string line(unsigned percent, const std::string& name) {
  return "\r\x1b[K" + progress_line(percent, name, 80);
}

TEST_F(ProgressOf, IsDrawnOnceAPercent) {
  const std::string path = file("a.sqlite", 8u << 20);
  EXPECT_EQ(drawn([&] {
              Progress progress(true);
              progress.begin(path, 1000);
              progress.at(0);
              progress.at(9);
              progress.at(10);
              progress.at(999);
              progress.at(1000);
              progress.at(2000);
              progress.clear();
              progress.clear();
            }),
            line(0, "a.sqlite") + line(1, "a.sqlite") + line(99, "a.sqlite") +
                line(100, "a.sqlite") + "\r\x1b[K");
  // A second file begins anew, and the end of all takes the line away.
  EXPECT_EQ(drawn([&] {
              Progress progress(true);
              progress.begin(path, 1000);
              progress.at(500);
              progress.begin(path, 1000);
              progress.at(500);
            }),
            line(50, "a.sqlite") + line(50, "a.sqlite") + "\r\x1b[K");
}

TEST_F(ProgressOf, IsOfLargeFilesAlone) {
  const auto is_drawn = [&](const std::string& path, std::uint64_t whole, bool shown = true) {
    return !drawn([&] {
              Progress progress(shown);
              progress.begin(path, whole);
              progress.at(5);
            }).empty();
  };
  EXPECT_TRUE(is_drawn(file("a", 8u << 20), 10));
  EXPECT_FALSE(is_drawn(file("b", (8u << 20) - 1), 10));
  EXPECT_TRUE(is_drawn(file("a.gz", 1u << 20), 10));
  EXPECT_FALSE(is_drawn(file("b.gz", (1u << 20) - 1), 10));
  EXPECT_FALSE(is_drawn(file("a", 8u << 20), 0));
  EXPECT_FALSE(is_drawn(file("a", 8u << 20), 10, false));
  EXPECT_FALSE(is_drawn(folder_.at("none"), 10));
}

}  // namespace
}  // namespace gable
