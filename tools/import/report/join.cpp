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

}  // namespace

// What two launches must agree on, and the launches that do.
class Join::Rule {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Group {
    Places counters;
    std::uint64_t kernels = 0, asked = 0;
    bool ordered = false;
    std::uint32_t mean = kNone;
  };

  Rule(const Imported& imported, Names::Make name, bool shape)
      : imported_(imported), names_(imported.functions, name), shape_(shape) {}

  void add(const Launch& launch, std::uint32_t place) {
    const auto group = static_cast<std::uint32_t>(groups.size());
    const auto found = by_key_.try_emplace(key(launch.function, launch.shape), group).first;
    if (found->second == group) groups.emplace_back();
    groups[found->second].counters.push_back(place);
  }
  // nullptr: none of the launches is of such a kernel.
  Group* of(const ImportedKernel& kernel) {
    const std::uint64_t what = (std::uint64_t{kernel.function} << 32) | kernel.shape;
    const auto [known, fresh] = by_kernel_.try_emplace(what, kNone);
    if (fresh) {
      const auto found = by_key_.find(key(kernel.function, kernel.shape));
      if (found != by_key_.end()) known->second = found->second;
    }
    return known->second == kNone ? nullptr : &groups[known->second];
  }

  std::vector<Group> groups;

 private:
  Key key(FunctionId function, std::uint32_t shape) {
    std::array<std::uint32_t, 6> size{};
    if (shape_) {
      const LaunchShape& of = imported_.shapes[shape];
      size = {of.grid.x, of.grid.y, of.grid.z, of.block.x, of.block.y, of.block.z};
    }
    return {names_.of(function), size};
  }

  const Imported& imported_;
  Names names_;
  const bool shape_;
  std::map<Key, std::uint32_t> by_key_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_kernel_;  // by function and shape
};

Join::Join(Imported& imported)
    : imported_(imported),
      counters_(std::move(imported.counters)),
      taken_(counters_.size()),
      singles_(static_cast<std::uint32_t>(counters_.size())) {
  imported.counters.clear();
  bool shapes = false;
  for (const Launch& launch : counters_)
    shapes = shapes || imported_.shapes[launch.shape].grid.x != 0;
  // Another grid is other work: where both have one, names alone say nothing.
  apply(&common_name, shapes);
  apply(&base_name, shapes);
  tell();
}

Join::~Join() = default;

// Of what no rule before has joined.
void Join::apply(Names::Make name, bool shape) {
  auto rule = std::make_unique<Rule>(imported_, name, shape);
  for (std::uint32_t i = 0; i < singles_; ++i)
    if (!taken_[i]) rule->add(counters_[i], i);
  if (rule->groups.empty()) return;
  const auto each_kernel = [&](auto take) {
    for (auto* kernel = imported_.kernels.first(); kernel != nullptr;
         kernel = imported_.kernels.next()) {
      const bool joined = std::any_of(rules_.begin(), rules_.end(), [&](const auto& before) {
        const Rule::Group* group = before->of(*kernel);
        return group != nullptr && group->kernels > 0;
      });
      if (joined) continue;
      if (Rule::Group* group = rule->of(*kernel)) take(*group);
    }
  };
  each_kernel([](Rule::Group& group) { ++group.kernels; });
  // Whether both files have the launches that can be joined in the same order.
  std::vector<std::pair<std::uint32_t, const Rule::Group*>> order;
  for (const Rule::Group& group : rule->groups)
    if (group.kernels == group.counters.size())
      for (const std::uint32_t i : group.counters) order.emplace_back(i, &group);
  std::sort(order.begin(), order.end());
  std::size_t next = 0;
  bool ordered = true;
  each_kernel([&](const Rule::Group& group) {
    if (group.kernels != group.counters.size()) return;
    ordered = ordered && order[next].second == &group;
    ++next;
  });
  for (Rule::Group& group : rule->groups) {
    if (group.kernels == 0) continue;
    for (const std::uint32_t i : group.counters) taken_[i] = true;
    group.ordered = group.kernels == group.counters.size() && (ordered || group.kernels == 1);
    if (!group.ordered) group.mean = mean_of(group.counters);
    (group.ordered ? by_order_ : by_sums_) += group.kernels;
  }
  rules_.push_back(std::move(rule));
}

const Launch* Join::of(const ImportedKernel& kernel) {
  for (const auto& rule : rules_) {
    Rule::Group* group = rule->of(kernel);
    if (group == nullptr || group->kernels == 0) continue;
    return &counters_[group->ordered ? group->counters[group->asked++] : group->mean];
  }
  return nullptr;
}

std::uint32_t Join::mean_of(const std::vector<std::uint32_t>& counters) {
  std::map<std::uint32_t, std::pair<double, std::uint64_t>> sums;
  for (const std::uint32_t i : counters) {
    for (const auto& [metric, value] : counters_[i].values) {
      auto& [sum, count] = sums[metric];
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
  }
  Launch mean = counters_[counters.front()];
  mean.values.clear();
  for (const auto& [metric, sum] : sums)
    mean.values.emplace_back(metric,
                             sum.second > 0 ? sum.first / static_cast<double>(sum.second) : NAN);
  counters_.push_back(std::move(mean));
  return static_cast<std::uint32_t>(counters_.size() - 1);
}

void Join::tell() {
  const auto kernels = imported_.kernels.size();
  const std::uint64_t joined = by_order_ + by_sums_;
  std::string text = "Counters are joined to times by name, grid, block and order for " +
                     std::to_string(by_order_) + " of " + std::to_string(kernels) + " launches";
  if (by_sums_ > 0) {
    text += "; for " + std::to_string(by_sums_) +
            " the files differ in order or number, and each has the mean of its kernel's counted "
            "launches, by name with sums";
  }
  if (joined < kernels) text += "; " + std::to_string(kernels - joined) + " have none";
  imported_.notes.push_back(text + ".");
  const auto left = static_cast<std::uint64_t>(std::count(taken_.begin(), taken_.end(), false));
  if (left > 0) {
    imported_.notes.push_back("The counters of " + std::to_string(left) +
                              (left == 1 ? " launch" : " launches") +
                              " belong to no kernel with a time, and are left out.");
  }
}

}  // namespace gable
