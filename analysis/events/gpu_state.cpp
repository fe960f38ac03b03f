// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/gpu_state.h"

#include <algorithm>

namespace gable {
namespace {

Maybe of_both(const Maybe& one, const Maybe& other, auto join) {
  return one && other ? Maybe(join(*one, *other)) : std::nullopt;
}

constexpr auto kLeast = [](double a, double b) { return std::min(a, b); };
constexpr auto kMost = [](double a, double b) { return std::max(a, b); };

}  // namespace

void GpuStateSum::Values::add(const Maybe& value) {
  if (!value) return;
  min = count == 0 ? *value : std::min(min, *value);
  max = count == 0 ? *value : std::max(max, *value);
  sum += *value;
  ++count;
}

Maybe GpuStateSum::Values::mean() const {
  return count == 0 ? std::nullopt : Maybe(sum / static_cast<double>(count));
}
Maybe GpuStateSum::Values::least() const { return count == 0 ? std::nullopt : Maybe(min); }
Maybe GpuStateSum::Values::most() const { return count == 0 ? std::nullopt : Maybe(max); }

void GpuStateSum::add(const GpuReading& reading) {
  if (!reading.reasons && !reading.sm_clock_hz && !reading.memory_clock_hz && !reading.power_w &&
      !reading.power_limit_w && !reading.temperature_c)
    return;
  temperature_.add(reading.temperature_c);
  if (reading.power_limit_w) power_limit_w_ = reading.power_limit_w;
  if (reading.idle()) {
    ++idle_;
    return;
  }
  ++samples_;
  sm_clock_.add(reading.sm_clock_hz);
  memory_clock_.add(reading.memory_clock_hz);
  power_.add(reading.power_w);
  if (!reading.reasons) return;
  ++with_reasons_;
  const auto count = [&](std::uint64_t reasons, std::uint64_t& counted) {
    if ((*reading.reasons & reasons) != 0) ++counted;
  };
  using R = GpuReading;
  count(R::kSetByUser, set_by_user_);
  count(R::kPowerCap, power_cap_);
  count(R::kSwThermal, sw_thermal_);
  count(R::kHwThermal, hw_thermal_);
  count(R::kHwSlowdown, hw_slowdown_);
  count(R::kPowerBrake, power_brake_);
  count(R::kSyncBoost, sync_boost_);
  count(R::kPowerCap | R::kSwThermal | R::kHwThermal | R::kHwSlowdown | R::kPowerBrake |
            R::kSyncBoost,
        any_);
}

std::optional<GpuState> GpuStateSum::state() const {
  if (samples_ + idle_ == 0) return std::nullopt;
  GpuState state;
  state.samples = samples_;
  state.idle_samples = idle_;
  state.sm_clock = {sm_clock_.mean(), sm_clock_.least(), sm_clock_.most()};
  state.memory_clock = {memory_clock_.mean(), memory_clock_.least(), memory_clock_.most()};
  state.power_mean_w = power_.mean();
  state.power_max_w = power_.most();
  state.power_limit_w = power_limit_w_;
  state.temperature_max_c = temperature_.most();
  if (with_reasons_ == 0) return state;
  const auto share = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(with_reasons_);
  };
  state.throttled = GpuState::Throttled{
      .any = share(any_),
      .power_cap = share(power_cap_),
      .sw_thermal = share(sw_thermal_),
      .hw_thermal = share(hw_thermal_),
      .hw_slowdown = share(hw_slowdown_),
      .power_brake = share(power_brake_),
      .sync_boost = share(sync_boost_),
  };
  state.clocks_set = share(set_by_user_);
  return state;
}

GpuState together(const GpuState& one, const GpuState& other) {
  const auto samples = static_cast<double>(one.samples + other.samples);
  const auto mean = [&](double a, double b) {
    return (a * static_cast<double>(one.samples) + b * static_cast<double>(other.samples)) /
           samples;
  };
  const auto clock = [&](const GpuState::Clock& a, const GpuState::Clock& b) {
    return GpuState::Clock{of_both(a.mean, b.mean, mean), of_both(a.min, b.min, kLeast),
                           of_both(a.max, b.max, kMost)};
  };
  GpuState both;
  both.samples = one.samples + other.samples;
  both.idle_samples = one.idle_samples + other.idle_samples;
  both.sm_clock = clock(one.sm_clock, other.sm_clock);
  both.memory_clock = clock(one.memory_clock, other.memory_clock);
  both.power_mean_w = of_both(one.power_mean_w, other.power_mean_w, mean);
  both.power_max_w = of_both(one.power_max_w, other.power_max_w, kMost);
  if (one.power_limit_w == other.power_limit_w) both.power_limit_w = one.power_limit_w;
  both.temperature_max_c = of_both(one.temperature_max_c, other.temperature_max_c, kMost);
  both.clocks_set = of_both(one.clocks_set, other.clocks_set, mean);
  if (!one.throttled || !other.throttled) return both;
  const auto& a = *one.throttled;
  const auto& b = *other.throttled;
  both.throttled = GpuState::Throttled{
      .any = mean(a.any, b.any),
      .power_cap = mean(a.power_cap, b.power_cap),
      .sw_thermal = mean(a.sw_thermal, b.sw_thermal),
      .hw_thermal = mean(a.hw_thermal, b.hw_thermal),
      .hw_slowdown = mean(a.hw_slowdown, b.hw_slowdown),
      .power_brake = mean(a.power_brake, b.power_brake),
      .sync_boost = mean(a.sync_boost, b.sync_boost),
  };
  return both;
}

}  // namespace gable
