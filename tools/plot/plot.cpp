// SPDX-License-Identifier: Apache-2.0
#include "tools/plot/plot.h"

#include <algorithm>
#include <utility>

#include "analysis/base/units.h"
#include "analysis/events/layer_tree.h"
#include "analysis/report/layers_by_id.h"
#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/roofline.h"
#include "tools/plot/own_work.h"

namespace gable {
namespace {

// What every row has, from its sum.
void finish(const Report& report, const Roofline& roofline, PlotRow& row) {
  const LayerRow& sum = row.sum;
  row.box_ns = overhead_box_ns(sum.launches, report.step.launch_latency_ns);
  const Maybe roof = roofline.ceiling(sum.device, "dram");
  // Analytic work has no other level than DRAM.
  const Maybe memory = row.analytic ? sum.roof.memory_ns
                       : sum.bytes.dram && roof && *roof > 0
                           ? Maybe(*sum.bytes.dram / *roof * kNsPerSecond)
                           : std::nullopt;
  row.times = time_point(sum.time_total_ns, sum.roof.compute_ns, memory);
}

void fill_shares(std::vector<PlotRow>& rows) {
  double whole = 0;
  for (const PlotRow& row : rows) {
    if (!row.counts_again) whole += row.sum.time_total_ns.value_or(0);
  }
  for (PlotRow& row : rows) {
    if (row.sum.time_total_ns && whole > 0 && !row.counts_again)
      row.share = *row.sum.time_total_ns / whole;
  }
}

}  // namespace

std::string precision_of(const Flops& flops) {
  std::string most;
  double largest = 0;
  const auto compare = [&](const Maybe& value, const std::string& name) {
    if (!value || *value <= largest) return;
    largest = *value;
    most = name;
  };
  compare(flops.fp64, "fp64");
  compare(flops.fp32, "fp32");
  compare(flops.fp16, "fp16");
  for (const auto& [type, value] : flops.tensor) compare(value, tensor_ceiling_name(type));
  return most;
}

std::vector<PlotRow> plot_layers(const Report& report) {
  const Roofline roofline(report.ceilings, report.step.launch_latency_ns);
  std::vector<PlotRow> rows;
  for (OwnWork& own : own_work(report)) {
    PlotRow& row = rows.emplace_back();
    row.layer = own.layer;
    row.name = shown_path(own.layer == nullptr ? std::vector<std::string>() : own.layer->path);
    if (!own.kernel.empty()) row.name += " " + own.kernel;
    row.direction = own.layer == nullptr ? Direction::none : own.layer->direction;
    row.sum = std::move(own.sum);
    row.counts_again = own.counts_again;
    row.analytic = own.analytic;
    row.precision = precision_of(own.analytic ? own.formula : row.sum.flops);
    finish(report, roofline, row);
  }
  fill_shares(rows);
  return rows;
}

std::vector<PlotRow> plot_kernels(const Report& report) {
  const Roofline roofline(report.ceilings, report.step.launch_latency_ns);
  const LayersById layers(report);
  std::vector<PlotRow> rows;
  for (const KernelRow& kernel : report.kernels) {
    PlotRow& row = rows.emplace_back();
    row.layer = layers.find(kernel.layer);
    row.kernel = &kernel;
    row.name = kernel.name;
    row.direction = kernel.direction;
    row.counts_again = kernel.counts_again() && kernel.time_source == TimeSource::time;
    KernelRow alone = kernel;  // a graph or a range as one row of its own
    alone.graph.reset();
    alone.ranges.reset();
    LayerSum sum(roofline);
    sum.add(alone, true);
    row.sum.device = kernel.device;
    sum.fill(row.sum);
    row.sum.metrics = kernel.metrics;  // also where its time is not known
    row.sum.path_ns = kernel.path_ns;
    row.sum.step_saving = kernel.step_saving;
    row.precision = precision_of(row.sum.flops);
    finish(report, roofline, row);
  }
  fill_shares(rows);
  return rows;
}

std::vector<PlotRow> plot_rows(const Report& report, const RowQuery& query) {
  std::vector<PlotRow> rows = query.kernels ? plot_kernels(report) : plot_layers(report);
  static const LayerRow kNone;
  std::erase_if(rows, [&](const PlotRow& row) {
    return !layer_matches(query.layers, row.layer == nullptr ? kNone : *row.layer);
  });
  std::stable_sort(rows.begin(), rows.end(), [&](const PlotRow& a, const PlotRow& b) {
    return stands_before(query.sort, a.sum, a.name, b.sum, b.name);
  });
  return rows;
}

}  // namespace gable
