// SPDX-License-Identifier: Apache-2.0
// Work of PyTorch's operators by formula, with sizes that are all different: a wrong one shows.
#include "tools/import/kineto/operator_work.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

using Sizes = std::vector<std::vector<std::int64_t>>;

TraceEvent event_of(const char* name, Sizes dims, const char* type = "float") {
  TraceEvent event;
  event.name = name;
  event.dims = std::move(dims);
  event.types = {"", type};
  return event;
}

OperatorFormula work_of(const TraceEvent& event) {
  const auto result = operator_work(event);
  EXPECT_TRUE(result.counts) << event.name;
  EXPECT_TRUE(result.work) << event.name;
  EXPECT_FALSE(result.pending) << event.name;
  return result.work.value_or(OperatorFormula{});
}

TEST(OperatorWork, Products) {
  auto work = work_of(event_of("aten::mm", {{3, 5}, {5, 7}}));
  EXPECT_EQ(work.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 4.0 * (15 + 35 + 21));
  EXPECT_EQ(work.type, "fp32");
  work = work_of(event_of("aten::bmm", {{2, 3, 5}, {2, 5, 7}}, "c10::Half"));
  EXPECT_EQ(work.flops, 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 2.0 * 2 * (15 + 35 + 21));
  EXPECT_EQ(work.type, "fp16");
  for (const char* name : {"aten::addmm", "aten::addmm_"}) {
    work = work_of(event_of(name, {{7}, {3, 5}, {5, 7}}, "double"));
    EXPECT_EQ(work.flops, 2 * 3 * 5 * 7);
    EXPECT_EQ(work.bytes, 8.0 * (7 + 15 + 35 + 21));
    EXPECT_EQ(work.type, "fp64");
  }
  work = work_of(event_of("aten::baddbmm", {{2, 3, 7}, {2, 3, 5}, {2, 5, 7}}, "c10::BFloat16"));
  EXPECT_EQ(work.flops, 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 2.0 * (42 + 2 * (15 + 35 + 21)));
  EXPECT_EQ(work.type, "bf16");
  EXPECT_EQ(work_of(event_of("aten::mm", {{3, 5}, {5, 7}}, "c10::Float8_e4m3fn")).bytes, 71.0);
  EXPECT_EQ(work_of(event_of("aten::mm", {{3, 5}, {5, 7}}, "c10::complex<float>")).type, "");
}

TEST(OperatorWork, SizesThatDoNotFitGiveNone) {
  for (const Sizes& sizes : {Sizes{{3, 5}, {6, 7}},
                             {{3, 5}},
                             {},
                             {{5}, {5, 7}},
                             {{5}, {5}},
                             {{3, 5}, {2, 5, 7}},
                             {{1, 2, 3, 5}, {1, 2, 5, 7}}}) {
    const auto result = operator_work(event_of("aten::mm", sizes));
    EXPECT_TRUE(result.counts);
    EXPECT_FALSE(result.work);
  }
  EXPECT_FALSE(operator_work(event_of("aten::bmm", {{2, 3, 5}, {3, 5, 7}})).work);
  EXPECT_FALSE(operator_work(event_of("aten::mm", {{3, -5}, {-5, 7}})).counts);
  EXPECT_FALSE(operator_work(event_of("aten::relu", {{3, 5}})).counts);
  const std::int64_t most = std::int64_t{1} << 40;  // 2^121 of them are no operator's
  EXPECT_FALSE(operator_work(event_of("aten::mm", {{most, most}, {most, most}})).work);
  EXPECT_FALSE(operator_work(event_of("aten::mm", {{most + 1, 1}, {1, 1}})).counts);
  EXPECT_TRUE(operator_work(event_of("aten::mm", {{most, 1}, {1, 1}})).work);
}

TEST(OperatorWork, Attention) {
  for (const char* name :
       {"aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention", "aten::_scaled_dot_product_attention_math"}) {
    const auto work =
        work_of(event_of(name, {{2, 3, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}}, "c10::Half"));
    EXPECT_EQ(work.flops, 2.0 * 2 * 3 * 5 * 11 * (7 + 13));
    EXPECT_EQ(work.bytes, 2.0 * (2 * 3) * (5 * 7 + 11 * 7 + 11 * 13 + 5 * 13));
  }
  const auto none = operator_work(event_of("aten::_scaled_dot_product_flash_attention",
                                           {{2, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}}));
  EXPECT_TRUE(none.counts);
  EXPECT_FALSE(none.work);
}

