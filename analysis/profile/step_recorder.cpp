// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/step_recorder.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/events/collective.h"
#include "analysis/profile/key_table.h"
#include "analysis/profile/step_waits.h"
#include "analysis/step_graph/clock_shift.h"

namespace gable {
namespace {

bool is_handle(std::uint64_t stream) {
  constexpr std::uint64_t kSpecial = 2;  // the driver's names of default streams
  return stream > kSpecial && (stream & StepCall::kThreadsOwn) == 0;
}

bool launches(const RecordedCall& call) {
  return call.kind == RecordedCallKind::launch || call.kind == RecordedCallKind::graph_launch;
}

// What a graph looks like from outside: nodes in the order of their start. The driver's own edges
// are not known, so a node follows all that had ended by then and that no other node follows yet;
// where all of these run on, the one that ended last.
RecordedGraph graph_of(const std::vector<const RecordedOperation*>& operations) {
  RecordedGraph graph;
  std::vector<std::uint32_t> leaves;
  for (std::uint32_t to = 0; to < operations.size(); ++to) {
    graph.nodes.push_back(operations[to]->graph_node);
    const auto ended = [&](std::uint32_t from) {
      return operations[from]->end_ns <= operations[to]->start_ns;
    };
    const auto running = std::stable_partition(leaves.begin(), leaves.end(), ended);
    for (auto leaf = leaves.begin(); leaf != running; ++leaf) graph.edges.push_back({*leaf, to});
    if (running == leaves.begin()) {
      std::optional<std::uint32_t> latest;
      for (std::uint32_t from = 0; from < to; ++from)
        if (ended(from) && (!latest || operations[from]->end_ns >= operations[*latest]->end_ns))
          latest = from;
      if (latest) graph.edges.push_back({*latest, to});
    }
    leaves.erase(leaves.begin(), running);
    leaves.push_back(to);
  }
  return graph;
}

bool same(const RecordedGraph& a, const RecordedGraph& b) {
  return a.nodes == b.nodes &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(),
                    [](const auto& x, const auto& y) { return x.from == y.from && x.to == y.to; });
}

// Numbers what operations are, as each comes.
class Works {
 public:
  explicit Works(std::vector<RecordedWork>& works) : works_(works) {}
  std::uint32_t number(const RecordedWork& work, CopyKind copy, std::uint64_t size) {
    auto& same_hash = places_[hash_of(work.key)];
    for (const Known& known : same_hash)
      if (works_[known.place].key == work.key && works_[known.place].kernel == work.kernel &&
          known.copy == copy && known.size == size)
        return known.place;
    const auto place = static_cast<std::uint32_t>(works_.size());
    same_hash.push_back({place, copy, size});
    works_.push_back(work);
    return place;
  }

 private:
  struct Known {
    std::uint32_t place = 0;
    CopyKind copy = CopyKind::other;
    std::uint64_t size = 0;
  };
  std::vector<RecordedWork>& works_;
  std::unordered_map<std::uint32_t, std::vector<Known>> places_;
};

}  // namespace

// --- windows

StepRecorder::Step* StepRecorder::find(WindowId window) {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    if (step->window == window) return &*step;
  return nullptr;
}

void StepRecorder::begin(WindowId window) {
  if (steps_.size() >= kSteps && complete()) urged_ = true;
  if (active() && steps_.back().cut) {
    Step& before = steps_.back();
    calls_ -= before.calls.size() - before.calls_at_end;
    before.calls.resize(before.calls_at_end);
    end_row();
  }
  steps_.emplace_back().window = window;
}

void StepRecorder::end(WindowId window) {
  Step* const step = find(window);
  if (step == nullptr) return;
  step->ended = true;
  step->calls_at_end = step->calls.size();
}

void StepRecorder::end_row() {
  if (steps_.empty()) return;
  steps_.back().last = true;
  settle();
}

void StepRecorder::close(const WindowEnd& end, bool good) {
  Step* const step = find(end.window);
  if (step == nullptr) return;
  step->closed = true;
  step->good = good && end.step != 0 && !end.apart;
  step->step = end.step;
  step->sequence_hash = end.sequence_hash;
  step->changed = end.changed;
  step->end_ns = end.end_ns;
  settle();
}

void StepRecorder::finish() {
  end_row();
  urged_ = active();
}

bool StepRecorder::follows(const Step& before, const Step& step) {
  return before.good && step.good && step.step == before.step + 1 && !step.changed &&
         step.sequence_hash == before.sequence_hash;
}

void StepRecorder::drop(std::size_t steps) {
  for (; steps > 0; --steps) {
    calls_ -= steps_.front().calls.size();
    steps_.pop_front();
  }
  if (steps_.empty()) {
    operations_.clear();
    between_.clear();
    come_.clear();
    urged_ = false;
  }
}

