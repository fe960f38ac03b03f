// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/merge.h"

#include <set>

#include "tools/merge/merge_parts.h"

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
    if (!run.processes.empty()) return names[i] + " is a merged report already.";
    if (run.source != first.source)
      return differ("one is from " + first.source + ", the other from " + run.source + ".");
    if (run.unit != first.unit)
      return differ("one is per " + first.unit + ", the other per " + run.unit + ".");
    if (run.scope != first.scope)
      return differ("counters of one are by " + first.scope + ", of the other by " + run.scope +
                    ".");
    // Rank 0 of another run would count twice.
    if (run.rank && !seen.insert({"rank", *run.rank}).second)
      return names[i] + " is rank " + std::to_string(*run.rank) +
             " again: merge the reports of one run.";
    if (!run.rank && !seen.insert({run.hostname, run.pid}).second)
      return names[i] + " is of process " + std::to_string(run.pid) + " on " + run.hostname +
             " again: name each report once.";
  }
  return {};
}

}  // namespace

Merged merge_reports(const std::vector<Report>& reports, const std::vector<std::string>& names) {
  if (reports.empty()) return {std::nullopt, "There is nothing to merge."};
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

}  // namespace gable
