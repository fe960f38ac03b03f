// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/report_builder.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "analysis/builder/kernel_rows.h"
#include "analysis/builder/layer_rows.h"
#include "analysis/builder/memory_rows.h"
#include "analysis/builder/model_rows.h"
#include "analysis/builder/number_notes.h"
#include "analysis/builder/operator_rows.h"
#include "analysis/builder/report_ceilings.h"
#include "analysis/builder/step_answers.h"
#include "analysis/builder/unit_scale.h"
#include "analysis/events/lost_counts.h"
#include "analysis/profile/launch_latency.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/gpu_words.h"
#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/occupancy.h"
#include "analysis/roofline/roofline.h"

namespace gable {
namespace {

constexpr double kAhead = 1.1;  // times the host's step: the GPU's is longer

std::uint64_t kept(const Profile::State& state, PhaseKind kind) {
  return state.kept_windows[kind_index(kind)];
}

LostCounts lost_counts(const Profile::State& state, const LostCounts& base) {
  LostCounts lost = state.lost;
  lost += base;
  lost.folded_keys += state.keys.folded() + state.functions.folded();
  lost.folded_layers += state.layers.folded();
  return lost;
}

void fill_basis(const Profile::State& state, const UnitScale& unit, Basis& basis,
                std::string& note) {
  basis = Basis::extrapolated;
  if (!unit.step) {
    if (state.launches == 0) {
      note = "no launch was seen";
      return;
    }
    std::uint64_t timed = 0;
    for (const KeyRow& row : state.keys.rows()) {
      if (state.graphs.of_function(row.key.function) == 0 && !state.is_range(row.key))
        timed += row.time.count();
    }
    if (timed == state.launches) basis = Basis::measured;
    note = timed == state.launches
               ? "every launch was timed"
               : std::to_string(timed) + " of " + std::to_string(state.launches) +
                     " launches were timed; each kernel's mean stands for all its launches";
    return;
  }
  const std::string steps = std::to_string(state.classes.steps());
  if (unit.launches_from == PhaseKind::off) {
    note = "no step was measured; launches counted in " + steps + " steps";
    return;
  }
  const std::uint64_t windows = kept(state, unit.launches_from);
  if (windows == state.classes.steps()) {
    basis = Basis::measured;
    note = "every step seen was measured";
    return;
  }
  note = std::to_string(windows) + " of " + steps + " steps seen";
  if (state.classes.places() > 1) {
    note += ", weighted by launch sequence, stand for all";
  } else {
    note += windows == 1 ? " was measured and stands" : " were measured and stand";
    note += " for all of them";
  }
  note += "; later steps are not counted";
}

// The whole program over all devices: a step's mean times the steps seen, or all launches counted.
void fill_total(const Profile::State& state, const UnitScale& unit, Report& report) {
  auto& total = report.run.total;
  const double times = unit.step ? static_cast<double>(state.classes.steps()) : 1.0;
  bool rates_known = true;
  double flops = 0, seconds = 0;
  for (const LayerRow& root : report.layers) {
    if (root.depth != 0) continue;
    if (root.flops.total) total.flops = total.flops.value_or(0) + *root.flops.total * times;
    if (root.bytes.dram) total.bytes_dram = total.bytes_dram.value_or(0) + *root.bytes.dram * times;
    if (root.time_total_ns)
      total.gpu_time_ns = total.gpu_time_ns.value_or(0) + *root.time_total_ns * times;
    rates_known = rates_known && root.flops_per_s && root.time_total_ns;
    if (!rates_known) continue;
    flops += *root.flops_per_s * *root.time_total_ns;
    seconds += *root.time_total_ns;
  }
  if (rates_known && seconds > 0) total.flops_per_s = flops / seconds;

  fill_basis(state, unit, total.basis, total.basis_note);
}

void fill_overhead(const Profile::State& state, RunInfo& run) {
  if (state.overhead_ns > 0) run.overhead.callbacks_ns = static_cast<double>(state.overhead_ns);
  for (const auto& [phase, wall] : state.window_wall)
    run.overhead.window_wall_ns[to_string(phase)] = wall.mean();
  // A step is compared with warm-up steps of its own launch sequence only.
  std::map<Phase, std::pair<double, double>> walls;  // measured, undisturbed
  std::set<Phase> ahead;
  for (const auto& [key, wall] : state.class_wall) {
    const auto& [phase, sequence] = key;
    const auto plain = state.class_wall.find({Phase{PhaseKind::warmup}, sequence});
    if (!measures(phase.kind) || plain == state.class_wall.end()) continue;
    const auto place = state.classes.known_place(sequence);
    const Maybe gpu_ns = place && *place < state.class_sums.size()
                             ? state.class_sums[*place].length().mean()
                             : std::nullopt;
    const double plain_ns = *plain->second.median();
    if (gpu_ns && *gpu_ns > kAhead * plain_ns) ahead.insert(phase);
    walls[phase].first += static_cast<double>(wall.sum());
    walls[phase].second += plain_ns * static_cast<double>(wall.count());
  }
  for (const auto& [phase, wall] : walls) {
    if (wall.second > 0) run.overhead.slowdown[to_string(phase)] = wall.first / wall.second;
  }
  // A border at which the host is far ahead of the GPU comes too early, and a window that is
  // counted waits for the steps before it: nothing tells what of its time is its own.
  for (const Phase phase : ahead) run.overhead.slowdown[to_string(phase)] = std::nullopt;
}

StepClasses::Mean mean_of(const Moments& each) {
  return {static_cast<double>(each.sum()), each.count()};
}

// `of`: the moments of a class.
template <typename Of>
Maybe mean_over_steps(const Profile::State& state, Of of) {
  return state.per_step([&of](const ClassSums& sums) { return mean_of(of(sums)); });
}

// Of all steps: how the classes spread within themselves and about the mean.
template <typename Of>
Maybe stddev_over_steps(const Profile::State& state, Of of, Maybe mean) {
  if (state.classes.places() == 1) {
    return state.class_sums.empty() ? std::nullopt : of(state.class_sums.front()).stddev();
  }
  const Maybe variance = state.per_step([&](const ClassSums& sums) {
    const Moments& moments = of(sums);
    const auto windows = static_cast<double>(moments.count());
    const double within = moments.stddev().value_or(0);
    const double apart = mean.value_or(0) - moments.mean().value_or(0);
    return StepClasses::Mean{(within * within + apart * apart) * windows, moments.count()};
  });
  return variance ? Maybe(std::sqrt(*variance)) : std::nullopt;
}

void fill_step(const Profile::State& state, const UnitScale& unit, Step& step) {
  if (!unit.step) return;
  // One step alone may be the program's first, of which nothing follows for others.
  const bool alone = state.classes.steps() < 2;
  const auto length = [alone](const ClassSums& sums) -> const Moments& {
    return alone ? sums.wall : sums.length();
  };
  const auto host = [](const ClassSums& sums) -> const Moments& { return sums.host; };
  step.wall_mean_ns = mean_over_steps(state, length);
  step.wall_stddev_ns = stddev_over_steps(state, length, step.wall_mean_ns);
  step.host_mean_ns = mean_over_steps(state, host);
  step.host_stddev_ns = stddev_over_steps(state, host, step.host_mean_ns);
  step.busy_ns =
      mean_over_steps(state, [](const ClassSums& sums) -> const Moments& { return sums.busy; });
  step.idle_ns = mean_over_steps(state, [alone](const ClassSums& sums) -> const Moments& {
    return alone ? sums.idle : sums.idle_time();
  });
  if (state.copies_lost) return;
  step.copy_ns = state.per_step([](const ClassSums& sums) {
    std::uint64_t copy_ns = 0;
    for (const auto& [group, sum] : sums.copies) copy_ns += sum.time_ns;
    return StepClasses::Mean{static_cast<double>(copy_ns), sums.copy_windows};
  });
}

// Where nothing was launched right after a wait, recorded steps may tell.
Maybe launch_latency(const Profile::State& state) {
  if (const Maybe after_waits = state.launch_latency.median()) return after_waits;
  Moments recorded;
  for (const StepRecord& record : state.step_records) add_launch_latencies(record, recorded);
  return recorded.median();
}

// What `gable ceilings` measured on this machine. An import comes from a machine with another host.
Maybe stored_latency(const Report& report, const StoredRoofs& roofs) {
  if (report.run.source != Source::cupti && report.run.source != Source::playback) return {};
  Maybe least;
  for (const DeviceInfo& device : report.devices) {
    const MeasuredRoofs* stored = roofs_for(roofs, device, report.run.source == Source::playback);
    if (stored == nullptr || !stored->latency) continue;
    least = std::min(least.value_or(stored->latency->ns), stored->latency->ns);
  }
  return least;
}

// How much of a step the compute roofs would need for its FLOPs: by formula, and as counted. The
// GPUs of a process share its step.
void fill_utilisation(const std::map<std::int32_t, StepOfModel>& models, Report& report) {
  const Maybe wall = report.step.wall_mean_ns;
  double gpus = 0;
  Maybe flops = 0, model = 0, counted = 0;
  const auto add = [](Maybe& sum, const Maybe& part) {
    sum = sum && part ? Maybe(*sum + *part) : std::nullopt;
  };
  for (const LayerRow& root : report.layers) {
    if (root.depth > 0) continue;
    gpus += 1;
    const auto of_model = models.find(root.device);
    add(flops, of_model == models.end() ? std::nullopt : of_model->second.flops);
    add(model, of_model == models.end() ? std::nullopt : of_model->second.compute_ns);
    add(counted, root.roof.compute_ns);
  }
  if (gpus == 0) return;
  report.step.model_flops = flops;
  if (!wall || !(*wall > 0)) return;
  if (model) report.step.mfu = *model / (gpus * *wall);
  if (counted) report.step.hfu = *counted / (gpus * *wall);
}

}  // namespace

Report build_report(const Profile& profile, const RunInfo& base, const StoredRoofs& roofs) {
  const Profile::State& state = profile.state();
  const UnitScale unit = unit_scale(state);
  Report report;
  report.version = GABLE_VERSION;
  report.run = base;
  report.run.unit = unit.step ? Unit::step : Unit::run;
  auto& steps = report.run.steps;
  steps.seen = state.classes.steps();
  steps.hw = kept(state, PhaseKind::hw);
  steps.flops = kept(state, PhaseKind::flops);
  steps.time = kept(state, PhaseKind::time);
  steps.classes = state.classes.size();
  if (state.ranges_only) steps.border.clear();
  report.run.lost = lost_counts(state, base.lost);
  for (const auto& [id, device] : state.devices) report.devices.push_back(device);
  report.step.launch_latency_ns = launch_latency(state);
  if (!report.step.launch_latency_ns) {
    report.step.launch_latency_ns = stored_latency(report, roofs);
    if (report.step.launch_latency_ns)
      report.run.notes.emplace_back(
          std::string(
              "No launch found its GPU idle while times were taken: the launch latency is the "
              "one that gable ceilings measured") +
          (report.run.source == Source::playback ? " on the playback GPU." : "."));
  }
  std::vector<KernelOfLayer> kernels = kernel_rows(state, unit);
  fill_ceilings(state, kernels, roofs, report);
  const Roofline roofline(report.ceilings, report.step.launch_latency_ns);
  for (KernelOfLayer& kernel : kernels) {
    const auto device = state.devices.find(kernel.row.device);
    if (device != state.devices.end()) fill_waves(device->second, kernel.row);
    roofline.apply(kernel.row);
  }
  LayerRows layers = layer_rows(state, unit, roofline, kernels);
  const auto models = fill_models(state, unit, roofline, layers);
  report.operators = operator_rows(state, unit, kernels, layers, report.run.notes);
  if (unit.step) report.memory = memory_rows(state, layers);
  report.layers = std::move(layers.rows);
  report.kernels.reserve(kernels.size());
  for (KernelOfLayer& kernel : kernels) report.kernels.push_back(std::move(kernel.row));
  report.copies = copy_rows(state, unit, layers.ids);
  fill_link_roofs(report);
  fill_total(state, unit, report);
  fill_overhead(state, report.run);
  fill_step(state, unit, report.step);
  fill_utilisation(models, report);
  if (!report.layers.empty()) report.step.sync_ns = report.layers.front().sync_ns;  // the root's
  for (std::string& note : fill_step_answers(state, kernels, layers.ids, roofline, report))
    report.run.notes.push_back(std::move(note));
  for (std::string& note : number_notes(state, report)) report.run.notes.push_back(std::move(note));
  for (std::string& note : ceiling_notes(report)) report.run.notes.push_back(std::move(note));
  for (std::string& note : gpu_notes(report)) report.run.notes.push_back(std::move(note));
  for (const std::string& note : roofs.problems) report.run.notes.push_back(note);
  return report;
}

bool has_launches(const Profile& profile) {
  const Profile::State& state = profile.state();
  return state.launches > 0 || state.unknown_graph_launches > 0 || state.ranges_only;
}

}  // namespace gable
