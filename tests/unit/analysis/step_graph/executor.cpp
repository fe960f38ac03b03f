// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analysis/step_graph/executor.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>

namespace gable::made_up {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint32_t kNone = ~0u;

struct Entry {
  std::uint32_t call = 0, instruction = 0, step = 0, stream = 0;
  std::uint64_t handed_over = 0, ready = kNever, start = kNever, end = kNever;
  std::uint64_t rest = 0;        // when a kernel that began early went on
  std::uint32_t token = kNone;   // the entry that a stream wait waits for
  std::uint32_t before = kNone;  // the launch before it of its graph
  bool marker = false, kernel = false, done = false, after_kernel = false;
  struct Node {
    std::uint32_t missing = 0;
    std::uint64_t ready = kNever, start = kNever, end = kNever;
    bool done = false;
  };
  std::vector<Node> nodes;
};

struct Stream {
  std::deque<std::uint32_t> waiting;  // entries that are not done, oldest first
  std::uint32_t last = kNone;
};

enum class Phase { begin, gap, enter, wait, cost };

struct Thread {
  std::vector<std::uint32_t> instructions;
  std::size_t at = 0;
  std::uint32_t step = 0;
  Phase phase = Phase::begin;
  std::uint64_t until = 0, entered = 0;
  std::uint32_t record = 0;                       // its call
  std::vector<std::uint32_t> waits_for;           // entries
  std::map<std::uint32_t, std::uint32_t> waited;  // by context: behind the newest entry waited for
  Entity last = kNever;                           // what it did last
};

class Executor {
 public:
  Executor(const Program& program, const std::vector<std::uint64_t>& lengths, std::uint32_t steps)
      : program_(program),
        lengths_(lengths),
        steps_(steps),
        streams_(program.streams.size()),
        threads_(program.threads),
        returned_(program.step.size()),
        last_record_(program.step.size(), kNone) {
    for (std::uint32_t i = 0; i < program.step.size(); ++i)
      threads_[program.step[i].thread].instructions.push_back(i);
    starts_.assign(steps, std::vector<std::uint64_t>(program.step.size() * kParts));
    begin_of_step_.assign(steps + 1, kNone);
  }

  void run() {
    times_.push(0);
    while (!times_.empty()) {
      now_ = times_.top();
      while (!times_.empty() && times_.top() == now_) times_.pop();
      for (bool moved = true; moved;) {
        moved = false;
        for (Thread& thread : threads_) moved |= move(thread);
        for (std::uint32_t stream = 0; stream < streams_.size(); ++stream) moved |= move(stream);
      }
    }
  }

  Execution cut(std::uint32_t first, std::uint32_t end) {
    Execution result;
    result.starts = starts_;
    const auto count = static_cast<std::uint32_t>(program_.step.size());
    const std::uint32_t low = begin_of_step_[first];
    const std::uint32_t high =
        end < steps_ ? begin_of_step_[end] : static_cast<std::uint32_t>(calls_.size());
    RecordedSteps& recorded = result.recorded;
    recorded.calls.assign(calls_.begin() + low, calls_.begin() + high);
    for (const auto& operation : operations_)
      if (const auto step = (operation.correlation - 1) / count; step >= first && step < end)
        recorded.operations.push_back(operation);
    recorded.streams = program_.streams;
    for (const MadeGraph& graph : program_.graphs) {
      RecordedGraph made;
      for (std::uint32_t i = 0; i < graph.keys.size(); ++i) made.nodes.push_back(i + 1);
      made.edges = graph.edges;
      recorded.graphs.push_back(made);
    }
    for (const QueueFull& full : full_)
      if (const auto step = (full.correlation - 1) / count; step >= first && step < end)
        recorded.queue_full.push_back(full);
    for (const Handoff& handoff : handoffs_)
      if (handoff.from >= low && handoff.to < high)
        recorded.handoffs.push_back({handoff.from - low, handoff.to - low});
    for (std::uint32_t step = first; step < end; ++step)
      recorded.borders.push_back(begin_of_step_[step] - low);
    recorded.borders.push_back(high - low);
    const auto inside = [&](Entity entity) {
      const auto step = entity / kParts / count;
      return step >= first && step < end;
    };
    for (const auto& [from, to] : depends_)
      if (inside(from) && inside(to)) result.depends.emplace_back(from, to);
    return result;
  }

