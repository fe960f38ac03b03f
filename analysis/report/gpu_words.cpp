// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/gpu_words.h"

#include <algorithm>
#include <cmath>

#include "analysis/base/number_text.h"

namespace gable {
namespace {

struct Reason {
  double GpuState::Throttled::*share;
  const char* words;
  const char* remedy;
};

constexpr const char* kPowerRemedy =
    "a higher power limit helps (nvidia-smi -pl), and runs that are to be compared need an SM "
    "clock "
    "that the limit allows (nvidia-smi -lgc)";
constexpr const char* kHeatRemedy = "look at its cooling";
constexpr const char* kSupplyRemedy = "look at the power supply and the cooling";

constexpr auto kReasons = std::to_array<Reason>({
    {.share = &GpuState::Throttled::power_cap, .words = "power cap", .remedy = kPowerRemedy},
    {.share = &GpuState::Throttled::sw_thermal,
     .words = "SW thermal slowdown",
     .remedy = kHeatRemedy},
    {.share = &GpuState::Throttled::hw_thermal,
     .words = "HW thermal slowdown",
     .remedy = kHeatRemedy},
    {.share = &GpuState::Throttled::power_brake,
     .words = "HW power brake",
     .remedy = kSupplyRemedy},
    {.share = &GpuState::Throttled::hw_slowdown, .words = "HW slowdown", .remedy = kSupplyRemedy},
    {.share = &GpuState::Throttled::sync_boost,
     .words = "sync boost",
     .remedy = "another GPU of its sync boost group holds it; look at the reasons of those"},
});

// What held the clocks down, the longest first.
std::vector<const Reason*> reasons_of(const GpuState::Throttled& throttled) {
  std::vector<const Reason*> reasons;
  for (const Reason& reason : kReasons) {
    // NVML says it beside what it knows more closely.
    const bool again =
        reason.share == &GpuState::Throttled::hw_slowdown &&
        std::max(throttled.hw_thermal, throttled.power_brake) >= throttled.hw_slowdown;
    if (throttled.*reason.share > 0 && !again) reasons.push_back(&reason);
  }
  std::stable_sort(reasons.begin(), reasons.end(), [&](const Reason* a, const Reason* b) {
    return throttled.*(a->share) > throttled.*(b->share);
  });
  return reasons;
}

// There are tens or hundreds of samples: no digits beyond.
std::string share_text(double share) {
  const auto rounded = std::lround(share * 100);
  return (rounded == 0 ? "<1" : std::to_string(rounded)) + " %";
}

std::string ghz(double hz) { return significant(hz * 1e-9, 3) + " GHz"; }

// "1.41 GHz of 1.98 GHz"; empty where one is unknown.
std::string clock_of(const DeviceInfo& device) {
  if (!device.state || !device.state->sm_clock.mean || device.sm_clock_max_hz == 0) return {};
  return ghz(*device.state->sm_clock.mean) + " of " +
         ghz(static_cast<double>(device.sm_clock_max_hz));
}

bool says_setting(const DeviceInfo& device) {
  return device.state && device.state->clocks_set.value_or(0) > kNotableShare;
}

}  // namespace

bool is_throttled(const DeviceInfo& device) {
  return device.state && device.state->throttled && device.state->throttled->any > kNotableShare;
}

std::string throttled_by(const DeviceInfo& device) {
  if (!is_throttled(device)) return {};
  const auto& throttled = *device.state->throttled;
  std::string text;
  for (const Reason* reason : reasons_of(throttled))
    text += (text.empty() ? "" : ", ") + std::string(reason->words) + ", " +
            share_text(throttled.*(reason->share)) + (text.empty() ? " of samples" : "");
  return text;
}

bool has_locked_clock(const DeviceInfo& device) {
  constexpr double kBelow = 0.98;            // of the highest
  constexpr std::uint64_t kFewSamples = 10;  // in which a clock may stand still by chance
  if (!device.state || device.sm_clock_max_hz == 0) return false;
  const GpuState& state = *device.state;
  const auto& clock = state.sm_clock;
  if (!clock.mean || *clock.mean >= kBelow * static_cast<double>(device.sm_clock_max_hz))
    return false;
  return says_setting(device) || (state.throttled && !is_throttled(device) &&
                                  state.samples >= kFewSamples && clock.min == clock.max);
}

std::vector<std::string> gpu_lines(const Report& report) {
  std::vector<std::string> lines;
  for (const DeviceInfo& device : report.devices) {
    const std::string name = "GPU " + std::to_string(device.id);
    const std::string clock = clock_of(device);
    if (is_throttled(device))
      lines.push_back(name + " throttled: " + throttled_by(device) +
                      (clock.empty() ? "" : "; mean SM clock " + clock));
    else if (has_locked_clock(device))
      lines.push_back(name + ": SM clock locked at " + clock);
  }
  return lines;
}

std::vector<std::string> gpu_notes(const Report& report) {
  std::vector<std::string> notes;
  for (const DeviceInfo& device : report.devices) {
    const std::string name = "device " + std::to_string(device.id);
    const std::string clock = clock_of(device);
    if (is_throttled(device)) {
      const auto reasons = reasons_of(*device.state->throttled);
      notes.push_back("The clocks of " + name + " were throttled (" + throttled_by(device) + ")" +
                      (clock.empty() ? "" : ", its mean SM clock was " + clock) + ": " +
                      (reasons.empty() ? kSupplyRemedy : reasons.front()->remedy) + ".");
    } else if (has_locked_clock(device)) {
      notes.push_back("The SM clock of " + name + " was " + clock +
                      (says_setting(device) ? ", held there by a setting"
                                            : " at every sample, so it is probably locked") +
                      ": nvidia-smi -rgc and nvidia-smi -rac unlock it.");
    }
  }
  return notes;
}

}  // namespace gable
