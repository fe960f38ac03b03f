// SPDX-License-Identifier: Apache-2.0
#include "tools/calls/recorded_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/profile/step_waits.h"
#include "analysis/step_graph/clock_shift.h"

namespace gable {
namespace {

using StreamKey = std::pair<std::uint32_t, std::uint64_t>;  // context, stream
constexpr StreamKey kNoStream{~0u, TracedWait::kUnknown};
constexpr std::uint64_t kUnnamedNode = std::uint64_t{1} << 63;
// Calls in calls in calls: deeper ones are taken for the outermost.
constexpr int kDeepest = 4;

class Maker {
 public:
  explicit Maker(TracedSteps steps) : in_(std::move(steps)) {
    std::sort(in_.operations.begin(), in_.operations.end(), [](const auto& a, const auto& b) {
      return std::tie(a.correlation, a.start_ns, a.end_ns) <
             std::tie(b.correlation, b.start_ns, b.end_ns);
    });
    std::sort(in_.waits.begin(), in_.waits.end(),
              [](const auto& a, const auto& b) { return a.correlation < b.correlation; });
  }

  StepRecord make() {
    order_calls();
    find_streams();
    find_records();
    for (std::uint32_t i = 0; i < in_.calls.size(); ++i) add(i);
    move_clocks();
    describe_streams();
    record_.steps.handoffs = find_handoffs(record_.steps.calls);
    for (const TracedFullQueue& full : in_.full) {
      const auto call = number_.find(full.correlation);
      if (call != number_.end())
        record_.steps.queue_full.push_back({full.start_ns, full.end_ns, call->second});
    }
    for (const std::uint64_t start : in_.starts) {
      const auto first = std::lower_bound(
          in_.calls.begin(), in_.calls.end(), start,
          [](const TracedCall& call, std::uint64_t when) { return call.start_ns < when; });
      record_.steps.borders.push_back(static_cast<std::uint32_t>(first - in_.calls.begin()));
    }
    if (work_streams_.size() > 1 && !in_.tells_waits) unresolved_ = true;
    record_.stream_waits_known = !unresolved_;
    record_.work = std::move(in_.work);
    record_.steps.inputs = std::move(in_.inputs);
    return std::move(record_);
  }

 private:
  struct ByCorrelation {
    bool operator()(const TracedOperation& a, std::uint64_t b) const { return a.correlation < b; }
    bool operator()(std::uint64_t a, const TracedOperation& b) const { return a < b.correlation; }
  };
  [[nodiscard]] std::span<const TracedOperation> operations_of(std::uint64_t correlation) const {
    if (correlation == 0) return {};
    const auto [first, last] = std::equal_range(in_.operations.begin(), in_.operations.end(),
                                                correlation, ByCorrelation());
    return {first, last};
  }

  [[nodiscard]] const TracedWait* wait_of(const TracedCall& call) const {
    const auto found = std::lower_bound(
        in_.waits.begin(), in_.waits.end(), call.correlation,
        [](const TracedWait& wait, std::uint64_t wanted) { return wait.correlation < wanted; });
    if (call.correlation == 0 || found == in_.waits.end() || found->correlation != call.correlation)
      return nullptr;
    return &*found;
  }

  [[nodiscard]] bool says_something(const TracedCall& call) const {
    switch (call.what) {
      case CallName::other:
      case CallName::launch:
      case CallName::graph_launch:
      case CallName::copy:
        return !operations_of(call.correlation).empty();
      default:
        return true;
    }
  }

