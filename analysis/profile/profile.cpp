// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/profile.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/events/lost_counts.h"
#include "analysis/events/quantities.h"
#include "analysis/events/shapes_key.h"
#include "analysis/profile/profile_state.h"
#include "analysis/profile/step_waits.h"

namespace gable {
namespace {

constexpr std::size_t kMaxStrayCopies = 4096;

bool usable(std::uint64_t start_ns, std::uint64_t end_ns) {
  return start_ns != 0 && end_ns != 0 && end_ns >= start_ns;
}

std::size_t phase_index(std::vector<MetricList>& metrics, Phase phase) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].phase == phase) return i;
  }
  metrics.emplace_back().phase = phase;
  return metrics.size() - 1;
}

// What belongs to the run, whatever is collected.
void hand_over(Profile::State& from, Profile::State& to) {
  to.devices = std::move(from.devices);
  to.metrics = from.metrics;
  to.raw_metrics = from.raw_metrics;
  to.roof_metrics = from.roof_metrics;
  to.overhead_ns = from.overhead_ns;
  to.known = std::move(from.known);
  to.graphs = from.graphs;
  to.range_function = from.range_function;
  to.models = from.models;
  to.step_recorder.take_streams(from.step_recorder);
}

// Launches and calls, of which a run has all.
void count_in(const Profile::State& from, Profile::State& to) {
  for (KeyIndex index = 0; index < from.keys.rows().size(); ++index) {
    const KeyRow& row = from.keys.row(index);
    if (row.launches == 0) continue;
    KeyRow& own = to.keys.row(index == kOtherKey ? kOtherKey
                                                 : to.keys.find_or_add(row.key, to.oldest_open()));
    own.launches += row.launches;
    own.in_graphs += row.in_graphs;
    if (index != kOtherKey) own.messages.merge(row.messages);
  }
  to.launches += from.launches;
  to.launches_inherited += from.launches_inherited;
  for (const auto& [layer, calls] : from.calls) to.calls[layer] += calls;
}

}  // namespace

Profile::Profile(LayerTree& layers, FunctionTable& functions, ProfileLimits limits,
                 JoinChecks checks)
    : state_(std::make_unique<State>(layers, functions, limits, checks)) {}
Profile::~Profile() = default;

void Profile::add_device(const DeviceInfo& device) { state_->devices[device.id] = device; }

void Profile::set_links(const std::vector<DeviceLinks>& links) {
  for (auto& [id, device] : state_->devices) {
    const auto place = static_cast<std::size_t>(id);
    if (id >= 0 && place < links.size()) device.links = links[place];
  }
}

void Profile::set_states(const std::vector<std::optional<GpuState>>& states) {
  for (auto& [id, device] : state_->devices) {
    const auto place = static_cast<std::size_t>(id);
    if (id >= 0 && place < states.size()) device.state = states[place];
  }
}

void Profile::set_metrics(Phase phase, std::vector<std::string> metric_names) {
  State& state = *state_;
  MetricList list;
  list.phase = phase;
  for (std::size_t i = 0; i < metric_names.size(); ++i) {
    list.ratios.push_back(is_ratio(metric_names[i]));
    const MetricRole* role = role_of(metric_names[i]);
    if (role == nullptr) continue;
    switch (role->quantity) {
      case Quantity::flops_fp64:
      case Quantity::flops_fp32:
      case Quantity::flops_fp16:
        list.flops.emplace_back(i, role->weight);
        break;
      case Quantity::bytes_dram_read:
      case Quantity::bytes_dram_write:
        list.bytes.emplace_back(i, role->weight);
        break;
      case Quantity::duration_ns:
        list.duration = i;
        break;
      default:
        break;
    }
  }
  list.names = std::move(metric_names);
  state.metrics[phase_index(state.metrics, phase)] = std::move(list);
}

void Profile::set_raw_metrics(const std::vector<std::string>& metric_names) {
  state_->raw_metrics = {metric_names.begin(), metric_names.end()};
}

void Profile::set_roof_metrics(const std::vector<std::string>& metric_names) {
  state_->roof_metrics = {metric_names.begin(), metric_names.end()};
}

