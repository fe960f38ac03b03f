// SPDX-License-Identifier: Apache-2.0
// How a window's content joins the profile once the window is complete.
#include "analysis/profile/profile_state.h"

#include <algorithm>
#include <cmath>

#include "analysis/profile/key_progress.h"

namespace gable {
namespace {

constexpr std::size_t kRememberedWindows = 64;
constexpr std::size_t kMaxClassWalls = 4096;
constexpr std::uint64_t kLeastPlain = 2;

// What one window says of a key, beside what the others said.
void compare(const MetricList& metrics, const WindowKey& window, bool steps, bool range,
             KeySpreads& spreads) {
  const CounterSums& sums = window.counters;
  const auto mean = [&sums](std::size_t i) {
    return i < sums.known.size() && sums.known[i] > 0
               ? sums.sum[i] / static_cast<double>(sums.known[i])
               : 0.0;
  };
  if (metrics.phase.kind == PhaseKind::flops) {
    if (metrics.flops.empty() || !(window.most_flops >= window.least_flops)) return;
    spreads.ns_at_flops = spreads.counted_ns.mean;
    if (range) {  // kernels of different work are one row
      spreads.flops.add(MetricList::sum(metrics.flops, mean));
    } else if (steps) {
      spreads.flops.add(MetricList::sum(metrics.flops, mean));
      spreads.mixed = spreads.mixed || window.most_flops - window.least_flops >
                                           kSameFlops * std::abs(window.most_flops);
    } else {
      spreads.flops.add(window.least_flops);
      spreads.flops.add(window.most_flops);
    }
    return;
  }
  if (!metrics.bytes.empty()) spreads.bytes.add(MetricList::sum(metrics.bytes, mean));
  spreads.pushed = spreads.pushed || window.pushed;
  if (metrics.duration) spreads.counted_ns.add(mean(*metrics.duration));
}

// From border to border, less the time for which its launches waited until CUPTI was switched.
std::uint64_t wall_without_changes(const WindowEnd& end) {
  if (end.start_ns == 0 || end.end_ns <= end.start_ns) return 0;
  const std::uint64_t whole = end.end_ns - end.start_ns;
  return whole > end.change_ns ? whole - end.change_ns : 0;
}

// Sorted, all with times.
bool is_drained(const Window& window) {
  return !window.records.empty() && window.records.front().start >= window.end.start_ns &&
         std::all_of(window.records.begin(), window.records.end(),
                     [&](const HeldRecord& record) { return record.end <= window.end.end_ns; });
}

void sort_by_start(std::vector<HeldRecord>& records) {
  const auto earlier = [](const HeldRecord& a, const HeldRecord& b) { return a.start < b.start; };
  if (!std::is_sorted(records.begin(), records.end(), earlier))
    std::sort(records.begin(), records.end(), earlier);
}

}  // namespace

Profile::State::State(LayerTree& layer_tree, FunctionTable& function_table,
                      ProfileLimits profile_limits, JoinChecks join_checks)
    : layers(layer_tree),
      functions(function_table),
      limits(profile_limits),
      checks(join_checks),
      keys(profile_limits.max_keys),
      step_times(profile_limits.max_window_records),
      pending(profile_limits.max_pending),
      step_recorder(function_table) {}

void Profile::State::keep(StepRecord record) {
  if (step_records.size() == kMaxStepRecords) step_records.pop_back();
  step_records.push_back(std::move(record));
}

std::optional<double> Profile::State::launches_per_step(const KeyRow& row, PhaseKind kind) const {
  return classes.per_step([&](std::size_t place) {
    const bool has = place < class_sums.size();
    return StepClasses::Mean{static_cast<double>(row.window_launches.of(place, kind)),
                             has ? class_sums[place].kept_windows[kind_index(kind)] : 0};
  });
}

SpanSum Profile::State::timed_spans(LayerId layer) const {
  SpanSum sum;
  for (const ClassSums& sums : class_sums) sum.add(sums.layer_stats.spans(layer, PhaseKind::time));
  return sum;
}

ClassSums& Profile::State::sums_of(std::uint64_t sequence_hash) {
  const std::size_t place = classes.place(sequence_hash);
  while (class_sums.size() <= place) class_sums.emplace_back(layers);
  return class_sums[place];
}

// Windows are few, and nearly always the newest is meant.
Window* Profile::State::find(WindowId id) {
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    if (window->id == id) return &*window;
  }
  return nullptr;
}

WindowId Profile::State::oldest_open() const {
  return windows.empty() ? static_cast<WindowId>(-1) : windows.front().id;
}

Profile::State::Closed Profile::State::closed_window(WindowId id) const {
  const auto found = std::find_if(closed.begin(), closed.end(),
                                  [id](const Closed& each) { return each.id == id; });
  return found == closed.end() ? Closed{} : *found;
}

