// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: capture, graphs and their launches. What the tools client is told, and in
// which order, follows cupti_callbacks.h: a captured launch creates a node within its call;
// instantiating clones every node.
#include <utility>

#include "tools/playback/driver/driver_call.h"
#include "tools/playback/driver/side.h"

namespace gable::playback {
namespace {

std::unique_ptr<Graph> new_graph() {
  Gpu& gpu = Gpu::get();
  auto graph = std::make_unique<Graph>();
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  graph->id = gpu.next_graph++;
  gpu.graphs.insert(graph.get());
  return graph;
}

// gpu.mutex not held, so that the client can be told.
GraphNode* new_node(Graph& graph, CUgraphNodeType type, Work work) {
  Gpu& gpu = Gpu::get();
  auto made = std::make_unique<GraphNode>();
  GraphNode* node = made.get();
  {
    const std::lock_guard<std::mutex> lock(gpu.mutex);
    node->id = (std::uint64_t{graph.id} << 32) | (graph.nodes.size() + 1);
    node->type = type;
    work.graph = graph.id;
    work.graph_node = node->id;
    node->work = work;
    graph.nodes.push_back(std::move(made));
    gpu.graph_nodes.insert(node);
  }
  return node;
}

void forget(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) forget(*node->child);
    Gpu::get().graph_nodes.erase(node.get());
  }
  Gpu::get().graphs.erase(&graph);
}

void destroy(Graph* graph) {
  {
    Gpu& gpu = Gpu::get();
    const std::lock_guard<std::mutex> lock(gpu.mutex);
    forget(*graph);
  }
  delete graph;
}

// For an executable graph, and for a graph that becomes a node of another one.
std::unique_ptr<Graph> clone(Graph& source, bool executable) {
  const Control& control = Gpu::get().control();
  const bool untold = executable && control.is("graph_clones", "untold");
  auto graph = new_graph();
  graph->kept = source.kept;
  if (!executable) tell(GraphEvent::cloned, {graph.get(), &source});
  for (const auto& original : source.nodes) {
    GraphNode* node = new_node(*graph, original->type, original->work);
    node->original_id = original->id;
    node->original_graph = source.id;
    if (!untold && !control.is("graph_clones", "cloned"))
      tell(GraphEvent::node_created, {graph.get(), nullptr, node});
    if (!untold) tell(GraphEvent::node_cloned, {graph.get(), &source, node, original.get()});
    if (original->child != nullptr) node->child = clone(*original->child, executable);
  }
  return graph;
}

Graph* instantiate(Graph& source) {
  tell(GraphEvent::exec_create_starting, {&source});
  Graph* exec = clone(source, true).release();
  tell(GraphEvent::exec_created, {&source, nullptr, nullptr, nullptr, exec});
  return exec;
}

CUresult begin_capture(CUstream handle, bool per_thread) {
  Gpu& gpu = Gpu::get();
  if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Stream* stream = stream_of(handle, per_thread);
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto graph = new_graph();
  Graph* made = graph.get();
  {
    const std::lock_guard<std::mutex> lock(gpu.mutex);
    stream->capture = std::move(graph);
    gpu.capturing.fetch_add(1);
  }
  tell(GraphEvent::created, {made});
  return CUDA_SUCCESS;
}

CUresult end_capture(CUstream handle, CUgraph* graph, bool per_thread) {
  Gpu& gpu = Gpu::get();
  Stream* stream = stream_of(handle, per_thread);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  if (stream->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  *graph = reinterpret_cast<CUgraph>(stream->capture.release());
  gpu.capturing.fetch_sub(1);
  return CUDA_SUCCESS;
}

// Takes the parameters of a graph of the same shape.
CUresult update(Graph& exec, const Graph& source) {
  const std::lock_guard<std::mutex> lock(Gpu::get().mutex);
  bool same = exec.nodes.size() == source.nodes.size();
  for (std::size_t i = 0; same && i < exec.nodes.size(); ++i)
    same = exec.nodes[i]->type == source.nodes[i]->type && exec.nodes[i]->child == nullptr;
  if (!same) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  exec.kept = source.kept;
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    const GraphNode& node = *exec.nodes[i];
    exec.nodes[i]->work = source.nodes[i]->work;
    exec.nodes[i]->work.graph = exec.id;
    exec.nodes[i]->work.graph_node = node.id;
  }
  return CUDA_SUCCESS;
}

void submit_nodes(const ApiCall& call, const Graph& graph, Stream& stream) {
  Gpu& gpu = Gpu::get();
  Tools* tools = gpu.tools.load(std::memory_order_acquire);
  const bool captured_ids = gpu.control().is("graph_records", "captured");
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) {
      submit_nodes(call, *node->child, stream);
      continue;
    }
    Work work = node->work;
    work.correlation = call.correlation;
    if (captured_ids) {
      work.graph = node->original_graph;
      work.graph_node = node->original_id;
    }
    gpu.submit(work, stream);
    if (tools != nullptr) tools->submitted(work);
  }
}

