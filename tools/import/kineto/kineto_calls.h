// SPDX-License-Identifier: Apache-2.0
// Runtime and driver calls in a trace, found by the number that they share with GPU work, and what
// that number says of work whose call is not in the trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/calls/call_numbers.h"
#include "tools/calls/recorded_calls.h"

namespace gable {

class KinetoCalls {
 public:
  // Adds a call; `process`: the one that made it.
  void add(const TracedCall& call, std::uint32_t process);
  // Called after the last add(), before the functions below.
  void sort();
  [[nodiscard]] std::vector<TracedCall>& all() { return calls_; }
  [[nodiscard]] const std::vector<TracedCall>& all() const { return calls_; }
  // The call of work that began at this time. If processes use the same numbers, the last call
  // before it.
  [[nodiscard]] const TracedCall* find(std::uint64_t correlation, std::uint64_t when_ns) const;

  // Says that the device has work from a call of this process. Called before before().
  void used(std::int32_t device, const TracedCall& call);
  // Whether work without a call was launched before the recording began.
  [[nodiscard]] bool before(std::uint64_t correlation, std::int32_t device) const;
  // The calls with the next lower and next higher number, if both exist.
  [[nodiscard]] std::optional<std::pair<const TracedCall*, const TracedCall*>> around(
      std::uint64_t correlation) const;

 private:
  std::vector<TracedCall> calls_;
  std::vector<std::uint32_t> process_of_thread_;
  std::map<std::uint32_t, CallNumbers> processes_;
  std::map<std::int32_t, std::uint32_t> of_device_;  // kSeveral: of more than one
};

}  // namespace gable
