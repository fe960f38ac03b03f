// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>

#include "tools/import/report/join.h"

namespace gable {
namespace {

// "(int)128" is "128", as other demanglers write it.
constexpr std::array<std::string_view, 9> kCasts = {
    "(int)",  "(bool)",         "(unsignedint)", "(long)",    "(unsignedlong)",
    "(char)", "(unsignedchar)", "(short)",       "(longlong)"};

bool is_operator_call(std::string_view name, std::size_t at) {
  constexpr std::string_view kOperator = "operator";
  return at >= kOperator.size() &&
         name.substr(at - kOperator.size(), kOperator.size()) == kOperator;
}

}  // namespace

std::string common_name(std::string_view name) {
  std::string plain;
  plain.reserve(name.size());
  if (name.starts_with("void ")) name.remove_prefix(5);
  for (const char c : name) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) plain += c;
  }
  std::string out;
  out.reserve(plain.size());
  for (std::size_t i = 0; i < plain.size();) {
    std::size_t cast = 0;
    for (const std::string_view each : kCasts) {
      const bool there = plain.compare(i, each.size(), each) == 0;
      const std::size_t behind = i + each.size();
      // A parameter list of one type looks the same, and no number follows it.
      if (there && behind < plain.size() &&
          (std::isdigit(static_cast<unsigned char>(plain[behind])) != 0 || plain[behind] == '-'))
        cast = each.size();
    }
    if (cast > 0) {
      i += cast;
    } else {
      out += plain[i++];
    }
  }
  return out;
}

std::string base_name(std::string_view name) {
  std::string plain = common_name(name);
  // Up to the first bracket that belongs to the function, not to a name such as
  // "(anonymousnamespace)".
  std::size_t at = 0;
  constexpr std::string_view kAnonymous = "(anonymousnamespace)";
  while (at < plain.size()) {
    if (plain.compare(at, kAnonymous.size(), kAnonymous) == 0) {
      at += kAnonymous.size();
      continue;
    }
    if ((plain[at] == '<' || plain[at] == '(') && at > 0 && !is_operator_call(plain, at)) break;
    ++at;
  }
  plain.resize(at);
  return plain;
}

}  // namespace gable