void Profile::add(const LaunchEvent& launch) {
  State& state = *state_;
  const KeyIndex key = state.keys.find_or_add(launch.key, state.oldest_open());
  ++state.launches;
  ++state.keys.row(key).launches;
  if (launch.inherited_layer) ++state.launches_inherited;
  Window* window = launch.window == kNoWindow ? nullptr : state.find(launch.window);
  if (window == nullptr || !measures(window->phase.kind)) {
    if (launch.in_range) state.add_to_range(launch.key, nullptr);
    state.known.insert(launch.correlation);
    if (window == nullptr) state.step_recorder.add_between(launch);
    return;
  }
  ++state.window_key(*window, key).launches;
  if (launch.in_range) state.add_to_range(launch.key, window);
  if (window->phase.kind != PhaseKind::time) {
    state.known.insert(launch.correlation);
    return;
  }
  if (launch.correlation != 0 &&
      state.pending.insert({launch.correlation, key, launch.window, launch.in_range})) {
    ++window->waiting;
    return;
  }
  // No id, or no room: its record cannot be told from others.
  state.known.insert(launch.correlation);
  window->unions_known = false;
  ++state.lost.unattributed_launches;
}

void Profile::add(const KernelRecord& record) {
  State& state = *state_;
  const bool good = usable(record.start_ns, record.end_ns);
  const std::optional<PendingLaunch> launch =
      record.correlation == 0 ? std::nullopt : state.pending.take(record.correlation);
  Window* window = launch ? state.find(launch->window) : nullptr;
  if (!launch && aside_ != nullptr && awaited_aside(record)) return;
  if (!good) ++state.lost.zero_timestamps;
  if (window == nullptr) {
    if (good && !launch) {
      state.step_times.add_outside(record.start_ns, record.end_ns);
      state.step_recorder.add_between(record);
      state.take_step_records();
      if (!state.known.contains(record.correlation)) ++state.lost.unattributed_launches;
    }
    return;
  }
  --window->waiting;
  if (!good) {
    window->unions_known = false;
  } else if (!window->ended || window->end.keep) {
    state.keys.row(launch->key).take(record.resources);
    window->latency.add_start(record);
    state.step_recorder.add(record, state.keys.row(launch->key).key, launch->window);
    if (launch->in_range) state.add_to_range(launch->key, *window, record.end_ns - record.start_ns);
    if (window->records.size() < state.limits.max_window_records) {
      window->records.push_back({record.start_ns, record.end_ns, launch->key, stream_of(record)});
    } else {
      window->unions_known = false;
      window->overflow[launch->key].add(record.end_ns - record.start_ns);
    }
  }
  if (window->ended && window->waiting == 0) state.close_complete();
}

void Profile::add(const CopyCall& call) { state_->pending_copies.insert(call); }

void Profile::add(const CallAfterWait& call) {
  Window* window = state_->find(call.window);
  if (window != nullptr && window->phase.kind == PhaseKind::time)
    window->latency.add_call(call.correlation, call.entered_ns);
}

void Profile::add(const CopyRecord& record) {
  State& state = *state_;
  const std::optional<CopyCall> call = state.pending_copies.take(record.correlation);
  if (!usable(record.start_ns, record.end_ns)) {
    if (call) ++state.lost.zero_timestamps;  // else it belongs to no window: nothing is lost
    return;
  }
  if (state.step_recorder.active()) {
    state.step_recorder.add(record, call ? call->layer : record.layer);
    state.take_step_records();
  }
  const CopySum sum{
      .count = 1,
      .bytes = record.bytes.value_or(0),
      .time_ns = record.end_ns - record.start_ns,
      .sized = record.bytes ? 1u : 0u,
  };
  if (!call) {
    const std::optional<LayerId> layer =
        record.placed ? std::optional<LayerId>(record.layer) : std::nullopt;
    const CopyGroup group{record.kind, record.device, layer, record.host};
    if (const auto* window = state.time_closed_at(record.start_ns); window != nullptr) {
      state.class_sums[window->place].copies[group].add(sum);
      return;
    }
    if (state.stray_copies.size() >= kMaxStrayCopies) {
      state.stray_copies.pop_front();
      ++state.lost.records;
    }
    state.stray_copies.push_back({group, sum, record.start_ns});
    return;
  }
  const CopyGroup group{record.kind, record.device, call->layer, record.host};
  if (Window* window = state.find(call->window); window != nullptr) {
    if (window->phase.kind != PhaseKind::time) return;
    window->copies[group].add(sum);
    window->latency.add_copy(record);
  } else if (const auto closed = state.closed_window(call->window);
             closed.kept_time && closed.complete) {
    state.class_sums[closed.place].copies[group].add(sum);
  }
}

