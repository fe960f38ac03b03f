// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/formula_roofs.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/model_work.h"
#include "analysis/roofline/partial_sum.h"

namespace gable {
namespace {

Maybe counted_flops(const LayerRow& row) {
  return covers(row.coverage.flops) ? row.flops.total : std::nullopt;
}

void fill_model(const LayerSum& sum, bool timed, LayerRow& row) {
  LayerModel& model = *row.model;
  LayerRow under;
  under.device = row.device;
  sum.fill(under);
  model.intensity = quotient(model.all.flops, model.all.bytes);
  model.flops_per_s = under.flops_per_s;
  model.bytes_per_s = under.bytes_per_s;
  model.roof = under.roof;
  model.saving_ns = under.roof.fraction ? under.saving_ns : std::nullopt;
  if (!timed) return;
  model.flops_ratio = quotient(counted_flops(row), model.all.flops);
  if (covers(row.coverage.bytes)) model.bytes_ratio = quotient(row.bytes.dram, model.all.bytes);
}

}  // namespace

void fill_ratios_to_forward(std::vector<LayerRow>& rows) {
  std::map<std::pair<std::int32_t, std::vector<std::string>>, const LayerRow*> forward;
  for (const LayerRow& row : rows) {
    if (row.direction == Direction::forward) forward[{row.device, row.path}] = &row;
  }
  for (LayerRow& row : rows) {
    const auto found = forward.find({row.device, row.path});
    if (row.direction == Direction::backward && found != forward.end())
      row.flops_over_forward = quotient(counted_flops(row), counted_flops(*found->second));
  }
}

void fill_formula_roofs(const Roofline& roofline, const std::vector<bool>& has_own, bool timed,
                        std::vector<LayerRow>& rows) {
  std::map<std::size_t, LayerSum> sums;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const LayerRow& layer = rows[place];
    const bool own = has_own[place] && layer.model;
    if (!is_of_model(layer) || (!own && !(layer.time_self_ns.value_or(0) > 0))) continue;
    KernelRow kernel =
        kernel_of_model(roofline, own ? layer.model->self : LayerModel::Part{}, layer);
    if (!timed) kernel.time_mean_ns = kernel.time_total_ns = std::nullopt;
    std::optional<std::size_t> above = place;
    while (above && is_of_model(rows[*above])) {
      sums.try_emplace(*above, roofline).first->second.add(kernel, *above == place);
      const auto& parent = rows[*above].parent;
      above = parent ? std::optional(static_cast<std::size_t>(*parent)) : std::nullopt;
    }
  }
  for (const auto& [place, sum] : sums)
    if (rows[place].model) fill_model(sum, timed, rows[place]);
}

}  // namespace gable