CUresult launch(ApiCall& call, CUgraphExec handle, CUstream stream_handle, bool per_thread) {
  Gpu& gpu = Gpu::get();
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  ThreadState& me = thread_state();
  gpu.advance(me.has_next ? me.next.host_ns : 2000);
  me.has_next = false;
  Stream* stream = stream_of(stream_handle, per_thread);
  auto& exec = *reinterpret_cast<Graph*>(handle);
  if (stream->capture != nullptr) {  // becomes a node that is a graph
    GraphNode* node = new_node(*stream->capture, CU_GRAPH_NODE_TYPE_GRAPH, {});
    tell(GraphEvent::node_created, {stream->capture.get(), nullptr, node});
    node->child = clone(exec, false);
    return CUDA_SUCCESS;
  }
  submit_nodes(call, exec, *stream);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult capture(Stream& stream, Work work, CUgraphNodeType type,
                 const gable::CounterValues* counters) {
  work.context = stream.context;
  work.stream_id = stream.id;
  Graph& graph = *stream.capture;
  if (counters != nullptr) {
    graph.kept.push_back(std::make_shared<const gable::CounterValues>(*counters));
    work.counters = graph.kept.back().get();
  }
  GraphNode* node = new_node(graph, type, work);
  tell(GraphEvent::node_created, {&graph, nullptr, node});
  Tools* tools = Gpu::get().tools.load(std::memory_order_acquire);
  if (tools != nullptr && type == CU_GRAPH_NODE_TYPE_KERNEL) tools->captured(node->work);
  return CUDA_SUCCESS;
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  const cuGraphInstantiateWithFlags_params p{exec, graph, flags};
  return api(GABLE_CBID(cuGraphInstantiateWithFlags), "cuGraphInstantiateWithFlags", Effect::change,
             &p, [&](ApiCall&) {
               if (exec == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
               *exec = reinterpret_cast<CUgraphExec>(instantiate(*reinterpret_cast<Graph*>(graph)));
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                                   CUgraphExecUpdateResultInfo* info) {
  const cuGraphExecUpdate_v2_params p{exec, graph, info};
  return api(
      GABLE_CBID(cuGraphExecUpdate_v2), "cuGraphExecUpdate_v2", Effect::change, &p, [&](ApiCall&) {
        if (exec == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        return update(*reinterpret_cast<Graph*>(exec), *reinterpret_cast<const Graph*>(graph));
      });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
  const cuGraphDestroy_params p{graph};
  return api(GABLE_CBID(cuGraphDestroy), "cuGraphDestroy", Effect::change, &p, [&](ApiCall&) {
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto* known = reinterpret_cast<Graph*>(graph);
    tell(GraphEvent::destroy, {known});
    destroy(known);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec) {
  const cuGraphExecDestroy_params p{exec};
  return api(GABLE_CBID(cuGraphExecDestroy), "cuGraphExecDestroy", Effect::change, &p,
             [&](ApiCall&) {
               if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
               auto* known = reinterpret_cast<Graph*>(exec);
               tell(GraphEvent::exec_destroy, {nullptr, nullptr, nullptr, nullptr, known});
               destroy(known);
               return CUDA_SUCCESS;
             });
}

#define GABLE_GRAPH_CALLS(suffix, per_thread)                                                    \
  CUresult CUDAAPI cuStreamBeginCapture_v2##suffix(CUstream stream, CUstreamCaptureMode mode) {  \
    const cuStreamBeginCapture_v2##suffix##_params p{stream, mode};                              \
    return api(GABLE_CBID(cuStreamBeginCapture_v2##suffix), "cuStreamBeginCapture_v2" #suffix,   \
               Effect::change, &p, [&](ApiCall&) { return begin_capture(stream, per_thread); }); \
  }                                                                                              \
  CUresult CUDAAPI cuStreamEndCapture##suffix(CUstream stream, CUgraph* graph) {                 \
    const cuStreamEndCapture##suffix##_params p{stream, graph};                                  \
    return api(GABLE_CBID(cuStreamEndCapture##suffix), "cuStreamEndCapture" #suffix,             \
               Effect::change, &p,                                                               \
               [&](ApiCall&) { return end_capture(stream, graph, per_thread); });                \
  }                                                                                              \
  CUresult CUDAAPI cuGraphLaunch##suffix(CUgraphExec exec, CUstream stream) {                    \
    const cuGraphLaunch##suffix##_params p{exec, stream};                                        \
    return api(GABLE_CBID(cuGraphLaunch##suffix), "cuGraphLaunch" #suffix, Effect::change, &p,   \
               [&](ApiCall& call) { return launch(call, exec, stream, per_thread); });           \
  }

CUresult CUDAAPI cuStreamBeginCapture_v2_ptsz(CUstream, CUstreamCaptureMode);
CUresult CUDAAPI cuStreamEndCapture_ptsz(CUstream, CUgraph*);
GABLE_GRAPH_CALLS(, false)
GABLE_GRAPH_CALLS(_ptsz, true)

// As a program that adds node by node with cuGraphAddKernelNode.
CUgraphExec gable_playback_graph(const std::vector<const gable::RecordedKernel*>* kernels,
                                 const std::optional<std::uint64_t>* time_ns) {
  static Module* module = new Module;    // of no context
  Graph* graph = new_graph().release();  // lives as long as the process
  tell(GraphEvent::created, {graph});
  for (const gable::RecordedKernel* kernel : *kernels) {
    Work work;
    work.function = Gpu::get().function(module, kernel->name);
    work.kernel = kernel;
    work.grid = kernel->grid;
    work.block = kernel->block;
    work.cluster = kernel->cluster;
    work.dynamic_shared = kernel->dynamic_shared;
    work.duration_ns = time_ns->value_or(kernel->time_ns);
    GraphNode* node = new_node(*graph, CU_GRAPH_NODE_TYPE_KERNEL, work);
    tell(GraphEvent::node_created, {graph, nullptr, node});
  }
  return reinterpret_cast<CUgraphExec>(instantiate(*graph));
}

}  // extern "C"
