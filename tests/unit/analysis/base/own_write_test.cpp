// SPDX-License-Identifier: Apache-2.0
// Our own writes raise no signal that the program sees, and take none away that is the program's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include "analysis/base/own_write.h"

namespace gable::tests {
namespace {

volatile std::sig_atomic_t g_handled = 0;

class OwnWrite : public ::testing::Test {
 protected:
  void SetUp() override {
    g_handled = 0;
    ASSERT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    before_ = std::signal(SIGPIPE, [](int) { g_handled = g_handled + 1; });
  }
  void TearDown() override {
    for (const int file : pipe_)
      if (file >= 0) ::close(file);
    std::signal(SIGPIPE, before_);
  }
  void close_reader() {
    ::close(pipe_[0]);
    pipe_[0] = -1;
  }

  int pipe_[2] = {-1, -1};
  void (*before_)(int) = SIG_DFL;
};

TEST_F(OwnWrite, WithoutAReaderNoHandlerRuns) {
  close_reader();
  EXPECT_EQ(write_whole(pipe_[1], "text"), EPIPE);
  EXPECT_EQ(g_handled, 0);
  sigset_t now;
  sigpending(&now);
  EXPECT_EQ(sigismember(&now, SIGPIPE), 0);
}

TEST_F(OwnWrite, ASignalThatWaitsForTheProgramStays) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  pthread_kill(pthread_self(), SIGPIPE);
  close_reader();
  EXPECT_EQ(write_whole(pipe_[1], "text"), EPIPE);
  EXPECT_EQ(g_handled, 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(g_handled, 1);
}

TEST_F(OwnWrite, AReaderThatTakesNothingIsNotWaitedFor) {
  const std::string text(1 << 20, 'x');
  EXPECT_EQ(write_whole(pipe_[1], text, std::chrono::milliseconds(20)), ETIMEDOUT);
  EXPECT_EQ(write_whole(pipe_[1], "more", std::chrono::milliseconds(0)), ETIMEDOUT);
}

TEST_F(OwnWrite, ANumberThatIsAnothersFileIsKnown) {
  const FileIdentity writer(pipe_[1]);
  EXPECT_TRUE(writer.is(pipe_[1]));
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_FALSE(writer.is(null));
  ::dup2(null, pipe_[1]);
  EXPECT_FALSE(writer.is(pipe_[1]));
  EXPECT_FALSE(FileIdentity(-1).is(-1));
  ::close(null);
}

TEST_F(OwnWrite, EverythingArrives) {
  EXPECT_EQ(write_whole(pipe_[1], std::string(50'000, 'x')), 0);
  ::close(pipe_[1]);
  pipe_[1] = -1;
  std::string got(60'000, '\0');
  std::size_t all = 0;
  for (ssize_t part = 1; part > 0;) {
    part = ::read(pipe_[0], got.data() + all, got.size() - all);
    if (part > 0) all += static_cast<std::size_t>(part);
  }
  EXPECT_EQ(all, 50'000U);
}

}  // namespace
}  // namespace gable::tests
