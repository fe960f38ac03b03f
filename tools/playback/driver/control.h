// SPDX-License-Identifier: Apache-2.0
// What a test can ask of the playback GPU: faults, switches, and the list of broken rules.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"

namespace gable::playback {

class Control {
 public:
  void add(const RecordedFault& fault);
  void set_switch(const std::string& name, const std::string& value);
  // The first value of docs/recordings.md is the default.
  [[nodiscard]] bool is(const char* name, const char* value) const;

  // Called at the start of every call. If it returns a code, the call must return it and do
  // nothing. Does not return from a hang.
  std::optional<std::int32_t> fault_of(std::string_view call);
  // Called within every call: waits as long as a fault of this call says.
  void delay(std::string_view call);
  // Why CUPTI takes no counters on this GPU, from a fault; empty if it does.
  [[nodiscard]] std::string unsupported() const;
  [[nodiscard]] std::string holder() const;  // of CUPTI, as the last fault named it

  // Each takes one of the next N that a fault asked for; false if none is left.
  bool take_lost_record() { return take(lose_records_); }
  bool take_zero_timestamp() { return take(zero_timestamps_); }
  bool take_wrong_ctas() { return take(wrong_ctas_); }
  std::uint64_t take_dropped_ranges() { return drop_ranges_.exchange(0); }
  [[nodiscard]] bool no_permission() const { return no_permission_.load(); }

  // Reports a broken rule as one line on stderr and in the file named by GABLE_PLAYBACK_VIOLATIONS.
  void rule_broken(const std::string& what);

 private:
  static bool take(std::atomic<std::int64_t>& counter);

  mutable std::mutex mutex_;  // of the lists; not held while hanging
  std::vector<RecordedFault> calls_;
  std::map<std::string, std::string> switches_;
  std::string holder_ = "CUPTI for another tool", unsupported_;
  std::atomic<bool> any_calls_{false}, no_permission_{false};
  std::atomic<std::int64_t> lose_records_{0}, zero_timestamps_{0}, wrong_ctas_{0};
  std::atomic<std::uint64_t> drop_ranges_{0};
};

}  // namespace gable::playback
