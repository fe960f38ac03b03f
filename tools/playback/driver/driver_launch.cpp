// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: kernel launches.
#include <atomic>
#include <cmath>
#include <cstring>

#include "tools/playback/driver/driver_call.h"
#include "tools/playback/driver/side.h"

using namespace gable::playback;

namespace {

struct Shape {
  gable::Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
};

bool fits(const gable::RecordedKernel& kernel, const Shape& shape) {
  return kernel.grid == shape.grid && kernel.block == shape.block;
}

const gable::RecordedKernel* definition(const Function& function, const Shape& shape) {
  for (const gable::RecordedKernel* kernel : function.definitions) {
    if (fits(*kernel, shape)) return kernel;
  }
  return function.definitions.empty() ? nullptr : function.definitions.front();
}

CUresult run(ApiCall& call, CUfunction handle, const Shape& shape, CUstream stream_handle,
             bool per_thread) {
  Gpu& gpu = Gpu::get();
  ThreadState& me = thread_state();
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (me.current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const NextLaunch next = me.has_next ? me.next : NextLaunch{};
  me.has_next = false;
  Stream* stream = stream_of(stream_handle, per_thread);
  Work work;
  work.function = reinterpret_cast<const Function*>(handle);
  work.kernel = next.kernel != nullptr ? next.kernel : definition(*work.function, shape);
  work.counters = next.counters;
  work.scale = next.scale;
  work.grid = shape.grid;
  work.block = shape.block;
  work.cluster = shape.cluster;
  work.dynamic_shared = shape.dynamic_shared;
  work.cooperative = shape.cooperative;
  if (next.time_ns) {
    work.duration_ns = *next.time_ns;
  } else if (work.kernel != nullptr) {
    work.duration_ns = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(work.kernel->time_ns) * work.scale));
  }
  work.correlation = call.correlation;
  gpu.advance(next.host_ns);
  Tools* tools = gpu.tools.load(std::memory_order_acquire);
  if (stream->capture != nullptr)
    return capture(*stream, work, CU_GRAPH_NODE_TYPE_KERNEL, next.counters);
  gpu.submit(work, *stream);
  if (tools != nullptr) tools->submitted(work);
  if (stream->context->serialise.load(std::memory_order_acquire)) gpu.wait_until(work.end_ns);
  return CUDA_SUCCESS;
}

const char* symbol_of(CUfunction f) {
  return f == nullptr ? nullptr : reinterpret_cast<Function*>(f)->name.c_str();
}

Shape shape_of(const CUlaunchConfig& config) {
  Shape shape;
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.dynamic_shared = config.sharedMemBytes;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      shape.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                       attribute.value.clusterDim.z};
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      shape.cooperative = attribute.value.cooperative != 0;
    }
  }
  return shape;
}

// Resident threads: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int threads_of_sm(int device) {
  const auto& info = Gpu::get().recording().devices[static_cast<std::size_t>(device)];
  const int capability = info.compute_major * 10 + info.compute_minor;
  if (capability == 75) return 1024;
  return capability == 86 || capability == 87 || capability == 89 || capability >= 120 ? 1536
                                                                                       : 2048;
}

// Kernels are played and do nothing, except for the one of `gable ceilings` that writes a number to
// memory of the host: the program waits for that number.
CUresult with_effect(CUresult code, CUfunction f, void** arguments) {
  const char* symbol = symbol_of(f);
  if (code != CUDA_SUCCESS || std::strcmp(symbol, "gable_latency") != 0) return code;
  const auto address = *static_cast<CUdeviceptr*>(arguments[0]);
  const std::atomic_ref<std::uint32_t> seen(*reinterpret_cast<std::uint32_t*>(address));
  seen.store(*static_cast<std::uint32_t*>(arguments[1]), std::memory_order_release);
  return code;
}

}  // namespace

extern "C" CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f,
                                                                        int block_size,
                                                                        std::size_t dynamic) {
  const cuOccupancyMaxActiveBlocksPerMultiprocessor_params p{blocks, f, block_size, dynamic};
  return api(GABLE_CBID(cuOccupancyMaxActiveBlocksPerMultiprocessor),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor", Effect::query, &p, [&](ApiCall&) {
               const Context* context = thread_state().current;
               if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
               if (blocks == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
               *blocks = threads_of_sm(context->device) / block_size;
               return CUDA_SUCCESS;
             });
}

#define GABLE_LAUNCH(suffix, per_thread)                                                           \
  CUresult CUDAAPI cuLaunchKernel##suffix(CUfunction f, unsigned gx, unsigned gy, unsigned gz,     \
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,  \
                                          CUstream stream, void** arguments, void** extra) {       \
    const cuLaunchKernel##suffix##_params p{f,  gx,     gy,     gz,        bx,   by,               \
                                            bz, shared, stream, arguments, extra};                 \
    return api(                                                                                    \
        GABLE_CBID(cuLaunchKernel##suffix), "cuLaunchKernel" #suffix, Effect::change, &p,          \
        [&](ApiCall& call) {                                                                       \
          return with_effect(                                                                      \
              run(call, f, {{gx, gy, gz}, {bx, by, bz}, {}, shared, false}, stream, per_thread),   \
              f, arguments);                                                                       \
        },                                                                                         \
        symbol_of(f));                                                                             \
  }                                                                                                \
  CUresult CUDAAPI cuLaunchCooperativeKernel##suffix(                                              \
      CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
      unsigned shared, CUstream stream, void** arguments) {                                        \
    const cuLaunchCooperativeKernel##suffix##_params p{f,  gx, gy,     gz,     bx,                 \
                                                       by, bz, shared, stream, arguments};         \
    return api(                                                                                    \
        GABLE_CBID(cuLaunchCooperativeKernel##suffix), "cuLaunchCooperativeKernel" #suffix,        \
        Effect::change, &p,                                                                        \
        [&](ApiCall& call) {                                                                       \
          return run(call, f, {{gx, gy, gz}, {bx, by, bz}, {}, shared, true}, stream, per_thread); \
        },                                                                                         \
        symbol_of(f));                                                                             \
  }                                                                                                \
  CUresult CUDAAPI cuLaunchKernelEx##suffix(const CUlaunchConfig* config, CUfunction f,            \
                                            void** arguments, void** extra) {                      \
    const cuLaunchKernelEx##suffix##_params p{config, f, arguments, extra};                        \
    return api(                                                                                    \
        GABLE_CBID(cuLaunchKernelEx##suffix), "cuLaunchKernelEx" #suffix, Effect::change, &p,      \
        [&](ApiCall& call) {                                                                       \
          return config == nullptr ? CUDA_ERROR_INVALID_VALUE                                      \
                                   : run(call, f, shape_of(*config), config->hStream, per_thread); \
        },                                                                                         \
        symbol_of(f));                                                                             \
  }

extern "C" {
GABLE_LAUNCH(, false)
GABLE_LAUNCH(_ptsz, true)

void gable_playback_next_launch(const NextLaunch* next) {
  thread_state().next = *next;
  thread_state().has_next = true;
}

Gpu* gable_playback_gpu() { return &Gpu::get(); }
ThreadState* gable_playback_thread() { return &thread_state(); }
}
