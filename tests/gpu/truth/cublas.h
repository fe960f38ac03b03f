// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cuBLASLt, opened where they are.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>
#include <string>

#include "tests/gpu/driver.h"

namespace gable::truth {

// "libcublas" or "libcublasLt": below GABLE_PROVE_CUBLAS, which names a libcublas, on the loader's
// path, or in a toolkit. Null where there is none.
[[nodiscard]] void* open_cublas(const std::string& name);

template <class Function>
Function* call_of(void* library, const char* name) {
  auto* found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) throw gpu::Failed(std::string("cuBLAS has no ") + name + ".");
  return found;
}

// A square product of FP8 (e4m3) with BF16 results, by cuBLASLt.
class Float8Product {
 public:
  explicit Float8Product(int size);
  // cuBLAS's status; 0 is good.
  [[nodiscard]] int run(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c);

 private:
  // cublasLtMatmulHeuristicResult_t of cublasLt.h.
  struct Choice {
    unsigned long long algorithm[8];
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
  };
  void* library_ = nullptr;
  void *handle_ = nullptr, *product_ = nullptr, *in_ = nullptr, *out_ = nullptr;
  Choice choice_{};
  int status_ = 0;  // of making it
};

}  // namespace gable::truth
