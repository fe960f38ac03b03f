// SPDX-License-Identifier: Apache-2.0
// Plain sentences for the user: each is said once on stderr and stands in the report.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/base/own_write.h"

namespace gable {

class Notes {
 public:
  // Different sentences kept; more are only counted by their absence.
  static constexpr std::size_t kMax = 200;

  Notes();

  // In the report, and on stderr ("gable: …") as long as that is what it was when this was made: a
  // program that closes it may get its number for a file of its own.
  void say(const std::string& sentence);
  // In the report only.
  void record(const std::string& sentence);
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  bool keep(const std::string& sentence);
  const FileIdentity standard_error_;
  mutable Mutex mutex_;
  std::vector<std::string> sentences_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable
