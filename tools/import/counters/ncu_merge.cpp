// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_merge.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace gable {
namespace {

using Launch = Imported::CounterLaunch;

bool is_same(const Launch& a, const Launch& b) {
  return a.function == b.function && a.shape == b.shape && a.device == b.device;
}

std::set<std::uint32_t> metrics_of(const std::vector<Launch>& launches) {
  std::set<std::uint32_t> metrics;
  for (const Launch& launch : launches) {
    for (const auto& [metric, value] : launch.values) metrics.insert(metric);
  }
  return metrics;
}

// A value that both have is of the first.
void complete(Launch& launch, const std::vector<std::pair<std::uint32_t, double>>& more) {
  for (const auto& value : more) {
    const bool there = std::any_of(launch.values.begin(), launch.values.end(),
                                   [&](const auto& each) { return each.first == value.first; });
    if (!there) launch.values.push_back(value);
  }
}

struct Mean {
  double sum = 0;
  std::uint64_t count = 0;
};
using Key = std::tuple<FunctionId, std::uint32_t, std::int32_t>;
Key key_of(const Launch& launch) { return {launch.function, launch.shape, launch.device}; }

// The same kernels, in another order or number: means by kernel, grid and block.
bool complete_by_key(const std::vector<Launch>& from, std::vector<Launch>& to) {
  std::map<Key, std::map<std::uint32_t, Mean>> means;
  std::set<Key> there;
  for (const Launch& launch : to) there.insert(key_of(launch));
  for (const Launch& launch : from) {
    if (!there.contains(key_of(launch))) return false;
    auto& of_key = means[key_of(launch)];
    for (const auto& [metric, value] : launch.values) {
      Mean& mean = of_key[metric];
      if (!std::isfinite(value)) continue;
      mean.sum += value;
      ++mean.count;
    }
  }
  for (Launch& launch : to) {
    std::vector<std::pair<std::uint32_t, double>> values;
    for (const auto& [metric, mean] : means[key_of(launch)])
      values.emplace_back(metric,
                          mean.count > 0 ? mean.sum / static_cast<double>(mean.count) : NAN);
    complete(launch, values);
  }
  return true;
}

}  // namespace

void merge_counters(std::vector<Launch> launches, const std::string& file, Imported& imported) {
  std::vector<Launch>& there = imported.counters;
  if (there.empty()) {
    there = std::move(launches);
    return;
  }
  // Metrics that every file is asked for, such as the duration, tie them together.
  std::set<std::uint32_t> fresh = metrics_of(launches);
  if (fresh.empty()) return;  // attributes of the GPU alone
  for (const std::uint32_t metric : metrics_of(there)) fresh.erase(metric);
  if (!fresh.empty()) {
    const bool same = launches.size() == there.size() &&
                      std::equal(launches.begin(), launches.end(), there.begin(), is_same);
    if (same) {
      for (std::size_t i = 0; i < there.size(); ++i) complete(there[i], launches[i].values);
      return;
    }
    if (complete_by_key(launches, there)) {
      imported.notes.push_back(
          file +
          " has the kernels of the files before it in another order or number: "
          "its counters are joined by name, grid and block, as means.");
      return;
    }
  }
  std::move(launches.begin(), launches.end(), std::back_inserter(there));
}

}  // namespace gable
