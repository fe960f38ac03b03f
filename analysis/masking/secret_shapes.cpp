// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "analysis/base/ascii.h"
#include "analysis/masking/secret_value.h"

namespace gable {
namespace {

enum class Body : std::uint8_t { alnum, dashed, dotted, base64, hex, path };

bool belongs(char c, Body body) {
  switch (body) {
    case Body::alnum:
      return is_alnum(c);
    case Body::dashed:
      return is_alnum(c) || c == '_' || c == '-';
    case Body::dotted:
      return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '=';
    case Body::base64:
      return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
    case Body::hex:
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case Body::path:
      return is_alnum(c) || is_any(c, "_-/@.?=&");
  }
  return false;
}

struct Shape {
  std::string_view starts;  // apart by spaces
  Body body;
  std::size_t least;  // characters after the start
};

// As the services that issue them describe them.
constexpr std::array kShapes{
    Shape{"hf_ api_org_", Body::alnum, 8},              // Hugging Face
    Shape{"ghp_ gho_ ghu_ ghs_ ghr_", Body::alnum, 8},  // GitHub
    Shape{"github_pat_", Body::dashed, 8},              // GitHub
    Shape{"glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-",
          Body::dotted, 8},                             // GitLab
    Shape{"GR1348941", Body::dashed, 16},               // GitLab, runners
    Shape{"sk-", Body::dashed, 8},                      // OpenAI, Anthropic, OpenRouter
    Shape{"pplx- xai- jina_ tvly-", Body::dashed, 20},  // Perplexity, xAI, Jina, Tavily
    Shape{"gsk_ r8_ rpa_ nvapi- tgp_v1_ pcsk_ wandb_v1_ lsv2_pt_ lsv2_sk_ csk-", Body::dashed,
          8},                            // services for models
    Shape{"fw_ key-", Body::alnum, 20},  // Fireworks, Mailgun
    Shape{"dapi", Body::hex, 32},        // Databricks
    Shape{"sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_", Body::alnum,
          8},                                          // Stripe
    Shape{"AKIA ASIA ABIA ACCA", Body::alnum, 12},     // AWS
    Shape{"ABSK bedrock-api-key-", Body::base64, 32},  // AWS Bedrock
    Shape{"AIza", Body::dashed, 20},                   // Google
    Shape{"ya29. GOCSPX-", Body::dashed, 8},           // Google
    Shape{"LTAI", Body::alnum, 16},                    // Alibaba
    Shape{"AKID", Body::alnum, 30},                    // Tencent
    Shape{"eyJ", Body::dotted, 8},                     // JSON Web Token
    Shape{"xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", Body::dotted, 8},  // Slack
    Shape{"hooks.slack.com/ discord.com/api/webhooks/ discordapp.com/api/webhooks/ "
          "webhook.office.com/ outlook.office.com/webhook/ hooks.zapier.com/hooks/ "
          "chat.googleapis.com/v1/spaces/ oapi.dingtalk.com/robot/send "
          "open.feishu.cn/open-apis/bot/v2/hook/ qyapi.weixin.qq.com/cgi-bin/webhook/send",
          Body::path, 8},                      // addresses that only their owner knows
    Shape{"SG.", Body::dotted, 20},            // SendGrid
    Shape{"npm_ rubygems_", Body::alnum, 30},  // package registries
    Shape{"pypi-", Body::dashed, 20},
    Shape{"dckr_pat_ dckr_oat_", Body::dashed, 8},                    // Docker
    Shape{"dop_v1_ doo_v1_ dor_v1_", Body::hex, 16},                  // DigitalOcean
    Shape{"hvs. hvb. hvr.", Body::dashed, 16},                        // Vault
    Shape{"sq0atp- sq0csp- EAAA", Body::dashed, 22},                  // Square
    Shape{"shpat_ shpca_ shppa_ shpss_", Body::hex, 16},              // Shopify
    Shape{"lin_api_ lin_oauth_ figd_", Body::dashed, 20},             // Linear, Figma
    Shape{"secret_ ntn_ API-", Body::alnum, 20},                      // Notion, Octopus
    Shape{"glsa_ glc_", Body::base64, 20},                            // Grafana
    Shape{"sntrys_ sntryu_ sgp_ squ_ sqp_ sqa_", Body::base64, 20},   // Sentry, Sourcegraph, Sonar
    Shape{"pscale_tkn_ pscale_oauth_ pscale_pw_", Body::dotted, 20},  // PlanetScale
    Shape{"dp.pt. dp.st. dp.ct. dt0c01. pnu_ pnb_ pul- PMAK- rdme_ ATATT3 ATCTT3 ATBB HRKU-AA fo1_ "
          "fm1r_ fm1a_ fm2_ tskey- tfp_ NRAK- phc_ phx_ xkeysib- ops_eyJ duffel_live_ "
          "shippo_live_ AKCp cmVmd EZAK FLWSECK_TEST- sm_pat_ sbp_ nfp_",
          Body::dotted, 20},             // Doppler, Prefect, Pulumi and others
    Shape{"sha256~", Body::dashed, 40},  // OpenShift
    Shape{"AGE-SECRET-KEY-", Body::alnum, 8},
};

// "hf_transfer" and "sk-learn-extra" are names of packages.
bool is_mixed(std::string_view body) {
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

// Telegram: the number of a bot, a colon, some 35 characters. In an address, "bot" stands before
// it.
std::size_t bot_length(std::string_view text, std::size_t at) {
  const auto number = text.compare(at, 3, "bot") == 0 ? at + 3 : at;
  auto end = number;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end - number < 8 || end - number > 10 || end >= text.size() || text[end] != ':') return 0;
  const auto body = ++end;
  while (end < text.size() && belongs(text[end], Body::dashed)) ++end;
  return end - body >= 30 && end - body <= 45 ? end - at : 0;
}

constexpr std::size_t mark_of(char first, char second) {
  return (static_cast<unsigned char>(first) * 37U + static_cast<unsigned char>(second)) % 4096;
}

// The two characters that shapes begin with, so that most places need one look.
constexpr std::array<bool, 4096> shape_marks() {
  std::array<bool, 4096> found{};
  for (const auto& shape : kShapes)
    for (std::size_t i = 0; i + 1 < shape.starts.size(); ++i)
      if (i == 0 || shape.starts[i - 1] == ' ')
        found[mark_of(shape.starts[i], shape.starts[i + 1])] = true;
  return found;
}
constexpr auto kShapeMarks = shape_marks();

std::size_t length_of(const Shape& shape, std::string_view start, std::string_view text,
                      std::size_t at) {
  if (text.compare(at, start.size(), start) != 0) return 0;
  const auto body = at + start.size();
  auto end = body;
  while (end < text.size() && belongs(text[end], shape.body)) ++end;
  return end - body >= shape.least && is_mixed(text.substr(body, end - body)) ? end - at : 0;
}

}  // namespace

std::size_t secret_shape(std::string_view text, std::size_t at) {
  if (const auto pem = pem_length(text, at); pem > 0) return pem;
  if (at > 0 && is_alnum(text[at - 1])) return 0;  // within a word
  if (is_digit(text[at]) || text.compare(at, 3, "bot") == 0) return bot_length(text, at);
  if (at + 1 >= text.size() || !kShapeMarks[mark_of(text[at], text[at + 1])]) return 0;
  for (const auto& shape : kShapes) {
    for (std::size_t begin = 0; begin < shape.starts.size();) {
      const auto end = std::min(shape.starts.find(' ', begin), shape.starts.size());
      const auto length = length_of(shape, shape.starts.substr(begin, end - begin), text, at);
      if (length > 0) return length;
      begin = end + 1;
    }
  }
  return 0;
}

}  // namespace gable
