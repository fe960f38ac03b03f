// SPDX-License-Identifier: Apache-2.0
// Theoretical roofs of a GPU, from its attributes and the rates of its chip (chip_rates.h).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Compute ceilings, L1 and L2 are rates per SM (or slice) and clock x SMs (or slices) x SM clock;
// "dram" is memory clock x bus width x 2. FLOP/s (operations/s for integer types) and byte/s. If an
// SM clock was measured they are listed at that clock first, then at the highest ("boost").
// "fp32_no_fma" is half of "fp32": unfused adds and multiplications. `sparse`: input types of
// sparse tensor-core work, whose sparse rates are listed too. Unknown ceilings are left out.
[[nodiscard]] std::vector<Ceiling> theoretical_ceilings(const DeviceInfo& device,
                                                        Maybe sm_clock_measured_hz = std::nullopt,
                                                        const std::set<std::string>& sparse = {});

// The ceiling's name for tensor work of an input type: "bf16" -> "bf16_tensor".
[[nodiscard]] std::string tensor_ceiling_name(std::string_view type);
// "bf16" -> "bf16_tensor_sparse".
[[nodiscard]] std::string sparse_ceiling_name(std::string_view type);

// How the source of a roof goes on after "theoretical: " if CUPTI states what a unit can do in a
// cycle, as no attribute of the device tells.
inline constexpr std::string_view kStatedByCupti = "CUPTI states";
[[nodiscard]] bool is_stated_by_cupti(const Ceiling& ceiling);

// Rank of a ceiling among those of one name; the highest holds: a measured one, else one at the
// measured clock, else one at the highest clock.
[[nodiscard]] int preference(const Ceiling& ceiling);

}  // namespace gable
