// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/graph_builder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/step_graph/graph_lags.h"
#include "analysis/step_graph/input_time.h"

namespace gable {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(const RecordedSteps& recorded, std::uint64_t jitter_ns, std::uint32_t queue_depth)
      : recorded_(recorded), inputs_(recorded.inputs), jitter_ns_(jitter_ns), depth_(queue_depth) {}

  StepGraph build() {
    join_operations();
    merge_polls();
    prepare_graphs();
    prepare_handoffs();
    number_resources();
    first_node_.resize(recorded_.calls.size() + 1);
    last_host_.assign(recorded_.calls.size(), kNoIndex);
    for (std::uint32_t call = 0; call < recorded_.calls.size(); ++call) {
      first_node_[call] = size();
      add(call);
    }
    first_node_.back() = size();
    graph_.threads = static_cast<std::uint16_t>(std::min<std::size_t>(threads_.size(), 0xfffe));
    graph_.queue_depth = depth_;
    for (const Join& join : joins_) graph_.refused.unlaunched += join.used ? 0 : 1;
    add_steps();
    return std::move(graph_);
  }

  // How many entries of a stream may wait: as many as did when a call found the queue full.
  [[nodiscard]] std::uint32_t seen_depth(const StepGraph& graph) const {
    std::uint32_t depth = 0;
    for (const Blocked& blocked : blocked_) {
      const auto& entries = streams_[blocked.stream].entries;
      std::uint32_t entry = blocked.ordinal;
      while (entry > 0 && graph.nodes[entries[entry - 1]].start_ns > blocked.since_ns) --entry;
      // Of a queue that was full before the records begin, the depth is not known.
      if (entry > 0) depth = std::max(depth, blocked.ordinal - entry);
    }
    return depth;
  }

