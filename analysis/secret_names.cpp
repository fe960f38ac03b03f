// SPDX-License-Identifier: Apache-2.0
#include "analysis/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/ascii.h"

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
constexpr std::array<std::string_view, 11> kHarmless{
    "tokeniz", "tokenis",  "keyframe", "monkey",   "keyboard",    "keyword",
    "turkey",  "keypoint", "hotkey",   "secretar", "cookiecutter"};
constexpr std::array<std::string_view, 12> kWithin{
    "token",  "secret",     "password",      "passwd", "passphrase", "passcode",
    "apikey", "credential", "authorization", "cookie", "signature",  "securestring"};
constexpr std::array<std::string_view, 23> kWhole{
    "pwd",    "pass",     "auth",        "oauth",     "jwt",       "sig",     "pat",  "otp",
    "dsn",    "sas",      "mfa",         "totp",      "pw",        "passw",   "upw",  "opw",
    "bearer", "mnemonic", "requirepass", "sessionid", "storepass", "keypass", "creds"};
// Only at the end of a name: "--pin-memory" and "--license-file" are none.
constexpr std::array<std::string_view, 5> kLast{"pin", "license", "licence", "passwort",
                                                "userpass"};
// In code these are words like others.
constexpr std::array<std::string_view, 8> kOfCode{"pass", "pat",     "sig",     "signature",
                                                  "pin",  "license", "licence", "sas"};
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
    Pair{"secure", "string"},   Pair{"string", "data"},       Pair{"string", "value"},
};
// What may stand after a secret's name that is none itself: how it is handled, not what it is.
constexpr std::array<std::string_view, 25> kAbout{
    "file",    "path",   "dir",     "type",          "types", "mode",   "method",
    "name",    "names",  "env",     "stdin",         "fd",    "ttl",    "lifetime",
    "timeout", "scheme", "cutter",  "provider",      "len",   "server", "domain",
    "plugin",  "format", "enabled", "authentication"};
// What may stand after "key" without making it something else.
constexpr std::array<std::string_view, 10> kAfterKey{"id",  "b64",  "base64", "hex",    "pem",
                                                     "raw", "data", "value",  "string", "json"};
// What stands first in the name of an option that says how, and takes no secret.
constexpr std::array<std::string_view, 6> kHow{"ask", "prompt", "no", "disable", "skip", "without"};
// The tokens of text models, by the word before and by the word after.
constexpr std::array<std::string_view, 27> kOfTexts{
    "pad",   "bos",    "eos",    "unk",     "sep",   "cls",   "mask",   "stop",     "start",
    "image", "end",    "next",   "last",    "per",   "input", "text",   "video",    "special",
    "audio", "vision", "visual", "padding", "first", "class", "speech", "register", "decoder"};
constexpr std::array<std::string_view, 16> kAfterToken{
    "ids",   "dropout", "type",   "embedding", "embeddings", "logits",  "mask", "level",
    "count", "merging", "length", "classes",   "per",        "pruning", "drop", "classification"};
// "--api-tokens" are no words of a text.
constexpr std::array<std::string_view, 5> kWithSecret{"api", "access", "refresh", "hf", "bot"};
// The keys of tables and data sets, by the word before.
constexpr std::array<std::string_view, 28> kOfTables{
    "sort",   "primary", "foreign", "partition", "group",    "dict",   "index",
    "join",   "batch",   "metric",  "state",     "image",    "img",    "text",
    "label",  "caption", "target",  "input",     "output",   "video",  "audio",
    "sample", "feature", "column",  "data",      "question", "answer", "dataset"};

// "--pad-token-id", "--token-dropout", "--sort-key"
bool is_of_text_or_table(const std::vector<std::string>& words, std::size_t i) {
  const auto& word = words[i];
  const bool token = word == "token" || word == "tokens";
  if (token && i + 1 < words.size() && is_one_of(words[i + 1], kAfterToken)) return true;
  if (i == 0) return false;
  return (token && is_one_of(words[i - 1], kOfTexts)) ||
         ((word == "key" || word == "keys") && is_one_of(words[i - 1], kOfTables));
}

bool is_key(const std::string& word) {
  return word == "keys" || (word.size() >= 3 && word.compare(word.size() - 3, 3, "key") == 0);
}

// Which of the words says it; how many there are: none.
std::size_t saying(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (has_one_of(word, kHarmless) || is_of_text_or_table(words, i)) continue;
    if (has_one_of(word, kWithin) || is_one_of(word, kWhole)) return i;
    const auto rest = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (is_key(word) && std::all_of(rest, words.end(), [](const std::string& after) {
          return is_one_of(after, kAfterKey);
        }))
      return i;
    const bool last = i + 1 == words.size();
    if (last && is_one_of(word, kLast)) return i;
    if (!last && word == "session" && is_key(words[i + 1])) return i;
    if (!last && std::any_of(kPairs.begin(), kPairs.end(), [&](const Pair& pair) {
          return word == pair.first && words[i + 1] == pair.second;
        }))
      return i;
  }
  return words.size();
}

