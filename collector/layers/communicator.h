// SPDX-License-Identifier: Apache-2.0
// What NCCL's range around the call that makes a communicator says about it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// Only this process's GPUs, or other processes too (their number is unknown).
enum class Communicator : std::uint8_t { none, own_gpus, processes };
[[nodiscard]] inline Communicator made_in(std::string_view domain, std::string_view range) {
  if (domain != "NCCL" || !range.starts_with("ncclCommInit")) return Communicator::none;
  return range == "ncclCommInitAll" ? Communicator::own_gpus : Communicator::processes;
}

}  // namespace gable
