// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/counter_access.h"

#include <cuda.h>
#include <dlfcn.h>

#include "collector/counters/range_profiler.h"

namespace gable {
namespace {

constexpr std::size_t kRanges = 16;  // any number: none is pushed

struct ContextCalls {
  CUresult(CUDAAPI* retain)(CUcontext*, CUdevice) = nullptr;
  CUresult(CUDAAPI* release)(CUdevice) = nullptr;
  CUresult(CUDAAPI* set_current)(CUcontext) = nullptr;

  [[nodiscard]] bool load() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (driver == nullptr) return false;
    retain = reinterpret_cast<decltype(retain)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
    release = reinterpret_cast<decltype(release)>(dlsym(driver, "cuDevicePrimaryCtxRelease_v2"));
    set_current = reinterpret_cast<decltype(set_current)>(dlsym(driver, "cuCtxSetCurrent"));
    return retain != nullptr && release != nullptr && set_current != nullptr;
  }
};

std::string take_some(const CuptiApi& api, CUcontext context, const std::string& chip,
                      const PassPlan& pass) {
  ProfilerEngine engine(api);
  RangeProfiler profiler(engine, context, chip);
  if (const auto failure = profiler.start(pass, RangeMode::user, kRanges); failure.failed())
    return failure.sentence;
  if (const auto failure = profiler.stop(); failure.failed()) return failure.sentence;
  return profiler.disable().sentence;
}

}  // namespace

std::string why_counters_fail(const CuptiApi& api, std::int32_t device, const std::string& chip,
                              const PassPlan& pass) {
  ContextCalls calls;
  if (!calls.load()) return "The driver was not loaded, or lacks its calls for contexts.";
  CUcontext context = nullptr;
  const CUresult made = calls.retain(&context, device);
  if (made != CUDA_SUCCESS)
    return "No context could be made on the GPU (CUDA error " + std::to_string(made) +
           "); is its memory full, or is it in exclusive mode?";
  calls.set_current(context);
  std::string reason = take_some(api, context, chip, pass);
  calls.set_current(nullptr);
  calls.release(device);
  return reason;
}

}  // namespace gable
