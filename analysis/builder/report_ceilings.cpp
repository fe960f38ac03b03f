// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/report_ceilings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/base/number_text.h"
#include "analysis/events/quantities.h"
#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/work.h"

namespace gable {
namespace {

// Sums over the counted launches of a device.
struct Counted {
  double cycles = 0, ns = 0;
};

// A pass that has both: the cycles of the SMs and the time they took come from the same launches.
void add_cycles(const MetricList& list, const CounterSums& counters, Counted& counted) {
  std::optional<std::size_t> cycles, duration;
  for (std::size_t i = 0; i < list.names.size() && i < counters.sum.size(); ++i) {
    const MetricRole* role = role_of(list.names[i]);
    if (role == nullptr) continue;
    if (role->quantity == Quantity::sm_cycles) cycles = i;
    if (role->quantity == Quantity::duration_ns) duration = i;
  }
  if (!cycles || !duration || counters.known[*cycles] != counters.known[*duration]) return;
  counted.cycles += counters.sum[*cycles];
  counted.ns += counters.sum[*duration];
}

// Cycles / time, so that long kernels weigh most; whole Hz, as the attributes are.
std::map<std::int32_t, Maybe> measured_clocks(const Profile::State& state) {
  std::map<std::int32_t, Counted> counted;
  for (const KeyRow& row : state.keys.rows()) {
    if (!row.used) continue;
    for (std::size_t phase = 0; phase < row.counters.size() && phase < state.metrics.size();
         ++phase)
      add_cycles(state.metrics[phase], row.counters[phase], counted[row.key.device]);
  }
  std::map<std::int32_t, Maybe> clocks;
  for (const auto& [device, sums] : counted) {
    const double hz = sums.ns > 0 ? std::round(sums.cycles / sums.ns * 1e9) : 0;
    if (std::isfinite(hz) && hz > 0) clocks[device] = hz;
  }
  return clocks;
}

std::string ghz(double hz) { return significant(hz * 1e-9, 4) + " GHz"; }

// Nothing clocks so far from what the driver names: then the counter counts something else.
bool is_possible(const Maybe& measured, const DeviceInfo& device) {
  constexpr double kLowest = 0.05, kHighest = 1.5;
  const auto highest = static_cast<double>(device.sm_clock_max_hz);
  if (!measured || highest <= 0) return true;
  return *measured >= kLowest * highest && *measured <= kHighest * highest;
}

// Another clock than the one that the GPU names as its highest makes other roofs.
void clock_note(const Report& report, const DeviceInfo& device, std::vector<std::string>& notes) {
  constexpr double kSame = 0.01;
  const auto measured = report.sm_clock_measured_hz.find(device.id);
  if (measured == report.sm_clock_measured_hz.end() || !measured->second) return;
  const auto highest = static_cast<double>(device.sm_clock_max_hz);
  if (highest <= 0 || std::abs(*measured->second / highest - 1) <= kSame) return;
  notes.push_back(
      "The SMs of device " + std::to_string(device.id) + " ran at " + ghz(*measured->second) +
      " in counter windows, and their highest clock is " + ghz(highest) +
      ": theoretical roofs of compute and caches are for the clock of the counter windows.");
}

// A roof that was measured holds; where it is above the theoretical one, one of them is wrong.
void measured_notes(const Report& report, const DeviceInfo& device,
                    std::vector<std::string>& notes) {
  std::string names;
  for (const Ceiling& measured : report.ceilings) {
    if (measured.device != device.id || measured.source.rfind("measured", 0) != 0) continue;
    names += (names.empty() ? "" : ", ") + measured.name;
    for (const Ceiling& other : report.ceilings) {
      if (other.device != device.id || other.name != measured.name || preference(other) == 2 ||
          other.clock == SmClock::measured || measured.value <= other.value)
        continue;
      notes.push_back("The measured roof " + measured.name + " of device " +
                      std::to_string(device.id) + " is " +
                      significant((measured.value / other.value - 1) * 100, 2) +
                      " % above the theoretical one: the clock was above the stated one, or the "
                      "measurement is faulty.");
    }
  }
  if (!names.empty()) {
    notes.push_back("Roofs of device " + std::to_string(device.id) +
                    " that `gable ceilings` measured: " + names + ".");
  }
}

// Roofs that no attribute gives.
void add_stated(const std::vector<Ceiling>& stated, std::int32_t device, Report& report) {
  for (const Ceiling& ceiling : stated) {
    const bool known = std::any_of(
        report.ceilings.begin(), report.ceilings.end(),
        [&](const Ceiling& each) { return each.device == device && each.name == ceiling.name; });
    if (ceiling.device == device && !known) report.ceilings.push_back(ceiling);
  }
}

}  // namespace

void fill_ceilings(const Profile::State& state, const std::vector<KernelOfLayer>& kernels,
                   const StoredRoofs& roofs, Report& report) {
  report.sm_clock_measured_hz = measured_clocks(state);
  std::map<std::int32_t, std::set<std::string>> sparse;
  for (const KernelOfLayer& kernel : kernels) {
    for (const auto& [type, operations] : sparse_operations(kernel.row.counters))
      sparse[kernel.row.device].insert(type);
  }
  for (const DeviceInfo& device : report.devices) {
    const auto clock = report.sm_clock_measured_hz.find(device.id);
    Maybe measured = clock == report.sm_clock_measured_hz.end() ? Maybe() : clock->second;
    if (!is_possible(measured, device)) {
      report.run.notes.push_back("The SM clock counted on device " + std::to_string(device.id) +
                                 ", " + ghz(*measured) +
                                 ", is impossible: theoretical roofs are for the highest clock.");
      report.sm_clock_measured_hz.erase(clock);
      measured.reset();
    }
    for (Ceiling& ceiling : theoretical_ceilings(device, measured, sparse[device.id]))
      report.ceilings.push_back(std::move(ceiling));
    for (Ceiling& ceiling : link_ceilings(device)) report.ceilings.push_back(std::move(ceiling));
    add_stated(roofs.stated, device.id, report);
    const MeasuredRoofs* stored = roofs_for(roofs, device, report.run.source == Source::playback);
    if (stored == nullptr) continue;
    for (Ceiling& ceiling : ceilings_of(*stored, device.id))
      report.ceilings.push_back(std::move(ceiling));
  }
}

std::vector<std::string> ceiling_notes(const Report& report) {
  std::vector<std::string> notes;
  for (const DeviceInfo& device : report.devices) {
    clock_note(report, device, notes);
    measured_notes(report, device, notes);
  }
  return notes;
}

}  // namespace gable
