# SPDX-License-Identifier: Apache-2.0
"""Models of plain PyTorch, written out as their papers have them, and their floating-point operations by a form worked out by hand.
Each gives (input, [(direction, figure, source)], what Gable counts). Tensors are on the device `meta`: nothing is multiplied."""
import torch
from torch import nn

from counting import measured

FORM = "closed form"


def made(make, *args, **kwargs):
    with torch.device("meta"):
        return make(*args, **kwargs)


def data(*shape, **more):
    return torch.empty(shape, device="meta", **more)


def twice(forward, first=0):
    """Backward takes every product twice; not the gradient of the data, by the first layer."""
    return [("forward", forward, FORM), ("backward", 2 * forward - first, FORM)]


def lstm():
    """Four gates, each of the input and of the state."""
    steps, sequences, width, layers = 64, 32, 1024, 2
    model = made(nn.LSTM, width, width, layers)
    got = measured(model, data(steps, sequences, width, requires_grad=True), pick=lambda out: out[0])
    states = layers * sequences * 2 * 4 * width * width  # nobody asks for the gradients of those at the beginning
    return "2 layers of 1024, 64 steps x 32", twice(layers * steps * sequences * 2 * 4 * width * 2 * width, states), got


def mlp(widths):
    return nn.Sequential(*(layer for i, o in zip(widths, widths[1:]) for layer in (nn.Linear(i, o), nn.ReLU())))


class DLRM(nn.Module):
    """Naumov 2019: vectors of the categories and of the numbers, the product of each two, and a perceptron on either side."""

    def __init__(self, bottom, top, tables):
        super().__init__()
        self.bottom, self.top = mlp(bottom), mlp(top)
        self.tables = nn.ModuleList(nn.EmbeddingBag(1000, bottom[-1], mode="sum") for _ in range(tables))

    def forward(self, numbers, categories):
        x = self.bottom(numbers)
        vectors = torch.stack((x, *(table(ids) for table, ids in zip(self.tables, categories))), 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        rows, columns = torch.tril_indices(vectors.shape[1], vectors.shape[1], -1, device="meta")
        return self.top(torch.cat((x, products[:, rows, columns]), 1))


def dlrm():
    """The sizes of MLPerf's benchmark."""
    bottom, top, tables, batch = (13, 512, 256, 128), (479, 1024, 1024, 512, 256, 1), 26, 2048
    model = made(DLRM, bottom, top, tables)
    got = measured(model, data(batch, 13), data(tables, batch, 1, dtype=torch.long))
    weights = sum(i * o for widths in (bottom, top) for i, o in zip(widths, widths[1:]))
    form = 2 * batch * (weights + (tables + 1) ** 2 * bottom[-1])
    return "MLPerf's sizes, 2048 samples", twice(form, 2 * batch * bottom[0] * bottom[1]), got


class UNet(nn.Module):
    """Ronneberger 2015, or in three dimensions Cicek 2016: convolutions without padding, joined across by what is cut to size."""

    def __init__(self, conv, up, pool, norm, first, down, turned, labels):
        super().__init__()
        def pair(inputs, middle, outputs):
            return nn.Sequential(*(layer for i, o in ((inputs, middle), (middle, outputs))
                                   for layer in (conv(i, o, 3), norm(o), nn.ReLU())))
        widths, inputs = [], first
        self.down, self.up, self.across = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for middle, outputs in down:
            self.down.append(pair(inputs, middle, outputs))
            widths.append(outputs)
            inputs = outputs
        for width in reversed(widths[:-1]):
            self.across.append(up(inputs, turned(inputs), 2, 2, bias=norm is nn.Identity))
            self.up.append(pair(turned(inputs) + width, width, width))
            inputs = width
        self.pool, self.last = pool(2), conv(inputs, labels, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            x = level(self.pool(x) if kept else x)
            kept.append(x)
        kept.pop()
        for across, level in zip(self.across, self.up):
            x = across(x)
            there = kept.pop()
            middle = tuple(slice((a - b) // 2, (a - b) // 2 + b) for a, b in zip(there.shape[2:], x.shape[2:]))
            x = level(torch.cat((there[(slice(None), slice(None), *middle)], x), 1))
        return self.last(x)


def u_net_form(size, first, down, turned, labels):
    """Walks the figure: (all products, those of the first layer)."""
    kernel, total, inputs = 3 ** len(size), 0, first
    def places(size):
        count = 1
        for each in size:
            count *= each
        return count
    for level, (middle, outputs) in enumerate(down):
        size = [each // 2 if level else each for each in size]
        for i, o in ((inputs, middle), (middle, outputs)):
            size = [each - 2 for each in size]
            total += 2 * places(size) * kernel * i * o
            if level == 0 and i == inputs:
                of_first = total
        inputs = outputs
    for _, width in reversed(down[:-1]):
        size = [2 * each for each in size]
        total += 2 * places(size) * inputs * turned(inputs)
        for i in (turned(inputs) + width, width):
            size = [each - 2 for each in size]
            total += 2 * places(size) * kernel * i * width
        inputs = width
    return total + 2 * places(size) * inputs * labels, of_first


def u_net():
    down, half = ((64, 64), (128, 128), (256, 256), (512, 512), (1024, 1024)), lambda width: width // 2
    model = made(UNet, nn.Conv2d, nn.ConvTranspose2d, nn.MaxPool2d, nn.Identity, 1, down, half, 2)
    got = measured(model, data(1, 1, 572, 572))
    return "1 x 1 x 572 x 572", twice(*u_net_form((572, 572), 1, down, half, 2)), got


def unscaled(width):
    return nn.BatchNorm3d(width, affine=False)


def u_net_3d():
    down, same = ((32, 64), (64, 128), (128, 256), (256, 512)), lambda width: width
    model = made(UNet, nn.Conv3d, nn.ConvTranspose3d, nn.MaxPool3d, unscaled, 3, down, same, 3)
    # The paper's number of parameters: of what scales in normalization none, and none that up-convolutions add.
    assert sum(each.numel() for each in model.parameters()) == 19069955
    got = measured(model, data(1, 3, 132, 132, 116))
    return "1 x 3 x 132 x 132 x 116", twice(*u_net_form((132, 132, 116), 3, down, same, 3)), got


MODELS = {"LSTM": lstm, "DLRM": dlrm, "U-Net": u_net, "3D U-Net": u_net_3d}
