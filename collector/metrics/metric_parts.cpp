// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/metric_parts.h"

#include <algorithm>

#include "collector/metrics/tensor_metric.h"

namespace gable {
namespace {

// `text` with the first `from` in it replaced; empty when there is none.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  if (at == std::string_view::npos) return {};
  std::string out(text.substr(0, at));
  out.append(to).append(text.substr(at + from.size()));
  return out;
}

// Numerator and denominator of a rate or an average, as sums; empty for other metrics.
MetricNames quotient_parts(std::string_view metric) {
  const auto unit = metric.find("__");
  if (unit == std::string_view::npos) return {};
  const auto dot = metric.find('.', unit);
  if (dot == std::string_view::npos || metric.substr(dot) == ".max_rate") return {};
  const auto base = metric.substr(0, dot);
  constexpr std::string_view kHitRate = "_hit_rate";
  if (base.ends_with(kHitRate)) {
    // l1tex__t_sector_pipe_lsu_hit_rate: what it is limited to may follow.
    const auto whole = base.substr(0, base.size() - kHitRate.size());
    auto lookups = replaced(whole, "__t_sector", "__t_sectors");
    if (lookups.empty()) lookups = replaced(whole, "__t_request", "__t_requests");
    if (!lookups.empty()) return {lookups + "_lookup_hit.sum", lookups + ".sum"};
  }
  const auto above = replaced(base, "__average_t_sectors_per_request", "__t_sectors");
  if (above.empty()) return {};
  return {above + ".sum",
          replaced(base, "__average_t_sectors_per_request", "__t_requests") + ".sum"};
}

}  // namespace

MetricNames single_pass_parts(ChipMetrics& chip, std::string_view metric) {
  const auto count = chip.passes_alone(metric);
  if (!count) return {};
  if (*count == 1) return {std::string(metric)};
  for (const auto split : {TensorSplit::op, TensorSplit::target, TensorSplit::sparsity}) {
    MetricNames parts;
    bool complete = true;
    for (const auto part : tensor_parts(metric, split)) {
      if (!chip.has(part)) continue;
      const auto below = single_pass_parts(chip, part);
      complete = complete && !below.empty();
      parts.insert(parts.end(), below.begin(), below.end());
    }
    if (complete && !parts.empty()) return parts;
  }
  auto parts = quotient_parts(metric);
  const bool single = std::all_of(parts.begin(), parts.end(),
                                  [&](const std::string& part) { return chip.single(part); });
  return single ? parts : MetricNames{};
}

std::vector<TensorType> tensor_types(ChipMetrics& chip, Quantity kind) {
  std::vector<TensorType> types;
  std::vector<TensorName> handled;
  bool complete = true;
  for (const auto& role : metric_roles()) {
    const auto name = parse_tensor_name(role.metric);
    if (role.quantity != kind || !name) continue;
    const bool covered = std::any_of(handled.begin(), handled.end(), [&](const TensorName& whole) {
      return tensor_includes(whole, *name);
    });
    if (covered || !chip.has(role.metric)) continue;
    handled.push_back(*name);
    if (types.empty() || types.back().type != role.type) {
      types.push_back({std::string(role.type), {}});
      complete = true;
    }
    auto& metrics = types.back().metrics;
    const auto parts = single_pass_parts(chip, role.metric);
    complete = complete && !parts.empty();
    if (complete)
      metrics.insert(metrics.end(), parts.begin(), parts.end());
    else
      metrics.clear();
  }
  return types;
}

}  // namespace gable
