// SPDX-License-Identifier: Apache-2.0
// Asking a running program: both sides in this process, and each against one that does not keep to
// the protocol.
#include "collector/options/request_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace gable {
namespace {

// The abstract name that a process listens on: gable-NAMESPACE-PID.
std::pair<sockaddr_un, socklen_t> address_of(int pid) {
  struct stat names {};
  EXPECT_EQ(::stat("/proc/self/ns/pid", &names), 0);
  const auto text = "gable-" + std::to_string(names.st_ino) + "-" + std::to_string(pid);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, text.data(), text.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())};
}

int connect_to(int pid) {
  const auto [address, size] = address_of(pid);
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr*>(&address), size), 0);
  return made;
}

int listen_as(int pid) {
  const auto [address, size] = address_of(pid);
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(made, 1), 0);
  return made;
}

void wait_to_read(int descriptor) {
  pollfd waited{descriptor, POLLIN, 0};
  (void)::poll(&waited, 1, 10000);
}

std::string read_all(int descriptor) {
  std::string text;
  char some[64];
  for (;;) {
    const auto count = ::read(descriptor, some, sizeof some);
    if (count <= 0) return text;
    text.append(some, static_cast<std::size_t>(count));
  }
}

// The exit code of a child that runs `what`.
int in_child(const std::function<int()>& what) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(what());
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class RequestSocketOf : public testing::Test {
 protected:
  RequestSocketOf() { socket.open(); }
  ~RequestSocketOf() override { RequestSocket::close_in_child(); }

  // What the one who serves hears from a client that sends `text` and no more.
  std::string heard(const std::string& text, std::string* answered = nullptr) {
    const int asking = connect_to(::getpid());
    EXPECT_EQ(::write(asking, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::shutdown(asking, SHUT_WR);
    std::string line = "nothing";
    socket.serve([&](const std::string& what) {
      line = what;
      return "heard";
    });
    const auto all = read_all(asking);
    if (answered != nullptr) *answered = all;
    ::close(asking);
    return line;
  }
  RequestSocket socket;
};

TEST_F(RequestSocketOf, OneLineAsksAndOneLineAnswers) {
  ASSERT_GE(socket.descriptor(), 0);
  for (const std::string question : {"window 2", "", "third"}) {
    RequestAnswer answer;
    std::string line;
    std::thread asks([&] { answer = ask_process(::getpid(), question); });
    wait_to_read(socket.descriptor());
    socket.serve([&](const std::string& text) {
      line = text;
      return "answer to " + text;
    });
    asks.join();
    EXPECT_EQ(line, question);
    EXPECT_EQ(answer.line, "answer to " + question);
    EXPECT_EQ(answer.problem, "");
  }
}

TEST_F(RequestSocketOf, ServingNobodyDoesNotWait) {
  bool asked = false;
  socket.serve([&](const std::string&) {
    asked = true;
    return "";
  });
  EXPECT_FALSE(asked);
}

TEST_F(RequestSocketOf, AQuestionEndsWithItsLine) {
  std::string answered;
  EXPECT_EQ(heard("one\ntwo\n", &answered), "one");
  EXPECT_EQ(answered, "heard\n");
  EXPECT_EQ(heard("\n"), "");
  EXPECT_EQ(heard("without an end", &answered), "nothing");
  EXPECT_EQ(answered, "");
  EXPECT_EQ(heard(""), "nothing");
  const std::string pieces(300, 'x');  // more than is read at once
  EXPECT_EQ(heard(pieces + "\n"), pieces);
}

TEST_F(RequestSocketOf, AQuestionIsNeverLong) {
  const std::string most(4095, 'x');
  EXPECT_EQ(heard(most + "\n"), most);
  EXPECT_EQ(heard(most + "x\n"), "nothing");
}

TEST_F(RequestSocketOf, OneNameIsOfOneSocket) {
  const int first = socket.descriptor();
  socket.open();
  EXPECT_EQ(socket.descriptor(), first) << "the name is taken, and the socket stays";
}

TEST_F(RequestSocketOf, AChildHasNoneOfItsParents) {
  EXPECT_EQ(in_child([&] {
              RequestSocket::close_in_child();
              return socket.descriptor() == -1 ? 0 : 1;
            }),
            0);
  EXPECT_GE(socket.descriptor(), 0);
}

TEST_F(RequestSocketOf, OnlyItsUserAndRootAreAnswered) {
  if (::geteuid() != 0) GTEST_SKIP() << "nobody else can be had";
  const int pid = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const auto [address, size] = address_of(pid);
    const int asking = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(asking, reinterpret_cast<const sockaddr*>(&address), size) != 0) ::_exit(3);
    if (::write(asking, "x\n", 2) != 2) ::_exit(4);
    ::_exit(read_all(asking).empty() ? 0 : 5);
  }
  wait_to_read(socket.descriptor());
  bool asked = false;
  socket.serve([&](const std::string&) {
    asked = true;
    return "a secret";
  });
  int status = 0;
  (void)::waitpid(child, &status, 0);
  EXPECT_FALSE(asked);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RequestSocketOf, AProcessOfAnotherUserIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "nobody else can be had";
  const int pid = ::getpid();
  EXPECT_EQ(in_child([pid] {
              if (::setuid(65534) != 0) return 2;
              const auto answer = ask_process(pid, "x");
              return answer.problem.find("another process") != std::string::npos ? 0 : 1;
            }),
            0);
}

TEST(RequestSocket, RootMayAskAProcessOfAnyUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "nobody else can be had";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    RequestSocket socket;
    socket.open();
    if (::write(ready[1], "x", 1) != 1) ::_exit(3);
    wait_to_read(socket.descriptor());
    socket.serve([](const std::string& line) { return "got " + line; });
    ::_exit(0);
  }
  wait_to_read(ready[0]);
  const auto answer = ask_process(child, "it");
  EXPECT_EQ(answer.line, "got it");
  EXPECT_EQ(answer.problem, "");
  int status = 0;
  (void)::waitpid(child, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RequestSocket, WithoutAListenerThereIsAProblem) {
  const RequestSocket socket;
  EXPECT_EQ(socket.descriptor(), -1);
  const auto answer = ask_process(::getpid(), "x");
  EXPECT_EQ(answer.line, "");
  EXPECT_EQ(answer.problem, std::strerror(ECONNREFUSED));
}

TEST(RequestSocket, AnotherProcessInItsPlaceIsNotAsked) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const int listening = listen_as(child);
  const auto answer = ask_process(child, "a secret");
  EXPECT_EQ(answer.line, "");
  EXPECT_NE(answer.problem.find("another process"), std::string::npos) << answer.problem;
  const int asking = ::accept(listening, nullptr, nullptr);
  EXPECT_EQ(read_all(asking), "");
  ::close(asking);
  ::close(listening);
  ::kill(child, SIGTERM);
  (void)::waitpid(child, nullptr, 0);
}

TEST(RequestSocket, OneThatEndsWithoutAnAnswerIsAProblem) {
  const int listening = listen_as(::getpid());
  std::string question;
  std::thread answers([&] {
    const int asking = ::accept(listening, nullptr, nullptr);
    char some[64] = {};
    const auto count = ::read(asking, some, sizeof some);
    question.assign(some, count > 0 ? static_cast<std::size_t>(count) : 0);
    ::close(asking);
  });
  const auto answer = ask_process(::getpid(), "window 1");
  answers.join();
  ::close(listening);
  EXPECT_EQ(question, "window 1\n");
  EXPECT_EQ(answer.line, "");
  EXPECT_NE(answer.problem, "");
}

}  // namespace
}  // namespace gable