Naming naming(const std::vector<std::string>& words) {
  const auto i = saying(words);
  if (i == words.size()) return Naming::nothing;
  // "--auth-type none", "--token-file F".
  if (words.size() > 1 && (is_one_of(words.back(), kAbout) || is_one_of(words.front(), kHow)))
    return Naming::about;
  const auto& word = words[i];
  const bool plural = word == "tokens" && (i == 0 || !is_one_of(words[i - 1], kWithSecret));
  const bool alone = (word == "key" || word == "keys") && i == 0;
  return alone || plural ? Naming::weakly : Naming::clearly;
}

// A definition: -Dpassword=X.
std::string_view without_define(std::string_view name) {
  return name.size() > 2 && name.substr(0, 2) == "-D" ? name.substr(2) : name;
}

}  // namespace

bool is_name_character(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '+';
}

Naming naming(std::string_view name) { return naming(words_of(without_define(name))); }

Naming naming_in_code(std::string_view name) {
  const auto words = words_of(without_define(name));
  const auto kind = naming(words);
  return kind == Naming::clearly && is_one_of(words[saying(words)], kOfCode) ? Naming::weakly
                                                                             : kind;
}

bool names_secret(std::string_view name) {
  const auto kind = naming(name);
  return kind == Naming::weakly || kind == Naming::clearly;
}

bool names_secret_alone(std::string_view name) {
  if (name.find('.') != name.npos) return false;  // more likely a file
  const auto words = words_of(name);
  if (naming(words) != Naming::clearly) return false;
  const auto& last = words.back();
  static constexpr std::array<std::string_view, 7> kStrong{
      "token", "secret", "password", "passwd", "passphrase", "authorization", "pw"};
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

bool names_input(std::string_view name) {
  const auto words = words_of(name);
  return naming(words) == Naming::about && (words.back() == "stdin" || words.back() == "fd");
}

bool names_login(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kLogins{"login",  "auth",  "authenticate",
                                                           "signin", "logon", "authtoken"};
  const auto words = words_of(name);
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return is_one_of(word, kLogins); });
}

bool is_number(std::string_view word) {
  return !word.empty() && word.size() <= 12 && (is_digit(word[0]) || word.size() > 1) &&
         word.find_first_not_of("0123456789._+-ekKMGBT") == word.npos &&
         word.find_first_of("0123456789") <= 1;
}

bool is_harmless(std::string_view name, std::string_view value) {
  static constexpr std::array<std::string_view, 17> kCounting{
      "tokens", "max",  "min",    "num", "n",     "count",  "per", "batched", "total",
      "len",    "size", "length", "dim", "heads", "budget", "ids", "limit"};
  const auto words = words_of(name);
  const bool weakly = naming(words) == Naming::weakly;
  if (is_number(value))
    return weakly || std::any_of(words.begin(), words.end(), [](const std::string& word) {
             return is_one_of(word, kCounting);
           });
  if (!weakly || value.empty()) return false;
  if (value == "True" || value == "False" || value == "None") return true;
  return value.size() <= 24 && std::all_of(value.begin(), value.end(), [](char c) {
           return is_lower(c) || c == '_' || c == '-' || c == '/' || c == '.';
         });
}

namespace {

struct Mixture {
  bool random = false, issued = false;
};

// Of one run of letters and digits.
Mixture mixture_of(std::string_view run) {
  std::size_t groups = 0;  // of digits
  bool upper = false, lower = false, hex = true;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const char c = run[i];
    upper = upper || is_upper(c);
    lower = lower || is_lower(c);
    hex = hex && (is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    if (is_digit(c) && (i == 0 || !is_digit(run[i - 1]))) ++groups;
  }
  Mixture mixture;
  mixture.issued = !hex && upper && lower && groups >= 2 && run.size() >= 10;
  mixture.random = mixture.issued || (run.size() >= 12 && groups >= 3);
  return mixture;
}

bool any_run(std::string_view word, bool Mixture::*which) {
  for (std::size_t i = 0; i < word.size();) {
    const auto begin = i;
    while (i < word.size() && is_alnum(word[i])) ++i;
    if (mixture_of(word.substr(begin, i - begin)).*which) return true;
    ++i;
  }
  return false;
}

}  // namespace

bool looks_random(std::string_view word) { return any_run(word, &Mixture::random); }
bool looks_issued(std::string_view word) { return any_run(word, &Mixture::issued); }

bool is_scheme(std::string_view word) {
  static constexpr std::array<std::string_view, 8> kSchemes{
      "bearer", "basic", "token", "digest", "negotiate", "apikey", "key", "sharedkey"};
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return is_one_of(lower, kSchemes);
}

}  // namespace gable
