// SPDX-License-Identifier: Apache-2.0
// Theoretical roofs of a GPU from its attributes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/report.h"

namespace gable {

// Compute ceilings are SMs x operations per SM and clock x highest SM clock; "dram" is memory clock
// x bus width x 2. All dense, FLOP/s (operations/s for integer types) and byte/s. What an attribute
// or the compute capability leaves open is not in the list.
[[nodiscard]] std::vector<Ceiling> theoretical_ceilings(const DeviceInfo& device);

// The ceiling's name for tensor work of an input type: "bf16" -> "bf16_tensor".
[[nodiscard]] std::string tensor_ceiling_name(std::string_view type);

}  // namespace gable
