// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/counted_kernels.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "tools/import/counters/ncu_merge.h"

namespace gable {

void CountedKernels::take(const TraceEvent& event) {
  Counted& counted = counted_.emplace_back();
  counted.start_ns = event.start_ns;
  counted.launch.function =
      imported_.functions.intern(event.name.empty() ? "(unnamed)" : event.name);
  for (const auto& [name, value] : event.counters) {
    if (const auto metric = metrics_.add(name))
      counted.launch.values.emplace_back(metric->index, metric->scale * value);
  }
}

void CountedKernels::finish(const std::vector<TracedCall>& calls, const RangeNest& nest,
                            const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const auto earlier = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  std::stable_sort(counted_.begin(), counted_.end(), earlier);
  std::vector<TracedCall> called;
  std::copy_if(calls.begin(), calls.end(), std::back_inserter(called),
               [](const TracedCall& call) { return call.what == CallName::launch; });
  std::stable_sort(called.begin(), called.end(), earlier);
  const bool same = called.size() == counted_.size();
  std::vector<Imported::CounterLaunch> launches;
  const std::uint32_t unknown = imported_.shapes.intern({});
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    Imported::CounterLaunch& launch = launches.emplace_back(std::move(counted_[i].launch));
    launch.shape = unknown;
    if (same) launch.layer = nest.layer(nest.at(called[i].thread, called[i].start_ns));
  }
  if (!same)
    imported_.notes.push_back(name + " has counters of " + std::to_string(counted_.size()) +
                              " kernels and " + std::to_string(called.size()) +
                              " launches: which layers they belong to is unknown.");
  merge_counters(std::move(launches), path, imported_);
  imported_.counters_from.push_back("CUPTI through PyTorch's profiler (" + name + ")");
}

}  // namespace gable
