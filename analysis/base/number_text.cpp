// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/number_text.h"

#include <array>
#include <charconv>

namespace gable {
namespace {

std::string text(double value, std::chars_format format, int digits) {
  std::array<char, 512> out{};  // the largest number has 309 digits before its point
  const auto [end, code] =
      std::to_chars(out.data(), out.data() + out.size(), value, format, digits);
  return {out.data(), code == std::errc() ? end : out.data()};
}

}  // namespace

std::string significant(double value, int digits) {
  return text(value, std::chars_format::general, digits);
}

std::string decimals(double value, int digits) {
  return text(value, std::chars_format::fixed, digits);
}

}  // namespace gable
