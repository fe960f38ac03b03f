# SPDX-License-Identifier: Apache-2.0
"""A program of a user that compiles modules in every way there is."""
import torch
from torch import nn

import playback_ops
from playback_ops import make_launching


def compiled_regions(steps, digest):
    """All the ways to compile a module. What is compiled launches a kernel when it runs."""
    graphs = []

    def backend(tag):
        def compiler(graph, inputs):
            graphs.append((tag, len(list(graph.graph.nodes))))

            def run(*arguments):
                playback_ops.launch("forward:" + tag)
                return graph(*arguments)
            return run
        return compiler

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 8)
            self.forward = torch.compile(self.forward, backend=backend("scaled"))

        def forward(self, x):
            return 2 * self.linear(x)

    class Later(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.tanh = nn.Linear(8, 8), nn.Tanh()

        def forward(self, x):
            return self.tanh(self.linear(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = make_launching(nn.Linear(8, 8))
            self.first.tag = "first"
            inner = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 8)))
            self.block = torch.compile(inner, backend=backend("block"))
            self.later = Later()
            self.scaled = Scaled()

        def forward(self, x):
            return self.scaled(self.later(self.block(self.first(x))))

    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 4)
            self.unused = nn.ModuleList(nn.Identity() for _ in range(300))

        def forward(self, x):
            return self.linear(x)

    net = Net()
    net(torch.ones(4, 8))
    net.later.compile(backend=backend("later"))  # after its first call
    wide = Wide()
    faster = torch.compile(nn.DataParallel(wide), backend=backend("Wide"))
    optimizer = torch.optim.SGD([*net.parameters(), *wide.parameters()], 0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        faster(net(torch.ones(4, 8))).sum().backward()
        optimizer.step()
    import torch._dynamo.utils as dynamo
    print(sorted(graphs), dict(dynamo.counters["graph_break"]), dict(dynamo.counters["recompiles"]), digest(net), digest(wide))
