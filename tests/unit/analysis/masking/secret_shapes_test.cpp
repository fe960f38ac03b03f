// SPDX-License-Identifier: Apache-2.0
// Shapes of services' secrets: with so many characters after their start, and not with one fewer.
#include "analysis/masking/secret_shapes.h"

#include <gtest/gtest.h>

#include <string>

namespace gable {
namespace {

// Letters and digits, all of them hexadecimal.
std::string body_of(std::size_t size) {
  std::string body;
  while (body.size() < size) body += "a1b2c3d4e5f6";
  return body.substr(0, size);
}

TEST(SecretShapes, HaveALeastLength) {
  struct Case {
    const char* start;
    std::size_t least;
  };
  for (const Case& each :
       {Case{"hf_", 8},  {"ghp_", 8},    {"github_pat_", 8}, {"glpat-", 8},    {"GR1348941", 16},
        {"sk-", 8},      {"xai-", 20},   {"gsk_", 8},        {"fw_", 20},      {"dapi", 32},
        {"sk_live_", 8}, {"AKIA", 12},   {"ASIA", 12},       {"ABSK", 32},     {"AIza", 20},
        {"ya29.", 8},    {"LTAI", 16},   {"AKID", 30},       {"eyJ", 8},       {"xoxb-", 8},
        {"SG.", 20},     {"npm_", 30},   {"pypi-", 20},      {"dckr_pat_", 8}, {"dop_v1_", 16},
        {"hvs.", 16},    {"sq0atp-", 22}}) {
    const std::string start = each.start;
    const std::string whole = start + body_of(each.least);
    EXPECT_EQ(secret_shape(whole, 0), whole.size()) << whole;
    EXPECT_EQ(secret_shape(whole + " x", 0), whole.size()) << whole;
    EXPECT_EQ(secret_shape("=" + whole, 1), whole.size()) << whole;
    EXPECT_EQ(secret_shape("a" + whole, 1), 0u) << whole;  // within a word
    EXPECT_EQ(secret_shape(start + body_of(each.least - 1), 0), 0u) << start;
  }
}

// How far a secret goes after its start.
TEST(SecretShapes, EndWhereTheirCharactersDo) {
  struct Case {
    const char* start;
    const char* within;  // besides letters and digits
    const char* behind;
  };
  for (const Case& each :
       {Case{"hf_", "azAZ09", "_-.=+/@{[`:"}, Case{"sk-", "_-azAZ09", ".=+/@?&"},
        Case{"glpat-", "_-.=azAZ09", "+/@?&:"}, Case{"ABSK", "+/=_-azAZ09", ".@?&:"},
        Case{"dapi", "afAF09", "gG_-.`@/:"}, Case{"hooks.slack.com/", "_-/@.?=&azAZ09", "+:~"}}) {
    const std::string start = each.start + body_of(40);
    const std::string within = start + each.within;
    EXPECT_EQ(secret_shape(within, 0), within.size()) << within;
    for (const char c : std::string(each.behind))
      EXPECT_EQ(secret_shape(start + c + "a1", 0), start.size()) << start << c;
  }
}

// "hf_transfer" is the name of a package.
TEST(SecretShapes, AShortOneHasADigitOrACapital) {
  EXPECT_EQ(secret_shape("hf_transferable", 0), 0u);
  EXPECT_EQ(secret_shape("hf_transferabl7", 0), 15u);
  EXPECT_EQ(secret_shape("hf_transferablE", 0), 15u);
  const std::string letters(23, 'x');
  EXPECT_EQ(secret_shape("hf_" + letters, 0), 0u);
  EXPECT_EQ(secret_shape("hf_x" + letters, 0), 27u);
}

TEST(SecretShapes, OfAPrivateKeyAreWhole) {
  const std::string key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----";
  EXPECT_EQ(secret_shape(key, 0), key.size());
  EXPECT_EQ(secret_shape(key + " behind", 0), key.size());
  EXPECT_EQ(secret_shape("x=" + key, 2), key.size());
  const std::string cut = "-----BEGIN PRIVATE KEY-----\nabc";
  EXPECT_EQ(secret_shape(cut, 0), cut.size()) << "cut off";
  const std::string half = cut + "\n-----END PRIV";
  EXPECT_EQ(secret_shape(half, 0), half.size());
  EXPECT_EQ(secret_shape("-----BEGIN CERTIFICATE-----\nabc", 0), 0u);
  EXPECT_EQ(secret_shape("-----BEGIN PRIVATE KEY", 0), 0u);
  EXPECT_EQ(secret_shape("-----BEGIN X-----PRIVATE KEY-----", 0), 0u);
}

TEST(SecretShapes, NothingIsTooShortToLookAt) {
  EXPECT_EQ(secret_shape("h", 0), 0u);
  EXPECT_EQ(secret_shape("hf", 0), 0u);
  EXPECT_EQ(secret_shape("7", 0), 0u);
  EXPECT_EQ(secret_shape("bot", 0), 0u);
  EXPECT_EQ(secret_shape("12345678", 0), 0u);
}

// Every start of a shape that has several.
TEST(SecretShapes, HaveManyStarts) {
  for (const std::string start : {"api_org_",
                                  "gho_",
                                  "ghr_",
                                  "gldt-",
                                  "glffct-",
                                  "pplx-",
                                  "tvly-",
                                  "r8_",
                                  "csk-",
                                  "key-",
                                  "sk_test_",
                                  "whsec_",
                                  "ACCA",
                                  "bedrock-api-key-",
                                  "GOCSPX-",
                                  "xoxe.",
                                  "xapp-",
                                  "discord.com/api/webhooks/",
                                  "qyapi.weixin.qq.com/cgi-bin/webhook/send",
                                  "rubygems_",
                                  "dckr_oat_",
                                  "dor_v1_",
                                  "hvr.",
                                  "sq0csp-",
                                  "EAAA",
                                  "shpss_",
                                  "lin_api_",
                                  "figd_",
                                  "secret_",
                                  "API-",
                                  "glsa_",
                                  "sqa_",
                                  "pscale_pw_",
                                  "dp.pt.",
                                  "nfp_",
                                  "sha256~",
                                  "AGE-SECRET-KEY-"}) {
    const auto whole = start + body_of(40);
    EXPECT_EQ(secret_shape(whole, 0), whole.size()) << whole;
  }
}

TEST(SecretShapes, OfSomeServicesHaveALeastLengthToo) {
  struct Case {
    const char* start;
    std::size_t least;
  };
  for (const Case& each : {Case{"shpat_", 16},
                           {"lin_api_", 20},
                           {"figd_", 20},
                           {"ntn_", 20},
                           {"glsa_", 20},
                           {"sgp_", 20},
                           {"pscale_tkn_", 20},
                           {"dp.pt.", 20},
                           {"sha256~", 40},
                           {"AGE-SECRET-KEY-", 8},
                           {"hooks.slack.com/", 8}}) {
    const std::string start = each.start, whole = start + body_of(each.least);
    EXPECT_EQ(secret_shape(whole, 0), whole.size()) << whole;
    EXPECT_EQ(secret_shape(start + body_of(each.least - 1), 0), 0u) << start;
  }
}

TEST(SecretShapes, OfABotsToken) {
  const auto token = [](std::size_t digits, std::size_t body) {
    return std::string(digits, '7') + ":" + body_of(body);
  };
  for (const std::size_t digits : {8, 10})
    for (const std::size_t body : {30, 35, 45})
      EXPECT_EQ(secret_shape(token(digits, body), 0), digits + 1 + body);
  for (const std::size_t digits : {7, 11}) EXPECT_EQ(secret_shape(token(digits, 35), 0), 0u);
  for (const std::size_t body : {29, 46}) EXPECT_EQ(secret_shape(token(9, body), 0), 0u);
  EXPECT_EQ(secret_shape("bot" + token(9, 35), 0), 3u + 9 + 1 + 35);
}

}  // namespace
}  // namespace gable
