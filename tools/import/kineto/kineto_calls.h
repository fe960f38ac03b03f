// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime and the driver in a trace, found by the number that GPU work has too, and
// what that number says of work whose call is not in the trace.
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
  // `process`: the one that made it.
  void add(const TracedCall& call, std::uint32_t process);
  // After the last, before what follows.
  void sort();
  [[nodiscard]] std::vector<TracedCall>& all() { return calls_; }
  [[nodiscard]] const std::vector<TracedCall>& all() const { return calls_; }
  // Of the work that began at this time. Processes may use the same numbers: then the last call
  // before it is the one.
  [[nodiscard]] const TracedCall* find(std::uint64_t correlation, std::uint64_t when_ns) const;

  // The device has work of a call of this process. Before before() is asked.
  void used(std::int32_t device, const TracedCall& call);
  // Whether work without a call was launched before the recording began.
  [[nodiscard]] bool before(std::uint64_t correlation, std::int32_t device) const;
  // The calls with the next numbers below and above, where there are both.
  [[nodiscard]] std::optional<std::pair<const TracedCall*, const TracedCall*>> around(
      std::uint64_t correlation) const;

 private:
  std::vector<TracedCall> calls_;
  std::vector<std::uint32_t> process_of_thread_;
  std::map<std::uint32_t, CallNumbers> processes_;
  std::map<std::int32_t, std::uint32_t> of_device_;  // kSeveral: of more than one
};

}  // namespace gable
