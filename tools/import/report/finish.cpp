// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/finish.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/base/number_text.h"
#include "analysis/builder/report_builder.h"
#include "analysis/events/quantities.h"
#include "tools/gpus/gpu_catalogue.h"

namespace gable {
namespace {

std::string list_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return decimals(100 * static_cast<double>(part) / static_cast<double>(whole), 1) + " %";
}

bool counters_have_times(const Imported& imported) {
  const auto& metrics = imported.metrics;
  const auto duration = std::find_if(metrics.begin(), metrics.end(), [](const std::string& metric) {
    const MetricRole* role = role_of(metric);
    return role != nullptr && role->quantity == Quantity::duration_ns;
  });
  const auto index = static_cast<std::uint32_t>(duration - metrics.begin());
  return std::any_of(
      imported.counters.begin(), imported.counters.end(), [&](const Imported::CounterLaunch& each) {
        return std::any_of(each.values.begin(), each.values.end(), [&](const auto& value) {
          return value.first == index && std::isfinite(value.second);
        });
      });
}

// Where times and counters come from.
std::string imported_note(const Imported& imported, bool counted, bool timed) {
  const std::string counters = list_of(imported.counters_from);
  if (!timed && !counters_have_times(imported))
    return "Imported: no times, as no file has gpu__time_duration.sum; counters from " + counters +
           ".";
  return "Imported: times from " +
         (timed ? list_of(imported.times_from) : "the counters' own runs, " + counters) +
         (counted ? "; counters from " + counters : "; no counters") + ".";
}

// The analysis saw one window as one step, so that nothing is extrapolated.
void as_run(Report& report) {
  RunInfo& run = report.run;
  run.unit = Unit::run;
  run.steps = {};
  run.overhead = {};
  const Maybe latency = report.step.launch_latency_ns;
  report.step = {};
  report.step.launch_latency_ns = latency;
}

void fill_spans(const Imported& imported, Report& report, double steps) {
  if (imported.projections.empty()) return;
  // Layers by their path: ids of the tree are not those of the report.
  std::map<std::tuple<std::int32_t, std::vector<std::string>, Direction>, const Projection*>
      by_path;
  for (const auto& [where, projection] : imported.projections) {
    by_path[{where.first, imported.layers.path(where.second),
             imported.layers.node(where.second).direction}] = &projection;
  }
  for (LayerRow& layer : report.layers) {
    if (layer.depth == 0) continue;
    const auto found = by_path.find({layer.device, layer.path, layer.direction});
    if (found != by_path.end()) layer.span_ns = static_cast<double>(found->second->span_ns) / steps;
  }
}

std::string of_kernels(std::uint64_t some, std::uint64_t all) {
  if (some == all) return all == 1 ? "the kernel" : "all " + std::to_string(all) + " kernels";
  return std::to_string(some) + " of " + std::to_string(all) + " kernels";
}

// What was counted and does not tell the work: what to collect next time.
void tell_uncounted(const Imported& imported, Report& report) {
  std::uint64_t flops = 0, bytes = 0, counted = 0;
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.counters.empty()) continue;
    ++counted;
    flops += kernel.flops.total ? 0 : 1;
    bytes += kernel.bytes.dram ? 0 : 1;
  }
  if (flops + bytes == 0 || imported.counters_from.empty()) return;
  std::string text = "The counters do not tell ";
  if (flops > 0) text += "FLOPs of " + of_kernels(flops, counted);
  if (bytes > 0)
    text += (flops > 0 ? " and DRAM bytes of " : "DRAM bytes of ") + of_kernels(bytes, counted);
  report.run.notes.push_back(
      text + ": next time collect ncu --set roofline, or the metrics that docs/import.md lists.");
}

// Of devices with kernels that have no roof of compute or none of memory.
void tell_missing_roofs(const Imported& imported, Report& report) {
  std::set<std::pair<std::int32_t, CeilingKind>> there;
  for (const Ceiling& ceiling : report.ceilings) there.emplace(ceiling.device, ceiling.kind);
  bool nameless = false;
  std::set<std::string> names;
  for (const KernelRow& kernel : report.kernels) {
    if (there.contains({kernel.device, CeilingKind::compute}) &&
        there.contains({kernel.device, CeilingKind::memory}))
      continue;
    const auto device = imported.devices.find(kernel.device);
    const bool named = device != imported.devices.end() && !device->second.name.empty();
    if (named)
      names.insert(device->second.name);
    else
      nameless = true;
  }
  if (!names.empty())
    report.run.notes.push_back(
        "Roofs of " + list_of({names.begin(), names.end()}) +
        " are missing: the files do not tell all of them, and the catalogue does not have the "
        "board. A file that describes it does: `gable import --gpu FILE.json` (docs/predict.md).");
  if (nameless)
    report.run.notes.emplace_back(
        "Roofs are missing where no file tells the GPU: ncu's raw page has its attributes, and "
        "`gable import --gpu NAME` names a board of the catalogue.");
}

}  // namespace

Report finish_report(const Imported& imported, const Profile& profile, const StoredRoofs& roofs,
                     bool counted, bool timed) {
  RunInfo run;
  run.source = Source::imported;
  run.complete = true;
  run.rank = imported.rank;
  const bool steps = !imported.steps.empty();
  if (steps) run.steps.border = "range";
  run.lost.unattributed_launches = imported.without_call;
  StoredRoofs known = roofs;
  known.stated = imported.stated;
  // Files name a GPU and rarely its clocks and widths; what they do name goes first.
  for (const auto& [id, device] : imported.devices) {
    if (const GpuSpec* gpu = gpu_of_device(device)) {
      for (const auto& ceilings : {ceilings_of(*gpu, id), link_ceilings_of(*gpu, id)})
        known.stated.insert(known.stated.end(), ceilings.begin(), ceilings.end());
    }
  }
  run.notes.push_back(imported_note(imported, counted, timed));
  if (!timed && counters_have_times(imported)) {
    run.notes.emplace_back(
        "Times are those that the kernels took while they were counted; a file of nsys or of "
        "PyTorch's profiler has times without counters.");
  }
  if (imported.without_call > 0) {
    run.notes.push_back(std::to_string(imported.without_call) + " of " +
                        std::to_string(imported.kernels.size()) + " kernels (" +
                        percent_of(imported.without_call, imported.kernels.size()) +
                        ") have no call in the file: they are in no layer.");
  }
  for (const std::string& note : imported.notes) run.notes.push_back(note);
  Report report = build_report(profile, run, known);
  if (!imported.gpu_is_named && !imported.has_foreign_gpu) tell_missing_roofs(imported, report);
  tell_uncounted(imported, report);
  fill_spans(imported, report, steps ? static_cast<double>(imported.steps.size()) : 1.0);
  if (!steps) as_run(report);
  report.run.overhead = {};
  if (!imported.has_calls) {
    report.step.sync_ns.reset();
    for (LayerRow& layer : report.layers) layer.sync_ns.reset();
  }
  report.run.total.basis = Basis::measured;
  report.run.total.basis_note =
      timed ? "every launch in the files was timed" : "every launch in the files was counted";
  return report;
}

}  // namespace gable
