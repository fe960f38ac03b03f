// SPDX-License-Identifier: Apache-2.0
// Where a file may be written to, under which name, and with which mode.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "analysis/base/plain_file.h"
#include "analysis/base/text_file.h"
#include "tests/unit/temporary_folder.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

class FilePlaces : public ::testing::Test {
 protected:
  FilePlaces() : umask_(::umask(022)) {}
  ~FilePlaces() override { ::umask(umask_); }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  static std::string numbered(const std::string& path, unsigned number) {
    return path + std::to_string(number);
  }
  // Files of a program that this one was started after, and of one beside it.
  static void make_old(const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  static void make_new(const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::hours(1));
  }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : fs::directory_iterator(folder_.path())) ++count;
    return count;
  }

  const mode_t umask_;
  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.at("r.json");
};

TEST_F(FilePlaces, ANewFileHasTheModeOfTheUmaskAndAnOldOneKeepsItsOwn) {
  EXPECT_EQ(write_text_file("one", path_), "");
  EXPECT_EQ(mode_of(path_), 0644u);
  ASSERT_EQ(::chmod(path_.c_str(), 0751), 0);
  EXPECT_EQ(write_text_file("two", path_), "");
  EXPECT_EQ(mode_of(path_), 0751u);
  EXPECT_EQ(read_plain_file(path_), "two");
  EXPECT_EQ(files(), 1u);
}

// It names the host and the command.
TEST_F(FilePlaces, WhereAllMayWriteAFileIsItsOwnersAlone) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
  EXPECT_EQ(write_text_file("one", path_), "");
  EXPECT_EQ(mode_of(path_), 0600u);
  EXPECT_EQ(write_new_file("one", folder_.at("new")), 0);
  EXPECT_EQ(mode_of(folder_.at("new")), 0600u);
  OwnFile own(folder_.at("own"), numbered);
  EXPECT_EQ(own.write("one"), "");
  EXPECT_EQ(mode_of(folder_.at("own")), 0600u);
}

TEST_F(FilePlaces, ANewFileTakesTheNameOfNoOther) {
  EXPECT_EQ(write_new_file("one", path_), 0);
  EXPECT_EQ(mode_of(path_), 0644u);
  EXPECT_EQ(write_new_file("two", path_), EEXIST);
  EXPECT_EQ(read_plain_file(path_), "one");
  EXPECT_EQ(write_new_file("one", folder_.at("none/r")), ENOENT);
}

TEST_F(FilePlaces, AFolderIsNoPlaceForText) {
  EXPECT_EQ(write_text_file("one", folder_.path()),
            folder_.path() + " cannot be written: Is a directory.");
  OwnFile own(folder_.path(), numbered);
  EXPECT_EQ(own.write("one"), folder_.path() + " cannot be written: Is a directory.");
  EXPECT_FALSE(is_written_in_place(folder_.path()));
}

TEST_F(FilePlaces, ALinkLeadsToWhatIsWritten) {
  folder_.file("real", "old");
  fs::create_symlink("real", path_);
  EXPECT_EQ(write_text_file("new", path_), "");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(read_plain_file(folder_.at("real")), "new");
  // What it leads to may not be there yet, named from its folder or from the root.
  for (const std::string& target : {std::string("first"), folder_.at("second")}) {
    fs::remove(path_);
    fs::create_symlink(target, path_);
    EXPECT_EQ(write_text_file(target, path_), "");
    EXPECT_TRUE(fs::is_symlink(path_)) << target;
    EXPECT_EQ(read_plain_file(path_), target);
  }
  EXPECT_EQ(read_plain_file(folder_.at("first")), "first");
  // A link into a folder that is not there gives way to the file.
  fs::remove(path_);
  fs::create_symlink("none/r", path_);
  EXPECT_EQ(write_text_file("file", path_), "");
  EXPECT_FALSE(fs::is_symlink(path_));
  EXPECT_EQ(read_plain_file(path_), "file");
}

TEST_F(FilePlaces, OpenFilesAreWrittenByTheirNumbers) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string path = folder + std::to_string(pipe[1]);
    EXPECT_TRUE(is_written_in_place(path));
    EXPECT_EQ(write_text_file("text", path), "");
    char got[8] = {};
    EXPECT_EQ(::read(pipe[0], got, sizeof got), 4);
    EXPECT_STREQ(got, "text");
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_TRUE(is_written_in_place("/dev/stdout"));
  EXPECT_TRUE(is_written_in_place("/dev/stderr"));
  EXPECT_TRUE(is_written_in_place("/dev/null"));
  for (const char* other : {"/dev/fd/", "/dev/fd/x", "/dev/fd/1x", "/dev/fd/:", "/dev/fd//",
                            "/dev/fd/99999999", "/proc/self/fd", "stdout"})
    EXPECT_FALSE(is_written_in_place(other)) << other;
  EXPECT_FALSE(is_written_in_place(path_));
  folder_.file("r.json", "");
  EXPECT_FALSE(is_written_in_place(path_));
  EXPECT_NE(write_text_file("text", "/dev/fd/999999"), "");
}

