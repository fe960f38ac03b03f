// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/waiting.h"

#include <algorithm>

#include "analysis/base/display.h"
#include "analysis/roofline/roofline.h"
#include "tools/merge/merge.h"

namespace gable {

const char* Waiter::at_least() const {
  return wait_ns + transfer_ns < kFullCoverage * time_ns ? "at least " : "";
}

std::vector<Waiter> waiters(const Report& report) {
  std::vector<Waiter> all;
  const auto add = [&all](std::string name, const std::optional<CollectiveTimes>& times) {
    if (times && times->wait_ns && times->transfer_ns)
      all.push_back({std::move(name), times->time_ns, *times->wait_ns, *times->transfer_ns,
                     times->others_wait_ns.value_or(0)});
  };
  for (const MergedProcess& process : report.run.processes)
    add(process_name(process), process.collectives);
  if (report.run.processes.empty()) {
    for (const LayerRow& layer : report.layers)
      if (!layer.parent) add("GPU " + std::to_string(layer.device), layer.collectives);
  }
  if (all.size() < 2) all.clear();
  return all;
}

std::optional<Waiter> late_one(const std::vector<Waiter>& all) {
  constexpr double kMost = 2.0 / 3, kMuch = 0.1;
  if (all.size() < 2) return std::nullopt;
  const auto last = std::max_element(all.begin(), all.end(), [](const Waiter& a, const Waiter& b) {
    return a.others_wait_ns < b.others_wait_ns;
  });
  double waiting = 0, time = 0;
  for (const Waiter& each : all) {
    waiting += each.wait_ns;
    if (&each != &*last) time += each.time_ns;
  }
  const double for_it = last->others_wait_ns;
  return for_it > kMost * waiting && for_it >= kMuch * time ? std::optional(*last) : std::nullopt;
}

Waiter mean_waiter(const std::vector<Waiter>& all) {
  Waiter mean;
  for (const Waiter& each : all) {
    mean.time_ns += each.time_ns;
    mean.wait_ns += each.wait_ns;
    mean.transfer_ns += each.transfer_ns;
  }
  const auto count = static_cast<double>(all.size());
  mean.time_ns /= count;
  mean.wait_ns /= count;
  mean.transfer_ns /= count;
  return mean;
}

std::string waiting_sentence(const Report& report) {
  const std::vector<Waiter> all = waiters(report);
  if (all.empty()) return {};
  const Waiter mean = mean_waiter(all);
  if (!(mean.time_ns > 0)) return {};
  const std::string each = report.run.processes.empty() ? "GPU" : "process";
  std::string text = "In collectives a " + each + " waits " + mean.at_least() +
                     duration(mean.wait_ns) + " of " + duration(mean.time_ns) +
                     (report.run.unit == Unit::step ? " a step" : "") + " for the others (" +
                     percent(mean.wait_ns / mean.time_ns) + "); the transfer takes " +
                     duration(mean.transfer_ns) + ".";
  if (const auto late = late_one(all))
    text += " " + percent(late->others_wait_ns / (mean.wait_ns * static_cast<double>(all.size()))) +
            " of the waiting is for " + late->name + ".";
  return text;
}

}  // namespace gable
