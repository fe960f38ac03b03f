// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "analysis/report/layers_by_id.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/model_work.h"
#include "analysis/roofline/occupancy.h"
#include "tools/plot/matrix_kernel.h"
#include "tools/plot/own_work.h"
#include "tools/predict/predict.h"
#include "tools/predict/scaling.h"

namespace gable {
namespace {

void scale(KernelRow& row, const Maybe& factor) {
  const auto times = [&](Maybe& value) {
    value = value && factor ? Maybe(*value * *factor) : std::nullopt;
  };
  for (Maybe* value : {&row.time_mean_ns, &row.time_median_ns, &row.time_min_ns, &row.time_max_ns,
                       &row.time_stddev_ns, &row.time_total_ns})
    times(*value);
  if (!factor) row.time_source = TimeSource::unknown;
}

// Of a layer of which nothing was counted: by its operators' formulas.
struct FormulaLayer {
  Maybe factor;
  LayerModel::Part self;
};

class ReportPrediction {
 public:
  ReportPrediction(const Report& report, const GpuSpec& gpu, const std::string& precision)
      : here_(report),
        gpu_(gpu),
        precision_(precision),
        usual_(usual_type(report)),
        out_(report),
        layers_(report) {
    for (const DeviceInfo& device : report.devices) {
      from_.emplace(device.id, machine_of(report, device));
      to_.emplace(device.id, machine_of(gpu, device.id));
    }
  }

  Report run() {
    own_gpu_ = precision_.empty() && !from_.empty() &&
               std::all_of(from_.begin(), from_.end(),
                           [&](const auto& each) { return each.second.spec == &gpu_; });
    out_.run.source = Source::predicted;
    if (!own_gpu_) change_devices();
    formulas();
    const Roofline roofs(out_.ceilings, here_.step.launch_latency_ns);
    for (std::size_t i = 0; i < out_.kernels.size(); ++i)
      kernel(here_.kernels[i], roofs, out_.kernels[i]);
    sum_layers(out_, roofs);
    const Maybe step_ns = step_there();
    clean();
    out_.step.wall_mean_ns = step_ns;
    return std::move(out_);
  }

 private:
  // What this GPU's own report has stays: its roofs are at the clock that was measured, and so are
  // its times.
  void change_devices() {
    out_.ceilings.clear();
    out_.sm_clock_measured_hz.clear();
    for (DeviceInfo& device : out_.devices) {
      DeviceInfo there;
      there.id = device.id;
      there.name = gpu_.name;
      there.sm_count = gpu_.sm_count;
      there.compute_major = gpu_.compute_major;
      there.compute_minor = gpu_.compute_minor;
      device = std::move(there);
      for (Ceiling& ceiling : ceilings_of(gpu_, device.id))
        out_.ceilings.push_back(std::move(ceiling));
    }
  }

  void formulas() {
    for (const OwnWork& own : own_work(here_)) {
      if (own.layer == nullptr || !own.analytic || !from_.contains(own.layer->device)) continue;
      const LayerRow& layer = *own.layer;
      FormulaLayer formula{std::nullopt, layer.model->self};
      if (!precision_.empty()) change_precision(formula.self);
      const Machine &from = from_.at(layer.device), &to = to_.at(layer.device);
      ScalingFacts facts;
      facts.least_here_ns =
          from.roofs.times(kernel_of_model(from.roofs, layer.model->self, layer)).min_ns();
      facts.least_there_ns =
          to.roofs.times(kernel_of_model(to.roofs, formula.self, layer)).min_ns();
      // The launches of the layer, as if each did its share.
      const double launches = own.sum.launches.value_or(1);
      if (launches > 0) {
        for (Maybe* each : {&facts.least_here_ns, &facts.least_there_ns}) {
          if (*each) *each = **each / launches;
        }
        if (layer.time_self_ns) facts.time_ns = *layer.time_self_ns / launches;
      }
      facts.launch_latency_ns = here_.step.launch_latency_ns;
      formula.factor = time_factor(facts, from, to);
      formulas_[layer.id] = formula;
    }
  }

  void change_precision(LayerModel::Part& part) const {
    std::string type;
    double most = 0, all = 0;
    for (const auto& [name, flops] : part.types) {
      all += flops.value_or(0);
      if (flops.value_or(0) <= most) continue;
      most = *flops;
      type = name;
    }
    const double before = element_bytes(type.empty() ? usual_ : type);
    if (part.bytes && before > 0) *part.bytes *= element_bytes(precision_) / before;
    if (all > 0) part.types = {{precision_, all}};
  }

