// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: memory, copies, memset. Device memory is host memory, so that a program
// finds what it wrote.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "tools/playback/driver/driver_call.h"

using namespace gable::playback;

namespace {

struct Copy {
  gable::CopyKind kind;
  void* to;
  const void* from;  // memset: null
  std::size_t bytes;
  int value = 0;
  bool blocking = false;
};

// An op of a recording says how many bytes a copy moves without there being so much memory: such
// copies have null ends.
void move_bytes(const Copy& copy) {
  if (copy.to == nullptr) return;
  if (copy.from != nullptr) {
    std::memmove(copy.to, copy.from, copy.bytes);
  } else if (copy.kind == gable::CopyKind::memset) {
    std::memset(copy.to, copy.value, copy.bytes);
  }
}

// Memory of the host that is pinned: its address and size.
class PinnedMemory {
 public:
  void add(void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    all_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  }
  void remove(void* memory) {
    const std::lock_guard lock(mutex_);
    all_.erase(reinterpret_cast<std::uintptr_t>(memory));
  }
  bool holds(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    auto after = all_.upper_bound(begin);
    if (after == all_.begin()) return false;
    --after;
    return begin + bytes <= after->first + after->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> all_;
};

PinnedMemory& pinned_memory() {
  static PinnedMemory& memory = *new PinnedMemory;
  return memory;
}

// How long a copy takes of which the recording says nothing: over the device's PCIe as far as the
// recording has one, at four fifths of its rate, and at a third of that from or to pageable memory.
std::uint64_t duration_of(const Copy& copy, const Context& context) {
  constexpr std::uint64_t kUntold = 1000;
  const auto& link =
      Gpu::get().recording().devices[static_cast<std::size_t>(context.device)].links.pcie;
  const bool to_device = copy.kind == gable::CopyKind::host_to_device;
  if ((!to_device && copy.kind != gable::CopyKind::device_to_host) || copy.to == nullptr ||
      link.generation < 1 || link.width < 1)
    return kUntold;
  const double lane = 0.2 * static_cast<double>(1U << (link.generation - 1));  // byte/ns
  const bool pinned = pinned_memory().holds(to_device ? copy.from : copy.to, copy.bytes);
  const double rate = lane * link.width / (pinned ? 1 : 3);
  return kUntold + static_cast<std::uint64_t>(static_cast<double>(copy.bytes) / rate);
}

CUresult run(ApiCall& call, const Copy& copy, CUstream handle, bool per_thread) {
  Gpu& gpu = Gpu::get();
  ThreadState& me = thread_state();
  if (me.current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const NextLaunch next = me.has_next ? me.next : NextLaunch{};
  me.has_next = false;
  Stream* stream = stream_of(handle, per_thread);
  Work work;
  work.kind = copy.kind == gable::CopyKind::memset ? Work::Kind::memset : Work::Kind::copy;
  work.copy = copy.kind;
  work.host = next.host;
  work.bytes = copy.bytes;
  work.blocking = copy.blocking;
  work.duration_ns = next.time_ns ? *next.time_ns : duration_of(copy, *me.current);
  work.correlation = call.correlation;
  gpu.advance(next.host_ns);
  if (stream->capture != nullptr) {
    if (copy.blocking) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return capture(*stream, work,
                   copy.kind == gable::CopyKind::memset ? CU_GRAPH_NODE_TYPE_MEMSET
                                                        : CU_GRAPH_NODE_TYPE_MEMCPY);
  }
  move_bytes(copy);
  gpu.submit(work, *stream);
  if (Tools* tools = gpu.tools.load(std::memory_order_acquire)) tools->submitted(work);
  if (copy.blocking) gpu.wait_until(work.end_ns);
  return CUDA_SUCCESS;
}

void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  const cuMemAlloc_v2_params p{address, bytes};
  return api(GABLE_CBID(cuMemAlloc_v2), "cuMemAlloc_v2", Effect::change, &p, [&](ApiCall&) {
    if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    void* memory = std::calloc(1, bytes);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  const cuMemFree_v2_params p{address};
  return api(GABLE_CBID(cuMemFree_v2), "cuMemFree_v2", Effect::change, &p, [&](ApiCall&) {
    std::free(at(address));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  const cuMemHostAlloc_params p{memory, bytes, flags};
  return api(GABLE_CBID(cuMemHostAlloc), "cuMemHostAlloc", Effect::change, &p, [&](ApiCall&) {
    if (memory == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *memory = std::calloc(1, bytes);
    if (*memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    pinned_memory().add(*memory, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemFreeHost(void* memory) {
  const cuMemFreeHost_params p{memory};
  return api(GABLE_CBID(cuMemFreeHost), "cuMemFreeHost", Effect::change, &p, [&](ApiCall&) {
    pinned_memory().remove(memory);
    std::free(memory);
    return CUDA_SUCCESS;
  });
}

// The GPU's address is the host's own, as under unified addressing.
CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned flags) {
  const cuMemHostGetDevicePointer_v2_params p{address, memory, flags};
  return api(GABLE_CBID(cuMemHostGetDevicePointer_v2), "cuMemHostGetDevicePointer_v2",
             Effect::query, &p, [&](ApiCall&) {
               if (address == nullptr || memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
               *address = reinterpret_cast<CUdeviceptr>(memory);
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  const cuMemGetInfo_v2_params p{free_bytes, total};
  return api(GABLE_CBID(cuMemGetInfo_v2), "cuMemGetInfo_v2", Effect::query, &p, [&](ApiCall&) {
    const Context* context = thread_state().current;
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (free_bytes == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *free_bytes = *total =
        Gpu::get().recording().devices[static_cast<std::size_t>(context->device)].memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  const cuMemcpyHtoD_v2_params p{to, from, bytes};
  return api(GABLE_CBID(cuMemcpyHtoD_v2), "cuMemcpyHtoD_v2", Effect::change, &p,
             [&](ApiCall& call) {
               return run(call, {gable::CopyKind::host_to_device, at(to), from, bytes, 0, true},
                          nullptr, false);
             });
}

CUresult CUDAAPI cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  const cuMemcpyDtoH_v2_params p{to, from, bytes};
  return api(GABLE_CBID(cuMemcpyDtoH_v2), "cuMemcpyDtoH_v2", Effect::change, &p,
             [&](ApiCall& call) {
               return run(call, {gable::CopyKind::device_to_host, to, at(from), bytes, 0, true},
                          nullptr, false);
             });
}

CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  const cuMemcpyDtoD_v2_params p{to, from, bytes};
  return api(
      GABLE_CBID(cuMemcpyDtoD_v2), "cuMemcpyDtoD_v2", Effect::change, &p, [&](ApiCall& call) {
        return run(call, {gable::CopyKind::device_to_device, at(to), at(from), bytes, 0, false},
                   nullptr, false);
      });
}

CUresult CUDAAPI cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  const cuMemsetD8_v2_params p{to, value, bytes};
  return api(GABLE_CBID(cuMemsetD8_v2), "cuMemsetD8_v2", Effect::change, &p, [&](ApiCall& call) {
    return run(call, {gable::CopyKind::memset, at(to), nullptr, bytes, value, false}, nullptr,
               false);
  });
}

#define GABLE_COPIES(suffix, per_thread)                                                           \
  CUresult CUDAAPI cuMemcpyHtoDAsync_v2##suffix(CUdeviceptr to, const void* from,                  \
                                                std::size_t bytes, CUstream s) {                   \
    const cuMemcpyHtoDAsync_v2##suffix##_params p{to, from, bytes, s};                             \
    return api(                                                                                    \
        GABLE_CBID(cuMemcpyHtoDAsync_v2##suffix), "cuMemcpyHtoDAsync_v2" #suffix, Effect::change,  \
        &p, [&](ApiCall& call) {                                                                   \
          return run(call, {gable::CopyKind::host_to_device, at(to), from, bytes}, s, per_thread); \
        });                                                                                        \
  }                                                                                                \
  CUresult CUDAAPI cuMemcpyDtoHAsync_v2##suffix(void* to, CUdeviceptr from, std::size_t bytes,     \
                                                CUstream s) {                                      \
    const cuMemcpyDtoHAsync_v2##suffix##_params p{to, from, bytes, s};                             \
    return api(                                                                                    \
        GABLE_CBID(cuMemcpyDtoHAsync_v2##suffix), "cuMemcpyDtoHAsync_v2" #suffix, Effect::change,  \
        &p, [&](ApiCall& call) {                                                                   \
          return run(call, {gable::CopyKind::device_to_host, to, at(from), bytes}, s, per_thread); \
        });                                                                                        \
  }                                                                                                \
  CUresult CUDAAPI cuMemcpyDtoDAsync_v2##suffix(CUdeviceptr to, CUdeviceptr from,                  \
                                                std::size_t bytes, CUstream s) {                   \
    const cuMemcpyDtoDAsync_v2##suffix##_params p{to, from, bytes, s};                             \
    return api(GABLE_CBID(cuMemcpyDtoDAsync_v2##suffix), "cuMemcpyDtoDAsync_v2" #suffix,           \
               Effect::change, &p, [&](ApiCall& call) {                                            \
                 return run(call, {gable::CopyKind::device_to_device, at(to), at(from), bytes}, s, \
                            per_thread);                                                           \
               });                                                                                 \
  }                                                                                                \
  CUresult CUDAAPI cuMemsetD8Async##suffix(CUdeviceptr to, unsigned char value, std::size_t bytes, \
                                           CUstream s) {                                           \
    const cuMemsetD8Async##suffix##_params p{to, value, bytes, s};                                 \
    return api(GABLE_CBID(cuMemsetD8Async##suffix), "cuMemsetD8Async" #suffix, Effect::change, &p, \
               [&](ApiCall& call) {                                                                \
                 return run(call, {gable::CopyKind::memset, at(to), nullptr, bytes, value}, s,     \
                            per_thread);                                                           \
               });                                                                                 \
  }

CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr, const void*, std::size_t, CUstream);
CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void*, CUdeviceptr, std::size_t, CUstream);
CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr, unsigned char, std::size_t, CUstream);
GABLE_COPIES(, false)
GABLE_COPIES(_ptsz, true)

}  // extern "C"
