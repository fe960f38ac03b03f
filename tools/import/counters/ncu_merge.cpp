// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_merge.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "tools/import/records/same_kernels.h"

namespace gable {
namespace {

using Launch = Imported::CounterLaunch;

SameKernels::Functions functions_of(const std::vector<Launch>& launches) {
  SameKernels::Functions functions;
  for (const Launch& launch : launches) functions.insert(launch.function);
  return functions;
}

// A value that both have is of the first.
void complete(Launch& launch, const std::vector<std::pair<std::uint32_t, double>>& more) {
  for (const auto& value : more) {
    const bool there = std::any_of(launch.values.begin(), launch.values.end(),
                                   [&](const auto& each) { return each.first == value.first; });
    if (!there) launch.values.push_back(value);
  }
}

using Key = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;
Key key_of(const Launch& launch, const SameKernels& same) {
  return {same.of(launch.function), launch.shape, launch.device};
}

using Places = std::vector<std::size_t>;

// Of a metric that a launch lacks, the mean is over those that have it.
std::vector<std::pair<std::uint32_t, double>> means_of(const std::vector<Launch>& launches,
                                                       const Places& places) {
  std::map<std::uint32_t, std::pair<double, std::uint64_t>> sums;
  for (const std::size_t i : places) {
    for (const auto& [metric, value] : launches[i].values) {
      auto& [sum, count] = sums[metric];
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
  }
  std::vector<std::pair<std::uint32_t, double>> means;
  means.reserve(sums.size());
  for (const auto& [metric, sum] : sums)
    means.emplace_back(metric, sum.second > 0 ? sum.first / static_cast<double>(sum.second) : NAN);
  return means;
}

std::set<std::uint32_t> metrics_of(const std::vector<Launch>& launches, const Places& places) {
  std::set<std::uint32_t> metrics;
  for (const std::size_t i : places)
    for (const auto& [metric, value] : launches[i].values) metrics.insert(metric);
  return metrics;
}

// Metrics that every file is asked for, such as the duration, tie them together.
bool has_fresh_metrics(const std::vector<Launch>& from, const Places& there,
                       const std::vector<Launch>& to, const Places& here) {
  const std::set<std::uint32_t> more = metrics_of(from, there), known = metrics_of(to, here);
  return !std::includes(known.begin(), known.end(), more.begin(), more.end());
}

// Launches of one kernel, grid and block in another order or number than in the files before.
struct ByKey {
  std::size_t in_order = 0, as_means = 0, others = 0;  // launches
};

// Where `from` has other metrics of a kernel, they are of the launches in `to`: of each its own
// where both have as many, else the mean. What stays in `from` is further launches.
ByKey complete_by_key(std::vector<Launch>& from, std::vector<Launch>& to, const SameKernels& same) {
  std::map<Key, std::pair<Places, Places>> groups;  // of from, of to
  for (std::size_t i = 0; i < from.size(); ++i) groups[key_of(from[i], same)].first.push_back(i);
  for (std::size_t i = 0; i < to.size(); ++i) groups[key_of(to[i], same)].second.push_back(i);
  ByKey done;
  std::vector<bool> taken(from.size(), false);
  for (const auto& [key, group] : groups) {
    const auto& [there, here] = group;
    if (there.empty()) continue;
    if (here.empty() || !has_fresh_metrics(from, there, to, here)) {
      done.others += there.size();
      continue;
    }
    for (const std::size_t i : there) taken[i] = true;
    if (there.size() == here.size()) {
      for (std::size_t i = 0; i < here.size(); ++i) complete(to[here[i]], from[there[i]].values);
      done.in_order += here.size();
      continue;
    }
    const auto means = means_of(from, there);
    for (const std::size_t i : here) complete(to[i], means);
    done.as_means += here.size();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (taken[i]) continue;
    if (kept != i) from[kept] = std::move(from[i]);
    ++kept;
  }
  from.resize(kept);
  return done;
}

std::string note_of(const std::string& file, const ByKey& done) {
  std::string text = std::filesystem::path(file).filename().string() +
                     " has the kernels of the files before it in another order or number: its "
                     "counters are joined by name, grid and block";
  const auto launches = [](std::size_t count) {
    return std::to_string(count) + (count == 1 ? " launch" : " launches");
  };
  if (done.in_order > 0) text += ", in their order for " + launches(done.in_order);
  if (done.as_means > 0) text += ", as means for " + launches(done.as_means);
  if (done.others > 0)
    text += "; " + launches(done.others) + (done.others == 1 ? " is" : " are") +
            " further ones: of kernels that those files lack, or with the same metrics again";
  return text + ".";
}

std::string unclear_note(const std::string& file, std::ptrdiff_t launches) {
  return "Which kernels of the files before it " + std::to_string(launches) +
         (launches == 1 ? " launch" : " launches") + " of " +
         std::filesystem::path(file).filename().string() +
         " belong to is unknown, because their names do not tell instances of a template apart: "
         "they are rows of their own. Count all files with ncu --print-kernel-base demangled.";
}

}  // namespace

void merge_counters(std::vector<Launch> launches, const std::string& file, Imported& imported) {
  std::vector<Launch>& there = imported.counters;
  if (there.empty()) {
    there = std::move(launches);
    return;
  }
  const bool empty = std::all_of(launches.begin(), launches.end(),
                                 [](const Launch& launch) { return launch.values.empty(); });
  if (empty) return;  // attributes of the GPU alone
  const SameKernels same(imported.functions, functions_of(there), functions_of(launches));
  const bool same_order =
      launches.size() == there.size() && std::equal(launches.begin(), launches.end(), there.begin(),
                                                    [&](const Launch& a, const Launch& b) {
                                                      return key_of(a, same) == key_of(b, same);
                                                    });
  const ByKey done = complete_by_key(launches, there, same);
  const bool joined = done.in_order + done.as_means > 0;
  if (joined && (!same_order || done.others > 0)) imported.notes.push_back(note_of(file, done));
  const auto unclear = std::count_if(launches.begin(), launches.end(), [&](const Launch& launch) {
    return same.is_unclear(launch.function);
  });
  if (unclear > 0) imported.notes.push_back(unclear_note(file, unclear));
  std::move(launches.begin(), launches.end(), std::back_inserter(there));
}

}  // namespace gable
