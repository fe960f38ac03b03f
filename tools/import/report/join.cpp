// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/join.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tools/import/records/same_kernels.h"

namespace gable {
namespace {

using Launch = Imported::CounterLaunch;
using Places = std::vector<std::uint32_t>;

// Kernels that may be the same: their name, and grid and block where both files have them.
using Key = std::tuple<std::uint32_t, std::array<std::uint32_t, 6>>;

}  // namespace

// Launches that agree in what two must.
class Join::Groups {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Group {
    Places counters;
    std::uint64_t kernels = 0, asked = 0;
    bool ordered = false;
    std::uint32_t mean = kNone;
  };

  Groups(const Imported& imported, SameKernels kernels, bool shape)
      : same(std::move(kernels)), imported_(imported), shape_(shape) {}

  void add(const Launch& launch, std::uint32_t place) {
    const auto group = static_cast<std::uint32_t>(all.size());
    const auto found = by_key_.try_emplace(key(launch.function, launch.shape), group).first;
    if (found->second == group) all.emplace_back();
    all[found->second].counters.push_back(place);
  }
  // nullptr: none of the launches is of such a kernel.
  Group* of(const ImportedKernel& kernel) {
    const std::uint64_t what = (std::uint64_t{kernel.function} << 32) | kernel.shape;
    const auto [known, fresh] = by_kernel_.try_emplace(what, kNone);
    if (fresh) {
      const auto found = by_key_.find(key(kernel.function, kernel.shape));
      if (found != by_key_.end()) known->second = found->second;
    }
    return known->second == kNone ? nullptr : &all[known->second];
  }

  std::vector<Group> all;
  const SameKernels same;

 private:
  Key key(FunctionId function, std::uint32_t shape) {
    std::array<std::uint32_t, 6> size{};
    if (shape_) {
      const LaunchShape& of = imported_.shapes[shape];
      size = {of.grid.x, of.grid.y, of.grid.z, of.block.x, of.block.y, of.block.z};
    }
    return {same.of(function), size};
  }

  const Imported& imported_;
  const bool shape_;
  std::map<Key, std::uint32_t> by_key_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_kernel_;  // by function and shape
};

Join::Join(Imported& imported)
    : imported_(imported),
      counters_(std::exchange(imported.counters, {})),
      taken_(counters_.size()),
      singles_(static_cast<std::uint32_t>(counters_.size())) {
  bool shapes = false;
  for (const Launch& launch : counters_)
    shapes = shapes || imported_.shapes[launch.shape].grid.x != 0;
  // Another grid is other work: where both have one, names alone say nothing.
  const auto& timed = imported.kernels.functions();
  SameKernels::Functions counted;
  for (const Launch& launch : counters_) counted.insert(launch.function);
  groups_ = std::make_unique<Groups>(
      imported, SameKernels(imported.functions, {timed.begin(), timed.end()}, counted), shapes);
  join(*groups_);
  tell();
}

Join::~Join() = default;

void Join::join(Groups& groups) {
  for (std::uint32_t i = 0; i < singles_; ++i) groups.add(counters_[i], i);
  if (groups.all.empty()) return;
  const auto each_kernel = [&](auto take) {
    for (auto* kernel = imported_.kernels.first(); kernel != nullptr;
         kernel = imported_.kernels.next())
      if (Groups::Group* group = groups.of(*kernel)) take(*group);
  };
  each_kernel([](Groups::Group& group) { ++group.kernels; });
  // Whether both files have the launches that can be joined in the same order.
  std::vector<std::pair<std::uint32_t, const Groups::Group*>> order;
  for (const Groups::Group& group : groups.all)
    if (group.kernels == group.counters.size())
      for (const std::uint32_t i : group.counters) order.emplace_back(i, &group);
  std::sort(order.begin(), order.end());
  std::size_t next = 0;
  bool ordered = true;
  each_kernel([&](const Groups::Group& group) {
    if (group.kernels != group.counters.size()) return;
    ordered = ordered && order[next].second == &group;
    ++next;
  });
  for (Groups::Group& group : groups.all) {
    if (group.kernels == 0) continue;
    for (const std::uint32_t i : group.counters) taken_[i] = true;
    group.ordered = group.kernels == group.counters.size() && (ordered || group.kernels == 1);
    if (!group.ordered) group.mean = mean_of(group.counters);
    (group.ordered ? by_order_ : by_sums_) += group.kernels;
  }
}

const Launch* Join::of(const ImportedKernel& kernel) {
  Groups::Group* group = groups_->of(kernel);
  if (group == nullptr || group->kernels == 0) return nullptr;
  return &counters_[group->ordered ? group->counters[group->asked++] : group->mean];
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
            " the files differ in order or number, so each has the mean of its kernel's counted "
            "launches, by name and sums";
  }
  if (joined < kernels) text += "; " + std::to_string(kernels - joined) + " have none";
  imported_.notes.push_back(text + ".");
  std::uint64_t left = 0, unclear = 0;
  for (std::uint32_t i = 0; i < singles_; ++i)
    if (!taken_[i]) ++(groups_->same.is_unclear(counters_[i].function) ? unclear : left);
  const auto launches = [](std::uint64_t count) {
    return "The counters of " + std::to_string(count) + (count == 1 ? " launch" : " launches");
  };
  if (left > 0)
    imported_.notes.push_back(launches(left) +
                              " belong to no kernel with a time, and are left out.");
  if (unclear > 0)
    imported_.notes.push_back(launches(unclear) +
                              " are left out: by name they could belong to several kernels, or "
                              "several kernels' counters to one; names with template arguments and "
                              "parameters (ncu --print-kernel-base demangled) tell them apart.");
}

}  // namespace gable
