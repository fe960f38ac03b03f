// SPDX-License-Identifier: Apache-2.0
#include "tools/show/shortened_names.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/base/display.h"

namespace gable {
namespace {

using Names = std::vector<std::string>;

TEST(ShortenedNames, WhatFitsStays) {
  EXPECT_EQ(shortened_names({"a/b", "a/c"}, 3), (Names{"a/b", "a/c"}));
}

TEST(ShortenedNames, NamesThatStayDifferentAreShortenedInTheMiddle) {
  EXPECT_EQ(shortened_names({"ResNet/layer1/0/conv1", "UNet_/layer1/0/conv2"}, 13),
            (Names{"ResN\u2026/0/conv1", "UNet\u2026/0/conv2"}));
  EXPECT_EQ(shortened_names({"ResNet/layer1/0/conv1", "ResNet/layer1/0/conv2"}, 13),
            (Names{"\u2026/0/conv1", "\u2026/0/conv2"}))
      << "all begin alike";
}

TEST(ShortenedNames, NamesThatWouldLookAlikeShowWhereTheyDiffer) {
  const std::string seven = "Model/decoder/layers.7/feed_forward/linear",
                    twelve = "Model/decoder/layers.12/feed_forward/linear";
  EXPECT_EQ(shortened_names({seven, twelve, seven}, 22),
            (Names{"\u2026layers.7\u2026/linear", "\u2026layers.12\u2026/linear",
                   "\u2026layers.7\u2026/linear"}));
  EXPECT_EQ(shortened_names({seven, twelve}, 12),
            (Names{"\u20267\u2026rd/linear", "\u202612\u2026d/linear"}));
  // One part of the path that is longer than the column.
  const std::string head(60, 'x'), tail(60, 'y');
  EXPECT_EQ(shortened_names({head + "one" + tail, head + "two" + tail}, 8),
            (Names{"\u2026oneyyy\u2026", "\u2026twoyyy\u2026"}));
  // One is the other's beginning.
  EXPECT_EQ(shortened_names({head + tail, head + tail + tail}, 8).size(), 2u);
}

TEST(ShortenedNames, OfKernelsTheFunctionAndTheGridStay) {
  const std::string kernel = "void cudnn::bn_fw_kernel<float, int, 512>(float*, int) <<<64, 512>>>";
  EXPECT_EQ(shortened_names({kernel}, 36),
            (Names{"\u2026bn_fw_kernel<float,\u2026 <<<64, 512>>>"}));
  EXPECT_EQ(shortened_names({kernel}, 28), (Names{"\u2026bn_fw_kernel\u2026 <<<64, 512>>>"}));
  EXPECT_EQ(shortened_names({kernel}, 20), (Names{"\u2026bn_fw_kernel<float\u2026"}));
  EXPECT_EQ(shortened_names({"void (anonymous namespace)::softmax_warp(float*, float const*)"}, 18),
            (Names{"\u2026softmax_warp(\u2026"}));
}

TEST(ShortenedNames, OfKernelsWithOneFunctionTheDifferenceStays) {
  const std::string begin = "void at::native::vectorized_kernel<4, at::native::",
                    end = "<float>, std::array<char*, 3ul>>(int, float)";
  EXPECT_EQ(shortened_names({begin + "AddFunctor" + end, begin + "MulFunctor" + end}, 32),
            (Names{"\u2026vectorized_kernel<4\u2026AddFunctor\u2026",
                   "\u2026vectorized_kernel<4\u2026MulFunctor\u2026"}));
  // The same kernel by two grids, where a grid is too long.
  EXPECT_EQ(
      shortened_names(
          {"convolve_sgemm <<<98x8, 8x32, 49152>>>", "convolve_sgemm <<<98x2, 8x32, 49152>>>"}, 22),
      (Names{"convolve_sgemm\u202698x8\u2026", "convolve_sgemm\u202698x2\u2026"}));
  // A name that is one long word.
  const Names gemms =
      shortened_names({"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3",
                       "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3"},
                      36);
  EXPECT_NE(gemms[0].find("32x32x8"), std::string::npos) << gemms[0];
  EXPECT_NE(gemms[1].find("64x64x8"), std::string::npos) << gemms[1];
  EXPECT_TRUE(gemms[0].starts_with("sm80_xmma")) << gemms[0];
}

TEST(ShortenedNames, OfOperatorsTheSizesThatDifferStay) {
  EXPECT_EQ(shortened_names({"aten::conv2d [32, 64, 56, 56] [64, 64, 3, 3]",
                             "aten::conv2d [32, 64, 56, 56] [256, 64, 1, 1]"},
                            24),
            (Names{"\u2026conv2d [32, 64, 56,\u20263\u2026",
                   "\u2026conv2d [32, 64,\u2026256\u20261\u2026"}));
}

TEST(ShortenedNames, AreNeverWiderThanTheColumn) {
  for (std::size_t columns = 0; columns < 40; ++columns)
    for (const std::string& each :
         shortened_names({"層/層層1層層/層層層", "層/層層2層層/層層層", "層/層層/層層層",
                          "aaaa/bbbb1/cccc/dddd", "aaaa/bbbb2/cccc/dddd"},
                         columns)) {
      EXPECT_LE(display_width(each), columns);
      EXPECT_EQ(one_line(each), each) << "whole characters";
    }
}

}  // namespace
}  // namespace gable
