// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/finish.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "analysis/builder/report_builder.h"
#include "tools/gpus/gpu_catalogue.h"

namespace gable {
namespace {

std::string list_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1f %%",
                      100 * static_cast<double>(part) / static_cast<double>(whole));
  return text.data();
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

// A device with kernels that has no roof of compute or none of memory.
bool lacks_roofs(const Report& report) {
  std::set<std::pair<std::int32_t, CeilingKind>> there;
  for (const Ceiling& ceiling : report.ceilings) there.emplace(ceiling.device, ceiling.kind);
  return std::any_of(report.kernels.begin(), report.kernels.end(), [&](const KernelRow& kernel) {
    return !there.contains({kernel.device, CeilingKind::compute}) ||
           !there.contains({kernel.device, CeilingKind::memory});
  });
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
      for (Ceiling& ceiling : ceilings_of(*gpu, id)) known.stated.push_back(std::move(ceiling));
    }
  }
  run.notes.push_back(
      "Imported: times from " +
      (timed ? list_of(imported.times_from)
             : "the counters' own runs, " + list_of(imported.counters_from)) +
      (counted ? "; counters from " + list_of(imported.counters_from) : "; no counters") + ".");
  if (!timed) {
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
  if (!imported.gpu_is_named && !imported.has_foreign_gpu && lacks_roofs(report)) {
    report.run.notes.emplace_back(
        "Roofs are missing where no file tells the GPU: ncu's raw page has its attributes, and "
        "`gable import --gpu NAME` names a board of the catalogue.");
  }
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
