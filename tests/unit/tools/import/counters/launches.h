// SPDX-License-Identifier: Apache-2.0
// Counted launches, by the names of their metrics.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/import/records/imported.h"

namespace gable {

struct Launches {
  using Values = std::vector<std::pair<std::string, double>>;

  std::uint32_t metric(const std::string& name) {
    auto& all = imported.metrics;
    const auto found = std::find(all.begin(), all.end(), name);
    if (found != all.end()) return static_cast<std::uint32_t>(found - all.begin());
    all.push_back(name);
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  Imported::CounterLaunch launch(std::string_view kernel, const Values& values,
                                 std::uint32_t grid = 1, std::int32_t device = 0) {
    Imported::CounterLaunch launch;
    launch.function = imported.functions.intern(kernel);
    LaunchShape shape;
    shape.grid = {grid, 1, 1};
    launch.shape = imported.shapes.intern(shape);
    launch.device = device;
    for (const auto& [name, value] : values) launch.values.emplace_back(metric(name), value);
    return launch;
  }
  void add(const Values& values, std::int32_t device = 0) {
    imported.counters.push_back(launch("k", values, 1, device));
  }
  // -1: it was not asked for; -2: it was, and is unknown.
  [[nodiscard]] double value(std::size_t index, const std::string& name) const {
    for (const auto& [id, value] : imported.counters.at(index).values)
      if (imported.metrics.at(id) == name) return std::isnan(value) ? -2 : value;
    return -1;
  }
  Imported imported;
};

}  // namespace gable
