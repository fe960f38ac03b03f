// SPDX-License-Identifier: Apache-2.0
// The GPUs of several reports, by kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Which kind of GPU each device of each report is.
struct MergedDevices {
  std::map<std::pair<std::size_t, std::int32_t>, std::int32_t> kind;  // (report, device) -> kind
  std::map<std::int32_t, double> gpus;                                // of a kind
  [[nodiscard]] std::int32_t of(std::size_t report, std::int32_t device) const;
};
// Fills devices, ceilings and measured clocks. Ceilings of GPUs of one kind are means.
[[nodiscard]] MergedDevices merge_devices(const std::vector<Report>& reports, Report& out);

}  // namespace gable
