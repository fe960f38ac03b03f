// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/number_notes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "analysis/base/number_text.h"
#include "analysis/builder/model_rows.h"

namespace gable {
namespace {

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string kernels(std::uint64_t count) { return counted(count, "kernel", "kernels"); }

// A note about rows with a flag: its text before and after "3 kernels".
struct FlagNote {
  std::string_view flag, before, after;
  std::string_view one = "kernel", many = "kernels";
};
constexpr FlagNote kFlagNotes[] = {
    {.flag = "tensor_inferred",
     .before = "",
     .after = " used tensor cores, as their names or instructions show, and that work was not "
              "counted: their FLOPs are unknown, not 0."},
    {.flag = "tensor_unknown",
     .before = "Tensor cores were not fully counted for ",
     .after = ": their FLOPs are those of the CUDA cores plus what was counted."},
    {.flag = "cuda_cores_unknown",
     .before = "The CUDA cores' FLOPs of ",
     .after = " were not counted."},
    {.flag = "hfma_moves",
     .before = "",
     .after = " executed HFMA2 and no other 16-bit arithmetic, as moves of constants do: FP16 is "
              "unknown there and left out."},
    {.flag = "integer_unknown",
     .before = "",
     .after = " used tensor cores on integers, whose operations were not counted: they are "
              "unknown, not 0."},
    {.flag = "narrow_together",
     .before = "FP8, FP6 and FP4 share a counter on this chip: the tensor work of ",
     .after = " may be of any of them."},
    {.flag = "l1_partial",
     .before = "",
     .after = " used shared memory or bulk copies, which the counter of L1 bytes misses: L1 "
              "bytes are unknown there."},
    {.flag = "l1_unchecked",
     .before = "L1 bytes of ",
     .after = " are unknown: no flops window counted whether shared memory or bulk copies "
              "were used, which the counter of L1 bytes misses."},
    {.flag = "l2_all",
     .before = "L2 bytes of ",
     .after = " are all that L2 moved, including its traffic with units other than the SMs."},
    {.flag = "launches_differ",
     .before = "Launches per window differ between the phases for ",
     .after = ": their counters and times are means of different launches."},
    {.flag = "work_varies",
     .before = "The FLOPs of one launch differ between windows for ",
     .after = ": their counters and times may be means of different work."},
    {.flag = "mixed_work",
     .before = "Launches of one step do different amounts of work in ",
     .after = ": their values are means over them."},
    {.flag = "spread",
     .before = "Bytes or durations of ",
     .after = " differ by more than 10 % between windows: their ratios are computed from means."},
    {.flag = "times_differ",
     .before = "",
     .after = " took a different time with counters than without: either their work differed, or "
              "kernels overlap and slow each other when no counters are taken."},
    {.flag = "overlapped",
     .before = "Ranges of ",
     .after = " overlapped kernels of other layers: their FLOPs and bytes may include the work of "
              "those.",
     .one = "layer",
     .many = "layers"},
    {.flag = "above_roof",
     .before = "",
     .after = " above the roof: likely a clock above the stated one, data that stayed in a "
              "cache, or counters and times of different launches.",
     .one = "kernel is",
     .many = "kernels are"},
};

void flag_notes(const Report& report, std::vector<std::string>& notes) {
  for (const auto& note : kFlagNotes) {
    const auto count = report.flagged(note.flag);
    if (count == 0) continue;
    notes.push_back(std::string(note.before) + counted(count, note.one, note.many) +
                    std::string(note.after));
  }
}

// A launch is in one window, and a window counts bytes or FLOPs.
void once_note(const Report& report, std::vector<std::string>& notes) {
  if (report.run.unit != Unit::run) return;
  const auto count = static_cast<std::uint64_t>(
      std::count_if(report.kernels.begin(), report.kernels.end(), [](const KernelRow& row) {
        if (row.launches != 1 || row.counts_again()) return false;
        if (row.samples_hw == 0) return row.samples_flops > 0;
        // With --replay kernel one window has both.
        return row.samples_flops == 0 && row.has_flag("cuda_cores_unknown");
      }));
  if (count == 0) return;
  notes.push_back(
      kernels(count) + (count == 1 ? " was" : " were") + " launched once and " +
      (count == 1 ? "has" : "have") +
      " bytes or FLOPs, not both: a second run with --phases flops (or hw) counts the other; "
      "--replay kernel counts both in one run, but runs every kernel several times.");
}

std::string in_percent(double value) { return significant(value, 3) + " %"; }

// Counted FLOPs against those of the operators' formulas, of the layers that have such operators.
void model_notes(const Profile::State& state, const Report& report,
                 std::vector<std::string>& notes) {
  constexpr double kSame = 0.1;
  std::uint64_t differ = 0;
  const LayerRow* most = nullptr;
  const auto off = [](const LayerRow& row) { return std::abs(std::log(*row.model->flops_ratio)); };
  bool any = false;
  for (const LayerRow& row : report.layers) {
    if (!row.model) continue;
    any = true;
    if (row.model->self.flops.value_or(0) <= 0 || row.model->flops_ratio.value_or(0) <= 0) continue;
    if (std::abs(*row.model->flops_ratio - 1) <= kSame) continue;
    ++differ;
    if (most == nullptr || off(row) > off(*most)) most = &row;
  }
  if (most != nullptr) {
    notes.push_back(
        "The counted FLOPs of " + counted(differ, "layer", "layers") +
        " differ by more than 10 % from those of their operators' formulas, most in " +
        shown_path(most->path) + " (" + to_string(most->direction) + ", " +
        significant(*most->model->flops_ratio, 3) +
        " times the formula's). Padding, Winograd, and fused or repeated work can cause that.");
  }
  const auto above = static_cast<std::uint64_t>(std::count_if(
      report.layers.begin(), report.layers.end(),
      [](const LayerRow& row) { return row.model && row.model->roof.fraction.value_or(0) > 1; }));
  if (above > 0) {
    notes.push_back("By their operators' formulas " + counted(above, "layer is", "layers are") +
                    " above the roof: Winograd needs fewer FLOPs, caches save bytes, and a clock "
                    "may be above the stated one.");
  }
  if (any && !model_steps_are_alike(state)) {
    notes.emplace_back(
        "Less than 95 % of the steps launched the same kernels as a step whose operators were "
        "described: analytic numbers are of such steps alone, and are not compared with counted "
        "ones.");
  }
}

// Layers of depth 0 are the devices' wholes.
void budget_note(const Report& report, std::vector<std::string>& notes) {
  const auto& overhead = report.run.overhead;
  if (!overhead.budget_percent) return;
  double time = 0, bytes = 0, flops = 0;
  for (const LayerRow& root : report.layers) {
    if (root.depth != 0 || !root.time_total_ns) continue;
    time += *root.time_total_ns;
    bytes += *root.time_total_ns * root.coverage.bytes.value_or(0);
    flops += *root.time_total_ns * root.coverage.flops.value_or(0);
  }
  std::string note =
      "--budget " + in_percent(*overhead.budget_percent) + ": measuring added " +
      (overhead.added_percent ? in_percent(*overhead.added_percent) : "an unknown share") +
      " up to its last window";
  if (time > 0) {
    note += "; kernels with " + in_percent(100 * bytes / time) +
            " of the known time have bytes, with " + in_percent(100 * flops / time) + " FLOPs";
  }
  notes.push_back(note + ".");
}

void device_notes(const Report& report, std::vector<std::string>& notes) {
  std::set<std::int32_t> used;
  for (const KernelRow& kernel : report.kernels) used.insert(kernel.device);
  for (const std::int32_t id : used) {
    const auto has = [&](CeilingKind kind) {
      return std::any_of(
          report.ceilings.begin(), report.ceilings.end(),
          [&](const Ceiling& ceiling) { return ceiling.device == id && ceiling.kind == kind; });
    };
    const bool compute = has(CeilingKind::compute), memory = has(CeilingKind::memory);
    if (compute && memory) continue;
    const bool bound =
        std::any_of(report.kernels.begin(), report.kernels.end(), [id](const KernelRow& kernel) {
          return kernel.device == id && kernel.metrics && kernel.metrics->compute_throughput &&
                 kernel.metrics->memory_throughput;
        });
    notes.push_back(std::string("The ") +
                    (compute  ? "memory"
                     : memory ? "compute"
                              : "compute and memory") +
                    " roofs of device " + std::to_string(id) + " are unknown: " +
                    (bound ? "no fraction can be given; bound and saving are by ncu's throughputs."
                           : "no bound, fraction or saving can be given."));
  }
}

void class_note(const Profile::State& state, std::vector<std::string>& notes) {
  if (state.classes.size() < 2 || state.kept_windows[kind_index(PhaseKind::time)] == 0) return;
  const auto [unseen, classes] = state.classes.outside([&state](std::size_t place) {
    return place < state.class_sums.size() &&
           state.class_sums[place].kept_windows[kind_index(PhaseKind::time)] > 0;
  });
  if (unseen == 0) return;
  notes.push_back(std::to_string(unseen) + " of " + std::to_string(state.classes.steps()) +
                  " steps had " + counted(classes, "launch sequence", "launch sequences") +
                  " that no time window saw.");
}

void graph_notes(const Profile::State& state, const Report& report,
                 std::vector<std::string>& notes) {
  const auto graphs = static_cast<std::uint64_t>(
      std::count_if(report.kernels.begin(), report.kernels.end(),
                    [](const KernelRow& row) { return row.graph.has_value(); }));
  if (graphs > 0) {
    notes.push_back(counted(graphs, "CUDA graph is", "CUDA graphs are") +
                    " counted as a whole: FLOPs and bytes are those of the layer that has all of "
                    "its kernels, and unknown in the layers below.");
  }
  if (state.unknown_graph_launches > 0) {
    notes.push_back(
        counted(state.unknown_graph_launches, "CUDA graph launch is", "CUDA graph launches are") +
        " counted but not attributed: nothing is known of the graph, and its kernels are in no "
        "layer.");
  }
  if (state.unplaced_kernels > 0) {
    notes.push_back(
        counted(state.unplaced_kernels, "kernel of a CUDA graph is", "kernels of CUDA graphs are") +
        " in the graph's layer: their own was not seen.");
  }
}

void step_note(const Profile::State& state, const Report& report, std::vector<std::string>& notes) {
  const bool timed = state.kept_windows[kind_index(PhaseKind::time)] > 0;
  const bool imported = report.run.source == Source::imported;
  const bool no_steps = imported && report.run.steps.border.empty();
  if (report.run.unit != Unit::step || no_steps || !timed || report.step.wall_mean_ns) return;
  if (!report.step.busy_ns) {
    notes.emplace_back(
        "How long a step takes on the GPU is unknown, because times of kernels are missing.");
    return;
  }
  notes.push_back(
      std::string("How long a step takes on the GPU is unknown: it lasts until the next step's "
                  "first kernel, and no two consecutive steps were timed. ") +
      (imported ? "Record one more step." : "Let the program run for one more step."));
}

void recorded_steps_note(const Profile::State& state, std::vector<std::string>& notes) {
  const StepRecorder& recorder = state.step_recorder;
  if (recorder.too_large() > 0) {
    notes.emplace_back(
        "Steps of this program have more calls or operations than Gable records one by one: what a "
        "step waits for is unknown.");
  }
  if (state.step_records.empty() && recorder.too_far_ahead() + state.step_records_ahead > 0) {
    notes.emplace_back(
        "The program is ahead of the GPU by more launches than three of its steps have, so that "
        "its launches wait for room: what a step waits for is unknown.");
  }
}

constexpr double kLongLaunch = 10'000;  // ns

// Where kernels are so short that a launch may hold them, it matters.
void latency_note(const Profile::State& state, const Report& report,
                  std::vector<std::string>& notes) {
  const bool matters =
      std::any_of(report.kernels.begin(), report.kernels.end(), [](const auto& row) {
        return row.time_source == TimeSource::time && *row.time_mean_ns < kLongLaunch;
      });
  if (report.step.launch_latency_ns || !matters) return;
  const bool unseen = report.run.source == Source::imported && state.step_records.empty();
  notes.push_back(
      std::string("The launch latency is unknown, and so is which short kernels it limits: ") +
      (unseen ? "finding it takes three consecutive steps with their calls (gable import "
                "--step-range names steps)."
              : "no launch found its GPU idle while times were taken."));
}

// Durations that were counted, but not taken for times.
void short_ranges_note(const Report& report, std::vector<std::string>& notes) {
  const auto timeless = static_cast<std::uint64_t>(
      std::count_if(report.kernels.begin(), report.kernels.end(), [](const KernelRow& row) {
        const auto counted = row.counters.find("gpu__time_duration.sum");
        return row.time_source == TimeSource::unknown && counted != row.counters.end() &&
               counted->second;
      }));
  if (timeless == 0) return;
  const bool all = timeless == report.kernels.size();
  notes.push_back(
      (all ? std::string("No time window was measured, so times are unknown: ")
           : "Times of " + kernels(timeless) + " are unknown, because no time window saw them: ") +
      "a counter range lasts longer than its kernel, by 50 us and more, which is too "
      "much for kernels below 1.28 ms. If the program runs more steps, Gable measures "
      "times, too.");
}

}  // namespace

std::vector<std::string> number_notes(const Profile::State& state, const Report& report) {
  std::vector<std::string> notes;
  for (const auto& [reason, dropped] : state.reasons) {
    if (dropped.lost > 0)
      notes.push_back(counted(dropped.lost, "window was", "windows were") +
                      " thrown away: " + reason);
    if (dropped.empty > 0)
      notes.push_back(counted(dropped.empty, "window", "windows") + " measured nothing: " + reason);
  }
  const bool imported = report.run.source == Source::imported;  // has no windows
  const auto from_hw = static_cast<std::uint64_t>(
      std::count_if(report.kernels.begin(), report.kernels.end(),
                    [](const KernelRow& row) { return row.time_source == TimeSource::hw; }));
  if (!imported && from_hw > 0 && from_hw == report.kernels.size()) {
    notes.emplace_back(
        "No time window was measured: times are gpu__time_duration of the counter windows, which "
        "are upper bounds: a counter range may last longer than its kernel, by 50 us and more.");
  } else if (!imported && from_hw > 0) {
    notes.push_back(
        "Times of " + kernels(from_hw) +
        " are gpu__time_duration of counter windows, which are upper bounds: no time window "
        "saw them, and a counter range may last longer than its kernel, by 50 us and more.");
  }
  if (!imported) short_ranges_note(report, notes);
  step_note(state, report, notes);
  recorded_steps_note(state, notes);
  flag_notes(report, notes);
  if (!imported) once_note(report, notes);
  device_notes(report, notes);
  class_note(state, notes);
  if (state.launches_inherited > 0) {
    notes.push_back(
        counted(state.launches_inherited, "launch", "launches") +
        " came from threads without an open range: they are in the layer that was open on the "
        "main thread.");
  }
  graph_notes(state, report, notes);
  budget_note(report, notes);
  model_notes(state, report, notes);
  if (report.run.lost.folded_keys > 0) {
    notes.push_back(
        counted(report.run.lost.folded_keys, "rare launch key is", "rare launch keys are") +
        " folded into the row (other).");
  }
  if (!imported && report.run.unit == Unit::run && !report.copies.empty())
    notes.emplace_back("Copies are those of the time windows only.");
  latency_note(state, report, notes);
  return notes;
}

}  // namespace gable
