// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/key_progress.h"

#include <algorithm>
#include <cmath>

#include "analysis/profile/profile_state.h"

namespace gable {
namespace {

struct Had {
  std::uint64_t samples = 0, windows = 0;
};

struct Shares {
  double whole = 0, lacks = 0, wide = 0, fresh = 0;
  void add(double weight, bool is_lacking, bool is_wide, bool is_fresh) {
    whole += weight;
    lacks += is_lacking ? weight : 0;
    wide += is_wide ? weight : 0;
    fresh += is_fresh ? weight : 0;
  }
};

// Launches of time windows count before their records have come.
std::unordered_map<KeyIndex, Had> in_flight(const Profile::State& state) {
  std::unordered_map<KeyIndex, Had> had;
  for (const Window& window : state.windows) {
    if (window.phase.kind != PhaseKind::time || (window.ended && !window.end.keep)) continue;
    for (const WindowKey& each : window.keys) {
      had[each.key].samples += each.launches;
      ++had[each.key].windows;
    }
  }
  return had;
}

double windows_for(const KeySpreads& spreads, const ProgressQuery& query) {
  switch (query.phase.kind) {
    case PhaseKind::hw:
      return std::max(spreads.bytes.windows_for(kEnoughSpread),
                      spreads.pushed ? 0 : spreads.counted_ns.windows_for(kEnoughSpread)) /
             std::max(query.groups, 1u);
    case PhaseKind::flops:
      return spreads.flops.differs(kSameFlops) ? spreads.flops.windows_for(kEnoughSpread) : 0;
    default:
      return spreads.time_ns.windows_for(kEnoughSpread);
  }
}

bool lacks_samples(const Had& had, const ProgressQuery& query) {
  return query.phase.kind == PhaseKind::flops ? had.windows < std::uint64_t{2} * query.round
                                              : had.samples < kEnoughSamples * query.round;
}

bool spreads_wide(const KeyRow& row, const Had& had, const ProgressQuery& query) {
  return static_cast<double>(had.windows) < std::ceil(windows_for(row.spreads, query));
}

// What is not known of a pushed range is not long.
double mean_ns(const KeyRow& row) {
  constexpr double kShort = 1000;
  if (row.time.count() > 0) return *row.time.mean();
  const double counted = row.spreads.counted_ns.mean;
  if (!row.spreads.pushed || row.spreads.counted_ns.windows == 0) return counted;
  return std::max(counted - kPushedRangeNs, kShort);
}

double threads(const LaunchKey& key) {
  const auto count = static_cast<double>(key.grid.count()) * static_cast<double>(key.block.count());
  return std::max(count, 1.0);  // of graphs and ranges nothing is known
}

// As long as others take for each of their threads; where no other is known, by threads alone.
void guess_durations(const std::vector<KeyRow>& rows, std::vector<KeyWant>& wants) {
  double ns = 0, of_threads = 0;
  for (const auto& want : wants) {
    if (want.ns > 0) ns += want.ns, of_threads += threads(rows[want.key].key);
  }
  const double of_one = of_threads > 0 ? ns / of_threads : 1;
  for (auto& want : wants) {
    if (!(want.ns > 0)) want.ns = of_one * threads(rows[want.key].key);
  }
}

}  // namespace

std::vector<KeyWant> key_wants(const Profile& profile, const ProgressQuery& query) {
  const Profile::State& state = profile.state();
  const bool time = query.phase.kind == PhaseKind::time;
  std::size_t index = 0;
  while (index < state.metrics.size() && !(state.metrics[index].phase == query.phase)) ++index;
  const auto flying = time ? in_flight(state) : std::unordered_map<KeyIndex, Had>{};
  std::vector<KeyWant> wants;
  const auto& rows = state.keys.rows();
  for (KeyIndex key = 1; key < rows.size(); ++key) {
    const KeyRow& row = rows[key];
    if (!row.used || row.last_window < query.window) continue;
    if (!time && row.in_graphs == row.launches && row.in_graphs > 0) continue;
    // What only its layer's range counts.
    if (!time && state.range_function != 0 && !state.is_range(row.key) &&
        state.graphs.of_function(row.key.function) == 0)
      continue;
    if (!time && query.counted && !query.counted(row.key)) continue;
    Had had;
    if (time) {
      had = {row.window_launches.all(PhaseKind::time), row.spreads.time_ns.windows};
      if (const auto more = flying.find(key); more != flying.end()) {
        had.samples += more->second.samples;
        had.windows += more->second.windows;
      }
    } else if (index < row.counters.size()) {
      had = {row.counters[index].samples, row.counters[index].windows};
    }
    wants.push_back({key, static_cast<double>(row.launches), mean_ns(row),
                     lacks_samples(had, query), spreads_wide(row, had, query), had.windows == 1});
  }
  if (query.guess) guess_durations(rows, wants);
  return wants;
}

KeyNeeds key_needs(const Profile& profile, const ProgressQuery& query) {
  KeyNeeds needs;
  Shares by_time, by_launches;
  for (const KeyWant& want : key_wants(profile, query)) {
    ++needs.keys;
    by_launches.add(want.launches, want.lacks, want.wide, want.fresh);
    by_time.add(want.ns * want.launches, want.lacks, want.wide, want.fresh);
  }
  const Shares& shares = by_time.whole > 0 ? by_time : by_launches;  // where no time is known
  if (shares.whole > 0) {
    needs.samples = shares.lacks / shares.whole;
    needs.spread = shares.wide / shares.whole;
    needs.fresh = shares.fresh / shares.whole;
  }
  return needs;
}

}  // namespace gable
