// SPDX-License-Identifier: Apache-2.0
// Plain sentences for the user, each printed once on stderr and kept in the report.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/base/own_write.h"

namespace gable {

class Notes {
 public:
  // Most different sentences kept; further ones are dropped.
  static constexpr std::size_t kMax = 200;

  Notes();

  // From now on say() only adds to the report: what 512 ranks say alike is said by the first of
  // them, and what the others alone have stands in the job's table.
  void keep_to_report() { quiet_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool keeps_to_report() const { return quiet_.load(std::memory_order_relaxed); }
  // Adds the sentence to the report and prints it on stderr ("gable: …"), unless the program has
  // closed stderr, whose number may then be another file's.
  void say(const std::string& sentence);
  // Prints it in any case: of what has no report to stand in.
  void insist(const std::string& sentence);
  // Adds the sentence to the report only.
  void record(const std::string& sentence);
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  bool keep(const std::string& sentence);
  void print(const std::string& sentence) const;
  const FileIdentity standard_error_;
  std::atomic<bool> quiet_{false};
  mutable Mutex mutex_;
  std::vector<std::string> sentences_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable
