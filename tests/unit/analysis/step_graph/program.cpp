// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analysis/step_graph/program.h"

namespace gable::made_up {
namespace {

constexpr std::uint64_t kUnit = 64;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : draw_(seed) {}

  Program make() {
    program_.latency = kUnit * (100 + draw_.below(60));
    program_.stream_gap = kUnit * draw_.below(30);
    program_.graph_gap = kUnit * draw_.below(20);
    program_.trigger = kUnit * draw_.below(100);
    program_.threads = 1 + (draw_.chance(50) ? draw_.below(4) : 0);
    if (draw_.chance(30)) program_.depth = 8;
    heavy_ = draw_.chance(program_.depth > 0 ? 80 : 40) ? 6 : 1;
    add_streams(1 + draw_.below(6));
    for (std::uint32_t keys = 3 + draw_.below(4); keys > 0; --keys) new_key();
    if (program_.depth == 0 && draw_.chance(40)) add_graph();
    const bool apart = program_.threads > 1 && draw_.chance(50);
    apart ? add_fork() : add_row();
    return program_;
  }

 private:
  std::uint32_t new_key() {
    program_.lengths.push_back(kUnit * (1 + draw_.below(400)) * heavy_);
    return static_cast<std::uint32_t>(program_.lengths.size() - 1);
  }
  std::uint32_t key() { return draw_.below(static_cast<std::uint32_t>(program_.lengths.size())); }

  void add_streams(std::uint32_t count) {
    const bool legacy = draw_.chance(40);
    for (std::uint32_t i = 0; i < count; ++i) {
      // Streams of two contexts may have the same name.
      const bool second = draw_.chance(10);
      program_.streams.push_back(
          {100 + (second ? i ^ 1 : i), second ? 2u : 1u, legacy && i == 0, draw_.chance(40)});
    }
    if (legacy) program_.streams[0].non_blocking = false;
  }

  void add_graph() {
    MadeGraph graph;
    const std::uint32_t count = 1 + draw_.below(6);
    for (std::uint32_t i = 0; i < count; ++i) graph.keys.push_back(key());
    for (std::uint32_t to = 1; to < count; ++to)
      for (std::uint32_t from = 0; from < to; ++from)
        if (draw_.chance(40)) graph.edges.push_back({from, to});
    program_.graphs.push_back(graph);
  }

  Instruction timed(std::uint32_t thread) {
    Instruction made;
    made.thread = thread;
    made.gap = kUnit * draw_.below(draw_.chance(30) ? 400 : 60);
    made.cost = kUnit * (5 + draw_.below(50));
    return made;
  }

  Instruction kernel(std::uint32_t thread, std::uint32_t stream) {
    Instruction made = timed(thread);
    made.kind = RecordedCallKind::launch;
    made.stream = stream;
    made.key = key();
    made.operation = draw_.chance(20) ? OperationKind::collective : OperationKind::kernel;
    return made;
  }

  void make_copy(Instruction& made) {
    made.operation = OperationKind::copy;
    made.way = static_cast<CopyWay>(1 + draw_.below(3));
    made.pageable = made.way != CopyWay::device_to_device && draw_.chance(50);
    made.asynchronous = draw_.chance(50);
    const bool staged = made.way == CopyWay::host_to_device && made.pageable;
    made.blocks = made.way != CopyWay::device_to_device && !staged &&
                  (!made.asynchronous || (made.pageable && draw_.chance(50)));
  }

  // `streams` and `events`: those that may be used. `alone`: nothing that touches all streams.
  Instruction any(std::uint32_t thread, const std::vector<std::uint32_t>& streams,
                  std::uint32_t first_event, bool alone) {
    const std::uint32_t stream = streams[draw_.below(static_cast<std::uint32_t>(streams.size()))];
    Instruction made = kernel(thread, stream);
    made.event = first_event + draw_.below(3);
    switch (const auto kind = draw_.below(20); kind) {
      case 0:
      case 1:
      case 2:
        made.kind = RecordedCallKind::event_record;
        break;
      case 3:
      case 4:
      case 5:
        made.kind = RecordedCallKind::stream_wait;
        break;
      case 6:
        made.kind = RecordedCallKind::stream_synchronize;
        break;
      case 7:
        made.kind = RecordedCallKind::event_synchronize;
        break;
      case 8:
        if (!alone)
          made.kind = draw_.chance(50) ? RecordedCallKind::context_synchronize
                                       : RecordedCallKind::free_memory;
        break;
      case 9:
        made.kind = RecordedCallKind::query_succeeded;
        break;
      case 10:
      case 11:
        make_copy(made);
        break;
      case 12:
        made.operation = OperationKind::host_function;
        made.kind = RecordedCallKind::host_function;
        break;
      case 13:
        made.operation = OperationKind::memset;
        break;
      case 14:
        if (!program_.graphs.empty() && !alone) made.kind = RecordedCallKind::graph_launch;
        break;
      case 15:
        made.kind = RecordedCallKind::other;
        break;
      default:
        made.programmatic = program_.depth == 0 && draw_.chance(30);
    }
    return made;
  }

