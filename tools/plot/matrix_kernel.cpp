// SPDX-License-Identifier: Apache-2.0
#include "tools/plot/matrix_kernel.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "analysis/events/kernel_kind.h"

namespace gable {
namespace {

// In lower case.
constexpr std::array<std::string_view, 19> kWords = {
    "gemm",  "matmul", "xmma",     "_mma",     "cutlass",     "nvjet", "scudnn",
    "wgrad", "dgrad",  "fprop",    "winograd", "fmha",        "flash", "attention",
    "bmm",   "syrk",   "conv_fwd", "conv_bwd", "implicit_con"};

// "conv2d" and "convolve", and not "convert" or "conversion".
bool names_convolution(const std::string& lower) {
  for (std::size_t at = lower.find("conv"); at != std::string::npos;
       at = lower.find("conv", at + 1)) {
    const std::string_view rest = std::string_view(lower).substr(at + 4);
    if (!rest.starts_with("er")) return true;
  }
  return false;
}

}  // namespace

bool names_matrix_product(std::string_view kernel_name) {
  std::string lower(kernel_name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (kind_of_kernel(kernel_name) != KernelKind::other) return false;
  for (const char* none : {"depthwise", "softmax", "elementwise"}) {
    if (lower.find(none) != std::string::npos) return false;
  }
  return names_convolution(lower) || std::any_of(kWords.begin(), kWords.end(), [&](auto word) {
           return lower.find(word) != std::string::npos;
         });
}

bool is_matrix_kernel(const KernelRow& kernel, const LayerRow* layer) {
  const auto& tensor = kernel.flops.tensor;
  if (std::any_of(tensor.begin(), tensor.end(),
                  [](const auto& each) { return each.second.value_or(0) > 0; }))
    return true;
  if (names_matrix_product(kernel.name)) return true;
  if (layer == nullptr || !layer->model || !kernel.flops.total) return false;
  const double formula = layer->model->self.flops.value_or(0);
  return formula > 0 && *kernel.flops.total * kernel.launches >= formula / 2;
}

}  // namespace gable
