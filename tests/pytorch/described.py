# SPDX-License-Identifier: Apache-2.0
"""Programs whose model Gable describes, or must leave alone: described.py CASE…. What each prints must be the same without
Gable."""
import sys
import warnings

import torch
from torch import nn

import models
import playback_ops
from playback_ops import launching, make_launching
from program import STEPS, Tied, digest, gpt_batch, train


def resnet50():
    """ResNet-50 as published, one image of 224 x 224."""
    model = make_launching(models.ResNet()).eval()
    image = torch.randn(1, 3, 224, 224)
    for _ in range(9):
        with torch.no_grad():
            output = model(image)
    print(output.double().sum().item().hex())


def allocations():
    """As with a GPU: PyTorch's allocator counts what is taken from it. Here the modules take as much as their results need."""
    taken = 0

    class Taking(nn.Linear):
        def forward(self, x):
            nonlocal taken
            taken += 4 * len(x) * self.out_features
            return super().forward(x)

    torch.cuda.memory_stats_as_nested_dict = lambda device=None: {
        "allocated_bytes": {"all": {"allocated": taken, "current": 1000 + taken, "peak": 3000 + taken}}, "reserved_bytes": {"all": {"current": 1 << 20}}}
    train(make_launching(nn.Sequential(Taking(8, 8), Taking(8, 4))), torch.randn(4, 8), torch.arange(4))


def memory():
    """Adam, whose state is there in every step but the first. The activations are the most, so that the peak is where backward begins."""
    model = make_launching(nn.Sequential(nn.Linear(16, 64), nn.Sigmoid(), nn.Linear(64, 4)))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    batch, targets = torch.randn(256, 16), torch.arange(256) % 4
    for _ in range(STEPS):
        optimizer.zero_grad()
        nn.functional.cross_entropy(launching(model(batch), "loss"), targets).backward()
        playback_ops.launch("optimizer")
        optimizer.step()
    print(digest(model))


def mixed():
    """Mixed precision, dropout, embeddings, gradients that add up in place, and a loss with a schedule."""
    model = make_launching(nn.Sequential(nn.Embedding(16, 8), nn.Linear(8, 8), nn.Dropout(0.5), nn.LayerNorm(8), nn.Linear(8, 4)))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    held = []
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=False)
        for _ in range(2):
            with torch.autocast("cpu", torch.bfloat16):
                output = model(torch.arange(12).view(2, 6))
                loss = nn.functional.cross_entropy(output.float().flatten(0, 1), torch.arange(12) % 4, label_smoothing=0.1)
            loss.backward()
        held.append([p.grad for p in model.parameters()])
        optimizer.step()
    print(digest(model), all(a is b for grads in held for a, b in zip(held[0], grads)))


class Recurrent(nn.Module):
    """A layer in one operator, and an operator of the program's own."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8)
        self.own = Own()
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        return self.last(self.own(self.lstm(x)[0]))


@torch.library.custom_op("described::twice", mutates_args=())
def twice(value: torch.Tensor) -> torch.Tensor:
    return value * 2


class Own(nn.Module):
    def forward(self, x):
        return twice(x)


def unknown_operators():
    model = make_launching(Recurrent())
    model.lstm.__class__ = nn.LSTM  # it has two results
    with torch.no_grad():
        for _ in range(STEPS):
            output = model(torch.ones(3, 2, 8))
    print(output.sum().item().hex())


class Odd(nn.Module):
    """What PyTorch computes in another order in backward, or by another formula, while a mode stands by."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(16, 8)

    def forward(self, x):
        x = x * x.prod(1, keepdim=True) + x.cumprod(0) + self.bag(torch.arange(len(x) * 2).view(len(x), 2) % 16)
        return torch.cdist(x, x + 1) + torch.linalg.solve(torch.eye(len(x)) + x @ x.mT / 100, x.sum(1, keepdim=True))


def apart():
    model = make_launching(nn.Sequential(nn.Linear(8, 8), Odd(), nn.Linear(6, 4)))
    train(model, torch.randn(6, 8), torch.arange(6) % 4)


