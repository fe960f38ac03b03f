// SPDX-License-Identifier: Apache-2.0
// Files that a user names to be read: whatever they are, reading ends, with a sentence where it
// cannot be done.
#include "analysis/base/input_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/unit/temporary_folder.h"

namespace gable {
namespace {

class InputFileOf : public testing::Test {
 protected:
  const tests::TemporaryFolder folder_;
};

TEST_F(InputFileOf, AFileIsReadWhole) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3'000'000}}) {
    std::string text(size, 'x');
    if (size > 0) text.back() = '\0';
    InputFile file(folder_.file("file", text), "a report");
    EXPECT_EQ(file.error(), "");
    EXPECT_TRUE(file.is_regular());
    EXPECT_EQ(file.size(), size);
    EXPECT_EQ(file.read_all(), text);
  }
}

TEST_F(InputFileOf, WhatIsNoFileIsASentence) {
  const auto error = [](const std::string& name) {
    InputFile file(name, "a report");
    EXPECT_FALSE(file.read_all());
    return file.error();
  };
  EXPECT_EQ(error(folder_.at("none")), folder_.at("none") + ": No such file or directory.");
  EXPECT_EQ(error(folder_.path()), folder_.path() + " is a folder, not a report.");
  EXPECT_EQ(error("/dev/zero"), "/dev/zero is a device, not a report.");
}

// Of files in /proc nobody knows the size.
TEST_F(InputFileOf, AFileWithoutASizeIsReadToItsEnd) {
  InputFile file("/proc/self/status", "a report");
  const auto text = file.read_all();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find("Name:"), 0u);
  EXPECT_EQ(text->back(), '\n');
}

TEST_F(InputFileOf, APipeIsReadUntilItsWriterEnds) {
  const std::string path = folder_.at("file");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string sent(200'000, 'y');
  std::thread writer([&] { std::ofstream(path) << sent; });
  InputFile file(path, "a report");
  EXPECT_EQ(file.error(), "");
  EXPECT_FALSE(file.is_regular());
  EXPECT_EQ(file.size(), 0u);
  EXPECT_EQ(file.read_all(), sent);
  writer.join();
}

TEST_F(InputFileOf, WhoTakesTheNumberClosesIt) {
  const std::string path = folder_.file("file", "text");
  int number = -1;
  {
    InputFile file(path, "a report");
    number = file.release();
    EXPECT_EQ(file.release(), -1);
  }
  ASSERT_GE(number, 0);
  EXPECT_EQ(::fcntl(number, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::close(number), 0);
}

}  // namespace
}  // namespace gable
