# SPDX-License-Identifier: Apache-2.0
"""A short PyTorch program without a word of Gable: what the proof runs plain, under Gable and under other tools.

    workload.py CASE [options]

Each step ends with a wait for the GPU; --times FILE gets what each took and all of them together, from the first step on.
With --small it is cut down for a CPU, and its modules launch kernels on the playback GPU that bear their names
(tests/pytorch/playback_ops.py); --describe FILE then gets the work of each, and nothing is launched.
"""
import argparse
import contextlib
import json
import os
import sys
import time

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tests", "pytorch"))
import models  # noqa: E402


class LSTM(nn.Module):
    """A cell, unrolled; on a CPU of two Linears, which are its two products on a GPU too."""

    def __init__(self, width, small):
        super().__init__()
        self.width = width
        if small:
            self.input, self.hidden = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)
        else:
            self.cell = nn.LSTMCell(width, width)

    def forward(self, sequence):
        h = c = sequence.new_zeros(sequence.shape[1], self.width)
        for x in sequence:
            if hasattr(self, "cell"):
                h, c = self.cell(x, (h, c))
            else:
                i, f, g, o = (self.input(x) + self.hidden(h)).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
        return h


def resnet50(small):
    if small:
        return models.ResNet(width=4, classes=8), 32
    try:
        from torchvision.models import resnet50 as torchvisions
        return torchvisions(), 224
    except ImportError:
        return models.ResNet(), 224  # the same layers


def build(o, device):
    """The model, what goes into it, and whether it trains."""
    trains = o.mode == "train"
    if o.case == "resnet":
        model, side = resnet50(o.small)
        inputs = torch.randn(o.batch, 3, side, side, device=device)
    elif o.case == "block":
        width, heads, length = (32, 4, 16) if o.small else (1024, 16, 1024)
        model, inputs = models.Block(width, heads), torch.randn(o.batch, length, width, device=device)
    elif o.case == "gpt":
        sizes = {} if o.small else {"vocabulary": 32000, "width": 1024, "heads": 16, "blocks": 8, "length": 512}
        model, trains = models.GPT(**sizes), False
        inputs = torch.randint(0, 64, (o.batch, 8 if o.small else 256), device=device)
    elif o.case == "conv":
        side = 8 if o.small else 56
        model = nn.Sequential(nn.Conv2d(o.inputs, o.channels, o.kernel, o.stride, o.kernel // 2))
        inputs = torch.randn(o.batch, o.inputs, side, side, device=device)
    else:
        model = LSTM(o.channels, o.small)
        inputs = torch.randn(o.length, o.batch, o.channels, device=device)
    model = model.to(device)
    if o.channels_last:
        model, inputs = model.to(memory_format=torch.channels_last), inputs.to(memory_format=torch.channels_last)
    if o.precision == "fp16":
        model = model.half()
        inputs = inputs.half() if inputs.is_floating_point() else inputs
    return model, inputs, trains


def describe(model, inputs, path):
    """By dotted name: FLOP and bytes of one forward of each convolution and product, from the shapes."""
    rows = {}

    def hook(name):
        def note(module, given, made):
            if not isinstance(made, torch.Tensor):
                return
            row = rows.setdefault(name, {"flops": 0, "bytes": 0, "calls": 0})
            weight = getattr(module, "weight", None)
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                row["flops"] += 2 * made.numel() * (weight.numel() // weight.shape[0])
            row["bytes"] += 4 * (made.numel() + sum(t.numel() for t in given if isinstance(t, torch.Tensor)) +
                                 (0 if weight is None else weight.numel()))
            row["calls"] += 1
        return note
    for name, module in model.named_modules():
        if not list(module.children()):
            module.register_forward_hook(hook(name))
    model.eval()
    with torch.no_grad():
        model(inputs)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file)


def step_of(o, model, inputs, trains):
    if o.case == "gpt":
        return lambda: model.generate(inputs, 3 if o.small else 16)
    amp = torch.autocast(inputs.device.type, torch.float16) if o.precision == "amp" else contextlib.nullcontext()
    if not trains:
        model.eval()

        def infer():
            with torch.no_grad(), amp:
                return model(inputs)
        return infer
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)

    def train():
        optimizer.zero_grad()
        with amp:
            loss = model(inputs).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss
    return train


def captured(step, inputs):
    """One CUDA graph of the step."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=("resnet", "block", "gpt", "conv", "lstm"))
    parser.add_argument("--mode", choices=("train", "infer"), default="train")
    parser.add_argument("--precision", choices=("fp32", "tf32", "amp", "fp16"), default="fp32")
    for name, usual in (("steps", 40), ("batch", 8), ("inputs", 64), ("channels", 64), ("kernel", 3), ("stride", 1), ("length", 16)):
        parser.add_argument("--" + name, type=int, default=usual)
    for name in ("channels-last", "small", "compile", "graph"):
        parser.add_argument("--" + name, action="store_true")
    for name in ("times", "describe", "trace"):
        parser.add_argument("--" + name)
    o = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = o.precision == "tf32"
    device = torch.device("cpu" if o.small else "cuda")
    model, inputs, trains = build(o, device)
    if o.describe:
        describe(model, inputs, o.describe)
        return
    if o.small:
        import playback_ops
        playback_ops.make_launching(model)
    plain = model
    if o.compile:
        model = torch.compile(plain, backend="eager" if o.small else "inductor")
    step = step_of(o, model, inputs, trains)
    if o.graph:
        step = captured(step, inputs)
    wait = (lambda: None) if o.small else torch.cuda.synchronize
    profiler = contextlib.nullcontext()
    if o.trace:
        kinds = [torch.profiler.ProfilerActivity.CPU] + ([] if o.small else [torch.profiler.ProfilerActivity.CUDA])
        profiler = torch.profiler.profile(activities=kinds)
    times, result = [], None
    began = time.perf_counter_ns()
    with profiler as running:
        for _ in range(o.steps):
            before = time.perf_counter_ns()
            result = step()
            wait()
            times.append(time.perf_counter_ns() - before)
    total = time.perf_counter_ns() - began
    if o.trace and running is not None:
        running.export_chrome_trace(o.trace)
    if o.times:
        with open(o.times, "w", encoding="utf-8") as file:
            json.dump({"steps_ns": times, "total_ns": total}, file)
    print("result", "none" if result is None else result.float().abs().mean().item())


if __name__ == "__main__":
    main()
