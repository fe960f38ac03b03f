// SPDX-License-Identifier: Apache-2.0
// No secret reaches a report through its command line, and what is none stays readable.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/masking/mask.h"

namespace gable::tests {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kLong = 32'768;  // characters of a command are looked at

TEST(Mask, TheNextArgumentOfASecretOption) {
  for (const char* option :
       {"--token", "--api-key", "--apiKey", "-password", "--hf_token", "--SECRET", "--wandb-key",
        "--aws-secret-access-key", "--passwd", "--auth", "--secret-key-base64", "--session-id",
        "--connection-string", "-pwd", "--webhook-secret", "--cookie"}) {
    EXPECT_EQ(mask_command({"python", "main.py", option, "hunter2", "--lr", "0.1"}),
              (Words{"python", "main.py", option, "***", "--lr", "0.1"}))
        << option;
  }
}

TEST(Mask, ValuesInTheSameArgument) {
  EXPECT_EQ(mask_command({"run", "--token=abc", "API_KEY=abc", "--password:abc", "db.secret=a=b"}),
            (Words{"run", "--token=***", "API_KEY=***", "--password:***", "db.secret=***"}));
}

TEST(Mask, NoValueIsNoSecret) {
  EXPECT_EQ(mask_command({"run", "--export=HF_TOKEN=,LR=0.1", "The secret of life is 42"}),
            (Words{"run", "--export=HF_TOKEN=,LR=0.1", "The secret of life is 42"}));
}

// Wherever the name stands, and whatever is around it. The secret is always the same.
TEST(Mask, NoFormLetsTheSecretThrough) {
  const std::string secret = "hunter2";
  const std::vector<Words> commands = {
      {"{\"token\":\"hunter2\",\"lr\":0.1}"},
      {"{\"api_key\": \"hunter2\"}"},
      {"--config={\"db\":{\"password\":\"hunter2\"}}"},
      {"{\\\"token\\\":\\\"hunter2\\\"}"},
      {"{'secret':'hunter2'}"},
      {"{token: hunter2, lr: 3}"},
      {"{\"credentials\":{\"user\":\"me\",\"x\":\"hunter2\"}}"},
      {"{\"api_keys\": [\"a\", \"hunter2\"]}"},
      {"--env=HF_TOKEN=hunter2"},
      {"--export=ALL,HF_TOKEN=hunter2"},
      {"--export=ALL,HF_TOKEN=hunter2,LR=0.1"},
      {"--header=Authorization:Bearer hunter2"},
      {"--header=Authorization: Bearer hunter2"},
      {"--header", "Authorization:", "Bearer", "hunter2"},
      {"--header", "X-Api-Key: hunter2"},
      {"-H", "Authorization: Token hunter2"},
      {"-H", "Authorization: Basic hunter2"},
      {"-H", "Cookie: session=1; id=hunter2"},
      {"-HAuthorization: Bearer hunter2"},
      {"bearer", "x", "Bearer hunter2"},
      {"DefaultEndpointsProtocol=https;AccountName=me;AccountKey=hunter2;EndpointSuffix=x"},
      {"Server=db;User=me;Password=hunter2"},
      {"Server=db;User=me;Pwd=hunter2;X=1"},
      {"python", "-c", "login(token='hunter2')"},
      {"python", "-c", "login(token = \"hunter2\", write=True)"},
      {"python", "-c", "import os\nos.environ['HF_TOKEN'] = 'hunter2'\nrun()"},
      {"python", "-c", "os.environ[\"API_KEY\"]=\"hunter2\""},
      {"python", "-c", "os.environ.setdefault('HF_TOKEN', 'hunter2')"},
      {"python", "-c", "client.set_token('hunter2')"},
      {"python", "-c", "c = dict(user='me', password='hunt' 'hunter2')"},
      {"https://host/x?access_token=hunter2"},
      {"https://host/x?user=me&access_token=hunter2&lang=en"},
      {"https://host/x?sig=hunter2&se=1"},
      {"https://bucket/x?X-Amz-Signature=hunter2"},
      {"https://hunter2@host/x"},
      {"https://me:hunter2@host/x"},
      {"https://hunter2:x-oauth-basic@github.com/me/x"},
      {"git+https://hunter2@github.com/me/x.git@main"},
      {"postgres://me:hu/hunter2@host:5432/x"},
      {"redis://:hunter2@host:6379/0"},
      {"--db", "mongodb+srv://me:hunter2@host"},
      {"curl", "-u", "me:hunter2", "https://host"},
      {"curl", "-u=me:hunter2"},
      {"curl", "--user", "me:hunter2"},
      {"curl", "--user=me:hunter2"},
      {"curl", "--proxy-user", "me:hunter2"},
      {"sh", "-c", "curl -u me:hunter2 https://host"},
      {"sh", "-c", "export HF_TOKEN=hunter2; python a.py"},
      {"sh", "-c", "HF_TOKEN='hunter2' python a.py"},
      {"sh", "-c", "HF_TOKEN=x\"y hunter2\" python a.py"},
      {"sh", "-c", "python a.py --api-key hunter2 --lr 1"},
      {"sh", "-c", "python a.py --api-key 'x hunter2'"},
      {"sh", "-c", "curl -H 'Authorization: Bearer hunter2' x"},
      {"sh", "-c", "curl -H \"X-Auth-Token: hunter2\" x"},
      {"sh", "-c", "curl -d '{\"password\": \"hunter2\"}' x"},
      {"sh", "-c", "echo don't; TOKEN=hunter2 run"},
      {"--token", "=", "hunter2"},
      {"--password", "x y hunter2"},
      {"--password=x y hunter2"},
      {"--password=x,y;hunter2"},
      {"-Dpassword=hunter2"},
      {"-Dspring.datasource.pwd=hunter2"},
      {"-DapiKey=hunter2"},
      {"/p:Password=hunter2"},
      {"--set", "image.tag=1,db.password=hunter2"},
      {"--build-arg", "NPM_TOKEN=hunter2"},
      {"--password%3Dhunter2"},
      {"x?access_token%3Dhunter2"},
      {"<password>hunter2</password>"},
      {"<password>hunter2"},
      {"api_key:=hunter2"},
      {"'api_key' => 'hunter2'"},
      {"openssl", "enc", "-pass", "pass:hunter2"},
      {"openssl", "-passin", "pass:hunter2"},
      {"sshpass", "-p", "hunter2", "ssh", "host"},
      {"sshpass", "-phunter2", "ssh", "host"},
      {"/usr/bin/mysql", "-u", "me", "-phunter2"},
      {"redis-cli", "-a", "hunter2"},
      {"docker", "login", "-u", "me", "-p", "hunter2"},
      {"wandb", "login", "hunter2"},
      {"ngrok", "authtoken", "hunter2"},
      {"aws", "configure", "set", "aws_secret_access_key", "hunter2"},
      {"redis-cli", "CONFIG", "SET", "requirepass", "hunter2"},
      {"sh", "-c", "aws configure set aws_secret_access_key hunter2"},
      {"--github-pat", "hunter2"},
      {"--sentry-dsn=hunter2"},
      {"AWS_SESSION_TOKEN=hunter2"},
      {"OPENAI_APIKEY=hunter2"},
      {"MYSQL_PWD=hunter2"},
      {"SSH_PRIVATE_KEY=hunter2"},
      {"jwt=hunter2"},
      {"--oauth", "hunter2"},
  };
  for (const auto& command : commands) {
    std::string all, shown;
    for (const auto& word : command) all += word + " ";
    const auto masked = mask_command(command);
    ASSERT_EQ(masked.size(), command.size());
    for (const auto& word : masked) shown += word + " ";
    EXPECT_EQ(shown.find(secret), shown.npos) << all << "\n" << shown;
    EXPECT_NE(shown.find("***"), shown.npos) << all;
  }
}

// What services issue has a shape that tells it, wherever it stands. The texts are made up, and put
// together here so that no scanner takes this file for a leak.
TEST(Mask, SecretsThatAreKnownByTheirShape) {
  const std::string body = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z";
  for (const std::string start : {"hf_",
                                  "ghp_",
                                  "gho_",
                                  "github_pat_",
                                  "glpat-",
                                  "sk-",
                                  "sk-proj-",
                                  "sk-ant-api03-",
                                  "sk_live_",
                                  "nvapi-",
                                  "gsk_",
                                  "AKIA",
                                  "ASIA",
                                  "AIza",
                                  "ya29.",
                                  "eyJ",
                                  "xoxb-",
                                  "hooks.slack.com/services/",
                                  "discord.com/api/webhooks/",
                                  "npm_",
                                  "pypi-",
                                  "dckr_pat_",
                                  "pplx-",
                                  "xai-",
                                  "fw_",
                                  "lsv2_pt_",
                                  "figd_",
                                  "secret_",
                                  "ntn_",
                                  "rpa_",
                                  "glsa_",
                                  "sntryu_",
                                  "ABIA",
                                  "dp.pt.",
                                  "NRAK-",
                                  "api.telegram.org/bot123456789:",
                                  "a.webhook.office.com/webhookb2/",
                                  "12345678:abc"}) {
    const auto secret = start + body;
    for (const std::string before : {"", "push ", "x=", "https://", "('", "main.py:", "--key-"}) {
      const auto masked = mask_command({before + secret + " --lr 1"}).front();
      EXPECT_EQ(masked.find(body), masked.npos) << before << start << "\n" << masked;
    }
  }
  const std::string dashes = "-----";
  const auto pem = dashes + "BEGIN RSA PRIVATE KEY" + dashes + "\n" + body + "\n" + body + "\n" +
                   dashes + "END RSA PRIVATE KEY" + dashes;
  EXPECT_EQ(mask_command({"echo '" + pem + "' > f"}).front(), "***");
  EXPECT_EQ(mask_command({"{\"a\": \"" + pem + "\"}"}).front(), "{\"a\": \"***\"}");
  EXPECT_EQ(mask_command({pem.substr(0, 60)}).front(), "***");
}

// Code can say a value in endless ways.
TEST(Mask, CodeThatGivesASecretGoesWhole) {
  EXPECT_EQ(mask_command({"sh", "-c", "export HF_TOKEN=abc; python a.py --lr 1"}),
            (Words{"sh", "-c", "***"}));
  EXPECT_EQ(mask_command({"sbatch", "--wrap=wandb login abc; python a.py", "-N", "1"}),
            (Words{"sbatch", "--wrap=***", "-N", "1"}));
  EXPECT_EQ(mask_command({"curl", "-H", "Authorization: Bearer abc"}),
            (Words{"curl", "-H", "Authorization: Bearer ***"}));
  EXPECT_EQ(mask_command({"{\"token\":\"abc\",\"lr\":0.1}"}),
            Words{"{\"token\":\"***\",\"lr\":0.1}"});
  EXPECT_EQ(mask_command({"--export=ALL,HF_TOKEN=abc,LR=0.1"}),
            Words{"--export=ALL,HF_TOKEN=***,LR=0.1"});
}

// Words that follow are hidden as long as they look as issued: they may be arguments by themselves.
TEST(Mask, SeveralValuesOfOneOption) {
  EXPECT_EQ(mask_command({"serve", "--api-key", "abc", "q7RzVx3PmL0dWk", "model", "--port", "1"}),
            (Words{"serve", "--api-key", "***", "***", "model", "--port", "1"}));
  EXPECT_EQ(mask_command({"serve", "--api-keys", "a", "b", "--port", "1"}),
            (Words{"serve", "--api-keys", "***", "***", "--port", "1"}));
  EXPECT_EQ(mask_command({"serve", "--key-file", "/k", "--token", "/run/t", "q7RzVx3PmL0dWk"}),
            (Words{"serve", "--key-file", "/k", "--token", "***", "q7RzVx3PmL0dWk"}));
}

TEST(Mask, WhoeverLogsInIsNotToldEither) {
  EXPECT_EQ(mask_command({"--db", "postgres://user:pa:ss@host:5432/x"}),
            (Words{"--db", "postgres://***@host:5432/x"}));
  const Words harmless = {"http://host:8080/a@b",
                          "git+ssh://git@github.com/me/x",
                          "git+https://github.com/me/x@v1.0",
                          "docker",
                          "run",
                          "-u",
                          "1000:1000"};
  EXPECT_EQ(mask_command(harmless), harmless);
}

TEST(Mask, WhatOnlyLooksAlikeStays) {
  const std::vector<Words> commands = {
      {"python", "main.py", "--tokenizer", "gpt2", "--monkey", "3", "--keyframes=2", "--keep", "1"},
      {"python", "train.py", "--arch", "resnet50", "data/train", "--keyboard-layout", "us"},
      {"vllm", "bench", "--max-tokens", "512", "--max-num-batched-tokens=8192", "--num-tokens:64"},
      {"--num-key-value-heads=8", "--key-dim", "64", "--sort-key-columns", "a"},
      {"pip", "install", "hf_transfer", "sk-learn-extra", "sk-image", "npm_config"},
      {"python", "secret_sharing.py", "--author", "me", "--bypass", "1", "--compass=n"},
      {"python", "-u", "-m", "uvicorn", "app:main"},
      {"docker", "run", "-e", "HF_TOKEN", "image"},
      {"git", "checkout", "8c0b1f2e3d4c5b6a79808182838485868788898a"},
      {"torchrun", "--nproc-per-node=8", "--rdzv-endpoint=host:29500", "train.py"},
      {"a:b", "x=1", "{\"lr\":0.1}", "'quoted text'", "don't", "\\", "\"", "=", ":"},
  };
  for (const auto& command : commands) EXPECT_EQ(mask_command(command), command);
  EXPECT_EQ(mask_command({}), Words{});
  EXPECT_EQ(mask_command({"--token"}), Words{"--token"});
  EXPECT_EQ(mask_command({"--token", "--verbose"}), (Words{"--token", "--verbose"}));
}

// What is longer than anybody reads is not looked at.
TEST(Mask, OfALongCommandTheRestIsHidden) {
  EXPECT_EQ(mask_command({"python", std::string(40'000, 'a'), "b"}),
            (Words{"python", "***", "***"}));
}

// Time that grows with the square ends at the limit that every test has.
TEST(Mask, LongTextsTakeTimeInProportion) {
  for (const char* part :
       {"://",     "token",    "\\\"",       "a,",     "-----BEGIN ", "key=",    "'",
        "[",       "Bearer ",  "-u ",        "token(", "secret set ", "value: ", "--keys a ",
        "login('", "key: |\n", "sshpass -p", "put a=", "$(",          "auth=(",  "name: key,",
        "sk-",     "<token ",  "key\"",      "token ", "(",           "wandb "}) {
    std::string text;
    while (text.size() + 20 < kLong) text += part;
    EXPECT_EQ(mask_command({text}).size(), 1U) << part;
    EXPECT_EQ(mask_command({"sh", "-c", text}).size(), 3U) << part;
  }
}

}  // namespace
}  // namespace gable::tests
