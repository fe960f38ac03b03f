// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_value.h"

#include "analysis/masking/secret_names.h"

namespace gable {

std::size_t ValueFinder::skip_spaces(std::size_t i) const {
  while (i < text_.size() && is_space(text_[i])) ++i;
  return i;
}

bool ValueFinder::ends_command(std::size_t i) const {
  const char c = get(i);
  return i >= text_.size() || c == ';' || c == '|' || c == '&' || c == '\n' || c == ')' ||
         (quote_ != '\0' && c == quote_);
}

std::size_t ValueFinder::value_after_sign(std::size_t name, std::size_t i) const {
  bool quoted = false;
  while (i < text_.size() && (is_quote(text_[i]) || text_[i] == '\\' || text_[i] == ']')) {
    quoted = quoted || is_quote(text_[i]);
    ++i;
  }
  const auto sign = skip_spaces(i);
  if (get(sign) == '=' || get(sign) == ':') {
    // "A word: another" where the sign is no sign, or an address.
    if (text_.compare(sign, 3, "://") == 0) return text_.npos;
    auto value = sign + 1;
    while (get(value) == '=' || get(value) == '>') ++value;
    return skip_spaces(value);
  }
  for (const std::string_view sign_in_address : {"%3D", "%3d", "%3A", "%3a"})
    if (text_.compare(i, 3, sign_in_address) == 0) return i + 3;
  if (get(i) == '>' && name > 0 && get(name - 1) == '<') return i + 1;
  if ((quoted && get(sign) == ',') || get(i) == '(') {
    auto value = skip_spaces((get(i) == '(' ? i : sign) + 1);
    while (get(value) == '\\') ++value;
    if (is_quote(get(value))) return value;
  }
  return text_.npos;
}

// Behind the quotation that opens at `open`.
std::size_t ValueFinder::end_of_quotation(std::size_t open) const {
  const char c = text_[open];
  const bool inner = escaped(open);  // \"X\" ends at the next \"
  for (auto i = open + 1; i < text_.size(); ++i) {
    if (inner ? text_[i] == c && escaped(i) : text_[i] == c && !escaped(i)) return i + 1;
  }
  return text_.size();
}

std::size_t ValueFinder::end_of_brackets(std::size_t i) const {
  std::size_t depth = 0;
  while (i < text_.size()) {
    const char c = text_[i];
    if (quote_ != '\0' && c == quote_ && !escaped(i)) return i;
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
std::size_t ValueFinder::end_of_lines_below(std::size_t i) const {
  const auto inner = [&](std::size_t line) {
    return is_space(get(line)) || (get(line) == '-' && is_space(get(line + 1)));
  };
  i = end_of_line(i);
  while (get(i) == '\n' && inner(i + 1)) i = end_of_line(i + 1);
  return i;
}

std::size_t ValueFinder::end_of_value(std::size_t start) const {
  auto i = start;
  while (get(i) == '\\' && is_quote(get(i + 1))) ++i;
  if (get(i) == '{' || get(i) == '[' || get(i) == '(') return end_of_brackets(i);
  const bool block = (get(i) == '|' || get(i) == '>') &&
                     (get(i + 1) == '\n' || (get(i + 2) == '\n' && get(i + 1) != ' '));
  if (block || (get(i) == '-' && get(i + 1) == ' ')) return end_of_lines_below(i);
  bool joined = false;  // a quotation ended here: what follows at once belongs to the word
  const bool element = start > 0 && text_[start - 1] == '>';
  while (i < text_.size()) {
    const char c = text_[i];
    if (quote_ != '\0' && c == quote_ && !escaped(i)) return i;
    if (is_quote(c)) {
      i = end_of_quotation(i);
      joined = true;
      // A program's text joins quotations over spaces.
      if (const auto more = skip_spaces(i); more > i && is_quote(get(more)) && get(more) != quote_)
        i = more;
      continue;
    }
    if (is_space(c) || (element && c == '<')) return i;
    if (c == '(') {  // a call, or $(a command)
      i = end_of_brackets(i);
      continue;
    }
    if (joined && !is_name_character(c)) return i;
    if ((c == ',' || c == ';' || c == '&' || c == '|') && begins_next(i + 1)) return i;
    joined = false;
    ++i;
  }
  return i;
}

std::size_t ValueFinder::end_of_line(std::size_t i) const {
  while (i < text_.size() && text_[i] != '\n' && (quote_ == '\0' || text_[i] != quote_)) ++i;
  return i;
}

// After a separator: nothing, a space, or the next NAME= or "NAME":
bool ValueFinder::begins_next(std::size_t i) const {
  if (i >= text_.size() || is_space(text_[i])) return true;
  while (i < text_.size() && (is_quote(text_[i]) || text_[i] == '\\')) ++i;
  const auto name = i;
  while (i < text_.size() && is_name_character(text_[i])) ++i;
  if (i == name) return false;
  while (i < text_.size() && (is_quote(text_[i]) || text_[i] == '\\')) ++i;
  return get(i) == '=' || get(i) == ':';
}

}  // namespace gable