 private:
  [[nodiscard]] const Instruction& doing(const Thread& thread) const {
    return program_.step[thread.instructions[thread.at]];
  }
  [[nodiscard]] std::uint32_t call_of(const Thread& thread) const {
    return thread.step * static_cast<std::uint32_t>(program_.step.size()) +
           thread.instructions[thread.at];
  }
  static Entity part(std::uint32_t call, std::uint32_t which) {
    return Entity{call} * kParts + which;
  }
  void depend(Entity from, Entity to) {
    if (from != kNever) depends_.emplace_back(from, to);
  }
  [[nodiscard]] Entity work(std::uint32_t entry) const {
    return entry == kNone ? kNever : part(entries_[entry].call, kWork);
  }
  void wake(std::uint64_t at) { times_.push(at); }

  static bool is_entry(RecordedCallKind kind) {
    return kind == RecordedCallKind::launch || kind == RecordedCallKind::graph_launch ||
           kind == RecordedCallKind::host_function || kind == RecordedCallKind::event_record ||
           kind == RecordedCallKind::stream_wait;
  }
  static bool is_staged(const Instruction& doing) {
    return doing.kind == RecordedCallKind::launch && doing.operation == OperationKind::copy &&
           doing.way == CopyWay::host_to_device && doing.pageable && !doing.asynchronous;
  }

  bool move(Thread& thread) {
    if (thread.instructions.empty() || thread.step == steps_) return false;
    const Instruction& instruction = doing(thread);
    const std::uint32_t index = thread.instructions[thread.at];
    switch (thread.phase) {
      case Phase::begin:
        for (const std::uint32_t other : instruction.after)
          if (returned_[other] < thread.step + (other < index ? 1u : 0u)) return false;
        thread.until = now_ + instruction.gap;
        thread.phase = Phase::gap;
        wake(thread.until);
        return true;
      case Phase::gap:
        if (now_ < thread.until) return false;
        thread.entered = now_;
        enter(thread, index);
        thread.phase = Phase::enter;
        return true;
      case Phase::enter:
        return issue(thread, instruction);
      case Phase::wait: {
        const bool free_of_it = !program_.waits && !thread.waits_for.empty();
        const bool at_once = free_of_it && has_news(thread, instruction);
        for (const std::uint32_t entry : thread.waits_for)
          if (!free_of_it && !entries_[entry].done) return false;
        if (instruction.kind == RecordedCallKind::query_succeeded && now_ > thread.entered)
          polled(thread);
        thread.until = now_ + (at_once ? 0 : instruction.cost);
        thread.phase = Phase::cost;
        wake(thread.until);
        return true;
      }
      case Phase::cost:
        if (now_ < thread.until) return false;
        calls_[thread.record].exit_ns = now_;
        last_record_[index] = thread.record;
        ++returned_[index];
        thread.phase = Phase::begin;
        if (++thread.at == thread.instructions.size()) {
          thread.at = 0;
          ++thread.step;
        }
        return true;
    }
    return false;
  }

  void enter(Thread& thread, std::uint32_t index) {
    const Instruction& instruction = program_.step[index];
    const std::uint32_t call = call_of(thread);
    RecordedCall record;
    record.enter_ns = now_;
    record.stream = program_.streams[instruction.stream].stream;
    record.context = program_.streams[instruction.stream].context;
    record.event = instruction.event;
    record.graph = instruction.graph;
    record.exec = 77 + instruction.graph;
    record.thread = 1000 + instruction.thread;
    record.correlation = call + 1;
    record.kind = instruction.kind;
    record.programmatic = instruction.programmatic;
    thread.record = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back(record);
    if (begin_of_step_[thread.step] == kNone) begin_of_step_[thread.step] = thread.record;
    depend(thread.last, part(call, kIssue));
    thread.last = part(call, kIssue);
    for (const std::uint32_t other : instruction.after) {
      if (last_record_[other] == kNone) continue;
      handoffs_.push_back({last_record_[other], thread.record});
      const Instruction& from = program_.step[other];
      const std::uint32_t from_call = calls_[last_record_[other]].correlation - 1;
      const bool apart = from.kind == RecordedCallKind::launch &&
                         from.operation == OperationKind::copy && returns_apart(from);
      depend(part(from_call, apart ? kReturn : kIssue), part(call, kIssue));
    }
  }

