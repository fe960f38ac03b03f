// SPDX-License-Identifier: Apache-2.0
// Kernels that multiply matrices: products, convolutions and attention. They alone can use tensor
// cores, and they alone compute faster in another precision of them.
#pragma once

#include <string_view>

#include "analysis/report/report.h"

namespace gable {

// Whether a name of cuBLAS, cuDNN, CUTLASS, Triton's templates or flash attention is a matrix
// product's. Depthwise convolutions are not: they reuse nothing.
[[nodiscard]] bool names_matrix_product(std::string_view kernel_name);

// It worked on tensor cores, or is named so, or does most of what the formulas of its layer's
// operators say; those are of matrix products, convolutions and attention alone. `layer` may be
// null.
[[nodiscard]] bool is_matrix_kernel(const KernelRow& kernel, const LayerRow* layer);

}  // namespace gable
