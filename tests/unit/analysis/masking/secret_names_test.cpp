// SPDX-License-Identifier: Apache-2.0
// Which names alone, without a look at their value, mean a secret.
#include "analysis/masking/secret_names.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(SecretNames, ThatAreSecretAlone) {
  for (const char* name : {"password", "token", "api_key", "access_key_id", "apikey", "requirepass",
                           "client_secret", "HF_TOKEN", "private-key", "authorization"})
    EXPECT_TRUE(names_secret_alone(name)) << name;
  for (const char* name : {"", "x", "tokens", "max_tokens", "token_type", "password-file", "key",
                           "prompt_key", "token.txt", "keyboard", "layer", "_", "-"})
    EXPECT_FALSE(names_secret_alone(name)) << name;
}

TEST(SecretNames, OfWhichTheValueSaysMore) {
  for (const char* name : {"password", "-Dpassword", "tokens"})
    EXPECT_TRUE(names_secret(name)) << name;
  for (const char* name : {"", "token_type", "password-file", "layer", "-D"})
    EXPECT_FALSE(names_secret(name)) << name;
}

TEST(SecretNames, WordsInAList) {
  EXPECT_TRUE(lists("a bc d", "a"));
  EXPECT_TRUE(lists("a bc d", "bc"));
  EXPECT_TRUE(lists("a bc d", "d"));
  for (const char* word : {"", "b", "c", "e"}) EXPECT_FALSE(lists("a bc d", word)) << word;
  EXPECT_TRUE(lists("abc bc", "bc"));  // not where it is a part, but later
  EXPECT_FALSE(lists("abc bcd", "bc"));
}

}  // namespace
}  // namespace gable
