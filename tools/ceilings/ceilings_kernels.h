// SPDX-License-Identifier: Apache-2.0
// The kernels that `gable ceilings` times, as PTX text: nothing has to be compiled when Gable is
// built. Every kernel has the same parameters (those of ptx_module()) and runs its loop
// `iterations` times; `operations` is what one thread does per iteration.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report_words.h"

namespace gable {

struct RoofKernel {
  std::string roof;  // the ceiling's name: "fp32", "bf16_tensor", "dram"
  CeilingKind kind = CeilingKind::compute;
  std::string how;              // "chains of fma.rn.f32"
  std::string symbol;           // of the kernel: "gable_roof_fp32"
  std::string target;           // "sm_80"; an a at the end: runs on that chip alone
  int lowest = 0, highest = 0;  // compute capabilities that it runs on: 90 is 9.0
  unsigned block = 256;         // threads
  unsigned blocks_per_sm = 8;   // at most; fewer if fewer fit at once
  double operations = 0;        // per thread and iteration: FLOP, integer operations or bytes
  MemoryLevel level = MemoryLevel::none;  // where the kernel reads and writes
  bool copies = false;                    // it has two windows: one is read, one written
  std::string ptx;
};

// All kernels, whatever the chip; `highest` 0: on every newer chip too.
[[nodiscard]] const std::vector<RoofKernel>& roof_kernels();

// The kernels for a chip, in the order in which they are shown.
[[nodiscard]] std::vector<const RoofKernel*> roof_kernels_of(int capability);

}  // namespace gable
