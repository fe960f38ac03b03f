// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/merge_devices.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace gable {

std::int32_t MergedDevices::of(std::size_t report, std::int32_t device) const {
  return kind.at({report, device});
}

namespace {

// What GPUs of one kind have in common: the slots of a machine may differ.
void keep_common(const DeviceLinks& one, DeviceLinks& all) {
  const auto keep = [](const auto& a, auto& b) {
    if (a != b) b = {};
  };
  keep(one.pcie.generation, all.pcie.generation);
  keep(one.pcie.width, all.pcie.width);
  keep(one.pcie_max.generation, all.pcie_max.generation);
  keep(one.pcie_max.width, all.pcie_max.width);
  keep(one.nvlinks, all.nvlinks);
  keep(one.nvlink_version, all.nvlink_version);
}

}  // namespace

MergedDevices merge_devices(const std::vector<Report>& reports, Report& out) {
  MergedDevices merged;
  std::map<std::pair<std::string, int>, std::int32_t> kinds;
  struct CeilingSum {
    Ceiling first;
    double sum = 0;
    std::size_t count = 0;
  };
  std::map<std::tuple<std::int32_t, std::string, SmClock, bool>, CeilingSum> ceilings;
  std::map<std::int32_t, std::pair<Maybe, double>> clocks;  // sum, where all know it, and number
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    // A GPU that a process could have used and did not has no part in the means.
    std::set<std::int32_t> used;
    for (const LayerRow& layer : report.layers) used.insert(layer.device);
    for (const CopyRow& copy : report.copies) used.insert(copy.device);
    for (const std::int32_t id : used) {
      DeviceInfo device;
      for (const DeviceInfo& each : report.devices) {
        if (each.id == id) device = each;
      }
      const auto next = static_cast<std::int32_t>(kinds.size());
      const auto [found, fresh] = kinds.try_emplace({device.name, device.sm_count}, next);
      const std::int32_t kind = found->second;
      if (fresh) {
        device.id = kind;
        out.devices.push_back(device);
      } else {
        DeviceInfo& all = out.devices[static_cast<std::size_t>(kind)];
        keep_common(device.links, all.links);
        all.state = all.state && device.state ? std::optional(together(*all.state, *device.state))
                                              : std::nullopt;
      }
      merged.kind[{i, id}] = kind;
      merged.gpus[kind] += 1;
      for (const Ceiling& ceiling : report.ceilings) {
        if (ceiling.device != id) continue;
        const bool measured = ceiling.source.rfind("measured", 0) == 0;
        CeilingSum& sum = ceilings[{kind, ceiling.name, ceiling.clock, measured}];
        if (sum.count++ == 0) sum.first = ceiling;
        sum.sum += ceiling.value;
      }
      const auto clock = report.sm_clock_measured_hz.find(id);
      auto& [sum, count] = clocks.try_emplace(kind, 0, 0).first->second;
      const bool known = clock != report.sm_clock_measured_hz.end() && clock->second;
      sum = sum && known ? Maybe(*sum + *clock->second) : std::nullopt;
      count += 1;
    }
  }
  for (const auto& [key, sum] : ceilings) {
    Ceiling ceiling = sum.first;
    ceiling.device = std::get<0>(key);
    const double mean = sum.sum / static_cast<double>(sum.count);
    if (mean != ceiling.value) {
      ceiling.source += "; mean of " + std::to_string(sum.count) + " GPUs";
      ceiling.value = mean;
    }
    out.ceilings.push_back(std::move(ceiling));
  }
  for (const auto& [kind, sum] : clocks) {
    if (sum.first) out.sm_clock_measured_hz[kind] = *sum.first / sum.second;
  }
  return merged;
}

}  // namespace gable
