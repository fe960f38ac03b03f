// SPDX-License-Identifier: Apache-2.0
// --budget: how much time measuring has added to the run, and how much it may still add. Pure code.
// Windows without counters tell how long a window takes by itself; what a counter window takes
// beyond that, what beginning and reading it takes, and the time in our callbacks count as added.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analysis/profile/key_table.h"

namespace gable {

struct WindowCost {
  Phase phase;
  std::uint64_t hash = 0;      // hash of its launches; 0: unknown
  std::uint64_t launches = 0;  // number of all launches
  std::uint64_t ranged = 0;    // launches with counters
  std::uint64_t wall_ns = 0, callbacks_ns = 0;
};

class Budget {
 public:
  static constexpr double kGuessNs = 100000;      // cost of a launch with counters, until measured
  static constexpr std::uint64_t kGuesses = 32;   // the guess weighs as much as this many launches
  static constexpr std::uint64_t kPatience = 64;  // windows without counters before giving up

  explicit Budget(std::optional<double> percent) : percent_(percent) {}

  [[nodiscard]] bool limited() const { return percent_.has_value(); }
  // Called when a window begins; the first one begins the run.
  void begin(std::uint64_t now_ns);
  void ended(const WindowCost& cost);
  // Adds the time in ns that beginning or reading windows took.
  void settled(std::uint64_t ns);

  // How many launches with counters the budget has room for now.
  [[nodiscard]] std::uint64_t launches() const;
  // Timing without counters is assumed to cost a twentieth of a window.
  [[nodiscard]] bool room_for_times() const { return room_ns() >= plain_mean_ns_ / 20; }
  // Gable's callbacks alone exceed the budget, so waiting makes it worse.
  [[nodiscard]] bool hopeless() const;
  // Added time in percent of the run without measuring; unknown before the first window.
  [[nodiscard]] std::optional<double> added_percent() const;
  [[nodiscard]] double added_ns() const { return added_ns_; }
  [[nodiscard]] std::optional<double> percent() const { return percent_; }

 private:
  [[nodiscard]] double own_ns() const;  // length of the run without measuring
  [[nodiscard]] double room_ns() const;
  [[nodiscard]] double plain_ns(const WindowCost& cost) const;
  void learn(const WindowCost& cost, double ns);

  std::optional<double> percent_;
  std::optional<std::uint64_t> start_ns_;
  std::uint64_t now_ns_ = 0, plain_windows_ = 0, ranged_ = 0;
  double added_ns_ = 0;
  double callbacks_ns_ = 0;                   // part of added_ns_ in windows without counters
  double counted_ns_ = 0;                     // part of added_ns_ due to counter windows
  double settled_ns_ = 0;                     // part of added_ns_ in the open window
  std::map<std::uint64_t, double> plain_ns_;  // length of a window by hash; the newest weigh most
  double plain_mean_ns_ = 0, plain_launch_ns_ = 0;
};

}  // namespace gable