void Profile::add(const CollectiveCall& call) {
  State& state = *state_;
  const KeyIndex key = state.keys.find_or_add(call.key, state.oldest_open());
  if (key != kOtherKey) state.keys.row(key).messages.add(call);
}

void Profile::add(const TokenCount& tokens) {
  Window* window = state_->find(tokens.window);
  if (window == nullptr || window->phase.kind != PhaseKind::time) return;
  window->tokens[tokens.layer].add(
      {1, std::uint64_t{tokens.sequences} * tokens.per_sequence, tokens.per_sequence});
}

void Profile::add(const LayerSpan& span) {
  State& state = *state_;
  state.calls[span.layer] += span.calls;
  if (span.window == kWholeRun) {
    state.ranges_only = true;
    state.sums_of(0).layer_stats.add_span(span.layer, PhaseKind::time,
                                          {span.calls, span.timed, span.cpu_ns, 0});
    return;
  }
  Window* window = span.window == kNoWindow ? nullptr : state.find(span.window);
  const SpanSum sum{span.calls, span.timed, span.cpu_ns, span.wait_ns};
  if (window != nullptr) {
    window->spans[span.layer].add(sum);
  } else if (const auto closed = state.closed_window(span.window); closed.kept_time) {
    state.class_sums[closed.place].layer_stats.add_span(span.layer, PhaseKind::time, sum);
  }
}

void Profile::add(Phase phase, WindowId window_id, const CounterSample& sample) {
  State& state = *state_;
  Window* window = state.find(window_id);
  if (window == nullptr || sample.values == nullptr) return;
  const MetricList& metrics = state.metrics[phase_index(state.metrics, phase)];
  const std::size_t count = metrics.names.size();
  const KeyIndex key = state.keys.find_or_add(sample.key, state.oldest_open());
  state.keys.row(key).take(sample.resources);
  WindowKey& place = state.window_key(*window, key);
  if (phase.kind == PhaseKind::flops && !metrics.flops.empty()) {
    const double flops =
        MetricList::sum(metrics.flops, [&sample](std::size_t i) { return sample.values[i]; }) /
        static_cast<double>(sample.launches);
    place.least_flops = std::min(place.least_flops, flops);
    place.most_flops = std::max(place.most_flops, flops);
  }
  place.pushed = place.pushed || sample.pushed;
  CounterSums& sums = place.counters;
  if (sums.sum.size() < count) {
    sums.sum.resize(count, 0.0);
    sums.known.resize(count, 0);
  }
  sums.samples += sample.launches;
  ++sums.ranges;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(sample.values[i])) continue;
    // A range counts sums of its launches; a ratio of it stands for each of them.
    const auto times = metrics.ratios[i] ? static_cast<double>(sample.launches) : 1.0;
    sums.sum[i] += times * sample.values[i];
    sums.known[i] += sample.launches;
  }
}

void Profile::begin_window(WindowId id, Phase phase) {
  State& state = *state_;
  if (id == kNoWindow || state.find(id) != nullptr) return;
  Window& window = state.windows.emplace_back();
  window.id = id;
  window.phase = phase;
}

void Profile::end_window(const WindowEnd& end) {
  State& state = *state_;
  const auto window =
      std::find_if(state.windows.begin(), state.windows.end(),
                   [&](const Window& each) { return each.id == end.window && !each.ended; });
  if (window == state.windows.end()) return;
  window->ended = true;
  window->end = end;
  state.step_recorder.end(end.window);
  state.overhead_ns += end.overhead_ns;
  if (!end.keep) {
    window->records = {};
    window->overflow.clear();
    const bool lost = measures(window->phase.kind) && end.launches > 0;
    if (lost) ++state.lost.windows;
    if (!end.reason.empty() && (state.reasons.size() < 32 || state.reasons.contains(end.reason))) {
      State::Dropped& dropped = state.reasons[end.reason];
      ++(lost ? dropped.lost : dropped.empty);
    }
  }
  state.close_complete();
  state.limit_waiting();
}

