// SPDX-License-Identifier: Apache-2.0
#include "collector/options/request_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "analysis/base/own_descriptor.h"
#include "analysis/base/plain_file.h"

namespace gable {
namespace {

using Clock = std::chrono::steady_clock;

// For a whole request. The one who serves is the worker, which a signal may be waiting for; the
// first window of a program may hold it up.
constexpr std::chrono::milliseconds kServerPatience{500}, kClientPatience{15000};
constexpr std::size_t kMostBytes = 4096;

OwnDescriptor g_listening;  // one a process

// Where a process is: its number, and the namespace in which it has that.
struct Place {
  unsigned long long names = 0;  // of process numbers; 0: unknown
  long number = 0;
};

unsigned long long names_of(const std::string& process) {
  struct stat info {};
  return ::stat(("/proc/" + process + "/ns/pid").c_str(), &info) == 0 ? info.st_ino : 0;
}

// Of a process by the number that it has here. It may be in a container, with a number of its own.
Place place_of(int pid) {
  const auto process = std::to_string(pid);
  Place place{names_of(process), pid};
  if (place.names == 0) return {names_of("self"), pid};
  const auto status = read_plain_file("/proc/" + process + "/status").value_or("");
  const auto line = status.find("\nNSpid:");
  if (line == status.npos) return place;
  const auto numbers = status.substr(line + 7, status.find('\n', line + 1) - line - 7);
  const auto last = numbers.find_last_of(" \t");
  place.number = std::strtol(numbers.c_str() + (last == numbers.npos ? 0 : last), nullptr, 10);
  return place;
}

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};
// Containers may share a network, and so these names, but have processes of one number.
Address address_of(const Place& place) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string text =
      "gable-" + std::to_string(place.names) + "-" + std::to_string(place.number);
  std::memcpy(address.name.sun_path + 1, text.data(), text.size());  // a leading 0: no file
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

// False: the other side is not ready in time.
bool wait_for(int socket, short what, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd waited{socket, what, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool send_line(int socket, const std::string& line, Clock::time_point until) {
  const std::string text = line + "\n";
  return wait_for(socket, POLLOUT, until) &&
         ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
             static_cast<ssize_t>(text.size());
}

std::optional<std::string> receive_line(int socket, Clock::time_point until) {
  std::string text;
  std::array<char, 256> some{};
  while (text.size() < kMostBytes && wait_for(socket, POLLIN, until)) {
    const auto count = ::recv(socket, some.data(), some.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return std::nullopt;
    text.append(some.data(), static_cast<std::size_t>(count));
    if (const auto end = text.find('\n'); end != std::string::npos) return text.substr(0, end);
  }
  return std::nullopt;
}

std::optional<ucred> peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

bool may_ask(int socket) {
  const auto peer = peer_of(socket);
  return peer && (peer->uid == ::geteuid() || peer->uid == 0);
}

// Anybody may take a name that is free.
bool is_process(int socket, int pid) {
  const auto peer = peer_of(socket);
  return peer && peer->pid == pid && (peer->uid == ::geteuid() || ::geteuid() == 0);
}

}  // namespace

void RequestSocket::open() {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return;
  const auto address = address_of({names_of("self"), ::getpid()});
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0 ||
      ::listen(made, 4) != 0) {
    ::close(made);
    return;
  }
  g_listening.take(made);
}

int RequestSocket::descriptor() const { return g_listening.get(); }

void RequestSocket::serve(const std::function<std::string(const std::string&)>& answer) {
  const int asking = ::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
  if (asking < 0) return;
  if (may_ask(asking)) {
    if (const auto line = receive_line(asking, Clock::now() + kServerPatience))
      (void)send_line(asking, answer(*line), Clock::now() + kServerPatience);
  }
  ::close(asking);
}

void RequestSocket::close_in_child() { g_listening.close(); }

RequestAnswer ask_process(int pid, const std::string& line) {
  const int asking = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (asking < 0) return {{}, std::string("no socket can be made: ") + std::strerror(errno)};
  const auto until = Clock::now() + kClientPatience;
  const timeval patience{kClientPatience.count() / 1000,
                         0};  // for one who listens and does not accept
  ::setsockopt(asking, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const auto address = address_of(place_of(pid));
  RequestAnswer result;
  if (::connect(asking, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) {
    result.problem = std::strerror(errno);
  } else if (!is_process(asking, pid)) {
    result.problem = "another process answers in its place";
  } else if (!send_line(asking, line, until)) {
    result.problem = "it does not listen";
  } else if (auto answered = receive_line(asking, until)) {
    result.line = *answered;
  } else {
    result.problem = "it does not answer";
  }
  ::close(asking);
  return result;
}

}  // namespace gable
