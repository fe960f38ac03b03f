// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/events/quantities.h"
#include "analysis/events/roof_metrics.h"
#include "collector/cupti/cupti_params.h"
#include "collector/cupti/nvperf.h"
#include "collector/metrics/chip_metrics.h"
#include "collector/metrics/host_object.h"
#include "collector/metrics/metric_parts.h"

namespace gable {
namespace {

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

// Metrics with "sass" in their name are counted by instrumented code: one pass, which hardware
// metrics cannot share. All that a chip has fit it (asked of every chip by the tests).
bool is_sass(std::string_view metric) { return metric.find("__sass_") != std::string_view::npos; }

class Planner {
 public:
  explicit Planner(ChipMetrics& chip) : chip_(chip) {}

  MetricPlan make(const std::vector<std::string>& wanted) {
    MetricPlan plan;
    plan.chip = chip_.chip();
    if (const auto failure = chip_.check(); failure.failed()) {
      plan.error = failure.sentence;
      return plan;
    }
    const MetricRequest request = read_request(chip_, wanted);
    plan.left_out = request.left_out;
    plan.notes = request.notes;
    if (request.roofline) pack_roofline();
    pack_extra(request, plan);
    pack_roofs();
    finish(request.roofline, plan);
    return plan;
  }

 private:
  void pack_roofline() {
    open_first_group();
    pack_tensor(Quantity::flops_tensor, true);
    pack_one(Quantity::bytes_l1, true);
    // Integer work has no place on a roofline of FLOPs: it is counted where that takes no group of
    // its own.
    pack_tensor(Quantity::ops_tensor, false);
    pack_one(Quantity::tensor_instructions, false);
    for (const auto& role : metric_roles())
      if (is_sass(role.metric) && chip_.has(role.metric) &&
          chip_.fits(sass_, std::string(role.metric)))
        sass_.emplace_back(role.metric);
  }

  // What --metrics asks for beyond the roofline. Its groups hold the bytes too, as far as they fit.
  void pack_extra(const MetricRequest& request, MetricPlan& plan) {
    for (const std::string& metric : request.metrics) {
      if (planned(metric)) continue;
      bool placed = false;
      if (is_sass(metric)) {
        placed = chip_.fits(sass_, metric);
        if (placed) sass_.push_back(metric);
      } else {
        open_first_group();
        placed = planned(metric) || place(metric, true);
      }
      if (placed) {
        extra_.push_back(metric);
      } else {
        plan.left_out.push_back({metric, true,
                                 metric + " is left out: on " + chip_.chip() +
                                     " it shares no pass with the duration and the count of "
                                     "thread blocks, which verify a window."});
      }
    }
  }

  // After all others, so that no roof takes a pass or room from what is counted. A roof needs all
  // of its metrics.
  void pack_roofs() {
    if (groups_.empty()) return;
    for (const RoofMetric& roof : kRoofMetrics) {
      auto group = groups_.front();
      MetricNames metrics{std::string(roof.peak)};
      if (!roof.clock.empty()) metrics.emplace_back(roof.clock);
      const bool placed =
          std::all_of(metrics.begin(), metrics.end(), [&](const std::string& metric) {
            if (planned(metric)) return true;
            if (!chip_.fits(group, metric)) return false;
            group.push_back(metric);
            return true;
          });
      if (!placed) continue;
      groups_.front() = std::move(group);
      roofs_.insert(roofs_.end(), metrics.begin(), metrics.end());
    }
  }

  void open_first_group() {
    if (!groups_.empty()) return;
    if (auto base = with_base({}); !base.empty()) groups_.push_back(std::move(base));
  }

  [[nodiscard]] bool planned(const std::string& metric) const {
    const auto holds = [&](const MetricNames& group) {
      return std::find(group.begin(), group.end(), metric) != group.end();
    };
    return holds(sass_) || std::any_of(groups_.begin(), groups_.end(), holds);
  }

  // The first metric of the table for a quantity that this chip collects in one pass together with
  // `group`.
  std::optional<std::string> metric_for(Quantity quantity, const MetricNames& group = {}) {
    for (const auto& role : metric_roles()) {
      if (role.quantity != quantity || !chip_.single(role.metric)) continue;
      std::string metric(role.metric);
      if (group.empty() || chip_.fits(group, metric)) return metric;
    }
    return std::nullopt;
  }

