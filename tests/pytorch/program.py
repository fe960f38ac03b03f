# SPDX-License-Identifier: Apache-2.0
"""Programs of users, none of which knows Gable: program.py CASE. What each prints must be the same with and without Gable.

program.py CASE CASE… runs each in a process of its own that need not load PyTorch again."""
import os
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import calls
import models
import playback_ops
import regions
from playback_ops import launching, make_launching

STEPS = 24


def digest(model):
    """Bit for bit: every parameter and every gradient, as far as they are here."""
    words = [getattr(tensor, "to_local", lambda: tensor)().detach().double().view(-1).view(torch.int64)
             for parameter in model.parameters() for tensor in (parameter, parameter.grad) if tensor is not None]
    return hex(sum(int((w * torch.arange(1, len(w) + 1)).sum()) for w in words) & (1 << 64) - 1)


def train(model, batch, targets, steps=STEPS, forward=None):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    criterion = nn.CrossEntropyLoss()
    for _ in range(steps):
        optimizer.zero_grad()
        output = (forward or model)(batch)
        loss = criterion(launching(output, "loss"), targets)
        loss.backward()
        playback_ops.launch("optimizer")
        optimizer.step()
    print(f"loss {loss.item().hex()} model {digest(model)}")


def resnet():
    model = make_launching(models.ResNet(width=4, classes=8))
    train(model, torch.randn(2, 3, 32, 32), torch.tensor([1, 2]))


def gpt_batch():
    return torch.randint(0, 64, (2, 16)), torch.randint(0, 64, (32,))


def gpt():
    model = make_launching(models.GPT())
    ids, targets = gpt_batch()
    train(model, ids, targets, forward=lambda ids: model(ids).flatten(0, 1))


def generate():
    model = make_launching(models.GPT()).eval()
    for _ in range(40):
        print(model.generate(torch.arange(16).view(2, 8), 3).tolist())


def translate(features):
    model = make_launching(models.Translating(features=features)).eval()
    source = torch.randn(2, 8, 16) if features else torch.arange(16).view(2, 8)
    for _ in range(40):
        print(model.generate(source, 4).tolist())


@torch.no_grad()
def translate_by_function():
    model = make_launching(models.Translating()).eval()

    def generate(source, tokens, *, by):
        memory, cache = by.encoder(source), {}
        ids = inputs = torch.zeros(len(source), 1, dtype=torch.long)
        for _ in range(tokens):
            inputs = by(decoder_input_ids=inputs, encoder_outputs=memory, cache=cache)[:, -1:].argmax(-1)
            ids = torch.cat((ids, inputs), 1)
        return ids
    for _ in range(40):
        print(generate(torch.arange(16).view(2, 8), 4, by=model).tolist())


def methods():
    model = make_launching(models.Comparing())
    model.criterion = make_launching(nn.MSELoss())  # a loss wherever it stands
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model.compare(torch.ones(2, 8), torch.randn(2, 8)).backward()
        optimizer.step()
    print(digest(model))


class Coding(nn.Module):
    """Nobody calls it: its methods call four parts of it."""

    def __init__(self):
        super().__init__()
        self.encoder, self.quantize, self.expand, self.decoder = (nn.Linear(4, 4) for _ in range(4))

    def encode(self, x):
        return self.quantize(self.encoder(x))

    def decode(self, x):
        return self.decoder(self.expand(x))


def parts():
    model = make_launching(Coding())
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model.decode(model.encode(torch.ones(2, 4))).sum().backward()
        optimizer.step()
    print(digest(model))


def episodes():
    """Several forwards before a backward, more than make a program one that infers."""
    model = make_launching(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.stack([model(torch.ones(4)).sum() for _ in range(7)]).sum().backward()
        optimizer.step()
    print(digest(model))


class Launching(torch.optim.SGD):
    def step(self, closure=None):
        playback_ops.launch("optimizer")
        return super().step(closure)


def optimizers():
    """Each has a part of the parameters. The second one does not step every time."""
    model = make_launching(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)))
    parts = [Launching(layer.parameters(), 0.01) for layer in model]
    for step in range(2 * STEPS):
        model(torch.ones(2, 4)).sum().backward()
        for each in parts[:1] if step == 20 else parts:
            each.step()
            each.zero_grad()
    print(digest(model))


