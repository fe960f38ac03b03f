// SPDX-License-Identifier: Apache-2.0
// A whole run of Gable over a made-up program: the planner, the joins, the profile and the report
// are the product's own; only CUPTI and the program are made up. What the report says is compared
// with the truth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/events/join_checks.h"
#include "tests/simulation/program.h"

namespace gable::simulation {

inline constexpr double kMiscounted = 0.03;    // counters are off from the launches they are of
inline constexpr double kSilentSpread = 0.25;  // of window means: more must be said
inline constexpr double kWrong = 0.5;          // parts are off by more, and nothing says so

struct Played {
  bool over = false;   // the queue came to its end by itself
  bool ended = false;  // the program did before
  std::uint32_t steps = 0;
  std::map<std::string, std::uint32_t> windows;  // kept ones by phase
  std::uint32_t thrown_away = 0;
  std::uint64_t launches = 0;  // of all windows; without steps all there were
  std::uint32_t period = 0;    // launches of the period that was followed last; 0: none
  std::uint64_t rows = 0, flagged = 0;
  std::uint64_t complete = 0;      // rows with FLOP, bytes and time windows
  std::vector<std::string> wrong;  // a sentence for each
};

struct PlayOptions {
  std::uint32_t most_windows = 1500;
  std::uint64_t most_launches = 3000000;
  JoinChecks checks;
};
[[nodiscard]] Played play(const Program& program, const PlayOptions& options = {});

}  // namespace gable::simulation
