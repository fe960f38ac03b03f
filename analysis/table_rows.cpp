// SPDX-License-Identifier: Apache-2.0
#include "analysis/table_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/layer_tree.h"
#include "analysis/model_work.h"
#include "analysis/roofline.h"

namespace gable {
namespace {

// Kernels that make one row: those directly in a layer, or those of one name.
using Group = std::tuple<std::int32_t, std::int64_t, std::string>;  // device, layer, kernel's name

struct Collected {
  explicit Collected(const Roofline& roofline) : sum(roofline) {}
  LayerSum sum;
  bool tensor_inferred = false;
};

// Where nothing was counted of a layer, what its operators have to do by formula stands in. Its
// rates and roof need the time of the same steps, as the report's have.
void take_model(const Roofline& roofline, const LayerRow& layer, TableRow& row) {
  if (!layer.model || row.sum.flops.total || row.sum.bytes.dram) return;
  if (!layer.model->self.bytes || !layer.model->bytes_per_s) return;
  LayerSum own(roofline);
  own.add(kernel_of_model(roofline, layer.model->self, layer), true);
  LayerRow filled;
  filled.device = layer.device;
  own.fill(filled);
  if (!filled.bytes_per_s) return;
  row.analytic = true;
  row.tensor_inferred = false;
  row.sum.intensity = filled.intensity;
  row.sum.flops_per_s = filled.flops_per_s;
  row.sum.bytes_per_s = filled.bytes_per_s;
  row.sum.roof = filled.roof;
  row.sum.saving_ns = filled.saving_ns;
}

// Layers that have kernels of their own, over devices and processes: paths with directions.
bool has_layers(const std::vector<Report>& reports) {
  std::set<std::pair<std::vector<std::string>, std::string>> own;
  for (const Report& report : reports) {
    std::map<std::int64_t, const LayerRow*> layers;
    for (const LayerRow& layer : report.layers) layers[layer.id] = &layer;
    for (const KernelRow& kernel : report.kernels) {
      const auto layer = layers.find(kernel.layer);
      if (layer != layers.end()) own.emplace(layer->second->path, layer->second->direction);
    }
  }
  return own.size() > 1;
}

void add_rows(const Report& report, bool by_kernel, std::vector<TableRow>& rows) {
  const Roofline roofline(report.ceilings, report.step.launch_latency_ns);
  std::map<std::int64_t, const LayerRow*> layers;
  for (const LayerRow& layer : report.layers) layers[layer.id] = &layer;
  std::map<Group, Collected> groups;
  std::set<Group> again;  // whose time is that of other rows
  for (KernelRow kernel : report.kernels) {
    // A graph has a row of its own beside those of its kernels, whose time it is. What a layer's
    // launches counted together is the layer's.
    const bool apart = by_kernel || kernel.graph;
    const Group group{kernel.device, kernel.layer, apart ? kernel.name : std::string()};
    if (apart && kernel.counts_again()) {
      if (kernel.time_source == "time") again.insert(group);
      kernel.graph.reset();
      kernel.ranges.reset();
    }
    Collected& collected = groups.try_emplace(group, roofline).first->second;
    collected.sum.add(kernel, true);
    collected.tensor_inferred = collected.tensor_inferred || kernel.has_flag("tensor_inferred");
  }
  for (const auto& [group, collected] : groups) {
    const auto& [device, layer_id, kernel] = group;
    TableRow& row = rows.emplace_back();
    row.process = report.run.rank ? "rank " + std::to_string(*report.run.rank)
                                  : std::to_string(report.run.pid);
    row.device = device;
    row.sum.device = device;
    collected.sum.fill(row.sum);
    row.tensor_inferred = collected.tensor_inferred;
    const auto layer = layers.find(layer_id);
    row.name = by_kernel ? kernel
                         : shown_path(layer == layers.end() ? std::vector<std::string>()
                                                            : layer->second->path);
    if (!by_kernel && !kernel.empty()) row.name += " " + kernel;
    row.counts_again = again.contains(group);
    if (layer != layers.end() && layer->second->direction != "none")
      row.direction = layer->second->direction;
    if (layer != layers.end() && !by_kernel && kernel.empty())
      take_model(roofline, *layer->second, row);
    row.rank_saving = row.sum.saving_ns.value_or(0) * units_of(report);
    row.rank_time = row.sum.time_total_ns.value_or(0) * units_of(report);
  }
}

}  // namespace

double units_of(const Report& report) {
  return report.run.unit == "step"
             ? static_cast<double>(std::max<std::uint64_t>(report.run.steps.seen, 1))
             : 1.0;
}

TableRows table_rows(const std::vector<Report>& reports) {
  TableRows out;
  out.kernels = !has_layers(reports);
  for (const Report& report : reports) add_rows(report, out.kernels, out.rows);
  double whole = 0;
  for (const TableRow& row : out.rows) {
    if (!row.counts_again) whole += row.rank_time;
    out.by_saving = out.by_saving || row.sum.saving_ns.has_value();
    out.analytic = out.analytic || row.analytic;
    out.several_devices = out.several_devices || row.device != out.rows.front().device;
    out.several_directions = out.several_directions || !row.direction.empty();
  }
  for (TableRow& row : out.rows) {
    if (row.sum.time_total_ns && whole > 0 && !row.counts_again) row.share = row.rank_time / whole;
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const TableRow& a, const TableRow& b) {
    return std::tuple(a.rank_saving, a.rank_time) > std::tuple(b.rank_saving, b.rank_time);
  });
  return out;
}

}  // namespace gable