// Standard output is number 1, and standard error number 2.
TEST_F(FilePlaces, StandardStreamsHaveTheirNumbers) {
  for (const auto& [name, number] : {std::pair("/dev/stdout", 1), {"/dev/stderr", 2}}) {
    const int kept = ::dup(number);
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(file, number);
    const std::string error = write_text_file(name, name);
    ::dup2(kept, number);
    ::close(kept);
    ::close(file);
    EXPECT_EQ(error, "");
    EXPECT_EQ(read_plain_file(path_), name);
  }
}

TEST_F(FilePlaces, APipeIsWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(write_text_file("text", path_, std::chrono::milliseconds(0)),
            path_ + " cannot be written: nobody reads it.");
  const int reader = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(write_text_file("text", path_), "");
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 4);
  EXPECT_EQ(write_text_file(std::string(1 << 20, 'x'), path_, std::chrono::milliseconds(1)),
            path_ + " cannot be written: its reader does not read from it.");
  ::close(reader);
  EXPECT_TRUE(is_written_in_place(path_));
  EXPECT_EQ(files(), 1u);
}

TEST_F(FilePlaces, WhatIsOlderThanTheProcessIsReplaced) {
  folder_.file("r.json", "old");
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  make_old(path_);
  OwnFile own(path_, numbered);
  EXPECT_TRUE(own.is_to_be_named());
  EXPECT_EQ(own.write("one"), "");
  EXPECT_EQ(own.path(), path_);
  EXPECT_FALSE(own.is_to_be_named());
  EXPECT_EQ(read_plain_file(path_), "one");
  EXPECT_EQ(mode_of(path_), 0640u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(FilePlaces, NamesOfOthersAreCountedUp) {
  for (const char* taken : {"r.json", "r.json1", "r.json2"})
    make_new(folder_.file(taken, "another's"));
  OwnFile own(path_, numbered, [&](const std::string& name) { return name == path_ + "3"; });
  EXPECT_EQ(own.write("one"), "");
  EXPECT_EQ(own.path(), path_ + "4");
  EXPECT_EQ(own.write("two"), "");
  EXPECT_EQ(own.path(), path_ + "4");
  EXPECT_EQ(read_plain_file(path_ + "4"), "two");
  EXPECT_EQ(read_plain_file(path_), "another's");
  EXPECT_EQ(files(), 4u);
  // When the file is gone, the first free name counts again.
  fs::remove(path_ + "4");
  fs::remove(path_ + "1");
  EXPECT_TRUE(own.is_to_be_named());
  EXPECT_EQ(own.write("three"), "");
  EXPECT_EQ(own.path(), path_ + "1");
  fs::remove(path_ + "1");
  fs::remove(path_);
  EXPECT_EQ(own.write("four"), "");
  EXPECT_EQ(own.path(), path_);
}

TEST_F(FilePlaces, AHundredNumbersAreTried) {
  unsigned last = 0;
  const auto count = [&](const std::string& path, unsigned number) {
    last = number;
    return path + std::to_string(number);
  };
  OwnFile none(path_, count, [](const std::string&) { return true; });
  EXPECT_EQ(none.write("one"), path_ + "100 cannot be written: File exists.");
  EXPECT_EQ(last, 100u);
  OwnFile hundredth(path_, count, [&](const std::string& name) { return name != path_ + "100"; });
  EXPECT_EQ(hundredth.write("one"), "");
}

TEST_F(FilePlaces, AFileInTheWorkingFolderNeedsNoFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_EQ(write_text_file("text", "r.json"), "");
  EXPECT_EQ(write_new_file("text", "new"), 0);
  fs::current_path(before);
  EXPECT_EQ(read_plain_file(path_), "text");
}

// Whoever closed its standard streams does not print into our file.
TEST_F(FilePlaces, AFileIsNoStandardStream) {
  const int kept = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  EXPECT_EQ(write_text_file("one", path_), "");
  EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  EXPECT_EQ(read_plain_file(path_), "one");
}

}  // namespace
}  // namespace gable
