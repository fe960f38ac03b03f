// SPDX-License-Identifier: Apache-2.0
// Finds the period of a launch sequence: the steps of a program that names none. Pure code, fed the
// launches of one thread in their order.
//
// The anchor is a key that comes once a period. A period is found when the three last stretches
// from one launch of a key to its next had the same launches, at least kShortest. The first key to
// get there wins, which is where the repetition began, unless an outer loop shows up: then a rarer
// key recurs at equal stretches, and steps are those of the outer loop.
//
// A step with different launches (logging, another batch size) is another kind of step as long as
// the anchor recurs. If only unknown kinds come, or no anchor, the period is lost and another is
// looked for.
//
// The cost per launch is constant, and memory is bounded: kKeys keys of 32 bytes (1 MiB), the
// oldest are forgotten first; periods of more than kLongest launches, or of more keys than that,
// are not found. Periods in which every key comes several times are not found either.
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
  changed,  // a step of another period begins: the stretch before is no step, earlier ones are
  lost,     // the stretch since the last border is no step, and none begins
  gone      // the period is given up without another: forget the steps found
};

class PeriodFinder {
 public:
  static constexpr std::uint32_t kShortest = 8;      // fewest launches in a step
  static constexpr std::uint32_t kLongest = 200000;  // most launches in a step
  static constexpr std::uint32_t kSegments = 3;      // equal stretches that make a period
  static constexpr std::uint32_t kKeys = 32768;
  static constexpr std::uint32_t kStrange = 8;        // new kinds in a row that lose the period
  static constexpr std::uint32_t kWithoutUsual = 16;  // unusual kinds in a row that lose it
  static constexpr std::uint32_t kMostFound = 8;      // periods found before the search stops
  // Launches after which the search stops once the windows are complete: without a period, and with
  // one that a longer period may contain.
  static constexpr std::uint32_t kLookOn = 50000, kLookAround = 20000;

  explicit PeriodFinder(const JoinChecks& checks = {}) : checks_(checks) {}

  // Takes the next launch. `kernels`: how many it runs; a graph counts all of its kernels.
  PeriodMark add(std::uint64_t key, std::uint32_t kernels = 1);

  // Launches in the period that is followed; 0 if none was found or it was lost.
  [[nodiscard]] std::uint32_t length() const { return state_ == State::follows ? length_ : 0; }
  // A period, or a longer one, may still be found soon.
  [[nodiscard]] bool hopeful() const;
  // Called when an unknown number of launches was missed: a followed period resumes at the anchor.
  void skip();
  // Forgets everything.
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
  // Whether more than repetitions of the period lies between two launches of a rarer key.
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
  std::uint64_t taken_at_ = 0, beside_ = 0;  // when it was taken; launches of rarer keys since
  std::uint64_t lost_at_ = 0;
};

}  // namespace gable
