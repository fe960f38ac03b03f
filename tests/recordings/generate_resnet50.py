#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/recordings/resnet50-train.jsonl: forty steps of training ResNet-50 (torchvision's, batch 32) on an
H200 with TF32 off. Generated from the layer table in resnet50_model.py and the formulas in resnet50_kernels.py; no GPU
was involved.

    python3 generate_resnet50.py OUT
"""

import json
import sys

from resnet50_kernels import (DEVICE, SYMBOLS, backward_kernels, conv_kernel, elementwise_kernels, fc_kernel,
                              loss_kernels, make, multi_tensor_kernels)
from resnet50_model import BATCH, CLASSES, IMAGE, forward_ops, parameters

STEPS = 40
AUTOGRAD = 1  # the thread that runs backward
HEADER = {
    "gable_recording": 1, "origin": "generated",
    "note": f"ResNet-50 (torchvision's layer table), batch {BATCH}, training, FP32 without TF32, on an H200. Counters and "
            "times are closed formulas (tests/recordings/resnet50_kernels.py); no GPU was involved.",
}


class Recording:
    """Collects kernels (each once) and named sequences of operations, then the program that plays them."""

    def __init__(self):
        self.kernels = {}
        self.sequences = {}
        self.program = []
        self._ops = self.program

    def begin(self, sequence):
        self._ops = self.sequences.setdefault(sequence, [])

    def end(self):
        self._ops = self.program

    def op(self, operation, thread=0, **fields):
        line = {"op": operation, **fields}
        if thread:
            line["thread"] = thread
        self._ops.append(line)

    def launch(self, kernel, thread=0):
        known = self.kernels.setdefault(kernel.id, kernel)
        if known != kernel:
            raise ValueError(f"two kernels are called {kernel.id}")
        self.op("launch", thread, kernel=kernel.id)

    def push(self, name, direction=None, thread=0):
        self.op("push", thread, name=name, domain="gable", **({"direction": direction} if direction else {}))

    def pop(self, thread=0):
        self.op("pop", thread, domain="gable")

    def inside(self, path, direction, kernels, thread=0):
        """The whole path is pushed around the launches, as on a thread that has no range open."""
        for name in path:
            self.push(name, direction, thread)
        for kernel in kernels:
            self.launch(kernel, thread)
        for _ in path:
            self.pop(thread)

    def lines(self):
        yield HEADER
        yield DEVICE
        for kernel in self.kernels.values():
            yield kernel.line()
        for name, ops in self.sequences.items():
            yield {"sequence": name}
            yield from ops
            yield {"end_sequence": name}
        yield from self.program

    def write(self, path):
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines())


def forward(rec, ops, loss):
    rec.begin("forward")
    open_path = ()
    for op in ops:
        common = 0
        while common < min(len(open_path), len(op.path)) and open_path[common] == op.path[common]:
            common += 1
        # A module that is called again (relu) is a range of its own each time.
        if op.kind != "add" and common == len(op.path):
            common -= 1
        for _ in open_path[common:]:
            rec.pop()
        for name in op.path[common:]:
            rec.push(name, "forward")
        open_path = op.path
        if op.kind == "conv":
            rec.launch(conv_kernel(op, "fprop"))
        elif op.kind == "fc":
            rec.launch(fc_kernel(op, "fprop"))
        else:
            for kernel in elementwise_kernels(op):
                rec.launch(kernel)
    for _ in open_path:
        rec.pop()
    rec.inside(("loss",), "forward", loss)
    rec.end()


def backward(rec, ops, loss):
    rec.begin("backward")
    rec.inside(("loss",), "backward", loss, AUTOGRAD)
    for op in reversed(ops):
        kernels = backward_kernels(op, op is ops[0])
        if kernels:
            rec.inside(op.path, "backward", kernels, AUTOGRAD)
        if op.kind == "conv" and op.path[-1] == "conv1" and len(op.path) > 2:
            # The block's input has two users: their gradients are added.
            n = op.in_elements
            total = make(f"gradient_add_{op.in_channels}_{op.in_hw}", SYMBOLS["add"], (-(-n // 512), 1, 1), 128, 8 * n,
                         4 * n, fadd=n)
            rec.inside(op.path[:-1], "backward", [total], AUTOGRAD)
    rec.end()


def update(rec):
    """SGD with momentum and weight decay over all parameters at once; zero_grad(set_to_none=False)."""
    sizes = parameters()
    decay = multi_tensor_kernels("sgd_decay", SYMBOLS["sgd_list"], sizes, 64, 2, 1, ffma=1)
    momentum = multi_tensor_kernels("sgd_momentum", SYMBOLS["sgd_scalar"], sizes, 110, 1, 1, fmul=1)
    add = multi_tensor_kernels("sgd_add", SYMBOLS["sgd_list"], sizes, 64, 2, 1, ffma=1)
    zero = multi_tensor_kernels("zero", SYMBOLS["zero"], sizes, 110, 0, 1)
    rec.begin("first_optimizer")  # the momentum buffers are made as copies of the gradients
    rec.push("optimizer")
    for kernel in decay:
        rec.launch(kernel)
    for size in sizes:
        rec.op("copy", kind="d2d", bytes=4 * size, time_ns=1500 + size // 250)
    for kernel in add:
        rec.launch(kernel)
    rec.pop()
    rec.end()
    rec.begin("optimizer")
    rec.inside(("optimizer",), None, decay + momentum + add + add)
    rec.end()
    rec.begin("zero_grad")
    rec.inside(("zero_grad",), None, zero)
    rec.end()


def autotune(rec, ops):
    """cudnn.benchmark: the first two steps try other tiles for every new shape."""
    convs = {}
    for op in ops:
        if op.kind == "conv":
            convs.setdefault(op.__class__(("",), *[getattr(op, f) for f in
                             ("in_channels", "out_channels", "size", "stride", "in_hw", "out_hw")]), op)
    rec.begin("try_forward")
    for op in convs.values():
        rec.inside(op.path, "forward", [conv_kernel(op, "fprop", (64, 64), (13, 10), "_64"),
                                        conv_kernel(op, "fprop", (256, 64), (17, 10), "_256")])
    rec.end()
    rec.begin("try_backward")
    for op in convs.values():
        rec.inside(op.path, "backward", [conv_kernel(op, "wgrad", (64, 64), (14, 10), "_64")], AUTOGRAD)
    rec.end()


def build(steps=STEPS, step_ranges="start"):
    """step_ranges: "start" opens each step as a process range (start/end), "push" on the main thread only."""
    rec = Recording()
    ops = forward_ops()
    loss_forward, loss_backward = loss_kernels(CLASSES)
    autotune(rec, ops)
    forward(rec, ops, loss_forward)
    backward(rec, ops, loss_backward)
    update(rec)
    for size in parameters():  # the model goes to the GPU
        rec.op("copy", kind="h2d", bytes=4 * size, time_ns=1500 + 4 * size // 25)
    images = 4 * BATCH * 3 * IMAGE**2
    for step in range(1, steps + 1):
        if step_ranges == "start":
            rec.op("start", name="step", id=step)
        else:
            rec.op("push", name="step")
        rec.op("idle", ns=250000)  # the data loader
        rec.op("copy", kind="h2d", bytes=images, time_ns=images // 55)
        rec.op("copy", kind="h2d", bytes=8 * BATCH, time_ns=1200)
        rec.op("play", sequence="zero_grad", times=1)
        if step == 1:
            rec.op("play", sequence="try_forward", times=1)
        rec.op("play", sequence="forward", times=1)
        if step == 2:
            rec.op("play", sequence="try_backward", times=1)
        rec.op("play", sequence="backward", times=1)
        rec.op("play", sequence="first_optimizer" if step == 1 else "optimizer", times=1)
        rec.op("copy", kind="d2h", bytes=4, time_ns=1100)  # loss.item()
        rec.op("sync", stream=0)
        if step_ranges == "start":
            rec.op("end", id=step)
        else:
            rec.op("pop")
    return rec


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build().write(arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
