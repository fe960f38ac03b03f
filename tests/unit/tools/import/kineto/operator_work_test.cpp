// SPDX-License-Identifier: Apache-2.0
// Work of PyTorch's operators by formula, with sizes that are all different: a wrong one shows.
#include "tools/import/kineto/operator_work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  EXPECT_EQ(work_of(event_of("aten::_weight_int8pack_mm", {{4, 8}, {16, 8}, {16}})).flops,
            2 * 4 * 8 * 16);
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

// --- with the schemas of PyTorch 2.13: arguments by name, so that places are those of the schema

struct Argument {
  std::string name;
  std::vector<std::int64_t> sizes;
  std::string value;
};

TraceEvent called(const std::string& schema, const std::vector<Argument>& arguments,
                  const char* type = "float") {
  TraceEvent event;
  event.name = schema.substr(0, schema.find('('));
  std::size_t used = 0;
  std::string rest = schema.substr(schema.find('(') + 1);
  while (!rest.empty()) {
    const auto end = rest.find_first_of(",)");
    const std::string name = rest.substr(0, end);
    event.dims.emplace_back();
    event.types.emplace_back();
    event.values.emplace_back();
    for (const Argument& argument : arguments) {
      if (argument.name != name) continue;
      ++used;
      event.dims.back() = argument.sizes;
      event.values.back() = argument.value;
      event.types.back() = argument.value.empty() ? type : "ScalarList";
    }
    rest = rest[end] == ')' ? "" : rest.substr(rest.find_first_not_of(", ", end));
  }
  EXPECT_EQ(used, arguments.size()) << schema;
  return event;
}

constexpr const char* kForwards[] = {
    "aten::convolution(input, weight, bias, stride, padding, dilation, transposed, "
    "output_padding, groups)",
    "aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, "
    "output_padding, groups, benchmark, deterministic, cudnn_enabled, allow_tf32)",
    "aten::convolution_overrideable(input, weight, bias, stride, padding, dilation, transposed, "
    "output_padding, groups)",
    "aten::conv2d(input, weight, bias, stride, padding, dilation, groups)",
    "aten::cudnn_convolution(input, weight, padding, stride, dilation, groups, benchmark, "
    "deterministic, allow_tf32)",
    "aten::cudnn_convolution_relu(input, weight, bias, stride, padding, dilation, groups)",
    "aten::cudnn_convolution_add_relu(input, weight, z, alpha, bias, stride, padding, dilation, "
    "groups)",
    "aten::miopen_convolution(input, weight, bias, padding, stride, dilation, groups, benchmark, "
    "deterministic)",
    "aten::miopen_depthwise_convolution(input, weight, bias, padding, stride, dilation, groups, "
    "benchmark, deterministic)",
    "aten::miopen_convolution_relu(input, weight, bias, stride, padding, dilation, groups)",
    "aten::miopen_convolution_add_relu(input, weight, z, alpha, bias, stride, padding, dilation, "
    "groups)",
    "aten::mkldnn_convolution(input, weight, bias, padding, stride, dilation, groups)",
    "aten::_conv_depthwise2d(input, weight, kernel_size, bias, stride, padding, dilation)",
    "aten::slow_conv_dilated2d(input, weight, kernel_size, bias, stride, padding, dilation)",
};

bool has(const std::string& schema, const char* name) {
  return schema.find(std::string(" ") + name + ",") != std::string::npos ||
         schema.find(std::string(" ") + name + ")") != std::string::npos;
}

// Of 17 with a padding of 1 at both ends and a reach of 2, each second: 9. Of 19 + 4, a reach of 8,
// each third: 5.
constexpr double kPositions = 9 * 5;

// Two groups: the weight has the channels of one.
std::vector<Argument> convolution(const std::string& schema) {
  std::vector<Argument> all = {{"input", {2, 6, 17, 19}, ""},
                               {"weight", {8, 3, 3, 5}, ""},
                               {"stride", {}, "[2, 3]"},
                               {"padding", {}, "[1, 2]"}};
  if (has(schema, "dilation")) all.push_back({"dilation", {}, "[1, 2]"});
  if (has(schema, "groups")) all.push_back({"groups", {}, "2"});
  if (has(schema, "transposed")) all.push_back({"transposed", {}, "False"});
  return all;
}

