// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: contexts, synchronisation, profiler control.
#include "tools/playback/driver/driver_call.h"

using namespace gable::playback;

namespace {

CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }

bool valid_device(CUdevice device) {
  return device >= 0 && static_cast<std::size_t>(device) < Gpu::get().recording().devices.size();
}

CUresult create(CUcontext* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context* context = Gpu::get().create_context(device, false);
  thread_state().current = context;
  tell(ResourceEvent::context_created, context);
  *out = handle_of(context);
  return CUDA_SUCCESS;
}

void destroy(Context* context) {
  Gpu& gpu = Gpu::get();
  tell(ResourceEvent::context_destroy, context);
  gpu.wait_until(gpu.context_end(*context));
  if (Tools* tools = gpu.tools.load(std::memory_order_acquire)) tools->context_gone(context);
  const std::lock_guard<std::mutex> lock(gpu.mutex);
  context->alive = false;
  if (context->primary) gpu.primary[static_cast<std::size_t>(context->device)] = nullptr;
  if (thread_state().current == context) thread_state().current = nullptr;
}

CUresult release_primary(CUdevice device, bool reset) {
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context* context = Gpu::get().primary[static_cast<std::size_t>(device)];
  if (context == nullptr) return reset ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  if (!reset && --context->retained > 0) return CUDA_SUCCESS;
  destroy(context);
  return CUDA_SUCCESS;
}

CUresult synchronize_context() {
  Gpu& gpu = Gpu::get();
  Context* context = thread_state().current;
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (gpu.capturing.load() > 0) {
    if (thread_state().callback_depth > 0) {
      gpu.control().rule_broken(
          "cuCtxSynchronize was called inside a callback while a stream captures");
    }
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  gpu.advance(1000);
  gpu.wait_until(gpu.context_end(*context));
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

#if CUDA_VERSION >= 13000
CUresult CUDAAPI cuCtxCreate(CUcontext* ctx, CUctxCreateParams* create_params, unsigned int flags,
                             CUdevice dev) {
  const cuCtxCreate_v4_params p{ctx, create_params, flags, dev};
  return api(GABLE_CBID(cuCtxCreate_v4), "cuCtxCreate_v4", Effect::change, &p,
             [&](ApiCall&) { return create(ctx, dev); });
}
#undef cuCtxCreate
CUresult CUDAAPI cuCtxCreate_v2(CUcontext* ctx, unsigned int flags, CUdevice dev);
#endif
CUresult CUDAAPI cuCtxCreate_v2(CUcontext* ctx, unsigned int flags, CUdevice dev) {
  const cuCtxCreate_v2_params p{ctx, flags, dev};
  return api(GABLE_CBID(cuCtxCreate_v2), "cuCtxCreate_v2", Effect::change, &p,
             [&](ApiCall&) { return create(ctx, dev); });
}

CUresult CUDAAPI cuCtxDestroy(CUcontext ctx) {
  const cuCtxDestroy_v2_params p{ctx};
  return api(GABLE_CBID(cuCtxDestroy_v2), "cuCtxDestroy_v2", Effect::change, &p, [&](ApiCall&) {
    Context* context = Gpu::get().context_of(ctx);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    destroy(context);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* ctx, CUdevice dev) {
  const cuDevicePrimaryCtxRetain_params p{ctx, dev};
  return api(GABLE_CBID(cuDevicePrimaryCtxRetain), "cuDevicePrimaryCtxRetain", Effect::change, &p,
             [&](ApiCall&) {
               if (ctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
               if (!valid_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
               Gpu& gpu = Gpu::get();
               Context* context = gpu.primary[static_cast<std::size_t>(dev)];
               if (context == nullptr) {
                 context = gpu.create_context(dev, true);
                 tell(ResourceEvent::context_created, context);
               }
               ++context->retained;
               *ctx = handle_of(context);
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev) {
  const cuDevicePrimaryCtxRelease_v2_params p{dev};
  return api(GABLE_CBID(cuDevicePrimaryCtxRelease_v2), "cuDevicePrimaryCtxRelease_v2",
             Effect::change, &p, [&](ApiCall&) { return release_primary(dev, false); });
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev) {
  const cuDevicePrimaryCtxReset_v2_params p{dev};
  return api(GABLE_CBID(cuDevicePrimaryCtxReset_v2), "cuDevicePrimaryCtxReset_v2", Effect::change,
             &p, [&](ApiCall&) { return release_primary(dev, true); });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx) {
  const cuCtxSetCurrent_params p{ctx};
  return api(GABLE_CBID(cuCtxSetCurrent), "cuCtxSetCurrent", Effect::query, &p, [&](ApiCall&) {
    Context* context = ctx == nullptr ? nullptr : Gpu::get().context_of(ctx);
    if (ctx != nullptr && context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    thread_state().current = context;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext ctx) {
  const cuCtxPushCurrent_v2_params p{ctx};
  return api(GABLE_CBID(cuCtxPushCurrent_v2), "cuCtxPushCurrent_v2", Effect::query, &p,
             [&](ApiCall&) {
               Context* context = ctx == nullptr ? nullptr : Gpu::get().context_of(ctx);
               if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
               ThreadState& me = thread_state();
               if (me.depth == me.below.size()) return CUDA_ERROR_UNKNOWN;
               if (me.current != nullptr) me.below[me.depth++] = me.current;
               me.current = context;
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext* ctx) {
  const cuCtxPopCurrent_v2_params p{ctx};
  return api(GABLE_CBID(cuCtxPopCurrent_v2), "cuCtxPopCurrent_v2", Effect::query, &p,
             [&](ApiCall&) {
               ThreadState& me = thread_state();
               if (me.current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
               if (ctx != nullptr) *ctx = handle_of(me.current);
               me.current = me.depth == 0 ? nullptr : me.below[--me.depth];
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* ctx) {
  const cuCtxGetCurrent_params p{ctx};
  return api(GABLE_CBID(cuCtxGetCurrent), "cuCtxGetCurrent", Effect::query, &p, [&](ApiCall&) {
    if (ctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *ctx = handle_of(thread_state().current);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  const cuCtxGetDevice_params p{device};
  return api(GABLE_CBID(cuCtxGetDevice), "cuCtxGetDevice", Effect::query, &p, [&](ApiCall&) {
    const Context* context = thread_state().current;
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSynchronize(void) {
  return api(GABLE_CBID(cuCtxSynchronize), "cuCtxSynchronize", Effect::wait, nullptr,
             [&](ApiCall&) { return synchronize_context(); });
}

CUresult CUDAAPI cuProfilerStart(void) {
  return api(GABLE_CBID(cuProfilerStart), "cuProfilerStart", Effect::change, nullptr,
             [&](ApiCall&) { return CUDA_SUCCESS; });
}

CUresult CUDAAPI cuProfilerStop(void) {
  return api(GABLE_CBID(cuProfilerStop), "cuProfilerStop", Effect::change, nullptr,
             [&](ApiCall&) { return CUDA_SUCCESS; });
}

}  // extern "C"
