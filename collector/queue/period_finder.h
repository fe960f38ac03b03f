// SPDX-License-Identifier: Apache-2.0
// Finds the period of a launch sequence: the steps of a program that names none. Pure code, fed the
// launches of one thread in their order.
//
// The anchor is a key that comes once a period. A period is found when the three last stretches
// from one launch of a key to its next had the same launches, at least kShortest. Of several such
// keys the first to get there wins, which is where the repeating began. Until a loop around that
// one shows up: then a rarer key comes at equal stretches, and steps are the outer loop's.
//
// A step of other launches (a log, another batch size) is a step of another kind, as long as the
// anchor comes. Where only unknown kinds come, or the anchor does not, the period is lost and
// another is looked for.
//
// What it costs is constant for each launch. What it remembers is bounded: kKeys keys of 32 bytes
// (1 MiB), the oldest are forgotten first; periods of more than kLongest launches, or of more keys
// than that, are not found. Nor are those in which every key comes several times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/events/join_checks.h"

namespace gable {

enum class PeriodMark : std::uint8_t {
  none,
  begins,   // a step ends before this launch, and the next begins with it
  found,    // the first step begins with this launch; what came before was no step
  changed,  // the first step of another period: the stretch before it is none, earlier ones are
  lost,     // the stretch since the last border is no step, and none begins
  gone      // nothing was found instead: what was taken for steps is to be forgotten
};

class PeriodFinder {
 public:
  static constexpr std::uint32_t kShortest = 8;      // launches; shorter ones are no step
  static constexpr std::uint32_t kLongest = 200000;  // launches
  static constexpr std::uint32_t kSegments = 3;      // equal stretches
  static constexpr std::uint32_t kKeys = 32768;
  static constexpr std::uint32_t kStrange = 8;  // kinds never seen, in a row: the period is lost
  static constexpr std::uint32_t kWithoutUsual = 16;  // other kinds in a row: the same
  static constexpr std::uint32_t kMostFound = 8;      // then nothing is looked for any more
  // Launches after which it is no use to look on once the windows are complete: without a period,
  // and with one around which there may be a longer.
  static constexpr std::uint32_t kLookOn = 50000, kLookAround = 20000;

  explicit PeriodFinder(const JoinChecks& checks = {}) : checks_(checks) {}

  // The next launch. `kernels` that it runs: a graph counts for all of its own.
  PeriodMark add(std::uint64_t key, std::uint32_t kernels = 1);

  // Of the period that is followed, in launches; 0: none was found, or it was lost.
  [[nodiscard]] std::uint32_t length() const { return state_ == State::follows ? length_ : 0; }
  // A period, or a longer one, may still be found soon.
  [[nodiscard]] bool hopeful() const;
  // Launches were missed, as many as nobody knows: a period that is followed goes on at the anchor.
  void skip();
  // Everything is forgotten.
  void start_anew() { *this = PeriodFinder(checks_); }

 private:
  struct Entry {  // what is remembered of a key
    std::uint32_t tag = 0, at = 0, gap = 0, run = 0;
    std::uint64_t sum = 0, segment = 0;
  };
  struct Segment {  // from one launch of a key to its next
    std::uint32_t launches = 0;
    std::uint64_t hash = 0;  // the sum of the keys: order-free, as steps are classed
    bool operator==(const Segment&) const = default;
  };
  enum class State : std::uint8_t { looks, follows, lost, gave_up };
  static constexpr std::size_t kWays = 4, kKinds = 8;

  Entry& entry_of(std::uint64_t key);
  bool repeats(Entry& entry);  // its last stretches were equal, and long enough
  PeriodMark follow(std::uint64_t key, const Entry& entry, bool repeating);
  PeriodMark at_anchor(const Entry& entry, bool repeating);
  PeriodMark search(std::uint64_t key, const Entry& entry, bool repeating);
  PeriodMark take(std::uint64_t key, const Entry& entry, PeriodMark mark);
  PeriodMark lose();
  // Between two launches of a rarer key there is more than repetitions of the period.
  [[nodiscard]] bool is_around(std::uint32_t gap) const;
  [[nodiscard]] std::uint64_t since_anchor() const { return now_ - anchor_at_; }

  JoinChecks checks_;
  std::vector<Entry> entries_;
  std::uint64_t now_ = 0, sum_ = 0;            // launches so far, and their keys
  std::uint64_t promised_ = 0, no_short_ = 0;  // for hopeful()

  State state_ = State::looks;
  std::uint64_t anchor_ = 0, anchor_at_ = 0, anchor_sum_ = 0;
  bool skipped_ = false;
  std::uint32_t length_ = 0, longest_ = 0;
  Segment usual_;
  std::array<Segment, kKinds> kinds_{};
  std::uint32_t known_ = 0, strange_ = 0, without_usual_ = 0, found_ = 0;
  std::uint64_t taken_at_ = 0, beside_ = 0;  // since when; launches since of rarer keys
  std::uint64_t lost_at_ = 0;
};

}  // namespace gable
