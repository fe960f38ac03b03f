// SPDX-License-Identifier: Apache-2.0
#include "tools/export/timeline.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gable {
namespace {

constexpr std::size_t kQueue = 1024;     // work that a stream takes before calls wait
constexpr std::uint64_t kSyncNs = 1000;  // what the call itself takes
constexpr std::uint64_t kOrderNs = 500;  // of an event that is recorded or waited for
constexpr std::uint64_t kDefaultCopyNs = 1000;
constexpr int kDeepest = 32;  // sequences within sequences

const char* copy_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "copy host to device";
    case CopyKind::device_to_host:
      return "copy device to host";
    case CopyKind::device_to_device:
      return "copy device to device";
    default:
      return "memset";
  }
}

class Clock {
 public:
  Clock(const Recording& recording, std::size_t most) : recording_(recording), most_(most) {}

  Timeline run() {
    perform(recording_.ops, 0);
    for (auto& [thread, open] : open_) {
      while (!open.empty()) close(open);
    }
    for (auto& [id, range] : across_) finish(std::move(range));
    done_.end_ns = now_;
    for (const auto& [stream, state] : streams_) done_.end_ns = std::max(done_.end_ns, state.end);
    return std::move(done_);
  }

 private:
  struct Stream {
    std::uint64_t end = 0;
    std::vector<std::uint64_t> ends;  // of the last kQueue pieces of work, a ring
    std::size_t submitted = 0;
  };
  struct Node {  // of a graph
    TimelineEvent::Kind kind = TimelineEvent::Kind::kernel;
    std::string name;
    std::uint64_t ns = 0, bytes = 0;
    std::string layer;
  };
  using StreamId = std::pair<std::uint32_t, std::uint32_t>;  // context, stream

  [[nodiscard]] bool full() const { return done_.events.size() >= most_; }

  void finish(TimelineEvent range) {
    range.end_ns = now_;
    done_.events.push_back(std::move(range));
  }
  void close(std::vector<TimelineEvent>& open) {
    finish(std::move(open.back()));
    open.pop_back();
  }

  void perform(const std::vector<RecordedOp>& ops, int depth) {
    for (const RecordedOp& op : ops) {
      if (ended_) return;
      if (full()) {
        done_.cut = ended_ = true;
        return;
      }
      if (op.kind == OpKind::play) {
        if (depth >= kDeepest) continue;
        for (std::uint64_t i = 0; i < op.amount && !ended_; ++i)
          perform(recording_.sequences[op.index].ops, depth + 1);
      } else {
        perform(op);
      }
    }
  }

  void perform(const RecordedOp& op) {
    switch (op.kind) {
      case OpKind::push: {
        TimelineEvent range;
        range.name = op.name;
        range.start_ns = now_;
        range.thread = op.thread;
        range.direction = op.direction;
        open_[op.thread].push_back(std::move(range));
        break;
      }
      case OpKind::pop:
        if (auto& open = open_[op.thread]; !open.empty()) close(open);
        break;
      case OpKind::start: {
        TimelineEvent range;
        range.name = op.name;
        range.start_ns = now_;
        range.thread = op.thread;
        range.across_threads = true;
        across_.emplace_back(op.id, std::move(range));
        break;
      }
      case OpKind::end: {
        const auto range = std::find_if(across_.begin(), across_.end(),
                                        [&](const auto& each) { return each.first == op.id; });
        if (range == across_.end()) break;
        finish(std::move(range->second));
        across_.erase(range);
        break;
      }
      case OpKind::launch: {
        const RecordedKernel& kernel = recording_.kernels[op.kernel];
        const double scaled = static_cast<double>(kernel.time_ns) * op.scale + 0.5;
        call(op, "launch",
             {{TimelineEvent::Kind::kernel, kernel.name,
               op.time_ns.value_or(static_cast<std::uint64_t>(scaled)), 0, layer(op.thread)}});
        break;
      }
      case OpKind::copy:
        call(op, "copy",
             {{TimelineEvent::Kind::copy, copy_name(op.copy), op.time_ns.value_or(kDefaultCopyNs),
               op.amount, layer(op.thread)}});
        break;
      case OpKind::graph_launch:
        launch_graph(op);
        break;
      case OpKind::capture_begin:
        captured_.insert_or_assign(StreamId(op.context, op.stream), std::vector<Node>());
        break;
      case OpKind::capture_end:
        if (auto made = captured_.extract(StreamId(op.context, op.stream)); made && op.id != 0)
          graphs_.insert_or_assign(op.id, std::move(made.mapped()));
        break;
      case OpKind::sync: {
        const std::uint64_t begin = now_;
        now_ += kSyncNs;
        for (const auto& [id, stream] : streams_) {
          const bool meant =
              id.first == op.context && op.id == 0 && (op.whole_context || id.second == op.stream);
          if (meant) now_ = std::max(now_, stream.end);
        }
        if (op.id != 0) now_ = std::max(now_, events_[op.id]);
        add_call(op, "synchronize", begin, 0);
        break;
      }
      case OpKind::event_record:
      case OpKind::stream_wait: {
        const std::uint64_t begin = now_;
        now_ += kOrderNs;
        const bool record = op.kind == OpKind::event_record;
        auto& end = streams_[StreamId(op.context, op.stream)].end;
        if (record)
          events_[op.id] = std::max(end, now_);
        else
          end = std::max(end, events_[op.id]);
        add_call(op, record ? "record event" : "wait for event", begin, 0);
        break;
      }
      case OpKind::idle:
        now_ += op.amount;
        break;
      case OpKind::exit:
        ended_ = true;
        break;
      default:
        break;  // nothing that takes time, or shows
    }
  }

