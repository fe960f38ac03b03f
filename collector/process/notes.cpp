// SPDX-License-Identifier: Apache-2.0
#include "collector/process/notes.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "analysis/base/display.h"
#include "analysis/base/no_cancel.h"
#include "analysis/base/own_descriptor.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kWritePatience{100};

}  // namespace

Notes::Notes() : standard_error_(STDERR_FILENO) {}

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
  if (keep(sentence) && !quiet_.load(std::memory_order_relaxed)) print(sentence);
}

void Notes::insist(const std::string& sentence) {
  if (keep(sentence)) print(sentence);
}

void Notes::print(const std::string& sentence) const {
  const NoCancel hold;
  const std::string line = "gable: " + one_line(sentence) + "\n";
  // Bypasses stdio, so as not to touch the program's buffers and locks. The reader of a full pipe
  // may wait for this very thread: the sentence is then only in the report.
  [[maybe_unused]] const int error =
      write_if_still(standard_error_, STDERR_FILENO, line, kWritePatience);
}

void Notes::record(const std::string& sentence) { keep(sentence); }

std::vector<std::string> Notes::all() const {
  const MutexLock hold(mutex_);
  return sentences_;
}

}  // namespace gable