void StepRecorder::settle() {
  for (;;) {
    const std::size_t held = std::min(steps_.size(), kSteps);
    std::size_t useless = 0;
    for (std::size_t i = 0; i < held && useless == 0; ++i) {
      const Step& step = steps_[i];
      if (step.closed && !step.good) useless = i + 1;
      if (i > 0 && step.closed && steps_[i - 1].closed && !follows(steps_[i - 1], step))
        useless = std::max(useless, i);
      if (step.last && i + 1 < kSteps) useless = i + 1;
    }
    if (useless == 0) return;
    drop(useless);
  }
}

bool StepRecorder::complete() const {
  return steps_.size() >= kSteps &&
         std::all_of(steps_.begin(), steps_.begin() + kSteps,
                     [](const Step& step) { return step.closed && step.good; });
}

// --- what happens

void StepRecorder::add(const StreamMade& made) {
  if (!made.non_blocking)
    non_blocking_.erase(made.stream);
  else if (non_blocking_.size() < kMostStreams)
    non_blocking_.insert(made.stream);
}

void StepRecorder::add(const StepCall& call) {
  Step* const step = find(call.window);
  if (step == nullptr || step->cut) return;
  if (calls_ >= most_ && step->ended) {
    // Whatever a program does after a step: of the last of a record it does not matter.
    step->cut = true;
    return;
  }
  if (calls_ >= most_) {
    ++too_large_;
    return drop(steps_.size());
  }
  RecordedCall made;
  made.enter_ns = call.enter_ns;
  made.exit_ns = call.exit_ns;
  made.stream = call.stream;
  const bool graph = call.kind == RecordedCallKind::graph_launch;
  (graph ? made.exec : made.event) = call.object;
  made.thread = call.thread;
  made.context = call.context;
  made.correlation = call.correlation;
  made.kind = call.kind;
  made.programmatic = call.programmatic;
  step->calls.push_back(made);
  ++calls_;
  if (call.copy && launches(made)) step->copies.push_back(call.correlation);
  if (is_handle(call.stream) && non_blocking_.contains(call.stream))
    step->non_blocking.insert(call.stream);
}

void StepRecorder::add(const InputCall& call) {
  Step* const step = find(call.window);
  if (step == nullptr) return;
  if (step->inputs.size() < kMostInputs) return step->inputs.push_back(call.wait);
  ++too_large_;
  drop(steps_.size());
}

void StepRecorder::keep(const Operation& operation) {
  if (operations_.size() < most_) return operations_.push_back(operation);
  ++too_large_;
  drop(steps_.size());
}

void StepRecorder::add_between(const LaunchEvent& launch) {
  if (!active() || launch.correlation == 0 || between_.size() >= most_) return;
  between_[launch.correlation] = launch.key;
  steps_.back().between.push_back(launch.correlation);
}

void StepRecorder::add_between(const KernelRecord& record) {
  const auto found = between_.find(record.correlation);
  if (found == between_.end()) return;
  const LaunchKey key = found->second;
  between_.erase(found);
  come_.insert(record.correlation);
  add(record, key, kNoWindow);
}

void StepRecorder::add(const KernelRecord& record, const LaunchKey& key, WindowId window,
                       std::uint64_t node) {
  if (!active()) return;
  Operation operation;
  operation.recorded.start_ns = record.start_ns;
  operation.recorded.end_ns = record.end_ns;
  operation.recorded.graph_node = node;
  operation.recorded.correlation = record.correlation;
  operation.work.key = key;
  operation.window = window;
  keep(operation);
}

void StepRecorder::add(const CopyRecord& record, LayerId layer) {
  if (!active()) return;
  Operation operation;
  auto& recorded = operation.recorded;
  recorded.start_ns = record.start_ns;
  recorded.end_ns = record.end_ns;
  recorded.graph_node = record.node;
  recorded.correlation = record.correlation;
  const bool memset = record.kind == CopyKind::memset;
  recorded.kind = memset ? OperationKind::memset : OperationKind::copy;
  recorded.way = copy_way(record.kind);
  recorded.pageable = record.host == HostMemory::pageable;
  recorded.asynchronous = record.asynchronous;
  operation.work.kernel = false;
  operation.work.key.layer = layer;
  operation.work.key.device = record.device;
  operation.size = record.bytes.value_or(0);
  come_.insert(record.correlation);
  keep(operation);
}

// --- records

bool StepRecorder::records_missing() const {
  const auto missing = [this](std::uint32_t correlation) { return !come_.contains(correlation); };
  for (std::size_t i = 0; i < kSteps; ++i) {
    const Step& step = steps_[i];
    if (std::any_of(step.copies.begin(), step.copies.end(), missing)) return true;
    const bool last = i + 1 == kSteps;
    if (!last && std::any_of(step.between.begin(), step.between.end(), missing)) return true;
  }
  return false;
}

std::optional<StepRecord> StepRecorder::take() {
  while (complete()) {
    // Copies of no bytes have no record: they are waited for until the next row.
    if (!urged_ && records_missing()) return std::nullopt;
    auto record = build();
    drop(kSteps);
    settle();
    urged_ = urged_ && complete();
    if (record) return record;
  }
  return std::nullopt;
}

