// SPDX-License-Identifier: Apache-2.0
// The order of one run: wait, warm-up until the launch sequence repeats, then breadth first:
// hw:1..K once, flops (two windows, which must agree), time; two more of times at once, because a
// step's length on the GPU is known where the next step was timed too; then hw and time in turn
// until every key has its samples; off. A program that ends early has a little of everything. Pure
// code: told how each window ended, it says what the next one collects. A window is one step, or N
// launches where no step is known.
//
// FLOPs are counted by instrumented code, and nobody knows yet whether that works once kernel
// records were on. So all of them are counted before the first `time` window, and none after it; a
// further round begins with counters again, because it was asked for.
//
// Steps are classed by a hash of their launches (a server's prefill and decode, different batch
// sizes) and every class that makes up a quarter of the steps gets the whole queue. The first
// `time` window waits until no such class needs FLOPs any more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/profile/key_table.h"

namespace gable {

struct QueueOptions {
  bool hw = true, flops = true, time = true;
  std::uint32_t hw_groups = 0;  // known once the chip's plan is made
  std::uint32_t wait = 1, warmup = 1, repeat = 1;
  // Windows of each phase; unset: as many as the keys want.
  std::optional<std::uint32_t> active;
  // Percent that measuring may add: the kernels that matter most get all phases before the others
  // get any.
  std::optional<double> budget;
  // With several ranks: what a window collects depends on its number alone, `active` (or
  // kLeastTimes, flops kTwice) of each phase, whatever came of them and of other ranks' windows.
  bool by_number = false;
  bool until_repeat = true;  // warm up until a launch sequence is seen again (steps); false where
                             // windows are launches
  // Windows are steps. Windows of launches see the program in pieces: taken in turn, one phase
  // might see the same piece every time, so each phase gets all of its windows in a row there.
  bool steps = true;
};

class PhaseQueue {
 public:
  // Steps; then the queue goes on without a repeated sequence.
  static constexpr std::uint32_t kMaxWarmup = 20;
  static constexpr std::size_t kMaxClasses = 8;  // beyond, steps that differ share one class
  // Of one phase in a row; then the phase is given up.
  static constexpr std::uint32_t kMaxThrownAway = 3;
  static constexpr std::uint32_t kLeastTimes = 3;  // time windows, for the mean step and its spread
  static constexpr std::uint32_t kTwice = 2;       // flops windows, which must agree
  static constexpr std::uint32_t kMostWindows = 10;  // of a phase, however much is still wanted
  // Of a phase over all classes: steps that come in any order may never be those that are waited
  // for.
  static constexpr std::uint32_t kMostOfAll = 40;
  // And while keys keep coming that it never saw.
  static constexpr std::uint32_t kMostNewKeys = 100;

  explicit PhaseQueue(const QueueOptions& options);

  // The number of hardware passes, once the chip's plan is made; before the first counter window.
  void set_groups(std::uint32_t groups);

  // A step of those launches passed before the first window.
  void saw_step(std::uint64_t hash) { ++sequences_[hash]; }

  // What the next window collects; off when the queue is complete.
  [[nodiscard]] Phase next() const;
  // The window that next() had announced ended. `hash` of its launches; 0 for all of them where
  // windows are launches.
  void ended(Phase phase, std::uint64_t hash, bool kept);
  // What the keys of the last kept window of `phase` still want, once its content is known; until
  // then the queue takes them for content. Without effect where `active` is set.
  struct Progress {
    bool more = false;      // too few samples
    bool wide = false;      // samples that spread: windows that come when every key has its samples
    bool new_keys = false;  // where windows are launches: more than that of every window
    double lacking = 0;     // the share of the time in keys with too few samples
  };
  void progress(Phase phase, std::uint64_t hash, const Progress& wanted);
  // Which round of the queue that window was of, from 1.
  [[nodiscard]] std::uint32_t round(Phase phase, std::uint64_t hash) const;
  // The last window of `phase` that ended as kept turned out to be useless when its counters were
  // read.
  void retract(Phase phase, std::uint64_t hash);
  // A phase that cannot be had (no permission, no metrics): the queue goes on without it.
  void give_up(PhaseKind kind);
  // It can be had after all.
  void take_again(PhaseKind kind);
  // Every class lacks everything again; with several ranks the windows keep their numbers.
  void collect_again();

