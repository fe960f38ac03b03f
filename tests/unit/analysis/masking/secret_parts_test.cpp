// SPDX-License-Identifier: Apache-2.0
// The parts of masking, each by itself: what a name says, where a value ends, what programs take.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/masking/secret_code.h"
#include "analysis/masking/secret_names.h"
#include "analysis/masking/secret_programs.h"
#include "analysis/masking/secret_shapes.h"
#include "analysis/masking/secret_value.h"

namespace gable::tests {
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
  for (const char* name : {"--image-key", "--token-dropout", "--secretary", "next_token"})
    EXPECT_EQ(naming(name), Naming::nothing) << name;
  for (const char* name : {"--token-file", "--password-stdin", "--cookie-cutter"})
    EXPECT_EQ(naming(name), Naming::about) << name;
  for (const char* name : {"--key", "keys", "tokens", "--num-tokens"})
    EXPECT_EQ(naming(name), Naming::weakly) << name;
  EXPECT_EQ(naming("--api-tokens"), Naming::clearly);
  EXPECT_EQ(naming("--reward-key"), Naming::weakly);
  EXPECT_EQ(naming("--pass"), Naming::clearly);
  EXPECT_EQ(naming_in_code("pass"), Naming::weakly);
  EXPECT_TRUE(names_input("--password-stdin"));
  EXPECT_FALSE(names_input("--password-file"));
  EXPECT_TRUE(names_login("wandb.login"));
  EXPECT_FALSE(names_login("author"));
}

TEST(SecretNames, WhatValuesAreNone) {
  EXPECT_TRUE(is_harmless("--max-tokens", "512"));
  EXPECT_TRUE(is_harmless("--num-tokens", "5e9"));
  EXPECT_TRUE(is_harmless("--key", "val_loss"));
  EXPECT_FALSE(is_harmless("--token", "512"));
  EXPECT_FALSE(is_harmless("--max-tokens", "hunter2"));
  EXPECT_FALSE(is_harmless("--api-key", "abc"));
  EXPECT_FALSE(is_harmless("--key", "483920111"));
  EXPECT_TRUE(is_harmless("--token", "None"));
  for (const char* word : {"abc", "48392011", "a+b/c=", "True1"})
    EXPECT_TRUE(is_password(word)) << word;
  for (const char* word : {"8080", "8080:80", "tmp/out", "/tmp", "-v", ""})
    EXPECT_FALSE(is_password(word)) << word;
  for (const char* word : {"q7RzVx3PmL0dWk", "3f9a1c7e5b2d4860", "x-q7RzVx3PmL0dWk"})
    EXPECT_TRUE(looks_random(word)) << word;
  for (const char* word :
       {"resnet50", "Llama-2-7b-hf", "efficientnetb0", "correcthorse", "20261122"})
    EXPECT_FALSE(looks_random(word)) << word;
  EXPECT_TRUE(looks_issued("q7RzVx3PmL0dWk"));
  EXPECT_FALSE(looks_issued("3f9a1c7e5b2d48603f9a1c7e5b2d4860"));  // may be a commit
}

std::string value_in(std::string_view text, std::size_t start, char quote = '\0') {
  return std::string(text.substr(start, ValueFinder(text).end_of_value(start, quote) - start));
}

TEST(SecretValues, WhereTheyEnd) {
  EXPECT_EQ(value_in("X --lr 1", 0), "X");
  EXPECT_EQ(value_in("'a b' c", 0), "'a b'");
  EXPECT_EQ(value_in("a'b c'd e", 0), "a'b c'd");
  EXPECT_EQ(value_in("X,b=1", 0), "X");
  EXPECT_EQ(value_in("X,b", 0), "X,b");
  EXPECT_EQ(value_in("('me', 'X'), t=1", 0), "('me', 'X')");
  EXPECT_EQ(value_in("[\"a\", \"X\"], b", 0), "[\"a\", \"X\"]");
  EXPECT_EQ(value_in("|\n  X\n  Y\nlr: 1", 0), "|\n  X\n  Y");
  EXPECT_EQ(value_in("- a\n- X\nlr: 1", 0), "- a\n- X");
  EXPECT_EQ(value_in("|\n X\nlr: 1", 0), "|\n X");
  EXPECT_EQ(value_in("- X\nb c", 0), "- X");
  EXPECT_EQ(value_in("\\\"a X\\\", b", 0), "\\\"a X\\\"");
  EXPECT_EQ(value_in("<p>X</p>", 3), "X");
  EXPECT_EQ(value_in("X' run", 0, '\''), "X");
  EXPECT_EQ(value_in("(", 0), "(");
}

