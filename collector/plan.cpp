// SPDX-License-Identifier: Apache-2.0
#include "collector/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/quantities.h"
#include "collector/host_object.h"
#include "collector/tensor_metric.h"

namespace gable {
namespace {

using Metrics = std::vector<std::string>;

// How a quantity is called in MetricPlan::unavailable.
constexpr std::pair<Quantity, const char*> kShownNames[] = {
    {Quantity::bytes_dram_read, "DRAM bytes read"},
    {Quantity::bytes_dram_write, "DRAM bytes written"},
    {Quantity::bytes_l2, "L2 bytes"},
    {Quantity::bytes_l1, "L1 bytes"},
    {Quantity::duration_ns, "duration beside counters"},
    {Quantity::ctas, "thread blocks launched"},
    {Quantity::sm_cycles, "SM cycles"},
    {Quantity::flops_fp64, "FP64 operations"},
    {Quantity::flops_fp32, "FP32 operations"},
    {Quantity::flops_fp16, "FP16 operations"},
};

// What every hardware group holds, most important first: bytes, tensor work and time of a group
// then come from one execution, which the count of thread blocks verifies.
constexpr Quantity kBase[] = {Quantity::duration_ns,     Quantity::ctas,
                              Quantity::bytes_dram_read, Quantity::bytes_dram_write,
                              Quantity::bytes_l2,        Quantity::sm_cycles};

class Planner {
 public:
  Planner(const CuptiApi& api, const std::string& chip,
          const std::vector<std::uint8_t>& availability)
      : api_(api), chip_(chip), availability_(availability) {}

  MetricPlan make() {
    MetricPlan plan;
    plan.chip = chip_;
    if (!api_.can_profile) {
      plan.error = api_.why_not;
      return plan;
    }
    {
      HostObject probe(api_, chip_, &availability_);
      if (const auto failure = probe.open(); failure.failed()) {
        plan.error = failure.sentence;
        return plan;
      }
    }
    if (auto base = with_base({}); !base.empty()) groups_.push_back(std::move(base));
    pack_tensor(Quantity::flops_tensor, true);
    pack_one(Quantity::bytes_l1, true);
    // Integer work has no place on a roofline of FLOPs: it is counted where that takes no group of
    // its own.
    pack_tensor(Quantity::ops_tensor, false);
    pack_one(Quantity::tensor_instructions, false);
    finish(plan);
    return plan;
  }

 private:
  // Passes that a set of metrics needs; nullopt when the chip lacks one of them.
  std::optional<std::size_t> passes(const Metrics& metrics,
                                    std::vector<std::uint8_t>* image = nullptr) {
    HostObject host(api_, chip_, &availability_);
    std::vector<std::uint8_t> config;
    std::size_t count = 0;
    if (host.open().failed() || host.add(metrics).failed() || host.config_image(config).failed() ||
        host.passes(config, count).failed())
      return std::nullopt;
    if (image != nullptr) *image = std::move(config);
    return count;
  }

  std::optional<std::size_t> passes_alone(std::string_view metric) {
    const std::string name(metric);
    const auto known = alone_.find(name);
    if (known != alone_.end()) return known->second;
    return alone_[name] = passes({name});
  }

  bool single(const Metrics& metrics) { return passes(metrics) == std::size_t{1}; }

  bool fits(const Metrics& group, const std::string& metric) {
    if (std::find(group.begin(), group.end(), metric) != group.end()) return true;
    auto more = group;
    more.push_back(metric);
    return single(more);
  }

  // The first metric of the table for a quantity that this chip collects in one pass together with
  // `group`.
  std::optional<std::string> metric_for(Quantity quantity, const Metrics& group = {}) {
    for (const auto& role : metric_roles()) {
      if (role.quantity != quantity || passes_alone(role.metric) != std::size_t{1}) continue;
      std::string metric(role.metric);
      if (group.empty() || fits(group, metric)) return metric;
    }
    return std::nullopt;
  }

  // `group` with what every hardware group holds, most important first, as far as it fits one pass.
  Metrics with_base(Metrics group) {
    for (const auto quantity : kBase)
      if (auto metric = metric_for(quantity, group)) group.push_back(std::move(*metric));
    return group;
  }

  // First group with room. A metric that conflicts with the base set gets a group without what
  // conflicts; it keeps the duration and the checksum. False when the metric could not be placed.
  bool place(const std::string& metric, bool may_open_group) {
    for (auto& group : groups_)
      if (fits(group, metric)) {
        group.push_back(metric);
        return true;
      }
    if (!may_open_group) return false;
    auto fresh = with_base({metric});
    std::rotate(fresh.begin(), fresh.begin() + 1, fresh.end());
    if (!holds(fresh, Quantity::duration_ns) || !holds(fresh, Quantity::ctas)) return false;
    groups_.push_back(std::move(fresh));
    return true;
  }

  static bool holds(const Metrics& group, Quantity quantity) {
    return std::any_of(group.begin(), group.end(), [&](const std::string& metric) {
      const auto* role = role_of(metric);
      return role != nullptr && role->quantity == quantity;
    });
  }

  void pack_one(Quantity quantity, bool may_open_group) {
    if (const auto metric = metric_for(quantity)) place(*metric, may_open_group);
  }

