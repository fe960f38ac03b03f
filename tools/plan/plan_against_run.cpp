// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_against_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/events/layer_tree.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/base/wrong_use.h"
#include "tools/plot/own_work.h"
#include "tools/predict/scaling.h"

namespace gable {
namespace {

using Path = std::vector<std::string>;
using Place = std::pair<Path, Direction>;

// The device whose kernels take the longest.
std::int32_t longest_device(const Report& run, std::size_t& devices) {
  std::map<std::int32_t, double> times;
  for (const KernelRow& kernel : run.kernels)
    if (!kernel.counts_again()) times[kernel.device] += kernel.time_total_ns.value_or(0);
  devices = times.size();
  const auto longest = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == times.end() ? 0 : longest->first;
}

// Where the plan's model is in the run: the path that takes the place of its class's name, so that
// most of its layers are there. A wrapper, as of DDP or a compiler, stands above it.
std::optional<Path> model_in(const Report& run, const Plan& plan) {
  std::set<Path> paths;
  for (const LayerRow& row : run.layers) paths.insert(row.path);
  std::optional<Path> best;
  std::size_t most = 0;
  for (const Path& at : paths) {
    std::size_t found = 0;
    for (const PlanLayer& layer : plan.layers) {
      if (layer.path.size() < 2) continue;
      Path path = at;
      path.insert(path.end(), layer.path.begin() + 1, layer.path.end());
      found += paths.count(path);
    }
    if (found <= most && !(found == most && best && at.size() < best->size())) continue;
    if (found == 0) continue;
    most = found;
    best = at;
  }
  // A model of one layer has nothing but its name.
  if (!best && plan.layers.size() == 1 && paths.count(plan.layers.front().path) > 0)
    best = plan.layers.front().path;
  return best;
}

void add(Maybe& sum, const Maybe& value, bool first) {
  if (first) {
    sum = value;
  } else if (sum && value) {
    *sum += *value;
  } else {
    sum.reset();
  }
}

void add(DoneWork& sum, const DoneWork& one, bool first) {
  add(sum.ns, one.ns, first);
  add(sum.flops, one.flops, first);
  add(sum.bytes, one.bytes, first);
  add(sum.formula_flops, one.formula_flops, first);
}

DoneWork done_of(const OwnWork& row) {
  DoneWork out;
  const LayerRow& sum = row.sum;
  out.ns = whole_sum(sum.time_total_ns, sum.coverage.time);
  if (row.flops_known) out.flops = sum.flops.total;
  if (row.bytes_known) out.bytes = sum.bytes.dram;
  if (row.layer != nullptr && row.layer->model) out.formula_flops = row.layer->model->self.flops;
  return out;
}

class Matching {
 public:
  Matching(const Plan& plan, const Report& run) : plan_(plan), rows_(own_work(run)) {
    out_.plan = &plan;
    out_.run = &run;
    const std::int32_t device = longest_device(run, out_.devices);
    const auto model = model_in(run, plan);
    if (!model) take_whole(run, device);
    model_ = model.value_or(Path());
    for (const OwnWork& row : rows_)
      if (row.kernel.empty() && row.layer != nullptr && row.sum.device == device)
        done_.emplace(Place{row.layer->path, row.layer->direction}, &row);
    for (const DeviceInfo& each : run.devices)
      if (each.id == device) {
        out_.device = each.name;
        out_.gpu = board_of(each);
      }
  }

  PlanAgainstRun against(std::uint64_t batch, const GpuSpec* gpu) {
    if (gpu != nullptr) out_.gpu = gpu;
    out_.batch = batch > 0 ? given(batch) : nearest();
    out_.work = work_of(operators_of(*out_.batch));
    times(operators_of(*out_.batch), out_.unfused, out_.fused);
    if (out_.whole_only) return std::move(out_);
    bool first = true;
    std::set<const OwnWork*> used;
    for (PlanGroup& group : groups_of(plan_, *out_.batch)) {
      PlannedRow row;
      row.work = work_of(group.operators);
      times(group.operators, row.unfused, row.fused);
      for (const OwnWork* of : rows_of(group)) {
        const DoneWork one = done_of(*of);
        add(row.done, one, row.found == 0);
        add(out_.done, one, first);
        first = false;
        row.found += 1;
        used.insert(of);
      }
      out_.planned_alone += group.layers - row.found;
      row.group = std::move(group);
      out_.rows.push_back(std::move(row));
    }
    for (const auto& [place, row] : done_)
      if (used.count(row) == 0)
        out_.alone.push_back(
            {shown_path(row->layer->path), row->layer->direction, done_of(*row).ns});
    std::stable_sort(
        out_.alone.begin(), out_.alone.end(),
        [](const RunAlone& a, const RunAlone& b) { return a.ns.value_or(0) > b.ns.value_or(0); });
    return std::move(out_);
  }

