// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: streams and events.
#include <algorithm>

#include "tools/playback/driver/driver_call.h"

using namespace gable::playback;

namespace {

// A position in a stream: when all work before it has ended. That is known as soon as the work was
// submitted, so what is recorded later changes nothing for who waited before.
struct Event {
  std::uint64_t time_ns = 0;
  bool recorded = false;
  bool captured = false;  // in a stream that captured: a node of a graph, for nobody else
};

constexpr std::uint64_t kQueryNs = 500;  // a program that polls gets somewhere

CUresult create(CUstream* out, unsigned int flags) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context = thread_state().current;
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Stream* stream = Gpu::get().create_stream(context, (flags & CU_STREAM_NON_BLOCKING) != 0);
  tell(ResourceEvent::stream_created, context, stream);
  *out = reinterpret_cast<CUstream>(stream);
  return CUDA_SUCCESS;
}

CUresult synchronize(CUstream handle, bool per_thread) {
  Gpu& gpu = Gpu::get();
  if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Stream* stream = stream_of(handle, per_thread);
  if (stream->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  gpu.advance(1000);
  std::uint64_t end = 0;
  {
    const std::lock_guard<std::mutex> lock(gpu.mutex);
    end = gpu.stream_end(*stream);
  }
  gpu.wait_until(end);
  return CUDA_SUCCESS;
}

CUresult record(CUevent handle, CUstream stream_handle, bool per_thread) {
  auto* event = reinterpret_cast<Event*>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Gpu& gpu = Gpu::get();
  Stream* stream = stream_of(stream_handle, per_thread);
  gpu.advance(500);
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  event->time_ns = std::max(gpu.stream_end(*stream), gpu.now());
  event->recorded = true;
  event->captured = stream->capture != nullptr;
  return CUDA_SUCCESS;
}

// Later work of the stream begins when the event's has ended. One that was never recorded is no
// wait. A graph is one row of nodes here, so a wait within it adds nothing.
CUresult wait(CUstream stream_handle, CUevent handle, bool per_thread) {
  const auto* event = reinterpret_cast<const Event*>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Gpu& gpu = Gpu::get();
  Stream* stream = stream_of(stream_handle, per_thread);
  gpu.advance(500);
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  const bool captures = stream->capture != nullptr;
  if (event->recorded && event->captured != captures) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  if (!captures) stream->end_ns = std::max(stream->end_ns, event->time_ns);
  return CUDA_SUCCESS;
}

CUresult query(CUstream handle, bool per_thread) {
  Gpu& gpu = Gpu::get();
  if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Stream* stream = stream_of(handle, per_thread);
  if (stream->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  gpu.advance(kQueryNs);
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  return gpu.stream_end(*stream) <= gpu.now() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

}  // namespace

namespace gable::playback {

Stream* stream_of(CUstream handle, bool per_thread) {
  Context* context = thread_state().current;
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number > 2) return reinterpret_cast<Stream*>(handle);
  if (number == 1 || (number == 0 && !per_thread)) return &context->default_stream;
  Gpu& gpu = Gpu::get();
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  std::unique_ptr<Stream>& slot = context->per_thread[std::this_thread::get_id()];
  if (slot == nullptr) {
    slot = std::make_unique<Stream>();
    slot->context = context;
    slot->id = gpu.next_stream++;
  }
  return slot.get();
}

}  // namespace gable::playback

extern "C" {

CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned int flags) {
  const cuStreamCreate_params p{stream, flags};
  return api(GABLE_CBID(cuStreamCreate), "cuStreamCreate", Effect::change, &p,
             [&](ApiCall&) { return create(stream, flags); });
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  const cuStreamCreateWithPriority_params p{stream, flags, priority};
  return api(GABLE_CBID(cuStreamCreateWithPriority), "cuStreamCreateWithPriority", Effect::change,
             &p, [&](ApiCall&) { return create(stream, flags); });
}

CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  const cuStreamDestroy_v2_params p{handle};
  return api(GABLE_CBID(cuStreamDestroy_v2), "cuStreamDestroy_v2", Effect::change, &p,
             [&](ApiCall&) {
               auto* stream = reinterpret_cast<Stream*>(handle);
               if (reinterpret_cast<std::uintptr_t>(handle) <= 2 || !stream->alive)
                 return CUDA_ERROR_INVALID_HANDLE;
               tell(ResourceEvent::stream_destroy, stream->context, stream);
               stream->alive = false;
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned int flags) {
  const cuEventCreate_params p{event, flags};
  return api(GABLE_CBID(cuEventCreate), "cuEventCreate", Effect::change, &p, [&](ApiCall&) {
    if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *event = reinterpret_cast<CUevent>(new Event);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventDestroy(CUevent event) {
  const cuEventDestroy_v2_params p{event};
  return api(GABLE_CBID(cuEventDestroy_v2), "cuEventDestroy_v2", Effect::change, &p, [&](ApiCall&) {
    delete reinterpret_cast<Event*>(event);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  const cuEventSynchronize_params p{event};
  return api(GABLE_CBID(cuEventSynchronize), "cuEventSynchronize", Effect::wait, &p, [&](ApiCall&) {
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Gpu::get().wait_until(reinterpret_cast<Event*>(event)->time_ns);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventQuery(CUevent event) {
  const cuEventQuery_params p{event};
  return api(GABLE_CBID(cuEventQuery), "cuEventQuery", Effect::query, &p, [&](ApiCall&) {
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Gpu::get().advance(kQueryNs);
    return reinterpret_cast<Event*>(event)->time_ns <= Gpu::get().now() ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_NOT_READY;
  });
}

CUresult CUDAAPI cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
#if CUDA_VERSION >= 12080
  const cuEventElapsedTime_v2_params p{ms, start, end};
  constexpr auto kCall = GABLE_CBID(cuEventElapsedTime_v2);
#else
  const cuEventElapsedTime_params p{ms, start, end};
  constexpr auto kCall = GABLE_CBID(cuEventElapsedTime);
#endif
  return api(kCall, "cuEventElapsedTime", Effect::query, &p, [&](ApiCall&) {
    const auto* first = reinterpret_cast<Event*>(start);
    const auto* second = reinterpret_cast<Event*>(end);
    if (ms == nullptr || first == nullptr || second == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!first->recorded || !second->recorded) return CUDA_ERROR_INVALID_HANDLE;
    *ms = static_cast<float>(static_cast<std::int64_t>(second->time_ns - first->time_ns)) / 1e6F;
    return CUDA_SUCCESS;
  });
}

// The calls that exist twice: NULL means the default stream, or in the _ptsz variant the thread's
// own.
#define GABLE_STREAM_CALLS(suffix, per_thread)                                                     \
  CUresult CUDAAPI cuStreamSynchronize##suffix(CUstream stream) {                                  \
    const cuStreamSynchronize##suffix##_params p{stream};                                          \
    return api(GABLE_CBID(cuStreamSynchronize##suffix), "cuStreamSynchronize" #suffix,             \
               Effect::wait, &p, [&](ApiCall&) { return synchronize(stream, per_thread); });       \
  }                                                                                                \
  CUresult CUDAAPI cuStreamIsCapturing##suffix(CUstream stream, CUstreamCaptureStatus* status) {   \
    const cuStreamIsCapturing##suffix##_params p{stream, status};                                  \
    return api(GABLE_CBID(cuStreamIsCapturing##suffix), "cuStreamIsCapturing" #suffix,             \
               Effect::query, &p, [&](ApiCall&) {                                                  \
                 if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;                           \
                 if (thread_state().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;         \
                 *status = stream_of(stream, per_thread)->capture == nullptr                       \
                               ? CU_STREAM_CAPTURE_STATUS_NONE                                     \
                               : CU_STREAM_CAPTURE_STATUS_ACTIVE;                                  \
                 return CUDA_SUCCESS;                                                              \
               });                                                                                 \
  }                                                                                                \
  CUresult CUDAAPI cuEventRecord##suffix(CUevent event, CUstream stream) {                         \
    const cuEventRecord##suffix##_params p{event, stream};                                         \
    return api(GABLE_CBID(cuEventRecord##suffix), "cuEventRecord" #suffix, Effect::change, &p,     \
               [&](ApiCall&) { return record(event, stream, per_thread); });                       \
  }                                                                                                \
  CUresult CUDAAPI cuStreamWaitEvent##suffix(CUstream stream, CUevent event, unsigned flags) {     \
    const cuStreamWaitEvent##suffix##_params p{stream, event, flags};                              \
    return api(GABLE_CBID(cuStreamWaitEvent##suffix), "cuStreamWaitEvent" #suffix, Effect::change, \
               &p, [&](ApiCall&) { return wait(stream, event, per_thread); });                     \
  }                                                                                                \
  CUresult CUDAAPI cuStreamQuery##suffix(CUstream stream) {                                        \
    const cuStreamQuery##suffix##_params p{stream};                                                \
    return api(GABLE_CBID(cuStreamQuery##suffix), "cuStreamQuery" #suffix, Effect::query, &p,      \
               [&](ApiCall&) { return query(stream, per_thread); });                               \
  }

CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream);
CUresult CUDAAPI cuStreamIsCapturing_ptsz(CUstream, CUstreamCaptureStatus*);
CUresult CUDAAPI cuEventRecord_ptsz(CUevent, CUstream);
CUresult CUDAAPI cuStreamWaitEvent_ptsz(CUstream, CUevent, unsigned);
CUresult CUDAAPI cuStreamQuery_ptsz(CUstream);
GABLE_STREAM_CALLS(, false)
GABLE_STREAM_CALLS(_ptsz, true)

}  // extern "C"
