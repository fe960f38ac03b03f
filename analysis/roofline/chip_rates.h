// SPDX-License-Identifier: Apache-2.0
// What an SM can do in a clock, by compute capability and board: the one table behind the
// theoretical roofs. docs/ceilings.md says where published figures differ from it.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

// 0: the SM has no such unit, or no source says its rate.
struct ChipRates {
  int major = 0, minor = 0;
  // Boards of one compute capability differ: some have no tensor cores, some have them at a part of
  // the chip's rate. Words of the names of those that are known to have this row's rates, with '|'
  // between them, '#' for a number and '!' before a word that other boards have. Empty: all that no
  // row before names, and what all of them are sure to have.
  std::string_view boards;
  // Of a device without a name: numbers of SMs that only boards of these rates have.
  std::vector<int> sm_counts;
  // Operations per SM and clock; an fma is two, a 16-bit instruction has two lanes.
  struct Cores {
    double fp64 = 0, fp32 = 0, fp16 = 0;
    std::string_view source;
  } cores;
  // Operations per SM and clock, dense, FP32 accumulation (INT32 of int8).
  struct Tensor {
    double fp64 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, fp6 = 0, fp4 = 0, int8 = 0;
    double sparse = 0;      // times the dense rate of the types of 16 bit and below, and of TF32
    double fp4_sparse = 0;  // the same of FP4
    std::string_view source;
  } tensor;
  struct Caches {
    double l1 = 0;           // byte per SM and clock
    double l2_slice = 0;     // byte per slice and clock
    double l2_slice_kb = 0;  // KiB of a slice: with the size of the L2, how many there are
    std::string_view source;
  } caches;
};

[[nodiscard]] const std::vector<ChipRates>& chip_rates();

// nullptr where nothing is known of the device's compute capability. A board that the table does
// not name has what all boards of its compute capability share.
[[nodiscard]] const ChipRates* rates_of(const DeviceInfo& device);

}  // namespace gable