 private:
  void take_whole(const Report& run, std::int32_t device) {
    for (const LayerRow& row : run.layers) {
      if (row.depth > 0 || row.device != device) continue;
      out_.done.ns = whole_sum(row.time_total_ns, row.coverage.time);
      if (covers(row.coverage.flops)) out_.done.flops = row.flops.total;
      if (covers(row.coverage.bytes)) out_.done.bytes = row.bytes.dram;
    }
    if (out_.devices == 1) out_.done.formula_flops = run.step.model_flops;
    if (!(out_.done.formula_flops.value_or(0) > 0 || out_.done.flops.value_or(0) > 0))
      throw WrongUse("The run has none of the layers of the plan's model, " + plan_.name +
                     ", and its FLOPs are not known: there is nothing to compare.");
    out_.whole_only = true;
  }

  void times(const std::vector<const PlanOperator*>& operators, PlanTime& unfused,
             PlanTime& fused) const {
    if (out_.gpu == nullptr) return;
    unfused = time_of(operators, *out_.gpu, {}, Fusion::none);
    fused = time_of(operators, *out_.gpu, {}, Fusion::full);
  }

  // As it is called in the run. The optimizer is no part of the model; it stands beside it, or
  // above what wraps it.
  [[nodiscard]] const OwnWork* row_of(const PlanLayer& layer, Direction direction) const {
    const bool of_model =
        !layer.path.empty() && layer.path.front() == plan_.layers.front().path.front();
    Path path = model_;
    if (of_model) path.insert(path.end(), layer.path.begin() + 1, layer.path.end());
    for (std::size_t above = of_model ? 0 : model_.size() + 1; above-- > 0;) {
      path.assign(model_.begin(), model_.begin() + static_cast<std::ptrdiff_t>(above));
      path.insert(path.end(), layer.path.begin(), layer.path.end());
      if (done_.count({path, direction}) > 0) break;
    }
    const auto found = done_.find({path, direction});
    return found == done_.end() ? nullptr : found->second;
  }

  [[nodiscard]] std::vector<const OwnWork*> rows_of(const PlanGroup& group) const {
    std::set<std::size_t> layers;
    for (const PlanOperator* each : group.operators) layers.insert(each->layer);
    std::vector<const OwnWork*> out;
    for (const std::size_t layer : layers)
      if (const OwnWork* row = row_of(plan_.layers[layer], group.direction)) out.push_back(row);
    return out;
  }

  [[nodiscard]] std::string batches() const {
    std::string out;
    for (const PlanRun& run : plan_.runs)
      out += (out.empty() ? "" : ", ") + std::to_string(run.batch);
    return out;
  }

  [[nodiscard]] const PlanRun* given(std::uint64_t batch) const {
    for (const PlanRun& run : plan_.runs)
      if (run.batch == batch) return &run;
    throw WrongUse("The plan has these batches: " + batches() + ".");
  }

  // FLOPs of a step in layers that both have: by formula, else as counted. Empty if one is unknown.
  [[nodiscard]] Maybe flops_done(const PlanRun& run, bool formula, double& planned) const {
    if (out_.whole_only) {
      planned = work_of(operators_of(run)).all_flops();
      return formula ? out_.done.formula_flops : out_.done.flops;
    }
    Maybe sum;
    for (const PlanGroup& group : groups_of(plan_, run)) {
      const PlanWork work = work_of(group.operators);
      const std::vector<const OwnWork*> rows = rows_of(group);
      if (work.without_flops > 0 || !(work.all_flops() > 0) || rows.empty()) continue;
      if (static_cast<double>(rows.size()) < group.layers) continue;
      double done = 0;
      bool known = true;
      for (const OwnWork* row : rows) {
        const DoneWork one = done_of(*row);
        const Maybe& flops = formula ? one.formula_flops : one.flops;
        known = known && flops.has_value();
        done += flops.value_or(0);
      }
      if (!known) continue;
      planned += work.all_flops();
      sum = sum.value_or(0) + done;
    }
    return sum;
  }

  [[nodiscard]] const PlanRun* nearest() const {
    const PlanRun* best = nullptr;
    double least = 0;
    std::size_t asked = 0;
    for (const PlanRun& run : plan_.runs) {
      if (!run.asked) continue;
      ++asked;
      for (const bool formula : {true, false}) {
        double planned = 0;
        const Maybe done = flops_done(run, formula, planned);
        if (!done || *done <= 0 || planned <= 0) continue;
        const double distance = std::abs(std::log(*done / planned));
        if (best == nullptr || distance < least) {
          best = &run;
          least = distance;
        }
        break;
      }
    }
    if (best != nullptr) return best;
    if (asked != 1)
      throw WrongUse("The run does not tell its batch, as no FLOPs of it are known; name one of " +
                     batches() + " with --batch.");
    for (const PlanRun& run : plan_.runs)
      if (run.asked) best = &run;
    return best;
  }

  const Plan& plan_;
  const std::vector<OwnWork> rows_;
  PlanAgainstRun out_;
  Path model_;
  std::map<Place, const OwnWork*> done_;
};

}  // namespace

Maybe PlannedRow::over_ns() const {
  if (!done.ns || !unfused.ns || found < group.layers) return std::nullopt;
  return *done.ns - *unfused.ns;
}

PlanAgainstRun plan_against_run(const Plan& plan, const Report& run, std::uint64_t batch,
                                const GpuSpec* gpu) {
  if (run.run.unit != Unit::step)
    throw WrongUse("A plan is of a step, and the run has none: its times are of the whole run.");
  return Matching(plan, run).against(batch, gpu);
}

}  // namespace gable
