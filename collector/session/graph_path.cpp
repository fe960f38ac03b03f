// SPDX-License-Identifier: Apache-2.0
// CUDA graphs on the launch path: nodes as they are made, and launches of graphs. While a stream
// captures nothing but this happens: ids are asked for and noted.
#include <algorithm>
#include <utility>

#include "analysis/profile/graphs.h"
#include "collector/cupti/helpers.h"
#include "collector/runtime/range_calls.h"
#include "collector/session/session.h"

namespace gable {
namespace {

GraphNodes::Kind kind_of_node(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return GraphNodes::Kind::kernel;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return GraphNodes::Kind::copy;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return GraphNodes::Kind::conditional;
    default:
      return GraphNodes::Kind::other;
  }
}

// One of CUPTI's ids of graphs and their parts.
template <typename Id, typename Thing>
bool id_of(const CuptiApi& api, const char* name, CUptiResult(CUPTIAPI* call)(Thing, Id*),
           Thing thing, Id& id) {
  const auto answer = ask_patiently<Id>(api, &Helpers::graphs, [name, call, thing](Id& found) {
    return called(name, call, thing, &found);
  });
  if (answer) id = *answer;
  return answer.has_value();
}
#define GABLE_ID_OF(call, thing, id) id_of(api_, #call, api_.call, thing, id)

}  // namespace

bool Session::can_follow_graphs() const {
  return api_.cuptiGetGraphNodeId != nullptr && api_.cuptiGetGraphId != nullptr &&
         api_.cuptiGetGraphExecId != nullptr;
}

void Session::on_graph(CUpti_CallbackIdResource id, const CUpti_GraphData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  std::uint32_t graph = 0;
  if (data.graph != nullptr && !GABLE_ID_OF(cuptiGetGraphId, data.graph, graph)) return;
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED: {
      std::uint64_t node = 0;
      if (!GABLE_ID_OF(cuptiGetGraphNodeId, data.node, node)) return;
      GraphNodes::Node made;
      made.kind = kind_of_node(data.nodeType);
      made.complete = thread.capture.launching && made.kind == GraphNodes::Kind::kernel;
      if (made.complete) {
        made.key = thread.capture.key;
      } else {
        bool inherited = false;
        made.key.layer = layer_of_launch(rt_, thread, inherited);
      }
      thread.capture.made_node = true;
      graph_nodes_.created(graph, node, made);
      break;
    }
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED: {
      std::uint64_t node = 0, original = 0;
      if (!GABLE_ID_OF(cuptiGetGraphNodeId, data.node, node) ||
          !GABLE_ID_OF(cuptiGetGraphNodeId, data.originalNode, original))
        return;
      graph_nodes_.cloned(graph, node, kind_of_node(data.nodeType), original);
      auto& clones = thread.capture.clones;
      if (thread.capture.instantiating &&
          std::find(clones.begin(), clones.end(), graph) == clones.end())
        clones.push_back(graph);
      break;
    }
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      graph_nodes_.graph_destroyed(graph);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING:
      thread.capture.instantiating = true;
      thread.capture.clones.clear();
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: {
      thread.capture.instantiating = false;
      std::uint32_t exec = 0;
      if (!GABLE_ID_OF(cuptiGetGraphExecId, data.graphExec, exec)) return;
      graph_nodes_.exec_created(data.graphExec, exec, graph, std::move(thread.capture.clones));
      thread.capture.clones.clear();
      break;
    }
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      graph_nodes_.exec_destroyed(data.graphExec);
      break;
    default:
      break;
  }
}

// What the launch of an executable graph is; made at its first launch.
GraphNodes::Launched Session::graph_of(const void* exec, std::int32_t device) {
  auto known = graph_nodes_.launched(exec);
  if (known.named && known.key.device == device) return known;
  const GraphShape shape = graph_nodes_.shape(exec);
  known = {true, 0, {}, shape.more ? 0 : shape.kernels};
  if (shape.kernels > 0 || shape.more) {
    known.graph = sink_.with_profile([&](Profile& profile) { return profile.add_graph(shape); });
    if (known.graph != 0)
      known.key = graph_key(shape, rt_.functions.intern(graph_symbol(known.graph)), device);
  }
  known.key.device = device;
  graph_nodes_.name(exec, known);
  return known;
}

void Session::enter_graph(const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  thread.in_window_launch = false;
  thread.waited_in = kNoWindow;
  ++thread.launches;
  // In a capture it becomes a node, of which CUPTI tells.
  if (activity_.capturing()) return;
  const void* exec = launched_graph(data.functionParams);
  if (!saw_context_.load(std::memory_order_relaxed) && !saw_context_.exchange(true))
    background_.wake(Background::kPlan);
  std::int32_t device = 0;
  auto place = place_of(thread, data, device);
  place.stream = launched_stream(data.functionParams);
  const auto graph = graph_of(exec, device);
  output_.saw_launch();
  windows_.at_launch(thread, graph.key, graph.kernels);
  if (windows_.steps_known() && !rt_.hot.watching.load(std::memory_order_relaxed)) return;
  Event event;
  event.kind = Event::Kind::graph;
  auto& launch = event.graph = GraphLaunch{};
  launch.graph = graph.graph;
  launch.key = graph.key;
  launch.correlation = data.correlationId;
  if (rt_.hot.counters.load(std::memory_order_relaxed) && may_wait_for_ranks())
    windows_.before_collective();
  const auto in = windows_.enter(thread, place, launch.correlation);
  // Where CUPTI makes the ranges, also a graph nobody knows is some.
  if (in.counts && (graph.graph != 0 || counters_.mode() == RangeMode::replay)) {
    thread.in_window_launch = windows_.range_launch(
        place, launch.key, graph.graph != 0 && filter_.wanted(launch.key), graph.kernels);
  }
  launch.window = in.window;
  event.step = in.step;
  sink_.emit(thread, event);
}

}  // namespace gable