void Profile::finish_records() {
  State& state = *state_;
  for (auto window = state.windows.begin(); window != state.windows.end();) {
    const auto next = std::next(window);
    if (window->ended) state.give_up(window);
    window = next;
  }
  state.step_recorder.finish();
  state.take_step_records();
}

void Profile::add(StepRecord record) {
  FullQueues full = find_full_queues(record.steps);
  if (full.unknown) {
    ++state_->step_records_ahead;
    return;
  }
  if (record.steps.queue_full.empty()) record.steps.queue_full = std::move(full.found);
  state_->keep(std::move(record));
}

// --- Steps that are recorded call by call.

bool Profile::records_calls(WindowId window, bool wanted) {
  State& state = *state_;
  auto& recorder = state.step_recorder;
  const std::size_t begun = state.step_records.size() * StepRecorder::kSteps + recorder.steps();
  const bool records = wanted && recorder.too_large() == 0 && recorder.too_far_ahead() < 3 &&
                       begun < kMaxStepRecords * StepRecorder::kSteps;
  records ? recorder.begin(window) : recorder.end_row();
  state.take_step_records();
  return records;
}

bool Profile::takes_calls() const { return state_->step_recorder.takes_calls(); }

void Profile::add(const StepCall& call) { state_->step_recorder.add(call); }

void Profile::add(const InputCall& call) { state_->step_recorder.add(call); }

void Profile::add(const StreamMade& made) { state_->step_recorder.add(made); }

void Profile::lose_copies() { state_->copies_lost = true; }

void Profile::lose_copies(WindowId window) {
  if (Window* found = state_->find(window)) found->incomplete = true;
}

void Profile::expect_no_record(std::uint32_t correlation) {
  State& state = *state_;
  const auto launch = state.pending.take(correlation);
  if (!launch) return;
  state.known.insert(correlation);
  Window* const window = state.find(launch->window);
  if (window == nullptr) return;
  window->unions_known = false;
  --window->waiting;
  if (window->ended && window->waiting == 0) state.close_complete();
}

std::uint64_t Profile::pending_records() const {
  std::uint64_t waiting = 0;
  for (const Window& window : state_->windows) {
    if (!window.ended || window.end.keep) waiting += window.waiting;
  }
  return waiting;
}

void Profile::count_step(std::uint64_t sequence_hash) { state_->classes.step(sequence_hash); }

namespace {

// The most that are kept of steps with the same launches, which may differ in shapes.
constexpr std::size_t kMostOperators = 16384;

// Calls with the same text are one row.
std::string text_of_calls(const OperatorCalls& calls) {
  return std::to_string(calls.layer) + '\0' + calls.name + '\0' + calls.place + '\0' +
         shapes_key(calls.inputs);
}

// `places`: of the model's operators, by text_of_calls().
void add_calls(OperatorCalls calls, ModelDescription& model,
               std::unordered_map<std::string, std::size_t>& places) {
  const auto [place, fresh] = places.try_emplace(text_of_calls(calls), model.operators.size());
  if (fresh) {
    if (model.operators.size() < kMostOperators) {
      model.operators.push_back(std::move(calls));
    } else {
      model.operators_left_out += calls.calls;
      places.erase(place);
    }
    return;
  }
  OperatorCalls* const same = &model.operators[place->second];
  same->calls += calls.calls;
  same->flops += calls.flops;
  same->bytes += calls.bytes;
  same->flops_known = same->flops_known && calls.flops_known;
  same->bytes_known = same->bytes_known && calls.bytes_known;
  same->left_out += calls.left_out;
  for (const auto& launched : calls.launches) {
    const auto known = std::find_if(same->launches.begin(), same->launches.end(),
                                    [&](const auto& each) { return each.first == launched.first; });
    if (known != same->launches.end())
      known->second += launched.second;
    else
      same->launches.push_back(launched);
  }
}

}  // namespace

