// SPDX-License-Identifier: Apache-2.0
// Kernels that only rearrange or convert data instead of computing, by their names in PyTorch,
// cuDNN and cuBLAS; any other kernel is `other`.
#pragma once

#include <string_view>

namespace gable {

enum class KernelKind { other, layout, cast, padding, copy };

[[nodiscard]] KernelKind kind_of_kernel(std::string_view name);

// "layout_conversion", "cast", "padding", "copy": the flag in a report; empty for `other`.
[[nodiscard]] std::string_view flag_of(KernelKind kind);
// "layout conversions" …, for people.
[[nodiscard]] std::string_view words_for(KernelKind kind);

}  // namespace gable
