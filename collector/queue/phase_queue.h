// SPDX-License-Identifier: Apache-2.0
// The order of one run: wait, warm-up until the launch sequence repeats, then breadth first:
// hw:1..K once, flops (two windows, which must agree), time; two more time windows at once, because
// a step's length on the GPU is known only if the next step is timed too; then hw and time in turn
// until every key has its samples; off. A program that ends early has a little of everything. Pure
// code: told how each window ended, it says what the next one collects. A window is one step, or N
// launches where no step is known.
//
// FLOPs are counted by instrumented code, which is not known to work once kernel records were on.
// So they are counted before the first `time` window and not after it; a further round begins with
// counters again, because the user asked for it.
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
  // Windows per phase; unset: as many as the keys need.
  std::optional<std::uint32_t> active;
  // Percent of time that measuring may add; the kernels that matter most get all phases first.
  std::optional<double> budget;
  // With several ranks: what a window collects depends on its number alone, with `active` windows
  // per phase (default: kLeastTimes, for flops kTwice), whether or not they or other ranks' windows
  // were kept.
  bool by_number = false;
  bool until_repeat = true;  // warm up until a launch sequence is seen again (steps); false where
                             // windows are launches
  // Whether windows are steps. Otherwise they see pieces of the program, and phases taken in turn
  // might see the same piece every time, so each phase gets all of its windows in a row.
  bool steps = true;
};

class PhaseQueue {
 public:
  // Warm-up steps after which the queue proceeds without a repeated sequence.
  static constexpr std::uint32_t kMaxWarmup = 20;
  static constexpr std::size_t kMaxClasses = 8;  // any further kinds of steps share one class
  // Windows of a phase thrown away in a row before the phase is given up.
  static constexpr std::uint32_t kMaxThrownAway = 3;
  static constexpr std::uint32_t kLeastTimes = 3;  // time windows, for the mean step and its spread
  static constexpr std::uint32_t kTwice = 2;       // flops windows, which must agree
  static constexpr std::uint32_t kMostWindows = 10;  // of a phase, even if more are wanted
  // Most windows of a phase over all classes: with steps in random order the awaited class may
  // never come.
  static constexpr std::uint32_t kMostOfAll = 40;
  // Most windows of a phase while new keys keep appearing.
  static constexpr std::uint32_t kMostNewKeys = 100;

  explicit PhaseQueue(const QueueOptions& options);

  // Sets the number of hardware passes once the chip's plan is made, before the first counter
  // window.
  void set_groups(std::uint32_t groups);

  // A counter window counts one of so many contexts, which take turns: as many windows are needed
  // of each phase. Has no effect with several ranks, whose windows must stay in step.
  void share(std::uint32_t contexts);

  // Records a step with that hash of launches before the first window.
  void saw_step(std::uint64_t hash) { ++sequences_[hash]; }

  // What the next window collects; off when the queue is complete.
  [[nodiscard]] Phase next() const;
  // Says that the window announced by next() ended. `hash`: of its launches; always 0 if windows
  // are launches.
  void ended(Phase phase, std::uint64_t hash, bool kept);
  // What the keys of the last kept window of `phase` still need, once its content is known; until
  // then the queue assumes that they need nothing. Has no effect if `active` is set.
  struct Progress {
    bool more = false;      // keys have too few samples
    bool wide = false;      // samples spread widely: more windows once every key has enough
    bool new_keys = false;  // if windows are launches: new keys took much of this one's time
    double lacking = 0;     // share of the time in keys with too few samples
  };
  void progress(Phase phase, std::uint64_t hash, const Progress& wanted);
  // The round of the queue that the window belonged to, from 1.
  [[nodiscard]] std::uint32_t round(Phase phase, std::uint64_t hash) const;
  // The last window of `phase` that ended as kept turned out to be useless when its counters were
  // read.
  void retract(Phase phase, std::uint64_t hash);
  // Drops a phase that is unavailable (no permission, no metrics).
  void give_up(PhaseKind kind);
  // Takes up a phase again that turned out to be available after all.
  void take_again(PhaseKind kind);
  // Starts collecting from nothing for every class; with several ranks windows keep their numbers.
  void collect_again();

