// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/display.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <sstream>
#include <vector>

#include "analysis/base/number_text.h"
#include "analysis/base/text.h"

namespace gable {
namespace {

struct Character {
  std::string_view bytes;
  std::size_t width = 1;
};

struct CodeRange {
  std::uint32_t first, last;
};
// The blocks whose characters terminals draw two columns wide (Unicode's East Asian Width W and F,
// by block).
constexpr std::array<CodeRange, 11> kWide = {{{0x1100, 0x115F},
                                              {0x2E80, 0x303E},
                                              {0x3041, 0xA4CF},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF00, 0xFF60},
                                              {0xFFE0, 0xFFE6},
                                              {0x1F300, 0x1F64F},
                                              {0x1F900, 0x1F9FF},
                                              {0x20000, 0x3FFFD}}};

std::size_t code_width(std::uint32_t code) {
  if (code >= 0x300 && code <= 0x36F) return 0;
  for (const CodeRange& range : kWide) {
    if (code >= range.first && code <= range.last) return 2;
  }
  return 1;
}

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> out;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::string_view bytes = text.substr(0, length);
    std::uint32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (const char c : bytes.substr(1))
      code = (code << 6) | (static_cast<unsigned char>(c) & 0x3Fu);
    out.push_back({bytes, code_width(code)});
    text.remove_prefix(bytes.size());
  }
  return out;
}

// What moves the cursor, changes the terminal, turns the direction of the text or is not seen.
constexpr std::array<CodeRange, 11> kUnseen = {{{0x00, 0x1F},
                                                {0x7F, 0x9F},
                                                {0x61C, 0x61C},
                                                {0x200B, 0x200B},
                                                {0x200E, 0x200F},
                                                {0x2028, 0x202E},
                                                {0x2060, 0x206F},
                                                {0xD800, 0xDFFF},
                                                {0xFEFF, 0xFEFF},
                                                {0xFFF9, 0xFFFB},
                                                {0xE0000, 0xE007F}}};

bool is_unseen(std::uint32_t code) {
  return std::any_of(kUnseen.begin(), kUnseen.end(), [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

struct CodePoint {
  std::size_t length = 1;
  std::optional<std::uint32_t> code;  // none: the first byte belongs to no character
};

CodePoint decoded(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xFFu >> (length + 1));
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0u) != 0x80u) return {};
    code = (code << 6) | (byte & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast.at(length) || code > 0x10FFFF) return {};
  return {length, code};
}

std::string escape(const char* pattern, unsigned value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

// Whether `value` would round up to `limit` with the digits shown below it.
bool reaches(double value, double limit, double half_step) { return value >= limit - half_step; }

std::string scaled(double value, std::string_view unit,
                   const std::vector<std::pair<double, const char*>>& prefixes) {
  for (const auto& [factor, prefix] : prefixes) {
    if (reaches(value / factor, 1, 0.0005))
      return digits(value / factor) + " " + prefix + std::string(unit);
  }
  return digits(value / prefixes.back().first) + " " + prefixes.back().second + std::string(unit);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const Character& character : characters(text)) width += character.width;
  return width;
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = decoded(text);
    const std::string_view bytes = text.substr(0, next.length);
    if (!next.code) {
      out += escape("\\x%02x", static_cast<unsigned char>(text[0]));
    } else if (*next.code == '\n' || *next.code == '\t' || *next.code == '\r') {
      out += ' ';
    } else if (*next.code < 0x100 && is_unseen(*next.code)) {
      out += escape("\\x%02x", *next.code);
    } else if (is_unseen(*next.code)) {
      out += escape("\\u%04x", *next.code);
    } else {
      out += bytes;
    }
    text.remove_prefix(next.length);
  }
  return out;
}

std::string shorten_middle(const std::string& text, std::size_t columns) {
  if (display_width(text) <= columns) return text;
  if (columns == 0) return {};
  const std::vector<Character> all = characters(text);
  // The end says more about a path than its beginning.
  const std::size_t head_columns = (columns - 1) / 3, tail_columns = columns - 1 - head_columns;
  std::string head, tail;
  std::size_t used = 0;
  for (auto c = all.begin(); c != all.end() && used + c->width <= head_columns; ++c) {
    head += c->bytes;
    used += c->width;
  }
  used = 0;
  for (auto c = all.rbegin(); c != all.rend() && used + c->width <= tail_columns; ++c) {
    tail.insert(0, c->bytes);
    used += c->width;
  }
  return head.append(kEllipsis) + tail;
}

std::string shorten_end(const std::string& text, std::size_t columns) {
  if (display_width(text) <= columns) return text;
  std::string out;
  std::size_t used = 1;
  for (const Character& character : characters(text)) {
    if (used + character.width > columns) break;
    out += character.bytes;
    used += character.width;
  }
  return out.append(kEllipsis);
}

std::vector<std::string> word_lines(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& last = lines.back();
    if (!last.empty() && display_width(last) + 1 + display_width(word) > columns) {
      lines.push_back(std::move(word));
    } else {
      last += (last.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

std::string digits(const Maybe& value) {
  if (!value) return "-";
  const double v = std::abs(*value);
  if (v == 0) return "0";
  if (reaches(v, 100, 0.05)) return decimals(*value, 0);
  if (reaches(v, 10, 0.005)) return decimals(*value, 1);
  if (reaches(v, 1, 0.0005)) return decimals(*value, 2);
  if (v >= 0.0005) return decimals(*value, 3);
  return "<0.001";
}

std::string with_prefix(const Maybe& value, std::string_view unit) {
  if (!value) return "unknown";
  return scaled(
      *value, unit,
      {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}});
}

std::string duration(const Maybe& ns) {
  if (!ns) return "-";
  if (*ns == 0) return "0 ns";
  return scaled(*ns, "s", {{1e9, ""}, {1e6, "m"}, {1e3, "u"}, {1, "n"}});
}

std::string percent(const Maybe& share) {
  if (!share) return "-";
  return digits(*share * 100) + " %";
}

std::string signed_percent(const Maybe& change) {
  if (!change) return "-";
  const std::string text = percent(std::abs(*change));
  return (*change > 0 ? "+" : *change < 0 ? "-" : "") + text;
}

}  // namespace gable
