// SPDX-License-Identifier: Apache-2.0
// A program whose last thread ends must end, though Gable's threads go on.
#include "collector/process/last_thread.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "analysis/base/plain_file.h"
#include "collector/process/own_thread.h"

namespace gable {
namespace {

constexpr int kRight = 42, kTooEarly = 43, kWrongStatus = 44, kNotYet = 45;

bool main_has_ended() {
  const auto task = "/proc/self/task/" + std::to_string(::getpid()) + "/stat";
  return read_plain_file(task).value_or("").find(") Z ") != std::string::npos;
}

// In a process of its own: what `program` does until its main thread ends with exit code 3.
template <typename Program>
int exit_code_of(Program program) {
  const int child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "odd) R 1 (2");
    program();
    ::syscall(SYS_exit, 3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A thread takes its name a moment after it has started: until then it is the program's.
void end_as_last() {
  auto status = status_of_ended_program();
  for (int look = 0; !status && look < 20000; ++look) {
    std::this_thread::yield();
    status = status_of_ended_program();
  }
  if (!status) ::_exit(kNotYet);
  ::_exit(*status == 3 << 8 ? kRight : kWrongStatus);
}

TEST(LastThread, AProgramThatRunsHasNotEnded) { EXPECT_FALSE(status_of_ended_program()); }

TEST(LastThread, OwnThreadsAreNotTheProgram) {
  EXPECT_EQ(exit_code_of([] {
              start_own_thread("gable-idle", [] { ::pause(); });
              start_own_thread("gable-watch", [] {
                while (!main_has_ended()) std::this_thread::yield();
                end_as_last();
              });
            }),
            kRight);
}

TEST(LastThread, AThreadOfTheProgramKeepsItRunning) {
  static std::atomic<bool> ending{false};
  EXPECT_EQ(exit_code_of([] {
              std::thread([] {
                ::prctl(PR_SET_NAME, "worker");
                while (!ending) std::this_thread::yield();
              }).detach();
              start_own_thread("gable-watch", [] {
                while (!main_has_ended()) std::this_thread::yield();
                if (status_of_ended_program()) ::_exit(kTooEarly);
                ending = true;
                end_as_last();
              });
            }),
            kRight);
}

}  // namespace
}  // namespace gable
