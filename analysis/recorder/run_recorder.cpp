// SPDX-License-Identifier: Apache-2.0
#include "analysis/recorder/run_recorder.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/profile/range_rows.h"

namespace gable {
namespace {

// Steps in which nothing was measured are alike as a rule: the queue's first waits for.
constexpr std::size_t kKeptUnmeasured = 2;
constexpr std::size_t kMostStrayCopies = 4096;
constexpr std::size_t kMostThreads = 1000;  // that a recording tells apart

bool usable(std::uint64_t start_ns, std::uint64_t end_ns) {
  return start_ns != 0 && end_ns >= start_ns;
}

}  // namespace

void RunRecorder::set_thread(const void* thread, bool main) {
  if (main) {
    thread_ = 0;
    return;
  }
  const auto next = static_cast<std::uint16_t>(threads_.size() % kMostThreads + 1);
  thread_ = threads_.try_emplace(thread, next).first->second;
}

std::uint32_t RunRecorder::kind_of(const LaunchKey& key) {
  const auto found = kind_index_.find(key);
  if (found != kind_index_.end()) return found->second;
  if (kinds_.size() >= limits_.max_kinds) return kNoKind;
  const auto index = static_cast<std::uint32_t>(kinds_.size());
  kinds_.emplace_back().key = key;
  kind_index_.emplace(key, index);
  return index;
}

// Drops the steps in which nothing was measured, but for the first ones.
bool RunRecorder::make_room() {
  if (squeezed_) return false;
  squeezed_ = true;
  std::set<std::uint32_t> measured, kept;
  for (const Call& call : calls_)
    if (call.window != kNoWindow) measured.insert(call.step);
  for (const Call& call : calls_)
    if (measured.count(call.step) == 0 && kept.size() < kKeptUnmeasured) kept.insert(call.step);
  const auto before = calls_.size();
  std::erase_if(calls_, [&](const Call& call) {
    return measured.count(call.step) == 0 && kept.count(call.step) == 0;
  });
  lost_.calls += before - calls_.size();
  awaiting_.clear();
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].end_ns == 0 && calls_[i].window != kNoWindow)
      awaiting_[static_cast<std::uint32_t>(calls_[i].order)] = i;
  }
  return calls_.size() < limits_.max_calls;
}

void RunRecorder::add(Call call, std::uint32_t step, WindowId window, std::uint32_t correlation) {
  last_step_ = std::max(last_step_, step);
  if (calls_.size() >= limits_.max_calls && !make_room()) {
    ++lost_.calls;
    return;
  }
  // Ids wrap at 32 bits; a call without one follows the last.
  if (last_order_ == 0) last_order_ = (std::uint64_t{1} << 32) + correlation;
  const auto ahead =
      static_cast<std::int32_t>(correlation - static_cast<std::uint32_t>(last_order_));
  call.order = correlation == 0 ? last_order_
                                : last_order_ + static_cast<std::uint64_t>(std::int64_t{ahead});
  last_order_ = std::max(last_order_, call.order);
  call.step = step;
  call.window = window;
  call.thread = thread_;
  if (window != kNoWindow && correlation != 0) awaiting_[correlation] = calls_.size();
  calls_.push_back(call);
}

void RunRecorder::add(std::uint32_t step, const LaunchEvent& launch) {
  const auto kind = kind_of(launch.key);
  if (kind == kNoKind) {
    ++lost_.other_kinds;
    return;
  }
  ++kinds_[kind].launches;
  Call call;
  call.what = kind;
  call.inherited = launch.inherited_layer;
  add(call, step, launch.window, launch.correlation);
}

void RunRecorder::add(std::uint32_t step, const GraphLaunch& launch) {
  if (launch.graph == 0) {
    ++lost_.unknown_graphs;
    return;
  }
  // Its counters are those of the graph as a whole.
  if (const auto whole = kind_of(launch.key); whole != kNoKind) ++kinds_[whole].launches;
  Call call;
  call.kind = CallKind::graph;
  call.what = launch.graph;
  add(call, step, launch.window, launch.correlation);
  if (launch.window != kNoWindow) sampled_graphs_.try_emplace(launch.graph, launch.correlation);
}

void RunRecorder::add(std::uint32_t step, const CopyCall& copy) {
  Call call;
  call.kind = CallKind::copy;
  call.what = copy.layer;
  add(call, step, copy.window, copy.correlation);
}

RunRecorder::Call* RunRecorder::awaiting(std::uint32_t correlation, CallKind kind) {
  const auto found = awaiting_.find(correlation);
  if (found == awaiting_.end() || calls_[found->second].kind != kind) return nullptr;
  return &calls_[found->second];
}

void RunRecorder::add(const KernelRecord& record) {
  if (!usable(record.start_ns, record.end_ns)) return;
  Call* call = awaiting(record.correlation, CallKind::launch);
  if (call == nullptr) return;
  call->start_ns = record.start_ns;
  call->end_ns = record.end_ns;
  call->context = record.context;
  call->stream = record.stream;
  Kind& kind = kinds_[call->what];
  ++kind.timed;
  kind.time_ns += record.end_ns - record.start_ns;
  kind.context = record.context;
  kind.stream = record.stream;
  kind.resources = record.resources;
  awaiting_.erase(record.correlation);
}

