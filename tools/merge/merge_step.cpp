// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/merge_step.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/merge/over_reports.h"
#include "tools/merge/saving_bounds.h"

namespace gable {
namespace {

using Reports = std::vector<Report>;

// Of standard deviations within the processes: those of all steps.
Maybe stddev_of(const Reports& reports, Maybe Step::*mean_ns, Maybe Step::*stddev_ns) {
  const Maybe all = mean_of(reports, [=](const Report& report) { return report.step.*mean_ns; });
  const Maybe squares = mean_of(reports, [=](const Report& report) -> Maybe {
    const Maybe &own = report.step.*mean_ns, &spread = report.step.*stddev_ns;
    if (!own || !spread) return std::nullopt;
    return *own * *own + *spread * *spread;
  });
  if (!squares || !all) return std::nullopt;
  return std::sqrt(std::max(0.0, *squares - *all * *all));
}

// The mean of a number of a struct that every report has.
template <typename Struct>
double mean_in(const Reports& reports, std::optional<Struct> Step::*whole, double Struct::*part) {
  return mean_of(reports,
                 [=](const Report& report) { return Maybe((*(report.step.*whole)).*part); })
      .value_or(0);
}

template <typename Struct>
bool all_have(const Reports& reports, std::optional<Struct> Step::*whole) {
  return std::all_of(reports.begin(), reports.end(),
                     [=](const Report& report) { return (report.step.*whole).has_value(); });
}

PathTimes merge_path(const Reports& reports) {
  PathTimes path;
  for (double PathTimes::*part :
       {&PathTimes::kernels_ns, &PathTimes::communication_ns, &PathTimes::copies_ns,
        &PathTimes::host_ns, &PathTimes::launches_ns, &PathTimes::gaps_ns,
        &PathTimes::unexplained_ns})
    path.*part = mean_in(reports, &Step::critical_path, part);
  path.input_ns =
      mean_of(reports, [](const Report& report) { return report.step.critical_path->input_ns; });
  path.waits_ns =
      mean_of(reports, [](const Report& report) { return report.step.critical_path->waits_ns; });
  return path;
}

ExposedTimes merge_exposed(const Reports& reports) {
  ExposedTimes exposed;
  for (double ExposedTimes::*part : {&ExposedTimes::compute_ns, &ExposedTimes::communication_ns,
                                     &ExposedTimes::copies_ns, &ExposedTimes::idle_ns})
    exposed.*part = mean_in(reports, &Step::exposed, part);
  using Without = ExposedTimes::Without;
  for (StepSaving Without::*part :
       {&Without::compute, &Without::communication, &Without::copies, &Without::host}) {
    SavingBounds bounds;
    for (const Report& report : reports) bounds.add(report.step.exposed->without.*part);
    exposed.without.*part = bounds.of(static_cast<double>(reports.size())).value_or(StepSaving{});
  }
  for (std::optional<StepSaving> Without::*part : {&Without::input, &Without::waits}) {
    SavingBounds bounds;
    for (const Report& report : reports) bounds.add(report.step.exposed->without.*part);
    exposed.without.*part = bounds.of(static_cast<double>(reports.size()));
  }
  return exposed;
}

StepGraphFacts merge_graphs(const Reports& reports) {
  StepGraphFacts graph = *reports.front().step.graph;
  graph.wall_ns = mean_in(reports, &Step::graph, &StepGraphFacts::wall_ns);
  graph.overlapped = mean_in(reports, &Step::graph, &StepGraphFacts::overlapped);
  graph.steps = graph.edges = graph.violated_edges = 0;
  for (const Report& report : reports) {
    const StepGraphFacts& from = *report.step.graph;
    graph.steps += from.steps;
    graph.edges += from.edges;
    graph.violated_edges += from.violated_edges;
    graph.explained = std::min(graph.explained, from.explained);
    graph.replay_error = graph.replay_error && from.replay_error
                             ? Maybe(std::max(*graph.replay_error, *from.replay_error))
                             : std::nullopt;
    graph.stream_waits_known = graph.stream_waits_known && from.stream_waits_known;
  }
  return graph;
}

}  // namespace

Step merge_steps(const std::vector<Report>& reports) {
  Step step;
  for (Maybe Step::*part :
       {&Step::wall_mean_ns, &Step::host_mean_ns, &Step::busy_ns, &Step::idle_ns, &Step::copy_ns,
        &Step::sync_ns, &Step::launch_latency_ns, &Step::mfu, &Step::hfu, &Step::model_flops})
    step.*part = mean_of(reports, [=](const Report& report) { return report.step.*part; });
  step.wall_stddev_ns = stddev_of(reports, &Step::wall_mean_ns, &Step::wall_stddev_ns);
  step.host_stddev_ns = stddev_of(reports, &Step::host_mean_ns, &Step::host_stddev_ns);
  if (all_have(reports, &Step::critical_path)) step.critical_path = merge_path(reports);
  if (all_have(reports, &Step::exposed)) step.exposed = merge_exposed(reports);
  if (all_have(reports, &Step::graph)) step.graph = merge_graphs(reports);
  return step;
}

}  // namespace gable
