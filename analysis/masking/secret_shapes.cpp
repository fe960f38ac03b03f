// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "analysis/base/ascii.h"

namespace gable {
namespace {

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
