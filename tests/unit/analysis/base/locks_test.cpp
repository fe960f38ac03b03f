// SPDX-License-Identifier: Apache-2.0
// Locks, and how many of them a thread holds.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "analysis/base/mutex.h"

namespace gable {
namespace {

std::uint32_t held() { return t_held_locks.count; }

// Whether another thread could have it now.
bool is_free(Mutex& mutex) {
  bool got = false;
  std::thread([&] {
    got = mutex.try_lock();
    if (got) mutex.unlock();
  }).join();
  return got;
}

TEST(LocksOf, AThreadAreCounted) {
  Mutex one, two;
  EXPECT_EQ(held(), 0u);
  {
    const MutexLock first(one);
    EXPECT_EQ(held(), 1u);
    EXPECT_FALSE(is_free(one));
    const MutexLock second(two);
    EXPECT_EQ(held(), 2u);
  }
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(is_free(one) && is_free(two));
}

TEST(LocksOf, OneThatIsNotFreeIsTriedForOnly) {
  Mutex mutex;
  {
    const TryLock got(mutex);
    EXPECT_TRUE(got.held());
    EXPECT_EQ(held(), 1u);
    std::thread([&] {
      const TryLock none(mutex);
      EXPECT_FALSE(none.held());
      EXPECT_EQ(held(), 0u);
    }).join();
  }
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(is_free(mutex));
}

TEST(LocksOf, OneIsGivenBackAndTakenAgain) {
  Mutex mutex;
  {
    UniqueLock lock(mutex);
    EXPECT_EQ(held(), 1u);
    EXPECT_FALSE(is_free(mutex));
    lock.unlock();
    EXPECT_EQ(held(), 0u);
    EXPECT_TRUE(is_free(mutex));
    lock.lock();
    EXPECT_EQ(held(), 1u);
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(is_free(mutex));
  {
    UniqueLock given_back(mutex);
    given_back.unlock();
  }
  EXPECT_EQ(held(), 0u);
}

TEST(LocksOf, ReadersShareWhatAWriterHasAlone) {
  SharedMutex shared;
  {
    const ReadLock one(shared);
    EXPECT_EQ(held(), 1u);
    std::thread([&] {
      const ReadLock other(shared);
      EXPECT_EQ(held(), 1u);
    }).join();
  }
  EXPECT_EQ(held(), 0u);
  {
    const WriteLock alone(shared);
    EXPECT_EQ(held(), 1u);
  }
  EXPECT_EQ(held(), 0u);
  int sum = 0;  // of two writers, neither of whom loses a step
  const auto write = [&] {
    for (int i = 0; i < 20'000; ++i) {
      const WriteLock lock(shared);
      ++sum;
    }
  };
  std::thread other(write);
  write();
  other.join();
  EXPECT_EQ(sum, 40'000);
}

TEST(LocksOf, AConditionIsWaitedForWithoutTheLock) {
  Mutex mutex;
  Condition condition;
  bool one = false, all = false;
  std::thread other([&] {
    UniqueLock lock(mutex);
    condition.wait(lock, [&] { return one; });
    all = true;
    condition.notify_all();
  });
  UniqueLock lock(mutex);
  EXPECT_FALSE(condition.wait_for(lock, std::chrono::milliseconds(0), [&] { return all; }));
  one = true;
  condition.notify_one();
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::minutes(1), [&] { return all; }));
  lock.unlock();
  other.join();
}

int g_waited = 0;

TEST(LocksOf, ASignalWaitsForTheLastOne) {
  g_waited = 0;
  const auto wait = [](int signal) { g_waited = g_waited * 100 + signal; };
  EXPECT_FALSE(waits_for_locks(15, wait));
  {
    const CountsAsLock outer;
    EXPECT_EQ(held(), 1u);
    {
      const CountsAsLock inner;
      EXPECT_TRUE(waits_for_locks(15, wait));
    }
    EXPECT_EQ(g_waited, 0);
  }
  EXPECT_EQ(g_waited, 15);
  { const CountsAsLock again; }
  EXPECT_EQ(g_waited, 15);  // once
}

}  // namespace
}  // namespace gable
