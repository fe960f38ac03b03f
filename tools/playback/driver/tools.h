// SPDX-License-Identifier: Apache-2.0
// Between the playback libcuda and the playback libcupti, as the real driver's tools interface lies
// between the real ones.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace gable::playback {

inline constexpr std::size_t kDriverCallbacks = 1024;  // more than any CUDA 13 has

struct Context;
struct Stream;
struct Module;
struct Work;
struct Graph;
struct GraphNode;

struct ApiCall {
  std::uint32_t cbid = 0;
  const char* name = "";
  const void* params = nullptr;
  CUresult* result = nullptr;
  const char* symbol = nullptr;  // launches: the kernel's name
  std::uint64_t correlation_data = 0;
  std::uint32_t correlation = 0;
};

enum class ResourceEvent {
  init_finished,
  context_created,
  context_destroy,
  stream_created,
  stream_destroy,
  module_loaded,
  module_unload
};

enum class GraphEvent {
  created,
  destroy,
  cloned,
  node_created,
  node_cloned,
  exec_create_starting,
  exec_created,
  exec_destroy
};

// What a graph event is about; null where it is about no such thing.
struct GraphChange {
  Graph *graph = nullptr, *original = nullptr;
  GraphNode *node = nullptr, *original_node = nullptr;
  Graph* exec = nullptr;
};

class Tools {
 public:
  virtual ~Tools() = default;
  virtual void enter(ApiCall& call) = 0;
  virtual void exit(ApiCall& call) = 0;
  virtual void resource(ResourceEvent event, Context* context, Stream* stream, Module* module) = 0;
  virtual void graph(GraphEvent event, const GraphChange& change) = 0;
  virtual void submitted(const Work& work) = 0;
  virtual void captured(const Work& work) = 0;  // became a node of a graph
  virtual void context_gone(Context* context) = 0;
};

}  // namespace gable::playback
