// SPDX-License-Identifier: Apache-2.0
#include "collector/request_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace gable {
namespace {

constexpr int kServerSeconds = 1, kClientSeconds = 15;  // a first window may hold the worker up
constexpr std::size_t kMostBytes = 4096;

std::atomic<int> g_listening{-1};  // one a process

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};
Address address_of(int pid) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string text = "gable-" + std::to_string(pid);
  std::memcpy(address.name.sun_path + 1, text.data(), text.size());  // a leading 0: no file
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

void set_patience(int socket, int seconds) {
  const timeval patience{seconds, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

bool send_line(int socket, const std::string& line) {
  const std::string text = line + "\n";
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

std::optional<std::string> receive_line(int socket) {
  std::string text;
  std::array<char, 256> some{};
  while (text.size() < kMostBytes) {
    const auto count = ::recv(socket, some.data(), some.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    text.append(some.data(), static_cast<std::size_t>(count));
    if (const auto end = text.find('\n'); end != std::string::npos) return text.substr(0, end);
  }
  return std::nullopt;
}

bool may_ask(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

void RequestSocket::open() {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return;
  const auto address = address_of(::getpid());
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0 ||
      ::listen(made, 4) != 0) {
    ::close(made);
    return;
  }
  g_listening.store(made);
}

int RequestSocket::descriptor() const { return g_listening.load(std::memory_order_relaxed); }

void RequestSocket::serve(const std::function<std::string(const std::string&)>& answer) {
  const int asking = ::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
  if (asking < 0) {
    // The program closed it: whatever has its number now is the program's.
    if (errno == EBADF || errno == ENOTSOCK || errno == EINVAL || errno == EOPNOTSUPP)
      g_listening.store(-1);
    return;
  }
  set_patience(asking, kServerSeconds);
  if (may_ask(asking)) {
    if (const auto line = receive_line(asking)) (void)send_line(asking, answer(*line));
  }
  ::close(asking);
}

void RequestSocket::close_in_child() {
  if (const int inherited = g_listening.exchange(-1); inherited >= 0) ::close(inherited);
}

RequestAnswer ask_process(int pid, const std::string& line) {
  const int asking = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (asking < 0) return {{}, std::string("no socket can be had: ") + std::strerror(errno)};
  set_patience(asking, kClientSeconds);
  const auto address = address_of(pid);
  RequestAnswer result;
  if (::connect(asking, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) {
    result.problem = std::strerror(errno);
  } else if (!send_line(asking, line)) {
    result.problem = "it does not listen";
  } else if (auto answered = receive_line(asking)) {
    result.line = *answered;
  } else {
    result.problem = "it does not answer";
  }
  ::close(asking);
  return result;
}

}  // namespace gable