  // The single-pass metrics that add up to `metric`; empty when the chip has none or not all parts
  // are single-pass.
  Metrics leaves(std::string_view metric) {
    const auto count = passes_alone(metric);
    if (!count) return {};
    if (*count == 1) return {std::string(metric)};
    for (const auto split : {TensorSplit::op, TensorSplit::target, TensorSplit::sparsity}) {
      Metrics parts;
      bool complete = true;
      for (const auto part : tensor_parts(metric, split)) {
        if (!passes_alone(part)) continue;  // not on this chip
        const auto below = leaves(part);
        complete = complete && !below.empty();
        parts.insert(parts.end(), below.begin(), below.end());
      }
      if (complete && !parts.empty()) return parts;
    }
    return {};
  }

  // The metrics of the chip that count tensor operations of that kind, by input type. Each type's
  // metrics add up to its operations; none includes another. Empty: not all of the type can be had.
  std::vector<std::pair<std::string, Metrics>> tensor_leaves(Quantity quantity) {
    std::vector<std::pair<std::string, Metrics>> by_type;  // in the order of the role table
    std::vector<TensorName> handled;
    bool complete = true;
    for (const auto& role : metric_roles()) {
      const auto name = parse_tensor_name(role.metric);
      if (role.quantity != quantity || !name) continue;
      const bool covered =
          std::any_of(handled.begin(), handled.end(),
                      [&](const TensorName& whole) { return tensor_includes(whole, *name); });
      if (covered || !passes_alone(role.metric)) continue;
      handled.push_back(*name);
      if (by_type.empty() || by_type.back().first != role.type) {
        by_type.emplace_back(role.type, Metrics{});
        complete = true;
      }
      auto& metrics = by_type.back().second;
      const auto parts = leaves(role.metric);
      complete = complete && !parts.empty();
      if (complete)
        metrics.insert(metrics.end(), parts.begin(), parts.end());
      else
        metrics.clear();
    }
    return by_type;
  }

  // A type is counted whole or not at all: half of its operations would pass for all of them.
  void pack_tensor(Quantity quantity, bool may_open_group) {
    for (const auto& [type, metrics] : tensor_leaves(quantity)) {
      const auto before = groups_;
      const bool placed = !metrics.empty() && std::all_of(metrics.begin(), metrics.end(),
                                                          [&](const std::string& metric) {
                                                            return place(metric, may_open_group);
                                                          });
      if (placed) continue;
      groups_ = before;
      missing_.push_back(type + " tensor operations");
    }
  }

  Metrics sass_metrics() {
    Metrics metrics;
    for (const auto& role : metric_roles())
      if (role.metric.find("__sass_") != std::string_view::npos && passes_alone(role.metric) &&
          fits(metrics, std::string(role.metric)))
        metrics.emplace_back(role.metric);
    return metrics;
  }

  void add_pass(MetricPlan& plan, Phase phase, Metrics metrics) {
    PassPlan pass;
    pass.phase = phase;
    if (passes(metrics, &pass.config_image) != std::size_t{1}) {
      missing_.push_back(to_string(phase) + " (its metrics need more than one pass)");
      return;
    }
    for (const auto& metric : metrics)
      if (const auto* role = role_of(metric)) have_.push_back(role->quantity);
    pass.metrics = std::move(metrics);
    plan.passes.push_back(std::move(pass));
  }

  void finish(MetricPlan& plan) {
    std::uint8_t group = 0;
    for (auto& metrics : groups_) add_pass(plan, {PhaseKind::hw, group++}, std::move(metrics));
    if (auto sass = sass_metrics(); !sass.empty())
      add_pass(plan, {PhaseKind::flops, 0}, std::move(sass));
    for (const auto& [quantity, shown] : kShownNames)
      if (std::find(have_.begin(), have_.end(), quantity) == have_.end())
        plan.unavailable.emplace_back(shown);
    plan.unavailable.insert(plan.unavailable.end(), missing_.begin(), missing_.end());
    if (plan.passes.empty())
      plan.error = "CUPTI collects none of the metrics of a roofline on " + chip_ + ".";
  }

  const CuptiApi& api_;
  const std::string& chip_;
  const std::vector<std::uint8_t>& availability_;
  std::map<std::string, std::optional<std::size_t>> alone_;
  std::vector<Metrics> groups_;
  Metrics missing_;
  std::vector<Quantity> have_;
};

}  // namespace

MetricPlan plan_metrics(const CuptiApi& api, const std::string& chip,
                        const std::vector<std::uint8_t>& availability) {
  MetricPlan plan;
  const auto failure = guarded([&]() -> CuptiFailure {
    plan = Planner(api, chip, availability).make();
    return {};
  });
  if (failure.failed()) plan.error = failure.sentence;
  return plan;
}

std::vector<std::string> supported_chips(const CuptiApi& api) {
  std::vector<std::string> chips;
  if (!api.can_profile) return chips;
  CUpti_Profiler_Host_GetSupportedChips_Params params{};
  params.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
  if (api.cuptiProfilerHostGetSupportedChips(&params) != CUPTI_SUCCESS) return chips;
  for (std::size_t i = 0; i < params.numChips; ++i) chips.emplace_back(params.ppChipNames[i]);
  return chips;
}

}  // namespace gable
