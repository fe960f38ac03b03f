// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_gpu.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "collector/cupti/nvml.h"
#include "tools/ceilings/ceilings_latency.h"

namespace gable {

struct KernelCalls {
  CUresult(CUDAAPI* retain)(CUcontext*, CUdevice) = nullptr;
  CUresult(CUDAAPI* release)(CUdevice) = nullptr;
  CUresult(CUDAAPI* set_current)(CUcontext) = nullptr;
  CUresult(CUDAAPI* load)(CUmodule*, const void*) = nullptr;
  CUresult(CUDAAPI* unload)(CUmodule) = nullptr;
  CUresult(CUDAAPI* function)(CUfunction*, CUmodule, const char*) = nullptr;
  CUresult(CUDAAPI* launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, CUstream, void**, void**) = nullptr;
  CUresult(CUDAAPI* allocate)(CUdeviceptr*, std::size_t) = nullptr;
  CUresult(CUDAAPI* free)(CUdeviceptr) = nullptr;
  CUresult(CUDAAPI* memory)(std::size_t*, std::size_t*) = nullptr;
  CUresult(CUDAAPI* set)(CUdeviceptr, unsigned char, std::size_t) = nullptr;
  CUresult(CUDAAPI* get)(void*, CUdeviceptr, std::size_t) = nullptr;
  CUresult(CUDAAPI* event)(CUevent*, unsigned) = nullptr;
  CUresult(CUDAAPI* destroy_event)(CUevent) = nullptr;
  CUresult(CUDAAPI* record)(CUevent, CUstream) = nullptr;
  CUresult(CUDAAPI* wait)(CUevent) = nullptr;
  CUresult(CUDAAPI* elapsed)(float*, CUevent, CUevent) = nullptr;
  CUresult(CUDAAPI* error)(CUresult, const char**) = nullptr;
  // These may be missing.
  CUresult(CUDAAPI* occupancy)(int*, CUfunction, int, std::size_t) = nullptr;
  CUresult(CUDAAPI* host_memory)(void**, std::size_t, unsigned) = nullptr;
  CUresult(CUDAAPI* free_host)(void*) = nullptr;
  CUresult(CUDAAPI* address)(CUdeviceptr*, void*, unsigned) = nullptr;
  CUresult(CUDAAPI* wait_for_all)() = nullptr;
  CUresult(CUDAAPI* to_device)(CUdeviceptr, const void*, std::size_t, CUstream) = nullptr;
  CUresult(CUDAAPI* to_host)(void*, CUdeviceptr, std::size_t, CUstream) = nullptr;
};

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
// Of 1 GiB an H200's L2 keeps so much that DRAM seemed to give 4.87 TB/s of its 4.81.
constexpr std::uint64_t kDramWindow = 4096 * kMiB, kL1Window = kMiB / 64;
// Below this the L2 would serve much of what is meant for the DRAM.
constexpr std::uint64_t kTimesL2 = 4;
constexpr std::chrono::seconds kLongestLatency{2};
constexpr std::uint64_t kCopiedBytes = 16 * kMiB;
// %globaltimer moves in steps of up to 1 us.
constexpr std::uint64_t kLeastTimerNs = 200000;
constexpr std::uint64_t kOutHead = 16;  // cycles and ns that the first thread counted

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::unique_ptr<KernelCalls> load_calls() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto calls = std::make_unique<KernelCalls>();
  const bool complete = resolve(library, "cuDevicePrimaryCtxRetain", calls->retain) &&
                        resolve(library, "cuDevicePrimaryCtxRelease_v2", calls->release) &&
                        resolve(library, "cuCtxSetCurrent", calls->set_current) &&
                        resolve(library, "cuModuleLoadData", calls->load) &&
                        resolve(library, "cuModuleUnload", calls->unload) &&
                        resolve(library, "cuModuleGetFunction", calls->function) &&
                        resolve(library, "cuLaunchKernel", calls->launch) &&
                        resolve(library, "cuMemAlloc_v2", calls->allocate) &&
                        resolve(library, "cuMemFree_v2", calls->free) &&
                        resolve(library, "cuMemGetInfo_v2", calls->memory) &&
                        resolve(library, "cuMemsetD8_v2", calls->set) &&
                        resolve(library, "cuMemcpyDtoH_v2", calls->get) &&
                        resolve(library, "cuEventCreate", calls->event) &&
                        resolve(library, "cuEventDestroy_v2", calls->destroy_event) &&
                        resolve(library, "cuEventRecord", calls->record) &&
                        resolve(library, "cuEventSynchronize", calls->wait) &&
                        (resolve(library, "cuEventElapsedTime_v2", calls->elapsed) ||
                         resolve(library, "cuEventElapsedTime", calls->elapsed)) &&
                        resolve(library, "cuGetErrorName", calls->error);
  (void)resolve(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", calls->occupancy);
  (void)resolve(library, "cuMemHostAlloc", calls->host_memory);
  (void)resolve(library, "cuMemFreeHost", calls->free_host);
  (void)resolve(library, "cuMemHostGetDevicePointer_v2", calls->address);
  (void)resolve(library, "cuCtxSynchronize", calls->wait_for_all);
  (void)resolve(library, "cuMemcpyHtoDAsync_v2", calls->to_device);
  (void)resolve(library, "cuMemcpyDtoHAsync_v2", calls->to_host);
  if (!complete) calls.reset();
  return calls;
}

}  // namespace

