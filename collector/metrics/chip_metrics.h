// SPDX-License-Identifier: Apache-2.0
// What CUPTI's Profiler Host API says about one chip: which metrics it has and how many passes they
// take. Every question gets a fresh host object, since a rejected metric poisons it (about 2 ms);
// answers are remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/remedies.h"

namespace gable {

using MetricNames = std::vector<std::string>;  // full names with their roll-up

class ChipMetrics {
 public:
  // `api` must outlive this. `availability`: counter availability image of the device, or empty.
  ChipMetrics(const CuptiApi& api, std::string chip, std::vector<std::uint8_t> availability = {})
      : api_(api), chip_(std::move(chip)), availability_(std::move(availability)) {}

  // Whether CUPTI knows the chip.
  [[nodiscard]] CuptiFailure check();
  // Number of passes that a set needs; nullopt if the chip lacks one of its metrics.
  [[nodiscard]] std::optional<std::size_t> passes(const MetricNames& metrics);
  // The same, with the configuration image of the set.
  [[nodiscard]] std::optional<std::size_t> configure(const MetricNames& metrics,
                                                     std::vector<std::uint8_t>& image);
  [[nodiscard]] std::optional<std::size_t> passes_alone(std::string_view metric);
  [[nodiscard]] bool has(std::string_view metric) { return passes_alone(metric).has_value(); }
  [[nodiscard]] bool single(std::string_view metric) { return passes_alone(metric) == 1u; }
  // Whether `metric` fits into the same pass as `group`, which needs one pass.
  [[nodiscard]] bool fits(const MetricNames& group, const std::string& metric);

  // The first failed call that was no answer about a metric; the metric asked for counts as
  // missing.
  [[nodiscard]] const CuptiFailure& trouble() const { return trouble_; }

  [[nodiscard]] const CuptiApi& api() const { return api_; }
  [[nodiscard]] const std::string& chip() const { return chip_; }

 private:
  const CuptiApi& api_;
  const std::string chip_;
  const std::vector<std::uint8_t> availability_;
  CuptiFailure trouble_;
  // Number of passes by joined metric names; nullopt: the chip lacks one of them.
  std::map<std::string, std::optional<std::size_t>, std::less<>> answers_;
};

}  // namespace gable
