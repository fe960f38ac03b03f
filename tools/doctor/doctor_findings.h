// SPDX-License-Identifier: Apache-2.0
// What `gable doctor` finds out about a machine.
#pragma once

#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"

namespace gable {

enum class State { ready, limited, missing, unknown };
[[nodiscard]] const char* to_string(State state);

struct Finding {
  std::string part;  // "driver", "CUPTI", "hw:1..4" …
  State state = State::ready;
  std::string text;
};

struct Examination {
  std::vector<Finding> parts;   // parts of the machine, in order of dependence
  std::vector<Finding> phases;  // what `gable profile` would collect here
  bool has_gpu = false;
  [[nodiscard]] bool limited() const;
};

// Asks the driver, CUPTI and every GPU; takes counters for a moment where there is one. Takes
// libraries that wait to be injected out of this process's environment, so that asking the driver
// loads none. `said`: findings about CUPTIs that did not serve. Call it in a process that CUPTI may
// end.
[[nodiscard]] Examination examine(const CuptiWish& wish, const std::vector<Finding>& said);

// "CUDA 13.0, API 130001"
[[nodiscard]] std::string version_of(const CuptiApi& api);

}  // namespace gable
