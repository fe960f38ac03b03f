// SPDX-License-Identifier: Apache-2.0
// Which kernels of different ranks are one collective, and what of each is waiting.
//
// A collective's kernel lasts from when its rank comes until that rank has what it needs, so the
// last one to come does not wait: the shortest of an instance's durations is the transfer, and what
// another rank's is longer is its waiting, for that last one. No clock is needed for that.
//
// Ranks belong together by their communicator. Their launches do by its sequence numbers; else by
// their order within a step of the same number; else by their order in the files, if clocks show
// that no rank left before all had come. Kinds, sizes and counts must agree.
#pragma once

#include <string>
#include <vector>

#include "tools/import/ranks/exchanges.h"

namespace gable {

// Fills Exchange::transfer_ns and the sums of rows. Returns a sentence about each reason why
// something stays unknown.
[[nodiscard]] std::vector<std::string> match_exchanges(const std::vector<RankExchanges*>& ranks);

}  // namespace gable
