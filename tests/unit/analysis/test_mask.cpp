// SPDX-License-Identifier: Apache-2.0
// No secret reaches a report through its command line.
#include <gtest/gtest.h>

#include "analysis/mask.h"

namespace gable::testing {
namespace {

using Words = std::vector<std::string>;

TEST(Mask, TheNextArgumentOfASecretOption) {
  for (const char* option :
       {"--token", "--api-key", "--apiKey", "-password", "--hf_token", "--SECRET", "--wandb-key",
        "--aws-secret-access-key", "--passwd", "--auth"}) {
    EXPECT_EQ(mask_command({"python", "main.py", option, "hunter2", "--lr", "0.1"}),
              (Words{"python", "main.py", option, "***", "--lr", "0.1"}))
        << option;
  }
}

TEST(Mask, ValuesInTheSameArgument) {
  EXPECT_EQ(mask_command({"run", "--token=abc", "API_KEY=abc", "--password:abc", "db.secret=a=b"}),
            (Words{"run", "--token=***", "API_KEY=***", "--password:***", "db.secret=***"}));
}

TEST(Mask, AShellCommandWithinOneArgument) {
  EXPECT_EQ(mask_command({"sh", "-c", "export HF_TOKEN=abc; python a.py --api-key abc --lr 1"}),
            (Words{"sh", "-c", "export HF_TOKEN=*** python a.py --api-key *** --lr 1"}));
  EXPECT_EQ(mask_command({"sh", "-c", "env TOKEN=\"a b c\" run"}),
            (Words{"sh", "-c", "env TOKEN=*** run"}));
  EXPECT_EQ(mask_command({"sh", "-c", "curl -H 'Authorization: Bearer abc' x"}),
            (Words{"sh", "-c", "curl -H 'Authorization: Bearer *** x"}));
  // Rather too much than too little.
  EXPECT_EQ(mask_command({"curl", "-H", "Authorization: Bearer abc"}),
            (Words{"curl", "-H", "Authorization:***"}));
}

TEST(Mask, PasswordsInAddresses) {
  EXPECT_EQ(mask_command({"--db", "postgres://user:pa:ss@host:5432/x"}),
            (Words{"--db", "postgres://user:***@host:5432/x"}));
  EXPECT_EQ(mask_command({"http://host:8080/a@b"}), (Words{"http://host:8080/a@b"}));
}

TEST(Mask, WhatOnlyLooksAlikeStays) {
  const Words harmless = {"python",   "main.py", "--tokenizer",   "gpt2",
                          "--monkey", "3",       "--keyframes=2", "--keep",
                          "1",        "--arch",  "resnet50",      "data/train"};
  EXPECT_EQ(mask_command(harmless), harmless);
  EXPECT_EQ(mask_command({}), Words{});
  EXPECT_EQ(mask_command({"--token"}), Words{"--token"});
  EXPECT_EQ(mask_command({"--token", "--verbose"}), (Words{"--token", "--verbose"}));
}

}  // namespace
}  // namespace gable::testing