TEST(OperatorWork, EachConvolutionHasItsArgumentsInAnOrderOfItsOwn) {
  for (const std::string schema : kForwards) {
    SCOPED_TRACE(schema);
    const auto work = work_of(called(schema, convolution(schema)));
    EXPECT_EQ(work.flops, 2 * (8 * 3 * 3 * 5) * kPositions * 2);
    EXPECT_EQ(work.bytes, 4 * (2 * 6 * 17 * 19 + 8 * 3 * 3 * 5 + 2 * 8 * kPositions));
    EXPECT_EQ(work.type, "fp32");
  }
  // Without dilation: 9 positions, and of 19 + 4, a reach of 4, each third: 7.
  for (const std::string schema :
       {"aten::thnn_conv2d(input, weight, kernel_size, bias, stride, padding)",
        "aten::_slow_conv2d_forward(input, weight, kernel_size, bias, stride, padding)"})
    EXPECT_EQ(work_of(called(schema, convolution(schema))).flops, 2 * 360 * (9 * 7) * 2.0);
}

TEST(OperatorWork, OneNumberStandsForAllSides) {
  const std::string schema = kForwards[4];
  auto arguments = convolution(schema);
  arguments[2].value = "[2]";
  EXPECT_EQ(work_of(called(schema, arguments)).flops, 2 * 360 * (9 * 8) * 2.0);
}

TEST(OperatorWork, ATransposedConvolutionMultipliesEachPositionOfItsInput) {
  for (const std::string schema :
       {"aten::convolution(input, weight, bias, stride, padding, dilation, transposed, "
        "output_padding, groups)",
        "aten::cudnn_convolution_transpose(input, weight, padding, output_padding, stride, "
        "dilation, groups, benchmark, deterministic, allow_tf32)",
        "aten::miopen_convolution_transpose(input, weight, bias, padding, output_padding, stride, "
        "dilation, groups, benchmark, deterministic)",
        "aten::conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, "
        "dilation)",
        "aten::slow_conv_transpose2d(input, weight, kernel_size, bias, stride, padding, "
        "output_padding, dilation)"}) {
    SCOPED_TRACE(schema);
    std::vector<Argument> arguments = {
        {"input", {2, 6, 7, 9}, ""}, {"weight", {6, 4, 3, 5}, ""},
        {"stride", {}, "[2, 3]"},    {"padding", {}, "[1, 2]"},
        {"dilation", {}, "[1, 2]"},  {"output_padding", {}, "[1, 0]"}};
    const bool groups = has(schema, "groups");
    if (groups) arguments.push_back({"groups", {}, "2"});
    if (has(schema, "transposed")) arguments.push_back({"transposed", {}, "True"});
    const auto work = work_of(called(schema, arguments));
    EXPECT_EQ(work.flops, 2.0 * 2 * (7 * 9) * 6 * 4 * 15);
    // 6 x 2 - 2 + 2 + 1 + 1 = 14, 8 x 3 - 4 + 8 + 0 + 1 = 29
    EXPECT_EQ(work.bytes, 4.0 * (2 * 6 * 63 + 6 * 4 * 15 + 2 * (groups ? 8 : 4) * 14 * 29));
  }
}

TEST(OperatorWork, WithoutValuesAConvolutionIsOpen) {
  const std::string schema = kForwards[4];
  for (const char* stride : {"", "[0, 3]", "[2, 3, 4]", "2"}) {
    auto arguments = convolution(schema);
    arguments[2].value = stride;
    const auto result = operator_work(called(schema, arguments));
    EXPECT_TRUE(result.counts);
    EXPECT_FALSE(result.work);
    ASSERT_TRUE(result.pending);
    const auto work = finish(*result.pending, {2, 8, 9, 5});
    ASSERT_TRUE(work);
    EXPECT_EQ(work->flops, 2 * 360 * kPositions * 2);
    EXPECT_EQ(work->bytes, 4 * (2 * 6 * 17 * 19 + 360 + 2 * 8 * kPositions));
    for (const std::vector<std::int64_t>& other :
         {std::vector<std::int64_t>{3, 8, 9, 5}, {2, 6, 9, 5}, {2, 8, 9}, {2, 8, 9, 5, 1}, {}})
      EXPECT_FALSE(finish(*result.pending, other));
  }
  // One that may be transposed, and does not say so.
  auto arguments = convolution(kForwards[0]);
  arguments.pop_back();
  const auto result = operator_work(called(kForwards[0], arguments));
  EXPECT_TRUE(result.counts);
  EXPECT_FALSE(result.work || result.pending);
}