  // Calls whose kind may wait for their copy.
  static bool returns_apart(const Instruction& doing) {
    const bool staged = doing.way == CopyWay::host_to_device && doing.pageable;
    return doing.way != CopyWay::device_to_device && !staged &&
           (!doing.asynchronous || doing.pageable);
  }

  bool issue(Thread& thread, const Instruction& instruction) {
    Stream& stream = streams_[instruction.stream];
    const std::uint32_t call = call_of(thread);
    if (is_entry(instruction.kind)) {
      if (is_staged(instruction)) {
        if (program_.waits && !stream.waiting.empty()) return false;
        depend(work(stream.last), part(call, kIssue));
      }
      if (program_.depth > 0) {
        std::uint32_t held = 0;
        for (const std::uint32_t entry : stream.waiting)
          if (entries_[entry].start == kNever) ++held;
        if (held >= program_.depth) return false;
        if (now_ > thread.entered && !is_staged(instruction))
          full_.push_back({thread.entered, now_, call + 1});
      }
      push(thread, instruction, call);
    }
    thread.waits_for = targets(instruction);
    const bool copy = instruction.kind == RecordedCallKind::launch &&
                      instruction.operation == OperationKind::copy && returns_apart(instruction);
    if (copy) {
      depend(part(call, kIssue), part(call, kReturn));
      thread.last = part(call, kReturn);
      if (instruction.blocks) {
        thread.waits_for.push_back(stream.last);
        depend(work(stream.last), part(call, kReturn));
      }
    } else {
      for (const std::uint32_t entry : thread.waits_for) depend(work(entry), part(call, kIssue));
    }
    thread.phase = Phase::wait;
    return true;
  }

  std::vector<std::uint32_t> targets(const Instruction& instruction) {
    std::vector<std::uint32_t> result;
    const auto add = [&](std::uint32_t entry) {
      if (entry != kNone) result.push_back(entry);
    };
    switch (instruction.kind) {
      case RecordedCallKind::stream_synchronize:
        add(streams_[instruction.stream].last);
        break;
      case RecordedCallKind::event_synchronize:
      case RecordedCallKind::query_succeeded:
        add(token(instruction.event));
        break;
      case RecordedCallKind::context_synchronize:
      case RecordedCallKind::free_memory:
        for (std::size_t i = 0; i < streams_.size(); ++i)
          if (program_.streams[i].context == program_.streams[instruction.stream].context)
            add(streams_[i].last);
        break;
      default:
        break;
    }
    return result;
  }
  std::uint32_t token(std::uint32_t event) {
    const auto found = tokens_.find(event);
    return found != tokens_.end() ? found->second : kNone;
  }

  // Whether a call that waits for a context finds work there since the thread last did: without any
  // it takes its time for nothing.
  bool has_news(Thread& thread, const Instruction& instruction) {
    if (instruction.kind != RecordedCallKind::context_synchronize &&
        instruction.kind != RecordedCallKind::free_memory)
      return true;
    std::uint32_t& waited = thread.waited[program_.streams[instruction.stream].context];
    const std::uint32_t newest =
        1 + *std::max_element(thread.waits_for.begin(), thread.waits_for.end());
    const bool news = newest > waited;
    waited = std::max(waited, newest);
    return news;
  }

  // It had to ask again: the first time in vain, then until it was so.
  void polled(Thread& thread) {
    const std::uint64_t middle = thread.entered + (now_ - thread.entered) / 2;
    RecordedCall again = calls_[thread.record];
    calls_[thread.record].kind = RecordedCallKind::query_not_ready;
    calls_[thread.record].exit_ns = middle;
    again.enter_ns = middle;
    thread.record = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back(again);
  }

