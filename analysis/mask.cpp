// SPDX-License-Identifier: Apache-2.0
#include "analysis/mask.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace gable {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ||
         c == '+';
}
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_secret_word(std::string_view word) {
  // Words about text models and videos that only look alike.
  for (const std::string_view harmless : {"tokeniz", "keyframe", "monkey"}) {
    if (word.find(harmless) != std::string_view::npos) return false;
  }
  for (const std::string_view part : {"token", "secret", "password", "passwd", "passphrase",
                                      "apikey", "credential", "authorization", "bearer"}) {
    if (word.find(part) != std::string_view::npos) return true;
  }
  const auto ends = [&](std::string_view end) {
    return word.size() >= end.size() && word.substr(word.size() - end.size()) == end;
  };
  return ends("key") || ends("keys") || word == "pwd" || word == "pass" || word == "auth";
}

// "--openai-apiKey" is made of the words openai and apikey; each is looked at.
bool names_secret(std::string_view name) {
  std::string word;
  for (const char c : lower(name) + "-") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += c;
      continue;
    }
    if (is_secret_word(word)) return true;
    word.clear();
  }
  return false;
}

// scheme://user:password@host
std::string mask_url(std::string text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const std::size_t start = scheme + 3;
  const std::size_t end = std::min(text.find('/', start), text.size());
  const std::size_t at = text.rfind('@', end);
  const std::size_t colon = text.find(':', start);
  if (at == std::string::npos || at < start || colon == std::string::npos || colon > at)
    return text;
  return text.replace(colon + 1, at - colon - 1, kMasked);
}

// What one word says about itself and about the next.
struct Word {
  std::string masked;
  bool next_is_secret = false;
};

Word mask_word(const std::string& word) {
  std::size_t name_start = 0;  // past quotes and the like
  while (name_start < word.size() && !is_name(word[name_start])) ++name_start;
  std::size_t name_end = name_start;
  while (name_end < word.size() && is_name(word[name_end])) ++name_end;
  const std::string_view name = std::string_view(word).substr(name_start, name_end - name_start);
  // NAME=value, NAME: value, "NAME": value
  std::size_t sign = name_end;
  while (sign < word.size() && (word[sign] == '"' || word[sign] == '\'')) ++sign;
  const bool assigned = sign < word.size() && (word[sign] == '=' || word[sign] == ':');
  if (assigned && names_secret(name)) {
    if (sign + 1 < word.size()) return {word.substr(0, sign + 1) + kMasked, false};
    return {word, true};
  }
  if (name_end == word.size() && name.substr(0, 1) == "-" && names_secret(name))
    return {word, true};
  if (lower(name) == "bearer") return {word, true};
  return {mask_url(word), false};
}

// An argument that holds several words: a shell command, a header line, JSON. `secret`: the first
// value is one.
std::string mask_text(const std::string& text) {
  std::string out;
  bool secret = false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    const char quote = text[i] == '"' || text[i] == '\'' ? text[i] : '\0';
    if (secret && quote != '\0') {  // a quoted value may hold spaces
      end = std::min(text.find(quote, i + 1), text.size() - 1) + 1;
    } else {
      char open = '\0';  // TOKEN="a b" is one word
      for (; end < text.size() && (open != '\0' || !is_space(text[end])); ++end) {
        if (open == '\0' && end > i && text[end - 1] == '=' &&
            (text[end] == '"' || text[end] == '\''))
          open = text[end];
        else if (open != '\0' && text[end] == open)
          open = '\0';
      }
    }
    const std::string word = text.substr(i, end - i);
    i = end;
    if (secret) {
      const bool scheme =
          lower(word) == "bearer" || lower(word) == "basic";  // Authorization: Bearer X
      out += scheme ? word : kMasked;
      secret = scheme;
      continue;
    }
    const Word masked = mask_word(word);
    out += masked.masked;
    secret = masked.next_is_secret;
  }
  return out;
}

}  // namespace

std::vector<std::string> mask_command(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  bool secret = false;
  for (const std::string& argument : command) {
    if (secret && argument.rfind("--", 0) != 0) {
      out.emplace_back(kMasked);
      secret = false;
      continue;
    }
    const Word word = mask_word(argument);
    const bool several = std::any_of(argument.begin(), argument.end(), is_space);
    out.push_back(several && word.masked == argument ? mask_text(argument) : word.masked);
    secret = word.next_is_secret && !several;
  }
  return out;
}

}  // namespace gable
