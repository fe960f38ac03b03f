// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/phase_queue.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gable {
namespace {

// With a budget: shares of the time that still lack samples when the next phase's turn comes.
constexpr std::array kTails = {0.5, 0.1, 0.01};

}  // namespace

PhaseQueue::PhaseQueue(const QueueOptions& options) : options_(options) { make_order(); }

void PhaseQueue::set_groups(std::uint32_t groups) {
  options_.hw_groups = groups;
  make_order();
}

std::uint32_t PhaseQueue::least_steps() const {
  const auto& o = options_;
  return o.wait + o.warmup + (o.hw ? o.hw_groups * shares_ : 0) +
         (o.flops ? active(PhaseKind::flops) : 0) + (o.time ? 1 : 0);
}

void PhaseQueue::add_place(Phase phase, Goal goal, std::uint32_t round, double tail) {
  Place place{phase, goal, round, tail};
  for (std::size_t i = order_.size(); i-- > 0 && order_[i].round == round && !place.earlier;)
    if (order_[i].phase == phase) place.earlier = i;
  order_.push_back(place);
}

void PhaseQueue::add_round(std::uint32_t round) {
  const bool by_share = options_.budget && !counts_exactly();
  const auto add_hw = [&](Goal goal, double tail = 0) {
    for (std::uint32_t g = 0; g < options_.hw_groups && options_.hw; ++g)
      add_place({PhaseKind::hw, static_cast<std::uint8_t>(g)}, goal, round, tail);
  };
  const auto add = [&](bool wanted, PhaseKind kind, Goal goal, double tail = 0) {
    if (wanted) add_place({kind, 0}, goal, round, tail);
  };
  if (by_share) {
    for (const double tail : kTails) {
      add_hw(Goal::samples, tail);
      add(options_.flops, PhaseKind::flops, Goal::samples, tail);
    }
  } else {
    add_hw(Goal::once);
    add(options_.flops, PhaseKind::flops, Goal::samples);
  }
  if (!counts_exactly()) add(options_.flops, PhaseKind::flops, Goal::spread);
  add(options_.time, PhaseKind::time, Goal::once);
  add_hw(Goal::rest);
  add(options_.time, PhaseKind::time, Goal::rest);
}

void PhaseQueue::make_order() {
  order_.clear();
  for (std::uint32_t round = 0; round < options_.repeat; ++round) add_round(round);
}

std::uint32_t PhaseQueue::active(PhaseKind kind) const {
  return options_.active.value_or(kind == PhaseKind::flops ? kTwice : kLeastTimes) * turns(kind);
}

void PhaseQueue::share(std::uint32_t contexts) {
  if (!options_.by_number) shares_ = std::max(shares_, contexts);
}

bool PhaseQueue::warmed_up() const {
  if (warmed_ < options_.warmup) return false;
  return !options_.until_repeat || options_.by_number || options_.warmup == 0 || repeated_ ||
         warmed_ >= kMaxWarmup;
}

std::uint32_t PhaseQueue::most(const Progress& wanted) const {
  return wanted.new_keys || options_.budget ? kMostNewKeys : kMostWindows;
}

std::uint64_t PhaseQueue::turn_of_times(std::uint32_t windows) {
  if (windows == 0) return 1;  // as the others, after their first window
  if (windows < kLeastTimes) return 0;
  return 1 + (windows - kLeastTimes) / 2;
}

PhaseQueue::Had PhaseQueue::had(const Class& c, std::size_t index) const {
  Had had;
  bool first = true;
  for (auto i = std::optional(index); i; i = order_[*i].earlier) {
    const auto found = c.collected.find(*i);
    if (found == c.collected.end()) continue;
    if (*i == index) had.here = found->second;
    if (found->second.windows == 0) continue;
    had.windows += found->second.windows;
    if (std::exchange(first, false)) had.wanted = found->second.wanted;
  }
  return had;
}

bool PhaseQueue::enough(const Class& c, std::size_t index) const {
  const auto& place = order_[index];
  const auto had = this->had(c, index);
  const auto kind = place.phase.kind;
  if (counts_exactly()) {
    const auto exactly = active(kind);
    if (place.windows >= std::max(kMostOfAll, exactly * 16)) return true;
    return had.windows >= (place.goal == Goal::once ? std::min(exactly, turns(kind)) : exactly);
  }
  const auto& wanted = had.wanted;
  if (place.windows >= std::max(kMostOfAll, most(wanted))) return true;
  const bool time = kind == PhaseKind::time;
  switch (place.goal) {
    case Goal::once:
      return had.windows >= turns(kind);
    case Goal::samples: {
      if (had.windows < turns(kind)) return false;
      const bool more = options_.budget ? wanted.lacking > place.tail : had.here.wanted.more;
      return !more || had.here.windows >= most(had.here.wanted);
    }
    case Goal::spread:
      return !wanted.wide || had.windows >= kMostWindows;
    case Goal::rest:
      break;
  }
  if (time && had.windows < kLeastTimes) return false;
  return !(wanted.more && had.windows < most(wanted)) &&
         !(wanted.wide && had.windows < kMostWindows);
}

