# SPDX-License-Identifier: Apache-2.0
"""Holds Gable's formulas against figures that others published for whole models, and against closed forms: prints the table of
docs/published-figures.md. The models come from transformers and diffusers (published.requirements.txt), with no weights:

    python3 -m venv VENV && VENV/bin/pip install -r tests/pytorch/published.requirements.txt
    VENV/bin/python tests/pytorch/published.py
    VENV/bin/python tests/pytorch/published.py GPT-2 LSTM    # these rows alone

`forward` and `backward` are floating-point operations, two for a multiply and an add. Tensors are fake ones, of
PyTorch's own making: nothing is multiplied, and no model takes memory, but for one whose work depends on values.
"""
import sys
import warnings
from contextlib import nullcontext

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import papers
from counting import measured

ROWS = dict(papers.MODELS)
OF_VALUES = ("Mixtral 8x7B", *papers.MODELS)  # a real model, or tensors on the device meta
FORM = "closed form"
ELECTRA = {768: 28616498688, 1024: 87465671680}


def row(name):
    def keep(make):
        ROWS[name] = make
        return make
    return keep


def ids(*shape):
    return torch.zeros(shape, dtype=torch.long)


def randn(*shape):
    return torch.empty(shape)


def from_config(config, kind, attention="sdpa", trains=False):
    """`trains`: with dropout, where PyTorch computes attention by two products and keeps the scores. Without, FlashAttention."""
    import transformers
    from transformers.modeling_utils import no_init_weights
    config._attn_implementation = attention
    with no_init_weights():
        return getattr(transformers, kind)(config).train(trains)


def transformer(tokens, sequences, width, layers, inner, keys=None, gated=False, head=0):
    """Of a stack of encoder or decoder layers, by hand: projections, the two products of attention over every pair of tokens, and the
    products of the feed-forward part. `keys`: width of keys and values, which heads may share."""
    projections = 2 * width * width + 2 * width * (keys or width)
    feeding = (3 if gated else 2) * width * inner
    each = 2 * tokens * (projections + feeding) + 4 * tokens * tokens * width
    return sequences * (layers * each + 2 * tokens * width * head)


def scores(tokens, width, layers, keys=None):
    """The product that FlashAttention's backward does again, because it kept no scores: five in all, to two in forward."""
    return layers * 2 * tokens * (keys or tokens) * width


# --- each row: (input, [(what, figure, source)], forward, backward, unknown)

def bert(width, layers):
    """The encoder, of 128 tokens."""
    from transformers import BertConfig
    config = BertConfig(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64, intermediate_size=4 * width)
    encoder = from_config(config, "BertModel", trains=True).encoder
    return measured(encoder, randn(1, 128, width).requires_grad_(), pick=lambda out: out[0]), transformer(128, 1, width, layers, 4 * width)


# What google-research/electra's flops_computation.py gives: TransformerHparams(width, layers, s=128).get_infer_flops().
@row("BERT-base")
def bert_base():
    got, form = bert(768, 12)
    return "encoder, 1 x 128 tokens", [("forward", ELECTRA[768], "ELECTRA's script"), ("forward", form, FORM), ("backward", 2 * form, FORM)], got


@row("BERT-large")
def bert_large():
    got, form = bert(1024, 24)
    return "encoder, 1 x 128 tokens", [("forward", ELECTRA[1024], "ELECTRA's script"), ("forward", form, FORM), ("backward", 2 * form, FORM)], got


@row("GPT-2")
def gpt2():
    from transformers import GPT2Config
    model = from_config(GPT2Config(), "GPT2LMHeadModel", trains=True)
    got = measured(model, ids(1, 1024), pick=lambda out: out.logits, use_cache=False)
    s, h, layers, v = 1024, 768, 12, 50257
    forward = 24 * s * h * h * layers * (1 + s / (6 * h) + v / (12 * layers * h))
    return "1 x 1024 tokens", [
        ("forward", forward, "Narayanan 2021, appendix"), ("backward", 2 * forward, "Narayanan 2021, appendix")], got


@row("Llama-2-7B")
def llama_7b():
    return llama(4096, 32, 11008, 32)


@row("Llama-2-70B")
def llama_70b():
    return llama(8192, 80, 28672, 8)


def llama(width, layers, inner, key_heads):
    from transformers import LlamaConfig
    config = LlamaConfig(hidden_size=width, num_hidden_layers=layers, intermediate_size=inner, num_attention_heads=width // 128,
                         num_key_value_heads=key_heads, vocab_size=32000, max_position_embeddings=4096)
    model = from_config(config, "LlamaForCausalLM")
    got = measured(model, ids(1, 4096), pick=lambda out: out.logits, use_cache=False)
    forward = transformer(4096, 1, width, layers, inner, keys=128 * key_heads, gated=True, head=32000)
    multiplying = sum(each.numel() for each in model.parameters()) - model.model.embed_tokens.weight.numel()
    palm = 4096 * (6 * multiplying + 12 * layers * width * 4096)
    return "1 x 4096 tokens", [("forward", forward, FORM),
                               ("backward", 2 * forward + scores(4096, width, layers), FORM), ("both", palm, "PaLM, appendix B")], got


