// SPDX-License-Identifier: Apache-2.0
// Plain sentences for the user: each is said once on stderr and stands in the report.
#pragma once

#include <string>
#include <vector>

#include "analysis/mutex.h"

namespace gable {

class Notes {
 public:
  static constexpr std::size_t kMax =
      200;  // different sentences kept; more are only counted by their absence

  // On stderr ("gable: …", one write, where what is written there is read) and in the report.
  void say(const std::string& sentence);
  // In the report only.
  void record(const std::string& sentence);
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  bool keep(const std::string& sentence);
  mutable Mutex mutex_;
  std::vector<std::string> sentences_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable
