// SPDX-License-Identifier: Apache-2.0
#include "collector/patient_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "collector/undo.h"

namespace gable {
namespace {

using Clock = std::chrono::steady_clock;

TEST(PatientCalls, AreMadeOnAThreadOfTheirOwn) {
  PatientCalls calls;
  std::thread::id where;
  const auto answer = calls.make(nullptr, [&] {
    where = std::this_thread::get_id();
    return CUPTI_ERROR_HARDWARE_BUSY;
  });
  EXPECT_EQ(answer, CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_FALSE(calls.stuck());
}

TEST(PatientCalls, OnTheCallersThreadWhereThatIsTheRightOne) {
  PatientCalls calls;
  calls.use_callers_thread();
  std::thread::id where;
  ASSERT_TRUE(calls.make(nullptr, [&] {
    where = std::this_thread::get_id();
    return CUPTI_SUCCESS;
  }));
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(PatientCalls, OneThatDoesNotReturnIsLeftAloneUntilItDoes) {
  PatientCalls calls;
  const auto release = std::make_shared<std::promise<void>>();
  const auto began = Clock::now();
  const auto answer = calls.make(nullptr, [release] {
    release->get_future().wait();
    return CUPTI_SUCCESS;
  });
  EXPECT_FALSE(answer.has_value());
  EXPECT_LT(Clock::now() - began, std::chrono::milliseconds(4000));
  EXPECT_TRUE(calls.stuck());
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
  // It was answered once we went on: from now on it is asked where we are.
  EXPECT_TRUE(calls.on_callers_thread());
  EXPECT_EQ(calls.make(nullptr, [] { return CUPTI_ERROR_UNKNOWN; }), CUPTI_ERROR_UNKNOWN);
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
