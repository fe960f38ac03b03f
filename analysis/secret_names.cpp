// SPDX-License-Identifier: Apache-2.0
#include "analysis/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gable {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

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
constexpr std::array<std::string_view, 8> kHarmless{"tokeniz",  "tokenis", "keyframe", "monkey",
                                                    "keyboard", "keyword", "turkey",   "keypoint"};
constexpr std::array<std::string_view, 11> kWithin{
    "token",  "secret",     "password",      "passwd", "passphrase", "passcode",
    "apikey", "credential", "authorization", "cookie", "signature"};
constexpr std::array<std::string_view, 15> kWhole{
    "pwd", "pass", "auth", "oauth",  "jwt",      "sig",         "pat",      "otp",
    "dsn", "sas",  "mfa",  "bearer", "mnemonic", "requirepass", "sessionid"};
// What may stand after "key" without making it something else.
constexpr std::array<std::string_view, 10> kAfterKey{"id",  "b64",  "base64", "hex",    "pem",
                                                     "raw", "data", "value",  "string", "json"};

bool is_key(const std::string& word) {
  return word == "keys" || (word.size() >= 3 && word.compare(word.size() - 3, 3, "key") == 0);
}

bool says_secret(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (has_one_of(word, kHarmless)) continue;
    if (has_one_of(word, kWithin) || is_one_of(word, kWhole)) return true;
    const auto rest = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (is_key(word) && std::all_of(rest, words.end(), [](const std::string& after) {
          return is_one_of(after, kAfterKey);
        }))
      return true;
    const bool last = i + 1 == words.size();
    if (!last && word == "session" && (words[i + 1] == "id" || is_key(words[i + 1]))) return true;
    if (!last && word == "connection" && words[i + 1] == "string") return true;
  }
  return false;
}

// --- shapes
// ----------------------------------------------------------------------------------------------

enum class Body : std::uint8_t { alnum, dashed, dotted, hex, path };

bool belongs(char c, Body body) {
  switch (body) {
    case Body::alnum:
      return is_alnum(c);
    case Body::dashed:
      return is_alnum(c) || c == '_' || c == '-';
    case Body::dotted:
      return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '=';
    case Body::hex:
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case Body::path:
      return is_alnum(c) || c == '_' || c == '-' || c == '/';
  }
  return false;
}

struct Shape {
  std::string_view start;
  Body body;
  std::size_t least;  // characters after the start
};

// As the services that issue them describe them.
constexpr std::array kShapes{
    Shape{"hf_", Body::alnum, 8},       // Hugging Face
    Shape{"api_org_", Body::alnum, 8},  // Hugging Face, of an organisation
    Shape{"ghp_", Body::alnum, 8},      // GitHub: personal, OAuth, user, server, refresh
    Shape{"gho_", Body::alnum, 8},
    Shape{"ghu_", Body::alnum, 8},
    Shape{"ghs_", Body::alnum, 8},
    Shape{"ghr_", Body::alnum, 8},
    Shape{"github_pat_", Body::dashed, 8},
    Shape{"glpat-", Body::dashed, 8},  // GitLab
    Shape{"gldt-", Body::dashed, 8},
    Shape{"glrt-", Body::dashed, 8},
    Shape{"glcbt-", Body::dashed, 8},
    Shape{"sk-", Body::dashed, 8},      // OpenAI, Anthropic
    Shape{"sk_live_", Body::alnum, 8},  // Stripe
    Shape{"sk_test_", Body::alnum, 8},
    Shape{"rk_live_", Body::alnum, 8},
    Shape{"rk_test_", Body::alnum, 8},
    Shape{"whsec_", Body::alnum, 8},
    Shape{"nvapi-", Body::dashed, 8},     // NVIDIA
    Shape{"gsk_", Body::alnum, 8},        // Groq
    Shape{"r8_", Body::alnum, 8},         // Replicate
    Shape{"tgp_v1_", Body::dashed, 8},    // Together
    Shape{"pcsk_", Body::dashed, 8},      // Pinecone
    Shape{"wandb_v1_", Body::dashed, 8},  // Weights & Biases
    Shape{"dapi", Body::hex, 32},         // Databricks
    Shape{"AKIA", Body::alnum, 12},       // AWS
    Shape{"ASIA", Body::alnum, 12},
    Shape{"AIza", Body::dashed, 20},  // Google
    Shape{"ya29.", Body::dashed, 8},
    Shape{"GOCSPX-", Body::dashed, 8},
    Shape{"eyJ", Body::dotted, 8},    // JSON Web Token
    Shape{"xoxa-", Body::dashed, 8},  // Slack
    Shape{"xoxb-", Body::dashed, 8},
    Shape{"xoxe-", Body::dashed, 8},
    Shape{"xoxp-", Body::dashed, 8},
    Shape{"xoxr-", Body::dashed, 8},
    Shape{"xoxs-", Body::dashed, 8},
    Shape{"xapp-", Body::dashed, 8},
    Shape{"hooks.slack.com/", Body::path, 8},
    Shape{"discord.com/api/webhooks/", Body::path, 8},
    Shape{"discordapp.com/api/webhooks/", Body::path, 8},
    Shape{"SG.", Body::dotted, 20},  // SendGrid
    Shape{"npm_", Body::alnum, 20},  // package registries
    Shape{"pypi-", Body::dashed, 20},
    Shape{"dckr_pat_", Body::dashed, 8},  // Docker
    Shape{"dop_v1_", Body::hex, 16},      // DigitalOcean
    Shape{"hvs.", Body::dashed, 16},      // Vault
    Shape{"sq0atp-", Body::dashed, 8},    // Square
    Shape{"sq0csp-", Body::dashed, 8},
    Shape{"shpat_", Body::hex, 16},     // Shopify
    Shape{"lin_api_", Body::alnum, 8},  // Linear
    Shape{"AGE-SECRET-KEY-", Body::alnum, 8},
};

