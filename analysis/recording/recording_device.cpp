// SPDX-License-Identifier: Apache-2.0
// Devices of recordings.
#include "analysis/recording/recording.h"
#include "analysis/recording/recording_line.h"

namespace gable {

DeviceInfo default_device() {
  DeviceInfo device;
  device.id = 0;
  device.name = "NVIDIA H200";
  device.chip = "GH100";
  device.compute_major = 9;
  device.compute_minor = 0;
  device.sm_count = 132;
  device.sm_clock_max_hz = 1980000000;
  device.memory_clock_max_hz = 3201000000;
  device.memory_bus_bits = 6144;
  device.memory_bytes = 150754820096;
  device.l2_bytes = 62914560;
  return device;
}

DeviceInfo read_recorded_device(RecordingLine& line) {
  DeviceInfo device = default_device();
  device.id = line.whole<std::int32_t>("device", 0, true, 0, 63);
  device.name = line.text("name", device.name);
  device.chip = line.text("chip", device.chip);
  if (line.has("compute_capability")) {
    const auto pair = line.pair("compute_capability");
    device.compute_major = pair.first;
    device.compute_minor = pair.second;
  }
  device.sm_count = line.whole<int>("sm_count", device.sm_count, false, 1);
  device.sm_clock_max_hz = line.whole<std::uint64_t>("sm_clock_max_hz", device.sm_clock_max_hz);
  device.memory_clock_max_hz =
      line.whole<std::uint64_t>("memory_clock_max_hz", device.memory_clock_max_hz);
  device.memory_bus_bits = line.whole<std::uint32_t>("memory_bus_bits", device.memory_bus_bits);
  device.memory_bytes = line.whole<std::uint64_t>("memory_bytes", device.memory_bytes);
  device.l2_bytes = line.whole<std::uint64_t>("l2_bytes", device.l2_bytes);
  return device;
}

}  // namespace gable
