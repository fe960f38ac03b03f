// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/truth/gemm.h"

#include <dlfcn.h>

#include <nvtx3/nvToolsExt.h>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/gpu/driver.h"

namespace gable::truth {
namespace {

// Of cublas_api.h and library_types.h, which this is built without.
enum DataType { kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14, kFloat8E4M3 = 28 };
enum ComputeType { kCompute32 = 68, kCompute64 = 70, kCompute32Tf32 = 77 };
constexpr int kNoTranspose = 0, kTranspose = 1, kDefaultAlgorithm = -1;
using Handle = void*;
using Create = int(Handle*);
using GemmEx = int(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*,
                   int, int, const void*, void*, int, int, int, int);

struct Gemm {
  const char* name;
  DataType type;
  ComputeType compute;
  const char* quantity;  // where the report shows its work
  int size;
  double high;  // tiles that reach beyond the matrix do more
};

// 4000 is no multiple of the tiles: they are padded.
constexpr Gemm kGemms[] = {
    {"fp64_4096", kReal64, kCompute64, "flops.total", 4096, 1.01},
    {"fp32_4096", kReal32, kCompute32, "flops.fp32", 4096, 1.01},
    {"fp32_4000", kReal32, kCompute32, "flops.fp32", 4000, 1.15},
    {"tf32_4096", kReal32, kCompute32Tf32, "flops.tensor.tf32", 4096, 1.0},
    {"tf32_4000", kReal32, kCompute32Tf32, "flops.tensor.tf32", 4000, 1.15},
    {"bf16_4096", kBrain16, kCompute32, "flops.tensor.bf16", 4096, 1.0},
    {"bf16_4000", kBrain16, kCompute32, "flops.tensor.bf16", 4000, 1.15},
    {"fp16_4096", kReal16, kCompute32, "flops.tensor.fp16", 4096, 1.0},
    {"fp16_4000", kReal16, kCompute32, "flops.tensor.fp16", 4000, 1.15},
};

void* open_cublas() {
  std::vector<std::string> names;
  if (const char* path = std::getenv("GABLE_PROVE_CUBLAS")) names.emplace_back(path);
  for (const char* name :
       {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
        "/usr/local/cuda/lib64/libcublas.so.12"})
    names.emplace_back(name);
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

template <class Function>
Function* call_of(void* library, const char* name) {
  auto* found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) throw gpu::Failed(std::string("cuBLAS has no ") + name + ".");
  return found;
}

void expect(const Gemm& gemm) {
  const double size = gemm.size, work = 2 * size * size * size;
  nlohmann::ordered_json json = {{"row", "layer"},
                                 {"name", gemm.name},
                                 {"quantity", gemm.quantity},
                                 {"kind", "between"},
                                 {"value", work},
                                 {"high", work * gemm.high},
                                 {"why", "2 m n k, and padding of the tiles"}};
  std::printf("%s\n", json.dump().c_str());
}

}  // namespace

int run_gemms(int steps) {
  void* const cublas = std::getenv("GABLE_PLAYBACK") != nullptr ? nullptr : open_cublas();
  if (cublas == nullptr) {
    std::puts("{\"skipped\":\"there is no libcublas here\"}");
    return 77;
  }
  gpu::Gpu gpu;
  Handle handle = nullptr;
  if (call_of<Create>(cublas, "cublasCreate_v2")(&handle) != 0)
    throw gpu::Failed("cublasCreate_v2 failed.");
  auto* const gemm_ex = call_of<GemmEx>(cublas, "cublasGemmEx");
  const std::size_t bytes = std::size_t{8} * 4096 * 4096;
  const CUdeviceptr a = gpu.memory(bytes), b = gpu.memory(bytes), c = gpu.memory(bytes);
  const float one = 1, zero = 0;
  const double one_wide = 1, zero_wide = 0;
  std::vector<const Gemm*> work;
  const auto run = [&](const Gemm& gemm) {
    const bool wide = gemm.type == kReal64;
    const void* alpha = wide ? static_cast<const void*>(&one_wide) : &one;
    const void* beta = wide ? static_cast<const void*>(&zero_wide) : &zero;
    return gemm_ex(handle, kTranspose, kNoTranspose, gemm.size, gemm.size, gemm.size, alpha,
                   reinterpret_cast<const void*>(a), gemm.type, gemm.size,
                   reinterpret_cast<const void*>(b), gemm.type, gemm.size, beta,
                   reinterpret_cast<void*>(c), gemm.type, gemm.size, gemm.compute,
                   kDefaultAlgorithm);
  };
  for (const Gemm& gemm : kGemms) {
    if (const int code = run(gemm); code != 0) {
      std::fprintf(stderr, "gable_truth: cublasGemmEx of %s answers %d\n", gemm.name, code);
      continue;
    }
    expect(gemm);
    work.push_back(&gemm);
  }
  gpu.wait();
  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("step");
    for (const Gemm* gemm : work) {
      nvtxRangePushA(gemm->name);
      (void)run(*gemm);
      nvtxRangePop();
    }
    gpu.wait();
    nvtxRangePop();
  }
  return 0;
}

}  // namespace gable::truth
