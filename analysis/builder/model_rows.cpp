// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/model_rows.h"

#include <map>
#include <tuple>
#include <utility>

#include "analysis/roofline/formula_roofs.h"
#include "analysis/roofline/model_work.h"

namespace gable {
namespace {

constexpr double kNotUnderstood = 0.05;  // of the model's time, as for hfu
constexpr double kSameSteps = 0.95;      // of the steps seen are like the one that was described

void add(Maybe& sum, double part) { sum = sum.value_or(0) + part; }

// The work of some operators; what one of them leaves unknown is unknown of all.
struct Sum {
  LayerModel::Part part{0, 0, {}};
  double operators = 0;
  bool flops_known = true, bytes_known = true;

  // `share`: of the steps.
  void add_work(const OperatorWork& work, double share) {
    operators += share * static_cast<double>(work.operators);
    flops_known = flops_known && work.flops_known;
    bytes_known = bytes_known && work.bytes_known;
    for (const auto& [type, flops] : work.flops) {
      add(part.types[type], share * flops);
      add(part.flops, share * flops);
    }
    add(part.bytes, share * (work.bytes_read + work.bytes_written));
  }
  [[nodiscard]] LayerModel::Part known() const {
    auto known = part;
    if (!flops_known) known.flops.reset();
    if (!bytes_known) known.bytes.reset();
    return known;
  }
};

// The sum of what is known of layers' own parts; empty where nothing is.
struct Above {
  LayerModel::Part part;
  double operators = 0;
};

// Of the launch sequences of the steps that were described.
std::uint64_t steps_like_models(const Profile::State& state) {
  std::uint64_t steps = 0;
  for (const ModelDescription& model : state.models)
    steps += state.classes.steps_of(model.sequence_hash);
  return steps;
}

// Rows by their place in the list, as LayerRow::parent has it.
class Models {
 public:
  Models(const Profile::State& state, const Roofline& roofline, LayerRows& layers)
      : state_(state), roofline_(roofline), layers_(layers), alike_(model_steps_are_alike(state)) {}

  std::map<std::int32_t, StepOfModel> fill() {
    const auto seen = static_cast<double>(steps_like_models(state_));
    for (const ModelDescription& model : state_.models) {
      const auto steps = static_cast<double>(state_.classes.steps_of(model.sequence_hash));
      const double share =
          (seen > 0 ? steps / seen : 1 / static_cast<double>(state_.models.size())) /
          static_cast<double>(model.steps);
      for (const auto& [where, work] : model.work) {
        const auto row = row_of(where.first, where.second);
        if (row && is_of_model(layers_.rows[*row])) own_[*row].add_work(work, share);
      }
    }
    for (const auto& [row, own] : own_) {
      for_row_and_parents(row, [&](std::size_t above) { has_model_[above] = true; });
    }
    for (std::size_t row = 0; row < layers_.rows.size(); ++row) {
      if (!is_of_model(layers_.rows[row])) continue;
      const auto own = own_.find(row);
      add_up(row, own == own_.end() ? nullptr : &own->second);
    }
    std::vector<bool> has_own(layers_.rows.size());
    for (const auto& [row, own] : own_) has_own[row] = true;
    for (const auto& [row, model] : has_model_) fill_row(row);
    fill_formula_roofs(roofline_, has_own, alike_, layers_.rows);
    fill_modules();
    for (auto& [device, sum] : of_step_) {
      if (sum.not_understood_ns > kNotUnderstood * sum.time_ns)
        sum.flops = sum.compute_ns = std::nullopt;
    }
    return std::move(of_step_);
  }

 private:
  // Of that layer, or of the nearest one above it that has a row.
  [[nodiscard]] std::optional<std::size_t> row_of(std::int32_t device, LayerId layer) const {
    for (;; layer = state_.layers.node(layer).parent) {
      const auto found = layers_.ids.find({device, layer});
      if (found != layers_.ids.end()) return static_cast<std::size_t>(found->second);
      if (layer == 0) return std::nullopt;
    }
  }