TEST(SecretValues, WhereTheyBegin) {
  const auto begin = [&](std::string_view text, std::size_t end) {
    return ValueFinder(text).value_after_sign(0, end);
  };
  EXPECT_EQ(begin("a=X", 1), 2u);
  EXPECT_EQ(begin("a : X", 1), 4u);
  EXPECT_EQ(begin("\"a\", \"X", 2), 5u);
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
    for (const auto word : words) takes = programs.see(word).takes;
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
  EXPECT_EQ(last_of({"curl", "-sSume"}), Takes::login_rest);
  EXPECT_EQ(last_of({"curl", "-sSo"}), Takes::nothing);
  EXPECT_EQ(last_of({"/usr/bin/sshpass", "-p"}), Takes::next);
  EXPECT_EQ(last_of({"chpasswd"}), Takes::input);
  EXPECT_EQ(last_of({"rclone", "config", "create", "r", "s3", "pass"}), Takes::next);
  SecretPrograms programs;
  (void)programs.see("sshpass");
  programs.end_command();
  EXPECT_EQ(programs.see("-p").takes, Takes::nothing);
}

TEST(SecretCode, WhatIsCode) {
  using Answer = CodePlaces::Answer;
  const auto last_of = [](std::initializer_list<std::string_view> arguments) {
    CodePlaces places;
    Answer answer = Answer::no;
    for (const auto argument : arguments) {
      answer = places.is_code(argument);
      places.see(argument);
    }
    return answer;
  };
  EXPECT_EQ(last_of({"python3.11", "-c", "a b"}), Answer::yes);
  EXPECT_EQ(last_of({"srun", "/bin/bash", "-lc", "a b"}), Answer::yes);
  EXPECT_EQ(last_of({"sbatch", "--wrap", "a b"}), Answer::yes);
  EXPECT_EQ(last_of({"ssh", "host", "a b"}), Answer::perhaps);
  EXPECT_EQ(last_of({"git", "-c", "a b"}), Answer::no);
  EXPECT_EQ(last_of({"python", "-c", "a"}), Answer::no);  // the name of a file, or a lone word
  for (const char* code : {"f(\"x\")", "a && b", "a | b", "a; b", "x = 1", "import a", "run --lr 1",
                           "echo $(id)", "cat <<E", "a\nb", "wandb login X"})
    EXPECT_EQ(last_of({code}), Answer::perhaps) << code;
  for (const char* data : {"The secret of life is", "a=1;b=2", "Cookie: a=1; b=2", "a: 1\nb: 2",
                           "{\"a\": 1}", "it's (not) so", "a - b", "x"})
    EXPECT_EQ(last_of({data}), Answer::no) << data;
}

TEST(SecretCode, WhatGivesASecret) {
  for (const char* code :
       {"token: str = 'X'", "a(password='X')", "login('X')", "x.set_token('a', 'X')",
        "curl https://me:X@h", "read TOKEN <<< X", "echo X > /root/token", "a --token X",
        "docker login -p X", "curl -u me:X h", "f(['mysql', '-pX'])",
        "echo X | docker login --password-stdin", "d['key'] = 'Xy1'", "f(token='48392011')",
        "f(['--token=48392011'])", "for T in X; do HF_TOKEN=$T run; done", "TOKENS = ['a,Xy1']",
        "KEY=Xy1 run"})
    EXPECT_TRUE(code_gives_secret(code)) << code;
  for (const char* code :
       {"tokens = tok(text)", "x.sort(key=lambda t: t[1])", "d={'key': 3, 'token': 5}",
        "for token in text: print(token)", "run --token $TOKEN --api-key \"${API_KEY}\"",
        "cat data/token/a.txt", "python tokens.py | tee log", "wandb login; run", "class A: pass",
        "run --max-tokens 512 && ls", "curl -u 1000:1000 h"})
    EXPECT_FALSE(code_gives_secret(code)) << code;
}

TEST(SecretShapes, AreWholeWords) {
  const std::string token = std::string("hf") + "_Ab3dEf6hIj9kLm2n";
  EXPECT_EQ(secret_shape("x " + token + " y", 2), token.size());
  EXPECT_EQ(secret_shape("x" + token, 1), 0u);
  EXPECT_EQ(secret_shape("hf_transfer", 0), 0u);
}

}  // namespace
}  // namespace gable::tests
