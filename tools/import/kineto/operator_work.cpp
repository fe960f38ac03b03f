// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/operator_work.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace gable {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr double kLargest = 1e25;  // more operations than anything does

struct Type {
  std::string_view name, type;
  double bytes;
};
constexpr std::array<Type, 8> kTypes = {{{"float", "fp32", 4},
                                         {"double", "fp64", 8},
                                         {"c10::Half", "fp16", 2},
                                         {"c10::BFloat16", "bf16", 2},
                                         {"c10::complex<float>", "", 8},
                                         {"c10::Float8_e4m3fn", "fp8", 1},
                                         {"c10::Float8_e5m2", "fp8", 1},
                                         {"", "", 0}}};

const Type& type_of(const TraceEvent& event) {
  for (const std::string& text : event.types) {
    for (const Type& type : kTypes) {
      if (!type.name.empty() && text == type.name) return type;
    }
  }
  return kTypes.back();
}

bool is_sane(const Sizes& sizes) {
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > (std::int64_t{1} << 40)) return false;
  }
  return true;
}

double elements(const Sizes& sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

double number(std::int64_t value) { return static_cast<double>(value); }

const Sizes& input(const TraceEvent& event, std::size_t place) {
  static const Sizes kNone;
  return place < event.dims.size() ? event.dims[place] : kNone;
}

// a: [.., M, K], b: [.., K, N], both with the same batch.
std::optional<OperatorFormula> product(const TraceEvent& event, std::size_t first) {
  const Sizes &a = input(event, first), &b = input(event, first + 1);
  if (a.size() != b.size() || a.size() < 2 || a.size() > 3 || a.back() != b[b.size() - 2])
    return std::nullopt;
  if (a.size() == 3 && a[0] != b[0]) return std::nullopt;
  const double batch = a.size() == 3 ? number(a[0]) : 1;
  const double m = number(a[a.size() - 2]), k = number(a.back()), n = number(b.back());
  const Type& type = type_of(event);
  OperatorFormula work;
  work.flops = 2 * batch * m * n * k;
  work.bytes = type.bytes * (batch * (m * k + k * n + m * n));
  if (first > 0) *work.bytes += type.bytes * elements(input(event, 0));  // what is added
  work.type = type.type;
  return work;
}

// Query, key and value as [batch, heads, length, size].
std::optional<OperatorFormula> attention(const TraceEvent& event) {
  const Sizes &q = input(event, 0), &k = input(event, 1), &v = input(event, 2);
  if (q.size() != 4 || k.size() != 4 || v.size() != 4) return std::nullopt;
  const double rows = number(q[0]) * number(q[1]) * number(q[2]) * number(k[2]);
  const Type& type = type_of(event);
  OperatorFormula work;
  work.flops = 2 * rows * number(q[3]) + 2 * rows * number(v[3]);
  work.bytes = type.bytes * (elements(q) + elements(k) + elements(v) +
                             number(q[0]) * number(q[1]) * number(q[2]) * number(v[3]));
  work.type = type.type;
  return work;
}

PendingConvolution pending(const TraceEvent& event, const Sizes& in, const Sizes& weight) {
  const Type& type = type_of(event);
  PendingConvolution convolution;
  convolution.batch = in[0];
  convolution.channels = weight[0];
  // The weight's second size is that of one group.
  convolution.per_position = 2 * elements(weight);
  convolution.bytes = type.bytes * (elements(in) + elements(weight));
  convolution.bytes_per_position = type.bytes * number(in[0]) * number(weight[0]);
  convolution.type = type.type;
  convolution.spatial = in.size() - 2;
  return convolution;
}

bool is_convolution(const Sizes& in, const Sizes& weight) {
  return in.size() >= 3 && in.size() <= 5 && in.size() == weight.size();
}

// "[2, 2]"
std::optional<Sizes> list_of(const TraceEvent& event, std::size_t place, std::size_t count) {
  if (place >= event.values.size()) return std::nullopt;
  std::string_view text = event.values[place];
  if (!text.starts_with('[')) return std::nullopt;
  Sizes list;
  while (!text.empty()) {
    text.remove_prefix(1);  // a bracket, a comma
    while (text.starts_with(' ')) text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc()) break;
    list.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  if (list.size() == 1) list.resize(count, list[0]);
  return list.size() == count ? std::optional<Sizes>(list) : std::nullopt;
}

// aten::cudnn_convolution(input, weight, [bias,] padding, stride, dilation, groups …): where the
// trace has the values, the output follows from them.
std::optional<Sizes> output_of(const TraceEvent& event, const Sizes& in, const Sizes& weight) {
  const bool bias_first = event.name == "aten::_convolution" || event.name == "aten::convolution";
  const std::size_t count = in.size() - 2;
  const auto padding = list_of(event, bias_first ? 4 : 2, count);
  const auto stride = list_of(event, 3, count);
  const auto dilation = list_of(event, bias_first ? 5 : 4, count);
  if (!padding || !stride || !dilation) return std::nullopt;
  Sizes out{in[0], weight[0]};
  for (std::size_t i = 0; i < count; ++i) {
    if ((*stride)[i] <= 0) return std::nullopt;
    const std::int64_t reach = (*dilation)[i] * (weight[i + 2] - 1);
    out.push_back((in[i + 2] + 2 * (*padding)[i] - reach - 1) / (*stride)[i] + 1);
  }
  return is_sane(out) ? std::optional<Sizes>(out) : std::nullopt;
}

// Of the gradient of input, weight or both: each is as much work as the forward.
OperatorResult backward(const TraceEvent& event, const Sizes& gradient, const Sizes& weight,
                        double parts) {
  OperatorResult result;
  result.counts = true;
  if (!is_convolution(gradient, weight)) return result;
  result.work = finish(pending(event, gradient, weight), gradient);
  if (!result.work) return result;
  result.work->flops *= parts;
  result.work->bytes.reset();  // the operator's own inputs do not tell all that is read
  return result;
}

}  // namespace

