// SPDX-License-Identifier: Apache-2.0
#include "tools/show/table_rows.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/events/layer_tree.h"
#include "analysis/report/layers_by_id.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/plot/own_work.h"
#include "tools/plot/plot.h"
#include "tools/show/equal_layers.h"

namespace gable {
namespace {

// Layers that have kernels of their own, over devices and processes: paths with directions.
bool has_layers(const std::vector<Report>& reports) {
  std::set<std::pair<std::vector<std::string>, Direction>> own;
  for (const Report& report : reports) {
    const LayersById layers(report);
    for (const KernelRow& kernel : report.kernels) {
      if (const LayerRow* layer = layers.find(kernel.layer))
        own.emplace(layer->path, layer->direction);
    }
  }
  return own.size() > 1;
}

void add_rows(const Report& report, bool by_kernel, std::vector<TableRow>& rows) {
  for (OwnWork& own : own_work(report, by_kernel)) {
    TableRow& row = rows.emplace_back();
    row.device = own.sum.device;
    row.name =
        by_kernel ? own.kernel
                  : shown_path(own.layer == nullptr ? std::vector<std::string>() : own.layer->path);
    if (!by_kernel && !own.kernel.empty()) row.name += " " + own.kernel;
    if (own.layer != nullptr) row.direction = own.layer->direction;
    row.layer = own.layer;
    row.place = std::move(own.place);
    row.sum = std::move(own.sum);
    row.counts_again = own.counts_again;
    row.analytic = own.analytic;
    row.precision = precision_of(own.analytic ? own.formula : row.sum.flops);
    row.tensor_inferred = own.tensor_inferred;
    row.flops_known = own.flops_known;
    row.bytes_known = own.bytes_known;
  }
}

bool is_within(const Report& report, const LayersById& layers, const LayerRow* layer,
               std::int64_t id) {
  // Parents come from files: a cycle must end.
  for (std::size_t left = report.layers.size(); layer != nullptr && left > 0; --left) {
    if (layer->id == id) return true;
    layer = layer->parent ? layers.find(*layer->parent) : nullptr;
  }
  return false;
}

// A layer with all below it. Where nothing was counted, its operators' work stands in.
TableRow whole_layer(const Report& report, const LayersById& layers, const LayerRow& layer) {
  TableRow row;
  row.device = layer.device;
  row.layer = &layer;
  row.direction = layer.direction;
  row.sum = layer;
  const bool parts = std::any_of(report.layers.begin(), report.layers.end(),
                                 [&](const LayerRow& other) { return other.parent == layer.id; });
  row.name = layer.path.empty() ? "(all)" : shown_path(layer.path) + (parts ? "/*" : "");
  if (layer.model && !layer.flops.total && !layer.bytes.dram &&
      (layer.model->bytes_per_s || layer.model->flops_per_s.value_or(0) > 0)) {
    row.analytic = true;
    row.sum.intensity.dram = layer.model->intensity;
    row.sum.flops_per_s = layer.model->flops_per_s;
    row.sum.bytes_per_s = layer.model->bytes_per_s;
    row.sum.roof = layer.model->roof;
    row.sum.saving_ns = layer.model->saving_ns;
  }
  row.tensor_inferred =
      !row.analytic &&
      std::any_of(report.kernels.begin(), report.kernels.end(), [&](const KernelRow& kernel) {
        return kernel.has_flag("tensor_inferred") &&
               is_within(report, layers, layers.find(kernel.layer), layer.id);
      });
  return row;
}

// What lies deeper is in the rows of that depth; what lies above has its own work alone.
void fold(const Report& report, int depth, std::vector<TableRow>& rows) {
  const LayersById layers(report);
  std::erase_if(
      rows, [&](const TableRow& row) { return row.layer != nullptr && row.layer->depth >= depth; });
  for (const LayerRow& layer : report.layers)
    if (layer.depth == depth &&
        (layer.launches.value_or(0) > 0 || layer.time_total_ns.value_or(0) > 0))
      rows.push_back(whole_layer(report, layers, layer));
}

// For the whole run, which is what several reports have in common.
void rank(const Report& report, TableRow& row) {
  row.units = units_of(report);
  row.process =
      report.run.rank ? "rank " + std::to_string(*report.run.rank) : std::to_string(report.run.pid);
  row.rank_saving = saving_of(row.sum).value_or(0) * row.units;
  row.rank_time = row.sum.time_total_ns.value_or(0) * row.units;
}

}  // namespace

double units_of(const Report& report) {
  return report.run.unit == Unit::step
             ? static_cast<double>(std::max<std::uint64_t>(report.run.steps.seen, 1))
             : 1.0;
}

TableRows table_rows(const std::vector<Report>& reports, const RowQuery& query) {
  TableRows out;
  out.level = query.level;
  out.time = time_of_shares(reports);
  out.several_layers = has_layers(reports);
  out.kernels = query.kernels || !out.several_layers;
  for (const Report& report : reports) {
    std::vector<TableRow> rows;
    add_rows(report, out.kernels, rows);
    if (query.depth && !out.kernels) fold(report, *query.depth, rows);
    for (TableRow& row : rows) {
      rank(report, row);
      row.report = static_cast<std::size_t>(&report - reports.data());
      out.rows.push_back(std::move(row));
    }
    out.by_step = out.by_step || report.step.exposed.has_value();
  }
  double whole = 0;
  for (const TableRow& row : out.rows) {
    if (!row.counts_again) whole += row.rank_time;
    out.by_saving = out.by_saving || row.rank_saving > 0;
    out.analytic = out.analytic || row.analytic;
    out.several_devices = out.several_devices || row.device != out.rows.front().device;
    out.several_directions = out.several_directions || row.direction != Direction::none;
  }
  for (TableRow& row : out.rows) {
    if (row.sum.time_total_ns && whole > 0 && !row.counts_again) row.share = row.rank_time / whole;
  }
  out.untimed = std::none_of(out.rows.begin(), out.rows.end(),
                             [](const TableRow& row) { return row.sum.time_total_ns.has_value(); });
  // Without a time nothing is longest, but work has an order.
  const bool by_time = query.sort == SortBy::saving || query.sort == SortBy::time;
  out.sort = out.untimed && by_time ? SortBy::flops : query.sort;
  static const LayerRow kNone;
  std::erase_if(out.rows, [&](const TableRow& row) {
    return !layer_matches(query.layers, row.layer == nullptr ? kNone : *row.layer);
  });
  if (!query.each && !out.kernels) {
    const std::size_t layers = out.rows.size();
    fold_equal_layers(out.rows);
    if (out.rows.size() < layers) out.layers = layers;
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](const TableRow& a, const TableRow& b) {
    // Over the whole run, where reports have units of their own.
    if (out.sort == SortBy::saving)
      return std::tuple(a.rank_saving, a.rank_time) > std::tuple(b.rank_saving, b.rank_time);
    if (out.sort == SortBy::time) return a.rank_time > b.rank_time;
    return stands_before(out.sort, a.sum, a.name, b.sum, b.name);
  });
  return out;
}

}  // namespace gable
