// SPDX-License-Identifier: Apache-2.0
#include "collector/options/range_name.h"

#include <algorithm>

#include "analysis/base/ascii.h"

namespace gable {
namespace {

std::regex compile(const std::string& text, bool& ok) {
  try {
    ok = true;
    return std::regex(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::exception&) {
    ok = false;
    return {};
  }
}

// Length of ", seq = 123" or ", op_id = 123" at the front of `text`, 0 when it is neither.
std::size_t sequence_number_length(std::string_view text) {
  for (std::string_view key : {std::string_view(", seq = "), std::string_view(", op_id = ")}) {
    if (!text.starts_with(key)) continue;
    std::size_t end = key.size();
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > key.size()) return end;
  }
  return 0;
}

std::string digits_as_one_sign(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      out += text[i];
    } else if (i == 0 || !is_digit(text[i - 1])) {
      out += '#';
    }
  }
  return out;
}

}  // namespace

RangeNaming::RangeNaming(const std::vector<std::string>& fold, const std::string& step_range) {
  bool ok = false;
  for (const auto& text : fold) {
    auto expression = compile(text, ok);
    if (ok) fold_.push_back(std::move(expression));
  }
  if (!step_range.empty()) {
    auto expression = compile(step_range, ok);
    if (ok) step_.push_back(std::move(expression));
  }
}

std::string_view RangeNaming::cut_sequence_numbers(std::string_view raw, std::string& buffer) {
  std::size_t at = raw.find(',');
  if (at == std::string_view::npos) return raw;
  bool changed = false;
  while (at < raw.size()) {
    const std::size_t length = sequence_number_length(raw.substr(at));
    if (length != 0) {
      if (!changed) buffer.assign(raw.data(), at);
      changed = true;
      at += length;
    } else {
      if (changed) buffer += raw[at];
      ++at;
      if (!changed) {
        const auto next = raw.find(',', at);
        if (next == std::string_view::npos) return raw;
        at = next;
      }
    }
  }
  return changed ? std::string_view(buffer) : raw;
}

RangeNaming::Name RangeNaming::name(std::string_view cut) const {
  Name out{std::string(cut), false};
  try {
    for (const auto& expression : step_) {
      if (std::regex_search(out.text, expression)) {
        out.is_step = true;
        out.text = digits_as_one_sign(out.text);
      }
    }
    if (!out.is_step) {
      for (const auto& expression : fold_) out.text = std::regex_replace(out.text, expression, "");
    }
  } catch (const std::exception&) {
    // An expression too complex for this name: the name stays as it is.
    out.text = std::string(cut);
  }
  if (out.text.empty()) out.text = "(unnamed)";
  return out;
}

}  // namespace gable