TEST(OperatorWork, ConvolutionsWhoseSizesDoNotFitHaveNoWork) {
  for (const Sizes& sizes : {Sizes{{2, 3}, {5, 3}},
                             {{2, 3, 4}, {5, 3, 3, 5}},
                             {{2, 3, 4, 5}},
                             {{2, 6, 17, 19}, {8, 4, 3, 5}},
                             {{2, 6, 17, 19}, {8, 0, 3, 5}},
                             {{1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}}) {
    const auto result = operator_work(event_of("aten::cudnn_convolution", sizes));
    EXPECT_TRUE(result.counts);
    EXPECT_FALSE(result.work || result.pending);
  }
  const std::string schema = kForwards[4];
  auto arguments = convolution(schema);
  arguments.back().value = "3";  // groups
  EXPECT_FALSE(operator_work(called(schema, arguments)).work);
}

constexpr const char* kBackwardSchema =
    "aten::convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, "
    "transposed, output_padding, groups, output_mask)";

TEST(OperatorWork, BackwardIsTheForwardForEachGradientThatIsWanted) {
  const double forward = 2 * 360 * kPositions * 2;
  const auto masked = [&](const char* mask, const char* transposed = "False") {
    const bool turned = transposed[0] == 'T';
    return operator_work(called(kBackwardSchema, {{"grad_output", {2, 8, 9, 5}, ""},
                                                  {"input", {2, 6, 17, 19}, ""},
                                                  {"weight", {turned ? 6 : 8, 3, 3, 5}, ""},
                                                  {"transposed", {}, transposed},
                                                  {"output_mask", {}, mask}}));
  };
  EXPECT_EQ(masked("[True, True, False]").work->flops, 2 * forward);
  EXPECT_EQ(masked("[False, True, True]").work->flops, forward);
  EXPECT_EQ(masked("[True, False, True]").work->flops, forward);
  EXPECT_EQ(masked("[False, False, True]").work->flops, 0);
  EXPECT_FALSE(masked("[True, True, False]").work->bytes);
  // Positions of the input, where it is transposed.
  EXPECT_EQ(masked("[True, True, False]", "True").work->flops, 2 * (2.0 * 6 * 45 * 17 * 19 * 2));
  for (const char* unknown : {"", "[True]", "[True, maybe, False]"}) {
    EXPECT_TRUE(masked(unknown).counts);
    EXPECT_FALSE(masked(unknown).work);
  }
  const auto parts = operator_work(
      event_of("aten::cudnn_convolution_backward", {{2, 6, 17, 19}, {2, 8, 9, 5}, {8, 3, 3, 5}}));
  EXPECT_TRUE(parts.by_parts);
  EXPECT_EQ(parts.work->flops, forward);
  for (const char* part :
       {"aten::cudnn_convolution_backward_input", "aten::cudnn_convolution_backward_weight"})
    EXPECT_TRUE(operator_work(event_of(part, {})).part);
  EXPECT_FALSE(operator_work(event_of("aten::convolution_backward", {})).work);
}

TEST(OperatorWork, MoreProducts) {
  auto work = work_of(event_of("aten::_int_mm", {{3, 5}, {5, 7}}, "signed char"));
  EXPECT_EQ(work.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 15.0 + 35 + 4 * 21);
  EXPECT_EQ(work.type, "int8");
  EXPECT_EQ(work_of(event_of("aten::mv", {{3, 5}, {5}})).flops, 2 * 15);
  EXPECT_EQ(work_of(event_of("aten::addmv", {{3}, {3, 5}, {5}})).bytes, 4.0 * (3 + 15 + 5 + 3));
  EXPECT_EQ(work_of(event_of("aten::dot", {{9}, {9}})).flops, 18);
  work = work_of(event_of("aten::addbmm", {{3, 7}, {2, 3, 5}, {2, 5, 7}}));
  EXPECT_EQ(work.flops, 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 4.0 * (21 + 30 + 70 + 21));
  work = work_of(event_of("aten::linear", {{2, 3, 5}, {7, 5}, {7}}));
  EXPECT_EQ(work.flops, 2 * 6 * 5 * 7);
  EXPECT_EQ(work.bytes, 4.0 * (30 + 35 + 42 + 7));
  EXPECT_EQ(work_of(event_of("aten::matmul", {{2, 1, 3, 5}, {4, 5, 7}})).flops,
            2.0 * 8 * 3 * 5 * 7);
  EXPECT_FALSE(operator_work(event_of("aten::matmul", {{2, 3, 5}, {4, 5, 7}})).work);
}

TEST(OperatorWork, ScaledProducts) {
  const std::string schema =
      "aten::_scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, "
      "use_fast_accum)";
  auto event = called(schema, {{"self", {3, 5}, ""}, {"mat2", {5, 7}, ""}, {"out_dtype", {}, "15"}},
                      "c10::Float8_e4m3fn");
  auto work = work_of(event);
  EXPECT_EQ(work.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 15.0 + 35 + 2 * 21);
  EXPECT_EQ(work.type, "fp8");
  event.dims[2] = {3, 1};
  event.types[2] = "float";
  EXPECT_EQ(work_of(event).bytes, 15.0 + 35 + 2 * 21 + 4 * 3);
  event.values[6] = "99";
  EXPECT_FALSE(work_of(event).bytes);
  event.types[0] = "c10::Float4_e2m1fn_x2";  // two numbers in a byte
  work = work_of(event);
  EXPECT_EQ(work.flops, 2 * 3 * 10 * 7);
  EXPECT_EQ(work.type, "fp4");
}

TEST(OperatorWork, GroupedProducts) {
  for (const char* name : {"aten::_grouped_mm", "aten::_scaled_grouped_mm"}) {
    EXPECT_EQ(work_of(event_of(name, {{32, 5}, {4, 5, 7}})).flops, 2 * 32 * 5 * 7);
    EXPECT_EQ(work_of(event_of(name, {{4, 3, 5}, {5, 28}})).flops, 2 * 3 * 5 * 28);
    EXPECT_EQ(work_of(event_of(name, {{4, 3, 5}, {4, 5, 7}})).flops, 2 * 4 * 3 * 5 * 7);
    // Each group has a part of what is summed over, and a result of its own.
    const auto work = work_of(event_of(name, {{3, 20}, {20, 7}}));
    EXPECT_EQ(work.flops, 2 * 3 * 20 * 7);
    EXPECT_FALSE(work.bytes);
    EXPECT_FALSE(operator_work(event_of(name, {{32, 5}, {4, 6, 7}})).work);
  }
}

TEST(OperatorWork, Attention) {
  for (const char* name :
       {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention", "aten::_scaled_dot_product_attention_math",
        "aten::_cudnn_attention_forward"}) {
    const auto work =
        work_of(event_of(name, {{2, 3, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}}, "c10::Half"));
    EXPECT_EQ(work.flops, 2.0 * 2 * 3 * 5 * 11 * (7 + 13));
    EXPECT_EQ(work.bytes, 2.0 * (2 * 3) * (5 * 7 + 11 * 7 + 11 * 13 + 5 * 13));
    // Two heads of the query share one of key and value.
    EXPECT_EQ(work_of(event_of(name, {{2, 6, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}})).flops,
              2.0 * 2 * 6 * 5 * 11 * (7 + 13));
    for (const Sizes& sizes : {Sizes{{2, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}},
                               {{2, 4, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}},
                               {{2, 3, 5, 7}, {2, 3, 11, 8}, {2, 3, 11, 13}},
                               {{2, 3, 5, 7}, {2, 3, 11, 7}, {2, 3, 12, 13}}}) {
      const auto none = operator_work(event_of(name, sizes));
      EXPECT_TRUE(none.counts);
      EXPECT_FALSE(none.work);
    }
  }
}

TEST(OperatorWork, AttentionOfOtherLayoutsAndItsBackward) {
  const Sizes lengths_first{{2, 5, 6, 7}, {2, 11, 3, 7}, {2, 11, 3, 13}};
  const double pairs = 2 * 6 * 5 * 11;
  for (const char* name :
       {"aten::_flash_attention_forward", "aten::_efficient_attention_forward"}) {
    EXPECT_EQ(work_of(event_of(name, lengths_first)).flops, 2 * pairs * (7 + 13));
    // Sequences behind each other, whose lengths the trace does not tell.
    EXPECT_FALSE(operator_work(event_of(name, {{10, 6, 7}, {22, 3, 7}, {22, 3, 13}, {3}})).work);
    Sizes packed = lengths_first;
    packed.resize(6);
    packed[4] = {3};
    EXPECT_FALSE(operator_work(event_of(name, packed)).work);
  }
  const auto behind = [](Sizes sizes) {
    sizes.insert(sizes.begin(), std::vector<std::int64_t>{2, 5, 6, 13});
    return sizes;
  };
  for (const char* name :
       {"aten::_flash_attention_backward", "aten::_efficient_attention_backward"})
    EXPECT_EQ(work_of(event_of(name, behind(lengths_first))).flops, 2 * pairs * (3 * 7 + 2 * 13));
  for (const char* name : {"aten::_scaled_dot_product_flash_attention_backward",
                           "aten::_scaled_dot_product_efficient_attention_backward",
                           "aten::_scaled_dot_product_cudnn_attention_backward"}) {
    const auto work =
        work_of(event_of(name, behind({{2, 6, 5, 7}, {2, 3, 11, 7}, {2, 3, 11, 13}})));
    EXPECT_EQ(work.flops, 2 * pairs * (3 * 7 + 2 * 13));
    EXPECT_FALSE(work.bytes);
  }
}

TEST(OperatorWork, RecurrentLayers) {
  const std::string schema =
      "aten::_cudnn_rnn(input, weight, weight_stride0, weight_buf, hx, cx, mode, hidden_size, "
      "proj_size, num_layers, batch_first, dropout, train, bidirectional, batch_sizes, "
      "dropout_state)";
  std::vector<Argument> lstm = {
      {"input", {3, 2, 5}, ""},     {"hx", {4, 2, 7}, ""},  {"mode", {}, "2"},
      {"hidden_size", {}, "7"},     {"proj_size", {}, "0"}, {"num_layers", {}, "2"},
      {"bidirectional", {}, "True"}};
  const double both = 2 * 6 * 2 * (4 * 7 * (5 + 7) + 4 * 7 * (14 + 7));
  EXPECT_EQ(work_of(called(schema, lstm)).flops, both);
  const std::string backward =
      "aten::_cudnn_rnn_backward(input, weight, weight_stride0, weight_buf, hx, cx, output, "
      "grad_output, grad_hy, grad_cy, mode, hidden_size, proj_size, num_layers, batch_first, "
      "dropout, train, bidirectional, batch_sizes, dropout_state, reserve, output_mask)";
  lstm.push_back({"output_mask", {}, "[True, True, True, True]"});
  EXPECT_EQ(work_of(called(backward, lstm)).flops, 2 * both);
  lstm.back().value = "[True, False, False, False]";
  EXPECT_EQ(work_of(called(backward, lstm)).flops, both);
  lstm.back().value = "";
  EXPECT_FALSE(operator_work(called(backward, lstm)).work);
  lstm.pop_back();
  const std::string miopen =
      "aten::miopen_rnn(input, weight, weight_stride0, hx, cx, mode, hidden_size, num_layers, "
      "batch_first, dropout, train, bidirectional, batch_sizes, dropout_state)";
  const std::string miopen_backward =
      "aten::miopen_rnn_backward(input, weight, weight_stride0, weight_buf, hx, cx, output, "
      "grad_output, grad_hy, grad_cy, mode, hidden_size, num_layers, batch_first, dropout, train, "
      "bidirectional, batch_sizes, dropout_state, reserve, output_mask)";
  std::vector<Argument> amd = lstm;
  amd.erase(amd.begin() + 4);  // proj_size
  EXPECT_EQ(work_of(called(miopen, amd)).flops, both);
  amd.push_back({"output_mask", {}, "[True, True, True, True]"});
  EXPECT_EQ(work_of(called(miopen_backward, amd)).flops, 2 * both);
  lstm[2].value = "3";  // GRU
  EXPECT_EQ(work_of(called(schema, lstm)).flops, both / 4 * 3);
  lstm[5].value = "3";  // other layers than the states have
  EXPECT_FALSE(operator_work(called(schema, lstm)).work);
}

TEST(OperatorWork, WhatMayMultiplyByItsName) {
  for (const char* name :
       {"aten::_cudnn_rnn", "aten::_weight_int4pack_mm", "aten::cudnn_convolution",
        "vllm::fused_experts", "flash_attn::_flash_attn_forward", "triton_tem_fused_mm_3",
        "aten::_native_multi_head_attention"})
    EXPECT_TRUE(may_multiply(name)) << name;
  for (const char* name :
       {"aten::relu", "aten::upsample_bilinear2d", "aten::_thnn_fused_gru_cell", "AddmmBackward0",
        "autograd::engine::evaluate_function: MmBackward0", "c10d::allreduce_",
        "triton_poi_fused_add_0", "aten::native_layer_norm", "record_param_comms"})
    EXPECT_FALSE(may_multiply(name)) << name;
}

}  // namespace
}  // namespace gable