  // How many steps give every phase its first windows, if all steps have the same launches.
  [[nodiscard]] std::uint32_t least_steps() const;

  [[nodiscard]] bool by_number() const { return options_.by_number; }
  // Whether the window from next() only completes the last time window, which ends at this step's
  // first kernel. For queues that count windows exactly; otherwise time windows come in rows, which
  // does the same.
  [[nodiscard]] bool reaching() const { return reaching_; }
  [[nodiscard]] bool complete() const { return next().kind == PhaseKind::off; }
  [[nodiscard]] bool warmed_up() const;
  [[nodiscard]] std::uint32_t thrown_away_in_row() const { return thrown_away_; }
  [[nodiscard]] std::size_t classes() const { return classes_.size(); }

 private:
  enum class Goal : std::uint8_t {
    once,     // until there is one window
    samples,  // until the keys have enough samples
    spread,   // then until widely spread samples are enough
    rest      // in turn with the other phases, until nothing more is needed
  };
  struct Place {
    Phase phase;
    Goal goal = Goal::samples;
    std::uint32_t round = 0;
    double tail = 0;  // with a budget: share of the time that may lack samples
    // Index of the previous place of the same phase in the same round.
    std::optional<std::size_t> earlier = std::nullopt;
    bool given_up = false;
    std::uint32_t windows = 0;  // windows kept, of any class
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
  // What a class has collected of a phase in a round, up to one place.
  struct Had {
    Collected here;             // at that place
    std::uint32_t windows = 0;  // kept at that place and those before it
    Progress wanted;            // as the newest of these windows left it
  };
  void make_order();
  void add_place(Phase phase, Goal goal, std::uint32_t round, double tail = 0);
  void add_round(std::uint32_t round);
  [[nodiscard]] std::uint32_t active(PhaseKind kind) const;  // windows wanted, if exact
  [[nodiscard]] std::uint32_t turns(PhaseKind kind) const { return is_counter(kind) ? shares_ : 1; }
  [[nodiscard]] bool counts_exactly() const { return options_.active || options_.by_number; }
  void count(Phase phase, std::uint64_t hash, bool kept);
  void follow(std::uint64_t hash);
  void throw_away(Phase phase);
  [[nodiscard]] Had had(const Class& c, std::size_t index) const;
  [[nodiscard]] bool enough(const Class& c, std::size_t index) const;
  [[nodiscard]] bool open(std::size_t index) const;  // windows of that place are possible
  [[nodiscard]] std::uint32_t most(const Progress& wanted) const;  // most windows of a place
  [[nodiscard]] static std::uint64_t turn_of_times(std::uint32_t windows);
  // The place whose turn it is, among those from `index` on that collect what is still needed.
  [[nodiscard]] std::size_t whose_turn(const Class& c, std::size_t index) const;
  // Index in order_ of the phase's newest window, or order_.size() if there is none.
  [[nodiscard]] std::size_t newest(const Class& c, Phase phase) const;
  [[nodiscard]] const Class* class_of(std::uint64_t hash) const;  // may be shared by several hashes
  [[nodiscard]] Class* class_of(std::uint64_t hash);
  // Index in order_ of the first place not complete, or order_.size() if all are.
  [[nodiscard]] std::size_t first_missing(const Class& c) const;
  // The earliest of these over all classes that count; without one, that of an empty class.
  [[nodiscard]] std::size_t earliest_missing() const;
  void weigh_classes();

  QueueOptions options_;
  std::vector<Place> order_;
  std::uint32_t waited_ = 0, warmed_ = 0, thrown_away_ = 0;
  std::uint32_t shares_ = 1;
  std::uint32_t timed_rounds_ = 0;  // rounds with kernel records on: no more flops
  Class numbered_;                  // with by_number: all windows since the warm-up
  Phase thrown_phase_, newest_;     // newest_: of the last window that measured
  bool repeated_ = false, reaching_ = false;
  // Hashes seen before the first window (bounded by wait and warm-up).
  std::map<std::uint64_t, std::uint64_t> sequences_;
  std::map<std::uint64_t, Class> classes_;
  std::map<std::uint64_t, std::uint64_t> follower_;  // the class that last followed each class
  std::uint64_t last_class_ = 0, steps_ = 0;
};

}  // namespace gable
