// SPDX-License-Identifier: Apache-2.0
// What an SM can do in a clock, by compute capability and board: the one table behind the
// theoretical roofs. docs/ceilings.md says where published figures differ from it.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

// Rates of an SM; 0: it has no such unit, or its rate is not published.
struct ChipRates {
  int major = 0, minor = 0;
  // Boards of one compute capability differ: some have no tensor cores, or slower ones. These are
  // words of the names of boards with this row's rates, with '|' between them, '#' for a number and
  // '!' before a word that only other boards have. Empty: all boards not named by earlier rows,
  // with the rates they surely share.
  std::string_view boards;
  // For a device without a name: SM counts that only boards with these rates have.
  std::vector<int> sm_counts;
  // Operations per SM and clock; an fma is two, a 16-bit instruction has two lanes.
  struct Cores {
    double fp64 = 0, fp32 = 0, fp16 = 0;
    std::string_view source;
  } cores;
  // Operations per SM and clock, dense, FP32 accumulation (INT32 of int8).
  struct Tensor {
    double fp64 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, fp6 = 0, fp4 = 0, int8 = 0;
    double sparse = 0;      // factor on the dense rate of TF32 and of types up to 16 bits
    double fp4_sparse = 0;  // the same for FP4
    std::string_view source;
  } tensor;
  struct Caches {
    double l1 = 0;           // byte per SM and clock
    double l2_slice = 0;     // byte per slice and clock
    double l2_slice_kb = 0;  // KiB per slice; L2 size / this = number of slices
    std::string_view source;
  } caches;
};

[[nodiscard]] const std::vector<ChipRates>& chip_rates();

// The rates of a device; nullptr if the table has nothing on its compute capability. A board that
// the table does not name has the rates that all boards of its compute capability share.
[[nodiscard]] const ChipRates* rates_of(const DeviceInfo& device);

}  // namespace gable
