// SPDX-License-Identifier: Apache-2.0
// A descriptor of ours is out of the program's way, and never one that is the program's.
#include "analysis/base/own_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace gable {
namespace {

int any_file() { return ::open("/dev/null", O_WRONLY | O_CLOEXEC); }

TEST(OwnDescriptor, LiesHigh) {
  const int low = any_file();
  OwnDescriptor ours;
  ours.take(low);
  EXPECT_GE(ours.get(), 100);
  EXPECT_EQ(::fcntl(low, F_GETFD), -1) << "its first number is the program's again";
  EXPECT_EQ(::fcntl(ours.get(), F_GETFD), FD_CLOEXEC);
  ours.close();
  EXPECT_EQ(ours.get(), -1);
}

TEST(OwnDescriptor, UnderALimitItIsStillNoStandardStream) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{16, before.rlim_max};
  const int file = any_file();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  OwnDescriptor ours;
  ours.take(file);
  EXPECT_GT(ours.get(), STDERR_FILENO);
  ::setrlimit(RLIMIT_NOFILE, &before);
  ours.close();
}

// From the thirty-second number below the limit on.
TEST(OwnDescriptor, UnderALimitItLiesNearIt) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit some{300, before.rlim_max};
  const int file = any_file();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &some), 0);
  const int number = high_duplicate(file);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_GE(number, 268);
  EXPECT_LT(number, 300);
  ::close(number);
  ::close(file);
}

TEST(OwnDescriptor, WhereNoNumberIsLeftItStaysWhereItIs) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  const int file = any_file();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  OwnDescriptor ours;
  ours.take(file);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(ours.get(), file);
  ours.close();
}

TEST(OwnDescriptor, WhatTheProgramOpenedUnderItsNumberIsNotOurs) {
  OwnDescriptor ours;
  ours.take(any_file());
  const int number = ours.get();
  ::close(number);
  EXPECT_EQ(ours.get(), -1);
  const int theirs = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup2(theirs, number), number);
  EXPECT_EQ(ours.get(), -1);
  ours.close();
  EXPECT_NE(::fcntl(number, F_GETFD), -1) << "it was closed under the program";
  ::close(number);
  ::close(theirs);
}

TEST(OwnDescriptor, NoneIsNone) {
  OwnDescriptor ours;
  EXPECT_EQ(ours.get(), -1);
  ours.take(-1);
  EXPECT_EQ(ours.get(), -1);
  ours.close();
}

class WriteIfStill : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK), 0); }
  void TearDown() override {
    for (const int file : pipe_) ::close(file);
  }
  std::string written() {
    char text[100];
    const auto size = ::read(pipe_[0], text, sizeof text);
    return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
  }

  int pipe_[2] = {-1, -1};
};

TEST_F(WriteIfStill, WritesAndLeavesNoNumberBehind) {
  const int next = ::dup(pipe_[1]);
  ::close(next);
  EXPECT_EQ(write_if_still(FileIdentity(pipe_[1]), pipe_[1], "text"), 0);
  EXPECT_EQ(written(), "text");
  ::close(pipe_[1]);
  pipe_[1] = -1;
  char none;
  EXPECT_EQ(::read(pipe_[0], &none, 1), 0) << "its reader waits for an end that never comes";
  EXPECT_EQ(::fcntl(next, F_GETFD), -1);
}

TEST_F(WriteIfStill, AnothersFileGetsNothing) {
  const int other = any_file();
  EXPECT_EQ(write_if_still(FileIdentity(other), pipe_[1], "text"), EBADF);
  EXPECT_EQ(written(), "");
  EXPECT_EQ(write_if_still(FileIdentity(-1), -1, "text"), EBADF);
  ::close(other);
}

TEST_F(WriteIfStill, AProgramWithoutANumberLeftIsStillTold) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  const FileIdentity there(pipe_[1]);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const int error = write_if_still(there, pipe_[1], "text");
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(written(), "text");
}

}  // namespace
}  // namespace gable
