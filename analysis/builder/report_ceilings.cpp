// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/report_ceilings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/base/number_text.h"
#include "analysis/events/quantities.h"
#include "analysis/events/roof_metrics.h"
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

// What CUPTI said of a metric of a device in counter windows.
struct Stated {
  double highest = 0;            // of the means of the rows
  double by_time = 0, time = 0;  // the mean in which long kernels weigh most, and their time
};

// The metrics from which CUPTI states roofs. A value of 0 tells nothing: no unit moves nothing.
std::map<std::string_view, Stated> stated_metrics(const Profile::State& state,
                                                  std::int32_t device) {
  std::map<std::string_view, Stated> stated;
  for (const KeyRow& row : state.keys.rows()) {
    if (!row.used || row.key.device != device) continue;
    for (std::size_t phase = 0; phase < row.counters.size() && phase < state.metrics.size();
         ++phase) {
      const MetricList& list = state.metrics[phase];
      const CounterSums& counters = row.counters[phase];
      for (std::size_t i = 0; i < list.names.size() && i < counters.sum.size(); ++i) {
        if (!state.roof_metrics.contains(list.names[i]) || !(counters.sum[i] > 0)) continue;
        const double mean = counters.sum[i] / static_cast<double>(counters.known[i]);
        Stated& of = stated[list.names[i]];
        of.highest = std::max(of.highest, mean);
        const double ns = list.duration ? counters.sum[*list.duration] : 0;
        if (!(ns > 0)) continue;
        of.by_time += mean * ns;
        of.time += ns;
      }
    }
  }
  return stated;
}

// Bytes per cycle x cycles per second of the counter windows. The peak is the chip's and the same
// in every launch. `sm_clock`: of the counter windows, or unknown; without it L1 has no roof.
std::vector<Ceiling> stated_roofs(const Profile::State& state, const DeviceInfo& device,
                                  const Maybe& sm_clock) {
  std::vector<Ceiling> roofs;
  const auto stated = stated_metrics(state, device.id);
  for (const RoofMetric& roof : kRoofMetrics) {
    const auto peak = stated.find(roof.peak), clock = stated.find(roof.clock);
    const bool of_sm = roof.clock.empty();
    Maybe hz = of_sm ? sm_clock : std::nullopt;
    if (!of_sm && clock != stated.end() && clock->second.time > 0)
      hz = std::round(clock->second.by_time / clock->second.time);
    if (peak == stated.end() || !hz || !(*hz > 0)) continue;
    const double per_cycle = peak->second.highest;
    roofs.push_back({device.id, CeilingKind::memory, std::string(roof.roof), per_cycle * *hz,
                     "theoretical: " + std::string(kStatedByCupti) + " " +
                         significant(per_cycle, 6) + " byte per cycle (" + std::string(roof.peak) +
                         ") x " + ghz(*hz) + ", the " + (of_sm ? "SM" : std::string(roof.shown)) +
                         " clock of the counter windows",
                     of_sm ? SmClock::measured : SmClock::none});
  }
  return roofs;
}

// Which roofs CUPTI stated: nobody else has looked at them.
void stated_note(const Report& report, const DeviceInfo& device, std::vector<std::string>& notes) {
  std::string names;
  for (const Ceiling& each : report.ceilings)
    if (each.device == device.id && is_stated_by_cupti(each))
      names += (names.empty() ? "" : ", ") + each.name;
  if (names.empty()) return;
  notes.push_back("Roofs of device " + std::to_string(device.id) +
                  " that CUPTI states, at the clocks of the counter windows: " + names + ".");
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
    add_stated(stated_roofs(state, device, measured), device.id, report);
    const MeasuredRoofs* stored = roofs_for(roofs, device, report.run.source == Source::playback);
    if (stored == nullptr) continue;
    for (Ceiling& ceiling : ceilings_of(*stored, device.id)) {
      // An import comes from another machine: the GPU is alike, what it is connected to is not.
      if (ceiling.kind == CeilingKind::link && report.run.source == Source::imported) continue;
      report.ceilings.push_back(std::move(ceiling));
    }
  }
}

std::vector<std::string> ceiling_notes(const Report& report) {
  std::vector<std::string> notes;
  for (const DeviceInfo& device : report.devices) {
    clock_note(report, device, notes);
    measured_notes(report, device, notes);
    stated_note(report, device, notes);
  }
  return notes;
}

}  // namespace gable
