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

// Whether the launcher's variables say that all ranks are on this machine.
[[nodiscard]] bool told_one_node();

// What a range says that is NCCL's around a call which makes a communicator: of this process's GPUs
// alone, or with other processes (how many, it does not say).
enum class Communicator : std::uint8_t { none, own_gpus, processes };
[[nodiscard]] inline Communicator made_in(std::string_view domain, std::string_view range) {
  if (domain != "NCCL" || !range.starts_with("ncclCommInit")) return Communicator::none;
  return range == "ncclCommInitAll" ? Communicator::own_gpus : Communicator::processes;
}

}  // namespace gable
