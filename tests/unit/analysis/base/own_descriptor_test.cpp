// SPDX-License-Identifier: Apache-2.0
// A descriptor of ours is out of the program's way, and never one that is the program's.
#include "analysis/base/own_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

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

}  // namespace
}  // namespace gable
