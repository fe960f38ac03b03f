// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: the ids of graphs and their nodes.
#include "tools/playback/cupti/cupti_state.h"

using namespace gable::playback;

namespace {

template <typename Thing>
bool exists(const char* call, const std::set<const Thing*>& all, const void* handle) {
  Gpu& gpu = the_gpu();
  {
    const std::lock_guard<std::mutex> lock(gpu.mutex);
    if (all.count(static_cast<const Thing*>(handle)) != 0) return true;
  }
  broken(std::string(call) + " was called with a handle that does not exist (any more)");
  return false;
}

CUptiResult graph_id(const char* call, const void* handle, std::uint32_t* id) {
  if (handle == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!exists(call, the_gpu().graphs, handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = static_cast<const Graph*>(handle)->id;
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  GABLE_ENTER();
  if (node == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!exists(__func__, the_gpu().graph_nodes, node)) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = reinterpret_cast<const GraphNode*>(node)->id;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  GABLE_ENTER();
  return graph_id(__func__, graph, id);
}

CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  GABLE_ENTER();
  return graph_id(__func__, exec, id);
}

}  // extern "C"
