// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/period_finder.h"

#include <algorithm>

namespace gable {
namespace {

// A loop of fewer launches than a period has, for as long: that is the program.
constexpr std::uint32_t kFewKernels = 32;

}  // namespace

PeriodFinder::Entry& PeriodFinder::entry_of(std::uint64_t key) {
  if (entries_.empty()) entries_.resize(kKeys);
  const auto tag = std::max(static_cast<std::uint32_t>(key >> 32), 1u);
  Entry* const set = &entries_[(key % (kKeys / kWays)) * kWays];
  Entry* oldest = set;
  const auto age = [this](const Entry& e) { return static_cast<std::uint32_t>(now_) - e.at; };
  for (std::size_t i = 0; i < kWays; ++i) {
    if (set[i].tag == tag) return set[i];
    if (oldest->tag != 0 && (set[i].tag == 0 || age(set[i]) > age(*oldest))) oldest = &set[i];
  }
  *oldest = {};
  oldest->tag = tag;
  oldest->at = static_cast<std::uint32_t>(now_);
  oldest->sum = sum_;
  return *oldest;
}

bool PeriodFinder::repeats(Entry& entry) {
  const std::uint32_t gap = static_cast<std::uint32_t>(now_) - entry.at;
  const std::uint64_t segment = sum_ - entry.sum;
  const bool equal = gap == entry.gap && (segment == entry.segment || !checks_.period_content);
  entry.run = equal ? entry.run + 1 : 1;
  entry.gap = gap;
  entry.segment = segment;
  entry.at = static_cast<std::uint32_t>(now_);
  entry.sum = sum_;
  if (gap >= kShortest || entry.run < 2) no_short_ = now_;
  if (gap < kShortest || gap > kLongest) return false;
  if (entry.run == kSegments - 1 && (state_ != State::follows || is_around(gap)))
    promised_ = std::max(promised_, now_ + gap);
  return entry.run >= (checks_.period_segments ? kSegments : 1);
}

PeriodMark PeriodFinder::add(std::uint64_t key, std::uint32_t kernels) {
  auto mark = PeriodMark::none;
  if (state_ != State::gave_up) {
    Entry& entry = entry_of(key);
    const bool seen = entry.at != static_cast<std::uint32_t>(now_);
    const bool repeating = seen && repeats(entry);
    if (!seen) no_short_ = now_;
    if (!seen || entry.gap > 2 * std::uint64_t{length_}) beside_ += kernels;
    mark = state_ == State::follows ? follow(key, entry, repeating) : search(key, entry, repeating);
  }
  sum_ += key;
  now_ += std::max(kernels, 1u);
  return mark;
}

// A log every now and then is less than half a period.
bool PeriodFinder::is_around(std::uint32_t gap) const {
  return gap > length_ && 2 * beside_ * gap >= length_ * (now_ - taken_at_);
}

PeriodMark PeriodFinder::follow(std::uint64_t key, const Entry& entry, bool repeating) {
  if (key == anchor_) return at_anchor(entry, repeating);
  if (repeating && entry.gap > length_) {
    // A key that is not in the period comes at equal stretches.
    if (since_anchor() >= entry.gap) return take(key, entry, PeriodMark::changed);
    if (is_around(entry.gap) && checks_.period_outer) return take(key, entry, PeriodMark::found);
  }
  return since_anchor() > 4 * std::uint64_t{longest_} + 64 ? lose() : PeriodMark::none;
}

PeriodMark PeriodFinder::at_anchor(const Entry& entry, bool repeating) {
  const Segment segment{static_cast<std::uint32_t>(since_anchor()), sum_ - anchor_sum_};
  anchor_at_ = now_;
  anchor_sum_ = sum_;
  if (skipped_) {
    skipped_ = false;
    return PeriodMark::begins;
  }
  if (repeating && entry.gap == segment.launches) {
    usual_ = segment;
    length_ = segment.launches;
  }
  without_usual_ = segment == usual_ ? 0 : without_usual_ + 1;
  const bool known =
      segment == usual_ || std::find(kinds_.begin(), kinds_.end(), segment) != kinds_.end();
  if (!known) kinds_[known_++ % kKinds] = segment;
  strange_ = known ? 0 : strange_ + 1;
  longest_ = std::max(longest_, segment.launches);
  if (strange_ >= kStrange || without_usual_ >= kWithoutUsual) return lose();
  return PeriodMark::begins;
}

PeriodMark PeriodFinder::search(std::uint64_t key, const Entry& entry, bool repeating) {
  const bool lost = state_ == State::lost;
  if (repeating) {
    // Where the lost anchor comes within the new period, the lost one was part of it.
    const bool within = !lost || (key != anchor_ && since_anchor() < entry.gap);
    return take(key, entry, within ? PeriodMark::found : PeriodMark::changed);
  }
  if (lost && key == anchor_) anchor_at_ = now_;
  if (!lost || now_ - lost_at_ <= 8 * std::uint64_t{longest_} + 1000) return PeriodMark::none;
  state_ = found_ < kMostFound ? State::looks : State::gave_up;
  return PeriodMark::gone;
}

PeriodMark PeriodFinder::take(std::uint64_t key, const Entry& entry, PeriodMark mark) {
  const Segment segment{entry.gap, entry.segment};
  const bool again = segment == usual_;  // the one that was lost, where an inner loop began anew
  if (!again && ++found_ > kMostFound) {
    if (state_ == State::follows) return PeriodMark::none;
    const bool lost = state_ == State::lost;
    state_ = State::gave_up;
    return lost ? PeriodMark::gone : PeriodMark::none;
  }
  if (!again) {
    taken_at_ = now_;
    beside_ = 0;
  }
  state_ = State::follows;
  anchor_ = key;
  anchor_at_ = now_;
  anchor_sum_ = sum_;
  skipped_ = false;
  usual_ = segment;
  length_ = longest_ = entry.gap;
  kinds_.fill(usual_);
  known_ = 1;
  strange_ = without_usual_ = 0;
  return checks_.period_forgets ? mark : PeriodMark::changed;
}

PeriodMark PeriodFinder::lose() {
  if (!checks_.period_lost) return PeriodMark::none;
  state_ = State::lost;
  lost_at_ = now_;
  return PeriodMark::lost;
}

bool PeriodFinder::hopeful() const {
  switch (state_) {
    case State::looks:
      return now_ < promised_ || (now_ < kLookOn && now_ - no_short_ < kFewKernels);
    case State::follows:
    case State::lost:
      return now_ < kLookAround || now_ < promised_;
    default:
      return false;
  }
}

void PeriodFinder::skip() {
  entries_.clear();
  skipped_ = true;
  promised_ = no_short_ = 0;
  // The anchor's position is unknown: it gets time to recur.
  anchor_at_ = now_;
  if (state_ == State::follows) return;
  const auto checks = checks_;
  *this = PeriodFinder(checks);
}

}  // namespace gable
