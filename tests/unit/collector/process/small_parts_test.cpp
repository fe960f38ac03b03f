// SPDX-License-Identifier: Apache-2.0
// Clocks, hashes, signals and what is undone: a few lines each.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <string>

#include "collector/process/clock.h"
#include "collector/process/ending_signals.h"
#include "collector/process/hash.h"
#include "collector/process/own_thread.h"
#include "collector/process/undo.h"

namespace gable {
namespace {

std::uint64_t hash(const std::string& text, std::uint64_t seed) {
  return hash_bytes(text.data(), text.size(), seed);
}

// Worked out in Python from the construction.
TEST(Hash, TakesEveryByteTheLengthAndTheSeed) {
  EXPECT_EQ(hash("", 0), 0x34d2fe82daccaea6u);
  EXPECT_EQ(hash("abc", 0), 0x2809d81efe0728d6u);
  EXPECT_EQ(hash("abcdefgh", 0), 0x99ace8f2b43c2383u);
  EXPECT_EQ(hash("abcdefghijklmnopqrs", 7), 0x09ef63667a3dadbfu);
}

template <typename Clock>
std::uint64_t ns_now() {
  const auto since = Clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

TEST(Clocks, AreTheSystemsInNanoseconds) {
  auto before = ns_now<std::chrono::steady_clock>();
  auto read = steady_ns();
  EXPECT_LE(before, read);
  EXPECT_LE(read, ns_now<std::chrono::steady_clock>());
  before = ns_now<std::chrono::system_clock>();
  read = system_ns();
  EXPECT_LE(before, read);
  constexpr std::chrono::nanoseconds tick = std::chrono::system_clock::duration(1);  // libc++: 1 us
  EXPECT_LE(read, ns_now<std::chrono::system_clock>() + static_cast<std::uint64_t>(tick.count()));
}

TEST(Clocks, TicksAreTurnedIntoNanoseconds) {
  const auto ticks_before = ticks(), before = steady_ns();
  const TickScale scale;
  while (steady_ns() - before < 1'000'000) continue;
  const double ns = scale.ns_per_tick() * static_cast<double>(ticks() - ticks_before);
  EXPECT_GT(ns, 0.9e6);
  EXPECT_LT(ns, 1.1 * static_cast<double>(steady_ns() - before) + 1e6);
}

TEST(Undo, RunsTheLastFirstAndEachOnce) {
  std::string ran;
  Undo undo;
  undo.push([&] { ran += 'a'; });
  undo.push([&] { ran += 'b'; });
  undo.run();
  EXPECT_EQ(ran, "ba");
  undo.run();
  EXPECT_EQ(ran, "ba");
}

TEST(Undo, TakesAnothersCallsForItsOwn) {
  std::string ran;
  Undo mine, other;
  mine.push([&] { ran += 'm'; });
  other.push([&] { ran += 'o'; });
  mine.take(other);
  other.run();
  EXPECT_EQ(ran, "");
  mine.run();
  EXPECT_EQ(ran, "o");
}

// Blocked and handled, as it is where Gable's own handler calls.
void block_and_handle(int number) {
  ::signal(number, [](int) {});
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

using EndingSignalsDeathTest = testing::Test;

TEST_F(EndingSignalsDeathTest, TheProgramDiesOfTheSignalItself) {
  EXPECT_EXIT((block_and_handle(SIGTERM), die_of(SIGTERM)), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT((block_and_handle(SIGINT), end_at_once(SIGINT)), testing::KilledBySignal(SIGINT), "");
}

TEST(EndingSignals, PatienceIsWhatTheDocsPromise) {
  EXPECT_EQ(kSignalPatience, std::chrono::seconds(2));
  EXPECT_EQ(kDiskPatience, std::chrono::seconds(6));
}

std::atomic<int> g_marked{0};

TEST(OwnThread, IsMarkedWhenItSaysSo) {
  be_own_thread();  // where nothing is kept of threads
  mark_own_threads_with([] { ++g_marked; });
  be_own_thread();
  EXPECT_EQ(g_marked, 1);
  mark_own_threads_with(nullptr);
}

TEST(OwnThread, LeavesAllSignalsToTheProgram) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  static std::atomic<int> blocked{-1};
  ASSERT_TRUE(start_own_thread("gable-signals", [] {
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    blocked = sigismember(&mine, SIGTERM) + sigismember(&mine, SIGUSR1);
  }));
  while (blocked < 0) std::this_thread::yield();
  EXPECT_EQ(blocked, 2);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
}

}  // namespace
}  // namespace gable
