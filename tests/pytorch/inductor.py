# SPDX-License-Identifier: Apache-2.0
"""A program whose model Inductor compiles for the CPU. Each kernel that its code calls launches one on the playback GPU, whose name says
where it came from: an operator's the module that called it, a fused one the operators that Inductor lists in its name."""
import sys
import traceback

import torch
from torch import nn

import playback_ops

_operators = torch.library.Library("playback", "DEF")
_operators.define("work(Tensor value, str tag) -> Tensor")


_fails = False


def _work(value, tag):
    playback_ops.launch(tag)
    if _fails and tag == "forward:head":
        raise RuntimeError("the head fails")
    return value.clone()


_operators.impl("work", _work, "CPU")
torch.library.register_fake("playback::work", lambda value, tag: torch.empty_like(value))


def _keep_tag(ctx, inputs, output):
    ctx.tag = inputs[1]


torch.library.register_autograd(
    "playback::work", lambda ctx, gradient: (torch.ops.playback.work(gradient, ctx.tag.replace("forward", "backward")), None),
    setup_context=_keep_tag)


def compiled_kernels_launch():
    """What Inductor makes of C++, and what it calls of PyTorch's, stand for its kernels on a GPU."""
    from torch._inductor import select_algorithm
    from torch._inductor.async_compile import AsyncCompile
    make = AsyncCompile.cpp_pybinding

    def cpp_pybinding(self, *args, **kwargs):
        made = make(self, *args, **kwargs)

        class Launching:
            def __call__(self, *arguments):
                playback_ops.launch("fused")
                return (made.result() if hasattr(made, "result") else made)(*arguments)

            def result(self):
                return self

        return Launching()

    AsyncCompile.cpp_pybinding = cpp_pybinding
    namespace = type(select_algorithm.extern_kernels)

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if name.startswith("__") or not callable(found):
            return found

        def launching(*args, **kwargs):
            playback_ops.launch(name)
            return found(*args, **kwargs)

        return launching

    namespace.__getattribute__ = __getattribute__


class Worked(nn.Module):
    """A linear layer whose operator launches a kernel that bears its name."""

    def __init__(self, tag, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.tag = tag

    def forward(self, x):
        return torch.ops.playback.work(self.linear(x), "forward:" + self.tag)


class Block(nn.Module):
    def __init__(self, tag, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first, self.second = Worked(tag + ".first", width), Worked(tag + ".second", width)
        self.act = nn.GELU()

    def forward(self, x):
        return x + self.second(self.act(self.first(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.blocks = nn.ModuleList(Block(f"blocks.{i}", width) for i in range(2))
        self.head = Worked("head", width)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def taking_what_comes(forward):
    """As decorators of large models' forwards do."""
    def wrapper(*args, **kwargs):
        return forward(*args, **kwargs)
    return wrapper


class Tied(nn.Module):
    """Its backward adds gradients up: of the weight that the two ends share, and of what both linear layers read."""

    def __init__(self, width=16):
        super().__init__()
        self.embed, self.left, self.right = nn.Embedding(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.head = nn.Linear(width, width, bias=False)
        self.head.weight = self.embed.weight

    @taking_what_comes
    def forward(self, ids):
        x = self.embed(ids)
        return self.head((self.left(x) * self.right(x)).relu())


def may_add_two_products():
    """As mode="max-autotune" does, without its measurements."""
    from torch._inductor import config
    config.max_autotune_gemm, config.max_autotune_gemm_backends = True, "ATEN"


def codes_with_calls():
    """Functions that Inductor wrote in which Gable's calls are."""
    from torch._inductor.codecache import PyCodeCache
    modules = PyCodeCache.modules if hasattr(PyCodeCache, "modules") else PyCodeCache.cache.values()
    functions = [getattr(module.call, "__func__", module.call) for module in modules if hasattr(module, "call")]
    return sum(any("gable" in name for name in function.__code__.co_names) for function in functions), len(functions)


def what_can_be_kept():
    """Of compiled code, by kinds."""
    save = getattr(getattr(torch, "compiler", None), "save_cache_artifacts", None)
    kept = save() if save is not None else None
    return None if kept is None else {kind: len(artifacts) for kind, artifacts in sorted(kept[1].artifacts.items())}


def what_was_compiled():
    """By Dynamo: graphs, frames and their failures."""
    from torch._dynamo.utils import counters
    return {name: dict(counters[name]) for name in ("stats", "frames")}


def in_functions_of_their_own():
    """As Inductor does for CUDA graphs, which it would not make of what runs on a CPU."""
    from torch._inductor.scheduler import Scheduler

    def should_partition(self, node, *args, **kwargs):
        return "that is none of them" if "blocks.1.first" in str(getattr(node.node, "constant_args", "")) else None

    Scheduler.should_partition = should_partition


def as_operators():
    """Regions that dispatch modes see, where PyTorch can do it."""
    from torch._inductor import config
    if hasattr(config, "wrap_inductor_compiled_regions"):
        config.wrap_inductor_compiled_regions = True


def train_tied(steps, autotunes):
    if autotunes:
        may_add_two_products()
    net = Tied()
    run, optimizer = torch.compile(net), torch.optim.SGD(net.parameters(), 1e-4)
    for _ in range(steps):
        optimizer.zero_grad()
        run(torch.arange(4)).sum().backward()
        optimizer.step()


def main(how, steps):
    global _fails
    torch.manual_seed(0)
    playback_ops.open_gpu()
    compiled_kernels_launch()
    if how.startswith("tied"):
        train_tied(steps, how == "tied_autotuned")
        return
    if how == "partitions":
        in_functions_of_their_own()
    net = Net()
    if how == "block":
        as_operators()
        net.blocks[0].compile()
    run = net if how == "block" else (torch.compile(lambda x: net(x) * 2, dynamic=True) if how == "function" else torch.compile(net))
    optimizer = torch.optim.SGD(net.parameters(), 1e-4)

    def train():
        optimizer.zero_grad()
        loss = run(torch.randn(4, 16)).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    losses = [train() for _ in range(steps)]
    print(losses, codes_with_calls(), what_can_be_kept(), what_was_compiled())
    _fails = True
    try:
        train()
    except RuntimeError:
        print(traceback.format_exc())


main(sys.argv[1], int(sys.argv[2]))
