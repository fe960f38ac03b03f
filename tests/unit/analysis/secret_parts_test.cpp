// SPDX-License-Identifier: Apache-2.0
// The parts of masking, each by itself: what a name says, where a value ends, what programs take.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/masking/secret_names.h"
#include "analysis/masking/secret_programs.h"
#include "analysis/masking/secret_shapes.h"
#include "analysis/masking/secret_value.h"

namespace gable::testing {
namespace {

TEST(SecretNames, WhatANameSays) {
  for (const char* name : {"--token", "HF_TOKEN", "db.password", "--pw", "pin", "--access-code",
                           "--license", "from-literal", "apiKey", "X-Api-Key", "storepass"})
    EXPECT_TRUE(names_secret(name)) << name;
  for (const char* name : {"--tokenizer", "--pin-memory", "--license-file", "--auth-type", "passes",
                           "--token-file", "--key-dim", "author", "code", "literal"})
    EXPECT_FALSE(names_secret(name)) << name;
  EXPECT_TRUE(names_several("--api_keys"));
  EXPECT_FALSE(names_several("--api_key"));
  EXPECT_TRUE(is_count("--max-tokens", "512"));
  EXPECT_FALSE(is_count("--token", "512"));
  EXPECT_FALSE(is_count("--max-tokens", "hunter2"));
}

std::string value_in(std::string_view text, std::size_t start, char quote = '\0') {
  return std::string(text.substr(start, ValueFinder(text, quote).end_of_value(start) - start));
}

TEST(SecretValues, WhereTheyEnd) {
  EXPECT_EQ(value_in("X --lr 1", 0), "X");
  EXPECT_EQ(value_in("'a b' c", 0), "'a b'");
  EXPECT_EQ(value_in("a'b c'd e", 0), "a'b c'd");
  EXPECT_EQ(value_in("X,b=1", 0), "X");
  EXPECT_EQ(value_in("X,b", 0), "X,b");
  EXPECT_EQ(value_in("('me', 'X'), t=1", 0), "('me', 'X')");
  EXPECT_EQ(value_in("Auth('me', 'X') b", 0), "Auth('me', 'X')");
  EXPECT_EQ(value_in("$(cat f | tail) b", 0), "$(cat f | tail)");
  EXPECT_EQ(value_in("[\"a\", \"X\"], b", 0), "[\"a\", \"X\"]");
  EXPECT_EQ(value_in("|\n  X\n  Y\nlr: 1", 0), "|\n  X\n  Y");
  EXPECT_EQ(value_in("- a\n- X\nlr: 1", 0), "- a\n- X");
  EXPECT_EQ(value_in("X' run", 0, '\''), "X");
  EXPECT_EQ(value_in("<p>X</p>", 3), "X");
  EXPECT_EQ(value_in("(", 0), "(");
}

TEST(SecretValues, WhereTheyBegin) {
  const char none = '\0';
  const auto begin = [&](std::string_view text, std::size_t end) {
    return ValueFinder(text, none).value_after_sign(0, end);
  };
  EXPECT_EQ(begin("a=X", 1), 2u);
  EXPECT_EQ(begin("a : X", 1), 4u);
  EXPECT_EQ(begin("a('X", 1), 2u);
  EXPECT_EQ(begin("a%3DX", 1), 4u);
  EXPECT_EQ(begin("a X", 1), std::string_view::npos);
  EXPECT_EQ(begin("a://X", 1), std::string_view::npos);
  EXPECT_EQ(begin("a=", 1), 2u);  // in the next argument
}

TEST(SecretPrograms, WhatTheyTakeWithoutAName) {
  using Takes = SecretPrograms::Takes;
  const auto last_of = [](std::initializer_list<std::string_view> words) {
    SecretPrograms programs;
    Takes takes = Takes::nothing;
    for (const auto word : words) takes = programs.see(word, true, true).takes;
    return takes;
  };
  EXPECT_EQ(last_of({"sshpass", "-p"}), Takes::next);
  EXPECT_EQ(last_of({"mysql", "-pX"}), Takes::rest);
  EXPECT_EQ(last_of({"mysql", "--port"}), Takes::nothing);
  EXPECT_EQ(last_of({"docker", "run", "-p"}), Takes::nothing);
  EXPECT_EQ(last_of({"docker", "login", "-p"}), Takes::next);
  EXPECT_EQ(last_of({"wandb", "login", "--relogin", "X"}), Takes::word);
  EXPECT_EQ(last_of({"wandb", "sync", "X"}), Takes::nothing);
  EXPECT_EQ(last_of({"mc", "alias", "set", "name", "url", "X"}), Takes::word);
  EXPECT_EQ(last_of({"mc", "alias", "set", "name"}), Takes::nothing);
  EXPECT_EQ(last_of({"vault", "kv", "put", "a"}), Takes::after_equal);
  EXPECT_EQ(last_of({"curl", "-u"}), Takes::login_next);
  EXPECT_EQ(last_of({"curl", "-ume"}), Takes::login_rest);
  SecretPrograms programs;
  (void)programs.see("sshpass", true, true);
  programs.end_command();
  EXPECT_EQ(programs.see("-p", true, true).takes, Takes::nothing);
}

TEST(SecretShapes, AreWholeWords) {
  const std::string token = std::string("hf") + "_Ab3dEf6hIj9kLm2n";
  EXPECT_EQ(secret_shape("x " + token + " y", 2), token.size());
  EXPECT_EQ(secret_shape("x" + token, 1), 0u);
  EXPECT_EQ(secret_shape("hf_transfer", 0), 0u);
}

}  // namespace
}  // namespace gable::testing
