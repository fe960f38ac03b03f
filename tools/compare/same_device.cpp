// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/same_device.h"

#include <set>
#include <utility>

namespace gable {
namespace {

std::set<std::int32_t> device_numbers(const Report& report) {
  std::set<std::int32_t> used;
  for (const KernelRow& kernel : report.kernels) used.insert(kernel.device);
  return used;
}

// Changes the numbers of two GPUs for each other: the report may name GPUs that it did not use.
void exchange(Report& report, std::int32_t a, std::int32_t b) {
  const auto change = [a, b](std::int32_t& device) {
    device = device == a ? b : device == b ? a : device;
  };
  for (DeviceInfo& device : report.devices) change(device.id);
  for (Ceiling& ceiling : report.ceilings) change(ceiling.device);
  for (LayerRow& layer : report.layers) change(layer.device);
  for (KernelRow& kernel : report.kernels) change(kernel.device);
  for (CopyRow& copy : report.copies) change(copy.device);
  decltype(report.sm_clock_measured_hz) clocks;
  for (const auto& [device, clock] : report.sm_clock_measured_hz) {
    std::int32_t id = device;
    change(id);
    clocks[id] = clock;
  }
  report.sm_clock_measured_hz = std::move(clocks);
}

}  // namespace

void take_same_device(std::vector<Report>& reports) {
  std::vector<std::int32_t> devices;
  for (const Report& report : reports) {
    const auto used = device_numbers(report);
    if (used.size() != 1) return;
    devices.push_back(*used.begin());
  }
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (devices[i] != devices[0]) exchange(reports[i], devices[i], devices[0]);
}

}  // namespace gable
