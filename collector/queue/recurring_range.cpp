// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/recurring_range.h"

#include <algorithm>
#include <utility>

namespace gable {
namespace {

constexpr std::size_t kPast = 2 * RecurringRange::kMostInTurn;

LaunchesSeen between(LaunchesSeen from, LaunchesSeen to) {
  return {to.launches - from.launches, to.hash - from.hash, to.own - from.own,
          to.switches - from.switches, to.caller};
}

}  // namespace

// The first thread with ranges around launches; ranges of the whole process are everybody's.
bool RecurringRange::listens_to(const void* thread) {
  if (thread == nullptr || thread == leader_) return true;
  if (leader_ != nullptr) return false;
  leader_ = thread;
  std::erase_if(others_, [thread](const Other& each) { return each.thread == thread; });
  return true;
}

RangeMark RecurringRange::begin(std::uint32_t level, LayerId range, const void* thread,
                                LaunchesSeen seen) {
  if (level >= kLevels || gave_up()) return RangeMark::none;
  if (listens_to(thread)) return begin_leading(level, range, seen);
  other_begins(level, thread, seen);
  return RangeMark::none;
}

RangeMark RecurringRange::end(std::uint32_t level, const void* thread, LaunchesSeen seen) {
  if (level >= kLevels || gave_up()) return RangeMark::none;
  if (listens_to(thread)) return end_leading(level, thread, seen);
  return other_ends(level, thread, seen);
}

RangeMark RecurringRange::begin_leading(std::uint32_t level, LayerId range, LaunchesSeen seen) {
  auto& at = levels_[level];
  ++freedom_[level].borders;
  if (others_between(at, range, seen)) sign(level);
  at.open = {range, seen, {}};
  at.is_open = true;
  for (auto inner = level + 1; inner < kLevels; ++inner) levels_[inner] = {};
  const bool struck = sign_pending_;
  if (const auto mark = heed_signs(); mark != RangeMark::none) return mark;
  if (struck && !in_step_) {  // what lies outside has been counted
    outside_all_ += seen.launches - std::min(seen.launches, last_end_);
    last_end_ = seen.launches;
  }
  if (!follows_) return look(level, seen);
  if (level == followed_level_) return follow_begin(range, seen);
  // A range around steps, which comes again: it is the step where much is launched beside them.
  const auto since = seen.launches > last_end_ && !in_step_ ? seen.launches - last_end_ : 0;
  if (level < followed_level_ && (outside_all_ + since) * kNearlyNone > inside_all_) {
    if (const auto mark = look(level, seen); mark != RangeMark::none) return mark;
  }
  return RangeMark::none;
}

RangeMark RecurringRange::end_leading(std::uint32_t level, const void* thread, LaunchesSeen seen) {
  auto& at = levels_[level];
  ++freedom_[level].borders;
  if (!at.is_open) return RangeMark::none;
  // Two ranges of the process of which neither is within the other.
  if (thread == nullptr && level + 1 < kLevels && levels_[level + 1].is_open) sign(level);
  at.is_open = false;
  at.closed = seen;
  auto ended = at.open;
  ended.had = between(ended.from, seen);
  if (seen.caller == ended.from.caller) ended.others = ended.had.launches - ended.had.own;
  // A thread that only loads data has its ranges around other threads' launches.
  if (thread == nullptr ? ended.had.launches > 0 : ended.had.own > 0) {
    compare(level, ended);
    at.past.push_back(ended);
    if (at.past.size() > kPast) at.past.erase(at.past.begin());
  } else if (thread != nullptr && level == 0 && at.past.empty() && !follows_) {
    leader_ = nullptr;  // another thread's turn
  }
  if (const auto mark = heed_signs(); mark != RangeMark::none) return mark;
  if (!follows_ || level > followed_level_) return RangeMark::none;
  if (level < followed_level_) return in_step_ ? step_ends(seen) : RangeMark::none;
  return follow_end(ended, seen);
}

void RecurringRange::other_begins(std::uint32_t level, const void* thread, LaunchesSeen seen) {
  auto place = std::find_if(others_.begin(), others_.end(),
                            [&](const Other& each) { return each.thread == thread; });
  if (place != others_.end() && place->level < level) return;
  if (place == others_.end()) {
    if (others_.size() >= kMostThreads) return;
    place = others_.emplace(place);
  }
  *place = {thread, level, seen.own, {}};
  for (std::size_t i = 0; i < kLevels; ++i) place->borders[i] = freedom_[i].borders;
}

RangeMark RecurringRange::other_ends(std::uint32_t level, const void* thread, LaunchesSeen seen) {
  const auto found = std::find_if(others_.begin(), others_.end(),
                                  [&](const Other& each) { return each.thread == thread; });
  if (found == others_.end() || level > found->level) return RangeMark::none;
  const auto ended = *found;
  others_.erase(found);
  if (seen.own == ended.own) return RangeMark::none;
  for (std::uint32_t i = 0; i < kLevels; ++i)
    if (ended.borders[i] != freedom_[i].borders) sign(i);
  return heed_signs();
}

// What was launched before the first instance of a range says nothing about it.
bool RecurringRange::others_between(const Level& at, LayerId range, LaunchesSeen seen) {
  if (at.is_open || at.closed.caller != seen.caller) return false;
  const bool again = std::any_of(at.past.begin(), at.past.end(),
                                 [range](const Instance& each) { return each.range == range; });
  if (!again) return false;
  const auto gap = between(at.closed, seen);
  return (gap.launches - gap.own) * kNearlyNone > at.past.back().had.launches;
}

bool RecurringRange::side_by_side(const Instance& one) {
  return one.others > 0 && one.had.switches * kInTurn > one.had.launches;
}

// An instance against the one before of the same range: the first steps of a program may differ on
// other threads alone (cuDNN tries algorithms in backward), so that once is nothing.
void RecurringRange::compare(std::uint32_t level, const Instance& ended) {
  auto& freedom = freedom_[level];
  if (freedom.since < kProof) ++freedom.since;
  const auto& past = levels_[level].past;
  const auto before = std::find_if(past.rbegin(), past.rend(),
                                   [&](const Instance& each) { return each.range == ended.range; });
  if (before == past.rend()) return;
  const auto more = std::max(before->others, ended.others);
  const auto less = std::min(before->others, ended.others);
  const bool shuffled =
      before->had.own == ended.had.own && (more - less) * kNearlyNone > ended.had.launches;
  freedom.shuffled = shuffled ? freedom.shuffled + 1 : 0;
  if (freedom.shuffled > 1) sign(level);
}

void RecurringRange::sign(std::uint32_t level) {
  freedom_[level].since = 0;
  if (follows_ && level == followed_level_) sign_pending_ = true;
}

RangeMark RecurringRange::heed_signs() {
  if (!std::exchange(sign_pending_, false)) return RangeMark::none;
  if (steps_ >= kProof && ++strikes_ < kMostStrikes) return RangeMark::none;
  forget();
  return RangeMark::gone;
}

bool RecurringRange::covers(const Level& at, std::size_t from, std::size_t to,
                            std::uint64_t until) const {
  std::uint64_t inside = 0;
  for (auto i = from; i < to; ++i) inside += at.past[i].had.launches;
  const auto outside = until - at.past[from].from.launches - inside;
  return inside >= kShortest && inside <= kLongest && outside * kNearlyNone <= inside;
}

// A range begins: is it one that was here before?
RangeMark RecurringRange::look(std::uint32_t level, LaunchesSeen seen) {
  if (freedom_[level].since < kProof) return RangeMark::none;
  const auto& at = levels_[level];
  const auto size = at.past.size();
  auto from = size;
  while (from > 0 && at.past[from - 1].range != at.open.range) --from;
  if (from-- == 0) return RangeMark::none;
  const auto length = size - from;
  // Where one comes several times, they are layers rather than parts of a step.
  for (auto i = from; i < size; ++i) {
    for (auto other = i + 1; other < size; ++other)
      if (at.past[i].range == at.past[other].range) return RangeMark::none;
  }
  if (length > kMostInTurn || !covers(at, from, size, seen.launches)) return RangeMark::none;
  if (level == 0 && length == 1 && !side_by_side(at.past[from]))
    return take(level, from, false, seen);
  if (from < length) return RangeMark::none;
  const auto before = from - length;
  if (!covers(at, before, from, at.past[from].from.launches)) return RangeMark::none;
  for (std::size_t i = 0; i < length; ++i) {
    const auto &one = at.past[before + i], &other = at.past[from + i];
    if (one.range != other.range || one.had.launches != other.had.launches ||
        one.had.hash != other.had.hash)
      return RangeMark::none;
  }
  return take(level, from, true, seen);
}

RangeMark RecurringRange::take(std::uint32_t level, std::size_t from, bool repeated,
                               LaunchesSeen seen) {
  if (found_ >= kMostFound) return RangeMark::none;
  ++found_;
  const auto& past = levels_[level].past;
  turn_.clear();
  first_ = {};
  for (auto i = from; i < past.size(); ++i) {
    turn_.push_back(past[i].range);
    first_.launches += past[i].had.launches;
    first_.hash += past[i].had.hash;
  }
  known_.clear();
  for (const auto& one : past) remember(one);
  follows_ = true;
  repeated_ = repeated;
  followed_level_ = level;
  strikes_ = steps_ = 0;
  sign_pending_ = false;
  inside_all_ = outside_all_ = outside_ = 0;
  longest_ = last_ = first_.launches;
  last_end_ = seen.launches;
  at_ = 0;
  in_step_ = false;
  (void)step_begins(seen);
  return RangeMark::found;
}

RangeMark RecurringRange::step_begins(LaunchesSeen seen) {
  in_step_ = true;
  step_from_ = seen.launches;
  outside_ = 0;
  patience_ends_ = seen.launches + 12 * longest_ + 1000;
  return RangeMark::begins;
}

RangeMark RecurringRange::step_ends(LaunchesSeen seen) {
  in_step_ = false;
  own_ = 0;
  at_ = 0;
  last_ = seen.launches - step_from_;
  inside_all_ += last_;
  longest_ = std::max(longest_, last_);
  last_end_ = seen.launches;
  ++steps_;
  patience_ends_ = seen.launches + 12 * longest_ + 1000;
  return RangeMark::ends;
}

bool RecurringRange::knows(LayerId range) const {
  return std::find(known_.begin(), known_.end(), range) != known_.end();
}

void RecurringRange::remember(const Instance& one) {
  const auto range = one.range;
  if (one.had.launches < kShortest) return;
  const bool in_turn = std::find(turn_.begin(), turn_.end(), range) != turn_.end();
  if (!in_turn && !knows(range) && known_.size() < kMostKnown) known_.push_back(range);
}

RangeMark RecurringRange::follow_begin(LayerId range, LaunchesSeen seen) {
  const bool goes_on = in_step_ && own_ == 0 && range == turn_[at_] && at_ > 0;
  if (goes_on) return RangeMark::none;
  const bool starts = range == turn_.front();
  if (!starts && (in_step_ || !knows(range))) return RangeMark::none;
  if (in_step_) {
    (void)step_ends(seen);
  } else {
    if (seen.launches > last_end_) outside_ += seen.launches - last_end_;
    outside_all_ += outside_;
    if (outside_ * kNearlyNone > last_ && ++strikes_ >= kMostStrikes) {
      forget();
      return RangeMark::gone;
    }
  }
  own_ = starts ? 0 : range;
  return step_begins(seen);
}

RangeMark RecurringRange::follow_end(const Instance& ended, LaunchesSeen seen) {
  if (!in_step_) {
    // Its first instance, beside the steps: no step, but not outside of every range either.
    outside_ += ended.from.launches - std::min(ended.from.launches, last_end_);
    last_end_ = seen.launches;
    remember(ended);
    return RangeMark::none;
  }
  if (own_ != 0) return own_ == ended.range ? step_ends(seen) : RangeMark::none;
  if (ended.range != turn_[at_]) return RangeMark::none;
  if (++at_ < turn_.size()) return RangeMark::none;
  const auto ends = step_ends(seen);
  // Of ranges in turn the step lasts until the next one begins, as a period does.
  return turn_.size() > 1 ? RangeMark::none : ends;
}

void RecurringRange::forget() {
  follows_ = in_step_ = false;
  turn_.clear();
  patience_ends_ = ~std::uint64_t{0};
  for (auto& level : levels_) level.past.clear();
}

void RecurringRange::skip() {
  for (auto& level : levels_) level = {};
  others_.clear();
  in_step_ = false;
  own_ = 0;
  at_ = 0;
  outside_ = 0;
  last_end_ = patience_ends_ = ~std::uint64_t{0};
}

}  // namespace gable