  template <typename Use>
  void for_row_and_parents(std::size_t row, Use&& use) const {
    for (;;) {
      if (!is_of_model(layers_.rows[row])) return;
      use(row);
      if (!layers_.rows[row].parent) return;
      row = static_cast<std::size_t>(*layers_.rows[row].parent);
    }
  }

  // A layer that has kernels and no operators was not understood: its work is unknown. A loss that
  // no module computes is one.
  void add_up(std::size_t row, const Sum* own) {
    const LayerRow& layer = layers_.rows[row];
    if (own == nullptr && !(layer.time_self_ns.value_or(0) > 0)) return;
    if (layer.direction != Direction::recompute) {
      StepOfModel& sum = of_step_[layer.device];
      sum.time_ns += layer.time_self_ns.value_or(0);
      if (own == nullptr) sum.not_understood_ns += *layer.time_self_ns;
      const auto add_part = [](Maybe& all, const Maybe& part) {
        all = all && part ? Maybe(*all + *part) : std::nullopt;
      };
      if (own != nullptr) {
        const KernelRow kernel = kernel_of_model(roofline_, own->known(), layer);
        add_part(sum.flops, own->known().flops);
        add_part(sum.compute_ns, roofline_.times(kernel).compute_ns);
      }
    }
    if (own == nullptr) return;
    for_row_and_parents(row, [&](std::size_t above) {
      Above& sum = all_[above];
      sum.operators += own->operators;
      if (own->bytes_known) add(sum.part.bytes, *own->part.bytes);
      if (!own->flops_known) return;
      for (const auto& [type, flops] : own->part.types) add(sum.part.types[type], *flops);
      add(sum.part.flops, *own->part.flops);
    });
  }

  void fill_row(std::size_t index) {
    LayerModel& model = layers_.rows[index].model.emplace();
    const auto own = own_.find(index);
    model.self = own != own_.end() ? own->second.known() : LayerModel::Part{0, 0, {}};
    model.all = all_[index].part;
    model.operators = all_[index].operators;
  }

  void fill_modules() {
    for (const auto& [where, id] : layers_.ids) {
      auto& model = layers_.rows[static_cast<std::size_t>(id)].model;
      const ModuleFacts* facts = model ? facts_of(where.second) : nullptr;
      if (facts == nullptr) continue;
      model->inputs = facts->inputs;
      model->outputs = facts->outputs;
      model->dtypes = facts->dtypes;
      model->parameters = static_cast<double>(facts->parameters);
      if (facts->allocated) model->allocated_bytes = static_cast<double>(*facts->allocated);
    }
  }

  // Of the first step that had them.
  [[nodiscard]] const ModuleFacts* facts_of(LayerId layer) const {
    for (const ModelDescription& model : state_.models) {
      const auto found = model.modules.find(layer);
      if (found != model.modules.end()) return &found->second;
    }
    return nullptr;
  }

  const Profile::State& state_;
  const Roofline& roofline_;
  LayerRows& layers_;
  const bool alike_;
  std::map<std::size_t, Sum> own_;
  std::map<std::size_t, Above> all_;
  std::map<std::int32_t, StepOfModel> of_step_;
  std::map<std::size_t, bool> has_model_;
};

}  // namespace

bool model_steps_are_alike(const Profile::State& state) {
  const auto alike = static_cast<double>(steps_like_models(state));
  return alike > 0 && alike >= kSameSteps * static_cast<double>(state.classes.steps());
}

std::map<std::int32_t, StepOfModel> fill_models(const Profile::State& state, const UnitScale& unit,
                                                const Roofline& roofline, LayerRows& layers) {
  fill_ratios_to_forward(layers.rows);
  if (state.models.empty() || !unit.step) return {};
  return Models(state, roofline, layers).fill();
}

}  // namespace gable
