// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/operator_work.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tools/import/kineto/convolution_work.h"
#include "tools/import/kineto/operator_inputs.h"

namespace gable {
namespace {

constexpr double kLargest = 1e25;  // more operations than anything does

double as_double(std::int64_t value) { return static_cast<double>(value); }

// --- matrix products

enum class Shape {
  matrices,  // [.., M, K] x [.., K, N], the same batch
  summed,    // the same, of which the sum over the batch comes out
  vector,    // [M, K] x [K]
  dot,       // [K] x [K]
  linear,    // [.., K] x [N, K]
  broadcast  // as matmul takes them
};

// Places of arguments in native_functions.yaml.
struct Product {
  std::string_view name;
  Shape shape;
  int first;            // of two neighbours that are multiplied
  int added = -1;       // what is added
  int out_type = -1;    // the type of the result, if there is one
  double out_size = 0;  // bytes of an element of the result; 0: as the inputs have
};
constexpr std::array<Product, 24> kProducts = {{
    {"aten::mm", Shape::matrices, 0, -1, 2},
    {"aten::bmm", Shape::matrices, 0, -1, 2},
    {"aten::addmm", Shape::matrices, 1, 0},
    {"aten::addmm_", Shape::matrices, 1, 0},
    {"aten::_addmm_activation", Shape::matrices, 1, 0},
    {"aten::baddbmm", Shape::matrices, 1, 0},
    {"aten::baddbmm_", Shape::matrices, 1, 0},
    {"aten::addbmm", Shape::summed, 1, 0},
    {"aten::addbmm_", Shape::summed, 1, 0},
    {"aten::_int_mm", Shape::matrices, 0, -1, -1, 4},
    {"aten::mv", Shape::vector, 0},
    {"aten::addmv", Shape::vector, 1, 0},
    {"aten::addmv_", Shape::vector, 1, 0},
    {"aten::dot", Shape::dot, 0},
    {"aten::vdot", Shape::dot, 0},
    {"aten::linear", Shape::linear, 0, 2},
    {"aten::mkldnn_linear", Shape::linear, 0, 2},
    {"aten::_weight_int8pack_mm", Shape::linear, 0},
    {"aten::matmul", Shape::broadcast, 0},
    {"aten::_scaled_mm", Shape::matrices, 0, -1, 6},
    {"aten::_scaled_mm_v2", Shape::matrices, 0, -1, 9},
    {"aten::_grouped_mm", Shape::matrices, 0, -1, 4},
    {"aten::_scaled_grouped_mm", Shape::matrices, 0, -1, 7},
    {"aten::_scaled_grouped_mm_v2", Shape::matrices, 0, -1, 10},
}};

struct Multiplied {
  double flops = 0, elements = 0;  // read
  double out = 0;                  // elements
};

// Experts of a mixture: the rows, or what is summed over, are shared out among the groups.
std::optional<Multiplied> grouped(const Sizes& a, const Sizes& b) {
  if (a.size() < 2 || a.size() > 3 || b.size() < 2 || b.size() > 3) return std::nullopt;
  const double m = as_double(a[a.size() - 2]), k = as_double(a.back()), n = as_double(b.back());
  if (a.back() != b[b.size() - 2] || (a.size() == 3 && b.size() == 3 && a[0] != b[0]))
    return std::nullopt;
  const double batch = a.size() == 3 && b.size() == 3 ? as_double(a[0]) : 1;
  // Of two matrices each group has one of its own; how many there are is in neither.
  const double out = a.size() == 2 && b.size() == 2 ? -1 : batch * m * n;
  return Multiplied{2 * batch * m * k * n, elements(a) + elements(b), out};
}

std::optional<Multiplied> matrices(const Sizes& a, const Sizes& b) {
  if (a.size() != b.size() || a.size() < 2 || a.size() > 3 || a.back() != b[b.size() - 2] ||
      (a.size() == 3 && a[0] != b[0]))
    return std::nullopt;
  const double batch = a.size() == 3 ? as_double(a[0]) : 1;
  const double m = as_double(a[a.size() - 2]), k = as_double(a.back()), n = as_double(b.back());
  return Multiplied{2 * batch * m * n * k, elements(a) + elements(b), batch * m * n};
}

std::optional<Multiplied> broadcast(Sizes a, Sizes b) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  if (a.back() != b[b.size() - 2]) return std::nullopt;
  double batch = 1;
  for (std::size_t i = 3; i <= std::max(a.size(), b.size()); ++i) {
    const std::int64_t of_a = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t of_b = i <= b.size() ? b[b.size() - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) return std::nullopt;
    batch *= as_double(of_a == 1 ? of_b : of_a);
  }
  const double m = as_double(a[a.size() - 2]), k = as_double(a.back()), n = as_double(b.back());
  return Multiplied{2 * batch * m * k * n, elements(a) + elements(b), batch * m * n};
}

std::optional<Multiplied> multiplied(const TraceEvent& event, const Product& product) {
  const auto first = static_cast<std::size_t>(product.first);
  const Sizes &a = sizes_of(event, first), &b = sizes_of(event, first + 1);
  if (product.name.find("grouped") != std::string_view::npos) return grouped(a, b);
  switch (product.shape) {
    case Shape::matrices:
      return matrices(a, b);
    case Shape::summed: {
      auto work = a.size() == 3 ? matrices(a, b) : std::nullopt;
      if (work) work->out = as_double(a[1]) * as_double(b[2]);
      return work;
    }
    case Shape::vector:
      if (a.size() != 2 || b.size() != 1 || a[1] != b[0]) return std::nullopt;
      return Multiplied{2 * elements(a), elements(a) + elements(b), as_double(a[0])};
    case Shape::dot:
      if (a.size() != 1 || b != a) return std::nullopt;
      return Multiplied{2 * elements(a), 2 * elements(a), 1};
    case Shape::linear: {
      if (a.empty() || b.empty() || b.size() > 2 || a.back() != b.back() || a.back() == 0)
        return std::nullopt;
      const double n = b.size() == 2 ? as_double(b[0]) : 1,
                   rows = elements(a) / as_double(a.back());
      return Multiplied{2 * elements(a) * n, elements(a) + elements(b), rows * n};
    }
    case Shape::broadcast:
      return broadcast(a, b);
  }
  return std::nullopt;
}

// Of an element of the result. Where it has a type of its own that is a number of c10's list.
std::optional<double> out_bytes_of(const TraceEvent& event, const Product& product,
                                   const InputType& type) {
  if (product.out_size > 0) return product.out_size;
  const auto place = static_cast<std::size_t>(product.out_type);
  if (product.out_type < 0 || place >= event.values.size() || event.values[place].empty())
    return type.bytes;
  constexpr std::array<std::pair<std::int64_t, double>, 4> kBytes = {
      {{5, 2}, {15, 2}, {6, 4}, {7, 8}}};  // Half, BFloat16, Float, Double
  const auto told = number_at(event, place);
  for (const auto& [number_of, bytes] : kBytes)
    if (told && *told == number_of) return bytes;
  return std::nullopt;
}

std::optional<OperatorFormula> product_work(const TraceEvent& event, const Product& product) {
  const auto sizes = multiplied(event, product);
  if (!sizes) return std::nullopt;
  const InputType& type = type_of(event, static_cast<std::size_t>(product.first));
  // Two numbers of 4 bits are one element.
  const double packed = type.type == "fp4" ? 2 : 1;
  OperatorFormula work;
  work.flops = sizes->flops * packed;
  work.type = type.type;
  const auto out_bytes = out_bytes_of(event, product, type);
  if (!out_bytes || sizes->out < 0) return work;
  double bytes = type.bytes * sizes->elements + *out_bytes * sizes->out;
  if (product.added >= 0) {
    const Sizes& added = sizes_of(event, static_cast<std::size_t>(product.added));
    if (!added.empty()) bytes += type.bytes * elements(added);
  }
  // Scales and a bias, which have types of their own.
  if (product.name.starts_with("aten::_scaled")) {
    for (std::size_t i = 2; i < event.dims.size(); ++i) {
      if (event.dims[i].empty()) continue;
      const double size = type_of(event, i).bytes;
      if (size == 0) return work;
      bytes += size * elements(event.dims[i]);
    }
  }
  work.bytes = bytes;
  return work;
}

// --- attention

struct Attention {
  std::string_view name;
  int query;                // key and value come behind it
  bool heads_first = true;  // [batch, heads, length, size]; else [batch, length, heads, size]
  bool backward = false;
  std::array<int, 3> ragged{-1, -1, -1};  // where one is given sequences differ in length
};
constexpr std::array<Attention, 17> kAttention = {{
    {"aten::scaled_dot_product_attention", 0},
    {"aten::_scaled_dot_product_flash_attention", 0},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", 0},
    {"aten::_scaled_dot_product_efficient_attention", 0},
    {"aten::_scaled_dot_product_cudnn_attention", 0},
    {"aten::_scaled_dot_product_attention_math", 0},
    {"aten::_scaled_dot_product_fused_attention_overrideable", 0},
    {"aten::_flash_attention_forward", 0, false, false, {3, 4, 13}},
    {"aten::_efficient_attention_forward", 0, false, false, {4, 5, 12}},
    {"aten::_cudnn_attention_forward", 0, true, false, {4, 5, -1}},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, true, true, {6, 7, -1}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", 1, true, true},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, true, true},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, true, true, {9, 10, -1}},
    {"aten::_flash_attention_backward", 1, false, true, {6, 7, -1}},
    {"aten::_efficient_attention_backward", 1, false, true, {6, 7, -1}},
    {"aten::_cudnn_attention_backward", 1, true, true, {9, 10, -1}},
}};

// Masks and causality are not taken off, as PyTorch's own counter does not. A backward computes the
// scores again: five products instead of two.
std::optional<OperatorFormula> attention_work(const TraceEvent& event, const Attention& at) {
  const auto place = static_cast<std::size_t>(at.query);
  const Sizes &q = sizes_of(event, place), &k = sizes_of(event, place + 1),
              &v = sizes_of(event, place + 2);
  // Sequences packed behind each other: how long each is the trace does not tell.
  for (const int ragged : at.ragged) {
    if (ragged < 0) continue;
    const Sizes& given = sizes_of(event, static_cast<std::size_t>(ragged));
    if (!given.empty() && elements(given) > 0) return std::nullopt;
  }
  if (q.size() < 3 || q.size() > 4 || k.size() != q.size() || v.size() != q.size() ||
      (q.size() == 3 && at.name != "aten::scaled_dot_product_attention"))
    return std::nullopt;
  const std::size_t last = q.size() - 1, length = at.heads_first ? last - 1 : last - 2,
                    heads = at.heads_first ? last - 2 : last - 1;
  if (q[last] != k[last] || k[length] != v[length]) return std::nullopt;
  if (q.size() == 4 && (q[0] != k[0] || q[0] != v[0])) return std::nullopt;
  // Heads of keys and values may be shared by several of the query.
  if (k[heads] != v[heads] || k[heads] <= 0 || q[heads] % k[heads] != 0) return std::nullopt;
  const double size = as_double(q[last]), out = as_double(v[last]);
  const double pairs = elements(q) / std::max(1.0, size) * as_double(k[length]);
  const InputType& type = type_of(event, place);
  OperatorFormula work;
  work.flops = at.backward ? 2 * pairs * (3 * size + 2 * out) : 2 * pairs * (size + out);
  work.type = type.type;
  if (!at.backward)
    work.bytes = type.bytes * (elements(q) + elements(k) + elements(v) +
                               elements(q) / std::max(1.0, size) * out);
  return work;
}

// --- recurrent layers

struct Recurrent {
  std::string_view name;
  std::size_t states, mode;  // hidden size, projection, layers, batch first … follow
  std::size_t mask;          // of a backward, else 0
  bool projects;             // it has an argument for it
};
constexpr std::array<Recurrent, 4> kRecurrent = {{{"aten::_cudnn_rnn", 4, 6, 0, true},
                                                  {"aten::_cudnn_rnn_backward", 4, 10, 21, true},
                                                  {"aten::miopen_rnn", 3, 5, 0, false},
                                                  {"aten::miopen_rnn_backward", 4, 10, 20, false}}};

std::optional<OperatorFormula> recurrent_work(const TraceEvent& event, const Recurrent& at) {
  constexpr std::array<double, 4> kGates = {1, 1, 4, 3};  // ReLU, tanh, LSTM, GRU
  const Sizes &in = sizes_of(event, 0), &states = sizes_of(event, at.states);
  const std::size_t more = at.mode + (at.projects ? 1 : 0);
  const auto mode = number_at(event, at.mode), hidden = number_at(event, at.mode + 1),
             layers = number_at(event, more + 2);
  const auto projected = at.projects ? number_at(event, more + 1) : std::optional<std::int64_t>(0);
  const auto both = truths_at(event, more + 6);
  if (in.size() < 2 || in.size() > 3 || states.size() != 3 || !mode || !hidden || !projected ||
      !layers || !both || *mode < 0 || *mode > 3 || *layers <= 0 || *projected < 0 || *hidden <= 0)
    return std::nullopt;
  const double directions = both->front() ? 2 : 1;
  const std::int64_t out = *projected > 0 ? *projected : *hidden;
  if (as_double(states[0]) != as_double(*layers) * directions || states[2] != out)
    return std::nullopt;
  // Of all steps in time: packed sequences stand behind each other.
  const double rows = as_double(in[0]) * (in.size() == 3 ? as_double(in[1]) : 1);
  double size = as_double(in.back()), sum = 0;
  for (std::int64_t layer = 0; layer < std::min<std::int64_t>(*layers, 1 << 16); ++layer) {
    sum += kGates[static_cast<std::size_t>(*mode)] * as_double(*hidden) * (size + as_double(out));
    if (*projected > 0) sum += as_double(*hidden) * as_double(*projected);
    size = as_double(out) * directions;
  }
  OperatorFormula work;
  work.flops = 2 * rows * directions * sum;
  if (at.mask > 0) {
    // Gradients of what goes in are always computed, those of the weights where they are wanted.
    const auto mask = truths_at(event, at.mask);
    if (!mask || mask->size() != 4) return std::nullopt;
    if ((*mask)[3]) work.flops *= 2;
  }
  work.type = type_of(event, 0).type;
  return work;
}

template <typename Table>
auto find(const Table& table, std::string_view name) {
  const auto at = std::find_if(table.begin(), table.end(),
                               [name](const auto& each) { return each.name == name; });
  return at == table.end() ? nullptr : &*at;
}

}  // namespace