// The kept time window whose copies count and that was open then.
const Profile::State::Closed* Profile::State::time_closed_at(std::uint64_t when_ns) const {
  const auto found = std::find_if(closed.begin(), closed.end(), [when_ns](const Closed& each) {
    return each.kept_time && each.complete && each.start_ns <= when_ns && when_ns < each.end_ns;
  });
  return found == closed.end() ? nullptr : &*found;
}

WindowKey& Profile::State::window_key(Window& window, KeyIndex key) {
  KeyRow& row = keys.row(key);
  if (row.last_window == window.id && row.slot < window.keys.size() &&
      window.keys[row.slot].key == key) {
    return window.keys[row.slot];
  }
  // Records of a window come when the next one is open, to which the row's slot belongs by then.
  if (row.last_window >= window.id) {
    if (const auto place = window.place_of(key)) return window.keys[*place];
  }
  if (row.last_window <= window.id) {
    row.last_window = window.id;
    row.slot = static_cast<std::uint32_t>(window.keys.size());
  }
  window.keys.emplace_back().key = key;
  return window.keys.back();
}

void Profile::State::add_to_range(const LaunchKey& launch, Window* window) {
  if (range_function == 0) return;
  const KeyIndex row =
      keys.find_or_add(range_key(launch.layer, launch.device, range_function), oldest_open());
  ++keys.row(row).launches;
  if (window != nullptr) ++window_key(*window, row).launches;
}

void Profile::State::add_to_range(KeyIndex launch, Window& window, std::uint64_t duration_ns) {
  if (range_function == 0 || launch == kOtherKey) return;
  const LaunchKey& key = keys.row(launch).key;
  const KeyIndex row =
      keys.find_or_add(range_key(key.layer, key.device, range_function), oldest_open());
  window.overflow[row].add(duration_ns);
}

void Profile::State::close_complete() {
  for (auto window = windows.begin(); window != windows.end();) {
    const auto next = std::next(window);
    if (window->ended && window->waiting == 0) close(window);
    window = next;
  }
}

void Profile::State::give_up(std::list<Window>::iterator window) {
  if (window->waiting > 0) {
    pending.take_window(window->id,
                        [&](const PendingLaunch& launch) { known.insert(launch.correlation); });
    std::erase_if(pending_graphs, [&](const auto& each) {
      if (each.second.window != window->id) return false;
      known.insert(each.first);
      return true;
    });
    if (window->end.keep) {
      if (!window->end.reach) lost.unattributed_launches += window->waiting;
      window->unions_known = false;
    }
    window->waiting = 0;
    window->incomplete = true;
  }
  close(window);
}

// Records may come long after short windows, but some never come, and what did is held meanwhile.
void Profile::State::limit_waiting() {
  std::size_t count = 0, held = 0;
  auto oldest = windows.end();
  for (auto window = windows.begin(); window != windows.end(); ++window) {
    if (!window->ended) continue;
    if (oldest == windows.end()) oldest = window;
    ++count;
    held += window->records.size();
  }
  if (count > limits.max_waiting_windows || (count > 1 && held > limits.max_waiting_records))
    give_up(oldest);
}

void Profile::State::close(std::list<Window>::iterator window) {
  const bool measuring = measures(window->phase.kind);
  const WindowEnd& end = window->end;
  if (end.reach) {
    if (end.keep && window->unions_known) keep_length(*window, 0);
  } else if (end.keep) {
    if (end.end_ns > end.start_ns && end.start_ns != 0) {
      const Phase phase = window->phase;
      window_wall[phase].add(end.end_ns - end.start_ns);
      if (class_wall.size() < kMaxClassWalls || class_wall.contains({phase, end.sequence_hash}))
        class_wall[{phase, end.sequence_hash}].add(end.end_ns - end.start_ns);
    }
    if (measuring) {
      const PhaseKind kind = window->phase.kind;
      ClassSums& sums = sums_of(end.sequence_hash);
      ++kept_windows[kind_index(kind)];
      ++sums.kept_windows[kind_index(kind)];
      for (const WindowKey& each : window->keys)
        keys.row(each.key).window_launches.add(classes.place(end.sequence_hash), kind,
                                               each.launches);
      for (const auto& [layer, span] : window->spans) sums.layer_stats.add_span(layer, kind, span);
      if (kind == PhaseKind::time) {
        keep_times(*window, classes.place(end.sequence_hash));
      } else {
        keep_counters(*window);
      }
    }
  }
  closed.push_back({window->id, end.keep && !end.reach && window->phase.kind == PhaseKind::time,
                    !window->incomplete,
                    end.keep && measuring ? classes.place(end.sequence_hash) : 0, end.start_ns,
                    end.end_ns});
  if (closed.size() > kRememberedWindows) closed.pop_front();
  if (step_recorder.active()) {
    step_recorder.close(end, end.keep && window->unions_known && !window->incomplete);
    take_step_records();
  }
  windows.erase(window);
  keys.window_closed();
}