@row("Mixtral 8x7B")
def mixtral():
    """One of its 32 layers, without weights but on the CPU: which experts a token meets depends on values."""
    from transformers import MixtralConfig
    config = MixtralConfig(num_hidden_layers=1, vocab_size=32000, dtype="bfloat16")
    with torch.device("meta"):
        model = from_config(config, "MixtralForCausalLM").to(torch.bfloat16).to_empty(device="cpu")
    for each in (*model.parameters(), *model.buffers()):
        nn.init.zeros_(each)
    tokens, width = 64, 4096
    got = measured(model, torch.zeros(1, tokens, dtype=torch.long), pick=lambda out: out.logits, use_cache=False)
    form = transformer(tokens, 1, width, 1, 2 * 14336, keys=1024, gated=True, head=32000) + 2 * tokens * width * 8
    return "1 of 32 layers, 1 x 64 tokens", [("forward", form, FORM), ("backward", 2 * form + scores(tokens, width, 1), FORM)], got


@row("ViT-B/16")
def vit_b():
    return vit(768, 12, 17.5e9)


@row("ViT-L/16")
def vit_l():
    return vit(1024, 24, 61.6e9)


def vit(width, layers, published):
    from transformers import ViTConfig
    config = ViTConfig(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64, intermediate_size=4 * width,
                       num_labels=1000)
    model = from_config(config, "ViTForImageClassification")
    got = measured(model, randn(1, 3, 224, 224), pick=lambda out: out.logits)
    patches, head = 2 * 196 * 768 * width, 2 * width * 1000
    forward = transformer(197, 1, width, layers, 4 * width) + patches + head
    return "1 x 3 x 224 x 224", [("forward", 2 * published, "DeiT III, model zoo"), ("forward", forward, FORM),
                                 ("backward", 2 * forward - patches + scores(197, width, layers), FORM)], got


@row("Whisper small")
def whisper():
    from transformers import WhisperConfig
    width, layers, frames, tokens = 768, 12, 1500, 448
    config = WhisperConfig(d_model=width, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=12,
                           decoder_attention_heads=12, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, vocab_size=51865)
    model = from_config(config, "WhisperForConditionalGeneration")
    got = measured(model, randn(1, 80, 3000), decoder_input_ids=ids(1, tokens), pick=lambda out: out.logits, use_cache=False)
    first = 2 * 3000 * 80 * width * 3
    second = 2 * 1500 * width * width * 3
    cross = layers * (2 * width * width * (2 * tokens + 2 * frames) + 4 * tokens * frames * width)
    forward = (first + second + transformer(frames, 1, width, layers, 4 * width) + cross +
               transformer(tokens, 1, width, layers, 4 * width, head=51865))
    again = scores(frames, width, layers) + scores(tokens, width, layers) + scores(tokens, width, layers, frames)
    return "30 s, 448 tokens", [
        ("forward", forward, FORM), ("backward", 2 * forward - first + again, FORM)], got


@row("Stable Diffusion 1.5")
def stable_diffusion():
    from diffusers import UNet2DConditionModel
    model = UNet2DConditionModel(sample_size=64, cross_attention_dim=768, attention_head_dim=8)
    got = measured(model, randn(1, 4, 64, 64), ids(1), randn(1, 77, 768), pick=lambda out: out.sample)
    # Width, places and layers; each attends to the places, and to the text.
    levels = ((320, 4096, 5), (640, 1024, 5), (1280, 256, 5), (1280, 64, 1))
    attention = sum(4 * layers * places * (places + 77) * width for width, places, layers in levels)
    return "U-Net, 1 x 4 x 64 x 64, 77 tokens", [
        ("forward", 2 * 338.83e9, "DeepCache"), ("forward", 2 * 338.83e9 + attention, "DeepCache, and attention by hand")], got


@row("Mamba-130M")
def mamba():
    from transformers import MambaConfig
    width, layers, state, rank, tokens, vocabulary = 768, 2, 16, 48, 64, 50280
    model = from_config(MambaConfig(hidden_size=width, num_hidden_layers=layers, state_size=state, vocab_size=vocabulary,
                                    time_step_rank=rank), "MambaForCausalLM", "eager")
    got = measured(model, ids(1, tokens), pick=lambda out: out.logits, use_cache=False)
    inner = 2 * width
    products = 2 * width * 2 * inner + 2 * inner * (rank + 2 * state) + 2 * rank * inner + 2 * inner * width
    convolved = 2 * inner * 4 * (tokens + 3)  # PyTorch's convolution also makes the three results that are cut off
    scan = 9 * inner * state  # the authors' count for their kernel
    read_out = 2 * inner * state
    dense = layers * (tokens * products + convolved) + 2 * tokens * width * vocabulary
    return "2 of 24 layers, 1 x 64 tokens", [
        ("forward", dense + layers * tokens * scan, "closed form, scan 9 BLDN (mamba issue 110)"),
        ("forward", dense + layers * tokens * read_out, "closed form, of the scan its product with C"),
        ("backward", 2 * (dense + layers * tokens * read_out), "closed form, likewise")], got


def shown(value):
    return f"{value / 1e9:,.2f}"


def main(names):
    warnings.filterwarnings("ignore")
    print("| model | input | direction | figure, GFLOP | source | Gable, GFLOP | difference |\n|---|---|---|--:|---|--:|--:|")
    failed = False
    for name in names or ROWS:
        with nullcontext() if name in OF_VALUES else FakeTensorMode():
            given, figures, (forward, backward, unknown) = ROWS[name]()
        got = {"forward": forward, "backward": backward, "both": None if backward is None else forward + backward}
        for direction, figure, source in figures:
            ours = got[direction]
            print(f"| {name} | {given} | {direction} | {shown(figure)} | {source} | {shown(ours)} | {(ours / figure - 1) * 100:+.2f} % |")
        if unknown:
            failed = True
            print(f"{name}: unknown: {', '.join(sorted(unknown))}", file=sys.stderr)
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
