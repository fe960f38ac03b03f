// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/patient_calls.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "analysis/base/held_locks.h"
#include "collector/process/undo.h"

namespace gable {
namespace {

using Clock = std::chrono::steady_clock;

struct OfAProcess {
  std::shared_ptr<Patience> patience = std::make_shared<Patience>();
  PatientCalls calls{patience, "calls"};
};

TEST(PatientCalls, AreMadeOnAThreadOfTheirOwn) {
  OfAProcess process;
  auto& calls = process.calls;
  std::thread::id where;
  const auto answer = calls.make(nullptr, [&] {
    where = std::this_thread::get_id();
    return CUPTI_ERROR_HARDWARE_BUSY;
  });
  EXPECT_EQ(answer, CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_FALSE(calls.stuck());
}

std::atomic<std::uint32_t> g_held{0};

// A signal that ends the program waits until the caller has its answer: the thread that writes the
// report makes such calls, too, one after the other. The caller holds its turn and, once it waits,
// the helper's lock.
TEST(PatientCalls, CountAsALockOfTheCaller) {
  OfAProcess process;
  struct sigaction look {
  }, before{};
  look.sa_handler = [](int) { g_held = t_held_locks.count; };
  ASSERT_EQ(sigaction(SIGUSR1, &look, &before), 0);
  EXPECT_TRUE(process.calls.make(nullptr, [caller = pthread_self()] {
    for (int i = 0; i < 5000 && g_held < 2; ++i) {
      pthread_kill(caller, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return CUPTI_SUCCESS;
  }));
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(g_held, 2u);
  EXPECT_EQ(t_held_locks.count, 0u);
}

TEST(PatientCalls, OnTheCallersThreadWhereThatIsTheRightOne) {
  OfAProcess process;
  auto& calls = process.calls;
  calls.use_callers_thread();
  std::thread::id where;
  ASSERT_TRUE(calls.make(nullptr, [&] {
    where = std::this_thread::get_id();
    return CUPTI_SUCCESS;
  }));
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(PatientCalls, OneThatDoesNotReturnIsLeftAloneUntilItDoes) {
  OfAProcess process;
  auto& calls = process.calls;
  const auto release = std::make_shared<std::promise<void>>();
  const auto answer = calls.make(nullptr, [release] {
    release->get_future().wait();
    return CUPTI_SUCCESS;
  });
  EXPECT_FALSE(answer.has_value());
  EXPECT_TRUE(calls.stuck());
  EXPECT_TRUE(process.patience->may_return());
  EXPECT_EQ(process.patience->left().count(), 0);
  bool called = false;
  EXPECT_FALSE(calls.make(nullptr, [&] {
    called = true;
    return CUPTI_SUCCESS;
  }));
  EXPECT_FALSE(called);
  release->set_value();
  const auto patience = Clock::now() + std::chrono::seconds(5);
  while (calls.stuck() && Clock::now() < patience) std::this_thread::yield();
  EXPECT_FALSE(calls.stuck());
  EXPECT_FALSE(process.patience->may_return());
  EXPECT_EQ(process.patience->left(), Patience::kPatience);  // it was slow, and did not hang
  // It was answered once we went on: from now on it is asked where we are.
  EXPECT_TRUE(calls.on_callers_thread());
  EXPECT_EQ(calls.make(nullptr, [] { return CUPTI_ERROR_UNKNOWN; }), CUPTI_ERROR_UNKNOWN);
}

// One call that does not return costs the process two seconds, not two for each helper and call.
TEST(PatientCalls, NobodyWaitsForASecondOne) {
  const auto release = std::make_shared<std::promise<void>>();
  const auto released = release->get_future().share();
  OfAProcess process;
  std::deque<PatientCalls> helpers;
  for (int i = 0; i < 6; ++i) helpers.emplace_back(process.patience, "calls");
  std::vector<std::string> said;
  process.patience->tell([&said](const std::string& sentence) { said.push_back(sentence); });
  int waited = 0;
  for (int i = 0; i < 3; ++i) {
    for (PatientCalls& calls : helpers) {
      const auto began = Clock::now();
      EXPECT_FALSE(calls.make(nullptr, [released] {
        return called(
            "cuptiSomething",
            +[](const std::shared_future<void>* answer) {
              answer->wait();
              return CUPTI_SUCCESS;
            },
            &released);
      }));
      if (Clock::now() - began >= Patience::kPatience) ++waited;
    }
  }
  EXPECT_EQ(waited, 1);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said.front().starts_with("cuptiSomething did not return in time")) << said.front();
  release->set_value();
}

// What a call did that came back too late is undone by whoever made it.
TEST(PatientCalls, ALateOneIsFollowedByWhatUndoesIt) {
  const auto release = std::make_shared<std::promise<void>>();
  const auto undone = std::make_shared<std::promise<void>>();
  OfAProcess process;
  EXPECT_FALSE(process.calls.make(
      nullptr,
      [release] {
        release->get_future().wait();
        return CUPTI_SUCCESS;
      },
      [undone] { undone->set_value(); }));
  release->set_value();
  EXPECT_EQ(undone->get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
}

// A job of many calls may take long: only one that does not return ends the patience.
TEST(PatientCalls, EveryCallOfAJobHasItsOwnTime) {
  OfAProcess process;
  const auto answer = process.calls.make(nullptr, [] {
    for (int i = 0; i < 27; ++i)  // together longer than one call may take
      called(
          "cuptiSomething",
          +[](int) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            return CUPTI_SUCCESS;
          },
          i);
    return CUPTI_SUCCESS;
  });
  EXPECT_EQ(answer, CUPTI_SUCCESS);
  EXPECT_FALSE(process.calls.stuck());
}

TEST(PatientCalls, SeveralCallersTakeTurns) {
  OfAProcess process;
  std::atomic<int> inside{0}, answered{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        const auto answer = process.calls.make(nullptr, [&inside] {
          const bool alone = inside.fetch_add(1) == 0;
          inside.fetch_sub(1);
          return alone ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
        });
        if (answer == CUPTI_SUCCESS) ++answered;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(answered.load(), 8 * 25);
}

TEST(Undo, RunsTheLastFirstAndOnce) {
  Undo undo;
  std::string done;
  undo.push([&] { done += "a"; });
  undo.push([&] { done += "b"; });
  undo.run();
  EXPECT_EQ(done, "ba");
  undo.run();
  EXPECT_EQ(done, "ba");
}

}  // namespace
}  // namespace gable