void Profile::State::keep_counters(Window& window) {
  std::size_t index = 0;
  while (index < metrics.size() && !(metrics[index].phase == window.phase)) ++index;
  for (const WindowKey& each : window.keys) {
    if (each.counters.samples == 0) continue;
    KeyRow& row = keys.row(each.key);
    if (row.counters.size() <= index) row.counters.resize(index + 1);
    row.counters[index].merge(each.counters);
    ++row.counters[index].windows;
    if (each.key == kOtherKey) continue;
    compare(metrics[index], each, classes.steps() > 0, is_range(row.key), row.spreads);
    row.spreads.saw(window.phase.kind == PhaseKind::flops, window.id);
  }
}

// A window's durations of each key, for the spread between windows.
void Profile::State::add_times(const Window& window) {
  if (took_.size() < keys.rows().size()) took_.resize(keys.rows().size());
  for (const HeldRecord& record : window.records) {
    took_[record.key].ns += record.end - record.start;
    ++took_[record.key].launches;
  }
  for (const WindowKey& each : window.keys) {
    Took& took = took_[each.key];
    if (took.launches > 0 && each.key != kOtherKey) {
      KeySpreads& spreads = keys.row(each.key).spreads;
      spreads.time_ns.add(static_cast<double>(took.ns) / static_cast<double>(took.launches));
      spreads.saw(false, window.id);
    }
    took = {};
  }
}

void Profile::State::keep_times(Window& window, std::size_t place) {
  sort_by_start(window.records);
  for (const HeldRecord& record : window.records)
    keys.row(record.key).time.add(record.end - record.start);
  for (const auto& [key, durations] : window.overflow) keys.row(key).time.merge(durations);
  add_times(window);

  ClassSums& sums = class_sums[place];
  const WindowEnd& end = window.end;
  const std::uint64_t host_ns = wall_without_changes(end);
  keep_host_time(window, sums);
  if (window.unions_known && range_function != 0) overlaps.add_window(window.records, keys);
  if (window.unions_known) {
    const std::uint64_t busy_ns = sums.layer_stats.add_window(window.records, keys);
    sums.busy.add(busy_ns);
    if (is_drained(window) && host_ns >= busy_ns) {
      sums.drained.add(host_ns);
      sums.drained_idle.add(host_ns - busy_ns);
    }
    window.latency.finish(window.records, keys, launch_latency);
  }

  // Copies without a call belong to the window in which they ran.
  for (auto copy = stray_copies.begin(); copy != stray_copies.end();) {
    const bool inside =
        host_ns != 0 && copy->start_ns >= end.start_ns && copy->start_ns < end.end_ns;
    if (inside) window.copies[copy->group].add(copy->sum);
    copy = inside ? stray_copies.erase(copy) : std::next(copy);
  }
  if (!window.incomplete) {
    ++sums.copy_windows;
    for (const auto& [group, sum] : window.copies) sums.copies[group].add(sum);
  }

  if (window.unions_known && host_ns != 0) keep_length(window, place);
}

void Profile::State::keep_length(Window& window, std::size_t place) {
  const WindowEnd& end = window.end;
  sort_by_start(window.records);
  TimedStep step;
  step.step = end.step;
  step.place = place;
  step.changed = end.changed;
  step.reach = end.reach;
  step.apart = end.apart;
  step.records = std::move(window.records);
  if (window.tokens.size() == 1) step.tokens = *window.tokens.begin();
  step_times.add(std::move(step),
                 [this](const TimedStep& of, const StepTime& time) { measured(of, time); });
}

// A window in which CUPTI was switched tells the host's time until there are two in which nothing
// was: one alone has no spread.
void Profile::State::keep_host_time(const Window& window, ClassSums& sums) {
  const std::uint64_t host_ns = wall_without_changes(window.end);
  if (host_ns == 0) return;
  const bool plain = !window.end.changed;
  if (plain || sums.plain_host.count() < kLeastPlain) sums.host.add(host_ns);
  if (plain) sums.plain_host.add(host_ns);
  if (plain && sums.plain_host.count() == kLeastPlain) sums.host = sums.plain_host;

  // In a step of several, nothing tells whose the time is.
  if (window.tokens.size() != 1) return;
  auto [layer, sum] = *window.tokens.begin();
  sum.ns = host_ns;
  TokenSums& kept = tokens[layer];
  if (plain && !kept.plain) {
    kept.host = TokenSum();
    kept.plain = true;
  }
  if (plain || !kept.plain) kept.host.add(sum);
}

void Profile::State::measured(const TimedStep& step, const StepTime& time) {
  class_sums[step.place].wall.add(time.wall_ns);
  class_sums[step.place].idle.add(time.idle_ns);
  if (!step.tokens) return;
  auto [layer, sum] = *step.tokens;
  sum.ns = time.wall_ns;
  tokens[layer].gpu.add(sum);
}

}  // namespace gable