  void push(Thread& thread, const Instruction& instruction, std::uint32_t call) {
    const auto id = static_cast<std::uint32_t>(entries_.size());
    Stream& stream = streams_[instruction.stream];
    Entry entry;
    entry.call = call;
    entry.step = thread.step;
    entry.instruction = thread.instructions[thread.at];
    entry.stream = instruction.stream;
    entry.marker = instruction.kind == RecordedCallKind::event_record ||
                   instruction.kind == RecordedCallKind::stream_wait;
    entry.handed_over = entry.marker ? now_ : now_ + program_.latency;
    entry.kernel = instruction.kind == RecordedCallKind::launch &&
                   (instruction.operation == OperationKind::kernel ||
                    instruction.operation == OperationKind::collective);
    entry.after_kernel = entry.kernel && instruction.programmatic && stream.last != kNone &&
                         entries_[stream.last].kernel && !something_between(instruction.stream);
    const bool graph = instruction.kind == RecordedCallKind::graph_launch;
    const Entity first = part(call, entry.after_kernel || graph ? kHead : kWork);
    depend(part(call, kIssue), first);
    depend(work(stream.last), entry.after_kernel ? part(call, kWork) : first);
    if (entry.after_kernel) depend(first, part(call, kWork));
    const RecordedStream& kind = program_.streams[instruction.stream];
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const RecordedStream& other = program_.streams[i];
      if (other.context != kind.context || other.non_blocking || kind.non_blocking) continue;
      if (i != instruction.stream && (other.legacy || kind.legacy) && !entry.after_kernel)
        depend(work(streams_[i].last), first);
    }
    if (instruction.kind == RecordedCallKind::stream_wait) {
      entry.token = token(instruction.event);
      depend(work(entry.token), first);
    }
    if (graph) {
      const auto last = graph_last_.try_emplace(instruction.graph, kNone).first;
      entry.before = last->second;
      depend(work(entry.before), first);
      last->second = id;
      const MadeGraph& made = program_.graphs[instruction.graph];
      entry.nodes.resize(made.keys.size());
      std::vector<bool> leaf(made.keys.size(), true);
      for (const auto& edge : made.edges) {
        ++entry.nodes[edge.to].missing;
        leaf[edge.from] = false;
        depend(part(call, kNodes + edge.from), part(call, kNodes + edge.to));
      }
      for (std::uint32_t i = 0; i < made.keys.size(); ++i) {
        if (entry.nodes[i].missing == 0) depend(first, part(call, kNodes + i));
        if (leaf[i]) depend(part(call, kNodes + i), part(call, kWork));
      }
    }
    if (instruction.kind == RecordedCallKind::event_record) tokens_[instruction.event] = id;
    stream.last = id;
    stream.waiting.push_back(id);
    entries_.push_back(entry);
    wake(entries_.back().handed_over);
  }