bool PhaseQueue::open(std::size_t index) const {
  const auto& place = order_[index];
  if (options_.by_number) return true;  // other ranks may have it
  return !place.given_up && (place.phase.kind != PhaseKind::flops || place.round >= timed_rounds_);
}

// Samples come before spread. A hardware pass goes on until it has enough: another one needs a new
// profiler object, which took an H200 200 ms and more than 1 ms for each launch of a step. Else the
// phase with the fewest windows comes first. Times come in a row of kLeastTimes first, then in
// pairs: only a step followed by another timed one has a length on the GPU, and nothing is switched
// when the second begins.
std::size_t PhaseQueue::whose_turn(const Class& c, std::size_t index) const {
  const auto round = order_[index].round;
  std::size_t chosen = order_.size();
  std::uint64_t least = 0;
  for (auto i = index; i < order_.size() && order_[i].round == round; ++i) {
    if (!open(i) || enough(c, i)) continue;
    const auto had = this->had(c, i);
    const bool time = order_[i].phase.kind == PhaseKind::time;
    const bool lacks = counts_exactly() || had.wanted.more || (time && had.windows < kLeastTimes);
    std::uint64_t turn = 0;
    if (options_.steps) turn = time && lacks ? turn_of_times(had.windows) : had.windows;
    if (!time && order_[i].phase == newest_) turn = 0;
    if (!lacks) turn += std::uint64_t{1} << 32;
    if (chosen < order_.size() && turn >= least) continue;
    chosen = i;
    least = turn;
  }
  return chosen;
}

std::size_t PhaseQueue::first_missing(const Class& c) const {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (!open(i) || enough(c, i)) continue;
    return order_[i].goal == Goal::rest ? whose_turn(c, i) : i;
  }
  return order_.size();
}

std::size_t PhaseQueue::earliest_missing() const {
  std::size_t earliest = order_.size();
  bool any = false;
  for (const auto& [hash, c] : classes_) {
    if (!c.counts) continue;
    any = true;
    earliest = std::min(earliest, first_missing(c));
  }
  return any ? earliest : first_missing(Class{});
}

std::size_t PhaseQueue::newest(const Class& c, Phase phase) const {
  for (std::size_t i = order_.size(); i-- > 0;) {
    const auto found = c.collected.find(i);
    if (order_[i].phase == phase && found != c.collected.end() && found->second.windows > 0)
      return i;
  }
  return order_.size();
}

const PhaseQueue::Class* PhaseQueue::class_of(std::uint64_t hash) const {
  auto found = classes_.find(hash);
  if (found == classes_.end()) found = classes_.begin();
  return found == classes_.end() ? nullptr : &found->second;
}

PhaseQueue::Class* PhaseQueue::class_of(std::uint64_t hash) {
  return const_cast<Class*>(std::as_const(*this).class_of(hash));
}

void PhaseQueue::progress(Phase phase, std::uint64_t hash, const Progress& wanted) {
  if (thrown_phase_ == phase) thrown_away_ = 0;
  auto* c = class_of(hash);
  if (c == nullptr) return;
  const auto index = newest(*c, phase);
  if (index < order_.size()) c->collected[index].wanted = wanted;
}

std::uint32_t PhaseQueue::round(Phase phase, std::uint64_t hash) const {
  const auto* c = class_of(hash);
  const auto index = c == nullptr ? order_.size() : newest(*c, phase);
  if (index == order_.size()) return 1;
  return order_[index].round + 1;
}

// A class that comes and goes around the threshold would have the queue go back and forth.
void PhaseQueue::weigh_classes() {
  for (auto& [hash, c] : classes_) c.counts = c.seen * (c.counts ? 8 : 4) >= steps_;
}

