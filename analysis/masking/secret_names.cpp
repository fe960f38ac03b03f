// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/base/ascii.h"

namespace gable {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <std::size_t N>
bool has_one_of(std::string_view word, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return word.find(part) != word.npos; });
}

// In lower case; "apiKey" is two words, "APIKEY" is one.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_alnum(c) || (is_upper(c) && i > 0 && is_lower(name[i - 1]))) words.emplace_back();
    if (is_alnum(c)) words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  words.erase(std::remove(words.begin(), words.end(), ""), words.end());
  return words;
}

// Words about text models, videos and devices that only look alike.
constexpr std::array<std::string_view, 9> kHarmless{"tokeniz", "tokenis",  "keyframe",
                                                    "monkey",  "keyboard", "keyword",
                                                    "turkey",  "keypoint", "hotkey"};
constexpr std::array<std::string_view, 12> kWithin{
    "token",  "secret",     "password",      "passwd", "passphrase", "passcode",
    "apikey", "credential", "authorization", "cookie", "signature",  "securestring"};
constexpr std::array<std::string_view, 21> kWhole{
    "pwd",    "pass",     "auth",        "oauth",     "jwt",       "sig",     "pat",
    "otp",    "dsn",      "sas",         "mfa",       "totp",      "pw",      "passw",
    "bearer", "mnemonic", "requirepass", "sessionid", "storepass", "keypass", "creds"};
// Only at the end of a name: "--pin-memory" and "--license-file" are none.
constexpr std::array<std::string_view, 5> kLast{"pin", "license", "licence", "passwort",
                                                "userpass"};
// "access code", "from literal": what the word before makes of one that is harmless alone.
struct Pair {
  std::string_view first, second;
};
constexpr std::array kPairs{
    Pair{"session", "id"},      Pair{"connection", "string"}, Pair{"access", "code"},
    Pair{"auth", "code"},       Pair{"security", "code"},     Pair{"verification", "code"},
    Pair{"pairing", "code"},    Pair{"conn", "str"},          Pair{"activation", "code"},
    Pair{"license", "code"},    Pair{"webhook", "url"},       Pair{"from", "literal"},
    Pair{"recovery", "phrase"}, Pair{"seed", "phrase"},       Pair{"pass", "code"},
    Pair{"secure", "string"},   Pair{"string", "data"},
};
// What may stand after a secret's name that is none itself: how it is handled, not what it is.
constexpr std::array<std::string_view, 24> kAbout{
    "file",  "path",   "dir",    "type",   "types",    "mode",    "method",  "name",
    "names", "env",    "stdin",  "ttl",    "lifetime", "timeout", "scheme",  "provider",
    "len",   "server", "domain", "plugin", "format",   "enabled", "command", "authentication"};
// What may stand after "key" without making it something else.
constexpr std::array<std::string_view, 10> kAfterKey{"id",  "b64",  "base64", "hex",    "pem",
                                                     "raw", "data", "value",  "string", "json"};

// What stands first in the name of an option that says how, and takes no secret.
constexpr std::array<std::string_view, 6> kHow{"ask", "prompt", "no", "disable", "skip", "without"};
// The tokens of text models, and the keys of tables.
constexpr std::array<std::string_view, 13> kOfTexts{"pad",     "bos",   "eos",  "unk",   "sep",
                                                    "cls",     "mask",  "stop", "start", "special",
                                                    "padding", "image", "end"};
constexpr std::array<std::string_view, 11> kOfTables{"sort",  "primary", "foreign", "partition",
                                                     "group", "dict",    "index",   "join",
                                                     "batch", "metric",  "state"};

// "--pad-token-id", "--sort-key"
bool is_of_text_or_table(const std::vector<std::string>& words, std::size_t i) {
  if (i == 0) return false;
  const auto& word = words[i];
  return ((word == "token" || word == "tokens") && is_one_of(words[i - 1], kOfTexts)) ||
         ((word == "key" || word == "keys") && is_one_of(words[i - 1], kOfTables));
}

