// SPDX-License-Identifier: Apache-2.0
// Metrics of ncu by the names that a report has them under.
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

// A metric of the report, and what a value that ncu prints is multiplied with to be one of it.
struct NcuMetric {
  std::uint32_t index = 0;
  double scale = 1;
};

class NcuMetrics {
 public:
  explicit NcuMetrics(Imported& imported);

  // By its full name. Empty where ncu's name is none of a metric.
  std::optional<NcuMetric> add(std::string_view name);
  // As a row of the details page or of --metrics names it.
  std::optional<NcuMetric> find(std::string_view name, std::string_view unit);
  // It counts something that is never negative.
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

// Tensor-core metrics of which the list has the sum, too: adding both would count work twice.
[[nodiscard]] std::vector<std::string> parts_of_sums(const std::vector<std::string>& metrics);

}  // namespace gable
