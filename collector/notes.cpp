// SPDX-License-Identifier: Apache-2.0
#include "collector/notes.h"

#include <unistd.h>

#include <algorithm>

namespace gable {

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
  // One write, past stdio: the program's own buffers and locks are none of our business.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void Notes::record(const std::string& sentence) { keep(sentence); }

std::vector<std::string> Notes::all() const {
  const MutexLock hold(mutex_);
  return sentences_;
}

}  // namespace gable
