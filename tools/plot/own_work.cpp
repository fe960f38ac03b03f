// SPDX-License-Identifier: Apache-2.0
#include "tools/plot/own_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/report/layers_by_id.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/model_work.h"
#include "analysis/roofline/roofline.h"

namespace gable {
namespace {

// "16x2", without sizes of 1 behind the last that is more.
std::string size_text(const Dim3& size) {
  if (size.x == 0) return "?";
  std::string text = std::to_string(size.x);
  if (size.y != 1 || size.z != 1) text += "x" + std::to_string(size.y);
  if (size.z != 1) text += "x" + std::to_string(size.z);
  return text;
}

// As CUDA writes a launch.
std::string launch_text(const KernelRow& kernel) {
  std::string text = " <<<" + size_text(kernel.grid) + ", " + size_text(kernel.block);
  if (kernel.dynamic_shared > 0) text += ", " + std::to_string(kernel.dynamic_shared);
  text += ">>>";
  if (!(kernel.cluster == Dim3{})) text += " cluster " + size_text(kernel.cluster);
  return text;
}

// How rows of kernels are named.
class KernelNames {
 public:
  explicit KernelNames(const Report& report) {
    for (const KernelRow& kernel : report.kernels)
      if (!kernel.counts_again()) launches_[kernel.name].insert(launch_text(kernel));
  }
  [[nodiscard]] std::string of(const KernelRow& kernel) const {
    if (kernel.counts_again()) return kernel.name;
    return launches_.at(kernel.name).size() > 1 ? kernel.name + launch_text(kernel) : kernel.name;
  }

 private:
  std::map<std::string, std::set<std::string>> launches_;
};

// Kernels that make one row: those directly in a layer, or those of one name.
using Group = std::tuple<std::int32_t, std::int64_t, std::string>;  // device, layer, kernel's name

struct Collected {
  explicit Collected(const Roofline& roofline) : sum(roofline) {}
  LayerSum sum;
  bool tensor_inferred = false, flops_known = true, bytes_known = true;
  std::vector<const KernelRow*> kernels;  // of the report, whose time is their own
};

void fill_step_saving(const Collected& collected, OwnWork& row) {
  for (const KernelRow* kernel : collected.kernels) {
    if (kernel->path_ns) row.sum.path_ns = row.sum.path_ns.value_or(0) + *kernel->path_ns;
  }
  const bool layer = row.layer != nullptr && row.kernel.empty();
  row.sum.step_saving = layer ? row.layer->step_saving_self : saving_together(collected.kernels);
}

// Where nothing was counted of a layer, what its operators have to do by formula stands in. Its
// rates and roof need the time of the same steps, as the report's have. Bytes are not known of
// every operator with FLOPs.
void take_model(const Roofline& roofline, const LayerRow& layer, OwnWork& row) {
  if (!layer.model || row.sum.flops.total || row.sum.bytes.dram) return;
  const LayerModel& model = *layer.model;
  const bool works = model.self.flops.value_or(0) > 0 && model.flops_per_s;
  if (!works && !(model.self.bytes && model.bytes_per_s)) return;
  LayerSum own(roofline);
  own.add(kernel_of_model(roofline, layer.model->self, layer), true);
  LayerRow filled;
  filled.device = layer.device;
  own.fill(filled);
  if (!filled.bytes_per_s && !filled.flops_per_s) return;
  row.analytic = true;
  row.tensor_inferred = false;
  row.formula = filled.flops;
  row.sum.intensity = filled.intensity;
  row.sum.flops_per_s = filled.flops_per_s;
  row.sum.bytes_per_s = filled.bytes_per_s;
  row.sum.roof = filled.roof;
  row.sum.saving_ns = filled.saving_ns;
}

}  // namespace

std::optional<StepSaving> saving_together(const std::vector<const KernelRow*>& kernels) {
  StepSaving together;
  for (const KernelRow* kernel : kernels) {
    if (!kernel->step_saving || !kernel->path_ns || !kernel->roof.fraction) return std::nullopt;
    together.low_ns = std::max(together.low_ns, kernel->step_saving->low_ns);
    together.high_ns += *kernel->path_ns * std::max(0.0, 1 - *kernel->roof.fraction);
  }
  if (kernels.size() == 1) return kernels.front()->step_saving;
  if (kernels.empty()) return std::nullopt;
  together.high_ns = std::max(together.high_ns, together.low_ns);
  return together;
}

std::vector<HostPart> own_host_parts(const Report& report, double least_ns) {
  std::map<std::int64_t, double> own;
  for (const LayerRow& layer : report.layers) {
    if (!layer.host_path_ns) continue;
    own[layer.id] += *layer.host_path_ns;
    if (layer.parent) own[*layer.parent] -= *layer.host_path_ns;
  }
  std::vector<HostPart> parts;
  for (const LayerRow& layer : report.layers) {
    const auto found = own.find(layer.id);
    if (found != own.end() && found->second >= least_ns) parts.push_back({&layer, found->second});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const HostPart& a, const HostPart& b) { return a.ns > b.ns; });
  return parts;
}

std::vector<OwnWork> own_work(const Report& report, bool by_kernel) {
  const Roofline roofline(report.ceilings, report.step.launch_latency_ns);
  const LayersById layers(report);
  const KernelNames names(report);
  std::map<Group, Collected> groups;
  std::set<Group> again;  // whose time is that of other rows
  for (const KernelRow& each : report.kernels) {
    KernelRow kernel = each;
    // A graph has a row of its own beside those of its kernels, whose time it is. What a layer's
    // launches counted together is the layer's.
    const bool apart = by_kernel || kernel.graph;
    const Group group{kernel.device, kernel.layer, apart ? names.of(each) : std::string()};
    if (apart && kernel.counts_again()) {
      if (kernel.time_source == TimeSource::time) again.insert(group);
      kernel.graph.reset();
      kernel.ranges.reset();
    }
    Collected& collected = groups.try_emplace(group, roofline).first->second;
    collected.sum.add(kernel, true);
    if (!each.counts_again()) collected.kernels.push_back(&each);
    collected.flops_known = collected.flops_known && each.flops.total;
    collected.bytes_known = collected.bytes_known && each.bytes.dram;
    collected.tensor_inferred = collected.tensor_inferred || kernel.has_flag("tensor_inferred");
  }
  std::vector<OwnWork> rows;
  rows.reserve(groups.size());
  for (const auto& [group, collected] : groups) {
    const auto& [device, layer_id, kernel] = group;
    OwnWork& row = rows.emplace_back();
    row.kernel = kernel;
    if (by_kernel && !collected.kernels.empty()) row.place = collected.kernels.front()->place;
    row.sum.device = device;
    collected.sum.fill(row.sum);
    row.tensor_inferred = collected.tensor_inferred;
    row.flops_known = collected.flops_known;
    row.bytes_known = collected.bytes_known;
    row.counts_again = again.contains(group);
    row.layer = layers.find(layer_id);
    fill_step_saving(collected, row);
    if (row.layer != nullptr && kernel.empty()) take_model(roofline, *row.layer, row);
  }
  return rows;
}

}  // namespace gable