  // Of a call within another of its thread, as the driver's within the runtime's, the outer one
  // stays, unless the inner one alone says something.
  void order_calls() {
    auto& calls = in_.calls;
    std::sort(calls.begin(), calls.end(), [](const TracedCall& a, const TracedCall& b) {
      return std::tuple(a.start_ns, b.duration_ns, a.thread, a.correlation) <
             std::tuple(b.start_ns, a.duration_ns, b.thread, b.correlation);
    });
    for (int depth = 1; depth <= kDeepest; ++depth) {
      std::vector<std::size_t> around(calls.size(), calls.size());
      std::vector<bool> hollow(calls.size(), false);
      std::unordered_map<std::uint32_t, std::size_t> open;  // by thread
      bool any = false;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto [outer, first] = open.try_emplace(calls[i].thread, i);
        if (first) continue;
        const TracedCall& outermost = calls[outer->second];
        if (calls[i].start_ns < outermost.end_ns() && calls[i].end_ns() <= outermost.end_ns()) {
          around[i] = outer->second;
          if (depth < kDeepest && says_something(calls[i]) && !says_something(outermost))
            any = hollow[outer->second] = true;
        } else {
          outer->second = i;
        }
      }
      std::size_t kept = 0;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const bool within = around[i] < calls.size();
        if (within ? hollow[around[i]] : !hollow[i]) calls[kept++] = calls[i];
      }
      calls.resize(kept);
      if (!any) return;
    }
  }

  void find_streams() {
    for (const TracedCall& call : in_.calls)
      for (const TracedOperation& operation : operations_of(call.correlation)) {
        if (work_streams_.empty()) first_context_ = operation.context;
        work_streams_.emplace(operation.context, operation.stream);
      }
    for (const StreamKey& key : work_streams_) {
      const auto [known, first] = by_handle_.emplace(key.second, key);
      if (!first) known->second = kNoStream;  // of several contexts
    }
  }

  // A stream that a record names; where its context is not the one named, the only one that it is
  // of.
  [[nodiscard]] StreamKey stream_named(std::uint32_t context, std::uint64_t stream) const {
    if (stream == TracedWait::kUnknown) return kNoStream;
    const StreamKey named{context, stream};
    if (work_streams_.contains(named)) return named;
    const auto only = by_handle_.find(stream);
    return only != by_handle_.end() && only->second != kNoStream ? only->second : named;
  }

  void find_records() {
    for (const TracedWait& wait : in_.waits) {
      if (wait.record == 0) continue;
      const StreamKey stream = stream_named(wait.record_context, wait.record_stream);
      if (stream != kNoStream) record_streams_.emplace(wait.record, stream);
    }
  }

  struct Thread {
    std::uint32_t context = 0;
    StreamKey last_copy = kNoStream;  // of the call before, where that is a copy
    std::uint64_t copied_ns = 0;
    bool captures = false;
  };

  void add(std::uint32_t index) {
    const TracedCall& from = in_.calls[index];
    Thread& thread = threads_.try_emplace(from.thread, Thread{first_context_, kNoStream, 0, false})
                         .first->second;
    RecordedCall call;
    call.enter_ns = from.start_ns;
    call.exit_ns = from.end_ns();
    call.thread = from.thread;
    call.correlation = index + 1;
    call.context = thread.context;
    // Of two calls of one number the first launched.
    const bool first =
        from.correlation != 0 && number_.emplace(from.correlation, call.correlation).second;
    const auto operations = operations_of(from.correlation);
    if (first && !operations.empty()) {
      add_work(from, operations, call, thread);
    } else {
      add_order(from, call, thread);
      thread.last_copy = kNoStream;
    }
    record_.steps.calls.push_back(call);
  }