void Profile::describe(ModelDescription model) {
  auto& models = state_->models;
  const auto known = std::find_if(models.begin(), models.end(), [&model](const auto& other) {
    return other.sequence_hash == model.sequence_hash;
  });
  if (known == models.end()) {
    models.push_back(std::move(model));
    return;
  }
  // The same kernels may have more or less to do: of other sizes.
  known->steps += model.steps;
  for (const auto& [where, work] : model.work) {
    OperatorWork& sum = known->work[where];
    for (const auto& [type, flops] : work.flops) sum.flops[type] += flops;
    sum.bytes_read += work.bytes_read;
    sum.bytes_written += work.bytes_written;
    sum.operators += work.operators;
    sum.flops_known = sum.flops_known && work.flops_known;
    sum.bytes_known = sum.bytes_known && work.bytes_known;
  }
  known->modules.merge(model.modules);
  const auto peak_of = [](const StepMemory& memory) { return memory.points[memory.peak].bytes; };
  if (model.memory && (!known->memory || peak_of(*known->memory) < peak_of(*model.memory)))
    known->memory = std::move(model.memory);
  known->operators_left_out += model.operators_left_out;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < known->operators.size(); ++i)
    places.emplace(text_of_calls(known->operators[i]), i);
  for (OperatorCalls& calls : model.operators) add_calls(std::move(calls), *known, places);
}

void Profile::add_lost(const LostCounts& more) { state_->lost += more; }

// --- Graph launches: each counts for every kernel of its graph, whose records name their nodes.
// The graph's own row has its counters, and the sum of its kernels' times.

GraphId Profile::add_graph(const GraphShape& shape) {
  State& state = *state_;
  const GraphId id = state.graphs.add(shape, state.limits.max_graphs, state.limits.max_graph_keys);
  if (id != 0) state.graphs.name(id, state.functions.intern(graph_symbol(id)));
  return id;
}

void Profile::add(const GraphLaunch& launch) {
  State& state = *state_;
  Graphs::Known* graph = state.graphs.find(launch.graph);
  Window* window = launch.window == kNoWindow ? nullptr : state.find(launch.window);
  if (graph == nullptr) {
    ++state.unknown_graph_launches;
    ++state.lost.unattributed_launches;
    state.known.insert(launch.correlation);
    if (window != nullptr) window->unions_known = false;  // its kernels keep the GPU busy unseen
    return;
  }
  if (window != nullptr && !measures(window->phase.kind)) window = nullptr;
  const KeyIndex key = state.keys.find_or_add(launch.key, state.oldest_open());
  ++state.keys.row(key).launches;
  if (window != nullptr) ++state.window_key(*window, key).launches;
  state.launches += graph->shape.kernels;
  for (std::size_t i = 0; i < graph->rows.size(); ++i) {
    const auto& [kernel, count] = graph->shape.known[i];
    KeyIndex& row = graph->rows[i];
    // A key that was folded meanwhile has another place, or none.
    if (row == kOtherKey || !(state.keys.row(row).key == kernel))
      row = state.keys.find_or_add(kernel, state.oldest_open());
    state.keys.row(row).launches += count;
    state.keys.row(row).in_graphs += count;
    if (window != nullptr) state.window_key(*window, row).launches += count;
  }
  const bool timed = window != nullptr && window->phase.kind == PhaseKind::time;
  if (!timed || graph->shape.kernels == 0) {
    state.known.insert(launch.correlation);
    return;
  }
  if (graph->shape.more) window->unions_known = false;
  if (launch.correlation != 0 && state.pending_graphs.size() < state.limits.max_pending_graphs) {
    const PendingGraph pending{key, launch.graph, launch.window, graph->shape.kernels, 0, false};
    if (state.pending_graphs.emplace(launch.correlation, pending).second) {
      window->waiting += graph->shape.kernels;
      return;
    }
  }
  state.known.insert(launch.correlation);
  window->unions_known = false;
  ++state.lost.unattributed_launches;
}

