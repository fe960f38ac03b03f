# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 and a small GPT, written out; small enough for a CPU."""
import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + shortcut)


class ResNet(nn.Module):
    """ResNet-50; `width` 64 is the published one."""

    def __init__(self, width=64, classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inputs = width
        for stage, blocks in enumerate((3, 4, 6, 3)):
            layers = []
            for block in range(blocks):
                layers.append(Bottleneck(inputs, width << stage, 2 if stage > 0 and block == 0 else 1))
                inputs = 4 * (width << stage)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x, cache=None):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if cache is not None:
            if "k" in cache:
                k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
            cache["k"], cache["v"] = k, v
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, cache=None):
        x = x + self.attn(self.ln_1(x), cache)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=64, width=32, heads=4, blocks=2, length=64):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, width),
            "wpe": nn.Embedding(length, width),
            "h": nn.ModuleList(Block(width, heads) for _ in range(blocks)),
            "ln_f": nn.LayerNorm(width),
        })
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids, caches=None):
        past = caches[0]["k"].shape[2] if caches and "k" in caches[0] else 0
        x = self.transformer.wte(ids) + self.transformer.wpe(torch.arange(past, past + ids.shape[1], device=ids.device))
        for i, block in enumerate(self.transformer.h):
            x = block(x, caches[i] if caches else None)
        return self.lm_head(self.transformer.ln_f(x))

    @torch.no_grad()
    def generate(self, ids, tokens):
        caches = [{} for _ in self.transformer.h]
        inputs = ids
        for _ in range(tokens):
            inputs = self(inputs, caches)[:, -1:].argmax(-1)
            ids = torch.cat((ids, inputs), 1)
        return ids


class Translating(nn.Module):
    """An encoder, which generate() runs once, and a decoder that looks at what it made. The encoder reads tokens, or features."""

    def __init__(self, vocabulary=64, width=16, features=False):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(width, width) if features else nn.Embedding(vocabulary, width), Block(width, 2))
        self.decoder = nn.ModuleDict({"embed": nn.Embedding(vocabulary, width), "block": Block(width, 2),
                                      "cross": nn.Linear(2 * width, width)})
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source=None, decoder_input_ids=None, encoder_outputs=None, cache=None):
        memory = self.encoder(source) if encoder_outputs is None else encoder_outputs
        x = self.decoder.block(self.decoder.embed(decoder_input_ids), cache)
        return self.head(self.decoder.cross(torch.cat((x, memory.mean(1, keepdim=True).expand_as(x)), -1)))

    @torch.no_grad()
    def generate(self, source, tokens):
        memory, cache = self.encoder(source), {}
        ids = inputs = torch.zeros(len(source), 1, dtype=torch.long)
        for _ in range(tokens):
            inputs = self(decoder_input_ids=inputs, encoder_outputs=memory, cache=cache)[:, -1:].argmax(-1)
            ids = torch.cat((ids, inputs), 1)
        return ids


class Comparing(nn.Module):
    """Nobody calls it: what it does is a method of its own."""

    def __init__(self):
        super().__init__()
        self.left, self.right = (nn.Sequential(nn.Linear(8, 4)) for _ in range(2))
        self.criterion = None

    def compare(self, a, b):
        return self.criterion(self.left(a), self.right(b))