  void add_work(const TracedCall& from, std::span<const TracedOperation> operations,
                RecordedCall& call, Thread& thread) {
    const TracedOperation& first = operations.front();
    call.kind = RecordedCallKind::launch;
    call.context = thread.context = first.context;
    call.stream = first.stream;
    const bool graph = from.what == CallName::graph_launch;
    std::vector<std::uint64_t> nodes;
    std::uint64_t last_ns = 0;
    for (const TracedOperation& operation : operations) {
      RecordedOperation made;
      made.start_ns = operation.start_ns;
      made.end_ns = operation.end_ns;
      made.correlation = call.correlation;
      made.key = operation.key;
      made.kind = operation.kind;
      made.way = operation.way;
      made.pageable = operation.pageable;
      made.asynchronous = from.asynchronous;
      if (graph) {
        made.graph_node = operation.graph_node;
        if (made.graph_node == 0) made.graph_node = kUnnamedNode | (nodes.size() + 1);
        nodes.push_back(made.graph_node);
      }
      last_ns = std::max(last_ns, operation.end_ns);
      record_.steps.operations.push_back(made);
      devices_.push_back(operation.device);
    }
    if (graph) {
      call.kind = RecordedCallKind::graph_launch;
      call.exec = *std::min_element(nodes.begin(), nodes.end());
      call.graph = graph_of(operations, std::move(nodes));
    }
    thread.last_copy =
        first.kind == OperationKind::copy ? StreamKey{first.context, first.stream} : kNoStream;
    thread.copied_ns = last_ns;
  }

  // The file does not say what a graph's nodes wait for: those of one stream follow each other.
  std::uint32_t graph_of(std::span<const TracedOperation> operations,
                         std::vector<std::uint64_t> nodes) {
    std::map<StreamKey, std::uint32_t> last;
    RecordedGraph graph;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      const auto [before, first] =
          last.try_emplace(StreamKey{operations[i].context, operations[i].stream}, i);
      if (!first) graph.edges.push_back({std::exchange(before->second, i), i});
    }
    if (last.size() > 1) unresolved_ = true;
    const auto [known, fresh] =
        graphs_.try_emplace(nodes, static_cast<std::uint32_t>(record_.steps.graphs.size()));
    if (fresh) {
      graph.nodes = std::move(nodes);
      record_.steps.graphs.push_back(std::move(graph));
    }
    return known->second;
  }

  // A call that only orders what others launched.
  void add_order(const TracedCall& from, RecordedCall& call, Thread& thread) {
    if (from.what == CallName::begin_capture) thread.captures = true;
    if (from.what == CallName::end_capture) thread.captures = false;
    if (thread.captures) return;
    const TracedWait* wait = wait_of(from);
    StreamKey stream = wait != nullptr ? stream_named(wait->context, wait->stream) : kNoStream;
    const std::uint64_t event = wait != nullptr ? wait->record : 0;
    const bool one = work_streams_.size() == 1;
    if (stream == kNoStream && one) stream = *work_streams_.begin();
    const auto use = [&](RecordedCallKind kind) {
      call.kind = kind;
      if (stream == kNoStream) return;
      call.context = stream.first;
      call.stream = stream.second;
    };
    switch (from.what) {
      case CallName::event_record: {
        const auto known = record_streams_.find(from.correlation);
        if (known != record_streams_.end()) stream = known->second;
        if (stream == kNoStream || from.correlation == 0) return;
        call.event = from.correlation;
        return use(RecordedCallKind::event_record);
      }
      case CallName::stream_wait:
        if (stream == kNoStream || event == 0 || !record_streams_.contains(event)) {
          // With one stream there is nothing to wait for.
          unresolved_ |= !one;
          return;
        }
        call.event = event;
        return use(RecordedCallKind::stream_wait);
      case CallName::stream_synchronize:
        // Of several streams it is the one of the copy just before, as in what reads a value back.
        if (stream == kNoStream && thread.copied_ns <= call.exit_ns) stream = thread.last_copy;
        if (stream != kNoStream) return use(RecordedCallKind::stream_synchronize);
        unresolved_ = true;
        return;
      case CallName::event_synchronize:
        if (event == 0) {
          unresolved_ = true;
          return;
        }
        call.event = event;
        return use(RecordedCallKind::event_synchronize);
      case CallName::context_synchronize:
        if (wait != nullptr && wait->context != 0) call.context = wait->context;
        call.kind = RecordedCallKind::context_synchronize;
        return;
      case CallName::free_memory:
        call.kind = RecordedCallKind::free_memory;
        return;
      default:
        return;
    }
  }

  void move_clocks() {
    const std::uint64_t rounding = rounding_error_ns(record_.steps);
    record_.jitter_ns = std::max(rounding, shift_clocks(record_.steps, devices_));
  }

  void describe_streams() {
    std::set<StreamKey> told;
    std::map<std::uint32_t, std::uint64_t> legacy;
    for (const TracedStream& stream : in_.streams) {
      const StreamKey key{stream.context, stream.stream};
      if (!work_streams_.contains(key) || !told.insert(key).second) continue;
      record_.steps.streams.push_back(
          {stream.stream, stream.context, stream.legacy, stream.non_blocking});
      if (stream.legacy) legacy.emplace(stream.context, stream.stream);
    }
    std::map<StreamKey, std::vector<const TracedOperation*>> work;
    if (in_.others_block)
      for (const TracedOperation& operation : in_.operations)
        work[{operation.context, operation.stream}].push_back(&operation);
    for (auto& [key, operations] : work)
      std::sort(operations.begin(), operations.end(),
                [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
    for (const StreamKey& key : work_streams_) {
      if (told.contains(key)) continue;
      const auto of = legacy.find(key.first);
      const bool beside = in_.others_block && of != legacy.end() &&
                          ran_beside(work[key], work[{key.first, of->second}]);
      record_.steps.streams.push_back({key.second, key.first, false, beside || !in_.others_block});
    }
  }

  // Whether any two of them ran at the same time, by more than times are rounded.
  static bool ran_beside(const std::vector<const TracedOperation*>& some,
                         const std::vector<const TracedOperation*>& others) {
    constexpr std::uint64_t kRounded = 2000;
    std::size_t next = 0;
    for (const TracedOperation* each : some) {
      while (next < others.size() && others[next]->end_ns <= each->start_ns + kRounded) ++next;
      if (next < others.size() && others[next]->start_ns + kRounded < each->end_ns) return true;
    }
    return false;
  }

  TracedSteps in_;
  StepRecord record_;
  std::vector<std::int32_t> devices_;  // by operation of the record
  std::set<StreamKey> work_streams_;
  std::unordered_map<std::uint64_t, StreamKey> by_handle_;       // of one context
  std::unordered_map<std::uint64_t, StreamKey> record_streams_;  // of event records
  std::unordered_map<std::uint64_t, std::uint32_t> number_;      // in the record, by correlation
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> graphs_;
  std::uint32_t first_context_ = 0;
  bool unresolved_ = false;
};

}  // namespace

