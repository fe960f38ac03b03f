// SPDX-License-Identifier: Apache-2.0
// Decides which flaws cost a window. Pure code.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/events/events.h"
#include "analysis/events/join_checks.h"

namespace gable {

enum WindowFlaw : std::uint32_t {
  kModuleLoaded = 1,
  kNewFunction = 2,
  kCapture = 4,
  kStuck = 8,
  kRefused = 16,
  kCollective = 32,
  kGraph = 64
};

struct WindowFacts {
  WindowId window = kNoWindow;
  Phase phase;
  std::uint64_t hash = 0, launches = 0;
  std::uint32_t flaws = 0;  // bits of WindowFlaw
  bool steps = true;        // false: the window is a number of launches
};

struct Verdict {
  std::string reason;  // a sentence: why the window is thrown away; empty: it is kept
  bool without_new_functions = false;  // kept, but kernels new in it are not trusted
};

// `thrown_away`: windows of the phase thrown away just before; after some of them flaws are
// tolerated, since a program with a flaw in every step would never be measured. Instrumented
// counters get no such tolerance: what they miss cannot be seen.
[[nodiscard]] Verdict judge_window(const WindowFacts& facts, std::uint32_t thrown_away,
                                   const JoinChecks& checks = {});

}  // namespace gable
