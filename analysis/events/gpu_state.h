// SPDX-License-Identifier: Apache-2.0
// The state of a GPU while it was profiled, from occasional readings: its clocks, its power, and
// what limited its clocks.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/base/maybe.h"

namespace gable {

// One reading; values that could not be read are unknown.
struct GpuReading {
  // Why clocks are not higher: nvmlClocksEventReasons, as bits.
  enum Reason : std::uint64_t {
    kIdle = 0x1,
    kSetByUser = 0x2,  // application clocks
    kPowerCap = 0x4,
    kHwSlowdown = 0x8,
    kSyncBoost = 0x10,
    kSwThermal = 0x20,
    kHwThermal = 0x40,
    kPowerBrake = 0x80,
    kDisplay = 0x100,  // clocks that a display needs
  };
  Maybe sm_clock_hz, memory_clock_hz, power_w, power_limit_w, temperature_c;
  std::optional<std::uint64_t> reasons;

  [[nodiscard]] bool idle() const { return reasons && (*reasons & kIdle) != 0; }
};

// Shares of the samples in which each cause limited the clocks.
struct GpuThrottling {
  double any = 0;
  double power_cap = 0, sw_thermal = 0, hw_thermal = 0, hw_slowdown = 0, power_brake = 0;
  double sync_boost = 0;
  friend bool operator==(const GpuThrottling&, const GpuThrottling&) = default;
};

// A summary of readings. Only those taken while the GPU was busy count, as far as NVML tells.
struct GpuState {
  struct Clock {
    Maybe mean, min, max;  // Hz
    friend bool operator==(const Clock&, const Clock&) = default;
  };
  using Throttled = GpuThrottling;
  std::uint64_t samples = 0, idle_samples = 0;  // samples with the GPU busy, and idle ones
  Clock sm_clock, memory_clock;
  Maybe power_mean_w, power_max_w, power_limit_w;
  Maybe temperature_max_c;
  std::optional<Throttled> throttled;
  Maybe clocks_set;  // share of samples in which a user's setting limited the clocks
  friend bool operator==(const GpuState&, const GpuState&) = default;
};

// Sums readings into a summary.
class GpuStateSum {
 public:
  void add(const GpuReading& reading);
  // The summary; nothing without a reading.
  [[nodiscard]] std::optional<GpuState> state() const;

 private:
  struct Values {
    double sum = 0, min = 0, max = 0;
    std::uint64_t count = 0;
    void add(const Maybe& value);
    [[nodiscard]] Maybe mean() const;
    [[nodiscard]] Maybe least() const;
    [[nodiscard]] Maybe most() const;
  };
  std::uint64_t samples_ = 0, idle_ = 0;
  Values sm_clock_, memory_clock_, power_, temperature_;
  Maybe power_limit_w_;             // the last one read
  std::uint64_t with_reasons_ = 0;  // samples with known reasons
  std::uint64_t set_by_user_ = 0;   // of these, samples limited by a user's setting
  std::uint64_t any_ = 0, power_cap_ = 0, sw_thermal_ = 0, hw_thermal_ = 0, hw_slowdown_ = 0;
  std::uint64_t power_brake_ = 0, sync_boost_ = 0;
};

// The states of two GPUs of a kind as one. A value unknown for one is unknown; every sample weighs
// the same in means.
[[nodiscard]] GpuState together(const GpuState& one, const GpuState& other);

}  // namespace gable
