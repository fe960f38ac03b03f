// SPDX-License-Identifier: Apache-2.0
// Metrics of ncu by the names that a report has them under, and those that follow from others.
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

class NcuMetrics {
 public:
  explicit NcuMetrics(Imported& imported);

  // By its full name. Empty where ncu's name is none of a metric.
  std::optional<std::uint32_t> add(std::string_view name);
  // As a row of the details page or of --metrics names it.
  std::optional<std::uint32_t> find(std::string_view name, std::string_view unit);
  // It counts something that is never negative.
  [[nodiscard]] bool counts(std::uint32_t metric) const {
    return metric >= kPassing || counts_.at(metric);
  }
  [[nodiscard]] const std::string& name(std::uint32_t metric) const {
    return imported_.metrics.at(metric >= kPassing ? rates_.at(metric).of : metric);
  }

  // Work and times that the sections of the details page print as rates: operations per elapsed
  // cycle, bytes per second.
  void derive(Imported::CounterLaunch& launch);

 private:
  // From here on metrics are none of the report.
  static constexpr std::uint32_t kPassing = 1u << 31;
  std::optional<std::uint32_t> add_doubled(std::string_view name);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct Rate {
    std::uint32_t of = 0;  // the metric that follows
    double scale = 1;
    bool per_cycle = false;  // else per second
  };

  Imported& imported_;
  std::unordered_map<std::string, std::optional<std::uint32_t>, Hash, std::equal_to<>> by_name_;
  std::vector<bool> counts_;
  std::unordered_map<std::uint32_t, Rate> rates_;
};

// Tensor-core metrics of which the list has the sum, too: adding both would count work twice.
[[nodiscard]] std::vector<std::string> parts_of_sums(const std::vector<std::string>& metrics);

}  // namespace gable
