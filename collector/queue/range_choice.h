// SPDX-License-Identifier: Apache-2.0
// Which ranges counters are taken of, from what the user asks for and what the process is: where
// kernels of several ranks wait for each other, nothing may wait after every launch and no kernel
// may run twice. Pure code.
#pragma once

#include <string>
#include <string_view>

#include "collector/options/settings.h"
#include "collector/queue/range_join.h"

namespace gable {

struct RangeChoice {
  RangeMode mode = RangeMode::user;
  std::string sentence;  // why the mode differs from what was asked for; empty if it does not
};
// `ranks`: the process is one of several.
[[nodiscard]] RangeChoice choose_ranges(const Settings& settings, bool ranks);

// Whether a kernel with this symbol may wait for kernels of other ranks.
[[nodiscard]] bool may_wait_for_ranks(std::string_view symbol);

}  // namespace gable