std::vector<DeviceInfo> RoofGpu::devices(std::string& why_not) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(name);
  const DriverCalls driver = load_driver(true);
  if (!driver.usable()) {
    why_not = driver.why_not;
    return {};
  }
  if (driver.init(0) != CUDA_SUCCESS) {
    why_not = "The NVIDIA driver found no GPU that can run kernels here.";
    return {};
  }
  std::vector<DeviceInfo> found = query_devices(driver, nullptr);
  if (found.empty()) why_not = "There is no GPU here that can run kernels.";
  return found;
}

RoofGpu::RoofGpu(const DeviceInfo& device) : device_(device), calls_(load_calls()) {
  if (calls_ == nullptr) {
    problem_ = "the driver lacks calls for it";
    return;
  }
  if (!good(calls_->retain(&context_, device_.id), "cuDevicePrimaryCtxRetain")) return;
  if (good(calls_->set_current(context_), "cuCtxSetCurrent") &&
      good(calls_->event(&begin_, 0), "cuEventCreate"))
    (void)good(calls_->event(&end_, 0), "cuEventCreate");
}

RoofGpu::~RoofGpu() {
  if (calls_ == nullptr || context_ == nullptr) return;
  unload();
  for (CUevent event : {begin_, end_}) {
    if (event != nullptr) calls_->destroy_event(event);
  }
  calls_->release(device_.id);
}

bool RoofGpu::good(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return true;
  const char* name = nullptr;
  calls_->error(code, &name);
  problem_ = std::string(call) + " failed: " + (name == nullptr ? "unknown error" : name);
  return false;
}

void RoofGpu::unload() {
  for (CUdeviceptr* memory : {&data_, &out_}) {
    if (*memory != 0) calls_->free(*memory);
    *memory = 0;
  }
  if (seen_ != nullptr) calls_->free_host(seen_);
  seen_ = nullptr;
  copies_ = CopyKind::other;
  if (module_ != nullptr) calls_->unload(module_);
  module_ = nullptr;
  kernel_ = nullptr;
}

// A power of two, so that a mask keeps accesses within; 0 where there is no room.
std::uint64_t RoofGpu::window_bytes(const RoofKernel& kernel) {
  std::uint64_t window = kL1Window;
  if (kernel.level == MemoryLevel::l2) window = std::bit_floor(device_.l2_bytes / 4);
  if (kernel.level == MemoryLevel::dram) {
    std::size_t free = 0, all = 0;
    if (!good(calls_->memory(&free, &all), "cuMemGetInfo")) return 0;
    window = std::min<std::uint64_t>(kDramWindow, std::bit_floor(free / 3));
    if (window < kTimesL2 * device_.l2_bytes) return 0;
  }
  // Half is read, half is written.
  return kernel.copies && kernel.level == MemoryLevel::l2 ? window / 2 : window;
}