class Refusing(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise ValueError("not now")


def apart_and_failing():
    """A backward that fails while others were set apart: the program sees its own error, and goes on."""
    model = make_launching(nn.Sequential(nn.Linear(8, 8), Odd(), nn.Linear(6, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    seen = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.randn(6, 8)).sum()
        try:
            (Refusing.apply(loss) if step % 2 == 0 else loss).backward()
        except ValueError as problem:
            seen.append(str(problem))
        optimizer.step()
    print(digest(model), seen)


def normalized():
    """Gradients of norms are no algebra of matrices."""

    class Normalized(nn.Linear):
        def forward(self, x):
            return nn.functional.normalize(super().forward(x), dim=-1)
    train(make_launching(nn.Sequential(Normalized(8, 8), nn.Linear(8, 4))), torch.randn(6, 8), torch.arange(6) % 4)


def pipeline():
    """A model that prepares, and another that does the work."""
    encoder, model = make_launching(nn.Sequential(nn.Linear(8, 8))), make_launching(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
    with torch.no_grad():
        x = encoder(torch.ones(2, 8)) + encoder(torch.zeros(2, 8))
        for _ in range(STEPS):
            x = model(x)
    print(x.sum().item().hex())


def turns():
    """Two models, each with an optimizer: steps of two kinds."""
    pair = [make_launching(nn.Sequential(nn.Linear(8, 4 * (1 + at)), *[nn.ReLU()] * at)) for at in range(2)]
    optimizers = [torch.optim.SGD(model.parameters(), 0.01) for model in pair]
    for _ in range(STEPS):
        for model, optimizer in zip(pair, optimizers):
            optimizer.zero_grad()
            model(torch.ones(2, 8)).sum().backward()
            optimizer.step()
    print(*map(digest, pair))


def many_kinds_of_steps():
    """More than are described."""
    model = make_launching(nn.Sequential(nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(5 * STEPS):
        optimizer.zero_grad()
        for _ in range(step % 12):
            playback_ops.launch("more")
        model(torch.ones(2, 8)).sum().backward()
        optimizer.step()
    print(digest(model))


def own_optimizer():
    """Its weights change by its own hand; beside the steps, there is a validation now and then."""
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)))
    for step in range(2 * STEPS):
        loss = nn.functional.cross_entropy(model(torch.ones(2, 8)), torch.tensor([0, 1]))
        loss.backward()
        with torch.no_grad():
            for each in model.parameters():
                each.sub_(each.grad, alpha=0.01)
                each.grad = None
            if step % 20 == 19:
                model(torch.ones(1, 8))
    print(digest(model))


def without_operators():
    """A module's own kernel, which no operator launches, beside a layer of PyTorch's, and one beside a kernel that exchanges its output."""
    class Own(nn.Module):
        def forward(self, x):
            playback_ops.launch("own")
            return x * 2

    class Exchanged(nn.Linear):
        def forward(self, x):
            playback_ops.launch("ncclDevKernel_AllGather_RING_LL")
            return super().forward(x)

    model = nn.Sequential(make_launching(nn.Linear(8, 4)), Own(), Exchanged(4, 4))
    with torch.no_grad():
        for _ in range(STEPS):
            output = model(torch.ones(2, 8))
    print(output.sum().item().hex())


def compiled_optimizer():
    """Its step is a function that is compiled, in which no hook runs."""
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    step = torch.compile(optimizer.step, backend="eager")
    for _ in range(2 * STEPS):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.ones(2, 8)), torch.tensor([0, 1])).backward()
        step()
    print(digest(model))


def odd_step():
    """The second step is another one."""
    model = make_launching(nn.Sequential(nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(STEPS):
        optimizer.zero_grad()
        if step == 1:
            playback_ops.launch("only once")
        model(torch.ones(2, 8)).sum().backward()
        optimizer.step()
    print(digest(model))


class Labelled(torch.Tensor):
    pass


def subclass():
    """Tensors of a class of the program's own; the model makes some itself."""
    model = make_launching(nn.Sequential(nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        output = model(torch.ones(2, 8).as_subclass(Labelled))
        output.sum().backward()
        optimizer.step()
    print(digest(model), type(output).__name__)


def script():
    model = nn.Sequential(make_launching(nn.Linear(8, 8)), torch.jit.script(nn.Linear(8, 4)))
    with torch.no_grad():
        for _ in range(STEPS):
            output = model(torch.ones(2, 8))
    print(output.sum().item().hex())


def own_mode():
    """A dispatch mode of the program's own."""
    from torch.utils.flop_counter import FlopCounterMode
    model = make_launching(nn.Sequential(nn.Linear(8, 4)))
    counter = FlopCounterMode(display=False)
    with torch.no_grad():
        for _ in range(STEPS):
            with counter:
                model(torch.ones(2, 8))
    print(counter.get_total_flops())


def compiled_function():
    model = make_launching(nn.Sequential(nn.Linear(8, 4)))
    faster = torch.compile(lambda x: torch.relu(x) + 1, backend="eager")
    with torch.no_grad():
        for _ in range(STEPS):
            output = faster(model(torch.ones(2, 8)))
    print(output.sum().item().hex())


def raising_in_description():
    """What a module raises in the step that is described is the program's own."""
    class Raising(nn.Module):
        calls = 0

        def forward(self, x):
            Raising.calls += 1
            if Raising.calls % 2 == 0:
                raise ValueError("the user's own")
            return x
    model = nn.Sequential(make_launching(nn.Linear(8, 4)), Raising())
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    caught = 0
    for _ in range(STEPS):
        optimizer.zero_grad()
        for _ in range(2):
            try:
                model(torch.ones(2, 8)).sum().backward()
            except ValueError as problem:
                caught += str(problem) == "the user's own"
        optimizer.step()
    print(caught, digest(model), torch._C._len_torch_dispatch_stack())


def gpt():
    model = make_launching(models.GPT())
    ids, targets = gpt_batch()
    train(model, ids, targets, forward=lambda ids: model(ids).flatten(0, 1))


class Multiplied(nn.Module):
    def forward(self, x):
        return x @ torch.ones(8, 3)


def inference_mode():
    model = make_launching(nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 6 * 6, 20), nn.Unflatten(1, (5, 4)),
                                         nn.Linear(4, 8, bias=False), Multiplied())).eval()
    with torch.inference_mode():
        for _ in range(STEPS):
            output = model(torch.ones(2, 3, 8, 8))
    print(output.sum().item().hex())


def shared():
    train(make_launching(Tied()), torch.randn(4, 8), torch.tensor([0, 1, 2, 3]))


@torch.library.custom_op("mine::gemm", mutates_args=())
def gemm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    playback_ops.launch("gemm")
    playback_ops.launch("epilogue")
    return x @ w


@torch.library.custom_op("mine::gemm_back", mutates_args=())
def gemm_back(gradient: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    playback_ops.launch("gemm_back")
    return gradient @ w.t()


gemm.register_autograd(lambda context, gradient: (gemm_back(gradient, context.w), None),
                       setup_context=lambda ctx, inputs, output: setattr(ctx, "w", inputs[1]))


class Gemms(nn.Module):
    """Two calls of one operator, of other shapes and in other lines, and one more of the first shape."""

    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.ones(8, 8))
        self.register_buffer("v", torch.ones(8, 4))

    def forward(self, x):
        x = gemm(x, self.w)  # first call
        for _ in range(2):
            x = gemm(x, self.w)  # second call
        return gemm(x, self.v)  # another shape


def operators():
    """Operators of the program's own, which launch their kernels themselves."""
    train(nn.Sequential(make_launching(nn.Linear(8, 8)), Gemms()), torch.randn(4, 8), torch.arange(4))


class _WithinBackward(torch.autograd.Function):
    """Its backward calls backward, as often as is asked for. PyTorch goes on with what is deeper than 60 on a thread of its own,
    which no Python called, as with everything on a GPU."""

    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if ctx.depth == 0:
            return gradient, None
        with torch.enable_grad():
            inner = ctx.saved_tensors[0].detach().requires_grad_()
            (_WithinBackward.apply(inner.sin(), ctx.depth - 1) @ inner.t()).sum().backward()
        return gradient + inner.grad, None


class Deep(nn.Module):
    def forward(self, x):
        return _WithinBackward.apply(x, 64)


def backward_on_a_thread_of_pytorchs():
    """As on a GPU: no frame of Python is around the operators."""
    model = make_launching(nn.Sequential(nn.Linear(8, 8), Deep(), nn.Linear(8, 4)))
    train(model, torch.randn(4, 8), torch.arange(4))


def warned():
    """Places that warnings name: of an operator, which its kernel gives, and of backward, in every step."""
    class Lone(nn.Linear):
        def forward(self, x):
            return super().forward(x) + torch.ones(1).std().nan_to_num()
    torch.set_warn_always(True)
    model = make_launching(nn.Sequential(Lone(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(torch.ones(2, 8)).sum().backward(create_graph=True)
            optimizer.step()
    print(digest(model), *(f"{warning.filename.rpartition('site-packages/')[2]}:{warning.lineno}" for warning in caught))


CASES = {case.__name__: case for case in (
    resnet50, mixed, unknown_operators, apart, apart_and_failing, odd_step, normalized, pipeline, turns, many_kinds_of_steps, own_optimizer, without_operators, compiled_optimizer, subclass,
    script, own_mode, compiled_function, raising_in_description, gpt, inference_mode, shared, allocations, memory, operators, warned, backward_on_a_thread_of_pytorchs)}

if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        torch.manual_seed(0)
        print(name, end=" ")
        CASES[name]()
