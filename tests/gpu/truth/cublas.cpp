// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/truth/cublas.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace gable::truth {
namespace {

// Of cublasLt.h and library_types.h, which this is built without.
constexpr int kReal32 = 0, kBrain16 = 14, kFloat8E4M3 = 28, kCompute32 = 68, kTransposed = 1;
constexpr int kTransposeA = 3;  // CUBLASLT_MATMUL_DESC_TRANSA

using CreateHandle = int(void**);
using CreateProduct = int(void**, int compute, int scale);
using SetProduct = int(void*, int attribute, const void*, std::size_t);
using CreateLayout = int(void**, int type, std::uint64_t rows, std::uint64_t columns,
                         std::int64_t leading);
using CreatePreference = int(void**);
using Choose = int(void*, void*, void*, void*, void*, void*, void*, int, void*, int*);
using Multiply = int(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                     const void*, void*, void*, void*, const void*, void*, std::size_t, void*);

}  // namespace

void* open_cublas(const std::string& name) {
  std::vector<std::string> folders = {"", "/usr/local/cuda/lib64/"};
  if (const char* path = std::getenv("GABLE_PROVE_CUBLAS")) {
    const std::string file = path;
    folders.insert(folders.begin(), file.substr(0, file.rfind('/') + 1));
  }
  for (const std::string& folder : folders) {
    for (const char* major : {".so.13", ".so.12"}) {
      if (void* library = dlopen((folder + name + major).c_str(), RTLD_NOW | RTLD_GLOBAL))
        return library;
    }
  }
  return nullptr;
}

Float8Product::Float8Product(int size) : library_(open_cublas("libcublasLt")) {
  if (library_ == nullptr) {
    status_ = -1;
    return;
  }
  const auto wide = static_cast<std::uint64_t>(size);
  const auto layout = [&](void** made, int type) {
    return call_of<CreateLayout>(library_, "cublasLtMatrixLayoutCreate")(made, type, wide, wide,
                                                                         size);
  };
  void* preference = nullptr;
  int found = 0;
  const std::vector<int> answers = {
      call_of<CreateHandle>(library_, "cublasLtCreate")(&handle_),
      call_of<CreateProduct>(library_, "cublasLtMatmulDescCreate")(&product_, kCompute32, kReal32),
      // FP8 takes the first matrix transposed alone.
      call_of<SetProduct>(library_, "cublasLtMatmulDescSetAttribute")(product_, kTransposeA,
                                                                      &kTransposed, sizeof(int)),
      layout(&in_, kFloat8E4M3), layout(&out_, kBrain16),
      call_of<CreatePreference>(library_, "cublasLtMatmulPreferenceCreate")(&preference),
      call_of<Choose>(library_, "cublasLtMatmulAlgoGetHeuristic")(
          handle_, product_, in_, in_, out_, out_, preference, 1, &choice_, &found)};
  for (const int answer : answers) {
    if (status_ == 0) status_ = answer;
  }
  if (status_ == 0 && found == 0) status_ = -1;
}

int Float8Product::run(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
  if (status_ != 0) return status_;
  static const float one = 1, zero = 0;
  return call_of<Multiply>(library_, "cublasLtMatmul")(
      handle_, product_, &one, reinterpret_cast<const void*>(a), in_,
      reinterpret_cast<const void*>(b), in_, &zero, reinterpret_cast<const void*>(c), out_,
      reinterpret_cast<void*>(c), out_, choice_.algorithm, nullptr, 0, nullptr);
}

}  // namespace gable::truth