// More blocks than an SM holds at once would leave it half empty at the end.
void RoofGpu::fit_blocks(const RoofKernel& kernel) {
  blocks_per_sm_ = kernel.blocks_per_sm;
  int at_once = 0;
  if (calls_->occupancy == nullptr ||
      calls_->occupancy(&at_once, function_, static_cast<int>(kernel.block), 0) != CUDA_SUCCESS ||
      at_once <= 0)
    return;
  blocks_per_sm_ = std::min(blocks_per_sm_, static_cast<unsigned>(at_once));
}

std::string RoofGpu::load(const RoofKernel& kernel) {
  unload();
  problem_.clear();
  window_ = 0;
  const auto threads =
      static_cast<std::uint64_t>(device_.sm_count) * kernel.blocks_per_sm * kernel.block;
  const auto give_up = [&] {
    unload();
    return problem_;
  };
  if (kernel.level != MemoryLevel::none) {
    window_ = window_bytes(kernel);
    if (!problem_.empty()) return give_up();
    if (window_ == 0) return "there is not enough free memory, or the size of the L2 is not known";
    const std::uint64_t windows = kernel.level == MemoryLevel::l1
                                      ? static_cast<std::uint64_t>(device_.sm_count)
                                      : (kernel.copies ? 2 : 1);
    if (!good(calls_->allocate(&data_, window_ * windows), "cuMemAlloc")) return give_up();
  }
  const std::uint64_t out_bytes = kOutHead + threads * 4;
  if (!good(calls_->allocate(&out_, out_bytes), "cuMemAlloc") ||
      !good(calls_->set(out_, 0, out_bytes), "cuMemsetD8") ||
      !good(calls_->load(&module_, kernel.ptx.c_str()), "cuModuleLoadData") ||
      !good(calls_->function(&function_, module_, kernel.symbol.c_str()), "cuModuleGetFunction"))
    return give_up();
  fit_blocks(kernel);
  kernel_ = &kernel;
  return {};
}

std::string RoofGpu::window() const {
  if (window_ == 0) return {};
  return window_ >= kMiB ? std::to_string(window_ / kMiB) + " MiB"
                         : std::to_string(window_ / 1024) + " KiB";
}

double RoofGpu::operations(std::uint32_t iterations) const {
  if (kernel_ == nullptr) return 0;
  return kernel_->operations * iterations * kernel_->block * blocks_per_sm_ * device_.sm_count;
}

std::optional<LaunchTime> RoofGpu::launch(std::uint32_t iterations) {
  if (kernel_ == nullptr) return std::nullopt;
  const unsigned blocks = blocks_per_sm_ * static_cast<unsigned>(device_.sm_count);
  const bool own = kernel_->level == MemoryLevel::l1;
  std::uint64_t block_bytes = own ? window_ : 0;
  std::uint64_t mask = window_ == 0 ? 0 : window_ - 1;
  std::uint64_t step = 16ULL * kernel_->block * (own ? 1 : blocks);
  std::array<void*, 6> arguments = {&data_, &out_, &block_bytes, &mask, &step, &iterations};
  float ms = 0;
  std::array<std::uint64_t, 2> counted = {};  // cycles, ns
  if (!good(calls_->record(begin_, nullptr), "cuEventRecord") ||
      !good(calls_->launch(function_, blocks, 1, 1, kernel_->block, 1, 1, 0, nullptr,
                           arguments.data(), nullptr),
            "cuLaunchKernel") ||
      !good(calls_->record(end_, nullptr), "cuEventRecord") ||
      !good(calls_->wait(end_), "cuEventSynchronize") ||
      !good(calls_->elapsed(&ms, begin_, end_), "cuEventElapsedTime") ||
      !good(calls_->get(counted.data(), out_, sizeof counted), "cuMemcpyDtoH"))
    return std::nullopt;
  LaunchTime time;
  time.seconds = ms * 1e-3;
  const auto [cycles, ns] = counted;
  if (cycles > 0 && ns >= kLeastTimerNs)
    time.clock_hz = static_cast<double>(cycles) / static_cast<double>(ns) * 1e9;
  return time;
}

