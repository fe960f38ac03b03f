// SPDX-License-Identifier: Apache-2.0
#include "tools/import/convert/temporary_folder.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/unit/tools/import/convert/convert_case.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using TemporaryFolderTest = ConvertCase;

TEST_F(TemporaryFolderTest, GoesWithAllThatIsInIt) {
  {
    const TemporaryFolder made;
    EXPECT_TRUE(made.path().starts_with(folder.at("tmp/gable-import-"))) << made.path();
    EXPECT_TRUE(std::filesystem::is_directory(made.path()));
    std::ofstream(made.path() + "/other") << "text";
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(TemporaryFolderTest, IsInTmpWhereTheUsersPlaceIsNone) {
  set("TMPDIR", folder.at("none"));
  const TemporaryFolder made;
  EXPECT_TRUE(made.path().starts_with("/tmp/gable-import-")) << made.path();
}

TEST_F(TemporaryFolderTest, SaysWhereThereIsNoPlace) {
  set("TMPDIR", "/proc");
  try {
    const TemporaryFolder made;
    FAIL() << made.path();
  } catch (const WrongUse& problem) {
    EXPECT_NE(std::string(problem.what()).find(" in /proc ("), std::string::npos);
  }
}

TEST_F(TemporaryFolderTest, ASignalThatEndsTheProgramTakesItAlong) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_EXIT(
        {
          const TemporaryFolder made;
          for (const char* name : {"export.sqlite", "export.sqlite-journal", "export.csv", "said"})
            std::ofstream(made.path() + "/" + name) << "text";
          (void)raise(number);
          _exit(0);
        },
        testing::KilledBySignal(number), "");
    EXPECT_TRUE(nothing_is_left()) << number;
  }
}

TEST_F(TemporaryFolderTest, WhatWasIgnoredStaysSo) {
  struct sigaction before {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &ignored, &before);
  {
    const TemporaryFolder made;
    (void)raise(SIGHUP);
    EXPECT_TRUE(std::filesystem::is_directory(made.path()));
    EXPECT_FALSE(TemporaryFolder::was_signalled());
  }
  sigaction(SIGHUP, &before, nullptr);
}

void own_handler(int) {}

TEST_F(TemporaryFolderTest, WhatTheProgramDoesWithSignalsComesBack) {
  struct sigaction before {};
  struct sigaction own {};
  own.sa_handler = &own_handler;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaction(number, &own, &before);
    struct sigaction now {};
    {
      const TemporaryFolder made;
      sigaction(number, nullptr, &now);
      EXPECT_NE(now.sa_handler, &own_handler);
      EXPECT_NE(now.sa_flags & SA_RESTART, 0) << "calls go on";
    }
    sigaction(number, nullptr, &now);
    EXPECT_EQ(now.sa_handler, &own_handler);
    sigaction(number, &before, nullptr);
  }
}

// A process in a group of its own that waits for a signal.
pid_t waiting(bool stubborn) {
  std::array<int, 2> ready{};
  if (pipe(ready.data()) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    for (const int number : {SIGINT, SIGTERM}) signal(number, stubborn ? SIG_IGN : SIG_DFL);
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte = 0;
  (void)!read(ready[0], &byte, 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

int ended_by(pid_t child) {
  int status = 0;
  (void)waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(TemporaryFolderTest, WhatRunsForItGetsTheSignal) {
  {
    TemporaryFolder made;
    const pid_t child = waiting(false);
    ASSERT_GT(child, 1);
    TemporaryFolder::set_running(child);
    EXPECT_FALSE(TemporaryFolder::was_signalled());
    made.end_if_signalled();
    (void)raise(SIGINT);
    EXPECT_EQ(ended_by(child), SIGINT);
    EXPECT_TRUE(TemporaryFolder::was_signalled());
    EXPECT_TRUE(std::filesystem::is_directory(made.path()));
    errno = EDOM;
    (void)raise(SIGINT);  // nothing is there to get it
    EXPECT_EQ(errno, EDOM);
    TemporaryFolder::set_running({});
  }
  const TemporaryFolder next;
  EXPECT_FALSE(TemporaryFolder::was_signalled());
}

TEST_F(TemporaryFolderTest, WhoAsksTwiceMeansIt) {
  const TemporaryFolder made;
  const pid_t child = waiting(true);
  ASSERT_GT(child, 1);
  TemporaryFolder::set_running(child);
  (void)raise(SIGTERM);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it runs on";
  (void)raise(SIGTERM);
  EXPECT_EQ(ended_by(child), SIGKILL);
  TemporaryFolder::set_running({});
}

TEST_F(TemporaryFolderTest, TheSignalEndsTheProgramWhenThatHasEnded) {
  EXPECT_EXIT(
      {
        TemporaryFolder made;
        std::ofstream(made.path() + "/other") << "text";
        const pid_t child = waiting(false);
        TemporaryFolder::set_running(child);
        (void)raise(SIGTERM);
        (void)ended_by(child);
        TemporaryFolder::set_running({});
        made.end_if_signalled();
        _exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(nothing_is_left());
}

}  // namespace
}  // namespace gable
