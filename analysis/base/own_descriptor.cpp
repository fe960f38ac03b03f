// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/own_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gable {
namespace {

// Below what select() takes, as the program may hand all its numbers to it.
constexpr rlim_t kHighest = 1024, kFromTheEnd = 32;
constexpr int kAfterStandardStreams = 3;

int moved_up(int file) {
  const int number = high_duplicate(file);
  if (number < 0 && file >= kAfterStandardStreams) return file;
  ::close(file);
  return number;
}

}  // namespace

int high_duplicate(int file) {
  rlimit limit{};
  const rlim_t most = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kHighest;
  const auto high = static_cast<int>(std::min(most, kHighest)) - static_cast<int>(kFromTheEnd);
  for (const int from : {std::max(high, kAfterStandardStreams), kAfterStandardStreams})
    if (const int number = ::fcntl(file, F_DUPFD_CLOEXEC, from); number >= 0) return number;
  return -1;
}

int write_if_still(const FileIdentity& wanted, int file, std::string_view text,
                   std::chrono::milliseconds patience) {
  const int duplicate = high_duplicate(file);
  const int written_to = duplicate >= 0 ? duplicate : file;  // the program may have no number left
  const int error = wanted.is(written_to) ? write_whole(written_to, text, patience) : EBADF;
  if (duplicate >= 0) ::close(duplicate);
  return error;
}

void OwnDescriptor::take(int file) {
  number_ = file < 0 ? -1 : moved_up(file);
  identity_.emplace(number_);
}

int OwnDescriptor::get() const {
  return number_ >= 0 && identity_ && identity_->is(number_) ? number_ : -1;
}

void OwnDescriptor::close() {
  if (const int number = get(); number >= 0) ::close(number);
  number_ = -1;
}

}  // namespace gable
