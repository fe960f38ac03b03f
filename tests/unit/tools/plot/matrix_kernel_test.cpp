// SPDX-License-Identifier: Apache-2.0
// Which kernels multiply matrices: by name, by tensor cores, by their layer's operators.
#include "tools/plot/matrix_kernel.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(MatrixKernel, Names) {
  for (const char* name :
       {"ampere_sgemm_128x64_nn", "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwc",
        "nvjet_tst_128x256_64x4_2x1_v_bz_TNN", "volta_scudnn_128x64_relu_small_nn_v1",
        "cudnn::cnn::wgrad2d_grouped_direct_kernel", "flash_fwd_kernel<Flash_fwd_kernel_traits>",
        "fmha_cutlassF_f16_aligned_64x64_rf_sm80", "implicit_convolve_sgemm", "conv2d_naive",
        "cutlass_80_tensorop_f16_s16816gemm", "batched_matmul", "convert_conv"})
    EXPECT_TRUE(names_matrix_product(name)) << name;
  for (const char* name :
       {"integrateBodies<float>", "LSTM_elementWise_fp<float>", "lstm_cell_forward",
        "vectorized_elementwise_kernel<4, GeluFunctor>", "convertTensor_kernel",
        "conv_depthwise2d_forward_kernel", "cunn_SoftMaxForward", "transpose_kernel",
        "nchwToNhwcKernel", "reduce_kernel", "conversion", ""})
    EXPECT_FALSE(names_matrix_product(name)) << name;
}

TEST(MatrixKernel, TensorCoresAndFormulasTellToo) {
  KernelRow kernel;
  kernel.name = "mine";
  kernel.launches = 2;
  kernel.flops.total = kernel.flops.fp32 = 100;
  EXPECT_FALSE(is_matrix_kernel(kernel, nullptr));
  LayerRow layer;
  EXPECT_FALSE(is_matrix_kernel(kernel, &layer));
  layer.model.emplace().self.flops = 400;  // half of what the layer's products have to do
  EXPECT_TRUE(is_matrix_kernel(kernel, &layer));
  layer.model->self.flops = 401;
  EXPECT_FALSE(is_matrix_kernel(kernel, &layer));
  layer.model->self.flops = 0;  // its operators multiply nothing
  EXPECT_FALSE(is_matrix_kernel(kernel, &layer));
  layer.model->self.flops.reset();
  EXPECT_FALSE(is_matrix_kernel(kernel, &layer));
  layer.model->self.flops = 0.5;
  EXPECT_TRUE(is_matrix_kernel(kernel, &layer));
  kernel.flops.total.reset();  // not counted
  EXPECT_FALSE(is_matrix_kernel(kernel, &layer));
  kernel.flops.tensor["tf32"] = 0;
  kernel.flops.tensor["fp8"] = std::nullopt;
  EXPECT_FALSE(is_matrix_kernel(kernel, nullptr));
  kernel.flops.tensor["bf16"] = 1;
  EXPECT_TRUE(is_matrix_kernel(kernel, nullptr));
  kernel.flops.tensor.clear();
  kernel.name = "ampere_sgemm_128x64_nn";
  EXPECT_TRUE(is_matrix_kernel(kernel, nullptr));
}

}  // namespace
}  // namespace gable
