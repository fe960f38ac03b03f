// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/convolution_work.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/import/kineto/operator_inputs.h"

namespace gable {
namespace {

constexpr int kNo = -1;      // it has no such argument
constexpr int kAlways = -2;  // transposed, and no argument says so

// Places of arguments in native_functions.yaml; input and weight are the first two.
struct Forward {
  std::string_view name;
  int padding, stride, dilation, output_padding = kNo, transposed = kNo, groups = kNo;
};
constexpr std::array<Forward, 31> kForward = {{
    {"aten::convolution", 4, 3, 5, 7, 6, 8},
    {"aten::_convolution", 4, 3, 5, 7, 6, 8},
    {"aten::convolution_overrideable", 4, 3, 5, 7, 6, 8},
    {"aten::conv1d", 4, 3, 5, kNo, kNo, 6},
    {"aten::conv2d", 4, 3, 5, kNo, kNo, 6},
    {"aten::conv3d", 4, 3, 5, kNo, kNo, 6},
    {"aten::conv_transpose1d", 4, 3, 7, 5, kAlways, 6},
    {"aten::conv_transpose2d", 4, 3, 7, 5, kAlways, 6},
    {"aten::conv_transpose3d", 4, 3, 7, 5, kAlways, 6},
    {"aten::cudnn_convolution", 2, 3, 4, kNo, kNo, 5},
    {"aten::cudnn_convolution_relu", 4, 3, 5, kNo, kNo, 6},
    {"aten::cudnn_convolution_add_relu", 6, 5, 7, kNo, kNo, 8},
    {"aten::cudnn_convolution_transpose", 2, 4, 5, 3, kAlways, 6},
    {"aten::miopen_convolution", 3, 4, 5, kNo, kNo, 6},
    {"aten::miopen_depthwise_convolution", 3, 4, 5, kNo, kNo, 6},
    {"aten::miopen_convolution_relu", 4, 3, 5, kNo, kNo, 6},
    {"aten::miopen_convolution_add_relu", 6, 5, 7, kNo, kNo, 8},
    {"aten::miopen_convolution_transpose", 3, 5, 6, 4, kAlways, 7},
    {"aten::mkldnn_convolution", 3, 4, 5, kNo, kNo, 6},
    {"aten::_conv_depthwise2d", 5, 4, 6},
    {"aten::conv_depthwise3d", 5, 4, 6},
    {"aten::thnn_conv2d", 5, 4, kNo},
    {"aten::thnn_conv2d_forward", 5, 4, kNo},
    {"aten::_slow_conv2d_forward", 5, 4, kNo},
    {"aten::slow_conv3d", 5, 4, kNo},
    {"aten::slow_conv3d_forward", 5, 4, kNo},
    {"aten::slow_conv_dilated2d", 5, 4, 6},
    {"aten::slow_conv_dilated3d", 5, 4, 6},
    {"aten::slow_conv_transpose2d", 5, 4, 7, 6, kAlways},
    {"aten::slow_conv_transpose3d", 5, 4, 7, 6, kAlways},
    {"aten::thnn_conv_depthwise2d", 5, 4, 6},
}};

struct Backward {
  std::string_view name;
  int gradient, input, weight, transposed, mask;
  bool by_parts = false;
};
constexpr std::array<Backward, 6> kBackward = {{
    {"aten::convolution_backward", 0, 1, 2, 7, 10},
    {"aten::convolution_backward_overrideable", 0, 1, 2, 6, 9},
    // Traces of 2021: it calls one operator for each gradient that is wanted.
    {"aten::cudnn_convolution_backward", 1, 0, 2, kNo, kNo, true},
    {"aten::miopen_convolution_backward", 1, 0, 2, kNo, kNo, true},
    {"aten::cudnn_convolution_transpose_backward", 1, 0, 2, kAlways, kNo, true},
    {"aten::miopen_convolution_transpose_backward", 1, 0, 2, kAlways, kNo, true},
}};
// What those call, without the weight's or the input's sizes.
constexpr std::string_view kPartOfInput = "convolution_backward_input",
                           kPartOfWeight = "convolution_backward_weight",
                           kPartOfInputT = "convolution_transpose_backward_input",
                           kPartOfWeightT = "convolution_transpose_backward_weight";

double number(std::int64_t value) { return static_cast<double>(value); }

bool fit(const Sizes& in, const Sizes& weight) {
  return in.size() >= 3 && in.size() <= 5 && in.size() == weight.size() &&
         std::all_of(weight.begin(), weight.end(), [](std::int64_t size) { return size > 0; });
}

PendingConvolution pending(const TraceEvent& event, const Sizes& in, const Sizes& weight) {
  const InputType& type = type_of(event, 0);
  PendingConvolution convolution;
  convolution.batch = in[0];
  convolution.channels = weight[0];
  // The weight's second size is that of one group.
  convolution.per_position = 2 * elements(weight);
  convolution.bytes = type.bytes * (elements(in) + elements(weight));
  convolution.bytes_per_position = type.bytes * number(in[0]) * number(weight[0]);
  convolution.type = type.type;
  convolution.weight = weight;
  return convolution;
}

// Batch, channels and sizes. Empty where the record does not tell them.
std::optional<Sizes> output_of(const TraceEvent& event, Forward at, bool transposed) {
  const Sizes &in = sizes_of(event, 0), &weight = sizes_of(event, 1);
  const std::size_t count = in.size() - 2;
  const auto list = [&](int place, std::int64_t without) {
    return place == kNo ? Sizes(count, without)
                        : list_at(event, static_cast<std::size_t>(place), count);
  };
  const auto padding = list(at.padding, 0), stride = list(at.stride, 1),
             dilation = list(at.dilation, 1), more = list(at.output_padding, 0);
  if (!padding || !stride || !dilation || (transposed && !more)) return std::nullopt;
  std::int64_t groups = 1;
  if (transposed && at.groups != kNo) {
    const auto told = number_at(event, static_cast<std::size_t>(at.groups));
    if (!told || *told <= 0 || *told > in[1]) return std::nullopt;
    groups = *told;
  }
  Sizes out{in[0], transposed ? weight[1] * groups : weight[0]};
  for (std::size_t i = 0; i < count; ++i) {
    if ((*stride)[i] <= 0) return std::nullopt;
    const std::int64_t reach = (*dilation)[i] * (weight[i + 2] - 1);
    out.push_back(transposed
                      ? (in[i + 2] - 1) * (*stride)[i] - 2 * (*padding)[i] + reach + (*more)[i] + 1
                      : (in[i + 2] + 2 * (*padding)[i] - reach - 1) / (*stride)[i] + 1);
  }
  return is_sane(out) ? std::optional(out) : std::nullopt;
}

// Each position of the input is multiplied with the whole weight: no stride is needed.
std::optional<OperatorFormula> transposed_work(const TraceEvent& event, const Forward& at) {
  const Sizes &in = sizes_of(event, 0), &weight = sizes_of(event, 1);
  if (in[1] != weight[0]) return std::nullopt;
  const InputType& type = type_of(event, 0);
  OperatorFormula work;
  work.flops = 2 * elements(weight) * elements(in) / std::max(1.0, number(in[1]));
  if (const auto out = output_of(event, at, true))
    work.bytes = type.bytes * (elements(in) + elements(weight) + elements(*out));
  work.type = type.type;
  return work;
}

OperatorResult forward(const TraceEvent& event, Forward at) {
  OperatorResult result;
  result.counts = true;
  const Sizes &in = sizes_of(event, 0), &weight = sizes_of(event, 1);
  if (!fit(in, weight)) return result;
  // Until 1.6 the bias stood before the padding.
  if (at.name == "aten::cudnn_convolution" && event.values.size() > 5 && event.values[2].empty())
    at.padding += 1, at.stride += 1, at.dilation += 1, at.groups += 1;
  bool transposed = at.transposed == kAlways;
  if (at.transposed >= 0) {
    const auto told = truths_at(event, static_cast<std::size_t>(at.transposed));
    if (!told) return result;
    transposed = told->front();
  }
  if (transposed) {
    result.work = transposed_work(event, at);
    return result;
  }
  const auto groups =
      at.groups == kNo ? std::nullopt : number_at(event, static_cast<std::size_t>(at.groups));
  if (in[1] % weight[1] != 0 || (groups && in[1] != weight[1] * *groups)) return result;
  const PendingConvolution convolution = pending(event, in, weight);
  if (const auto out = output_of(event, at, false)) {
    result.work = finish(convolution, *out);
  } else {
    result.pending = convolution;
  }
  return result;
}

// Of the gradient of input, weight or both: each is as much work as the forward.
OperatorResult backward(const TraceEvent& event, const Backward& at) {
  OperatorResult result;
  result.counts = true;
  const auto sizes = [&](int place) { return sizes_of(event, static_cast<std::size_t>(place)); };
  const Sizes gradient = sizes(at.gradient), input = sizes(at.input), weight = sizes(at.weight);
  if (!fit(gradient, weight) || !fit(input, weight)) return result;
  bool transposed = at.transposed == kAlways;
  if (at.transposed >= 0) {
    const auto told = truths_at(event, static_cast<std::size_t>(at.transposed));
    if (!told && !event.values.empty()) return result;
    transposed = told ? told->front() : false;
    // Without values the sizes tell it: channels of the output come first in a weight.
    if (!told && (gradient[1] != weight[0] || (input[1] == weight[0] && weight[0] != weight[1])))
      return result;
  }
  const std::int64_t first = transposed ? input[1] : gradient[1];
  if (first != weight[0] || gradient[0] != input[0]) return result;
  if (!transposed) result.gradient = {gradient, weight};
  const InputType& type = type_of(event, static_cast<std::size_t>(at.gradient));
  OperatorFormula work;  // its inputs do not tell all that is read: no bytes
  const Sizes& positions = transposed ? input : gradient;
  work.flops = 2 * elements(weight) * elements(positions) / std::max(1.0, number(positions[1]));
  work.type = type.type;
  result.by_parts = at.by_parts;
  if (!at.by_parts) {
    const auto mask = truths_at(event, static_cast<std::size_t>(at.mask));
    if (!mask || mask->size() != 3) return result;
    work.flops *= ((*mask)[0] ? 1 : 0) + ((*mask)[1] ? 1 : 0);
  }
  result.work = work;
  return result;
}

}  // namespace

std::optional<OperatorFormula> finish(const PendingConvolution& convolution, const Sizes& sizes) {
  if (sizes.size() != convolution.weight.size() || sizes[0] != convolution.batch ||
      sizes[1] != convolution.channels)
    return std::nullopt;
  double positions = 1;
  for (std::size_t i = 2; i < sizes.size(); ++i) positions *= number(sizes[i]);
  OperatorFormula work;
  work.flops = convolution.per_position * positions * number(convolution.batch);
  work.bytes = convolution.bytes + convolution.bytes_per_position * positions;
  work.type = convolution.type;
  return work;
}

OperatorResult convolution_work(const TraceEvent& event) {
  const std::string_view name = event.name;
  const auto named = [name](const auto& each) { return each.name == name; };
  if (const auto* at = std::find_if(kForward.begin(), kForward.end(), named); at != kForward.end())
    return forward(event, *at);
  if (const auto* at = std::find_if(kBackward.begin(), kBackward.end(), named);
      at != kBackward.end())
    return backward(event, *at);
  OperatorResult part;
  part.part = name.ends_with(kPartOfInput) || name.ends_with(kPartOfWeight) ||
              name.ends_with(kPartOfInputT) || name.ends_with(kPartOfWeightT);
  return part;
}

}  // namespace gable
