// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/truth/gemm.h"

#include <nvtx3/nvToolsExt.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/gpu/driver.h"
#include "tests/gpu/truth/cublas.h"

namespace gable::truth {
namespace {

// Of cublas_api.h and library_types.h, which this is built without.
enum DataType { kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14, kFloat8 = 28 };
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
    {"fp8_4096", kFloat8, kCompute32, "flops.tensor.fp8", 4096, 1.0},
    {"fp8_4000", kFloat8, kCompute32, "flops.tensor.fp8", 4000, 1.15},
};

void expect(const Gemm& gemm) {
  const double size = gemm.size, work = 2 * size * size * size;
  const nlohmann::ordered_json json = {{"row", "layer"},
                                       {"name", gemm.name},
                                       {"quantity", gemm.quantity},
                                       {"kind", "between"},
                                       {"value", work},
                                       {"high", work * gemm.high},
                                       {"why", "2 m n k, and padding of the tiles"}};
  std::printf("%s\n", json.dump().c_str());
}

// cublasGemmEx, which takes no FP8: those products are cuBLASLt's.
class Products {
 public:
  Products(gpu::Gpu& gpu, void* cublas)
      : a_(gpu.memory(kBytes)), b_(gpu.memory(kBytes)), c_(gpu.memory(kBytes)) {
    if (call_of<Create>(cublas, "cublasCreate_v2")(&handle_) != 0)
      throw gpu::Failed("cublasCreate_v2 failed.");
    gemm_ex_ = call_of<GemmEx>(cublas, "cublasGemmEx");
  }
  // cuBLAS's status; 0 is good.
  [[nodiscard]] int run(const Gemm& gemm) {
    if (gemm.type == kFloat8) {
      float8_.resize(std::max<std::size_t>(float8_.size(), 2));
      auto& product = float8_[gemm.size == 4096 ? 0 : 1];
      if (product == nullptr) product = std::make_unique<Float8Product>(gemm.size);
      return product->run(a_, b_, c_);
    }
    const bool wide = gemm.type == kReal64;
    static const float one = 1, zero = 0;
    static const double one_wide = 1, zero_wide = 0;
    const void* alpha = wide ? static_cast<const void*>(&one_wide) : &one;
    const void* beta = wide ? static_cast<const void*>(&zero_wide) : &zero;
    return gemm_ex_(handle_, kTranspose, kNoTranspose, gemm.size, gemm.size, gemm.size, alpha,
                    reinterpret_cast<const void*>(a_), gemm.type, gemm.size,
                    reinterpret_cast<const void*>(b_), gemm.type, gemm.size, beta,
                    reinterpret_cast<void*>(c_), gemm.type, gemm.size, gemm.compute,
                    kDefaultAlgorithm);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{8} * 4096 * 4096;
  Handle handle_ = nullptr;
  GemmEx* gemm_ex_ = nullptr;
  CUdeviceptr a_, b_, c_;
  std::vector<std::unique_ptr<Float8Product>> float8_;
};

}  // namespace

int run_gemms(int steps) {
  void* const cublas =
      std::getenv("GABLE_PLAYBACK") != nullptr ? nullptr : open_cublas("libcublas");
  if (cublas == nullptr) {
    std::puts("{\"skipped\":\"there is no libcublas here\"}");
    return 77;
  }
  gpu::Gpu gpu;
  Products products(gpu, cublas);
  std::vector<const Gemm*> work;
  for (const Gemm& gemm : kGemms) {
    if (gemm.type == kFloat8 && gpu.capability() < 89) continue;
    if (const int code = products.run(gemm); code != 0) {
      std::fprintf(stderr, "gable_truth: cuBLAS answers %d to %s\n", code, gemm.name);
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
      (void)products.run(*gemm);
      nvtxRangePop();
    }
    gpu.wait();
    nvtxRangePop();
  }
  return 0;
}

}  // namespace gable::truth
