# SPDX-License-Identifier: Apache-2.0
"""Models that tests/plan/model_test.py plans."""
import functools
import sys

import torch
from torch import nn
from torch.nn import functional


@functools.lru_cache(maxsize=None)
def torchvision_models():
    for name in ("nms", "qnms"):  # its operators in C++ load into a PyTorch with CUDA alone
        torch.library.define("torchvision::" + name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from torchvision import models
    return models


def resnet50():
    return torchvision_models().resnet50()


class Block(nn.Module):
    """Of Llama 2: H. Touvron et al., without what has no products (norms, rotary embedding)."""

    def __init__(self, hidden, inner, heads, kv_heads, past):
        super().__init__()
        self.heads, self.kv_heads, self.head, self.past = heads, kv_heads, hidden // heads, past
        kv = kv_heads * self.head
        self.q_proj, self.o_proj = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k_proj, self.v_proj = nn.Linear(hidden, kv, bias=False), nn.Linear(hidden, kv, bias=False)
        self.gate_proj, self.up_proj = nn.Linear(hidden, inner, bias=False), nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x):
        batch, tokens, _ = x.shape

        def heads(values, count):
            return values.view(batch, -1, count, self.head).transpose(1, 2)
        q, k, v = heads(self.q_proj(x), self.heads), heads(self.k_proj(x), self.kv_heads), heads(self.v_proj(x), self.kv_heads)
        if self.past:  # what was kept, with the new token in its place
            k, v = (x.new_empty(batch, self.kv_heads, self.past, self.head) for _ in range(2))
        if self.kv_heads < self.heads:
            times = self.heads // self.kv_heads
            k, v = (each[:, :, None].expand(-1, -1, times, -1, -1).reshape(batch, self.heads, -1, self.head) for each in (k, v))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=not self.past)
        x = x + self.o_proj(out.transpose(1, 2).reshape(batch, tokens, -1))
        return x + self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Llama(nn.Module):
    def __init__(self, hidden=4096, inner=11008, heads=32, kv_heads=32, layers=32, words=32000, past=0):
        super().__init__()
        self.embed = nn.Embedding(words, hidden)
        self.layers = nn.ModuleList(Block(hidden, inner, heads, kv_heads, past) for _ in range(layers))
        self.lm_head = nn.Linear(hidden, words, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(x[:, -1:])


def llama_prefill():
    return Llama()


def llama_decode():
    return Llama(past=2048)


def small_grouped():
    return Llama(64, 128, 8, 2, 2, 100)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x, scale=None):
        x = self.second(torch.relu(self.first(x)))
        return x if scale is None else x * scale


def small():
    print("built")  # is no part of the answer
    return Small()


class Values(Small):
    def forward(self, x):
        x = self.first(x)
        if x.sum().item() > 0:
            x = -x
        return x


def values():
    return Values()


def values_while_built():
    model = Small()
    model.rates = [each.item() for each in torch.linspace(0, 1, 3)]
    return model


class Own(Small):
    def forward(self, x):
        return torch.ops.gable_test.twice(super().forward(x))


def own_operator():
    torch.library.define("gable_test::twice", "(Tensor x) -> Tensor")
    torch.library.impl("gable_test::twice", "Meta", torch.empty_like)
    return Own()


def throws():
    raise ValueError("there are no weights\nat all")


def no_module():
    return 3


def leaves():
    sys.exit(7)
