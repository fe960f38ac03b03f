# SPDX-License-Identifier: Apache-2.0
"""Programs that look where a profiler might show: unseen.py CASE. What each prints must be the same with and without Gable. They look
before the first step, in every step, and long after the last one that Gable wants."""
import hashlib
import inspect
import io
import pickle
import sys
import traceback
import warnings

import torch
from torch import nn

from playback_ops import launching, make_launching

STEPS = 40


class Inner(nn.Module):
    def forward(self, x, fails=False):
        if fails:
            raise LookupError("the program's own")
        return launching(x, "block.inner")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.inner = Inner()

    def forward(self, x, fails=False):
        return self.inner(self.linear(x), fails=fails)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.frames = None

    def forward(self, x, fails=False):
        self.frames = [(frame.filename, frame.lineno, frame.function) for frame in inspect.stack(0)]
        return self.block(x, fails)


class Calling(nn.Linear):
    """Of a class with a call of its own."""

    def __call__(self, x):
        return super().__call__(x)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def steps(look):
    """Trains for so many steps; look() comes before the backward of each."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = net(torch.ones(2, 4)).sum()
        look(net)
        loss.backward()
        optimizer.step()
    print(loss.item().hex())


def failure(net):
    """What a program prints of an exception that came out of a module, and what it can find out about it."""
    try:
        net(torch.ones(2, 4), True)
    except LookupError as problem:
        within = problem.__context__, problem.__cause__, problem.args, problem.__traceback__.tb_frame.f_code.co_name
        return f"{traceback.format_exc()}{within}"
    return "none"


def depth_of_recursion():
    """How many modules may lie within each other."""
    class Deep(nn.Module):
        def forward(self, count):
            self.count = count
            return self(count + 1)
    deep = Deep()
    try:
        deep(0)
    except RecursionError:
        return deep.count
    return -1


def tracebacks():
    seen = []

    def look(net):
        found = [str(net.frames), failure(net)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            nn.functional.softmax(torch.ones(2))
            nn.Softmax()(torch.ones(2))
        found += [f"{each.filename}:{each.lineno} {each.message}" for each in caught]
        seen.append("\n".join(found))
    steps(look)
    for text in dict.fromkeys(seen):  # one, as they are all the same
        print(seen.count(text), text)
    print(depth_of_recursion())


def saved(save):
    buffer = io.BytesIO()
    save(buffer)
    return digest(buffer.getvalue())


def tools():
    """Nothing is launched here but by steps()."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), Calling(4, 2))
    bare = nn.Sequential(nn.ReLU(), nn.Dropout(0.5))  # a pickle of parameters has addresses
    batch = torch.ones(2, 4)

    def look():
        call = nn.Module.__call__
        print(inspect.signature(call), call.__module__, call.__qualname__, digest(inspect.getsource(call).encode()))
        print(inspect.getsourcefile(call), call is getattr(nn.Module, "_wrapped_call_impl", call), sorted(vars(call)), type(call), sorted(nn.Module.__dict__) == names)
        print(pickle.dumps(bare), pickle.dumps(call), saved(lambda file: torch.save(model, file)))
        traced = torch.jit.trace(model, batch)
        print(traced.code, saved(lambda file: torch.jit.save(traced, file)))
        print(torch.fx.symbolic_trace(model).code)
        exported = torch.export.export(model, (batch,))
        print(exported, [node.meta.get("stack_trace") for node in exported.graph.nodes])
        print(saved(lambda file: torch.export.save(exported, file)))

    names = sorted(nn.Module.__dict__)
    look()
    kept = []

    def keep(net):
        traced = torch.jit.trace(model, batch)
        kept.append((saved(lambda file: torch.save(net, file)), saved(lambda file: torch.jit.save(traced, file))))
    steps(keep)
    print(kept)
    look()


def compiles():
    """Before, during and after the steps, with whatever Dynamo counts."""
    from torch._dynamo.utils import counters
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph.code)
        return graph

    def told():
        print(graphs, {kind: dict(count) for kind, count in counters.items()})

    def make():
        torch.manual_seed(2)
        plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), Calling(4, 2))
        within = Net().block.linear
        return torch.compile(plain, backend=backend), torch.compile(lambda x: within(x).sum() + plain(x).sum(), backend=backend)

    class Broken(nn.Module):
        """Falls into two graphs, with a module that is called as ever between them."""

        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            x = self.first(x)
            torch._dynamo.graph_break()
            return self.second(x)

    torch.manual_seed(2)
    regions = [*make(), torch.compile(Broken(), backend=backend)]
    sizes = iter([4] * 5 + [6] * (STEPS - 5))
    results = []

    def look(net):
        batch = torch.ones(next(sizes), 4)
        results.extend(region(batch).sum().item().hex() for region in regions)
    steps(look)
    told()
    regions += make()  # when all is over
    for _ in range(3):
        results.extend(region(torch.ones(4, 4)).sum().item().hex() for region in regions)
    told()
    print(digest(" ".join(results).encode()))


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    {"tracebacks": tracebacks, "tools": tools, "compiles": compiles}[sys.argv[1]]()