  // Whether the next entry of a stream waits for something newer than the stream's last one.
  [[nodiscard]] bool something_between(std::uint32_t stream) const {
    const RecordedStream& own = program_.streams[stream];
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const RecordedStream& other = program_.streams[i];
      const bool meet = i != stream && other.context == own.context && !own.non_blocking &&
                        !other.non_blocking && (own.legacy || other.legacy);
      if (meet && streams_[i].last != kNone && streams_[i].last > streams_[stream].last)
        return true;
    }
    return false;
  }

  // The legacy stream waits for what came before in blocking streams, and they for it.
  [[nodiscard]] bool may_pass(std::uint32_t id) const {
    const RecordedStream& own = program_.streams[entries_[id].stream];
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const RecordedStream& other = program_.streams[i];
      if (i == entries_[id].stream || other.context != own.context) continue;
      if (own.non_blocking || other.non_blocking || (!own.legacy && !other.legacy)) continue;
      if (!streams_[i].waiting.empty() && streams_[i].waiting.front() < id) return false;
    }
    return true;
  }

  bool move(std::uint32_t stream) {
    auto& waiting = streams_[stream].waiting;
    bool moved = false;
    for (std::size_t i = 0; i < waiting.size();) {
      Entry& entry = entries_[waiting[i]];
      if (entry.start == kNever) {
        if (!begin(waiting, i)) return moved;
        moved = true;
      }
      const bool graph = program_.step[entry.instruction].kind == RecordedCallKind::graph_launch;
      if (graph && entry.end == kNever) move_nodes(entry);
      if (i == 0 && entry.end == kNever && !graph) {
        // Of a kernel that began early the rest begins now.
        entry.rest = now_;
        entry.end = now_ + lengths_[program_.step[entry.instruction].key];
        wake(entry.end);
      }
      if (i == 0 && entry.end <= now_) {
        finish(entry);
        waiting.pop_front();
        moved = true;
      } else {
        ++i;
      }
    }
    return moved;
  }

  bool begin(const std::deque<std::uint32_t>& waiting, std::size_t i) {
    Entry& entry = entries_[waiting[i]];
    std::uint64_t at = 0;
    if (i > 0) {
      const Entry& before = entries_[waiting[i - 1]];
      if (!entry.after_kernel || before.start == kNever) return false;
      at = before.start + program_.trigger;
    } else {
      if (!may_pass(waiting[i])) return false;
      if (entry.token != kNone && !entries_[entry.token].done) return false;
      if (entry.before != kNone && !entries_[entry.before].done) return false;
      if (entry.ready == kNever) entry.ready = now_;
      at = entry.ready + (entry.marker || entry.after_kernel ? 0 : program_.stream_gap);
    }
    at = std::max(at, entry.handed_over);
    if (at > now_) {
      wake(at);
      return false;
    }
    const Instruction& instruction = program_.step[entry.instruction];
    entry.start = now_;
    if (entry.marker) {
      entry.end = now_;
    } else if (instruction.kind == RecordedCallKind::graph_launch) {
      for (auto& node : entry.nodes)
        if (node.missing == 0) node.ready = now_;
    } else if (!entry.after_kernel || i == 0) {
      entry.end = now_ + lengths_[instruction.key];
      wake(entry.end);
    }
    return true;
  }

  void move_nodes(Entry& entry) {
    const MadeGraph& graph = program_.graphs[program_.step[entry.instruction].graph];
    bool all = true;
    for (std::uint32_t i = 0; i < entry.nodes.size(); ++i) {
      auto& node = entry.nodes[i];
      if (node.start == kNever && node.missing == 0 && node.ready <= now_) {
        node.start = now_;
        node.end = now_ + lengths_[graph.keys[i]];
        wake(node.end);
      }
      if (!node.done && node.end <= now_) {
        node.done = true;
        operation(entry, kNodes + i, graph.keys[i], OperationKind::kernel, node.start, node.end);
        for (const auto& edge : graph.edges) {
          if (edge.from != i || --entry.nodes[edge.to].missing > 0) continue;
          entry.nodes[edge.to].ready = now_ + program_.graph_gap;
          wake(now_ + program_.graph_gap);
        }
      }
      all &= node.done;
    }
    if (all) entry.end = now_;
  }

  void finish(Entry& entry) {
    entry.done = true;
    const Instruction& instruction = program_.step[entry.instruction];
    if (!entry.marker && instruction.kind != RecordedCallKind::graph_launch)
      operation(entry, kWork, instruction.key, instruction.operation, entry.start, entry.end);
  }

  void operation(const Entry& entry, std::uint32_t which, std::uint32_t key, OperationKind kind,
                 std::uint64_t start, std::uint64_t end) {
    const Instruction& instruction = program_.step[entry.instruction];
    starts_[entry.step][place_of(entry.instruction, which)] = std::max(start, entry.rest);
    RecordedOperation record;
    record.start_ns = start;
    record.end_ns = end;
    record.graph_node = which >= kNodes ? 1 + which - kNodes : 0;
    record.correlation = entry.call + 1;
    record.key = key;
    record.kind = kind;
    if (kind == OperationKind::copy) {
      record.way = instruction.way;
      record.pageable = instruction.pageable;
      record.asynchronous = instruction.asynchronous;
    }
    operations_.push_back(record);
  }

  const Program& program_;
  const std::vector<std::uint64_t>& lengths_;
  const std::uint32_t steps_;
  std::uint64_t now_ = 0;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> times_;
  std::vector<Entry> entries_;
  std::vector<Stream> streams_;
  std::vector<Thread> threads_;
  std::map<std::uint32_t, std::uint32_t> tokens_, graph_last_;
  std::vector<std::uint32_t> returned_, last_record_;  // by instruction: how often; its last call
  std::vector<RecordedCall> calls_;
  std::vector<RecordedOperation> operations_;
  std::vector<QueueFull> full_;
  std::vector<Handoff> handoffs_;
  std::vector<std::uint32_t> begin_of_step_;
  std::vector<std::pair<Entity, Entity>> depends_;
  std::vector<std::vector<std::uint64_t>> starts_;
};

}  // namespace

Execution execute(const Program& program, const std::vector<std::uint64_t>& lengths,
                  std::uint32_t steps, std::uint32_t first, std::uint32_t end) {
  Executor executor(program, lengths, steps);
  executor.run();
  return executor.cut(first, end);
}

}  // namespace gable::made_up
