// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/step_classes.h"

namespace gable {

void StepClasses::step(std::uint64_t sequence_hash) {
  ++steps_;
  auto found = classes_.find(sequence_hash);
  if (found == classes_.end()) {
    if (classes_.size() >= kMostClasses) return;
    found = classes_.try_emplace(sequence_hash).first;
  }
  Class& each = found->second;
  if (each.steps++ == 0) ++size_;
  if (each.place) ++seen_[*each.place];
}

std::size_t StepClasses::place(std::uint64_t sequence_hash) {
  auto found = classes_.find(sequence_hash);
  if (found == classes_.end()) {
    if (classes_.size() >= kMostClasses) return places() - 1;
    found = classes_.try_emplace(sequence_hash).first;
  }
  Class& each = found->second;
  if (!each.place) {
    if (seen_.size() < kPlaces) seen_.push_back(0);
    each.place = seen_.size() - 1;
    seen_[*each.place] += each.steps;
  }
  return *each.place;
}

}  // namespace gable