TraceEvent convolution() {
  auto event = event_of("aten::cudnn_convolution", {{2, 3, 17, 19}, {5, 3, 3, 5}});
  event.values = {"", "", "[1, 2]", "[2, 3]", "[1, 2]"};
  return event;
}
// Of 17 with a padding of 1 at both ends and a reach of 2, each second: 9. Of 19 + 4, a reach of 8,
// each third: 5.
constexpr double kPositions = 9 * 5;

TEST(OperatorWork, AConvolutionsOutputFollowsFromItsValues) {
  auto event = convolution();
  auto work = work_of(event);
  EXPECT_EQ(work.flops, 2 * (5 * 3 * 3 * 5) * kPositions * 2);
  EXPECT_EQ(work.bytes, 4 * (2 * 3 * 17 * 19 + 5 * 3 * 3 * 5 + 2 * 5 * kPositions));
  event.values = {"", "", "[1, 1]", "[2]", "[1]"};  // one number for all sides
  EXPECT_EQ(work_of(event).flops, 2 * 225 * (9 * 9) * 2.0);
}

TEST(OperatorWork, WithoutValuesALaterOperatorTellsItsOutput) {
  auto event = convolution();
  for (const std::vector<std::string>& values : {std::vector<std::string>{},
                                                 {"", "", "[1, 2]", "[0, 3]", "[1, 2]"},
                                                 {"", "", "[1, 2]", "[2, 3, 4]", "[1, 2]"},
                                                 {"", "", "1", "[2, 3]", "[1, 2]"}}) {
    event.values = values;
    const auto result = operator_work(event);
    EXPECT_TRUE(result.counts);
    EXPECT_FALSE(result.work);
    ASSERT_TRUE(result.pending);
    const auto work = finish(*result.pending, {2, 5, 9, 5});
    ASSERT_TRUE(work);
    EXPECT_EQ(work->flops, 2 * 225 * kPositions * 2);
    EXPECT_EQ(work->bytes, 4 * (2 * 3 * 17 * 19 + 225 + 2 * 5 * kPositions));
    EXPECT_EQ(work->type, "fp32");
    for (const std::vector<std::int64_t>& other :
         {std::vector<std::int64_t>{3, 5, 9, 5}, {2, 6, 9, 5}, {2, 5, 9}, {2, 5, 9, 5, 1}, {}})
      EXPECT_FALSE(finish(*result.pending, other));
  }
  for (const Sizes& sizes : {Sizes{{2, 3}, {5, 3}},
                             {{2, 3, 4}, {5, 3, 3, 5}},
                             {{2, 3, 4, 5}},
                             {{1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}}) {
    const auto result = operator_work(event_of("aten::cudnn_convolution", sizes));
    EXPECT_TRUE(result.counts);
    EXPECT_FALSE(result.work || result.pending);
  }
  EXPECT_TRUE(
      operator_work(event_of("aten::slow_conv3d_forward", {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}))
          .pending);
  EXPECT_TRUE(operator_work(event_of("aten::thnn_conv2d", {{1, 1, 1}, {1, 1, 1}})).pending);
}

TEST(OperatorWork, BackwardIsTheForwardForEachGradient) {
  auto event = event_of("aten::convolution_backward", {{2, 5, 9, 5}, {2, 3, 17, 19}, {5, 3, 3, 5}});
  const double forward = 2 * 225 * kPositions * 2;
  EXPECT_EQ(work_of(event).flops, 2 * forward);
  EXPECT_FALSE(work_of(event).bytes);
  event.values.resize(11);
  event.values[10] = "[True, True, False]";
  EXPECT_EQ(work_of(event).flops, 2 * forward);
  event.values[10] = "[False, True, False]";
  EXPECT_EQ(work_of(event).flops, forward);
  for (const char* name :
       {"aten::cudnn_convolution_backward", "aten::cudnn_convolution_backward_input"})
    EXPECT_EQ(work_of(event_of(name, {{2, 3, 17, 19}, {2, 5, 9, 5}, {5, 3, 3, 5}})).flops, forward);
  EXPECT_TRUE(operator_work(event_of("aten::convolution_backward", {})).counts);
  EXPECT_FALSE(operator_work(event_of("aten::convolution_backward", {})).work);
}

}  // namespace
}  // namespace gable
