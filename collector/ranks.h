// SPDX-License-Identifier: Apache-2.0
// Whether this process is one of several ranks, as launchers of parallel programs say it.
#pragma once

namespace gable {

// True: a collective of one rank may wait for another one, so all ranks must be in the same window,
// and no launch may be waited for.
[[nodiscard]] bool many_ranks();

}  // namespace gable
