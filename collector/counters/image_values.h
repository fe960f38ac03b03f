// SPDX-License-Identifier: Apache-2.0
// What a counter image holds, as CUPTI's host API evaluates it: needs no GPU, only the image and a
// host object of the chip with the same metrics. No member throws; what fails is a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/remedies.h"
#include "collector/metrics/host_object.h"

namespace gable {

[[nodiscard]] CuptiFailure count_ranges(const CuptiApi& api, const std::vector<std::uint8_t>& image,
                                        std::size_t& ranges);
[[nodiscard]] CuptiFailure name_of_range(const CuptiApi& api,
                                         const std::vector<std::uint8_t>& image, std::size_t index,
                                         std::string& name);
// One value per metric; NaN is unknown.
[[nodiscard]] CuptiFailure values_of_range(const CuptiApi& api, const HostObject& host,
                                           const std::vector<std::uint8_t>& image,
                                           std::size_t index, std::vector<const char*>& metrics,
                                           std::vector<double>& values);

}  // namespace gable