std::optional<StepRecord> StepRecorder::build() {
  StepRecord record;
  RecordedSteps& steps = record.steps;
  std::unordered_set<std::uint64_t> non_blocking;
  for (std::size_t i = 0; i < kSteps; ++i) {
    auto& calls = steps_[i].calls;
    if (i + 1 == kSteps) {
      // What follows the last step is of none, and its kernels may not have come.
      calls_ -= std::erase_if(calls, [end = steps_[i].end_ns](const RecordedCall& call) {
        return end != 0 && call.enter_ns >= end;
      });
    }
    if (calls.empty()) return std::nullopt;
    std::sort(calls.begin(), calls.end(), [](const RecordedCall& a, const RecordedCall& b) {
      return std::tie(a.enter_ns, a.correlation) < std::tie(b.enter_ns, b.correlation);
    });
    steps.borders.push_back(static_cast<std::uint32_t>(steps.calls.size()));
    steps.calls.insert(steps.calls.end(), calls.begin(), calls.end());
    non_blocking.insert(steps_[i].non_blocking.begin(), steps_[i].non_blocking.end());
    steps.inputs.insert(steps.inputs.end(), steps_[i].inputs.begin(), steps_[i].inputs.end());
  }
  steps.borders.push_back(static_cast<std::uint32_t>(steps.calls.size()));

  // A stream is its launches' context's: for other calls another one may be current.
  std::unordered_map<std::uint64_t, std::uint32_t> context_of;
  for (const RecordedCall& call : steps.calls)
    if (launches(call) && is_handle(call.stream)) context_of.try_emplace(call.stream, call.context);
  constexpr std::uint64_t kLegacy = 1;
  std::map<std::pair<std::uint32_t, std::uint64_t>, RecordedStream> streams;
  for (RecordedCall& call : steps.calls) {
    const auto known = context_of.find(call.stream);
    if (known != context_of.end()) call.context = known->second;
    const bool legacy = call.stream == kLegacy;
    if (legacy || non_blocking.contains(call.stream))
      streams[{call.context, call.stream}] = {call.stream, call.context, legacy, !legacy};
  }
  for (const auto& [key, stream] : streams) steps.streams.push_back(stream);

  steps.handoffs = find_handoffs(steps.calls);

  std::unordered_map<std::uint32_t, std::size_t> call_of;
  for (std::size_t i = 0; i < steps.calls.size(); ++i)
    if (launches(steps.calls[i])) call_of[steps.calls[i].correlation] = i;
  Works works(record.work);
  std::unordered_map<FunctionId, bool> collective;
  std::vector<Operation> others;
  std::vector<std::int32_t> devices;  // of the record's operations
  bool all_called = true;
  for (const Operation& each : operations_) {
    const auto call = call_of.find(each.recorded.correlation);
    if (call == call_of.end()) {
      // A call that passed when the border came, on another thread, was not seen.
      const auto of_these = [&](const Step& step) { return step.window == each.window; };
      if (std::any_of(steps_.begin(), steps_.begin() + kSteps, of_these))
        all_called = false;
      else
        others.push_back(each);
      continue;
    }
    RecordedOperation operation = each.recorded;
    const bool memset = operation.kind == OperationKind::memset;
    operation.key = works.number(each.work, memset ? CopyKind::memset : CopyKind::other,
                                 each.size * 4 + static_cast<std::uint64_t>(operation.way));
    if (each.work.kernel) {
      const auto [known, added] = collective.try_emplace(each.work.key.function, false);
      if (added) known->second = is_collective(functions_.symbol(each.work.key.function));
      if (known->second) operation.kind = OperationKind::collective;
    }
    steps.operations.push_back(operation);
    devices.push_back(each.work.key.device);
  }
  operations_ = std::move(others);
  if (!all_called) return std::nullopt;
  record.jitter_ns = shift_clocks(steps, devices);

  auto full = find_full_queues(steps);
  if (full.unknown) {
    ++too_far_ahead_;
    return std::nullopt;
  }
  steps.queue_full = std::move(full.found);

  std::unordered_map<std::uint32_t, std::vector<const RecordedOperation*>> inner;
  for (const RecordedOperation& operation : steps.operations)
    if (operation.graph_node != 0) inner[operation.correlation].push_back(&operation);
  for (RecordedCall& call : steps.calls) {
    if (call.kind != RecordedCallKind::graph_launch) continue;
    auto& nodes = inner[call.correlation];
    std::sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) {
      return std::tie(a->start_ns, a->graph_node) < std::tie(b->start_ns, b->graph_node);
    });
    RecordedGraph graph = graph_of(nodes);
    auto& graphs = steps.graphs;
    const auto known = std::find_if(graphs.begin(), graphs.end(),
                                    [&](const auto& other) { return same(graph, other); });
    call.graph = static_cast<std::uint32_t>(known - graphs.begin());
    if (known == graphs.end()) graphs.push_back(std::move(graph));
  }
  return record;
}

}  // namespace gable
