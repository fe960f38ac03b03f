// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_metrics.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "analysis/events/quantities.h"
#include "tools/import/counters/ncu_values.h"

namespace gable {
namespace {

constexpr std::string_view kSumPerCycle = ".sum.per_cycle_elapsed";
constexpr std::string_view kSumOfPeak = ".sum.peak_sustained";
constexpr std::string_view kOldSass = "sm__sass_thread_inst_executed_op_";

// The SM's count of an instruction is the sum of its partitions'.
std::string plain_name(std::string_view name) {
  if (name.starts_with(kOldSass)) return "smsp__" + std::string(name.substr(4));
  if (name == "gpu__time_duration.avg" || name == "gpu__time_duration.max")
    return std::string(kNcuDuration);
  return std::string(name);
}

// As the report's schema has them: attributes of launches and devices are no counters.
bool is_counter(std::string_view name) {
  const auto unit = name.find("__"), roll_up = name.find('.');
  if (unit == 0 || unit == std::string_view::npos || roll_up == std::string_view::npos ||
      roll_up <= unit + 2 || roll_up + 1 == name.size())
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                              c == '.';
                     }) &&
         name.find("..") == std::string_view::npos && name.back() != '.';
}

// 512 of "…_x512"; 0 of others.
int times_of(std::string_view name) {
  const auto end = name.rfind("_x");
  if (end == std::string_view::npos) return 0;
  int times = 0;
  const auto [stop, code] =
      std::from_chars(name.data() + end + 2, name.data() + name.size(), times);
  return code == std::errc() && stop == name.data() + name.size() ? times : 0;
}

}  // namespace

NcuMetrics::NcuMetrics(Imported& imported) : imported_(imported) {
  for (std::uint32_t i = 0; i < imported.metrics.size(); ++i) {
    by_name_.emplace(imported.metrics[i], NcuMetric{i});
    counts_.push_back(role_of(imported.metrics[i]) != nullptr);
  }
}

std::optional<NcuMetric> NcuMetrics::add(std::string_view name) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return known->second;
  const std::optional<NcuMetric> metric = intern(name);
  by_name_.emplace(name, metric);
  return metric;
}

std::optional<NcuMetric> NcuMetrics::intern(std::string_view name) {
  constexpr std::string_view kDerived = "derived__", kAchieved = "derived__smsp__",
                             kPossible = "derived__sm__sass_";
  // "derived__smsp__X_x2" is twice X.sum.per_cycle_elapsed. "derived__sm__X_x2" is what the SMs
  // could do: twice X.sum.peak_sustained.
  if (const int times = times_of(name); name.starts_with(kDerived) && times > 0) {
    const bool achieved = name.starts_with(kAchieved);
    if (!achieved && !name.starts_with(kPossible)) return std::nullopt;
    name.remove_prefix(kDerived.size());
    name = name.substr(0, name.rfind("_x"));
    auto metric = intern(std::string(name) + std::string(achieved ? kSumPerCycle : kSumOfPeak));
    if (metric) metric->scale = 1.0 / times;
    return metric;
  }
  const std::string plain = plain_name(name);
  if (!is_counter(plain)) return std::nullopt;
  if (const auto known = by_name_.find(plain); known != by_name_.end()) return known->second;
  const NcuMetric metric{static_cast<std::uint32_t>(imported_.metrics.size())};
  imported_.metrics.push_back(plain);
  counts_.push_back(role_of(plain) != nullptr);
  by_name_.emplace(plain, metric);
  return metric;
}

std::optional<NcuMetric> NcuMetrics::find(std::string_view name, std::string_view unit) {
  if (name.find("__") != std::string_view::npos) return add(name);
  const std::string_view metric = ncu_metric_of_title(name, unit);
  return metric.empty() ? std::nullopt : add(metric);
}

std::vector<std::string> parts_of_sums(const std::vector<std::string>& metrics) {
  constexpr std::string_view kTensor = "sm__ops_path_tensor_";
  const std::set<std::string, std::less<>> all(metrics.begin(), metrics.end());
  std::vector<std::string> parts;
  for (const std::string& metric : metrics) {
    if (!metric.starts_with(kTensor)) continue;
    // Instruction, source type, destination type, sparsity: each but the source may be summed over.
    std::set<std::string> sums{metric};
    const auto without = [&sums](std::string_view from, std::string_view to) {
      for (const std::string& name : std::set<std::string>(sums)) {
        const auto start = name.find(from);
        if (start == std::string::npos) continue;
        const auto end = std::min(name.find(to, start + from.size()), name.rfind(".sum"));
        if (end != std::string::npos) sums.insert(name.substr(0, start) + name.substr(end));
      }
    };
    without("_sparsity_", ".");
    without("_dst_", "_sparsity_");
    without("op_", "src_");
    sums.erase(metric);
    if (std::any_of(sums.begin(), sums.end(),
                    [&all](const auto& sum) { return all.contains(sum); }))
      parts.push_back(metric);
  }
  return parts;
}

}  // namespace gable
