// SPDX-License-Identifier: Apache-2.0
// Where the value of a name begins in a text that is no code, and where it ends: in options, JSON,
// YAML, XML, headers, connection strings and addresses. Each question reads on from its place once.
#pragma once

#include <cstddef>
#include <string_view>

namespace gable {

[[nodiscard]] inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] inline bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
[[nodiscard]] inline bool is_any(char c, std::string_view of) { return of.find(c) != of.npos; }

class ValueFinder {
 public:
  explicit ValueFinder(std::string_view text) : text_(text) {}

  // Position after NAME=, NAME: , "NAME": , ["NAME", ['NAME'] = or NAME%3D, where NAME ends at `i`;
  // npos: no such sign; the text's size: the value is the next argument.
  [[nodiscard]] std::size_t value_after_sign(std::size_t name, std::size_t i) const;
  // `quote`: the quote character around the value; '\0': none.
  [[nodiscard]] std::size_t end_of_value(std::size_t start, char quote) const;
  // End of a header's value, which may have spaces and semicolons.
  [[nodiscard]] std::size_t end_of_line(std::size_t i, char quote) const;
  [[nodiscard]] std::size_t skip_spaces(std::size_t i) const;
  [[nodiscard]] std::size_t skip_quotes(std::size_t i) const;
  [[nodiscard]] std::size_t end_of_name(std::size_t i) const;

  [[nodiscard]] char get(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

 private:
  [[nodiscard]] bool ends(std::size_t i, char quote) const;
  [[nodiscard]] std::size_t end_of_quotation(std::size_t open) const;
  [[nodiscard]] std::size_t end_of_brackets(std::size_t i, char quote) const;
  [[nodiscard]] std::size_t end_of_lines_below(std::size_t i, char quote) const;
  [[nodiscard]] bool begins_next(std::size_t i) const;

  std::string_view text_;
};

}  // namespace gable