OperatorResult operator_work(const TraceEvent& event) {
  OperatorResult result;
  for (const Sizes& sizes : event.dims) {
    if (!is_sane(sizes)) return result;
  }
  result.counts = true;
  if (const Product* product = find(kProducts, event.name)) {
    result.work = product_work(event, *product);
  } else if (const Attention* attention = find(kAttention, event.name)) {
    result.work = attention_work(event, *attention);
  } else if (const Recurrent* recurrent = find(kRecurrent, event.name)) {
    result.work = recurrent_work(event, *recurrent);
  } else {
    result = convolution_work(event);
  }
  if (result.work && !(result.work->flops < kLargest)) result.work.reset();
  return result;
}

bool is_of_pytorch(std::string_view name) {
  constexpr std::array<std::string_view, 6> kOurs = {
      "aten::", "torch::", "autograd::", "prims::", "c10d::", "_c10d_functional::"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [name](std::string_view start) { return name.starts_with(start); });
}

bool may_multiply(std::string_view name) {
  const auto begins = [name](std::string_view start) { return name.starts_with(start); };
  const auto holds = [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  };
  if (begins("autograd::")) return false;  // it calls operators that have names
  // Kernels that Inductor wrote of templates are matrix products and attention.
  if (begins("triton_tem_")) return true;
  if (!is_of_pytorch(name)) {
    // Nodes of autograd call operators that have names; what others do nobody says.
    return holds("::") && !holds("Backward");
  }
  constexpr std::array<std::string_view, 18> kWords = {
      "linalg_", "geqrf",  "ormqr",  "convolution", "_conv",    "conv_",
      "mm",      "matmul", "linear", "attention",   "einsum",   "rnn",
      "lstm",    "gru",    "addmv",  "bilinear",    "cholesky", "triangular_solve"};
  constexpr std::array<std::string_view, 10> kOthers = {
      "linalg_cross", "linalg_diagonal", "linalg_vander", "upsample", "_convert", "comm",
      "norm",         "_thnn_fused",     "mask",          "dropout"};
  return std::any_of(kWords.begin(), kWords.end(), holds) &&
         std::none_of(kOthers.begin(), kOthers.end(), holds);
}

}  // namespace gable