std::optional<OperatorFormula> finish(const PendingConvolution& convolution, const Sizes& sizes) {
  if (sizes.size() != convolution.spatial + 2 || sizes[0] != convolution.batch ||
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

OperatorResult operator_work(const TraceEvent& event) {
  OperatorResult result;
  const std::string_view name = event.name;
  const auto is = [name](std::initializer_list<std::string_view> names) {
    for (const std::string_view each : names) {
      if (name == each) return true;
    }
    return false;
  };
  for (const Sizes& sizes : event.dims) {
    if (!is_sane(sizes)) return result;
  }
  if (is({"aten::mm", "aten::bmm"})) {
    result.counts = true;
    result.work = product(event, 0);
  } else if (is({"aten::addmm", "aten::baddbmm", "aten::addmm_", "aten::baddbmm_"})) {
    result.counts = true;
    result.work = product(event, 1);
  } else if (is({"aten::_scaled_dot_product_flash_attention",
                 "aten::_scaled_dot_product_efficient_attention",
                 "aten::_scaled_dot_product_cudnn_attention",
                 "aten::_scaled_dot_product_attention_math"})) {
    result.counts = true;
    result.work = attention(event);
  } else if (is({"aten::cudnn_convolution", "aten::cudnn_convolution_relu",
                 "aten::cudnn_convolution_add_relu", "aten::mkldnn_convolution",
                 "aten::_conv_depthwise2d", "aten::thnn_conv2d", "aten::_slow_conv2d_forward",
                 "aten::slow_conv3d_forward", "aten::miopen_convolution"})) {
    result.counts = true;
    const Sizes &in = input(event, 0), &weight = input(event, 1);
    if (is_convolution(in, weight)) {
      result.pending = pending(event, in, weight);
      if (const auto out = output_of(event, in, weight); out) {
        result.work = finish(*result.pending, *out);
        result.pending.reset();
      }
    }
  } else if (is({"aten::convolution_backward"})) {
    // gradient, input, weight: both gradients, but where the mask says that one is not wanted.
    double parts = 2;
    if (event.values.size() > 10 && event.values[10].starts_with("[False")) parts = 1;
    result = backward(event, input(event, 0), input(event, 2), parts);
  } else if (is({"aten::cudnn_convolution_backward", "aten::cudnn_convolution_backward_input"})) {
    // Traces of 2021: input, gradient, weight. The operator calls one for the weight, which does
    // not name its sizes and is counted here, and one for the input where that has a gradient.
    result = backward(event, input(event, 1), input(event, 2), 1);
  }
  if (result.work && !(result.work->flops < kLargest)) result.work.reset();
  return result;
}

}  // namespace gable
