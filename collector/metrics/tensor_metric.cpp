// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/tensor_metric.h"

#include "analysis/events/quantities.h"

namespace gable {
namespace {

constexpr std::string_view kPrefix = "sm__ops_path_tensor_";
constexpr std::string_view kRollup = ".sum";

// Cuts `mark` and what follows it off `text`; returns what followed.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const auto at = text.rfind(mark);
  if (at == std::string_view::npos) return {};
  const auto tail = text.substr(at + mark.size());
  text = text.substr(0, at);
  return tail;
}

}  // namespace

std::optional<TensorName> parse_tensor_name(std::string_view metric) {
  if (!metric.starts_with(kPrefix) || !metric.ends_with(kRollup)) return std::nullopt;
  metric.remove_prefix(kPrefix.size());
  metric.remove_suffix(kRollup.size());
  TensorName name;
  name.sparsity = cut(metric, "_sparsity_");
  name.target = cut(metric, "_dst_");
  name.source = cut(metric, "src_");
  if (name.source.empty()) return std::nullopt;
  if (metric.starts_with("op_") && metric.ends_with("_"))
    name.op = metric.substr(3, metric.size() - 4);
  else if (!metric.empty())
    return std::nullopt;
  return name;
}

std::vector<std::string_view> tensor_parts(std::string_view metric, TensorSplit split) {
  std::vector<std::string_view> parts;
  const auto whole = parse_tensor_name(metric);
  if (!whole) return parts;
  for (const auto& role : metric_roles()) {
    auto part = parse_tensor_name(role.metric);
    if (!part) continue;
    auto& field = split == TensorSplit::op       ? part->op
                  : split == TensorSplit::target ? part->target
                                                 : part->sparsity;
    if (field.empty()) continue;
    field = {};
    if (*part == *whole) parts.push_back(role.metric);
  }
  return parts;
}

bool tensor_includes(const TensorName& whole, const TensorName& part) {
  auto covers = [](std::string_view outer, std::string_view inner) {
    return outer.empty() || outer == inner;
  };
  return whole.source == part.source && covers(whole.op, part.op) &&
         covers(whole.target, part.target) && covers(whole.sparsity, part.sparsity);
}

}  // namespace gable
