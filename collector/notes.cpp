// SPDX-License-Identifier: Apache-2.0
#include "collector/notes.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

namespace gable {
namespace {

constexpr int kWritePatienceMs = 100;

}  // namespace

bool Notes::keep(const std::string& sentence) {
  const MutexLock hold(mutex_);
  if (sentences_.size() >= kMax ||
      std::find(sentences_.begin(), sentences_.end(), sentence) != sentences_.end()) {
    return false;
  }
  sentences_.push_back(sentence);
  return true;
}

void Notes::say(const std::string& sentence) {
  if (!keep(sentence)) return;
  const std::string line = "gable: " + sentence + "\n";
  // One write, past stdio: the program's own buffers and locks are none of our business. A pipe may
  // be full whose reader waits for this very thread: then the sentence stands in the report alone.
  // Where nobody reads at all, writing would end the program.
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&standard_error, 1, kWritePatienceMs) != 1 || standard_error.revents != POLLOUT)
    return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void Notes::record(const std::string& sentence) { keep(sentence); }

std::vector<std::string> Notes::all() const {
  const MutexLock hold(mutex_);
  return sentences_;
}

}  // namespace gable
