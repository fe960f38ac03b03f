// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/counting_ladder.h"

#include <algorithm>

namespace gable {
namespace {

using Rung = CountingLadder::Rung;

Rung rung_of(RangeMode mode) {
  switch (mode) {
    case RangeMode::automatic:
      return Rung::automatic;
    case RangeMode::layer:
      return Rung::layers;
    case RangeMode::replay:
      return Rung::replay;
    case RangeMode::user:
      break;
  }
  return Rung::launches;
}

PhaseKind other_than(PhaseKind kind) {
  return kind == PhaseKind::flops ? PhaseKind::hw : PhaseKind::flops;
}

}  // namespace

CountingLadder::CountingLadder(RangeMode first, bool hw, bool flops)
    : first_(rung_of(first)), by_layers_(first_ == Rung::layers) {
  hw_.rung = hw ? first_ : Rung::none;
  flops_.rung = flops ? first_ : Rung::none;
}

RangeMode CountingLadder::mode(PhaseKind kind) const {
  switch (rung(kind)) {
    case Rung::replay:
      return RangeMode::replay;
    case Rung::automatic:
      return RangeMode::automatic;
    case Rung::trial:
    case Rung::layers:
      return RangeMode::layer;
    case Rung::launches:
    case Rung::none:
      break;
  }
  return RangeMode::user;
}

void CountingLadder::begin_anew() {
  for (auto* kind : {&hw_, &flops_}) {
    auto rung = kind->rung;
    if (rung == Rung::none || rung == Rung::trial) rung = by_layers_ ? Rung::layers : first_;
    *kind = {};
    kind->rung = rung;
  }
}

// What worked is not given up for one failure; a rung that is only tried is.
bool CountingLadder::bears(Kind& kind, Cause cause) const {
  const bool tried = !kind.works && (kind.rung == Rung::automatic || kind.rung == Rung::trial) &&
                     kind.rung != first_;
  switch (cause) {
    case Cause::refused:
      return ++kind.refusals < 2 && kind.works;
    case Cause::misfit:
      return ++kind.misfits < kMisfits && !tried;
    case Cause::stalled:
      return ++kind.stalls < kStalls && !tried;
    case Cause::too_many:
    case Cause::denied:
      break;
  }
  return false;
}

bool CountingLadder::may_take(const Way& way, Cause cause, const Allowed& allowed) const {
  switch (way.to) {
    case Rung::automatic:
      return allowed.automatic && cause != Cause::too_many;
    case Rung::trial:  // what was counted is not given up for what may not work
      return allowed.layers && counted_;
    case Rung::layers:
      return allowed.layers;
    default:
      return true;
  }
}

CountingLadder::Step CountingLadder::failed(PhaseKind kind, Cause cause, const Allowed& allowed) {
  auto& own = of(kind);
  if (own.rung == Rung::none || bears(own, cause)) return {};
  if (cause == Cause::denied || (cause == Cause::stalled && own.stalls >= kStalls)) {
    return give_up_all();
  }
  return go_down(kind, cause, allowed);
}

// Layers of which nothing was counted are no scope.
CountingLadder::Step CountingLadder::give_up_all() {
  hw_.rung = flops_.rung = Rung::none;
  Step step{true, false, "No more counters are taken."};
  if (counted_) return step;
  step.scope_changed = by_layers_ != (first_ == Rung::layers);
  by_layers_ = first_ == Rung::layers;
  return step;
}

CountingLadder::Step CountingLadder::go_down(PhaseKind kind, Cause cause, const Allowed& allowed) {
  auto& own = of(kind);
  auto& other = of(other_than(kind));
  const auto* const way = std::find_if(kWays.begin(), kWays.end(), [&](const Way& each) {
    return each.from == own.rung && may_take(each, cause, allowed);
  });
  if (way == kWays.end() || way->to == Rung::none) return give_up(kind, cause);
  if (way->to == Rung::layers) return take_layers(kind);
  own = {};
  own.rung = way->to;
  own.fell = true;
  if (own.rung == Rung::trial)
    return {true, false, "One window with a range for each layer shows whether such ranges work."};
  // What has not been tried yet begins there.
  if (!other.works && other.rung == Rung::launches) other.rung = Rung::automatic;
  return {
      true, false,
      "Counting continues with CUPTI's automatic ranges, in which CUPTI waits after every launch."};
}

CountingLadder::Step CountingLadder::take_layers(PhaseKind kind) {
  auto& other = of(other_than(kind));
  of(kind) = {};
  of(kind).rung = Rung::layers;
  of(kind).fell = true;
  const bool fell = other.fell;
  const auto rung = other.rung == Rung::none ? Rung::none : Rung::layers;
  other = {};  // what worked was of single launches
  other.rung = rung;
  other.fell = fell;
  const bool changed = !by_layers_;
  counted_ = false;
  by_layers_ = true;
  return {true, changed,
          "Counting continues with one range for each layer: counters are of layers, not of single "
          "kernels."};
}

// Where hardware counters never fitted, what instructions count would be wrong too, and nothing
// would show it.
CountingLadder::Step CountingLadder::give_up(PhaseKind kind, Cause cause) {
  auto& other = of(other_than(kind));
  of(kind).rung = Rung::none;
  const bool doubtful =
      kind == PhaseKind::hw && (cause == Cause::misfit || cause == Cause::too_many) && !other.works;
  if (other.rung == Rung::none || doubtful) {
    other.rung = Rung::none;
    return give_up_all();
  }
  Step step{true, false,
            kind == PhaseKind::flops
                ? "FLOPs are no longer counted; hardware counters still are."
                : "Hardware counters are no longer taken; FLOPs are still counted."};
  if (other.works || other.fell) return step;
  // What followed the other kind down begins at the top.
  other = {};
  other.rung = first_;
  const bool layers = first_ == Rung::layers;
  step.scope_changed = by_layers_ != layers;
  by_layers_ = layers;
  if (step.scope_changed) counted_ = false;
  return step;
}

CountingLadder::Step CountingLadder::worked(PhaseKind kind) {
  auto& own = of(kind);
  if (own.rung == Rung::trial) return take_layers(kind);
  own.works = own.rung != Rung::none;
  counted_ = counted_ || own.works;
  own.refusals = own.misfits = own.stalls = 0;
  return {};
}

CountingLadder::Step CountingLadder::forbid_automatic(const Allowed& allowed) {
  Step step;
  for (auto* kind : {&hw_, &flops_})
    if (kind->rung == Rung::automatic) kind->works = false;
  for (const auto kind : {PhaseKind::hw, PhaseKind::flops}) {
    auto& own = of(kind);
    if (own.rung != Rung::automatic) continue;
    if (first_ == Rung::automatic) {  // ranges of launches were not tried yet
      own = {};
      own.rung = Rung::launches;
      step.moved = true;
      continue;
    }
    auto more = go_down(kind, Cause::refused, {false, allowed.layers});
    step.scope_changed = step.scope_changed || more.scope_changed;
    step.moved = true;
    step.sentence = more.sentence;
  }
  return step;
}

}  // namespace gable