 private:
  struct Join {
    std::uint32_t correlation = 0, operation = 0;
    std::uint64_t graph_node = 0;
    bool used = false;
  };
  struct Thread {
    std::uint32_t last = kNoIndex;                         // node
    std::map<std::uint32_t, std::uint32_t> context_waits;  // the last node, by context
  };
  struct Stream {
    std::uint32_t last = kNoIndex;  // node
    std::uint32_t context = 0;
    std::uint16_t resource = 0;
    bool legacy = false, non_blocking = false;
    std::vector<std::uint32_t> entries;  // first nodes
  };
  struct Context {
    std::vector<std::uint32_t> streams;
    std::uint32_t legacy = kNoIndex;  // stream
  };
  struct Blocked {
    std::uint32_t stream = 0, ordinal = 0;
    std::uint64_t since_ns = 0;
  };
  struct PreparedGraph {
    std::vector<std::uint32_t> first_edge, from;  // by the node they lead to
    std::vector<bool> leaf;
  };
  using StreamKey = std::pair<std::uint32_t, std::uint64_t>;

  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(graph_.nodes.size());
  }
  GraphNode& node(std::uint32_t index) { return graph_.nodes[index]; }

  void join_operations() {
    const auto& operations = recorded_.operations;
    joins_.reserve(operations.size());
    for (std::uint32_t i = 0; i < operations.size(); ++i)
      joins_.push_back({operations[i].correlation, i, operations[i].graph_node, false});
    // Of two records of one launch the earlier is taken, in whichever order they came.
    std::sort(joins_.begin(), joins_.end(), [&](const Join& a, const Join& b) {
      const auto key = [&](const Join& join) {
        const RecordedOperation& operation = operations[join.operation];
        return std::tuple(join.correlation, join.graph_node, operation.start_ns, operation.end_ns,
                          join.operation);
      };
      return key(a) < key(b);
    });
  }

  std::uint32_t find_operation(std::uint32_t correlation, std::uint64_t graph_node) {
    if (correlation == 0) return kNoIndex;
    const auto same = [&](const Join& join) {
      return join.correlation == correlation && join.graph_node == graph_node;
    };
    auto join = std::partition_point(joins_.begin(), joins_.end(), [&](const Join& other) {
      return std::pair(other.correlation, other.graph_node) < std::pair(correlation, graph_node);
    });
    if (join == joins_.end() || !same(*join) || join->used) return kNoIndex;
    const std::uint32_t found = join->operation;
    join->used = true;
    for (++join; join != joins_.end() && same(*join); ++join) {
      join->used = true;
      ++graph_.refused.operations;
    }
    return found;
  }

  // Queries in a row on one thread, until one succeeds, are one wait that begins with the first.
  void merge_polls() {
    const auto& calls = recorded_.calls;
    poll_enter_.assign(calls.size(), kNotPolled);
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> waiting;  // by thread
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      auto& row = waiting[calls[i].thread];
      const bool query = calls[i].kind == RecordedCallKind::query_not_ready ||
                         calls[i].kind == RecordedCallKind::query_succeeded;
      const auto target = [](const RecordedCall& call) {
        return std::tuple(call.event, call.event == 0 ? call.stream : 0, call.context);
      };
      if (!query || (!row.empty() && target(calls[row.front()]) != target(calls[i]))) row.clear();
      if (calls[i].kind == RecordedCallKind::query_not_ready) row.push_back(i);
      if (calls[i].kind == RecordedCallKind::query_succeeded && !row.empty()) {
        for (const std::uint32_t poll : row) poll_enter_[poll] = kMerged;
        poll_enter_[i] = calls[row.front()].enter_ns;
        poll_first_[i] = row.front();
        row.clear();
      }
    }
  }

  void prepare_graphs() {
    for (const RecordedGraph& graph : recorded_.graphs) {
      PreparedGraph prepared;
      prepared.leaf.assign(graph.nodes.size(), true);
      auto edges = graph.edges;
      const auto wrong = std::remove_if(edges.begin(), edges.end(), [&](const auto& edge) {
        return edge.from >= edge.to || edge.to >= graph.nodes.size();
      });
      graph_.refused.edges += static_cast<std::uint32_t>(edges.end() - wrong);
      edges.erase(wrong, edges.end());
      std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
        return std::pair(a.to, a.from) < std::pair(b.to, b.from);
      });
      std::size_t edge = 0;
      for (std::uint32_t to = 0; to < graph.nodes.size(); ++to) {
        prepared.first_edge.push_back(static_cast<std::uint32_t>(edge));
        for (; edge < edges.size() && edges[edge].to == to; ++edge) {
          prepared.from.push_back(edges[edge].from);
          prepared.leaf[edges[edge].from] = false;
        }
      }
      prepared.first_edge.push_back(static_cast<std::uint32_t>(edge));
      graphs_.push_back(std::move(prepared));
    }
  }

  void prepare_handoffs() {
    for (const Handoff& handoff : recorded_.handoffs) {
      if (handoff.from < handoff.to && handoff.to < recorded_.calls.size())
        handoffs_.push_back(handoff);
      else
        ++graph_.refused.edges;
    }
    std::sort(handoffs_.begin(), handoffs_.end(),
              [](const Handoff& a, const Handoff& b) { return a.to < b.to; });
    for (const QueueFull& full : recorded_.queue_full)
      if (full.correlation != 0) full_[full.correlation] = full;
  }

  // Threads first, then streams; what comes after the 65,534th shares a number, which only decides
  // ties on the path.
  void number_resources() {
    for (const RecordedCall& call : recorded_.calls)
      thread_index_.try_emplace(call.thread, static_cast<std::uint32_t>(thread_index_.size()));
    threads_.resize(thread_index_.size());
    for (const RecordedStream& stream : recorded_.streams)
      stream_of(stream.context, stream.stream, &stream);
  }

  std::uint32_t stream_of(std::uint32_t context, std::uint64_t handle,
                          const RecordedStream* facts = nullptr) {
    const auto [found, added] = stream_index_.try_emplace(
        StreamKey{context, handle}, static_cast<std::uint32_t>(streams_.size()));
    if (!added) return found->second;
    Stream stream;
    stream.context = context;
    stream.resource = static_cast<std::uint16_t>(
        std::min<std::size_t>(threads_.size() + streams_.size(), 0xfffe));
    stream.legacy = facts != nullptr && facts->legacy;
    stream.non_blocking = facts != nullptr && facts->non_blocking && !stream.legacy;
    Context& of = contexts_[context];
    of.streams.push_back(found->second);
    if (stream.legacy && of.legacy == kNoIndex) of.legacy = found->second;
    streams_.push_back(std::move(stream));
    return found->second;
  }

  std::uint32_t add_node(const GraphNode& made) {
    graph_.nodes.push_back(made);
    graph_.nodes.back().first_edge = static_cast<std::uint32_t>(graph_.edges.size());
    return size() - 1;
  }
  // To the node that was added last.
  void add_edge(EdgeKind kind, std::uint32_t from, std::uint64_t lag = 0, std::uint64_t input = 0) {
    if (from == kNoIndex) return;
    if (input > 0)
      graph_.inputs.push_back({static_cast<std::uint32_t>(graph_.edges.size()), input});
    graph_.edges.push_back({lag, from, kind});
  }

  // A node on the host, which begins when what the calling thread does before has ended.
  // `stream`: where it launches something, else kNoIndex.
  std::uint32_t add_host(std::uint32_t index, NodeClass kind, std::uint32_t stream = kNoIndex) {
    const RecordedCall& call = recorded_.calls[index];
    Thread& thread = threads_[thread_index_[call.thread]];
    const bool polled = poll_enter_[index] != kNotPolled;
    const std::uint64_t enter = polled ? poll_enter_[index] : call.enter_ns;
    GraphNode made;
    made.call = index;
    made.resource =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(thread_index_[call.thread], 0xfffe));
    made.kind = kind;
    made.start_ns = enter;
    made.end_ns = std::max(call.exit_ns, enter);
    if (call.exit_ns < call.enter_ns) ++graph_.refused.calls;
    const auto full = stream != kNoIndex ? full_.find(call.correlation) : full_.end();
    if (full != full_.end()) made.start_ns = std::clamp(full->second.end_ns, enter, made.end_ns);
    const std::uint32_t result = add_node(made);
    if (full != full_.end())
      blocked_.push_back({stream, static_cast<std::uint32_t>(streams_[stream].entries.size()),
                          full->second.start_ns});

    const std::uint32_t first = polled ? poll_first_[index] : index;
    auto handoff =
        std::lower_bound(handoffs_.begin(), handoffs_.end(), first,
                         [](const Handoff& other, std::uint32_t to) { return other.to < to; });
    const auto begin = handoff;
    std::uint64_t before = thread.last != kNoIndex ? node(thread.last).end_ns : 0;
    for (; handoff != handoffs_.end() && handoff->to == first; ++handoff)
      if (last_host_[handoff->from] != kNoIndex)
        before = std::max(before, node(last_host_[handoff->from]).end_ns);
    const std::uint64_t gap = ns_between(before, enter);
    const std::uint64_t input = inputs_.within(call.thread, before, enter);
    add_edge(EdgeKind::program_order, thread.last, gap, input);
    for (auto other = begin; other != handoff; ++other)
      add_edge(EdgeKind::handoff, last_host_[other->from], gap, input);
    if (stream != kNoIndex && depth_ > 0 && streams_[stream].entries.size() >= depth_) {
      const auto& entries = streams_[stream].entries;
      add_edge(EdgeKind::queue_full, entries[entries.size() - depth_]);
    }
    thread.last = last_host_[index] = result;
    return result;
  }

  // Calls `use` with the last nodes of other streams that the next entry of `stream` waits for.
  template <typename Use>
  void for_legacy(const Stream& stream, const Use& use) {
    const Context& context = contexts_[stream.context];
    const auto newer = [&](const Stream& other) {
      return other.last != kNoIndex && (stream.last == kNoIndex || other.last > stream.last);
    };
    if (stream.legacy) {
      for (const std::uint32_t index : context.streams) {
        const Stream& other = streams_[index];
        if (!other.legacy && !other.non_blocking && newer(other)) use(other.last);
      }
    } else if (!stream.non_blocking && context.legacy != kNoIndex &&
               newer(streams_[context.legacy])) {
      use(streams_[context.legacy].last);
    }
  }

  // What the next entry of a stream waits for, beside its launch.
  void add_stream_edges(const Stream& stream) {
    add_edge(EdgeKind::stream_order, stream.last);
    for_legacy(stream, [&](std::uint32_t last) { add_edge(EdgeKind::legacy_stream, last); });
  }

  // Whether a kernel with this launch may begin before the kernel before it ends.
  bool may_overlap(std::uint32_t call, const GraphNode& made, const Stream& stream) {
    const auto is_kernel = [](const GraphNode& other) {
      return other.kind == NodeClass::kernel || other.kind == NodeClass::collective;
    };
    if (!recorded_.calls[call].programmatic || !is_kernel(made) || stream.last == kNoIndex ||
        !is_kernel(node(stream.last)))
      return false;
    bool between = false;
    for_legacy(stream, [&](std::uint32_t) { between = true; });
    return !between;
  }

  GraphNode operation_node(std::uint32_t call, std::uint32_t operation, const Stream& stream) {
    GraphNode made;
    made.call = call;
    made.resource = stream.resource;
    made.kind = recorded_.calls[call].kind == RecordedCallKind::host_function
                    ? NodeClass::host_function
                    : NodeClass::kernel;
    made.flags = kTimeUnknown;
    if (operation == kNoIndex) return made;
    const RecordedOperation& record = recorded_.operations[operation];
    made.operation = operation;
    static_assert(static_cast<int>(NodeClass::host_function) ==
                  static_cast<int>(OperationKind::host_function));
    made.kind = static_cast<NodeClass>(record.kind);
    if (record.end_ns < record.start_ns) {
      ++graph_.refused.operations;
    } else if (record.end_ns == 0) {
      ++graph_.refused.unknown_times;
    } else {
      made.flags = 0;
      made.start_ns = record.start_ns;
      made.end_ns = record.end_ns;
    }
    return made;
  }

  void enter_stream(Stream& stream, std::uint32_t first) {
    stream.entries.push_back(first);
    stream.last = size() - 1;
  }

  void add_operation(std::uint32_t call, std::uint32_t operation, Stream& stream,
                     std::uint32_t issue) {
    GraphNode made = operation_node(call, operation, stream);
    const std::uint32_t before = stream.last;
    if (may_overlap(call, made, stream)) {
      GraphNode head = made;
      head.operation = kNoIndex;
      head.flags |= kPdlHead;
      head.end_ns = head.start_ns;
      const std::uint32_t first = add_node(head);
      add_edge(EdgeKind::launch, issue);
      add_edge(EdgeKind::pdl_start, before);
      made.flags |= kPdlBody;
      add_node(made);
      add_edge(EdgeKind::pdl_end, first);
      add_edge(EdgeKind::pdl_end, before);
      enter_stream(stream, first);
      return;
    }
    const std::uint32_t first = add_node(made);
    add_edge(EdgeKind::launch, issue);
    add_stream_edges(stream);
    enter_stream(stream, first);
  }

  std::uint32_t add_marker(std::uint32_t call, Stream& stream, std::uint32_t issue) {
    GraphNode made;
    made.call = call;
    made.resource = stream.resource;
    const std::uint32_t result = add_node(made);
    add_edge(EdgeKind::launch, issue);
    add_stream_edges(stream);
    enter_stream(stream, result);
    return result;
  }

  // Copies that hold their call up, by the kinds of memory. A copy to pageable memory that says it
  // is asynchronous may: whether the call outlasted the copy decides.
  void add_launch(std::uint32_t index) {
    const RecordedCall& call = recorded_.calls[index];
    const std::uint32_t on = stream_of(call.context, call.stream);
    const std::uint32_t operation = find_operation(call.correlation, 0);
    const RecordedOperation copy =
        operation != kNoIndex ? recorded_.operations[operation] : RecordedOperation{};
    const bool is_copy = copy.kind == OperationKind::copy && operation != kNoIndex;
    const bool staged = copy.way == CopyWay::host_to_device && copy.pageable;
    if (is_copy && staged && !copy.asynchronous) {
      // The stream is synchronised first, and the call returns when the data are staged.
      const std::uint32_t before = streams_[on].last;
      const std::uint32_t issue = add_host(index, NodeClass::host_wait, on);
      node(issue).flags |= kStages;
      if (before != kNoIndex && outlasted(call.exit_ns, before))
        add_edge(EdgeKind::host_wait, before);
      begin_after_edges(issue);
      add_operation(index, operation, streams_[on], issue);
      return;
    }
    const bool waits =
        is_copy && !staged &&
        (copy.way == CopyWay::device_to_host || copy.way == CopyWay::host_to_device) &&
        (!copy.asynchronous || copy.pageable);
    const std::uint32_t issue = add_host(index, NodeClass::host_call, on);
    const std::uint64_t end = node(issue).end_ns;
    if (waits) node(issue).end_ns = node(issue).start_ns;
    add_operation(index, operation, streams_[on], issue);
    if (!waits) return;
    const std::uint32_t done = size() - 1;
    GraphNode made = node(issue);
    made.kind = NodeClass::host_wait;
    made.end_ns = end;
    const std::uint32_t result = add_node(made);
    add_edge(EdgeKind::program_order, issue);
    if (outlasted(end, done)) add_edge(EdgeKind::host_wait, done);
    begin_after_edges(result);
    threads_[thread_index_[call.thread]].last = last_host_[index] = result;
  }

  void add_graph_launch(std::uint32_t index) {
    const RecordedCall& call = recorded_.calls[index];
    const std::uint32_t on = stream_of(call.context, call.stream);
    const std::uint32_t issue = add_host(index, NodeClass::host_call, on);
    GraphNode marker;
    marker.call = index;
    marker.resource = streams_[on].resource;
    marker.flags = kInGraph;
    const std::uint32_t head = add_node(marker);
    add_edge(EdgeKind::launch, issue);
    add_stream_edges(streams_[on]);
    if (const auto before = execs_.find(call.exec); before != execs_.end())
      add_edge(EdgeKind::graph_order, before->second);
    const bool known = call.graph < graphs_.size();
    const std::uint32_t first = head + 1;
    const std::size_t count = known ? recorded_.graphs[call.graph].nodes.size() : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const PreparedGraph& graph = graphs_[call.graph];
      GraphNode made = operation_node(
          index, find_operation(call.correlation, recorded_.graphs[call.graph].nodes[i]),
          streams_[on]);
      made.flags |= kInGraph;
      add_node(made);
      if (graph.first_edge[i] == graph.first_edge[i + 1]) {
        add_edge(EdgeKind::launch, issue);
        add_edge(EdgeKind::stream_order, head);
      }
      for (std::uint32_t edge = graph.first_edge[i]; edge < graph.first_edge[i + 1]; ++edge)
        add_edge(EdgeKind::graph_inner, first + graph.from[edge]);
    }
    const std::uint32_t tail = add_node(marker);
    if (count == 0) add_edge(EdgeKind::graph_inner, head);
    for (std::uint32_t i = 0; i < count; ++i)
      if (graphs_[call.graph].leaf[i]) add_edge(EdgeKind::graph_inner, first + i);
    execs_[call.exec] = tail;
    enter_stream(streams_[on], head);
  }

  // Whether a call that returned then may have waited for the node.
  bool outlasted(std::uint64_t exit_ns, std::uint32_t other) {
    return node(other).end_ns <= ns_sum(exit_ns, jitter_ns_);
  }

  // Of a node whose beginning is a wait: as soon as all it waits for has come, within its call.
  void begin_after_edges(std::uint32_t index) {
    GraphNode& made = node(index);
    made.start_ns = std::clamp(graph_.latest_arrival_ns(index), made.start_ns, made.end_ns);
  }

  void add_context_edges(std::uint32_t index, bool confirm) {
    const RecordedCall& call = recorded_.calls[index];
    Thread& thread = threads_[thread_index_[call.thread]];
    const Context& context = contexts_[call.context];
    const auto waited = thread.context_waits.find(call.context);
    const auto is_new = [&](std::uint32_t last) {
      return last != kNoIndex && (waited == thread.context_waits.end() || last > waited->second);
    };
    if (confirm)
      for (const std::uint32_t stream : context.streams)
        if (is_new(streams_[stream].last) && !outlasted(call.exit_ns, streams_[stream].last))
          return;
    for (const std::uint32_t stream : context.streams)
      if (is_new(streams_[stream].last)) add_edge(EdgeKind::host_wait, streams_[stream].last);
    thread.context_waits[call.context] = size() - 1;
  }

  void add_wait(std::uint32_t index) {
    const RecordedCall& call = recorded_.calls[index];
    const std::uint32_t made = add_host(index, NodeClass::host_wait);
    const bool query = call.kind == RecordedCallKind::query_succeeded;
    if (call.kind == RecordedCallKind::event_synchronize || (query && call.event != 0)) {
      if (const auto event = events_.find(call.event); event != events_.end())
        add_edge(EdgeKind::host_wait, event->second);
    } else if (call.kind == RecordedCallKind::stream_synchronize || query) {
      add_edge(EdgeKind::host_wait, streams_[stream_of(call.context, call.stream)].last);
    } else {
      add_context_edges(index, call.kind == RecordedCallKind::free_memory);
    }
    begin_after_edges(made);
  }

  void add(std::uint32_t index) {
    if (poll_enter_[index] == kMerged) return;
    const RecordedCall& call = recorded_.calls[index];
    switch (call.kind) {
      case RecordedCallKind::launch:
        return add_launch(index);
      case RecordedCallKind::graph_launch:
        return add_graph_launch(index);
      case RecordedCallKind::host_function: {
        const std::uint32_t on = stream_of(call.context, call.stream);
        const std::uint32_t issue = add_host(index, NodeClass::host_call, on);
        return add_operation(index, find_operation(call.correlation, 0), streams_[on], issue);
      }
      case RecordedCallKind::event_record: {
        const std::uint32_t on = stream_of(call.context, call.stream);
        const std::uint32_t issue = add_host(index, NodeClass::host_call, on);
        events_[call.event] = add_marker(index, streams_[on], issue);
        return;
      }
      case RecordedCallKind::stream_wait: {
        const std::uint32_t on = stream_of(call.context, call.stream);
        const std::uint32_t issue = add_host(index, NodeClass::host_call, on);
        add_marker(index, streams_[on], issue);
        if (const auto event = events_.find(call.event); event != events_.end())
          add_edge(EdgeKind::event_wait, event->second);
        return;
      }
      case RecordedCallKind::stream_synchronize:
      case RecordedCallKind::event_synchronize:
      case RecordedCallKind::context_synchronize:
      case RecordedCallKind::query_succeeded:
      case RecordedCallKind::free_memory:
        return add_wait(index);
      case RecordedCallKind::query_not_ready:
      case RecordedCallKind::other:
        add_host(index, NodeClass::host_call);
    }
  }

  void add_steps() {
    std::vector<std::uint64_t> busy(threads_.size() + streams_.size() + 1);
    std::size_t busiest = busy.size();
    for (const GraphNode& made : graph_.nodes) {
      if (made.kind != NodeClass::kernel || made.operation == kNoIndex) continue;
      auto& sum = busy[std::min<std::size_t>(made.resource, busy.size() - 1)];
      sum = ns_sum(sum, ns_between(made.start_ns, made.end_ns));
      if (busiest == busy.size() || sum > busy[busiest]) busiest = made.resource;
    }
    const auto& borders = recorded_.borders;
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      if (borders[i] > borders[i + 1] || borders[i + 1] > recorded_.calls.size()) {
        ++graph_.refused.steps;
        continue;
      }
      StepGraph::Step step;
      step.first_node = first_node_[borders[i]];
      step.end_node = first_node_[borders[i + 1]];
      for (auto at = step.first_node; at < step.end_node && step.border == kNoIndex; ++at) {
        const GraphNode& made = node(at);
        if (made.operation != kNoIndex && made.resource == busiest && !(made.flags & kTimeUnknown))
          step.border = at;
      }
      graph_.steps.push_back(step);
    }
  }

  static constexpr std::uint64_t kNotPolled = ~std::uint64_t{0}, kMerged = kNotPolled - 1;

  const RecordedSteps& recorded_;
  const InputTime inputs_;
  const std::uint64_t jitter_ns_;
  const std::uint32_t depth_;
  StepGraph graph_;
  std::vector<Join> joins_;
  std::vector<std::uint64_t> poll_enter_;  // by call: ENTER of the first query of its row
  std::unordered_map<std::uint32_t, std::uint32_t> poll_first_;
  std::vector<PreparedGraph> graphs_;
  std::vector<Handoff> handoffs_;                      // by `to`
  std::unordered_map<std::uint32_t, QueueFull> full_;  // by correlation
  std::unordered_map<std::uint32_t, std::uint32_t> thread_index_;
  std::vector<Thread> threads_;
  std::map<StreamKey, std::uint32_t> stream_index_;
  std::vector<Stream> streams_;
  std::map<std::uint32_t, Context> contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> events_, execs_;  // their last nodes
  std::vector<std::uint32_t> first_node_, last_host_;                // by call
  std::vector<Blocked> blocked_;
};

}  // namespace

StepGraph build_step_graph(const RecordedSteps& recorded, const GraphOptions& options) {
  GraphBuilder builder(recorded, options.jitter_ns, 0);
  StepGraph graph = builder.build();
  settle_lags(recorded, options.jitter_ns, graph);
  const std::uint32_t depth = builder.seen_depth(graph);
  if (depth == 0) return graph;
  graph = GraphBuilder(recorded, options.jitter_ns, depth).build();
  settle_lags(recorded, options.jitter_ns, graph);
  return graph;
}

}  // namespace gable
