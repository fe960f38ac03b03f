// SPDX-License-Identifier: Apache-2.0
// Names of phases, directions and copies as reports have them, and kinds of kernels by their names.
#include <gtest/gtest.h>

#include "analysis/events/events.h"
#include "analysis/events/kernel_kind.h"

namespace gable {
namespace {

TEST(NamesOf, PhasesDirectionsAndCopies) {
  EXPECT_EQ(to_string(Phase{PhaseKind::hw, 0}), "hw:1");
  EXPECT_EQ(to_string(Phase{PhaseKind::hw, 11}), "hw:12");
  for (const auto& [kind, name] : {std::pair{PhaseKind::off, "off"},
                                   {PhaseKind::wait, "wait"},
                                   {PhaseKind::warmup, "warmup"},
                                   {PhaseKind::flops, "flops"},
                                   {PhaseKind::time, "time"}})
    EXPECT_EQ(to_string(Phase{kind, 0}), name);
  for (const auto& [direction, name] : {std::pair{Direction::none, "none"},
                                        {Direction::forward, "forward"},
                                        {Direction::backward, "backward"},
                                        {Direction::recompute, "recompute"}})
    EXPECT_EQ(to_string(direction), name);
  for (const auto& [kind, name] : {std::pair{CopyKind::host_to_device, "host_to_device"},
                                   {CopyKind::device_to_host, "device_to_host"},
                                   {CopyKind::device_to_device, "device_to_device"},
                                   {CopyKind::peer, "peer"},
                                   {CopyKind::memset, "memset"},
                                   {CopyKind::other, "other"}})
    EXPECT_EQ(to_string(kind), name);
}

TEST(NamesOf, KernelsThatMoveData) {
  struct Case {
    const char *kernel, *flag;
  };
  for (const Case& each :
       {Case{"void cudnn::ops::nchwToNhwcKernel<float>", "layout_conversion"},
        {"nhwcToNchwKernel", "layout_conversion"},
        {"nchw2nhwc", "layout_conversion"},
        {"nhwc2nchw", "layout_conversion"},
        {"batched_transpose_32x32", "layout_conversion"},
        {"permuteKernel", "layout_conversion"},
        {"convertTensor_kernel", "cast"},
        {"at::native::bfloat16_copy_kernel_cuda", "cast"},
        {"float8_copy_kernel_cuda", "cast"},
        {"unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast<1>>", "cast"},
        {"constant_pad_nd", "padding"},
        {"reflection_pad2d_out_kernel", "padding"},
        {"replication_pad_forward", "padding"},
        {"padTensor", "padding"},
        {"direct_copy_kernel_cuda", "copy"},
        {"CatArrayBatchedCopy_aligned16_contig", "copy"},
        {"copy_device_to_device", "copy"},
        {"sgemm_transpose", ""},
        {"conv_transpose2d", ""},
        {"implicit_convolution_nchwToNhwc", ""},
        {"relu", ""}})
    EXPECT_EQ(flag_of(kind_of_kernel(each.kernel)), each.flag) << each.kernel;
  EXPECT_EQ(words_for(KernelKind::layout), "layout conversions");
  EXPECT_EQ(words_for(KernelKind::cast), "casts");
  EXPECT_EQ(words_for(KernelKind::padding), "padding");
  EXPECT_EQ(words_for(KernelKind::copy), "copies by kernels");
  EXPECT_EQ(words_for(KernelKind::other), "");
}

}  // namespace
}  // namespace gable
