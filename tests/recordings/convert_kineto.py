#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a recording of six training steps of ResNet-50 (V100, FP32, batch 32) from a trace of the PyTorch profiler: every
kernel with its real time, on the thread that launched it, in the layer whose operator launched it. The trace has no
counters: they are unknown in the recording.

    python3 convert_kineto.py FOLDER OUT

FOLDER holds resnet50_v100_b32_nw4_steps5-10.pt.trace.json.gz. Times in the trace are whole microseconds. Forward layers
follow from the order of the operators, checked against torchvision's; a backward operator belongs to the layer of its
sequence number, one without a number to the numbered one before it.
"""

import bisect
import sys

from kineto_trace import MEMORY, SASS, TENSOR, Enclosing, TraceError, events, load, run_converter, top_level
from resnet50_model import forward_ops

TRACE = "resnet50_v100_b32_nw4_steps5-10.pt.trace.json.gz"
DEVICE = {  # the V100's published clocks and L2; the rest is in the trace
    "chip": "GV100", "sm_clock_max_hz": 1530000000, "memory_clock_max_hz": 877000000, "memory_bus_bits": 4096,
    "l2_bytes": 6291456,
}
HEADER = {
    "gable_recording": 1, "origin": "converted",
    "note": "Six training steps of ResNet-50 (batch 32, FP32) on a V100, from a trace of the PyTorch profiler: real kernels "
            "and times, no counters. Before them each kernel runs once outside of every step: it had, in the steps that are "
            "not in the trace.",
}
OPERATORS = {"conv2d": "conv", "add": "bn", "batch_norm": "bn", "relu_": "relu", "add_": "add", "max_pool2d": "maxpool",
             "adaptive_avg_pool2d": "avgpool", "linear": "fc"}
COPIES = {"HtoD": "h2d", "DtoH": "d2h", "DtoD": "d2d"}


class Layers:
    """The layer of every outermost operator of one step: (path, direction)."""

    def __init__(self, ops):
        self._of = {}
        self._starts, self._paths = [], []  # sequence numbers at which a layer's forward begins
        main = ops[0]["tid"]
        model = iter(forward_ops())
        current = None
        for op in ops:
            name = op["name"].removeprefix("aten::")
            if op["tid"] != main:
                continue
            if name in OPERATORS:
                kind = OPERATORS[name]
                if not (kind == "bn" and name == "batch_norm"):  # its add comes first
                    current = next(model, None)
                if current is None or current.kind != kind:
                    raise TraceError(f"{op['name']} is not what torchvision's ResNet-50 does next.")
                self._put(op, current.path, "forward")
            elif name == "cross_entropy_loss":
                self._put(op, ("loss",), "forward")
            elif name in ("zero_grad", "step") or name.startswith("Optimizer."):
                self._of[id(op)] = (("zero_grad",) if "zero_grad" in name else ("optimizer",), "none")
        if next(model, None) is not None:
            raise TraceError("A step does not run the whole of torchvision's ResNet-50.")
        last = ("loss",)
        for op in ops:
            if op["tid"] == main:
                continue
            number = op["args"].get("Sequence number")
            if number is not None:
                last = self._paths[bisect.bisect_right(self._starts, number) - 1]
            self._of[id(op)] = (last, "backward")

    def _put(self, op, path, direction):
        self._of[id(op)] = (path, direction)
        number = op["args"]["Sequence number"]
        if not self._starts or number > self._starts[-1]:
            self._starts.append(number)
            self._paths.append(path)

    def of(self, op):
        return self._of.get(id(op), ((), "none"))


def gpu_events(trace):
    """Kernels, copies and memsets with the call that launched them, in the order of the calls."""
    calls = {e["args"]["correlation"]: e for e in events(trace, "runtime")}
    found = [(calls[e["args"]["correlation"]], e) for e in events(trace, "kernel", "memcpy", "memset")]
    return sorted(found, key=lambda pair: pair[0]["ts"])


class Writer:
    def __init__(self):
        self.kernels = {}
        self.lines = []
        self._open = {}  # thread: (path, direction)

    def layer(self, thread, path, direction):
        open_path, open_direction = self._open.get(thread, ((), "none"))
        common = 0
        if direction == open_direction:
            while common < min(len(path), len(open_path)) and path[common] == open_path[common]:
                common += 1
        for _ in open_path[common:]:
            self.add({"op": "pop", "domain": "gable"}, thread)
        for name in path[common:]:
            line = {"op": "push", "name": name, "domain": "gable"}
            if direction != "none":
                line["direction"] = direction
            self.add(line, thread)
        self._open[thread] = (path, direction)

    def add(self, line, thread):
        if thread:
            line["thread"] = thread
        self.lines.append(line)

    def launch(self, event, thread, host_ns):
        args = event["args"]
        key = (event["name"], tuple(args["grid"]), tuple(args["block"]))
        id_ = self.kernels.setdefault(key, f"k{len(self.kernels)}")
        self.add({"op": "launch", "kernel": id_, "time_ns": event["dur"] * 1000, "host_ns": host_ns}, thread)

    def copy(self, event, thread):
        kind = "memset" if event["cat"] == "Memset" else next(k for n, k in COPIES.items() if n in event["name"])
        self.add({"op": "copy", "kind": kind, "bytes": event["args"]["bytes"], "time_ns": event["dur"] * 1000}, thread)


def convert(folder):
    trace = load(folder, TRACE)
    operators = events(trace, "operator")
    steps = [e for e in operators if e["name"].startswith("ProfilerStep")]
    inner = [e for e in operators if not e["name"].startswith("ProfilerStep")]
    work = gpu_events(trace)
    threads = {}
    writer = Writer()
    for step in steps:
        end = step["ts"] + step["dur"]
        ops = top_level([e for e in inner if step["ts"] <= e["ts"] < end])
        layers, enclosing = Layers(ops), Enclosing(ops)
        mine = [(call, e) for call, e in work if step["ts"] <= call["ts"] < end]
        writer.add({"op": "push", "name": step["name"]}, 0)
        for number, (call, event) in enumerate(mine):
            thread = threads.setdefault(str(call["tid"]), len(threads))
            op = enclosing.find(call["tid"], call["ts"])
            writer.layer(thread, *layers.of(op))
            if event["cat"] == "Kernel":
                after = mine[number + 1][0]["ts"] if number + 1 < len(mine) else end
                writer.launch(event, thread, (after - call["ts"]) * 1000)
            else:
                writer.copy(event, thread)
        for thread in threads.values():
            writer.layer(thread, (), "none")
        writer.add({"op": "sync"}, 0)
        writer.add({"op": "pop"}, 0)
    gpu = trace["deviceProperties"][0]
    yield HEADER
    yield {"device": 0, "name": gpu["name"], "compute_capability": [gpu["computeMajor"], gpu["computeMinor"]],
           "sm_count": gpu["numSms"], "memory_bytes": gpu["totalGlobalMem"], **DEVICE}
    for (name, grid, block), id_ in writer.kernels.items():
        yield {"kernel": id_, "name": name, "grid": list(grid), "block": list(block), "time_ns": 0,
               "unknown": SASS + MEMORY + TENSOR}
    for id_ in writer.kernels.values():
        yield {"op": "launch", "kernel": id_, "time_ns": 1000}
    yield {"op": "sync"}
    yield from writer.lines


if __name__ == "__main__":
    sys.exit(run_converter(sys.argv, __doc__, convert))
