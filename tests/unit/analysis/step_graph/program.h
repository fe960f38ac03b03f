// SPDX-License-Identifier: Apache-2.0
// Made-up programs: what the threads of a program do in one step, again and again. All times are
// multiples of 64 ns, so that halves of them are exact.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"

namespace gable::made_up {

struct Instruction {
  RecordedCallKind kind = RecordedCallKind::other;  // query_succeeded: asks until it is so
  std::uint32_t thread = 0, stream = 0, event = 0, graph = 0, key = 0;
  std::uint64_t gap = 0, cost = 0;  // of the host, before the call and in it
  OperationKind operation = OperationKind::kernel;
  CopyWay way = CopyWay::none;
  bool pageable = false, asynchronous = false, blocks = false, programmatic = false;
  // Instructions that must have returned; those at or after this one, in the step before.
  std::vector<std::uint32_t> after;
};

struct MadeGraph {
  std::vector<std::uint32_t> keys;  // of its nodes
  std::vector<RecordedGraph::Edge> edges;
};

struct Program {
  std::vector<RecordedStream> streams;
  std::vector<MadeGraph> graphs;
  std::vector<Instruction> step;
  std::vector<std::uint64_t> lengths;  // by key
  std::uint32_t threads = 1;
  std::uint32_t depth = 0;  // entries of a stream that may wait; 0: any number
  bool waits = true;        // false: a call that would wait for operations returns at once
  std::uint64_t latency = 6400, stream_gap = 640, graph_gap = 320, trigger = 1280;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed * 2 + 1) {
    for (int i = 0; i < 4; ++i) next();
  }
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(next() % count); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

[[nodiscard]] Program make_program(std::uint64_t seed);

}  // namespace gable::made_up
