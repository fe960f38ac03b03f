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