  // `group` with what every hardware group holds, most important first, as far as it fits one pass.
  MetricNames with_base(MetricNames group) {
    for (const auto quantity : kBase)
      if (auto metric = metric_for(quantity, group)) group.push_back(std::move(*metric));
    return group;
  }

  // First group with room. A metric that conflicts with the base set gets a group without what
  // conflicts; it keeps the duration and the checksum. False when the metric could not be placed.
  bool place(const std::string& metric, bool may_open_group) {
    for (auto& group : groups_)
      if (chip_.fits(group, metric)) {
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

  static bool holds(const MetricNames& group, Quantity quantity) {
    return std::any_of(group.begin(), group.end(), [&](const std::string& metric) {
      const auto* role = role_of(metric);
      return role != nullptr && role->quantity == quantity;
    });
  }

  void pack_one(Quantity quantity, bool may_open_group) {
    if (const auto metric = metric_for(quantity)) place(*metric, may_open_group);
  }

  // A type is counted whole or not at all: half of its operations would pass for all of them.
  void pack_tensor(Quantity quantity, bool may_open_group) {
    for (const auto& [type, metrics] : tensor_types(chip_, quantity)) {
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

  void add_pass(MetricPlan& plan, Phase phase, MetricNames metrics) {
    PassPlan pass;
    pass.phase = phase;
    if (chip_.configure(metrics, pass.config_image) != std::size_t{1}) {
      missing_.push_back(to_string(phase) + " (its metrics need more than one pass)");
      return;
    }
    for (const auto& metric : metrics)
      if (const auto* role = role_of(metric)) have_.push_back(role->quantity);
    pass.metrics = std::move(metrics);
    plan.passes.push_back(std::move(pass));
  }

  void finish(bool roofline, MetricPlan& plan) {
    std::uint8_t group = 0;
    for (auto& metrics : groups_) add_pass(plan, {PhaseKind::hw, group++}, std::move(metrics));
    if (!sass_.empty()) add_pass(plan, {PhaseKind::flops, 0}, std::move(sass_));
    plan.raw = extra_;
    plan.roofs = roofs_;
    if (roofline) {
      for (const auto& [quantity, shown] : kShownNames)
        if (std::find(have_.begin(), have_.end(), quantity) == have_.end())
          plan.unavailable.emplace_back(shown);
    }
    plan.unavailable.insert(plan.unavailable.end(), missing_.begin(), missing_.end());
    const auto& trouble = chip_.trouble().sentence;
    if (!plan.passes.empty()) {
      if (!trouble.empty())
        plan.notes.push_back(trouble + " Some of the counters that were asked for are not taken.");
      return;
    }
    plan.error = "CUPTI collects none of the metrics " +
                 std::string(roofline ? "that a roofline needs" : "asked for") + " on " +
                 chip_.chip() + "." + (trouble.empty() ? "" : " " + trouble);
  }

  ChipMetrics& chip_;
  std::vector<MetricNames> groups_;
  MetricNames sass_;   // what the flops pass collects
  MetricNames extra_;  // what --metrics added
  MetricNames roofs_;  // from which CUPTI states roofs
  MetricNames missing_;
  std::vector<Quantity> have_;
};

}  // namespace

MetricPlan plan_metrics(ChipMetrics& chip, const std::vector<std::string>& wanted) {
  MetricPlan plan;
  plan.chip = chip.chip();
  if (!chip.api().can_profile) {
    plan.error = chip.api().why_not;
    return plan;
  }
  const auto failure = guarded([&]() -> CuptiFailure {
    plan = Planner(chip).make(wanted);
    return {};
  });
  if (failure.failed()) plan.error = failure.sentence;
  return plan;
}

MetricPlan plan_metrics(const CuptiApi& api, const std::string& chip,
                        const std::vector<std::string>& wanted,
                        const std::vector<std::uint8_t>& availability) {
  ChipMetrics metrics(api, chip, availability);
  return plan_metrics(metrics, wanted);
}

std::vector<std::string> supported_chips(const CuptiApi& api) {
  std::vector<std::string> chips;
  if (!api.can_profile) return chips;
  open_nvperf(api.path);
  GABLE_PARAMS(CUpti_Profiler_Host_GetSupportedChips, params);
  if (GABLE_CALL(api, cuptiProfilerHostGetSupportedChips, &params) != CUPTI_SUCCESS) return chips;
  for (std::size_t i = 0; i < params.numChips; ++i) chips.emplace_back(params.ppChipNames[i]);
  return chips;
}

}  // namespace gable
