// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace gable {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

std::string in_gib(std::uint64_t bytes) { return std::to_string(bytes >> 30) + " GiB"; }

// Whether a process has the pipe open for writing, or has left bytes in it. Takes none of them.
bool has_writer(int pipe) {
  std::array<int, 2> copy{};
  if (::pipe2(copy.data(), O_CLOEXEC | O_NONBLOCK) != 0) return true;
  const auto count = ::tee(pipe, copy[1], 1, SPLICE_F_NONBLOCK);
  const bool has = count != 0;  // EAGAIN: there is one, which has written nothing yet
  ::close(copy[0]);
  ::close(copy[1]);
  return has;
}

bool waited_for_writer(int pipe) {
  const auto end = std::chrono::steady_clock::now() + kWriterPatience;
  while (!has_writer(pipe)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

InputFile::InputFile(const std::string& path, const std::string& what) : path_(path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    error_ = path + ": " + std::strerror(errno) + ".";
    return;
  }
  if (S_ISDIR(info.st_mode)) error_ = path + " is a folder, not " + what + ".";
  // /dev/zero has no end.
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
    error_ = path + " is a device, not " + what + ".";
  if (!error_.empty()) return;
  // Opening a pipe would wait for its writer.
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file_ < 0 || ::fstat(file_, &info) != 0) {
    error_ = path + " cannot be read: " + std::strerror(errno) + ".";
    return;
  }
  regular_ = S_ISREG(info.st_mode);
  size_ = regular_ ? static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0)) : 0;
  if (S_ISFIFO(info.st_mode) && !waited_for_writer(file_)) {
    error_ = path + " is a pipe that no process writes to: first start the program that writes " +
             what + " into it.";
  }
  const int flags = ::fcntl(file_, F_GETFL);
  if (flags >= 0) (void)::fcntl(file_, F_SETFL, flags & ~O_NONBLOCK);
}

InputFile::~InputFile() {
  if (file_ >= 0) ::close(file_);
}

int InputFile::release() { return std::exchange(file_, -1); }

std::optional<std::string> InputFile::read_all() {
  if (!error_.empty()) return std::nullopt;
  const auto most = regular_ ? kMostAtOnce : kMostOfPipeAtOnce;
  const auto too_large = [&] {
    error_ = path_ + " has more than " + in_gib(most) +
             ", more than can be read at once: give a smaller file.";
    return std::nullopt;
  };
  if (size_ > most) return too_large();
  try {
    std::string text;
    text.reserve(size_ + 1);
    for (;;) {
      const std::size_t before = text.size();
      // The size of a pipe, or of a file in /proc, is unknown.
      const std::size_t room = text.capacity() > before ? text.capacity() - before : kPiece;
      text.resize(before + room);
      const auto count = ::read(file_, text.data() + before, room);
      const int problem = errno;
      text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count == 0) return text;
      if (count < 0 && problem != EINTR) {
        error_ = path_ + " cannot be read to its end: " + std::strerror(problem) + ".";
        return std::nullopt;
      }
      if (text.size() > most) return too_large();
    }
  } catch (const std::bad_alloc&) {
    error_ = path_ + " is too large for this machine's memory.";
    return std::nullopt;
  }
}

}  // namespace gable