  void kernel(const KernelRow& from, const Roofline& roofs, KernelRow& row) {
    if (!precision_.empty())
      gable::change_precision(row, is_matrix_kernel(from, layers_.find(from.layer)), precision_,
                              usual_);
    if (own_gpu_) return;
    const auto here = from_.find(from.device), there = to_.find(from.device);
    Maybe factor;
    if (here != from_.end()) {
      ScalingFacts facts;
      facts.time_ns = from.time_mean_ns;
      facts.least_here_ns = here->second.roofs.times(from).min_ns();
      facts.least_there_ns = there->second.roofs.times(row).min_ns();
      // A graph or a range has no grid.
      if (!from.counts_again())
        facts.blocks = static_cast<double>(from.grid.x) * from.grid.y * from.grid.z;
      facts.launch_latency_ns = here_.step.launch_latency_ns;
      facts.stays = is_beside_roofs(from.roof.bound);
      factor = time_factor(facts, here->second, there->second);
      const auto formula = formulas_.find(from.layer);
      if (!factor && formula != formulas_.end()) factor = formula->second.factor;
    }
    scale(row, factor);
    std::erase(row.flags, "above_roof");
    row.counters.clear();
    row.metrics.reset();
    for (const DeviceInfo& device : out_.devices) {
      if (device.id == row.device) fill_waves(device, row);
    }
    roofs.apply(row);
  }

  // The critical path of here with the kernels' times of there; host, copies, latencies and
  // communication stay. Another path may be longer there, the host's own for one: at least that.
  [[nodiscard]] Maybe step_there() const {
    const Step& step = here_.step;
    if (!step.exposed || !step.graph || !step.wall_mean_ns) return std::nullopt;
    if (own_gpu_) return step.wall_mean_ns;
    double before = 0, after = 0;
    for (std::size_t i = 0; i < here_.kernels.size(); ++i) {
      const KernelRow &from = here_.kernels[i], &to = out_.kernels[i];
      if (from.path_ns.value_or(0) == 0) continue;
      if (!from.time_mean_ns || !to.time_mean_ns || !(*from.time_mean_ns > 0)) return std::nullopt;
      before += *from.path_ns;
      after += *from.path_ns * *to.time_mean_ns / *from.time_mean_ns;
    }
    const double path = *step.wall_mean_ns + (after - before);
    const double host = step.host_mean_ns && step.sync_ns ? *step.host_mean_ns - *step.sync_ns : 0;
    return std::max({path, host, 0.0});
  }

  void clean() {
    for (KernelRow& row : out_.kernels) {
      row.path_ns.reset();
      row.step_saving.reset();
    }
    for (LayerRow& row : out_.layers) {
      row.path_ns.reset();
      row.host_path_ns.reset();
      row.step_saving.reset();
      row.step_saving_self.reset();
      row.time_busy_ns = row.cpu_ns = row.span_ns = row.sync_ns = std::nullopt;
      row.tokens.reset();
      row.spread.reset();
      const auto formula = formulas_.find(row.id);
      if (formula == formulas_.end() || !formula->second.factor || !row.time_self_ns) {
        row.model.reset();
        continue;
      }
      // By it the row says that its work is no counted one.
      LayerModel model;
      model.self = model.all = formula->second.self;
      if (model.self.flops) model.flops_coverage = 1;
      if (model.self.bytes) model.bytes_coverage = 1;
      if (model.self.bytes && *row.time_self_ns > 0)
        model.bytes_per_s = *model.self.bytes / *row.time_self_ns * 1e9;
      row.model = model;
    }
    out_.operators.clear();  // they have the times of here
    out_.memory.reset();     // and the allocator of here
    out_.step = {};
    out_.step.launch_latency_ns = here_.step.launch_latency_ns;
    out_.run.total = {};
    out_.run.total.basis = Basis::extrapolated;
    out_.run.total.basis_note = "predicted for " + gpu_.name + " from " + starting_gpu(here_);
    out_.run.notes = {out_.run.total.basis_note + "; nothing was measured there."};
    for (CopyRow& copy : out_.copies) copy.time_ns.reset();
    fill_link_roofs(out_);
  }

  const Report& here_;
  const GpuSpec& gpu_;
  const std::string& precision_;
  const std::string usual_;
  Report out_;
  bool own_gpu_ = false;
  const LayersById layers_;
  std::map<std::int32_t, Machine> from_, to_;
  std::map<std::int64_t, FormulaLayer> formulas_;
};

}  // namespace

Report predicted_report(const Report& report, const GpuSpec& gpu, const std::string& precision) {
  return ReportPrediction(report, gpu, precision).run();
}

std::string starting_gpu(const Report& report) {
  std::set<std::int32_t> used;
  for (const KernelRow& kernel : report.kernels) used.insert(kernel.device);
  std::string text;
  for (const DeviceInfo& device : report.devices) {
    if (!used.contains(device.id)) continue;
    const GpuSpec* gpu = board_of(device);
    const std::string name = device.name.empty() ? "a GPU without a name" : device.name;
    const std::string one =
        name + (gpu == nullptr || gpu->name == name ? "" : " (" + gpu->name + ")");
    if (text.find(one) == std::string::npos) text += (text.empty() ? "" : ", ") + one;
  }
  return text.empty() ? "a GPU that the report does not name" : text;
}

}  // namespace gable
