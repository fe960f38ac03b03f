// SPDX-License-Identifier: Apache-2.0
#include "collector/session/graph_path.h"

#include <algorithm>
#include <utility>

#include "analysis/profile/graphs.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/launch_calls.h"
#include "collector/runtime/range_calls.h"

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
#define GABLE_ID_OF(call, thing, id) id_of(c_.api, #call, c_.api.call, thing, id)

}  // namespace

void GraphPath::changed(CUpti_CallbackIdResource id, const CUpti_GraphData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  std::uint32_t graph = 0;
  if (data.graph != nullptr && !GABLE_ID_OF(cuptiGetGraphId, data.graph, graph)) return;
  auto& capture = thread.capture;
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      node_created(graph, data);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      node_cloned(graph, data);
      break;
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      c_.graph_nodes.graph_destroyed(graph);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING:
      capture.instantiating = true;
      capture.clones.clear();
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: {
      capture.instantiating = false;
      std::uint32_t exec = 0;
      if (!GABLE_ID_OF(cuptiGetGraphExecId, data.graphExec, exec)) return;
      c_.graph_nodes.exec_created(data.graphExec, exec, graph, std::move(capture.clones));
      capture.clones.clear();
      break;
    }
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      c_.graph_nodes.exec_destroyed(data.graphExec);
      break;
    default:
      break;
  }
}

void GraphPath::node_created(std::uint32_t graph, const CUpti_GraphData& data) {
  auto& thread = this_thread();
  std::uint64_t node = 0;
  if (!GABLE_ID_OF(cuptiGetGraphNodeId, data.node, node)) return;
  GraphNodes::Node made;
  made.kind = kind_of_node(data.nodeType);
  made.complete = thread.capture.launching && made.kind == GraphNodes::Kind::kernel;
  if (made.complete) {
    made.key = thread.capture.key;
  } else {
    bool inherited = false;
    made.key.layer = layer_of_launch(c_.rt, thread, inherited);
  }
  thread.capture.made_node = true;
  c_.graph_nodes.created(graph, node, made);
}

void GraphPath::node_cloned(std::uint32_t graph, const CUpti_GraphData& data) {
  std::uint64_t node = 0, original = 0;
  if (!GABLE_ID_OF(cuptiGetGraphNodeId, data.node, node) ||
      !GABLE_ID_OF(cuptiGetGraphNodeId, data.originalNode, original))
    return;
  c_.graph_nodes.cloned(graph, node, kind_of_node(data.nodeType), original);
  auto& capture = this_thread().capture;
  const bool known =
      std::find(capture.clones.begin(), capture.clones.end(), graph) != capture.clones.end();
  if (capture.instantiating && !known) capture.clones.push_back(graph);
}

void GraphPath::exec_changed(const CUpti_CallbackData& data, bool part) {
  c_.graph_nodes.exec_changed(launched_graph(data.functionParams), part);
}

GraphNodes::Launched GraphPath::launched(const void* exec, std::int32_t device) {
  auto known = c_.graph_nodes.launched(exec);
  if (known.named && known.key.device == device) return known;
  const GraphShape shape = c_.graph_nodes.shape(exec);
  known = {true, 0, {}, shape.more ? 0 : shape.kernels};
  if (shape.kernels > 0 || shape.more) {
    known.graph = c_.sink.with_profile([&](Profile& profile) { return profile.add_graph(shape); });
    if (known.graph != 0)
      known.key = graph_key(shape, c_.rt.functions.intern(graph_symbol(known.graph)), device);
  }
  known.key.device = device;
  c_.graph_nodes.name(exec, known);
  return known;
}

void GraphPath::enter(const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  thread.in_window_launch = false;
  thread.waited_in = kNoWindow;
  ++thread.launches;
  // In a capture it becomes a node, of which CUPTI tells.
  if (c_.activity.capturing()) return;
  auto place = launches_.place_of(thread, data);
  place.stream = launched_stream(data.functionParams);
  const auto graph = launched(launched_graph(data.functionParams), place.device);
  const auto in =
      launches_.enter_window(thread, place, graph.key, data.correlationId, graph.kernels, true);
  if (!in) return;
  Event event;
  event.kind = Event::Kind::graph;
  auto& launch = event.graph = GraphLaunch{};
  launch.graph = graph.graph;
  launch.key = graph.key;
  launch.correlation = data.correlationId;
  // If CUPTI makes the ranges, even an unknown graph has some.
  if (in->counts && (graph.graph != 0 || c_.counters.mode() == RangeMode::replay)) {
    thread.in_window_launch = c_.windows.range_launch(
        place, launch.key, graph.graph != 0 && c_.filter.wanted(launch.key), graph.kernels);
  }
  launch.window = in->window;
  event.step = in->step;
  c_.sink.emit(thread, event);
  calls_.enter(thread, data.correlationId, in->window);
}

}  // namespace gable
