// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/own_write.h"

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

namespace gable {

WithoutWriteSignals::WithoutWriteSignals() {
  sigemptyset(&ours_);
  sigaddset(&ours_, SIGPIPE);
  sigaddset(&ours_, SIGXFSZ);
  sigpending(&pending_);
  blocked_ = pthread_sigmask(SIG_BLOCK, &ours_, &before_) == 0;
}

WithoutWriteSignals::~WithoutWriteSignals() {
  if (!blocked_) return;
  const int error = errno;
  // Both are raised for the thread that writes, so what is pending now and was not before is ours.
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    sigset_t one, now;
    sigemptyset(&one);
    sigaddset(&one, signal);
    if (sigismember(&pending_, signal) == 1) continue;
    if (sigpending(&now) != 0 || sigismember(&now, signal) != 1) continue;
    const timespec at_once{};
    while (sigtimedwait(&one, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

FileIdentity::FileIdentity(int file) {
  struct stat info {};
  open_ = ::fstat(file, &info) == 0;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

bool FileIdentity::is(int file) const {
  struct stat info {};
  return open_ && ::fstat(file, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

namespace {

// Files on disks take what they are given; a pipe, a socket or a terminal may take nothing.
bool may_block(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 && !S_ISREG(info.st_mode);
}

// 0: it takes something.
int wait_for_room(int file, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waited{file, POLLOUT, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready > 0) return 0;  // also with an error, which the write then tells
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

}  // namespace

int write_whole(int file, std::string_view text, std::chrono::milliseconds patience) {
  const WithoutWriteSignals quiet;
  const bool waits = may_block(file);
  while (!text.empty()) {
    if (waits)
      if (const int error = wait_for_room(file, patience); error != 0) return error;
    // Where there is room in a pipe, at least PIPE_BUF bytes go in without waiting for more.
    const auto part = waits ? text.substr(0, PIPE_BUF) : text;
    const auto written = ::write(file, part.data(), part.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace gable
