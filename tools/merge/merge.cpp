// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/base/display.h"
#include "analysis/events/lost_counts.h"
#include "analysis/report/folded_notes.h"
#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/merge/merge_devices.h"
#include "tools/merge/merge_rows.h"
#include "tools/merge/merge_step.h"
#include "tools/merge/over_reports.h"
#include "tools/merge/waiting.h"

namespace gable {
namespace {

// Why reports cannot be one; empty where they can.
std::string misfit(const std::vector<Report>& reports, const std::vector<std::string>& names) {
  const RunInfo& first = reports.front().run;
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const RunInfo& run = reports[i].run;
    const auto differ = [&](const std::string& how) {
      return names.front() + " and " + names[i] + " cannot be merged: " + how;
    };
    if (!run.processes.empty())
      return names[i] + " is a merged report already: merge the reports of the single processes.";
    if (run.source != first.source)
      return differ("one is from " + to_string(first.source) + ", the other from " +
                    to_string(run.source) + ": merge the reports of one run.");
    if (run.unit != first.unit)
      return differ("one is per " + to_string(first.unit) + ", the other per " +
                    to_string(run.unit) + ": give all of them the same steps (--step-range).");
    if (run.scope != first.scope)
      return differ("counters of one are by " + to_string(first.scope) + ", of the other by " +
                    to_string(run.scope) + ": profile all of them with the same --scope.");
    // Rank 0 of another run would count twice.
    if (run.rank && !seen.insert({"rank", *run.rank}).second)
      return names[i] + " is rank " + std::to_string(*run.rank) +
             " again: merge the reports of one run.";
    if (!run.rank && !seen.insert({run.hostname, run.pid}).second) {
      // Other tools' files tell no process.
      if (run.source == Source::imported)
        return names[i] +
               " is imported and names neither rank nor process: import the files of all ranks "
               "together (gable import --ranks), instead of merging their reports.";
      return names[i] + " is of process " + std::to_string(run.pid) + " on " + run.hostname +
             " again: name each report once.";
    }
  }
  return {};
}

void merge_total(const std::vector<Report>& reports, RunInfo& run) {
  auto& total = run.total;
  total.flops = sum_of(reports, [](const Report& each) { return each.run.total.flops; });
  total.bytes_dram = sum_of(reports, [](const Report& each) { return each.run.total.bytes_dram; });
  total.gpu_time_ns =
      sum_of(reports, [](const Report& each) { return each.run.total.gpu_time_ns; });
  // Weighed by time: FLOPs of those whose rate is known over their time.
  const Maybe work = sum_of(reports, [](const Report& each) -> Maybe {
    const auto& of = each.run.total;
    return of.flops_per_s && of.gpu_time_ns ? Maybe(*of.flops_per_s * *of.gpu_time_ns)
                                            : std::nullopt;
  });
  total.flops_per_s.reset();
  if (work && total.gpu_time_ns && *total.gpu_time_ns > 0)
    total.flops_per_s = *work / *total.gpu_time_ns;
  const bool measured = std::all_of(reports.begin(), reports.end(), [](const Report& each) {
    return each.run.total.basis == Basis::measured;
  });
  total.basis = measured ? Basis::measured : Basis::extrapolated;
  total.basis_note = "sum over " + std::to_string(reports.size()) +
                     " processes; of the first: " + reports.front().run.total.basis_note;
}

void merge_overhead(const std::vector<Report>& reports, RunInfo& run) {
  auto& overhead = run.overhead;
  overhead = {};
  const auto sum = [&](auto part) {
    return sum_of(reports, [part](const Report& each) { return each.run.overhead.*part; });
  };
  overhead.callbacks_ns = sum(&decltype(RunInfo::overhead)::callbacks_ns);
  overhead.counter_image_bytes = sum(&decltype(RunInfo::overhead)::counter_image_bytes);
  overhead.gpu_memory_bytes = sum(&decltype(RunInfo::overhead)::gpu_memory_bytes);
  // Of the processes that had the phase.
  const auto means = [&](auto part) {
    std::map<std::string, std::pair<Maybe, double>> sums;
    for (const Report& report : reports) {
      for (const auto& [phase, value] : report.run.overhead.*part) {
        auto& [known, count] = sums.try_emplace(phase, 0, 0).first->second;
        known = known && value ? Maybe(*known + *value) : std::nullopt;
        count += 1;
      }
    }
    std::map<std::string, Maybe> out;
    for (const auto& [phase, each] : sums)
      out[phase] = each.first ? Maybe(*each.first / each.second) : std::nullopt;
    return out;
  };
  overhead.window_wall_ns = means(&decltype(RunInfo::overhead)::window_wall_ns);
  overhead.slowdown = means(&decltype(RunInfo::overhead)::slowdown);
}

void merge_notes(const std::vector<Report>& reports, RunInfo& run) {
  run.notes = {"Merged from " + std::to_string(reports.size()) +
               " processes: times, work and launches are means over GPUs of a kind, totals are "
               "sums."};
  for (const FoldedNote& each : folded_notes(reports))
    run.notes.push_back(each.text(reports.size()));
}

// By the GPU's time of a step, where all know it; else by the host's.
void name_slowest(RunInfo& run) {
  const auto known = [&run](Maybe MergedProcess::*part) {
    return std::all_of(run.processes.begin(), run.processes.end(),
                       [part](const MergedProcess& each) { return (each.*part).has_value(); });
  };
  const bool gpu = known(&MergedProcess::step_wall_ns);
  if (run.processes.empty() || (!gpu && !known(&MergedProcess::step_host_ns))) return;
  const auto part = gpu ? &MergedProcess::step_wall_ns : &MergedProcess::step_host_ns;
  const MergedProcess* slowest = &run.processes.front();
  double sum = 0;
  for (const MergedProcess& each : run.processes) {
    sum += *(each.*part);
    if (*(each.*part) > *(slowest->*part)) slowest = &each;
  }
  const double mean = sum / static_cast<double>(run.processes.size());
  if (!(mean > 0) || *(slowest->*part) == mean) return;
  run.notes.push_back("The slowest is " + process_name(*slowest) + ": a step of " +
                      duration(slowest->*part) + (gpu ? "" : " on the host") + ", " +
                      percent(*(slowest->*part) / mean - 1) + " above the mean.");
}

// Fills run and step.
void merge_runs(const std::vector<Report>& reports, Report& out) {
  RunInfo& run = out.run = reports.front().run;
  run.rank.reset();
  run.ranks.clear();
  run.processes.clear();
  auto& steps = run.steps;
  for (const Report& report : reports) {
    const RunInfo& from = report.run;
    run.processes.push_back({from.hostname, from.pid, from.rank, report.step.wall_mean_ns,
                             report.step.host_mean_ns, time_of_roots(report),
                             collectives_of_roots(report)});
    if (from.rank) run.ranks.push_back(*from.rank);
    run.complete = run.complete && from.complete;
    run.started_at = std::min(run.started_at, from.started_at);
    run.wall_time_s = run.wall_time_s && from.wall_time_s
                          ? Maybe(std::max(*run.wall_time_s, *from.wall_time_s))
                          : std::nullopt;
    if (from.hostname != run.hostname) run.hostname = "several";
    if (from.queue != run.queue) run.queue.reset();
    steps.seen = std::min(steps.seen, from.steps.seen);
    steps.hw = std::min(steps.hw, from.steps.hw);
    steps.flops = std::min(steps.flops, from.steps.flops);
    steps.time = std::min(steps.time, from.steps.time);
    steps.classes = std::max(steps.classes, from.steps.classes);
    if (from.steps.border != steps.border) steps.border.clear();
    if (from.steps.period != steps.period) steps.period.reset();
    if (from.steps.needed != steps.needed) steps.needed.reset();
  }
  std::sort(run.ranks.begin(), run.ranks.end());
  run.lost = lost_of(reports);
  merge_total(reports, run);
  merge_overhead(reports, run);
  out.step = merge_steps(reports);
  merge_notes(reports, run);
  if (std::string text = waiting_sentence(out); !text.empty()) run.notes.push_back(std::move(text));
  if (run.unit == Unit::step) name_slowest(run);
}

}  // namespace

Merged merge_reports(const std::vector<Report>& reports, const std::vector<std::string>& names) {
  if (reports.empty())
    return {std::nullopt, "There is nothing to merge: name two reports or more."};
  if (std::string error = misfit(reports, names); !error.empty())
    return {std::nullopt, std::move(error)};
  if (reports.size() == 1) return {reports.front(), {}};
  Report out;
  out.version = GABLE_VERSION;
  merge_runs(reports, out);
  const MergedDevices devices = merge_devices(reports, out);
  merge_rows(reports, devices, out);
  return {std::move(out), {}};
}

LostCounts lost_of(const std::vector<Report>& reports) {
  LostCounts sum;
  for (const Report& report : reports) sum += report.run.lost;
  return sum;
}

std::string process_name(const MergedProcess& process) {
  return (process.rank ? "rank " + std::to_string(*process.rank)
                       : "process " + std::to_string(process.pid)) +
         (process.hostname.empty() ? "" : " on " + process.hostname);
}

}  // namespace gable