  // A kernel in one stream, and one in another stream that waits for it.
  void add_chain(std::uint32_t thread) {
    const auto count = static_cast<std::uint32_t>(program_.streams.size());
    const std::uint32_t from = draw_.below(count), to = draw_.below(count);
    const std::uint32_t event = 1 + draw_.below(3);
    for (const std::uint32_t stream : {from, from, to, to}) {
      program_.step.push_back(kernel(thread, stream));
      program_.step.back().event = event;
    }
    program_.step[program_.step.size() - 3].kind = RecordedCallKind::event_record;
    program_.step[program_.step.size() - 2].kind = RecordedCallKind::stream_wait;
  }

  // One thing after the other, on whichever thread: each hands over to the next.
  void add_row() {
    std::vector<std::uint32_t> streams;
    for (std::uint32_t i = 0; i < program_.streams.size(); ++i) streams.push_back(i);
    const std::uint32_t count = 2 + draw_.below(14);
    if (draw_.chance(40)) {  // two kernels in a row, and what shows that a stream was idle
      const std::uint32_t stream = draw_.below(static_cast<std::uint32_t>(streams.size()));
      program_.step.push_back(kernel(0, stream));
      program_.step.push_back(kernel(0, stream));
      program_.step.push_back(kernel(0, stream));
      program_.step.back().kind = RecordedCallKind::stream_synchronize;
    }
    std::uint32_t thread = 0;
    program_.step.push_back(kernel(0, draw_.below(static_cast<std::uint32_t>(streams.size()))));
    program_.step.back().operation = OperationKind::kernel;
    for (std::uint32_t i = 1; i < count; ++i) {
      if (draw_.chance(25)) thread = draw_.below(program_.threads);
      const auto before = static_cast<std::uint32_t>(program_.step.size() - 1);
      const std::size_t first = program_.step.size();
      draw_.chance(20) ? add_chain(thread)
                       : program_.step.push_back(any(thread, streams, 1, false));
      if (program_.step[before].thread != thread) program_.step[first].after.push_back(before);
    }
    if (program_.step.back().thread != 0)
      program_.step[0].after.push_back(static_cast<std::uint32_t>(program_.step.size() - 1));
  }

  // Threads that do their parts at once, each with streams and events of its own, and one that
  // starts them and waits for them.
  void add_fork() {
    std::vector<std::uint32_t> own;
    const std::uint32_t streams = static_cast<std::uint32_t>(program_.streams.size());
    for (std::uint32_t i = 0; i < streams; ++i) own.push_back(i);
    program_.step.push_back(kernel(0, 0));
    program_.step.back().operation = OperationKind::kernel;
    const std::uint32_t before = draw_.below(4);
    for (std::uint32_t i = 0; i < before; ++i) program_.step.push_back(any(0, own, 1, false));
    const auto fork = static_cast<std::uint32_t>(program_.step.size() - 1);
    std::vector<std::uint32_t> ends;
    for (std::uint32_t thread = 1; thread < program_.threads; ++thread) {
      std::vector<std::uint32_t> mine;
      for (std::uint32_t i = 0; i <= draw_.below(2); ++i) {
        mine.push_back(static_cast<std::uint32_t>(program_.streams.size()));
        program_.streams.push_back({200 + program_.streams.size(), 1, false, true});
      }
      const std::uint32_t count = 1 + draw_.below(4);
      for (std::uint32_t i = 0; i < count; ++i) {
        program_.step.push_back(any(thread, mine, 1 + thread * 10, true));
        if (i == 0) program_.step.back().after.push_back(fork);
      }
      ends.push_back(static_cast<std::uint32_t>(program_.step.size() - 1));
    }
    program_.step.push_back(any(0, own, 1, false));
    program_.step.back().after = ends;
  }

  Draw draw_;
  Program program_;
  std::uint32_t heavy_ = 1;
};

}  // namespace

Program make_program(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace gable::made_up
