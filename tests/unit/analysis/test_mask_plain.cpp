// SPDX-License-Identifier: Apache-2.0
// Commands without a secret stay as they are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/mask.h"
#include "tests/unit/analysis/mask_forms.h"

namespace gable::testing {
namespace {

TEST(MaskForms, WhatIsPlainStays) {
  const std::vector<const char*> forms = {
      R"~(train.py | --max-tokens | 512)~",
      R"~(train.py | --max_new_tokens=512)~",
      R"~(train.py | --num-tokens | 4096)~",
      R"~(train.py | --tokens-per-batch | 8k)~",
      R"~(train.py | --min_tokens=1)~",
      R"~(train.py | --tokens | 5 | --lr | 1)~",
      R"~(train.py | --tokenizer | gpt2)~",
      R"~(train.py | --tokenizer=meta-llama/Llama-2-7b)~",
      R"~(train.py | --tokenizer_name | gpt2)~",
      R"~(train.py | --tokenizer.path=/x)~",
      R"~(train.py | --tokenization | bpe)~",
      R"~(train.py | --key-bindings | vim)~",
      R"~(train.py | --keybindings=vim)~",
      R"~(train.py | --key-dim | 64)~",
      R"~(train.py | --num-keys | 8)~",
      R"~(train.py | --num_key_value_heads=8)~",
      R"~(train.py | --sort-key-columns | a)~",
      R"~(train.py | --keyframes=2)~",
      R"~(train.py | --keypoints | 17)~",
      R"~(train.py | --keyword | a)~",
      R"~(train.py | --primary-key-columns | id)~",
      R"~(train.py | --author | me)~",
      R"~(train.py | --authors=me)~",
      R"~(train.py | --passes | 3)~",
      R"~(train.py | --num-passes=3)~",
      R"~(train.py | --bypass | 1)~",
      R"~(train.py | --compass=n)~",
      R"~(train.py | --pin-memory | true)~",
      R"~(train.py | --pin_memory=True)~",
      R"~(train.py | --spin | 3)~",
      R"~(train.py | --pad_token_id=0 | --eos-token-id | 2)~",
      R"~(train.py | --bos_token=<s> | --pad_token | <pad>)~",
      R"~(train.py | --sort-key=x | --hotkey | x)~",
      R"~(ssh | -o | PasswordAuthentication=no | h)~",
      R"~(wget | --ask-password | h)~",
      R"~(train.py | --license-file | LICENSE)~",
      R"~(train.py | --license_file=/x/LICENSE)~",
      R"~(train.py | --token-file | /run/x)~",
      R"~(train.py | --password-file=/run/x)~",
      R"~(train.py | --auth-type | none)~",
      R"~(train.py | --auth-method=oidc)~",
      R"~(train.py | --auth_provider | x)~",
      R"~(train.py | --secret-name | x)~",
      R"~(train.py | --password-stdin)~",
      R"~(train.py | --lr | 0.1 | --batch-size | 32 | --epochs=3)~",
      R"~(train.py | --seed | 17)~",
      R"~(train.py | --optimizer=adamw | --weight-decay | 0.01)~",
      R"~(train.py | --signal | 3 | --sign | 1)~",
      R"~(train.py | --path=/data | --patience | 3)~",
      R"~(train.py | --patch-size=16)~",
      R"~(train.py | --bearing=3)~",
      R"~(train.py | --session | x)~",
      R"~(train.py | --code | x)~",
      R"~(train.py | --salt-and-pepper | 1)~",
      R"~(train.py | --output-dir | out | --wandb-project=p)~",
      R"~(train.py | --wandb | --wandb_mode=offline)~",
      R"~(torchrun | --nproc-per-node=8 | --rdzv-endpoint=h:29500 | train.py)~",
      R"~(torchrun | --standalone | --nnodes=1 | t.py | --fsdp | full_shard)~",
      R"~(accelerate | launch | --mixed_precision=bf16 | --num_processes | 8 | t.py)~",
      R"~(deepspeed | --num_gpus=8 | t.py | --deepspeed | ds.json)~",
      R"~(srun | -N | 2 | --export=ALL,LR=0.1 | python | t.py)~",
      R"~(docker | run | --gpus | all | -p | 8080:80 | -v | /a:/b | image)~",
      R"~(docker | run | -u | 1000:1000 | -e | LR=1 | image)~",
      R"~(kubectl | get | pods | -n | train)~",
      R"~(helm | install | x | --set | replicas=3,image.tag=1)~",
      R"~(git | clone | git@github.com:a/b.git)~",
      R"~(git | clone | https://github.com/a/b.git)~",
      R"~(git | checkout | 8c0b1f2e3d4c5b6a79808182838485868788898a)~",
      R"~(git | commit | -m | fix)~",
      R"~(curl | -sSL | https://h/x?page=2&size=10 | -o | f)~",
      R"~(curl | -H | Accept: application/json | h)~",
      R"~(python | -m | pip | install | hf_transfer | sk-learn-extra)~",
      R"~(python | -c | print(max(1, 2)))~",
      R"~(python | -c | model.generate(x, max_new_tokens=512))~",
      R"~(python | -c | tokenizer = AutoTokenizer.from_pretrained('gpt2'))~",
      R"~(python | -c | for k in d.keys(): print(k))~",
      R"~(bash | -c | cd /x && python train.py --lr 0.1; echo done)~",
      R"~(bash | -c | ls \| grep x \| sort -k 2)~",
      R"~(bash | -c | mkdir -p out && cp -p a out)~",
      R"~(ssh | -p | 22 | host)~",
      R"~(mysql | -h | db | -P | 3306)~",
      R"~(wandb | online)~",
      R"~(wandb | sync | run-1)~",
      R"~(vault | status)~",
      R"~(hydra.run.dir=out | model=resnet50 | +trainer.max_epochs=3)~",
      R"~({"lr": 0.1, "model": {"layers": [1, 2]}})~",
      R"~(lr: 0.1\nmodel: resnet)~",
      R"~(--env=LR=0.1)~",
      R"~(--name | x | --value | 3)~",
      R"~(--data | imagenet | --body | x)~",
      R"~(python | secret_sharing.py | --data | imagenet)~",
      R"~(python | tokens.py | in.txt)~",
      R"~(python | train.py | data/tokens | 3)~",
  };
  EXPECT_GE(forms.size(), 60u);
  for (const char* form : forms) {
    const auto command = command_of(form);
    EXPECT_EQ(joined(mask_command(command)), joined(command)) << form;
  }
}

}  // namespace
}  // namespace gable::testing
