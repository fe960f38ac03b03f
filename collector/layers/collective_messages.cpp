// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/collective_messages.h"

namespace gable {

void CollectiveMessages::opened(std::string_view range,
                                const std::optional<CollectiveMessage>& message) {
  // Nothing that a program does may let this grow.
  constexpr std::size_t kDeepest = 64;
  if (open_.size() >= kDeepest) forget();
  auto kind = Range::other;
  if (message) {
    kind = Range::collective;
    ++pending_;
    last_ = *message;
  } else if (range == "ncclGroupStart") {
    kind = Range::group_start;
  } else if (range == "ncclGroupEnd") {
    kind = Range::group_end;
  }
  open_.push_back(kind);
}

void CollectiveMessages::closed() {
  if (open_.empty()) return;
  const Range ended = open_.back();
  open_.pop_back();
  if (ended == Range::group_start) ++groups_;
  if (ended == Range::group_end && groups_ > 0) --groups_;
  // Outside of a group, a call has launched all that it launches.
  if (groups_ == 0 && ended != Range::group_start) pending_ = 0;
}

std::optional<CollectiveMessage> CollectiveMessages::take() {
  if (pending_ == 0) return std::nullopt;
  CollectiveMessage message = last_;
  // Several in a group: which kernel does which is not told.
  if (pending_ > 1) message = {};
  // Another kernel of the same call carries an unknown part of the message.
  if (pending_ == 1) ++pending_;
  return message;
}

}  // namespace gable
