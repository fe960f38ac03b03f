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

// As an event carries it: CollectiveCall without the launch key.
struct CollectiveMessage {
  std::uint64_t bytes = 0;
  std::uint32_t correlation = 0;  // of the launch; the launch's own event came just before
  std::uint32_t ranks = 0;        // 0: unknown
  Collective kind = Collective::unknown;
  bool sized = false;     // `bytes` is known
  bool one_node = false;  // all ranks are known to be on one machine
};

// One thread's. Only that thread touches it.
class CollectiveMessages {
 public:
  // A range of NCCL's began; `message` is what it says, where it is one of a collective.
  void opened(std::string_view range, const std::optional<CollectiveMessage>& message);
  // The innermost of them ended.
  void closed();
  // Whether any is open: within NCCL's calls alone, and so for few launches.
  [[nodiscard]] bool any() const { return !open_.empty(); }
  // The message of a collective's kernel that is launched now: of size only where the call tells
  // one and no other call could be meant. Nothing where no call is known.
  [[nodiscard]] std::optional<CollectiveMessage> take();
  // Ranges may have come and gone unseen.
  void forget() { *this = {}; }

 private:
  enum class Range : std::uint8_t { other, collective, group_start, group_end };
  std::vector<Range> open_;
  std::uint32_t groups_ = 0;   // ncclGroupStart without its ncclGroupEnd
  std::uint32_t pending_ = 0;  // collectives that have not launched yet
  CollectiveMessage last_;
};

}  // namespace gable
