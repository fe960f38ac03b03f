// SPDX-License-Identifier: Apache-2.0
// Whether this process is one of several ranks: as launchers of parallel programs say it, and as
// NCCL shows it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// What the launcher's variables say; unknown where there are none.
enum class Ranks : std::uint8_t { unknown, one, several };
[[nodiscard]] Ranks told_ranks();

// Several: a collective of one rank may wait for another one, so all ranks must be in the same
// window, and no launch may be waited for.
[[nodiscard]] inline bool many_ranks() { return told_ranks() == Ranks::several; }

// Whether a range is NCCL's around a call that makes a communicator. How many ranks that has, the
// range does not tell.
[[nodiscard]] inline bool makes_communicator(std::string_view domain, std::string_view range) {
  return domain == "NCCL" && range.starts_with("ncclCommInit");
}

}  // namespace gable
