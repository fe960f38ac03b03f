// SPDX-License-Identifier: Apache-2.0
// A thread of ours in somebody else's program ends alone.
#include "collector/own_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>

namespace gable {
namespace {

TEST(OwnThread, OneThatRunsOutOfMemoryEndsAlone) {
  static std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(start_own_thread("test", [] {
      ++ran;
      throw std::bad_alloc();
    }));
  while (ran < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(
      std::chrono::milliseconds(50));  // what is thrown has left them by now
}

}  // namespace
}  // namespace gable