// "hf_transfer" and "sk-learn-extra" are names of packages.
bool looks_random(std::string_view body) {
  return body.size() >= 24 ||
         std::any_of(body.begin(), body.end(), [](char c) { return is_digit(c) || is_upper(c); });
}

constexpr std::string_view kPemBegin = "-----BEGIN ", kPemEnd = "-----END ", kDashes = "-----";

// A private key in PEM, whole or cut off.
std::size_t pem_length(std::string_view text, std::size_t at) {
  if (text.compare(at, kPemBegin.size(), kPemBegin) != 0) return 0;
  const auto title = text.find(kDashes, at + kPemBegin.size());
  if (title == text.npos || text.substr(at, title - at).find("PRIVATE KEY") == text.npos) return 0;
  const auto end = text.find(kPemEnd, title);
  const auto last = end == text.npos ? end : text.find(kDashes, end + kPemEnd.size());
  return (last == text.npos ? text.size() : last + kDashes.size()) - at;
}

// Telegram: the number of a bot, a colon, 35 characters.
std::size_t bot_length(std::string_view text, std::size_t at) {
  auto end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end - at < 8 || end - at > 10 || end >= text.size() || text[end] != ':') return 0;
  const auto body = ++end;
  while (end < text.size() && belongs(text[end], Body::dashed)) ++end;
  return end - body == 35 ? end - at : 0;
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
  static constexpr std::array<std::string_view, 5> kStrong{"token", "secret", "password", "passwd",
                                                           "passphrase"};
  static constexpr std::array<std::string_view, 5> kOfKey{"api", "access", "private", "secret",
                                                          "account"};
  if (last == "apikey" || last == "requirepass") return true;
  for (const auto end : kStrong)
    if (last.size() >= end.size() && last.compare(last.size() - end.size(), end.npos, end) == 0)
      return true;
  return words.size() > 1 && last == "key" && is_one_of(words[words.size() - 2], kOfKey);
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

std::size_t secret_shape(std::string_view text, std::size_t at) {
  if (const auto pem = pem_length(text, at); pem > 0) return pem;
  if (at > 0 && is_alnum(text[at - 1])) return 0;  // within a word
  for (const auto& shape : kShapes) {
    if (text.compare(at, shape.start.size(), shape.start) != 0) continue;
    const auto body = at + shape.start.size();
    auto end = body;
    while (end < text.size() && belongs(text[end], shape.body)) ++end;
    if (end - body >= shape.least && looks_random(text.substr(body, end - body))) return end - at;
  }
  return bot_length(text, at);
}

}  // namespace gable
