// SPDX-License-Identifier: Apache-2.0
#include "collector/phase_queue.h"

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

void PhaseQueue::make_order() {
  if (options_.by_number && !options_.active) options_.active = kLeastTimes;
  order_.clear();
  const bool rounds = options_.budget && !options_.active;
  for (std::uint32_t round = 0; round < options_.repeat; ++round) {
    const auto first = order_.size();
    if (options_.hw) {
      for (std::uint32_t g = 0; g < options_.hw_groups; ++g)
        order_.push_back({{PhaseKind::hw, static_cast<std::uint8_t>(g)}});
    }
    if (options_.flops) order_.push_back({{PhaseKind::flops, 0}});
    const auto phases = order_.size() - first;
    for (std::size_t tail = 1; tail < kTails.size() && rounds; ++tail) {
      for (std::size_t i = 0; i < phases; ++i) {
        auto place = order_[order_.size() - phases];
        place.earlier = order_.size() - phases;
        order_.push_back(place);
      }
    }
    for (auto i = first; i < order_.size() && rounds; ++i)
      order_[i].tail = kTails.at((i - first) / std::max<std::size_t>(phases, 1));
    const auto last = order_.size();
    for (auto i = last - phases; i < last && !options_.active; ++i)
      order_.push_back({order_[i].phase, true, i});
    if (options_.time) order_.push_back({{PhaseKind::time, 0}});
  }
}

bool PhaseQueue::warmed_up() const {
  if (warmed_ < options_.warmup) return false;
  return !options_.until_repeat || options_.by_number || options_.warmup == 0 || repeated_ ||
         warmed_ >= kMaxWarmup;
}

std::uint32_t PhaseQueue::most(const Progress& wanted) const {
  return wanted.new_keys || options_.budget ? kMostNewKeys : kMostWindows;
}

bool PhaseQueue::enough(const Class& c, std::size_t index) const {
  const auto& place = order_[index];
  const auto at = [&c](std::size_t i) {
    const auto found = c.collected.find(i);
    return found == c.collected.end() ? Collected{} : found->second;
  };
  const auto had = at(index);
  const auto of_all = std::max({kMostOfAll, most(had.wanted), options_.active.value_or(0) * 16});
  if (place.windows >= of_all) return true;
  if (options_.active) return had.windows >= *options_.active;
  // What is still wanted: as the newest window of the phase left it.
  auto newest = had;
  for (auto i = place.extra ? std::optional(place.first) : place.earlier; newest.windows == 0 && i;
       i = order_[*i].earlier)
    newest = at(*i);
  if (place.extra) {
    const auto before = at(place.first);
    return !newest.wanted.wide || before.windows + had.windows >= kMostWindows;
  }
  const bool time = place.phase.kind == PhaseKind::time;
  if (newest.windows < (time ? kLeastTimes : 1)) return false;
  if (time && had.wanted.wide && had.windows < kMostWindows) return false;
  const bool more = options_.budget && !time ? newest.wanted.lacking > place.tail : had.wanted.more;
  return !more || had.windows >= most(had.wanted);
}

std::size_t PhaseQueue::first_missing(const Class& c) const {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (!order_[i].given_up && !enough(c, i)) return i;
  }
  return order_.size();
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
  return static_cast<std::uint32_t>(index / (order_.size() / options_.repeat)) + 1;
}

// A class that comes and goes around the threshold would have the queue go back and forth.
void PhaseQueue::weigh_classes() {
  for (auto& [hash, c] : classes_) c.counts = c.seen * (c.counts ? 8 : 4) >= steps_;
}

// A phase that cannot be had here has its windows all the same: other ranks may have it.
Phase PhaseQueue::next_by_number() const {
  const auto index = numbered_ / std::max(options_.active.value_or(1), 1u);
  if (index >= order_.size()) return {PhaseKind::off, 0};
  return order_[index].given_up ? Phase{PhaseKind::wait, 0} : order_[index].phase;
}

Phase PhaseQueue::next() const {
  if (waited_ < options_.wait) return {PhaseKind::wait, 0};
  if (!warmed_up()) return {PhaseKind::warmup, 0};
  if (options_.by_number) return next_by_number();
  const Class none;
  const auto follows = follower_.find(last_class_);
  const auto expected = follows != follower_.end() ? follows->second : last_class_;
  std::size_t earliest = order_.size(), predicted = order_.size();
  bool any = false;
  for (const auto& [hash, c] : classes_) {
    if (hash == expected) predicted = first_missing(c);
    if (!c.counts) continue;
    any = true;
    earliest = std::min(earliest, first_missing(c));
  }
  if (!any) earliest = first_missing(none);
  if (!any || !classes_.contains(expected)) predicted = first_missing(none);
  // Everybody who counts is done: a class that is new now would have to come often before it is
  // waited for.
  if (any && earliest == order_.size()) return {PhaseKind::off, 0};
  // The next step is most likely of the same class as the last one; but `time` waits for
  // everybody's counters.
  const bool use_predicted =
      predicted < order_.size() && order_[predicted].phase.kind != PhaseKind::time;
  const auto index = use_predicted ? predicted : earliest;
  return index < order_.size() ? order_[index].phase : Phase{PhaseKind::off, 0};
}

bool PhaseQueue::counters_left() const {
  if (options_.by_number) return next().kind == PhaseKind::hw || next().kind == PhaseKind::flops;
  const auto is_counter = [this](std::size_t i) {
    return i < order_.size() &&
           (order_[i].phase.kind == PhaseKind::hw || order_[i].phase.kind == PhaseKind::flops);
  };
  const Class none;
  bool any = false;
  for (const auto& [hash, c] : classes_) {
    if (!c.counts) continue;
    any = true;
    if (is_counter(first_missing(c))) return true;
  }
  return !any && is_counter(first_missing(none));
}

void PhaseQueue::ended(Phase phase, std::uint64_t hash, bool kept) {
  if (options_.by_number && waited_ >= options_.wait && warmed_up()) {
    ++numbered_;
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

void PhaseQueue::give_up(PhaseKind kind) {
  for (auto& place : order_) place.given_up = place.given_up || place.phase.kind == kind;
}

}  // namespace gable
