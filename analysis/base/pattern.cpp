// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/pattern.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <regex>
#include <string>

#include "analysis/base/ascii.h"

namespace gable {
namespace {

constexpr std::string_view kRegex = "regex:";
constexpr std::size_t kMostLength = 4096, kMostDepth = 100;

std::size_t depth_of(std::string_view regex) {
  std::size_t depth = 0, deepest = 0;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    if (regex[i] == '\\') {
      ++i;
    } else if (regex[i] == '(') {
      deepest = std::max(deepest, ++depth);
    } else if (regex[i] == ')' && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

// Numbers of repetitions that std::regex would multiply beyond what it can hold.
void refuse_large_counts(std::string_view regex) {
  constexpr std::size_t kMostDigits = 9;
  std::size_t digits = 0;
  bool braces = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c == '\\') ++i;
    if (c == '{' || c == '}') braces = c == '{';
    digits = braces && is_digit(c) ? digits + 1 : 0;
    if (digits > kMostDigits) throw std::regex_error(std::regex_constants::error_space);
  }
}

const char* said_of(std::regex_constants::error_type error) {
  switch (error) {
    case std::regex_constants::error_paren:
      return "unmatched parenthesis, or a sign such as * that stands alone";
    case std::regex_constants::error_brack:
      return "unmatched bracket";
    case std::regex_constants::error_brace:
      return "unmatched brace";
    case std::regex_constants::error_badbrace:
      return "the braces hold no number of repetitions such as {2,5}";
    case std::regex_constants::error_range:
      return "a range in brackets ends before it begins";
    case std::regex_constants::error_badrepeat:
      return "a *, +, ? or { has nothing before it to repeat";
    case std::regex_constants::error_escape:
      return "what follows a backslash is not a valid escape";
    case std::regex_constants::error_backref:
      return "it refers to a group that does not exist";
    case std::regex_constants::error_ctype:
    case std::regex_constants::error_collate:
      return "there is no such class of characters";
    case std::regex_constants::error_space:
    case std::regex_constants::error_complexity:
    case std::regex_constants::error_stack:
      return "it repeats too much to be tried; use smaller numbers in braces";
    default:
      return "it cannot be read";
  }
}

std::size_t character_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    ++length;
  return length;
}

// The set that starts at glob[0] == '[': whether `c` is in it; `length` is that of the set, 0 when
// it never ends.
bool in_set(std::string_view glob, unsigned char c, std::size_t& length) {
  std::size_t i = 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (const std::size_t first = i; i < glob.size(); ++i) {
    if (glob[i] == ']' && i > first) {
      length = i + 1;
      return found != negated;
    }
    const auto low = static_cast<unsigned char>(glob[i]);
    unsigned char high = low;
    if (i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']') {
      high = static_cast<unsigned char>(glob[i + 2]);
      i += 2;
    }
    found = found || (c >= low && c <= high);
  }
  length = 0;
  return false;
}

// The length of what the head of the glob takes from the head of the text; 0 when they differ. Not
// for '*'.
std::size_t take(std::string_view glob, std::string_view text, std::size_t& glob_length) {
  glob_length = 1;
  if (glob[0] == '?') return character_length(text);
  if (glob[0] == '[') {
    std::size_t length = 0;
    const bool inside = in_set(glob, static_cast<unsigned char>(text[0]), length);
    if (length > 0) {
      glob_length = length;
      return inside ? character_length(text) : 0;
    }
  }
  if (glob[0] == '\\' && glob.size() > 1) {
    glob_length = 2;
    return glob[1] == text[0] ? 1 : 0;
  }
  return glob[0] == text[0] ? 1 : 0;
}

// Linear but for the last star seen, which is tried further to the right on each mismatch.
bool glob_matches(std::string_view glob, std::string_view text) {
  std::optional<std::pair<std::string_view, std::string_view>> retry;
  while (true) {
    if (!glob.empty() && glob[0] == '*') {
      glob.remove_prefix(1);
      retry.emplace(glob, text);
      continue;
    }
    if (glob.empty() && text.empty()) return true;
    std::size_t glob_length = 0;
    const std::size_t taken = glob.empty() || text.empty() ? 0 : take(glob, text, glob_length);
    if (taken > 0) {
      glob.remove_prefix(glob_length);
      text.remove_prefix(taken);
      continue;
    }
    if (!retry || retry->second.empty()) return false;
    retry->second.remove_prefix(1);
    glob = retry->first;
    text = retry->second;
  }
}

}  // namespace

bool is_oversized_regex(std::string_view expression) {
  return expression.size() > kMostLength || depth_of(expression) > kMostDepth;
}

std::string problem_of_regex(const std::string& expression) {
  try {
    refuse_large_counts(expression);
    const std::regex probe(expression);
    return {};
  } catch (const std::regex_error& error) {
    return said_of(error.code());
  }
}

struct Pattern::Impl {
  std::string glob;
  std::optional<std::regex> regex;
};

Pattern::Parsed Pattern::parse(std::string_view text) {
  Parsed parsed;
  try {
    auto impl = std::make_shared<Impl>();
    if (text.substr(0, kRegex.size()) == kRegex) {
      text.remove_prefix(kRegex.size());
      if (is_oversized_regex(text)) {
        parsed.error = "A regular expression may have " + std::string(kRegexLimits) +
                       "; this one begins with \"" + std::string(text.substr(0, 20)) + "\".";
        return parsed;
      }
      refuse_large_counts(text);
      impl->regex.emplace(std::string(text), std::regex::ECMAScript | std::regex::optimize);
    } else {
      impl->glob = text;
    }
    parsed.pattern.impl_ = std::move(impl);
  } catch (const std::regex_error& error) {
    parsed.error =
        "\"" + std::string(text) + "\" is not a regular expression: " + said_of(error.code()) + ".";
  } catch (const std::exception&) {
    parsed.error = "There is not enough memory for this pattern.";
  }
  return parsed;
}

bool Pattern::matches(std::string_view text) const {
  if (!impl_) return false;
  if (!impl_->regex) return glob_matches(impl_->glob, text);
  try {
    text = text.substr(0, kMaxText);
    return std::regex_search(text.begin(), text.end(), *impl_->regex);
  } catch (const std::exception&) {  // too complex for this text
    return false;
  }
}

}  // namespace gable
