// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/events/quantities.h"
#include "tools/import/counters/ncu_values.h"

namespace gable {
namespace {

constexpr std::string_view kPerCycle = ".sum.per_cycle_elapsed";
constexpr std::string_view kPerSecond = ".sum.per_second";
constexpr std::string_view kOldSass = "sm__sass_thread_inst_executed_op_";
constexpr std::string_view kDuration = "gpu__time_duration.sum";

// The SM's count of an instruction is the sum of its partitions'.
std::string plain_name(std::string_view name) {
  if (name.starts_with(kOldSass)) return "smsp__" + std::string(name.substr(4));
  if (name == "gpu__time_duration.avg" || name == "gpu__time_duration.max")
    return std::string(kDuration);
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

const double* value_of(const Imported& imported, const Imported::CounterLaunch& launch,
                       std::string_view name) {
  for (const auto& [metric, value] : launch.values) {
    if (metric < imported.metrics.size() && imported.metrics[metric] == name &&
        std::isfinite(value))
      return &value;
  }
  return nullptr;
}

bool has(const Imported::CounterLaunch& launch, std::uint32_t metric) {
  return std::any_of(launch.values.begin(), launch.values.end(),
                     [metric](const auto& each) { return each.first == metric; });
}

}  // namespace

NcuMetrics::NcuMetrics(Imported& imported) : imported_(imported) {
  for (std::uint32_t i = 0; i < imported.metrics.size(); ++i) {
    by_name_.emplace(imported.metrics[i], i);
    counts_.push_back(role_of(imported.metrics[i]) != nullptr);
  }
}

std::optional<std::uint32_t> NcuMetrics::add(std::string_view name) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return known->second;
  if (name.starts_with("derived__") && name.ends_with("_x2")) return add_doubled(name);
  const std::string plain = plain_name(name);
  if (!is_counter(plain)) {
    by_name_.emplace(name, std::nullopt);
    return std::nullopt;
  }
  auto found = by_name_.find(plain);
  if (found == by_name_.end()) {
    const auto index = static_cast<std::uint32_t>(imported_.metrics.size());
    imported_.metrics.push_back(plain);
    counts_.push_back(role_of(plain) != nullptr);
    found = by_name_.emplace(plain, index).first;
  }
  const auto index = found->second;
  if (plain != name) by_name_.emplace(name, index);
  // What it is a rate of.
  const bool per_cycle = plain.ends_with(kPerCycle);
  if (per_cycle || plain.ends_with(kPerSecond)) {
    const std::string whole = plain.substr(0, plain.find(".sum")) + ".sum";
    if (role_of(whole) != nullptr) rates_[*index] = {*add(whole), 1, per_cycle};
  }
  return index;
}

// "derived__X_x2" is twice X.sum.per_cycle_elapsed. It is no metric of its own: only what follows
// from it stays.
std::optional<std::uint32_t> NcuMetrics::add_doubled(std::string_view name) {
  std::string base(name.substr(9));
  base.resize(base.size() - 3);
  const std::string whole = plain_name(base + ".sum");
  if (role_of(whole) == nullptr) {
    by_name_.emplace(name, std::nullopt);
    return std::nullopt;
  }
  const std::uint32_t index = kPassing + static_cast<std::uint32_t>(rates_.size());
  rates_[index] = {*add(whole), 0.5, true};
  by_name_.emplace(name, index);
  return index;
}

std::optional<std::uint32_t> NcuMetrics::find(std::string_view name, std::string_view unit) {
  if (name.find("__") != std::string_view::npos) return add(name);
  const std::string_view metric = ncu_metric_of_title(name, unit);
  return metric.empty() ? std::nullopt : add(metric);
}

void NcuMetrics::derive(Imported::CounterLaunch& launch) {
  const double* duration = value_of(imported_, launch, kDuration);
  if (duration == nullptr) {
    // Roofline scripts of the first years ask for cycles and their rate alone.
    const double* cycles = value_of(imported_, launch, "sm__cycles_elapsed.avg");
    const double* rate = value_of(imported_, launch, "sm__cycles_elapsed.avg.per_second");
    if (cycles != nullptr && rate != nullptr && *rate > 0) {
      const double ns = *cycles / *rate * 1e9;
      if (const auto metric = add(kDuration); !has(launch, *metric))
        launch.values.emplace_back(*metric, ns);
    }
  }
  if (rates_.empty()) return;
  duration = value_of(imported_, launch, kDuration);
  const double ns = duration == nullptr ? 0 : *duration;
  double elapsed = 0;
  for (const char* name : {"smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg",
                           "smsp__cycles_elapsed.max", "sm__cycles_elapsed.max"}) {
    const double* value = value_of(imported_, launch, name);
    if (value != nullptr && elapsed <= 0) elapsed = *value;
  }
  const std::size_t count = launch.values.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto [metric, value] = launch.values[i];
    const auto rate = rates_.find(metric);
    if (rate == rates_.end() || !std::isfinite(value)) continue;
    const double times = rate->second.per_cycle ? elapsed : ns * 1e-9;
    // They are whole numbers, of which the rate has lost digits.
    if (times > 0 && !has(launch, rate->second.of))
      launch.values.emplace_back(rate->second.of, std::round(value * rate->second.scale * times));
  }
  std::erase_if(launch.values, [](const auto& each) { return each.first >= kPassing; });
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