std::vector<std::size_t> record_places(const std::vector<std::uint64_t>& sequences) {
  std::vector<std::size_t> alike, all;
  for (std::size_t i = 0; i + 2 < sequences.size(); ++i) {
    const bool empty = sequences[i] == 0 || sequences[i + 1] == 0 || sequences[i + 2] == 0;
    if (empty || (i == 0 && sequences.size() > 3)) continue;
    all.push_back(i);
    if (sequences[i] == sequences[i + 1] && sequences[i] == sequences[i + 2]) alike.push_back(i);
  }
  // The very first step is better than steps that differ.
  if (alike.empty() && sequences.size() > 3 && sequences[0] != 0 && sequences[0] == sequences[1] &&
      sequences[0] == sequences[2])
    alike.push_back(0);
  const auto& places = alike.empty() ? all : alike;
  if (places.size() <= 3) return places;
  const std::size_t middle = (places.front() + places.back()) / 2;
  const auto near = std::min_element(
      places.begin() + 1, places.end() - 1, [middle](std::size_t a, std::size_t b) {
        const auto far = [middle](std::size_t i) { return i > middle ? i - middle : middle - i; };
        return far(a) < far(b);
      });
  return {places.front(), *near, places.back()};
}

StepRecord make_step_record(TracedSteps steps) { return Maker(std::move(steps)).make(); }

}  // namespace gable
