// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_value.h"

#include "analysis/masking/secret_names.h"

namespace gable {

std::size_t ValueFinder::skip_spaces(std::size_t i) const {
  while (i < text_.size() && is_space(text_[i])) ++i;
  return i;
}

std::size_t ValueFinder::skip_quotes(std::size_t i) const {
  while (is_quote(get(i)) || get(i) == '\\') ++i;
  return i;
}

std::size_t ValueFinder::end_of_name(std::size_t i) const {
  while (i < text_.size() && is_name_character(text_[i])) ++i;
  return i;
}

std::size_t ValueFinder::value_after_sign(std::size_t name, std::size_t i) const {
  if (name > 0 && get(name - 1) == '<') {
    const auto close = text_.find_first_of("<>", i);
    return close != text_.npos && text_[close] == '>' ? close + 1 : text_.npos;
  }
  for (const std::string_view sign_in_address : {"%3D", "%3d", "%3A", "%3a"})
    if (text_.compare(i, 3, sign_in_address) == 0) return i + 3;
  const bool quoted = is_quote(get(i));
  i = skip_quotes(i);
  while (get(i) == ']') ++i;
  i = skip_spaces(i);
  if (quoted && get(i) == ',' && is_quote(get(skip_spaces(i + 1)))) return skip_spaces(i + 1);
  if ((get(i) != '=' && get(i) != ':') || text_.compare(i, 3, "://") == 0) return text_.npos;
  ++i;
  while (get(i) == '=' || get(i) == '>') ++i;
  return skip_spaces(i);
}

bool ValueFinder::ends(std::size_t i, char quote) const {
  return quote != '\0' && text_[i] == quote && (i == 0 || text_[i - 1] != '\\');
}

// Behind the quotation that opens at `open`.
std::size_t ValueFinder::end_of_quotation(std::size_t open) const {
  const bool inner = open > 0 && text_[open - 1] == '\\';  // \"X\" ends at the next \"
  for (auto i = open + 1; i < text_.size(); ++i)
    if (text_[i] == text_[open] && (text_[i - 1] == '\\') == inner) return i + 1;
  return text_.size();
}

std::size_t ValueFinder::end_of_brackets(std::size_t i, char quote) const {
  std::size_t depth = 0;
  while (i < text_.size()) {
    const char c = text_[i];
    if (ends(i, quote)) return i;
    if (is_quote(c)) {
      i = end_of_quotation(i);
      continue;
    }
    if (c == '{' || c == '[' || c == '(') ++depth;
    if ((c == '}' || c == ']' || c == ')') && --depth == 0) return i + 1;
    ++i;
  }
  return i;
}

// YAML: "|" and the lines that are further in, or a list of lines with "- ".
std::size_t ValueFinder::end_of_lines_below(std::size_t i, char quote) const {
  const auto inner = [&](std::size_t line) {
    return is_space(get(line)) || (get(line) == '-' && is_space(get(line + 1)));
  };
  i = end_of_line(i, quote);
  while (get(i) == '\n' && inner(i + 1)) i = end_of_line(i + 1, quote);
  return i;
}

std::size_t ValueFinder::end_of_value(std::size_t start, char quote) const {
  auto i = start;
  while (get(i) == '\\' && is_quote(get(i + 1))) ++i;
  if (get(i) == '{' || get(i) == '[' || get(i) == '(') return end_of_brackets(i, quote);
  const bool block = (get(i) == '|' || get(i) == '>') &&
                     (get(i + 1) == '\n' || (get(i + 2) == '\n' && get(i + 1) != ' '));
  if (block || (get(i) == '-' && get(i + 1) == ' ')) return end_of_lines_below(i, quote);
  bool joined = false;  // a quotation ended here: what follows at once belongs to the word
  const bool element = start > 0 && text_[start - 1] == '>';
  while (i < text_.size()) {
    const char c = text_[i];
    if (ends(i, quote) || is_space(c) || (element && c == '<')) return i;
    if (is_quote(c)) {
      i = end_of_quotation(i);
      joined = true;
      continue;
    }
    if (joined && !is_name_character(c)) return i;
    if ((c == ',' || c == ';' || c == '&') && begins_next(i + 1)) return i;
    joined = false;
    ++i;
  }
  return i;
}

std::size_t ValueFinder::end_of_line(std::size_t i, char quote) const {
  while (i < text_.size() && text_[i] != '\n' && (quote == '\0' || text_[i] != quote)) ++i;
  return i;
}

// After a separator: nothing, a space, or the next NAME= or "NAME":
bool ValueFinder::begins_next(std::size_t i) const {
  if (i >= text_.size() || is_space(text_[i])) return true;
  const auto name = skip_quotes(i);
  const auto end = end_of_name(name);
  const auto sign = skip_quotes(end);
  return end > name && (get(sign) == '=' || get(sign) == ':');
}

}  // namespace gable
