// SPDX-License-Identifier: Apache-2.0
// What NCCL's ranges say of the collective whose kernel a thread is about to launch. NCCL launches
// within its call, or, where calls are grouped, within ncclGroupEnd.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/events/collective.h"

namespace gable {

// The form an event carries: a CollectiveCall without the launch key.
struct CollectiveMessage {
  std::uint64_t bytes = 0;
  std::uint32_t correlation = 0;  // the launch's id; the launch's own event came just before
  std::uint32_t ranks = 0;        // 0: unknown
  Collective kind = Collective::unknown;
  bool sized = false;     // `bytes` is known
  bool one_node = false;  // all ranks are known to be on one machine
};

// The messages of one thread; only that thread uses them.
class CollectiveMessages {
 public:
  // Says that an NCCL range began; `message`: what it says, if it is a collective's.
  void opened(std::string_view range, const std::optional<CollectiveMessage>& message);
  // Says that the innermost NCCL range ended.
  void closed();
  // Whether an NCCL range is open, which is so only within NCCL's calls and thus for few launches.
  [[nodiscard]] bool any() const { return !open_.empty(); }
  // The message for a collective's kernel launched now, if a call is known; its size is set only if
  // the call gives one and no other call could be meant.
  [[nodiscard]] std::optional<CollectiveMessage> take();
  // Forgets all, because ranges may have been missed.
  void forget() { *this = {}; }

 private:
  enum class Range : std::uint8_t { other, collective, group_start, group_end };
  std::vector<Range> open_;
  std::uint32_t groups_ = 0;   // ncclGroupStart without its ncclGroupEnd
  std::uint32_t pending_ = 0;  // collectives that have not launched yet
  CollectiveMessage last_;
};

}  // namespace gable
