// SPDX-License-Identifier: Apache-2.0
// What a step's time is made of, in lines of text. The table and the page show them.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Wall time, busy and idle time of the GPU, copies and waits; of recorded steps the critical path
// and what is not hidden; and of text generation the time a token takes. Nothing where no step was
// timed.
[[nodiscard]] std::vector<std::string> step_lines(const Report& report);

// Of these, why the model's FLOP utilisation, or that as counted, is unknown, where there is
// something to take it from.
[[nodiscard]] std::vector<std::string> unknown_utilisation_lines(const Report& report);

// Of these, what holds recorded steps: the critical path, what the host launches next on it, what
// is not hidden, and how far savings are replayed. Nothing where no step was recorded.
[[nodiscard]] std::vector<std::string> path_lines(const Report& report);

}  // namespace gable
