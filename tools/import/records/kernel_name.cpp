// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/kernel_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace gable {
namespace {

using NameTokens = std::vector<std::string>;
constexpr std::size_t kLongestName = 32768;  // longer ones are taken as they are

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '@' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_word(const std::string& token) { return is_of_word(token.front()); }
bool is_number(const std::string& token) {
  return std::isdigit(static_cast<unsigned char>(token.front())) != 0;
}
bool is_one_of(const std::string& token, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), token) != all.end();
}
// Words of which types are made without a name.
bool is_built_in(const std::string& token) {
  return is_one_of(token, {"unsigned", "signed", "int", "long", "short", "char", "bool"});
}

NameTokens tokens_of(std::string_view text) {
  // As demanglers and compilers write a namespace without a name.
  static constexpr std::array<std::string_view, 5> kAnonymous = {
      "(anonymous namespace)", "<unnamed>", "{anonymous}", "`anonymous namespace'",
      "_NV_ANON_NAMESPACE"};
  NameTokens tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto* const anonymous =
        std::find_if(kAnonymous.begin(), kAnonymous.end(),
                     [&](std::string_view each) { return text.substr(at).starts_with(each); });
    if (anonymous != kAnonymous.end()) {
      tokens.emplace_back("@");
      at += anonymous->size();
    } else if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    } else if (is_of_word(text[at])) {
      std::size_t end = at;
      while (end < text.size() && is_of_word(text[end])) ++end;
      tokens.emplace_back(text.substr(at, end - at));
      at = end;
    } else {
      tokens.emplace_back(1, text[at++]);
    }
  }
  return tokens;
}

// Behind the bracket that closes the one at `at`; the number of tokens where none does.
std::size_t behind_bracket(const NameTokens& tokens, std::size_t at) {
  std::vector<std::string_view> open;
  for (; at < tokens.size(); ++at) {
    const std::string& token = tokens[at];
    const bool arrow = token == ">" && at > 0 && tokens[at - 1] == "-";
    if (is_one_of(token, {"(", "<", "[", "{"})) {
      open.push_back(token == "(" ? ")" : token == "<" ? ">" : token == "[" ? "]" : "}");
    } else if (is_one_of(token, {")", ">", "]", "}"}) && !arrow) {
      if (open.back() != token) return tokens.size();
      open.pop_back();
      if (open.empty()) return at + 1;
    }
  }
  return at;
}

// "(int)128" and "128u" are "128", "true" is "1".
NameTokens with_plain_values(const NameTokens& tokens) {
  NameTokens out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::size_t cast = i + 1;
    while (tokens[i] == "(" && cast < tokens.size() && is_built_in(tokens[cast])) ++cast;
    // A parameter list of one type looks the same, and no number follows it.
    if (cast > i + 1 && cast + 1 < tokens.size() && tokens[cast] == ")" &&
        (is_number(tokens[cast + 1]) || tokens[cast + 1] == "-" || tokens[cast + 1] == "true" ||
         tokens[cast + 1] == "false")) {
      i = cast;
      continue;
    }
    std::string token = tokens[i];
    if (is_number(token))
      while (token.size() > 1 && is_one_of(token.substr(token.size() - 1), {"u", "U", "l", "L"}))
        token.pop_back();
    out.push_back(token == "true" ? "1" : token == "false" ? "0" : std::move(token));
  }
  return out;
}

// "[lambda(int) (instance 1)]" is "{lambda(int)#1}".
NameTokens with_plain_lambdas(const NameTokens& tokens) {
  NameTokens out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "[" && i + 1 < tokens.size() && tokens[i + 1] == "lambda") {
      out.emplace_back("{");
    } else if (i + 4 < tokens.size() && tokens[i] == "(" && tokens[i + 1] == "instance" &&
               is_number(tokens[i + 2]) && tokens[i + 3] == ")" && tokens[i + 4] == "]") {
      out.insert(out.end(), {"#", tokens[i + 2], "}"});
      i += 4;
    } else {
      out.push_back(tokens[i]);
    }
  }
  return out;
}

