// SPDX-License-Identifier: Apache-2.0
// The CUDA driver for programs of the proof: opened at run time, so that they build and start
// without a toolkit. What fails throws Failed with one sentence.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gable::gpu {

struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] void* driver_symbol(const char* name);  // throws when the driver has it not
void good(CUresult result, const char* call);

template <class Function>
Function* driver_call(const char* name) {
  return reinterpret_cast<Function*>(driver_symbol(name));
}

#define GABLE_TEXT_OF(x) #x
#define GABLE_NAME_OF(x) GABLE_TEXT_OF(x)
// The header maps some names to versioned ones (cuMemAlloc is cuMemAlloc_v2): the mapped name is
// what the driver exports.
#define GABLE_CU_RESULT(function, ...) \
  gable::gpu::driver_call<decltype(function)>(GABLE_NAME_OF(function))(__VA_ARGS__)
#define GABLE_CU(function, ...) gable::gpu::good(GABLE_CU_RESULT(function, __VA_ARGS__), #function)

struct Shape {
  unsigned grid = 1, block = 1;
  CUstream stream = nullptr;
  unsigned shared = 0;
};

// The first device with its primary context current.
class Gpu {
 public:
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] CUcontext context() const { return context_; }
  [[nodiscard]] int attribute(CUdevice_attribute which) const;
  [[nodiscard]] int capability() const;  // 9.0 is 90
  // A kernel of a module, which is loaded once for each text.
  [[nodiscard]] CUfunction kernel(const std::string& ptx, const char* name);
  // Filled with bytes of 1; freed at the end.
  [[nodiscard]] CUdeviceptr memory(std::size_t bytes);
  [[nodiscard]] std::size_t free_memory() const;
  void wait() const;
  // From an event before the work to one after it.
  [[nodiscard]] double event_ns(const std::function<void()>& work) const;

  template <class... Arguments>
  CUresult try_launch(CUfunction kernel, const Shape& shape, Arguments... arguments) const {
    void* pointers[] = {&arguments...};
    return GABLE_CU_RESULT(cuLaunchKernel, kernel, shape.grid, 1, 1, shape.block, 1, 1,
                           shape.shared, shape.stream, pointers, nullptr);
  }
  template <class... Arguments>
  void launch(CUfunction kernel, const Shape& shape, Arguments... arguments) const {
    good(try_launch(kernel, shape, arguments...), "cuLaunchKernel");
  }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::map<std::string, CUmodule> modules_;
  std::vector<CUdeviceptr> memory_;
  CUevent begin_ = nullptr, end_ = nullptr;
};

[[nodiscard]] double median(std::vector<double> values);  // NaN of none

}  // namespace gable::gpu
