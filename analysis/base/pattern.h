// SPDX-License-Identifier: Apache-2.0
// The one pattern language of all options: globs over a shown path or a name; "regex:" in front
// switches to a regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gable {

// Whether std::regex would recurse too deeply for this expression: it recurses for each part and
// level, on the caller's stack.
[[nodiscard]] bool is_oversized_regex(std::string_view expression);
inline constexpr std::string_view kRegexLimits =
    "at most 4096 characters and 100 nested parentheses";
// What is wrong with an ECMAScript expression, such as "a parenthesis is not closed"; empty if
// nothing.
[[nodiscard]] std::string problem_of_regex(const std::string& expression);

// A glob matches the whole text: * is any text (slashes too), ? one character, [a-z] and [!a-z] one
// of a set, \ takes the next character as it is. "regex:" is followed by an ECMAScript expression
// that may match anywhere in the text.
class Pattern {
 public:
  struct Parsed;
  // Parses a pattern; the error is a sentence if the expression is invalid. Never throws.
  [[nodiscard]] static Parsed parse(std::string_view text);

  [[nodiscard]] bool matches(std::string_view text) const;  // never throws

  // Longer texts are matched only up to here, because regular expressions recurse.
  static constexpr std::size_t kMaxText = 4096;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

struct Pattern::Parsed {
  Pattern pattern;    // matches nothing after an error
  std::string error;  // empty on success
};

}  // namespace gable