def derivatives():
    """Of the output by the input, twice, within the loss."""
    model = make_launching(nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        x = torch.linspace(0, 1, 5)[:, None].requires_grad_()
        slope, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        slope = launching(slope, "afterwards")  # this node is no layer's
        bend, = torch.autograd.grad(slope.sum(), x, create_graph=True)
        optimizer.zero_grad()
        bend.square().mean().backward()
        optimizer.step()
    print(digest(model))


class Built(nn.Module):
    """Its part is called before it is one, as where a weight is computed from others."""

    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Sequential(nn.Linear(4, 4)))
        make_launching(self.part)
        self.part(torch.ones(2, 4))

    def forward(self, x):
        return self.part(x)


def built():
    model = nn.Sequential(Built())
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    print(digest(model))


def validated_first(forwards):
    model = make_launching(nn.Sequential(nn.Linear(4, 4)))
    optimizer = Launching(model.parameters(), 0.01)
    with torch.no_grad():
        for _ in range(forwards):
            model(torch.ones(9, 4))
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    print(digest(model))


def functions():
    """Nobody calls the model, nor is it the first argument of anything: functions take modules out of it. What stands beside them, and
    holds the same modules, has nothing to do with it."""
    model = make_launching(models.Comparing())
    beside = nn.ModuleList((model.left, model.right))
    optimizer = torch.optim.SGD(beside.parameters(), 0.01)

    def compare(a, b, *, of):
        return (of.left(a) - of.right(b)).square().mean()
    for _ in range(STEPS):
        optimizer.zero_grad()
        compare(torch.ones(2, 8), torch.randn(2, 8), of=model).backward()
        optimizer.step()
    print(digest(model))


@torch.no_grad()
def generate_without_cache():
    """A loop of the user's own: every token costs a forward over all that came before."""
    model = make_launching(models.GPT()).eval()
    for _ in range(40):
        ids = torch.arange(8).view(1, 8)
        for _ in range(4):
            ids = torch.cat((ids, model(ids)[:, -1:].argmax(-1)), 1)
        print(ids.tolist())


@torch.no_grad()
def read_texts():
    """Texts of any length, and none is generated."""
    model = make_launching(models.GPT()).eval()
    for length in (8, 9, 5, 6, 12, 8, 9, 3) * 4:
        print(model(torch.arange(length).view(1, length)).argmax(-1).tolist())


def own_block():
    """The program says itself what is profiled, and its steps: two optimizer steps each."""
    import gable  # there whenever Gable is, and installed where users want it anyway
    model = make_launching(models.GPT())
    ids, targets = gpt_batch()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    criterion = nn.CrossEntropyLoss()

    def pair():
        for _ in range(2):
            optimizer.zero_grad()
            criterion(launching(model(ids).flatten(0, 1), "loss"), targets).backward()
            optimizer.step()

    pair()
    with gable.profile(wait=1, active=1, include=["attn"]) as profile:
        for _ in range(20):
            pair()
            profile.step()
    playback_ops.launch("afterwards")
    with gable.profile(wait=0, active=1, exclude="attn"):
        for _ in range(24):
            pair()
    print(digest(model))


def forked():
    """A server that forks its worker, which is the one that starts CUDA."""
    model = make_launching(models.GPT())
    ids, targets = gpt_batch()
    child = os.fork()
    if child == 0:
        train(model, ids, targets, forward=lambda ids: model(ids).flatten(0, 1))
        return
    sys.exit(os.waitpid(child, 0)[1])


def annotated():
    import gable
    model = make_launching(models.GPT())
    gable.annotate(model.transformer.h[1])
    gable.annotate(model.transformer.h[1].attn.qkv)
    ids, targets = gpt_batch()
    train(model, ids, targets, forward=lambda ids: model(ids).flatten(0, 1))


def copies():
    """A batch comes from the host in each step, and one module copies too."""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 4)

        def forward(self, x):
            playback_ops.copy_to_gpu(512)
            return self.layer(x)

    def forward(batch):
        playback_ops.copy_to_gpu(4096)
        return model(batch)

    model = make_launching(Model())
    train(model, torch.randn(4, 8), torch.tensor([0, 1, 2, 3]), forward=forward)


class Tower(nn.Module):
    """Blocks of which some are recomputed in backward."""

    def __init__(self, reentrant):
        super().__init__()
        self.reentrant = reentrant
        self.first = nn.Linear(8, 8)
        self.block = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        x = checkpoint(self.block, self.first(x), use_reentrant=self.reentrant)
        return self.last(x)


def checkpointing(reentrant):
    train(make_launching(Tower(reentrant)), torch.randn(4, 8), torch.tensor([0, 1, 2, 3]))


