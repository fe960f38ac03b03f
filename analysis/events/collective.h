// SPDX-License-Identifier: Apache-2.0
// Collectives: what ranks exchange, and how much of it must pass each GPU's link.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/base/words.h"
#include "analysis/events/events.h"

namespace gable {

enum class Collective : std::uint8_t {
  unknown,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  send_receive
};
template <>
inline constexpr auto kWordsOf<Collective> = std::to_array<Word<Collective>>({
    {Collective::all_reduce, "all_reduce"},
    {Collective::all_gather, "all_gather"},
    {Collective::reduce_scatter, "reduce_scatter"},
    {Collective::all_to_all, "all_to_all"},
    {Collective::broadcast, "broadcast"},
    {Collective::reduce, "reduce"},
    {Collective::send_receive, "send_receive"},
});

// The message of one launch. `bytes` is of a rank's whole buffer, as nccl-tests count: what is
// reduced, what has been gathered, what is to be scattered, what is sent.
struct CollectiveCall {
  LaunchKey key;
  Collective kind = Collective::unknown;
  std::uint32_t ranks = 0;  // 0: unknown
  std::optional<std::uint64_t> bytes;
  bool one_node = false;  // all ranks are known to be on one machine
};

// The collective by PyTorch's ("allreduce_coalesced", "_allgather_base") or NCCL's
// ("ncclAllGather") name of the call; unknown for any other, or one that moves next to nothing.
[[nodiscard]] Collective collective_named(std::string_view name);

// Bytes that must pass a GPU's link in each direction, whatever the algorithm, by the factors of
// nccl-tests (doc/PERFORMANCE.md), so that bus bandwidths are comparable between collectives and
// numbers of ranks. Nothing if a part is unknown.
[[nodiscard]] std::optional<double> bus_bytes(const CollectiveCall& call);

// Whether a kernel exchanges data with other GPUs and so may wait for them: those of NCCL, of
// NVSHMEM, and of programs that bypass NCCL. `kernel`: its name, or the symbol that the driver has.
[[nodiscard]] bool is_collective(std::string_view kernel);

}  // namespace gable
