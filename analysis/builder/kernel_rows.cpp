// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/kernel_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analysis/events/kernel_kind.h"
#include "analysis/profile/key_progress.h"
#include "analysis/roofline/set_metrics.h"
#include "analysis/roofline/work.h"

namespace gable {
namespace {

constexpr double kSameLaunches = 1e-9;
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
constexpr double kWideSpread = 0.1;                    // of window means
constexpr double kOtherTime = 1.0 / 3;  // with counters against without: more is other work, or
                                        // kernels that disturb each other
constexpr double kWorthOverlap = 0.01;  // of a range's time: less is not flagged
constexpr double kShortNs = 2000;       // differences that clocks and launches make

// Launches per window must agree between the phases that are joined; windows of launches have no
// such number.
bool launches_differ(const Profile::State& state, const KeyRow& row) {
  double low = 0, high = 0;
  bool first = true;
  for (const PhaseKind kind : {PhaseKind::hw, PhaseKind::flops, PhaseKind::time}) {
    const auto launches = state.launches_per_step(row, kind);
    if (!launches) continue;
    low = first ? *launches : std::min(low, *launches);
    high = first ? *launches : std::max(high, *launches);
    first = false;
  }
  return high - low > kSameLaunches * std::max(high, 1.0);
}

// Means of one launch. A metric that several groups collected has the mean over all its samples.
std::map<std::string, Maybe> counter_means(const Profile::State& state, const KeyRow& row) {
  std::map<std::string, std::pair<double, std::uint64_t>> sums;
  for (std::size_t phase = 0; phase < row.counters.size(); ++phase) {
    const CounterSums& counters = row.counters[phase];
    const std::vector<std::string>& names = state.metrics[phase].names;
    for (std::size_t i = 0; i < names.size() && i < counters.sum.size(); ++i) {
      auto& [sum, known] = sums[names[i]];
      sum += counters.sum[i];
      known += counters.known[i];
    }
  }
  std::map<std::string, Maybe> means;
  for (const auto& [name, sum] : sums) {
    means[name] =
        sum.second > 0 ? Maybe(sum.first / static_cast<double>(sum.second)) : std::nullopt;
  }
  return means;
}

// What the sets of --metrics tell. Means of windows that saw different work are not divided.
std::optional<SetMetrics> set_metrics(const Profile::State& state, const KeyRow& key, bool folded,
                                      const KernelRow& row) {
  std::vector<CountedTogether> phases(key.counters.size());
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const CounterSums& counters = key.counters[phase];
    const std::vector<std::string>& names = state.metrics[phase].names;
    for (std::size_t i = 0; i < names.size() && i < counters.sum.size(); ++i)
      phases[phase][names[i]] = {counters.sum[i], counters.known[i]};
  }
  const bool differs =
      row.has_flag("launches_differ") || row.has_flag("work_varies") || row.has_flag("mixed_work");
  return set_metrics_of(phases, !folded && !differs);
}

// Metrics that some other kernel of the same run has but whose group never saw this one: asked for,
// not answered.
void add_unanswered(const Profile::State& state, std::map<std::string, Maybe>& counters) {
  if (counters.empty()) return;
  for (const MetricList& list : state.metrics) {
    for (const std::string& name : list.names) counters.try_emplace(name, std::nullopt);
  }
}

// The measured launches took `sum` ns; the launches of a unit take sum x launches / measured,
// rounded once.
double time_of_launches(const Moments& time, const UnitScale::Launches& launches) {
  if (launches.weighed) return *time.mean() * *launches.weighed;
  std::uint64_t top[] = {time.sum(), launches.count}, bottom[] = {time.count(), launches.of};
  for (std::uint64_t& above : top) {
    for (std::uint64_t& below : bottom) {
      const std::uint64_t common = std::max<std::uint64_t>(std::gcd(above, below), 1);
      above /= common;
      below /= common;
    }
  }
  const long double dividend = static_cast<long double>(top[0]) * static_cast<long double>(top[1]);
  const long double divisor =
      static_cast<long double>(bottom[0]) * static_cast<long double>(bottom[1]);
  // Divided as doubles where they are exact: a long double's quotient would be rounded twice.
  if (dividend <= kExactIntegers && divisor <= kExactIntegers)
    return static_cast<double>(dividend) / static_cast<double>(divisor);
  return static_cast<double>(dividend / divisor);
}

void fill_time(const KeyRow& key, const UnitScale::Launches& launches, const Work& work,
               bool folded, KernelRow& row) {
  if (key.time.count() > 0) {
    row.time_source = TimeSource::time;
    row.time_mean_ns = key.time.mean();
    row.time_min_ns = key.time.min();
    row.time_max_ns = key.time.max();
    if (!folded) {  // a median or spread of different kernels says nothing
      row.time_median_ns = key.time.median();
      row.time_stddev_ns = key.time.stddev();
    }
    row.time_total_ns = time_of_launches(key.time, launches);
  } else if (work.duration_ns && !(key.spreads.pushed && *work.duration_ns < kLongPushedRangeNs)) {
    row.time_source = TimeSource::hw;
    row.time_mean_ns = work.duration_ns;
    row.time_total_ns = *row.time_mean_ns * row.launches;
  }
}

// Parts of a row are joined as means. Where they may be means of different work, the row says so.
void flag_spread(const Profile::State& state, const KeySpreads& spreads, KernelRow& row) {
  if (state.checks.flops_agree && spreads.flops.differs(kSameFlops))
    row.flags.emplace_back("work_varies");
  if (spreads.mixed) row.flags.emplace_back("mixed_work");
  const bool apart = spreads.bytes.variation() > kWideSpread ||
                     (!spreads.pushed && spreads.counted_ns.variation() > kWideSpread) ||
                     spreads.time_ns.variation() > kWideSpread;
  if (state.checks.spread && apart) row.flags.emplace_back("spread");
  if (!state.checks.times_agree || spreads.counted_ns.windows == 0 ||
      spreads.time_ns.windows == 0 || !row.time_mean_ns)
    return;
  const double counted = spreads.counted_ns.mean, timed = *row.time_mean_ns;
  const auto differs = [](double one, double other, double least) {
    return std::abs(one - other) > std::max(kOtherTime * std::min(one, other), least);
  };
  // A pushed range may be much longer than its kernel, but not shorter.
  const bool other = spreads.pushed ? counted < timed && differs(counted, timed, kShortNs)
                                    : differs(counted, timed, kShortNs);
  // The work may have changed since its FLOPs were counted.
  const bool since = spreads.ns_at_flops > 0 &&
                     (spreads.pushed ? differs(spreads.ns_at_flops, counted, kPushedRangeNs)
                                     : differs(spreads.ns_at_flops, timed, kShortNs));
  if (other || since) row.flags.emplace_back("times_differ");
}

// What the kernels of each layer say of its ranges.
RangeContents range_contents(const Profile::State& state) {
  RangeContents contents;
  if (state.range_function == 0) return contents;
  for (const KeyRow& row : state.keys.rows()) {
    if (!row.used || row.key.function == kOtherKey || state.is_range(row.key) ||
        state.graphs.of_function(row.key.function) != 0)
      continue;
    RangeContent& content = contents[{row.key.device, row.key.layer}];
    content.threads += row.launches * row.key.grid.count() * row.key.block.count();
    content.launches += row.launches;
    const std::string name = state.functions.name(row.key.function);
    if (content.name.empty() || names_tensor_cores(name)) content.name = name;
  }
  return contents;
}

// Counters of the launches of a layer together. Returns the kernel name that work is judged by.
std::string fill_range(const Profile::State& state, const KeyRow& key,
                       const RangeContents& contents, KernelRow& row, std::uint64_t& threads) {
  row.grid = row.block = {0, 0, 0};
  row.cluster = {1, 1, 1};
  std::uint64_t ranges = 0;
  for (const CounterSums& sums : key.counters) ranges += sums.ranges;
  row.ranges = static_cast<std::int64_t>(ranges);
  row.overlap = state.overlaps.share(key.key.device, key.key.layer);
  if (row.overlap && *row.overlap > kWorthOverlap) row.flags.emplace_back("overlapped");
  const auto content = contents.find({key.key.device, key.key.layer});
  if (content == contents.end() || content->second.launches == 0) return row.name;
  threads = content->second.threads / content->second.launches;
  return content->second.name;
}

// Sizes only where every launch told its own.
std::optional<CollectiveRow> collective_row(const KeyRow& key) {
  const CollectiveSums& sums = key.messages;
  if (sums.calls == 0) return std::nullopt;
  CollectiveRow row;
  row.kind = sums.kind;
  if (sums.ranks > 0) row.ranks = sums.ranks;
  row.one_node = sums.one_node;
  if (sums.calls != key.launches) return row;
  if (sums.sized) row.bytes = sums.bytes / static_cast<double>(sums.calls);
  if (sums.on_bus) row.bus_bytes = sums.bus_bytes / static_cast<double>(sums.calls);
  return row;
}

KernelRow kernel_row(const Profile::State& state, const UnitScale& unit, const KeyRow& key,
                     bool folded, const RangeContents& contents) {
  KernelRow row;
  row.direction = state.layers.node(key.key.layer).direction;
  row.device = key.key.device;
  row.name = state.functions.name(key.key.function);
  row.symbol = state.functions.symbol(key.key.function);
  row.place = state.functions.place(key.key.function);
  row.grid = key.key.grid;
  row.block = key.key.block;
  row.cluster = key.key.cluster;
  row.dynamic_shared = key.key.dynamic_shared;
  if (!folded && key.resources.registers > 0) {
    row.registers = key.resources.registers;
    row.shared_bytes = key.resources.shared_bytes;
  }
  if (!folded) row.collective = collective_row(key);
  const UnitScale::Launches launches = unit.launches(state, key);
  row.launches = launches.per_unit();
  for (std::size_t phase = 0; phase < key.counters.size(); ++phase) {
    const bool hw = state.metrics[phase].phase.kind == PhaseKind::hw;
    (hw ? row.samples_hw : row.samples_flops) += key.counters[phase].samples;
  }
  row.samples_time = key.time.count();
  row.counters = counter_means(state, key);
  add_unanswered(state, row.counters);
  for (const std::string& metric : state.roof_metrics)
    if (!state.raw_metrics.contains(metric)) row.counters.erase(metric);
  std::uint64_t threads = row.grid.count() * row.block.count();
  const GraphId graph = folded ? 0 : state.graphs.of_function(key.key.function);
  if (graph != 0) {
    const GraphShape& shape = state.graphs.find(graph)->shape;
    row.graph = graph;
    row.nodes = shape.kernels;
    row.grid = row.block = {0, 0, 0};
    row.name = graph_name(shape);
    threads = shape.threads;
  }
  std::string judged = row.name;
  if (!folded && state.is_range(key.key)) judged = fill_range(state, key, contents, row, threads);
  std::map<std::string, Maybe> counted = row.counters;
  for (const std::string& metric : state.raw_metrics) counted.erase(metric);
  Work work = work_of(counted, threads, judged);
  fill_time(key, launches, work, folded, row);
  row.flops = std::move(work.flops);
  row.ops = std::move(work.ops);
  row.bytes = work.bytes;
  row.flags.insert(row.flags.end(), work.flags.begin(), work.flags.end());
  if (const auto flag = flag_of(kind_of_kernel(row.name)); !flag.empty())
    row.flags.emplace_back(flag);
  if (folded) {
    row.metrics = set_metrics(state, key, folded, row);
    return row;
  }
  if (unit.step && state.checks.launches_agree && launches_differ(state, key))
    row.flags.emplace_back("launches_differ");
  flag_spread(state, key.spreads, row);
  for (std::size_t phase = 0; phase < key.counters.size(); ++phase) {
    if (state.checks.flops_agree && state.metrics[phase].phase.kind == PhaseKind::flops &&
        (key.counters[phase].windows == 1 || key.spreads.takes_turns()))
      row.flags.emplace_back("flops_unchecked");
  }
  row.metrics = set_metrics(state, key, folded, row);
  return row;
}

}  // namespace

std::vector<KernelOfLayer> kernel_rows(const Profile::State& state, const UnitScale& unit) {
  const RangeContents contents = range_contents(state);
  std::vector<KernelOfLayer> kernels;
  const std::vector<KeyRow>& rows = state.keys.rows();
  for (KeyIndex index = 0; index < rows.size(); ++index) {
    const KeyRow& key = rows[index];
    if (!key.used) continue;
    if (unit.step && unit.launches_from != PhaseKind::off && !key.window_launches.any())
      continue;  // no part of a step
    kernels.push_back({key.key, key.key.layer, key.first_seen,
                       kernel_row(state, unit, key, index == kOtherKey, contents)});
  }
  return kernels;
}

}  // namespace gable