  // Steps until every phase had its first windows, where all steps have the same launches.
  [[nodiscard]] std::uint32_t least_steps() const;

  [[nodiscard]] bool by_number() const { return options_.by_number; }
  // What next() says is no window of its own: the times that were had reach into that step, whose
  // first kernel ends the last of them. Where the queue counts windows; else the rows of times do.
  [[nodiscard]] bool reaching() const { return reaching_; }
  [[nodiscard]] bool complete() const { return next().kind == PhaseKind::off; }
  [[nodiscard]] bool warmed_up() const;
  [[nodiscard]] std::uint32_t thrown_away_in_row() const { return thrown_away_; }
  [[nodiscard]] std::size_t classes() const { return classes_.size(); }

 private:
  enum class Goal : std::uint8_t {
    once,     // one window
    samples,  // until the keys have their samples
    spread,   // until samples that spread are enough, after everybody's samples
    rest      // until there is nothing left to want, in turn with the others
  };
  struct Place {
    Phase phase;
    Goal goal = Goal::samples;
    std::uint32_t round = 0;
    double tail = 0;  // with a budget: the share of the time that may still lack
    // The place before it of the same phase, in the same round.
    std::optional<std::size_t> earlier = std::nullopt;
    bool given_up = false;
    std::uint32_t windows = 0;  // kept, of whatever class
  };
  struct Collected {
    std::uint32_t windows = 0;
    Progress wanted;
  };
  struct Class {
    std::uint64_t seen = 0;
    bool counts = false;                         // frequent enough to be waited for
    std::map<std::size_t, Collected> collected;  // by index in order_
  };
  // What a class has of a phase in a round, at one of its places.
  struct Had {
    Collected here;             // at that place
    std::uint32_t windows = 0;  // at that place and those before it
    Progress wanted;            // as the newest of them left it
  };
  void make_order();
  void add_place(Phase phase, Goal goal, std::uint32_t round, double tail = 0);
  void add_round(std::uint32_t round);
  [[nodiscard]] std::uint32_t active(PhaseKind kind) const;  // where `active` decides
  [[nodiscard]] bool counts_exactly() const { return options_.active || options_.by_number; }
  void count(Phase phase, std::uint64_t hash, bool kept);
  void follow(std::uint64_t hash);
  void throw_away(Phase phase);
  [[nodiscard]] Had had(const Class& c, std::size_t index) const;
  [[nodiscard]] bool enough(const Class& c, std::size_t index) const;
  [[nodiscard]] bool open(std::size_t index) const;  // windows of that place can be had
  [[nodiscard]] std::uint32_t most(const Progress& wanted) const;  // windows of a place
  [[nodiscard]] static std::uint64_t turn_of_times(std::uint32_t windows);
  // Of the places that begin at `index`, for what is left to want: the one whose turn it is.
  [[nodiscard]] std::size_t whose_turn(const Class& c, std::size_t index) const;
  // Index in order_ of the newest window of the phase, its size without one.
  [[nodiscard]] std::size_t newest(const Class& c, Phase phase) const;
  [[nodiscard]] const Class* class_of(std::uint64_t hash) const;  // it may share one with others
  [[nodiscard]] Class* class_of(std::uint64_t hash);
  // Index in order_, its size when none is missing.
  [[nodiscard]] std::size_t first_missing(const Class& c) const;
  // Of all classes that count, the earliest; of a class without any window where none does.
  [[nodiscard]] std::size_t earliest_missing() const;
  void weigh_classes();

  QueueOptions options_;
  std::vector<Place> order_;
  std::uint32_t waited_ = 0, warmed_ = 0, thrown_away_ = 0;
  std::uint32_t timed_rounds_ = 0;  // in which kernel records were on: no flops any more
  Class numbered_;                  // by number: all windows since the warm-up
  Phase thrown_phase_;
  bool repeated_ = false, reaching_ = false;
  // Hashes seen before the first window (bounded by wait and warm-up).
  std::map<std::uint64_t, std::uint64_t> sequences_;
  std::map<std::uint64_t, Class> classes_;
  std::map<std::uint64_t, std::uint64_t> follower_;  // which class came after which, the last time
  std::uint64_t last_class_ = 0, steps_ = 0;
};

}  // namespace gable