bool is_key(const std::string& word) {
  return word == "keys" || (word.size() >= 3 && word.compare(word.size() - 3, 3, "key") == 0);
}

bool says_secret(const std::vector<std::string>& words) {
  // "--auth-type none", "--token-file F".
  if (words.size() > 1 && (is_one_of(words.back(), kAbout) || is_one_of(words.front(), kHow)))
    return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (has_one_of(word, kHarmless) || is_of_text_or_table(words, i)) continue;
    if (has_one_of(word, kWithin) || is_one_of(word, kWhole)) return true;
    const auto rest = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (is_key(word) && std::all_of(rest, words.end(), [](const std::string& after) {
          return is_one_of(after, kAfterKey);
        }))
      return true;
    const bool last = i + 1 == words.size();
    if (last && is_one_of(word, kLast)) return true;
    if (!last && word == "session" && is_key(words[i + 1])) return true;
    if (!last && std::any_of(kPairs.begin(), kPairs.end(), [&](const Pair& pair) {
          return word == pair.first && words[i + 1] == pair.second;
        }))
      return true;
  }
  return false;
}

}  // namespace

bool is_name_character(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '+';
}

bool names_secret(std::string_view name) {
  // A definition: -Dpassword=X.
  if (name.substr(0, 2) == "-D" && says_secret(words_of(name.substr(2)))) return true;
  return says_secret(words_of(name));
}

bool names_secret_alone(std::string_view name) {
  if (name.find('.') != name.npos) return false;  // more likely a file
  const auto words = words_of(name);
  if (words.empty() || !says_secret(words)) return false;
  const auto& last = words.back();
  static constexpr std::array<std::string_view, 6> kStrong{"token",  "secret",     "password",
                                                           "passwd", "passphrase", "authorization"};
  static constexpr std::array<std::string_view, 5> kOfKey{"api", "access", "private", "secret",
                                                          "account"};
  if (last == "apikey" || last == "requirepass") return true;
  for (const auto end : kStrong)
    if (last.size() >= end.size() && last.compare(last.size() - end.size(), end.npos, end) == 0)
      return true;
  const auto key = words.size() - (last == "id" ? 2 : 1);  // access_key_id
  return words.size() > 1 && key > 0 && words[key] == "key" && is_one_of(words[key - 1], kOfKey);
}

bool names_several(std::string_view name) {
  const auto words = words_of(name);
  return !words.empty() && words.back().size() > 3 && words.back().back() == 's';
}

bool names_value_of_named(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kValues{"value", "values", "body", "literal",
                                                           "plaintext"};
  const auto words = words_of(name);
  return words.size() == 1 && is_one_of(words.back(), kValues);
}

bool is_verb(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kVerbs{
      "set", "create", "put",    "generic",  "docker-registry", "tls",   "add",
      "get", "list",   "delete", "describe", "update",          "write", "new"};
  return is_one_of(word, kVerbs);
}

bool is_count(std::string_view name, std::string_view value) {
  static constexpr std::array<std::string_view, 16> kCounting{
      "tokens", "max",  "min",    "num", "n",     "count",  "per", "batched",
      "len",    "size", "length", "dim", "heads", "budget", "ids", "limit"};
  const auto words = words_of(name);
  if (std::none_of(words.begin(), words.end(),
                   [](const std::string& word) { return is_one_of(word, kCounting); }))
    return false;
  return !value.empty() && value.size() <= 9 && is_digit(value[0]) &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return is_digit(c) || c == '.' || c == '_' || c == 'k' || c == 'K' || c == 'M';
         });
}

bool is_scheme(std::string_view word) {
  static constexpr std::array<std::string_view, 8> kSchemes{
      "bearer", "basic", "token", "digest", "negotiate", "apikey", "key", "sharedkey"};
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return is_one_of(lower, kSchemes);
}

}  // namespace gable
