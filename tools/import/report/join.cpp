// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/join.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace gable {
namespace {

using Launch = Imported::CounterLaunch;
using Places = std::vector<std::uint32_t>;

// Kernels that may be the same: their name, and grid and block where both files have them.
using Key = std::tuple<std::uint32_t, std::array<std::uint32_t, 6>>;

class Names {
 public:
  using Make = std::string (*)(std::string_view);
  Names(const FunctionTable& functions, Make make) : functions_(functions), make_(make) {}
  std::uint32_t of(FunctionId function) {
    const auto known = by_function_.find(function);
    if (known != by_function_.end()) return known->second;
    const auto id = static_cast<std::uint32_t>(by_name_.size());
    const auto found = by_name_.emplace(make_(functions_.full_name(function)), id).first->second;
    by_function_.emplace(function, found);
    return found;
  }

 private:
  const FunctionTable& functions_;
  Make make_;
  std::unordered_map<FunctionId, std::uint32_t> by_function_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

// What two launches must agree on.
struct Rule {
  Names::Make name;
  bool shape;
};

class Joiner {
 public:
  explicit Joiner(Imported& imported) : imported_(imported) {
    join_.counters = std::move(imported.counters);
    imported.counters.clear();
    join_.of_kernel.assign(imported.kernels.size(), Join::kNone);
    taken_.assign(join_.counters.size(), false);
    singles_ = static_cast<std::uint32_t>(join_.counters.size());
  }

  Join join() {
    bool shapes = false;
    for (const Launch& launch : join_.counters)
      shapes = shapes || imported_.shapes[launch.shape].grid.x != 0;
    // Another grid is other work: where both have one, names alone say nothing.
    apply({&common_name, shapes});
    apply({&base_name, shapes});
    tell();
    return std::move(join_);
  }

 private:
  Key key(Names& names, FunctionId function, std::uint32_t shape, bool with_shape) {
    std::array<std::uint32_t, 6> size{};
    if (with_shape) {
      const LaunchShape& of = imported_.shapes[shape];
      size = {of.grid.x, of.grid.y, of.grid.z, of.block.x, of.block.y, of.block.z};
    }
    return {names.of(function), size};
  }

  // Of what no rule before has joined.
  void apply(const Rule& rule) {
    Names names(imported_.functions, rule.name);
    std::map<Key, std::pair<Places, Places>> groups;  // kernels, counters
    for (std::uint32_t i = 0; i < singles_; ++i) {
      if (taken_[i]) continue;
      const Launch& launch = join_.counters[i];
      groups[key(names, launch.function, launch.shape, rule.shape)].second.push_back(i);
    }
    if (groups.empty()) return;
    for (std::uint32_t i = 0; i < join_.of_kernel.size(); ++i) {
      if (join_.of_kernel[i] != Join::kNone) continue;
      const ImportedKernel& kernel = imported_.kernels[i];
      const auto found = groups.find(key(names, kernel.function, kernel.shape, rule.shape));
      if (found != groups.end()) found->second.first.push_back(i);
    }
    const bool ordered = same_order(groups);
    for (const auto& [key, group] : groups) {
      const auto& [kernels, counters] = group;
      if (kernels.empty()) continue;
      for (const std::uint32_t i : counters) taken_[i] = true;
      if (kernels.size() == counters.size() && (ordered || kernels.size() == 1)) {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
          join_.of_kernel[kernels[i]] = counters[i];
          ++by_order_;
        }
        continue;
      }
      const std::uint32_t mean = mean_of(counters);
      for (const std::uint32_t i : kernels) join_.of_kernel[i] = mean;
      by_sums_ += kernels.size();
    }
  }

  // Whether both files have the launches that can be joined in the same order.
  static bool same_order(const std::map<Key, std::pair<Places, Places>>& groups) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> kernels, counters;  // place, group
    std::uint32_t number = 0;
    for (const auto& [key, group] : groups) {
      ++number;
      if (group.first.size() != group.second.size()) continue;
      for (const std::uint32_t i : group.first) kernels.emplace_back(i, number);
      for (const std::uint32_t i : group.second) counters.emplace_back(i, number);
    }
    std::sort(kernels.begin(), kernels.end());
    std::sort(counters.begin(), counters.end());
    return std::equal(kernels.begin(), kernels.end(), counters.begin(), counters.end(),
                      [](const auto& a, const auto& b) { return a.second == b.second; });
  }

  std::uint32_t mean_of(const Places& counters) {
    std::map<std::uint32_t, std::pair<double, std::uint64_t>> sums;
    for (const std::uint32_t i : counters) {
      for (const auto& [metric, value] : join_.counters[i].values) {
        auto& [sum, count] = sums[metric];
        if (!std::isfinite(value)) continue;
        sum += value;
        ++count;
      }
    }
    Launch mean = join_.counters[counters.front()];
    mean.values.clear();
    for (const auto& [metric, sum] : sums)
      mean.values.emplace_back(metric,
                               sum.second > 0 ? sum.first / static_cast<double>(sum.second) : NAN);
    join_.counters.push_back(std::move(mean));
    return static_cast<std::uint32_t>(join_.counters.size() - 1);
  }

  void tell() {
    const auto kernels = join_.of_kernel.size();
    const std::uint64_t joined = by_order_ + by_sums_;
    std::string text = "Counters are joined to times by name, grid, block and order for " +
                       std::to_string(by_order_) + " of " + std::to_string(kernels) + " launches";
    if (by_sums_ > 0) {
      text += "; for " + std::to_string(by_sums_) +
              " the files differ in order or number, and each has the mean of its kernel's counted "
              "launches, by name with sums";
    }
    if (joined < kernels) text += "; " + std::to_string(kernels - joined) + " have none";
    join_.notes.push_back(text + ".");
    const auto left = static_cast<std::uint64_t>(std::count(taken_.begin(), taken_.end(), false));
    if (left > 0) {
      join_.notes.push_back("The counters of " + std::to_string(left) +
                            (left == 1 ? " launch" : " launches") +
                            " belong to no kernel with a time, and are left out.");
    }
  }

  Imported& imported_;
  Join join_;
  std::vector<bool> taken_;
  std::uint32_t singles_ = 0;
  std::uint64_t by_order_ = 0, by_sums_ = 0;
};

}  // namespace

Join join_counters(Imported& imported) { return Joiner(imported).join(); }

}  // namespace gable
