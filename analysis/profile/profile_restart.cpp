// SPDX-License-Identifier: Apache-2.0
// What was collected gives way to something else: windows of launches to steps.
#include <algorithm>
#include <utility>

#include "analysis/profile/profile.h"
#include "analysis/profile/profile_state.h"

namespace gable {
namespace {

// What belongs to the run, whatever is collected.
void hand_over(Profile::State& from, Profile::State& to) {
  to.devices = std::move(from.devices);
  to.metrics = from.metrics;
  to.raw_metrics = from.raw_metrics;
  to.overhead_ns = from.overhead_ns;
  to.known = std::move(from.known);
  to.graphs = from.graphs;
  to.range_function = from.range_function;
  to.models = from.models;
}

// Launches and calls, of which a run has all.
void count_in(const Profile::State& from, Profile::State& to) {
  for (KeyIndex index = 0; index < from.keys.rows().size(); ++index) {
    const KeyRow& row = from.keys.row(index);
    if (row.launches == 0) continue;
    KeyRow& own = to.keys.row(index == kOtherKey ? kOtherKey
                                                 : to.keys.find_or_add(row.key, to.oldest_open()));
    own.launches += row.launches;
    own.in_graphs += row.in_graphs;
  }
  to.launches += from.launches;
  to.launches_without_layer += from.launches_without_layer;
  to.launches_inherited += from.launches_inherited;
  for (const auto& [layer, calls] : from.calls) to.calls[layer] += calls;
}

}  // namespace

void Profile::restart(bool put_aside) {
  std::unique_ptr<State> old = std::move(state_);
  state_ = std::make_unique<State>(old->layers, old->functions, old->limits, old->checks);
  hand_over(*old, *state_);
  // Their records may still come.
  old->pending.for_each(
      [this](const PendingLaunch& launch) { state_->known.insert(launch.correlation); });
  for (const auto& [correlation, graph] : old->pending_graphs) state_->known.insert(correlation);
  if (!put_aside) {
    aside_ = nullptr;
  } else if (aside_ != nullptr) {
    count_in(*old, *aside_);
  } else if (old->classes.steps() == 0) {
    aside_ = std::move(old);
  }
}

bool Profile::awaited_aside(const KernelRecord& record) {
  const std::optional<PendingLaunch> launch =
      record.correlation == 0 ? std::nullopt : aside_->pending.take(record.correlation);
  if (!launch) return false;
  (void)aside_->pending.insert(*launch);
  std::swap(state_, aside_);
  add(record);
  std::swap(state_, aside_);
  return true;
}

bool Profile::take_back() {
  if (aside_ == nullptr) return false;
  const auto missed = [this](const auto& phase) {
    return phase.first != "wait" && phase.first != "warmup" &&
           !state_->window_wall.contains(phase.first);
  };
  const auto& before = aside_->window_wall;
  if (std::none_of(before.begin(), before.end(), missed)) {
    aside_ = nullptr;
    return false;
  }
  const std::unique_ptr<State> since = std::exchange(state_, std::move(aside_));
  State& state = *state_;
  hand_over(*since, state);
  count_in(*since, state);
  add_lost(since->lost);
  finish_records();
  return true;
}

}  // namespace gable