  void launch_graph(const RecordedOp& op) {
    std::vector<Node> nodes;
    if (op.kernels.empty()) {
      const auto graph = graphs_.find(op.id);
      if (graph != graphs_.end()) nodes = graph->second;
    }
    for (const std::uint32_t index : op.kernels) {
      const RecordedKernel& kernel = recording_.kernels[index];
      nodes.push_back({TimelineEvent::Kind::kernel, kernel.name,
                       op.time_ns.value_or(kernel.time_ns), 0, layer(op.thread)});
    }
    call(op, "graph launch", nodes);
  }

  // A call, and its work on its stream, one piece after the other.
  void call(const RecordedOp& op, const char* name, const std::vector<Node>& work) {
    const StreamId id(op.context, op.stream);
    const std::uint64_t begin = now_;
    now_ += op.host_ns;
    if (const auto capture = captured_.find(id); capture != captured_.end()) {
      capture->second.insert(capture->second.end(), work.begin(), work.end());
      add_call(op, name, begin, 0);
      return;
    }
    const std::uint64_t link = ++links_;
    Stream& stream = streams_[id];
    stream.ends.resize(kQueue);
    std::vector<TimelineEvent> events;
    for (const Node& node : work) {
      std::uint64_t& slot = stream.ends[stream.submitted++ % kQueue];
      now_ = std::max(now_, slot);
      TimelineEvent event;
      event.kind = node.kind;
      event.name = node.name;
      event.start_ns = std::max(stream.end, now_);
      event.end_ns = slot = stream.end = event.start_ns + node.ns;
      event.thread = op.thread;
      event.stream = op.stream;
      event.context = op.context;
      event.link = link;
      event.bytes = node.bytes;
      event.layer = node.layer;
      events.push_back(std::move(event));
    }
    add_call(op, name, begin, link);
    for (TimelineEvent& event : events) done_.events.push_back(std::move(event));
  }

  void add_call(const RecordedOp& op, const char* name, std::uint64_t begin, std::uint64_t link) {
    TimelineEvent event;
    event.kind = TimelineEvent::Kind::call;
    event.name = name;
    event.start_ns = begin;
    event.end_ns = now_;
    event.thread = op.thread;
    event.link = link;
    done_.events.push_back(std::move(event));
  }

  std::string layer(std::int32_t thread) {
    std::string path;
    const auto add = [&path](const TimelineEvent& range) {
      path += (path.empty() ? "" : "/") + range.name;
    };
    for (const auto& [number, range] : across_) add(range);
    for (const TimelineEvent& range : open_[thread]) add(range);
    return path;
  }

  const Recording& recording_;
  std::size_t most_;
  Timeline done_;
  std::uint64_t now_ = 0, links_ = 0;
  bool ended_ = false;
  std::map<std::int32_t, std::vector<TimelineEvent>> open_;
  std::vector<std::pair<std::int64_t, TimelineEvent>> across_;  // by their starts' order; with ids
  std::map<StreamId, Stream> streams_;
  std::map<StreamId, std::vector<Node>> captured_;
  std::map<std::int64_t, std::vector<Node>> graphs_;
  std::map<std::int64_t, std::uint64_t> events_;  // when each is reached
};

}  // namespace

Timeline timeline_of(const Recording& recording, std::size_t most) {
  return Clock(recording, most).run();
}

}  // namespace gable
