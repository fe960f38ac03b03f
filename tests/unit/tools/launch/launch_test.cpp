// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/launch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

namespace gable {
namespace {

Ended shell(const std::string& script) { return run_program({"/bin/sh", "-c", script}); }

TEST(RunProgram, AnswersItsExitCode) {
  for (const int code : {1, 0, 2, 127, 255}) {
    const Ended ended = shell("exit " + std::to_string(code));
    EXPECT_EQ(ended.exit_code, code);
    EXPECT_EQ(ended.signal, 0);
    EXPECT_EQ(ended.not_started, "");
  }
}

TEST(RunProgram, AnswersTheSignalThatEndedIt) {
  const Ended ended = shell("kill -KILL $$");
  EXPECT_EQ(ended.exit_code, 137);
  EXPECT_EQ(ended.signal, 9);
  EXPECT_EQ(ended.not_started, "");
}

TEST(RunProgram, GivesEveryWord) {
  EXPECT_EQ(
      run_program({"sh", "-c", "test $# = 2 && test \"$2\" = 'b c'", "x", "a", "b c"}).exit_code,
      0);
}

TEST(RunProgram, SaysWhyItDidNotStart) {
  const Ended nowhere = run_program({"gable-has-no-such-program"});
  EXPECT_EQ(nowhere.exit_code, 127);
  EXPECT_EQ(nowhere.signal, 0);
  EXPECT_NE(nowhere.not_started.find("'gable-has-no-such-program'"), std::string::npos);
  EXPECT_NE(nowhere.not_started.find("PATH"), std::string::npos);

  const Ended no_file = run_program({"/gable/no/such/program"});
  EXPECT_EQ(no_file.exit_code, 127);
  EXPECT_EQ(no_file.not_started.find("PATH"), std::string::npos);

  const Ended folder = run_program({"/"});
  EXPECT_EQ(folder.exit_code, 126);
  EXPECT_NE(folder.not_started.find("'/'"), std::string::npos);
}

TEST(RunProgram, LeavesSignalsAsTheyWere) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  sigaction(SIGCHLD, &ignored, &before);
  EXPECT_EQ(shell("exit 3").exit_code, 3);
  struct sigaction after {};
  sigaction(SIGCHLD, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
  EXPECT_EQ(sigismember(&blocked, SIGCHLD), 0);
}

TEST(RunProgram, LeavesNoFileOpen) {
  const int next = dup(0);
  close(next);
  EXPECT_EQ(shell("exit 0").exit_code, 0);
  EXPECT_EQ(run_program({"/gable/no/such/program"}).exit_code, 127);
  const int after = dup(0);
  close(after);
  EXPECT_EQ(after, next);
}

// A report may be larger than the limit that was meant for the program's files.
TEST(RunProgram, AFileOfOurOwnThatIsTooLargeEndsNothing) {
  struct sigaction usual {};
  struct sigaction before {};
  sigaction(SIGXFSZ, &usual, &before);
  EXPECT_EQ(shell("exit 0").exit_code, 0);
  struct sigaction after {};
  sigaction(SIGXFSZ, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST(RunProgram, StartsWithNoSignalBlocked) {
  EXPECT_EQ(shell("kill -TERM $$").signal, SIGTERM);
  EXPECT_EQ(shell("kill -USR2 $$").signal, SIGUSR2);
}

TEST(RunProgram, DoesNotSendBackWhatTheProgramSent) {
  EXPECT_EQ(shell("kill -USR1 $PPID; exit 4").exit_code, 4);
}

TEST(RunProgram, PassesOnWhatAnotherProcessSent) {
  // The inner shell is neither the program nor Gable.
  EXPECT_EQ(shell("gable=$PPID; trap 'exit 5' USR1; sh -c \"kill -USR1 $gable; exit 0\"; "
                  "n=0; while [ $n -lt 3000000 ]; do n=$((n+1)); done; exit 6")
                .exit_code,
            5);
}

}  // namespace
}  // namespace gable
