// SPDX-License-Identifier: Apache-2.0
// Whether this process is one of several ranks, according to launchers of parallel programs or
// NCCL.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// What the launcher's variables say; unknown without them.
enum class Ranks : std::uint8_t { unknown, one, several };
[[nodiscard]] Ranks told_ranks();

// With several ranks a collective of one may wait for another, so all must be in the same window
// and nothing may wait for a launch.
[[nodiscard]] inline bool many_ranks() { return told_ranks() == Ranks::several; }

// Whether the launcher's variables say that all ranks are on this machine.
[[nodiscard]] bool told_one_node();

// The kind of communicator, from NCCL's range around the call that makes it: only this process's
// GPUs, or other processes too (their number is unknown).
enum class Communicator : std::uint8_t { none, own_gpus, processes };
[[nodiscard]] inline Communicator made_in(std::string_view domain, std::string_view range) {
  if (domain != "NCCL" || !range.starts_with("ncclCommInit")) return Communicator::none;
  return range == "ncclCommInitAll" ? Communicator::own_gpus : Communicator::processes;
}

}  // namespace gable
