// SPDX-License-Identifier: Apache-2.0
// ncu's metrics by their names in a report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/import/records/imported.h"

namespace gable {

inline constexpr std::string_view kNcuDuration = "gpu__time_duration.sum";

// A metric of the report, and the factor from ncu's printed value to its unit.
struct NcuMetric {
  std::uint32_t index = 0;
  double scale = 1;
};

class NcuMetrics {
 public:
  explicit NcuMetrics(Imported& imported);

  // Adds a metric by its full name; empty if it is not a metric's name.
  std::optional<NcuMetric> add(std::string_view name);
  // Finds a metric by its name in a row of the details page or of --metrics.
  std::optional<NcuMetric> find(std::string_view name, std::string_view unit);
  // Whether the metric counts something that is never negative.
  [[nodiscard]] bool counts(std::uint32_t metric) const { return counts_.at(metric); }
  [[nodiscard]] const std::string& name(std::uint32_t metric) const {
    return imported_.metrics.at(metric);
  }

 private:
  std::optional<NcuMetric> intern(std::string_view name);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  Imported& imported_;
  std::unordered_map<std::string, std::optional<NcuMetric>, Hash, std::equal_to<>> by_name_;
  std::vector<bool> counts_;
};

// Tensor-core metrics whose sum is also in the list: adding both would count work twice.
[[nodiscard]] std::vector<std::string> parts_of_sums(const std::vector<std::string>& metrics);

}  // namespace gable