// Behind the type that begins at `at`, without what points to it.
std::size_t behind_type(const NameTokens& tokens, std::size_t at) {
  if (at < tokens.size() && is_built_in(tokens[at])) {
    while (at < tokens.size() && is_built_in(tokens[at])) ++at;
    return at;
  }
  const auto is_at = [&](std::string_view token, std::size_t place) {
    return place < tokens.size() && tokens[place] == token;
  };
  while (at < tokens.size()) {
    if (is_at("{", at)) {
      at = behind_bracket(tokens, at);
    } else if (is_word(tokens[at])) {
      ++at;
    }
    if (is_at("<", at)) at = behind_bracket(tokens, at);
    // A function, of something within it.
    if (is_at("(", at)) {
      const std::size_t behind = behind_bracket(tokens, at);
      if (is_at(":", behind)) at = behind;
    }
    if (!is_at(":", at) || !is_at(":", at + 1)) break;
    at += 2;
  }
  return at;
}

// "const float *" is "float const*".
void move_const(NameTokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != "const" || (i > 0 && !is_one_of(tokens[i - 1], {"(", ",", "<"}))) continue;
    const std::size_t behind = behind_type(tokens, i + 1);
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(begin, begin + 1, tokens.begin() + static_cast<std::ptrdiff_t>(behind));
  }
}

std::string joined(const NameTokens& tokens, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from && is_word(tokens[i - 1]) && is_word(tokens[i])) out += ' ';
    out += tokens[i];
  }
  return out;
}

// The arguments between the brackets at `from` and before `to`.
std::string arguments_without_lambdas(const NameTokens& tokens, std::size_t from, std::size_t to,
                                      bool& found) {
  std::string out = "<";
  std::size_t begin = from + 1;
  for (std::size_t i = begin; i < to;) {
    const bool ends = i + 1 == to || tokens[i] == ",";
    if (!ends) {
      i = is_one_of(tokens[i], {"(", "<", "[", "{"}) ? behind_bracket(tokens, i) : i + 1;
      continue;
    }
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    const bool lambda = std::find(first, last, "lambda") != last;
    found = found || lambda;
    out += (lambda ? "*" : joined(tokens, begin, i)) + tokens[i];
    begin = ++i;
  }
  return out;
}

}  // namespace

std::string_view KernelName::last_part() const {
  const std::size_t colon = function.rfind(':');
  return std::string_view(function).substr(colon == std::string::npos ? 0 : colon + 1);
}

KernelName kernel_name(std::string_view name) {
  if (name.size() > kLongestName) {
    const std::string text(name);
    return {text, {}, {}, text, true};
  }
  NameTokens tokens = with_plain_lambdas(with_plain_values(tokens_of(name)));
  move_const(tokens);
  KernelName out;
  bool lambda = false;
  std::size_t at = 0, begin = 0;  // behind the return type
  while (at < tokens.size()) {
    const std::string& token = tokens[at];
    const bool of_operator = at > 0 && tokens[at - 1] == "operator";
    if (token == "(" && at > begin && !of_operator) break;
    if (is_one_of(token, {"(", "<", "[", "{"}) && !of_operator) {
      const std::size_t behind = behind_bracket(tokens, at);
      if (token == "<") {
        out.has_arguments = true;
        out.without_lambdas += arguments_without_lambdas(tokens, at, behind, lambda);
      }
      at = behind;
      continue;
    }
    if (is_word(token) && at > begin && !is_one_of(tokens[at - 1], {":", "~"}) && !of_operator) {
      begin = at;
      out = {};
    }
    out.function += token;
    out.without_lambdas += token;
    ++at;
  }
  out.instance = joined(tokens, begin, at);
  if (at < tokens.size()) out.parameters = joined(tokens, at, behind_bracket(tokens, at));
  if (!lambda) out.without_lambdas.clear();
  return out;
}

}  // namespace gable
