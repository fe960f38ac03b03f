# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 as torchvision builds it (the stride is in the 3x3 convolution), as a list of operations in the order in
which forward() runs them. No weights and no GPU: names, shapes and sizes only."""

import dataclasses

BATCH = 32
IMAGE = 224
CLASSES = 1000
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride of the first block
EXPANSION = 4


@dataclasses.dataclass(frozen=True)
class Conv:
    path: tuple
    in_channels: int
    out_channels: int
    size: int  # of the square window
    stride: int
    in_hw: int
    out_hw: int
    kind: str = "conv"

    @property
    def weights(self):
        return self.out_channels * self.in_channels * self.size**2

    @property
    def macs(self):  # of the whole batch
        return BATCH * self.out_hw**2 * self.weights

    @property
    def in_elements(self):
        return BATCH * self.in_channels * self.in_hw**2

    @property
    def out_elements(self):
        return BATCH * self.out_channels * self.out_hw**2

    @property
    def parameters(self):
        return [self.weights]


@dataclasses.dataclass(frozen=True)
class Elementwise:
    """bn, relu, add, maxpool, avgpool: what reads its input once and writes its output once."""

    path: tuple
    kind: str
    channels: int
    in_hw: int
    out_hw: int

    @property
    def in_elements(self):
        return BATCH * self.channels * self.in_hw**2

    @property
    def out_elements(self):
        return BATCH * self.channels * self.out_hw**2

    @property
    def parameters(self):
        return [self.channels, self.channels] if self.kind == "bn" else []


@dataclasses.dataclass(frozen=True)
class Linear:
    path: tuple
    in_features: int
    out_features: int
    kind: str = "fc"

    @property
    def macs(self):
        return BATCH * self.in_features * self.out_features

    @property
    def parameters(self):
        return [self.in_features * self.out_features, self.out_features]


def bottleneck(path, in_channels, width, stride, hw):
    """The operations of one block; it returns them and the size of its output."""
    out_channels, out_hw = width * EXPANSION, hw // stride

    def conv(name, *shape):
        return Conv(path + (name,), *shape)

    def plain(name, kind, channels, size):
        return Elementwise(path + (name,), kind, channels, size, size)

    ops = [
        conv("conv1", in_channels, width, 1, 1, hw, hw),
        plain("bn1", "bn", width, hw),
        plain("relu", "relu", width, hw),
        conv("conv2", width, width, 3, stride, hw, out_hw),
        plain("bn2", "bn", width, out_hw),
        plain("relu", "relu", width, out_hw),
        conv("conv3", width, out_channels, 1, 1, out_hw, out_hw),
        plain("bn3", "bn", out_channels, out_hw),
    ]
    if stride != 1 or in_channels != out_channels:
        down = path + ("downsample",)
        ops.append(Conv(down + ("0",), in_channels, out_channels, 1, stride, hw, out_hw))
        ops.append(Elementwise(down + ("1",), "bn", out_channels, out_hw, out_hw))
    ops.append(Elementwise(path, "add", out_channels, out_hw, out_hw))  # no module of its own: the block's forward()
    ops.append(plain("relu", "relu", out_channels, out_hw))
    return ops, out_hw


def forward_ops():
    root = ("ResNet",)
    hw = IMAGE // 2
    ops = [
        Conv(root + ("conv1",), 3, 64, 7, 2, IMAGE, hw),
        Elementwise(root + ("bn1",), "bn", 64, hw, hw),
        Elementwise(root + ("relu",), "relu", 64, hw, hw),
        Elementwise(root + ("maxpool",), "maxpool", 64, hw, hw // 2),
    ]
    hw, channels = hw // 2, 64
    for stage, (width, blocks, first_stride) in enumerate(STAGES, 1):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            more, hw = bottleneck(root + (f"layer{stage}", str(block)), channels, width, stride, hw)
            ops += more
            channels = width * EXPANSION
    ops.append(Elementwise(root + ("avgpool",), "avgpool", channels, hw, 1))
    ops.append(Linear(root + ("fc",), channels, CLASSES))
    return ops


def parameters():
    """Elements of every parameter, in the order of Module.parameters()."""
    return [elements for op in forward_ops() for elements in op.parameters]
