// SPDX-License-Identifier: Apache-2.0
// The text around a kernel of ceilings_kernels.h.
#pragma once

#include <string>

#include "tools/ceilings/ceilings_kernels.h"

namespace gable {

// "name0, name1, …"
[[nodiscard]] std::string ptx_list(const std::string& name, int count);

// A whole module with one kernel. `registers`: declarations; `setup` runs once, `body` in the loop;
// `result` leaves 32 bits in `sum`, which every thread stores so that nothing is optimised away.
// Defined registers: gid, tid, cta (.b32), data, out, blockbytes, mask, step (.b64).
struct PtxParts {
  std::string version, registers, setup, body, result;
};
[[nodiscard]] std::string ptx_module(const RoofKernel& kernel, const PtxParts& parts);

}  // namespace gable
