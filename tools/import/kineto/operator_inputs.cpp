// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/operator_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace gable {
namespace {

constexpr std::array<InputType, 15> kTypes = {{{"float", "fp32", 4},
                                               {"double", "fp64", 8},
                                               {"c10::Half", "fp16", 2},
                                               {"c10::BFloat16", "bf16", 2},
                                               {"c10::complex<float>", "", 8},
                                               {"c10::complex<double>", "", 16},
                                               {"c10::Float8_e4m3fn", "fp8", 1},
                                               {"c10::Float8_e5m2", "fp8", 1},
                                               {"c10::Float8_e4m3fnuz", "fp8", 1},
                                               {"c10::Float8_e5m2fnuz", "fp8", 1},
                                               {"c10::Float4_e2m1fn_x2", "fp4", 1},
                                               {"c10::Float8_e8m0fnu", "", 1},
                                               {"signed char", "int8", 1},
                                               {"unsigned char", "int8", 1},
                                               {"", "", 0}}};

const InputType* find_type(std::string_view name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end() - 1,
                                   [name](const InputType& type) { return type.name == name; });
  return found == kTypes.end() - 1 ? nullptr : found;
}

std::string_view value_at(const TraceEvent& event, std::size_t place) {
  return place < event.values.size() ? std::string_view(event.values[place]) : std::string_view();
}

}  // namespace

const Sizes& sizes_of(const TraceEvent& event, std::size_t place) {
  static const Sizes kNone;
  return place < event.dims.size() ? event.dims[place] : kNone;
}

const InputType& type_of(const TraceEvent& event, std::size_t place) {
  if (place < event.types.size()) {
    if (const InputType* type = find_type(event.types[place])) return *type;
    // Another type, such as that of integers.
    if (!event.types[place].empty()) return kTypes.back();
  }
  for (const std::string& name : event.types)
    if (const InputType* type = find_type(name)) return *type;
  return kTypes.back();
}

std::optional<Sizes> list_at(const TraceEvent& event, std::size_t place, std::size_t count) {
  std::string_view text = value_at(event, place);
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
  if (!text.empty()) return std::nullopt;  // it is no list of numbers
  if (list.size() == 1) list.resize(count, list[0]);
  return list.size() == count ? std::optional<Sizes>(list) : std::nullopt;
}

std::optional<std::int64_t> number_at(const TraceEvent& event, std::size_t place) {
  const std::string_view text = value_at(event, place);
  std::int64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && stop == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<std::vector<bool>> truths_at(const TraceEvent& event, std::size_t place) {
  std::string_view text = value_at(event, place);
  std::vector<bool> truths;
  for (;;) {
    const auto begin = text.find_first_not_of("[, ]");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(", ]"));
    const bool yes = word == "True" || word == "true" || word == "1";
    if (!yes && word != "False" && word != "false" && word != "0") return std::nullopt;
    truths.push_back(yes);
    text.remove_prefix(word.size());
  }
  return truths.empty() ? std::nullopt : std::optional(truths);
}

double elements(const Sizes& sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

bool is_sane(const Sizes& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
    return size >= 0 && size <= (std::int64_t{1} << 40);
  });
}

}  // namespace gable