void RunRecorder::add(const GraphKernelRecord& kernel) {
  const KernelRecord& record = kernel.record;
  if (!usable(record.start_ns, record.end_ns)) return;
  Call* call = awaiting(record.correlation, CallKind::graph);
  if (call == nullptr) return;
  if (call->start_ns == 0 || record.start_ns < call->start_ns) call->start_ns = record.start_ns;
  call->end_ns = std::max(call->end_ns, record.end_ns);
  call->context = record.context;
  call->stream = record.stream;
  const auto index = kind_of(kernel.key);
  if (index == kNoKind) {
    ++lost_.other_kinds;
    return;
  }
  Kind& kind = kinds_[index];
  ++kind.timed;
  kind.time_ns += record.end_ns - record.start_ns;
  kind.resources = record.resources;
  const auto sampled = sampled_graphs_.find(call->what);
  if (sampled == sampled_graphs_.end() || sampled->second != record.correlation) return;
  if (graph_kernels_.size() >= limits_.max_records) return;
  graph_kernels_.push_back({call->what, index});
}

void RunRecorder::add(const CopyRecord& record) {
  if (!usable(record.start_ns, record.end_ns)) return;
  Call* call = awaiting(record.correlation, CallKind::copy);
  if (call == nullptr) {
    if (record.node == 0 && stray_copies_.size() < kMostStrayCopies)
      stray_copies_.push_back(record.start_ns);
    return;
  }
  call->start_ns = record.start_ns;
  call->end_ns = record.end_ns;
  call->bytes = record.bytes;
  call->copy = record.kind;
  call->host = record.host;
  call->context = static_cast<std::uint32_t>(record.device);
  awaiting_.erase(record.correlation);
}

void RunRecorder::set_metrics(Phase phase, const std::vector<std::string>& metrics) {
  metrics_.emplace_back(phase, metrics);
}

void RunRecorder::add(Phase phase, WindowId id, const CounterSample& sample) {
  const auto found = std::find_if(metrics_.begin(), metrics_.end(),
                                  [&](const auto& each) { return each.first == phase; });
  if (found == metrics_.end() || sample.values == nullptr) return;
  if (sample.launches != 1) {
    ++lost_.range_samples;
    return;
  }
  const auto index = kind_of(sample.key);
  if (index == kNoKind || windows_.size() >= limits_.max_windows) return;
  const auto& names = found->second;
  kinds_[index].pushed = kinds_[index].pushed || sample.pushed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double value = sample.values[i];
    Value& of = kinds_[index].values[names[i]];
    if (!std::isfinite(value)) {
      of.varies = of.varies || of.known > 0;
      continue;
    }
    if (of.known == 0) of.first = value;
    of.varies = of.varies || value != of.first;
    of.sum += value;
    ++of.known;
  }
  Window& window = windows_[id];
  window.phase = phase;
  window.metrics = &names;
  if (values_.size() + names.size() > limits_.max_values) {
    ++lost_.values;
    return;
  }
  window.samples.push_back({index, values_.size()});
  values_.insert(values_.end(), sample.values, sample.values + names.size());
}

void RunRecorder::end_window(const WindowEnd& end) {
  if (!measures(end.phase.kind) || windows_.size() >= limits_.max_windows) return;
  Window& window = windows_[end.window];
  window.phase = end.phase;
  window.start_ns = end.start_ns;
  window.end_ns = end.end_ns;
  window.ended = true;
  window.kept = end.keep;
}

void RunRecorder::restart() { before_steps_ = last_step_; }

std::vector<RunRecorder::Call> RunRecorder::calls() const {
  std::vector<Call> calls = calls_;
  // Copies are told with their window alone.
  std::map<WindowId, std::uint32_t> steps;
  for (const Call& call : calls)
    if (call.kind != CallKind::copy && call.window != kNoWindow) steps[call.window] = call.step;
  for (Call& call : calls) {
    const auto step = steps.find(call.window);
    if (call.kind == CallKind::copy && step != steps.end()) call.step = step->second;
  }
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return std::pair(a.step, a.order) < std::pair(b.step, b.order);
  });
  return calls;
}

std::uint64_t RunRecorder::stray_copies() const {
  const auto inside = [this](std::uint64_t when) {
    return std::any_of(windows_.begin(), windows_.end(), [when](const auto& each) {
      const Window& window = each.second;
      return window.kept && window.phase.kind == PhaseKind::time && window.start_ns <= when &&
             when < window.end_ns;
    });
  };
  return static_cast<std::uint64_t>(
      std::count_if(stray_copies_.begin(), stray_copies_.end(), inside));
}

std::vector<std::string> RunRecorder::metrics() const {
  std::set<std::string> names;
  for (const Kind& kind : kinds_)
    for (const auto& [name, value] : kind.values) names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace gable
