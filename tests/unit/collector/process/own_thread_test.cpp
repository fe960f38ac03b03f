// SPDX-License-Identifier: Apache-2.0
#include "collector/process/own_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <string>

namespace gable {
namespace {

void wait_for(const std::atomic<int>& value, int wanted) {
  while (value.load() != wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(OwnThread, OneThatRunsOutOfMemoryEndsAlone) {
  static std::atomic<int> began{0};
  ASSERT_TRUE(start_own_thread("gable-test", [] {
    ++began;
    throw std::bad_alloc();
  }));
  wait_for(began, 1);
  ASSERT_TRUE(start_own_thread("gable-test", [] { ++began; })) << "the process goes on";
  wait_for(began, 2);
}

TEST(OwnThread, ItsNameIsKnownAndPassedOn) {
  static std::atomic<int> done{0};
  static std::string child;
  EXPECT_FALSE(is_own_thread_name("gable-parent"));
  ASSERT_TRUE(start_own_thread("gable-parent", [] {
    std::thread([] {
      char name[16];
      pthread_getname_np(pthread_self(), name, sizeof name);
      child = name;
    }).join();
    ++done;
  }));
  wait_for(done, 1);
  EXPECT_TRUE(is_own_thread_name("gable-parent"));
  EXPECT_TRUE(is_own_thread_name(child)) << child;
  EXPECT_FALSE(is_own_thread_name("gable-par"));
  EXPECT_FALSE(is_own_thread_name("gable"));
}

}  // namespace
}  // namespace gable
