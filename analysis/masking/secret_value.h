// SPDX-License-Identifier: Apache-2.0
// Where the value of a name begins in a text, and where it ends: in a shell's words, JSON, YAML,
// headers, connection strings, addresses and programs. Each question reads on from its place once.
#pragma once

#include <cstddef>
#include <string_view>

namespace gable {

[[nodiscard]] inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] inline bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

class ValueFinder {
 public:
  // `quote`: in which the text stands where it is asked about; '\0': in none.
  ValueFinder(std::string_view text, const char& quote) : text_(text), quote_(quote) {}

  // Behind NAME=, NAME: , "NAME": , ['NAME'] = , <NAME>, NAME%3D, name(" and ("NAME", ", where NAME
  // ends at `i`; npos: there is no sign. The size of the text: the value is the next argument.
  [[nodiscard]] std::size_t value_after_sign(std::size_t name, std::size_t i) const;
  [[nodiscard]] std::size_t end_of_value(std::size_t start) const;
  // A header's value has spaces and semicolons.
  [[nodiscard]] std::size_t end_of_line(std::size_t i) const;
  [[nodiscard]] std::size_t skip_spaces(std::size_t i) const;

  [[nodiscard]] char get(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  [[nodiscard]] bool escaped(std::size_t i) const { return i > 0 && text_[i - 1] == '\\'; }
  // Whether a command ends here: ";", "|", "&", a line or the quotation.
  [[nodiscard]] bool ends_command(std::size_t i) const;

 private:
  [[nodiscard]] std::size_t end_of_quotation(std::size_t open) const;
  [[nodiscard]] std::size_t end_of_brackets(std::size_t i) const;
  [[nodiscard]] std::size_t end_of_lines_below(std::size_t i) const;
  [[nodiscard]] bool begins_next(std::size_t i) const;

  std::string_view text_;
  const char& quote_;
};

}  // namespace gable