class Tall(nn.Module):
    """Every block is recomputed."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(6))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.again = self.inner
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        for _ in range(3):
            x = self.inner(x)
        return self.last(self.again(x))


def shared():
    train(make_launching(Tied()), torch.randn(4, 8), torch.tensor([0, 1, 2, 3]))


def accumulation():
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        for _ in range(3):
            nn.functional.cross_entropy(model(torch.ones(4, 8)), torch.tensor([0, 1, 2, 3])).backward()
        optimizer.step()
    print(digest(model))


class Closing(torch.optim.SGD):
    """Its step runs a closure, and launches a kernel of its own."""

    @torch.no_grad()
    def step(self, closure=None):
        loss = super().step(closure)
        playback_ops.launch("optimizer")
        return loss


def closure(make, steps=STEPS, forwards=1):
    """The optimizer runs the model within its step. One step fails, which the program survives."""
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)))
    optimizer = make(model.parameters())
    batch, calls = torch.randn(4, 8), []

    def evaluate():
        optimizer.zero_grad()
        calls.append(1)
        with torch.no_grad():
            for _ in range(forwards - 1):
                model(batch)
        loss = launching(model(batch), "loss").square().mean()
        if forwards > 1 and len(calls) == 2:  # LBFGS does not survive it
            raise ValueError("the user's own")
        loss.backward()
        playback_ops.launch("clip")
        return loss

    failed = 0
    for _ in range(steps):
        try:
            loss = optimizer.step(closure=evaluate)
        except ValueError:
            playback_ops.launch("failed")
            failed += 1
    print(f"loss {loss.item().hex()} model {digest(model)} {failed} failed, {len(calls)} calls")


def first_backward(run):
    """What the program switched on when its first backward of all ran is its own: nothing else is to be seen in it."""
    run()
    print(threading.Thread().name)
    train(make_launching(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4))), torch.randn(4, 8), torch.tensor([0, 1, 2, 3]))


def functorch():
    print(torch.func.grad(lambda x: (x ** 2).sum())(torch.ones(3)).tolist())


def saved_tensors():
    def look(tensor):
        print("saved", tensor.tolist())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(look, look):
        (torch.ones(3, requires_grad=True) ** 2).sum().backward()


def backward_thread():
    """Backward on a thread that is not the one of forward, as on a GPU."""
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 8)).sum()
        thread = threading.Thread(target=loss.backward)
        thread.start()
        thread.join()
        optimizer.step()
    print(digest(model))


def two_models():
    """A generator and a discriminator; the second also runs without gradients."""
    class Generator(nn.Sequential):
        pass

    class Discriminator(nn.Sequential):
        pass
    generator = make_launching(Generator(nn.Linear(4, 8), nn.ReLU()))
    discriminator = make_launching(Discriminator(nn.Linear(8, 1)))
    optimizer = torch.optim.SGD([*generator.parameters(), *discriminator.parameters()], 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.no_grad():
            discriminator(torch.ones(2, 8))
        discriminator(generator(torch.ones(2, 4))).sum().backward()
        optimizer.step()
    print(digest(generator), digest(discriminator))


def odd_calls(model, parameters=None):
    optimizer = torch.optim.SGD(parameters or model.parameters(), 0.001)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 4)).square().mean()
        loss.backward()
        optimizer.step()
    print(loss.item().hex())


def inference(mode):
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)))
    total = 0.0
    for _ in range(STEPS):
        with mode():
            total += model(torch.ones(4, 8)).sum().item()
    print(total.hex())


def compiled():
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)))
    graphs = []

    def backend(graph, inputs):
        graphs.append(len(list(graph.graph.nodes)))
        return graph

    plain = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    faster = torch.compile(plain, backend=backend)
    optimizer = torch.optim.SGD([*model.parameters(), *plain.parameters()], 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        (faster(torch.ones(4, 8)).sum() + model(torch.ones(4, 8)).sum()).backward()
        optimizer.step()
    import torch._dynamo.utils as dynamo
    print(graphs, dict(dynamo.counters["graph_break"]), dict(dynamo.counters["recompiles"]), digest(plain), digest(model))


def raising_hooks():
    model = make_launching(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)))
    calls = []

    def hook(module, inputs):
        calls.append(1)
        if len(calls) % 3 == 0:
            raise ValueError("the user's own")
    model[1].register_forward_pre_hook(hook)
    failed = 0
    for _ in range(STEPS):
        try:
            model(torch.ones(4, 8)).sum().backward()
        except ValueError as problem:
            failed += str(problem) == "the user's own"
    print(failed, digest(model))


def many_models():
    for _ in range(1000):
        nn.Sequential(nn.Linear(2, 2))(torch.ones(1, 2))
    model = make_launching(nn.Sequential(nn.Linear(2, 2)))
    with torch.no_grad():
        for _ in range(STEPS):
            model(torch.ones(1, 2))
    print("done")


def odd_names():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("a/b", nn.Linear(2, 2))
            self.add_module("ünï", nn.Linear(2, 2))

        def forward(self, x):
            return self._modules["ünï"](self._modules["a/b"](x))
    train(make_launching(Odd()), torch.ones(1, 2), torch.tensor([0]))


def workers():
    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 4 * STEPS

        def __getitem__(self, i):
            return torch.full((8,), float(i)), i % 4
    model = make_launching(nn.Sequential(nn.Linear(8, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.0001)
    for batch, targets in torch.utils.data.DataLoader(Numbers(), 4, num_workers=2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch), targets).backward()
        optimizer.step()
    print(digest(model))


def ranks(wrap):
    """Two of these under torchrun."""
    torch.distributed.init_process_group("gloo")
    model = wrap(make_launching(models.GPT()))
    ids, targets = gpt_batch()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), targets)
        loss.backward()
        optimizer.step()
    if torch.distributed.get_rank() == 0:
        print(f"loss {loss.item().hex()} model {digest(model)}")
    # PyTorch 2.13 joins gloo's threads while it holds the interpreter's lock; a thread that still drops its last work
    # waits for that lock, and the program hangs, with or without a profiler. By now none does.
    time.sleep(1)
    torch.distributed.destroy_process_group()


def fully_sharded(model):
    from torch.distributed.fsdp import fully_shard
    for block in model.transformer.h:
        fully_shard(block)
    return fully_shard(model)


def tensor_parallel(model):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cpu", (2,))
    for block in model.transformer.h:
        parallelize_module(block.mlp, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return model


CASES = {
    "resnet": resnet, "gpt": gpt, "generate": generate,
    "generate_without_cache": generate_without_cache, "read_texts": read_texts, "copies": copies, "own_block": own_block, "annotated": annotated, "shared": shared, "accumulation": accumulation,
    "checkpoint": lambda: checkpointing(False), "checkpoint_reentrant": lambda: checkpointing(True),
    "checkpoint_all": lambda: train(make_launching(Tall()), torch.randn(4, 8), torch.tensor([0, 1, 2, 3])),
    "translate": lambda: translate(False), "translate_speech": lambda: translate(True), "translate_by_function": translate_by_function,
    "methods": methods, "functions": functions, "parts": parts, "episodes": episodes, "optimizers": optimizers, "validated_first": lambda: validated_first(6), "validated_long": lambda: validated_first(40), "built": built, "derivatives": derivatives,
    "serving": lambda: odd_calls(calls.serving()), "answering": lambda: odd_calls(calls.answering()), "without_hash": lambda: odd_calls(*calls.without_hash()),
    "custom": lambda: odd_calls(calls.custom()),
    "closure": lambda: closure(lambda parameters: Closing(parameters, 0.01), forwards=6),
    "closure_lbfgs": lambda: closure(lambda parameters: torch.optim.LBFGS(parameters, 0.01, max_iter=3), 2 * STEPS),
    "functorch": lambda: first_backward(functorch), "saved_tensors": lambda: first_backward(saved_tensors),
    "backward_thread": backward_thread, "two_models": two_models, "no_grad": lambda: inference(torch.no_grad),
    "inference_mode": lambda: inference(torch.inference_mode), "gradients_on": lambda: inference(torch.enable_grad),
    "compiled": compiled, "compiled_regions": lambda: regions.compiled_regions(STEPS, digest), "raising_hooks": raising_hooks, "many_models": many_models, "odd_names": odd_names,
    "forked": forked, "workers": workers, "ddp": lambda: ranks(nn.parallel.DistributedDataParallel), "fsdp": lambda: ranks(fully_sharded),
    "tensor_parallel": lambda: ranks(tensor_parallel),
}


def run(case):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    CASES[case]()


def run_apart(case):
    print(f"case {case}", flush=True)
    child = os.fork()
    if child == 0:
        run(case)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"{case} failed")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        run(sys.argv[1])
    else:
        for name in sys.argv[1:]:
            run_apart(name)