void Profile::add(const GraphKernelRecord& kernel) {
  State& state = *state_;
  const KernelRecord& record = kernel.record;
  const bool good = record.start_ns != 0 && record.end_ns >= record.start_ns;
  if (!good) ++state.lost.zero_timestamps;
  const auto found = state.pending_graphs.find(record.correlation);
  Window* window = found == state.pending_graphs.end() ? nullptr : state.find(found->second.window);
  if (window == nullptr) {
    if (good && !state.known.contains(record.correlation)) ++state.lost.unattributed_launches;
    return;
  }
  PendingGraph& pending = found->second;
  --window->waiting;
  if (!good) {
    window->unions_known = false;
    pending.broken = true;
  } else if (!window->ended || window->end.keep) {
    const GraphShape& shape = state.graphs.find(pending.graph)->shape;
    LaunchKey key = kernel.key;
    if (!kernel.placed) {
      key.layer = shape.layer;
      ++state.unplaced_kernels;
    }
    state.step_recorder.add(record, key, pending.window, kernel.node);
    const KeyIndex row = state.keys.find_or_add(key, state.oldest_open());
    state.keys.row(row).take(record.resources);
    WindowKey& in_window = state.window_key(*window, row);
    if (in_window.launches == 0) in_window.from_records = true;
    if (in_window.from_records) {
      ++in_window.launches;
      ++state.keys.row(row).launches;
      ++state.keys.row(row).in_graphs;
    }
    const std::uint64_t duration = record.end_ns - record.start_ns;
    pending.sum_ns += duration;
    if (window->records.size() < state.limits.max_window_records) {
      window->records.push_back({record.start_ns, record.end_ns, row, stream_of(record)});
    } else {
      window->unions_known = false;
      window->overflow[row].add(duration);
    }
  }
  if (--pending.left == 0) {
    if (!pending.broken) window->overflow[pending.key].add(pending.sum_ns);
    state.pending_graphs.erase(found);
  }
  if (window->ended && window->waiting == 0) state.close_complete();
}

// --- Counters of ranges: every layer has a row of its own for what its launches counted together.

void Profile::count_ranges() { state_->range_function = state_->functions.intern(kRangeSymbol); }

void Profile::count_anew(bool ranges) {
  const auto lost = state_->lost;
  const auto reasons = state_->reasons;
  restart();
  state_->lost = lost;
  state_->reasons = reasons;
  state_->range_function = 0;
  if (ranges) count_ranges();
}

// --- What was collected gives way to something else: windows of launches to steps.

void Profile::restart(bool put_aside) {
  std::unique_ptr<State> old = std::move(state_);
  state_ = std::make_unique<State>(old->layers, old->functions, old->limits, old->checks);
  hand_over(*old, *state_);
  // Their records may still come.
  old->pending.for_each(
      [this](const PendingLaunch& launch) { state_->known.insert(launch.correlation); });
  for (const auto& [correlation, graph] : old->pending_graphs) state_->known.insert(correlation);
  if (!put_aside) {
    aside_ = nullptr;
  } else if (aside_ != nullptr) {
    count_in(*old, *aside_);
  } else if (old->classes.steps() == 0) {
    aside_ = std::move(old);
  }
}

bool Profile::awaited_aside(const KernelRecord& record) {
  const std::optional<PendingLaunch> launch =
      record.correlation == 0 ? std::nullopt : aside_->pending.take(record.correlation);
  if (!launch) return false;
  (void)aside_->pending.insert(*launch);
  std::swap(state_, aside_);
  add(record);
  std::swap(state_, aside_);
  return true;
}

bool Profile::take_back() {
  if (aside_ == nullptr) return false;
  const auto missed = [this](const auto& phase) {
    return measures(phase.first.kind) && !state_->window_wall.contains(phase.first);
  };
  const auto& before = aside_->window_wall;
  if (std::none_of(before.begin(), before.end(), missed)) {
    aside_ = nullptr;
    return false;
  }
  const std::unique_ptr<State> since = std::exchange(state_, std::move(aside_));
  State& state = *state_;
  hand_over(*since, state);
  count_in(*since, state);
  add_lost(since->lost);
  finish_records();
  return true;
}

}  // namespace gable