double RoofGpu::copied_bytes(std::uint32_t times) {
  return static_cast<double>(kCopiedBytes) * times;
}

std::string RoofGpu::load_copies(CopyKind kind) {
  unload();
  problem_.clear();
  window_ = 0;
  if (calls_->host_memory == nullptr || calls_->free_host == nullptr ||
      calls_->to_device == nullptr || calls_->to_host == nullptr)
    return "the driver lacks calls for it";
  if (good(calls_->allocate(&data_, kCopiedBytes), "cuMemAlloc") &&
      good(calls_->host_memory(&seen_, kCopiedBytes, 0), "cuMemHostAlloc")) {
    std::memset(seen_, 1, kCopiedBytes);
    copies_ = kind;
    window_ = kCopiedBytes;
    return {};
  }
  const std::string problem = problem_;
  unload();
  return problem;
}

std::optional<double> RoofGpu::copy(std::uint32_t times) {
  const bool to_device = copies_ == CopyKind::host_to_device;
  if (!to_device && copies_ != CopyKind::device_to_host) return std::nullopt;
  if (!good(calls_->record(begin_, nullptr), "cuEventRecord")) return std::nullopt;
  for (std::uint32_t i = 0; i < times; ++i) {
    const CUresult code = to_device ? calls_->to_device(data_, seen_, kCopiedBytes, nullptr)
                                    : calls_->to_host(seen_, data_, kCopiedBytes, nullptr);
    if (!good(code, to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync")) return std::nullopt;
  }
  float ms = 0;
  if (!good(calls_->record(end_, nullptr), "cuEventRecord") ||
      !good(calls_->wait(end_), "cuEventSynchronize") ||
      !good(calls_->elapsed(&ms, begin_, end_), "cuEventElapsedTime"))
    return std::nullopt;
  return ms * 1e-3;
}

DeviceLinks RoofGpu::links() const {
  Nvml nvml;
  nvml.find();
  return nvml.open() ? nvml.links(device_.id) : DeviceLinks();
}

std::string RoofGpu::load_latency() {
  unload();
  problem_.clear();
  if (calls_->host_memory == nullptr || calls_->free_host == nullptr ||
      calls_->address == nullptr || calls_->wait_for_all == nullptr)
    return "the driver lacks calls for it";
  if (good(calls_->host_memory(&seen_, sizeof(std::uint32_t), CU_MEMHOSTALLOC_DEVICEMAP),
           "cuMemHostAlloc") &&
      good(calls_->address(&address_, seen_, 0), "cuMemHostGetDevicePointer") &&
      good(calls_->load(&module_, latency_ptx()), "cuModuleLoadData") &&
      good(calls_->function(&function_, module_, kLatencyKernel), "cuModuleGetFunction")) {
    *static_cast<std::uint32_t*>(seen_) = launched_ = 0;
    return {};
  }
  const std::string problem = problem_;
  unload();
  return problem;
}

std::optional<double> RoofGpu::launch_latency() {
  using Clock = std::chrono::steady_clock;
  if (seen_ == nullptr || !good(calls_->wait_for_all(), "cuCtxSynchronize")) return std::nullopt;
  std::uint32_t number = ++launched_;
  std::array<void*, 2> arguments = {&address_, &number};
  const std::atomic_ref<std::uint32_t> seen(*static_cast<std::uint32_t*>(seen_));
  const auto begin = Clock::now();
  if (!good(calls_->launch(function_, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr),
            "cuLaunchKernel"))
    return std::nullopt;
  auto end = Clock::now();
  for (; seen.load(std::memory_order_acquire) != number; end = Clock::now()) {
    if (end - begin < kLongestLatency) continue;
    problem_ = "its kernel did not write to the host's memory";
    return std::nullopt;
  }
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

}  // namespace gable
