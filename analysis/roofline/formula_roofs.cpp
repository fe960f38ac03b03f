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

struct Below {
  explicit Below(const Roofline& roofline) : sum(roofline) {}
  LayerSum sum;
  bool all_flops = true, all_bytes = true;  // are known
};

void fill_model(const Below& below, bool timed, LayerRow& row) {
  LayerModel& model = *row.model;
  LayerRow under;
  under.device = row.device;
  below.sum.fill(under);
  model.flops_coverage = below.all_flops ? 1 : under.coverage.flops;
  model.bytes_coverage = below.all_bytes ? 1 : under.coverage.bytes;
  model.intensity = below.all_flops && below.all_bytes ? quotient(model.all.flops, model.all.bytes)
                                                       : under.intensity.dram;
  model.flops_per_s = under.flops_per_s;
  model.bytes_per_s = under.bytes_per_s;
  model.roof = under.roof;
  model.saving_ns = under.roof.fraction ? under.saving_ns : std::nullopt;
  if (!timed) return;
  // All work is counted, so it is compared only with formulas of all work.
  if (below.all_flops) model.flops_ratio = quotient(counted_flops(row), model.all.flops);
  if (below.all_bytes && covers(row.coverage.bytes))
    model.bytes_ratio = quotient(row.bytes.dram, model.all.bytes);
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
  std::map<std::size_t, Below> sums;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const LayerRow& layer = rows[place];
    const bool own = has_own[place] && layer.model;
    if (!is_of_model(layer) || (!own && !(layer.time_self_ns.value_or(0) > 0))) continue;
    KernelRow kernel =
        kernel_of_model(roofline, own ? layer.model->self : LayerModel::Part{}, layer);
    if (!timed) kernel.time_mean_ns = kernel.time_total_ns = std::nullopt;
    std::optional<std::size_t> above = place;
    while (above && is_of_model(rows[*above])) {
      Below& below = sums.try_emplace(*above, roofline).first->second;
      below.sum.add(kernel, *above == place);
      below.all_flops = below.all_flops && kernel.flops.total;
      below.all_bytes = below.all_bytes && kernel.bytes.dram;
      const auto& parent = rows[*above].parent;
      above = parent ? std::optional(static_cast<std::size_t>(*parent)) : std::nullopt;
    }
  }
  for (const auto& [place, below] : sums)
    if (rows[place].model) fill_model(below, timed, rows[place]);
}

}  // namespace gable
