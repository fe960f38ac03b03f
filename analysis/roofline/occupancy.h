// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel an SM holds at once, and how many waves of blocks its grid is:
//   warps         = threads of a block / 32, rounded up
//   blocks_per_sm = least of  blocks that an SM can hold
//                             warps that it can hold / warps
//                             parts x (registers of a part / registers of a warp) / warps
//                             shared memory of an SM / shared memory of a block
//   waves         = blocks of the grid / (SMs x blocks_per_sm)
// Every quotient but the last is rounded down. An SM has four parts (two on 6.0). Registers of a
// warp are rounded up to 256, shared memory of a block to 128 bytes with 1 KiB that CUDA takes for
// itself (before 8.0: to 256 bytes with nothing). The rounding is that of cuda_occupancy.h, which
// comes with CUDA; the limits are those of "Technical Specifications per Compute Capability" in the
// CUDA C++ Programming Guide. How much of an SM's memory is shared memory and how much is cache is
// the driver's choice: here it can all be shared memory, so blocks_per_sm is the most there can be.
#pragma once

#include <optional>
#include <string>

#include "analysis/events/events.h"
#include "analysis/report/report.h"

namespace gable {

// Flags of a row.
inline constexpr std::string_view kSmallGrid = "small_grid";  // not even one wave
inline constexpr std::string_view kTail = "tail";  // the last wave leaves SMs without work

// Fills blocks_per_sm, waves and the flag kSmallGrid of a kernel on `device` from its grid, block
// and what a block takes; unknown values stay empty. Without registers it is only certain that a
// grid with fewer blocks than SMs is small.
void fill_waves(const DeviceInfo& device, KernelRow& kernel);

// The share of an SM's warps that a kernel's blocks can fill, and the resource that runs out first:
// "registers", "shared memory", "warps" or "blocks".
struct OccupancyLimit {
  double occupancy = 0;
  std::string by;
};
// The limit; empty if blocks_per_sm is unknown.
[[nodiscard]] std::optional<OccupancyLimit> occupancy_limit(const DeviceInfo& device,
                                                            const KernelRow& kernel);

// The share of the time that a full last wave could save, if all blocks take the same time: the
// idle share of the waves, limited by what the roof leaves. 0 with one wave or less; empty if waves
// are unknown.
[[nodiscard]] Maybe tail_share(const KernelRow& kernel);

}  // namespace gable
