# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 at 224 x 224 as published, written out as numbers: what tests compare with. Not made from the generator's
layer table; torchvision's layer names. FLOP of one image, two for each multiply-accumulate."""

BATCH = 32
BLOCKS = {"layer1": 3, "layer2": 4, "layer3": 6, "layer4": 3}


def forward_flops():
    return 8178368512


def forward_backward_flops():
    """Without the gradient of the images, which nobody needs."""
    return 24299077632


def stage_flops():
    return {"conv1": 236027904, "layer1": 1335885824, "layer2": 2055208960, "layer3": 2928672768, "layer4": 1618477056,
            "fc": 4096000}


def conv_flops():
    """The 53 convolutions and fc: every 3x3 has the same, and nearly every 1x1."""
    flops = {"conv1": 236027904, "fc": 4096000}
    for stage, blocks in BLOCKS.items():
        for block in range(blocks):
            name = f"{stage}.{block}"
            flops[name + ".conv1"] = 102760448
            flops[name + ".conv2"] = 231211008
            flops[name + ".conv3"] = 102760448
        flops[f"{stage}.0.conv1"] = 205520896
        flops[f"{stage}.0.downsample.0"] = 205520896
    flops["layer1.0.conv1"] = 25690112
    flops["layer1.0.downsample.0"] = 102760448
    return flops


def minimum_bytes():
    """Input, weights and output of each convolution once, FP32, batch 32."""
    shapes = {"conv1": 122065664}
    first = {"layer1": (51396608, 51527680, 128516096, 128516096), "layer2": (154271744, 64815104, 64487424, 154664960),
             "layer3": (77594624, 34471936, 33161216, 79167488), "layer4": (40632320, 25493504, 20250624, 46923776)}
    others = {"layer1": (128516096, 51527680, 128516096), "layer2": (64487424, 26279936, 64487424),
              "layer3": (33161216, 15204352, 33161216), "layer4": (20250624, 15859712, 20250624)}
    for stage, blocks in BLOCKS.items():
        for part, value in zip(("conv1", "conv2", "conv3", "downsample.0"), first[stage]):
            shapes[f"{stage}.0.{part}"] = value
        for block in range(1, blocks):
            for part, value in zip(("conv1", "conv2", "conv3"), others[stage]):
                shapes[f"{stage}.{block}.{part}"] = value
    return shapes
