# SPDX-License-Identifier: Apache-2.0
"""Modules that are called in unusual ways, or are unusual themselves."""
import asyncio

import torch
from torch import nn

import playback_ops
from playback_ops import launching, make_launching


class Streaming(nn.Module):
    """Its forward yields."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        for stage in (self.first, self.second):
            try:
                x = launching(stage(x), self.tag)
                yield x
            finally:
                playback_ops.launch(f"forward:{self.tag}")


class Waiting(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    async def forward(self, x):
        x = launching(self.first(x), self.tag)
        await asyncio.sleep(0)
        return launching(self.second(x), self.tag)


class Listening(nn.Module):
    """Its forward waits and yields."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    async def forward(self, x):
        for stage in (self.first, self.second):
            await asyncio.sleep(0)
            try:
                x = launching(stage(x), self.tag)
                yield x
            except ValueError:
                yield x * 2
            finally:
                await asyncio.sleep(0)
                playback_ops.launch(f"forward:{self.tag}")


class Answering(nn.Module):
    def __init__(self):
        super().__init__()
        self.listening, self.between, self.last = Listening(), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        async def answer():
            total = 0
            async for part in self.listening(x):
                total = total + self.between(part)
            thrown = self.listening(x)
            await thrown.__anext__()
            total = total + await thrown.athrow(ValueError("the program's own"))
            await thrown.aclose()
            await self.listening(x).__anext__()  # and is given up
            return total
        return self.last(asyncio.run(answer()))


class Serving(nn.Module):
    def __init__(self):
        super().__init__()
        self.streaming, self.between, self.last = Streaming(), nn.Linear(4, 4), nn.Linear(4, 2)
        self.waiting = nn.ModuleList(Waiting() for _ in range(2))

    def forward(self, x):
        total = 0
        for part in self.streaming(x):
            total = total + self.between(part)
        next(self.streaming(x))  # and is given up

        async def both():
            return await asyncio.gather(*(waiting(total) for waiting in self.waiting))
        return self.last(sum(asyncio.run(both())))


class Unhashable(nn.Linear):
    __hash__ = None


class Equal(nn.Linear):
    def __eq__(self, other):
        return isinstance(other, Equal)


class Doubled(torch.autograd.Function):
    """With kernels of its own, forward and backward."""

    @staticmethod
    def forward(context, x, tag):
        context.tag = tag
        playback_ops.launch(f"forward:{tag}")
        return x * 2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient):
        playback_ops.launch(f"backward:{context.tag}")
        return gradient * 2, None


class Rebuilt(torch.autograd.Function):
    """Runs a module, and runs it again in its backward."""

    @staticmethod
    def forward(context, x, inner, tag):
        context.inner, context.tag = inner, tag
        context.save_for_backward(x)
        playback_ops.launch(f"forward:{tag}")
        return inner(x)

    @staticmethod
    def backward(context, gradient):
        x = context.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            torch.autograd.backward(context.inner(x), gradient)
        playback_ops.launch(f"backward:{context.tag}")
        return x.grad, None, None


class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.inner = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return Rebuilt.apply(Doubled.apply(self.first(x), self.tag), self.inner, self.tag)


def tagged(model):
    """As make_launching(), and the others know their names too."""
    for name, module in model.named_modules():
        module.tag = name
    return make_launching(model)


def serving():
    return tagged(Serving())


def answering():
    return tagged(Answering())


def without_hash():
    """PyTorch's own walks over modules want a hash, so the parameters are listed by hand."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4))
    make_launching(model)
    for module, kind in zip(model, (Unhashable, Equal, Equal)):
        module.__class__ = type(kind.__name__, (playback_ops._LaunchingForward, kind), {"__hash__": None})
    return model, [parameter for module in model for parameter in (module.weight, module.bias)]


def custom():
    return tagged(nn.Sequential(Custom(), nn.Linear(4, 2)))
