// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/launched_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/events/shapes_key.h"
#include "tools/import/kineto/operator_inputs.h"

namespace gable {
namespace {

constexpr std::size_t kMostTensors = 16;

// What traces call types, and PyTorch.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kTensorTypes = {
    {{"float", "float32"},
     {"double", "float64"},
     {"c10::Half", "float16"},
     {"c10::BFloat16", "bfloat16"},
     {"long", "int64"},
     {"long int", "int64"},
     {"int", "int32"},
     {"short", "int16"},
     {"short int", "int16"},
     {"signed char", "int8"},
     {"unsigned char", "uint8"},
     {"bool", "bool"},
     {"c10::complex<float>", "complex64"},
     {"c10::complex<double>", "complex128"},
     {"c10::Float8_e4m3fn", "float8_e4m3fn"},
     {"c10::Float8_e5m2", "float8_e5m2"},
     {"c10::Float8_e4m3fnuz", "float8_e4m3fnuz"},
     {"c10::Float8_e5m2fnuz", "float8_e5m2fnuz"},
     {"c10::Float8_e8m0fnu", "float8_e8m0fnu"}}};

std::string_view dtype_of(std::string_view type) {
  const auto found = std::find_if(kTensorTypes.begin(), kTensorTypes.end(),
                                  [type](const auto& each) { return each.first == type; });
  return found == kTensorTypes.end() ? std::string_view() : found->second;
}

}  // namespace

std::vector<TensorShape> input_shapes(const TraceEvent& event) {
  std::vector<TensorShape> shapes;
  for (std::size_t i = 0; i < event.dims.size() && shapes.size() < kMostTensors; ++i) {
    const std::string_view type =
        i < event.types.size() ? std::string_view(event.types[i]) : std::string_view();
    const std::string_view dtype = dtype_of(type);
    // Numbers, lists and what is not given have no sizes; a tensor of one element has a type.
    if (event.dims[i].empty() && dtype.empty()) continue;
    if (!is_sane(event.dims[i])) continue;
    shapes.push_back({std::string(dtype), event.dims[i]});
  }
  return shapes;
}

std::uint32_t LaunchedOperators::intern(std::string_view name, std::vector<TensorShape> inputs) {
  const auto [known, fresh] = known_calls_.emplace(std::string(name) + '\0' + shapes_key(inputs),
                                                   static_cast<std::uint32_t>(calls_.size()));
  if (fresh) calls_.push_back({std::string(name), std::move(inputs)});
  return known->second;
}

void LaunchedOperators::add(std::uint32_t range, const LaunchKey& key) {
  const auto [known, fresh] = known_keys_.emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (fresh) keys_.push_back(key);
  launches_.emplace_back(range, known->second);
}

void LaunchedOperators::sort() { std::sort(launches_.begin(), launches_.end()); }

void LaunchedOperators::add_call(const Facts& facts, std::size_t begin, std::size_t end,
                                 ModelDescription& model) {
  const LayerId layer = keys_[launches_[begin].second].layer;
  const std::string key =
      std::to_string(facts.step) + ' ' + std::to_string(layer) + ' ' + std::to_string(facts.call);
  auto row = rows_.find(key);
  if (row == rows_.end()) {
    if (rows_.size() >= kMost) {
      ++model.operators_left_out;
      return;
    }
    row = rows_.emplace(key, model.operators.size()).first;
    OperatorCalls& made = model.operators.emplace_back();
    made.layer = layer;
    made.name = calls_[facts.call].name;
    made.inputs = calls_[facts.call].inputs;
  }
  OperatorCalls& calls = model.operators[row->second];
  ++calls.calls;
  calls.flops += facts.work.flops;
  calls.bytes += facts.work.bytes;
  calls.flops_known = calls.flops_known && facts.work.flops_known;
  calls.bytes_known = calls.bytes_known && facts.work.bytes_known;
  for (std::size_t i = begin; i < end; ++i) {
    const LaunchKey& launched = keys_[launches_[i].second];
    const auto same = std::find_if(calls.launches.begin(), calls.launches.end(),
                                   [&](const auto& each) { return each.first == launched; });
    if (same != calls.launches.end())
      ++same->second;
    else
      calls.launches.emplace_back(launched, 1);
  }
}

}  // namespace gable