Phase PhaseQueue::next() const {
  if (waited_ < options_.wait) return {PhaseKind::wait, 0};
  if (!warmed_up()) return {PhaseKind::warmup, 0};
  if (reaching_) return {PhaseKind::time, 0};
  const auto off = order_.size();
  if (options_.by_number) {
    const auto index = first_missing(numbered_);
    if (index == off) return {PhaseKind::off, 0};
    return order_[index].given_up ? Phase{PhaseKind::wait, 0} : order_[index].phase;
  }
  const auto earliest = earliest_missing();
  const auto follows = follower_.find(last_class_);
  const auto expected = classes_.find(follows != follower_.end() ? follows->second : last_class_);
  const bool any =
      std::any_of(classes_.begin(), classes_.end(), [](const auto& c) { return c.second.counts; });
  // Everybody who counts is done: a class that is new now would have to come often before it is
  // waited for.
  if (any && earliest == off) return {PhaseKind::off, 0};
  const auto predicted =
      first_missing(any && expected != classes_.end() ? expected->second : Class{});
  // The next step is most likely of the same class as the last one; but the first times wait for
  // everybody's FLOPs.
  const bool waits = predicted < off && order_[predicted].phase.kind == PhaseKind::time &&
                     order_[predicted].round >= timed_rounds_;
  const auto index = predicted < off && !waits ? predicted : earliest;
  return index < off ? order_[index].phase : Phase{PhaseKind::off, 0};
}

void PhaseQueue::ended(Phase phase, std::uint64_t hash, bool kept) {
  if (std::exchange(reaching_, false) && phase.kind == PhaseKind::time) return follow(hash);
  count(phase, hash, kept);
  reaching_ = phase.kind == PhaseKind::time && options_.steps && counts_exactly() &&
              (kept || options_.by_number) && next().kind != PhaseKind::time;
}

void PhaseQueue::count(Phase phase, std::uint64_t hash, bool kept) {
  if (options_.by_number && waited_ >= options_.wait && warmed_up()) {
    if (const auto index = first_missing(numbered_); index < order_.size())
      ++numbered_.collected[index].windows;
    if (kept && measures(phase.kind) && classes_.size() < kMaxClasses) ++classes_[hash].seen;
    return;
  }
  if (phase.kind == PhaseKind::wait || phase.kind == PhaseKind::warmup) {
    if (waited_ >= options_.wait && warmed_up()) {  // there was no room for what is due
      follow(hash);
      return;
    }
    if (phase.kind == PhaseKind::wait) ++waited_;
    if (phase.kind == PhaseKind::warmup) ++warmed_;
    if (++sequences_[hash] > 1) repeated_ = true;
    follow(hash);
    return;
  }
  if (phase.kind == PhaseKind::off) return;
  newest_ = phase;
  if (phase.kind == PhaseKind::time && !order_.empty()) {
    const auto index = std::min(earliest_missing(), order_.size() - 1);
    timed_rounds_ = std::max(timed_rounds_, order_[index].round + 1);
  }
  if (!kept) {
    throw_away(phase);
    return;
  }
  if (thrown_phase_ != phase) thrown_away_ = 0;
  if (!classes_.contains(hash) && classes_.size() >= kMaxClasses) hash = classes_.begin()->first;
  auto& c = classes_[hash];
  ++c.seen;
  ++steps_;
  weigh_classes();
  follow(hash);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (order_[i].phase != phase || enough(c, i)) continue;
    ++c.collected[i].windows;
    ++order_[i].windows;
    // Its content is read when the next window has begun, which cannot be one of times any more.
    if (phase.kind == PhaseKind::flops && had(c, i).windows >= kTwice) c.collected[i].wanted = {};
    return;
  }
  // Of a class that has enough: it counts for the phase that is due.
  for (auto& place : order_) {
    if (place.phase != phase || place.windows >= kMostOfAll) continue;
    ++place.windows;
    return;
  }
}

void PhaseQueue::follow(std::uint64_t hash) {
  if (follower_.contains(last_class_) || follower_.size() < 4 * kMaxClasses)
    follower_[last_class_] = hash;
  last_class_ = hash;
}

void PhaseQueue::throw_away(Phase phase) {
  if (thrown_phase_ != phase) thrown_away_ = 0;
  thrown_phase_ = phase;
  if (++thrown_away_ < kMaxThrownAway) return;
  thrown_away_ = 0;
  for (auto& place : order_) place.given_up = place.given_up || place.phase == phase;
}

void PhaseQueue::retract(Phase phase, std::uint64_t hash) {
  if (options_.by_number) return;
  if (auto* c = class_of(hash); c != nullptr) {
    const auto index = newest(*c, phase);
    if (index < order_.size()) --c->collected[index].windows;
  }
  throw_away(phase);
}

void PhaseQueue::take_again(PhaseKind kind) {
  if (thrown_phase_.kind == kind) thrown_away_ = 0;
  for (auto& place : order_) place.given_up = place.given_up && place.phase.kind != kind;
}

void PhaseQueue::collect_again() {
  reaching_ = false;
  for (auto& [hash, c] : classes_) c.collected.clear();
  for (auto& place : order_) place.windows = 0;
}

void PhaseQueue::give_up(PhaseKind kind) {
  if (kind == PhaseKind::time && !options_.by_number) reaching_ = false;
  for (auto& place : order_) place.given_up = place.given_up || place.phase.kind == kind;
}

}  // namespace gable
