// SPDX-License-Identifier: Apache-2.0
// Whether numbers of two reports may be held against each other.
#include <algorithm>
#include <map>
#include <set>

#include "tools/compare/compare_match.h"

namespace gable {
namespace {

std::map<std::int32_t, const DeviceInfo*> used_devices(const Report& report) {
  std::set<std::int32_t> used;
  for (const KernelRow& kernel : report.kernels) used.insert(kernel.device);
  std::map<std::int32_t, const DeviceInfo*> out;
  for (const DeviceInfo& device : report.devices) {
    if (used.contains(device.id)) out[device.id] = &device;
  }
  return out;
}

bool is_playback(const Report& report) { return report.run.source == "playback"; }

void compare_devices(const Report& a, const Report& b, Comparison& out) {
  const auto of_a = used_devices(a), of_b = used_devices(b);
  for (const auto& [id, device] : of_a) {
    const auto other = of_b.find(id);
    if (other == of_b.end()) continue;
    const DeviceInfo& second = *other->second;
    if (device->name != second.name || device->sm_count != second.sm_count) {
      out.obstacles.push_back("A ran on " + device->name + " (" + std::to_string(device->sm_count) +
                              " SMs), B on " + second.name + " (" +
                              std::to_string(second.sm_count) + " SMs).");
      return;
    }
    if (device->sm_clock_max_hz != second.sm_clock_max_hz ||
        device->memory_clock_max_hz != second.memory_clock_max_hz)
      out.remarks.push_back("The clocks of device " + std::to_string(id) + " differ.");
  }
  if (of_a.size() != of_b.size()) {
    out.obstacles.push_back("A ran on " + std::to_string(of_a.size()) + " GPUs, B on " +
                            std::to_string(of_b.size()) + ".");
  }
}

// A clock measured in the counter windows that differs explains times that do.
void compare_clocks(const Report& a, const Report& b, Comparison& out) {
  constexpr double kSame = 0.02;
  for (const auto& [id, clock] : a.sm_clock_measured_hz) {
    const auto other = b.sm_clock_measured_hz.find(id);
    if (!clock || other == b.sm_clock_measured_hz.end() || !other->second || *clock <= 0) continue;
    const double ratio = *other->second / *clock;
    if (ratio > 1 - kSame && ratio < 1 + kSame) continue;
    out.remarks.push_back("The SM clock of device " + std::to_string(id) + " was measured as " +
                          std::to_string(static_cast<int>(*clock * 1e-6)) + " MHz in A and " +
                          std::to_string(static_cast<int>(*other->second * 1e-6)) +
                          " MHz in B: times move with it.");
  }
}

}  // namespace

void say_how_comparable(const Report& a, const Report& b, Comparison& out) {
  if (is_playback(a) != is_playback(b)) {
    out.obstacles.push_back(std::string("One is a playback and the other is of hardware: ") +
                            (is_playback(a) ? "A" : "B") + " is the playback.");
  } else if (a.run.source != b.run.source) {
    out.remarks.push_back("A is from " + a.run.source + ", B from " + b.run.source + ".");
  }
  if (a.run.unit != b.run.unit) {
    out.obstacles.push_back("Numbers of A are per " + a.run.unit + ", those of B per " +
                            b.run.unit + ".");
  }
  compare_devices(a, b, out);
  compare_clocks(a, b, out);
  const bool common = std::any_of(out.layers.begin(), out.layers.end(), [](const ComparedRow& row) {
    return row.match == Match::same || row.match == Match::renamed;
  });
  if (!common) out.obstacles.emplace_back("They have no layer with kernels in common.");
  for (const auto& [name, report] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    if (!report->run.complete)
      out.remarks.push_back(std::string(name) + " is a snapshot of a program that still ran.");
    if (report->run.lost.records + report->run.lost.unattributed_launches > 0)
      out.remarks.push_back(std::string(name) + " lost records: its sums may be too small.");
  }
  if (a.run.unit == "run" && b.run.unit == "run") {
    out.remarks.emplace_back(
        "Numbers are of whole runs: they agree only where both runs did as much work.");
  }
}

}  // namespace gable
