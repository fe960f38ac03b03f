// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/set_metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace gable {
namespace {

constexpr double kThreads = 32;    // of a warp
constexpr double kPercent = 0.01;  // of 1
// What a share can be at most; of parts from two executions, which may differ a little; of no
// share.
constexpr double kOne = 1 + 1e-9, kOneOfTwo = 1.05, kAny = std::numeric_limits<double>::infinity();

// A way to a ratio: top / bottom x scale, or with no bottom the metric that is the ratio.
struct Way {
  std::string_view top, bottom;
  double scale = 1;
  bool rest = false;   // 1 - what comes out
  bool apart = false;  // no pass holds both parts
};
constexpr std::size_t kMostWays = 3;
struct Entry {
  Maybe SetMetrics::*field;
  double most;                      // more cannot be
  std::array<Way, kMostWays> ways;  // the first that is known
  // How much it counts in a sum, first that is known: the parts below the line. None: its time.
  std::array<std::string_view, kMostWays> weights;
};

constexpr std::string_view kWarps = "smsp__sass_inst_executed.sum",
                           kWarpsOfHardware = "smsp__inst_executed.sum",
                           kThreadsOn = "smsp__sass_thread_inst_executed_pred_on.sum",
                           kThreadsOnOfHardware = "smsp__thread_inst_executed_pred_on.sum";

// The names with "sass" are what Gable collects; the others are ncu's, or asked for by name.
constexpr Entry kEntries[] = {
    {&SetMetrics::occupancy,
     kOne,
     {{{"sm__warps_active.avg.pct_of_peak_sustained_active", "", kPercent}}},
     {}},
    {&SetMetrics::warp_efficiency,
     kOne,
     {{{"smsp__sass_thread_inst_executed.sum", kWarps, 1 / kThreads},
       {"smsp__thread_inst_executed.sum", kWarpsOfHardware, 1 / kThreads},
       {"smsp__thread_inst_executed_per_inst_executed.ratio", "", 1 / kThreads}}},
     {kWarps, kWarpsOfHardware}},
    {&SetMetrics::warp_efficiency_predicated,
     kOne,
     {{{kThreadsOn, kWarps, 1 / kThreads},
       {kThreadsOnOfHardware, kWarpsOfHardware, 1 / kThreads},
       {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "", 1 / kThreads}}},
     {kWarps, kWarpsOfHardware}},
    {&SetMetrics::branch_uniformity,
     kOne,
     {{{.top = "smsp__sass_branch_targets_threads_divergent.sum",
        .bottom = "smsp__sass_branch_targets.sum",
        .rest = true},
       {"smsp__sass_average_branch_targets_threads_uniform.pct", "", kPercent}}},
     {"smsp__sass_branch_targets.sum"}},
    {&SetMetrics::l1_hit_rate,
     kOne,
     {{{"l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum"},
       {"l1tex__t_sector_hit_rate.pct", "", kPercent}}},
     {"l1tex__t_sectors.sum"}},
    {&SetMetrics::l2_hit_rate,
     kOneOfTwo,
     {{{.top = "lts__t_sectors_lookup_hit.sum", .bottom = "lts__t_sectors.sum", .apart = true},
       {"lts__t_sector_hit_rate.pct", "", kPercent}}},
     {"lts__t_sectors.sum"}},
    {&SetMetrics::sectors_per_load,
     kAny,
     {{{"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "smsp__sass_inst_executed_op_global_ld.sum"},
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", ""}}},
     {"smsp__sass_inst_executed_op_global_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}},
    {&SetMetrics::sectors_per_store,
     kAny,
     {{{"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
        "smsp__sass_inst_executed_op_global_st.sum"},
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", ""}}},
     {"smsp__sass_inst_executed_op_global_st.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
    {&SetMetrics::l2_sectors_per_request,
     kAny,
     {{{"lts__t_sectors_srcunit_tex.sum", "lts__t_requests_srcunit_tex.sum"}}},
     {"lts__t_requests_srcunit_tex.sum"}},
    {&SetMetrics::compute_throughput,
     kOneOfTwo,
     {{{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "", kPercent}}},
     {}},
    {&SetMetrics::memory_throughput,
     kOneOfTwo,
     {{{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "", kPercent}}},
     {}},
    {&SetMetrics::dram_throughput,
     kOneOfTwo,
     {{{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "", kPercent},
       {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "", kPercent}}},
     {}},
};

struct Kind {
  const char* name;
  std::string_view metric;
};
constexpr Kind kMix[] = {
    {"fp64", "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"},
    {"fp32", "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"},
    {"fp16", "smsp__sass_thread_inst_executed_op_fp16_pred_on.sum"},
    {"fp8", "smsp__sass_thread_inst_executed_op_fp8_pred_on.sum"},
    {"integer", "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"},
    {"bit", "smsp__sass_thread_inst_executed_op_bit_pred_on.sum"},
    {"conversion", "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"},
    {"control", "smsp__sass_thread_inst_executed_op_control_pred_on.sum"},
    {"memory", "smsp__sass_thread_inst_executed_op_memory_pred_on.sum"},
    {"between_threads",
     "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum"},
    {"uniform", "smsp__sass_thread_inst_executed_op_uniform_pred_on.sum"},
    {"other", "smsp__sass_thread_inst_executed_op_misc_pred_on.sum"},
};
constexpr Kind kMemoryMix[] = {
    {"global", "smsp__sass_inst_executed_op_global.sum"},
    {"local", "smsp__sass_inst_executed_op_local.sum"},
    {"shared", "smsp__sass_inst_executed_op_shared.sum"},
    {"texture", "smsp__sass_inst_executed_op_texture.sum"},
    {"async_copy", "smsp__sass_inst_executed_op_ldgsts.sum"},
    {"bulk_copy", "smsp__sass_inst_executed_op_tma.sum"},
};
constexpr std::array<std::string_view, kMostWays> kMixOf = {kThreadsOn, kThreadsOnOfHardware},
                                                  kMemoryMixOf = {kWarps, kWarpsOfHardware};

const CountedMetric* find(const CountedTogether& phase, std::string_view metric) {
  const auto found = phase.find(metric);
  return found == phase.end() || found->second.launches == 0 ? nullptr : &found->second;
}

// Over all phases that have it.
CountedMetric all_of(const std::vector<CountedTogether>& phases, std::string_view metric) {
  CountedMetric all;
  for (const CountedTogether& phase : phases) {
    if (const CountedMetric* counted = find(phase, metric)) {
      all.sum += counted->sum;
      all.launches += counted->launches;
    }
  }
  return all;
}

Maybe mean(const CountedMetric& metric) {
  return metric.launches > 0 ? Maybe(metric.sum / static_cast<double>(metric.launches))
                             : std::nullopt;
}

Maybe known_quotient(const Maybe& top, const Maybe& bottom) {
  return top && bottom && *bottom > 0 ? Maybe(*top / *bottom) : std::nullopt;
}

Maybe value_of(const std::vector<CountedTogether>& phases, const Way& way, bool same_work) {
  if (way.top.empty()) return std::nullopt;
  if (way.bottom.empty()) {
    const Maybe value = mean(all_of(phases, way.top));
    return value ? Maybe(*value * way.scale) : std::nullopt;
  }
  Maybe top, bottom;
  for (const CountedTogether& phase : phases) {
    const CountedMetric *above = find(phase, way.top), *below = find(phase, way.bottom);
    // A launch of which one part has no value would weigh in the other one.
    if (above == nullptr || below == nullptr || above->launches != below->launches) continue;
    top = top.value_or(0) + above->sum;
    bottom = bottom.value_or(0) + below->sum;
  }
  if (!top && way.apart && same_work) {
    top = mean(all_of(phases, way.top));
    bottom = mean(all_of(phases, way.bottom));
  }
  const Maybe value = known_quotient(top, bottom);
  if (!value) return std::nullopt;
  return way.rest ? 1 - *value : *value * way.scale;
}

// Counted, and there was nothing of it.
bool is_none(const std::vector<CountedTogether>& phases,
             const std::array<std::string_view, kMostWays>& metrics) {
  return std::any_of(metrics.begin(), metrics.end(), [&](std::string_view metric) {
    const CountedMetric all = all_of(phases, metric);
    return all.launches > 0 && all.sum == 0;
  });
}

Maybe checked(const Maybe& value, double most) {
  return value && (*value < 0 || *value > most) ? std::nullopt : value;
}

template <std::size_t count>
std::map<std::string, Maybe> mix_of(const std::vector<CountedTogether>& phases,
                                    const Kind (&kinds)[count],
                                    const std::array<std::string_view, kMostWays>& wholes) {
  std::map<std::string, Maybe> mix;
  for (const Kind& kind : kinds) {
    Maybe share;
    for (const std::string_view whole : wholes) {
      if (share || whole.empty()) continue;
      share = checked(value_of(phases, {kind.metric, whole}, false), kOne);
    }
    if (share) mix[kind.name] = share;
  }
  return mix;
}

template <std::size_t count>
std::vector<std::string> names_of(const Kind (&kinds)[count]) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

// Of a launch.
Maybe weight_of(const KernelRow& kernel, const std::array<std::string_view, kMostWays>& weights) {
  for (const std::string_view metric : weights) {
    const auto found = kernel.counters.find(std::string(metric));
    if (found != kernel.counters.end() && found->second) return found->second;
  }
  return std::nullopt;
}

bool any(const SetMetrics& metrics) {
  return !metrics.mix.empty() || !metrics.memory_mix.empty() ||
         std::any_of(std::begin(kEntries), std::end(kEntries),
                     [&](const Entry& entry) { return (metrics.*entry.field).has_value(); });
}

std::optional<SetMetrics> unless_empty(SetMetrics metrics) {
  return any(metrics) ? std::optional(std::move(metrics)) : std::nullopt;
}

}  // namespace

std::vector<std::string> mix_kinds() { return names_of(kMix); }
std::vector<std::string> memory_mix_kinds() { return names_of(kMemoryMix); }

std::optional<SetMetrics> set_metrics_of(const std::vector<CountedTogether>& phases,
                                         bool same_work) {
  SetMetrics metrics;
  for (const Entry& entry : kEntries) {
    Maybe& value = metrics.*entry.field;
    // A percentage of nothing may be given as 0.
    if (is_none(phases, entry.weights)) continue;
    for (const Way& way : entry.ways) {
      if (!value) value = checked(value_of(phases, way, same_work), entry.most);
    }
  }
  metrics.mix = mix_of(phases, kMix, kMixOf);
  metrics.memory_mix = mix_of(phases, kMemoryMix, kMemoryMixOf);
  return unless_empty(std::move(metrics));
}

void SetMetricsSum::add(Ratio& ratio, const Maybe& value, const Maybe& weight, double launches,
                        double time_ns) {
  const bool nothing = weight == 0.0;
  if (!value && !nothing) return;
  ++ratio.known;
  ratio.time_ns += time_ns;
  if (!value || nothing) return;
  ratio.least = std::min(*value, ratio.least.value_or(*value));
  ratio.most = std::max(*value, ratio.most.value_or(*value));
  ratio.weighed = ratio.weighed && weight;
  ratio.top += *value * weight.value_or(0) * launches;
  ratio.bottom += weight.value_or(0) * launches;
}

void SetMetricsSum::add(std::map<std::string, Ratio>& ratios,
                        const std::map<std::string, Maybe>& values, const Maybe& weight,
                        double launches, double time_ns) {
  for (const auto& [kind, value] : values) add(ratios[kind], value, weight, launches, time_ns);
}

void SetMetricsSum::add(const KernelRow& kernel) {
  const SetMetrics none;
  const SetMetrics& metrics = kernel.metrics ? *kernel.metrics : none;
  const double launches = kernel.launches, time_ns = kernel.time_total_ns.value_or(0);
  ++rows_;
  ratios_.resize(std::size(kEntries));
  for (std::size_t i = 0; i < ratios_.size(); ++i) {
    const Entry& entry = kEntries[i];
    const bool by_time = entry.weights.front().empty();
    const Maybe weight = by_time ? kernel.time_total_ns : weight_of(kernel, entry.weights);
    add(ratios_[i], metrics.*entry.field, weight, by_time ? 1 : launches, time_ns);
  }
  add(mix_, metrics.mix, weight_of(kernel, kMixOf), launches, time_ns);
  add(memory_mix_, metrics.memory_mix, weight_of(kernel, kMemoryMixOf), launches, time_ns);
}

std::optional<SetMetrics> SetMetricsSum::result(
    const std::function<bool(const Ratio&)>& enough) const {
  const auto value_of_all = [&](const Ratio& ratio) -> Maybe {
    if (!enough(ratio)) return std::nullopt;
    if (ratio.least == ratio.most) return ratio.least;  // of one kernel, or of equal ones
    return ratio.weighed && ratio.bottom > 0 ? Maybe(ratio.top / ratio.bottom) : std::nullopt;
  };
  SetMetrics metrics;
  for (std::size_t i = 0; i < ratios_.size(); ++i)
    metrics.*kEntries[i].field = value_of_all(ratios_[i]);
  const auto take = [&](const std::map<std::string, Ratio>& from,
                        std::map<std::string, Maybe>& to) {
    for (const auto& [kind, ratio] : from) {
      if (const Maybe value = value_of_all(ratio)) to[kind] = value;
    }
  };
  take(mix_, metrics.mix);
  take(memory_mix_, metrics.memory_mix);
  return unless_empty(std::move(metrics));
}

std::optional<SetMetrics> SetMetricsSum::of_all() const {
  return result([this](const Ratio& ratio) { return ratio.known == rows_; });
}

std::optional<SetMetrics> SetMetricsSum::of_time(double least_ns) const {
  return result([least_ns](const Ratio& ratio) { return ratio.time_ns >= least_ns; });
}

}  // namespace gable
