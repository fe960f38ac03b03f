#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a recording of AlexNet's forward pass (batch 128, A100) from two traces of the PyTorch profiler: counters of one
(the nine smsp__sass_* counters; its times are not real), times of the other. Launches are paired in the order of the
operators. Neither trace has bytes or tensor-core counters: these are unknown in the recording.

    python3 convert_kineto_counters.py FOLDER OUT

FOLDER holds alexnet_a100_b128_cupti_range_counters.json.gz and alexnet_a100_b128_kernel_times.json.gz. Both have one
launch before two passes of the network. A step of the recording is one pass; the two alternate.
"""

import sys

from kineto_trace import MEMORY, SASS, TENSOR, Enclosing, TraceError, events, load, run_converter, top_level

STEPS = 20
# torchvision's AlexNet: what forward() calls, as the module's path, and the common name of the layers that have one.
MODULES = [
    ("conv2d", "features/0/conv1"), ("relu_", "features/1"), ("max_pool2d", "features/2"),
    ("conv2d", "features/3/conv2"), ("relu_", "features/4"), ("max_pool2d", "features/5"),
    ("conv2d", "features/6/conv3"), ("relu_", "features/7"),
    ("conv2d", "features/8/conv4"), ("relu_", "features/9"),
    ("conv2d", "features/10/conv5"), ("relu_", "features/11"), ("max_pool2d", "features/12"),
    ("adaptive_avg_pool2d", "avgpool"),
    ("dropout", "classifier/0"), ("linear", "classifier/1/fc1"), ("relu_", "classifier/2"),
    ("dropout", "classifier/3"), ("linear", "classifier/4/fc2"), ("relu_", "classifier/5"),
    ("linear", "classifier/6/fc3"),
]
DEVICE = {  # the A100's published clocks and L2; the rest is in the trace
    "chip": "GA100", "sm_clock_max_hz": 1410000000, "memory_clock_max_hz": 1215000000, "memory_bus_bits": 5120,
    "l2_bytes": 41943040,
}
HEADER = {
    "gable_recording": 1, "origin": "converted",
    "note": "AlexNet forward, batch 128, A100: counters of one PyTorch profiler trace, times of another, paired by operator "
            "order. Bytes and tensor-core counters were not measured.",
}


def counted_launches(trace):
    """The nine counters of every launch, in order."""
    launches = [e for e in events(trace, "cuda_profiler_range") if SASS[0] in e["args"]]
    return [(e["name"], {metric: int(e["args"][metric]) for metric in SASS}) for e in launches]


def timed_launches(trace):
    """(kernel, the outermost operator that launched it), in order of the launch calls."""
    calls = {e["args"]["correlation"]: e for e in events(trace, "cuda_runtime")}
    ops = Enclosing(top_level(events(trace, "cpu_op")))
    kernels = sorted(events(trace, "kernel"), key=lambda e: calls[e["args"]["correlation"]]["ts"])
    return [(e, ops.find(calls[e["args"]["correlation"]]["tid"], calls[e["args"]["correlation"]]["ts"])) for e in kernels]


def same_work(counted, timed):
    """The two traces come from different versions of cuDNN: convolutions have other names, all else the same function."""
    def function(name):
        return name.replace("void ", "").split("<")[0].split("(")[0].split("::")[-1]
    convolutions = ("__missing__", "implicit_convolve", "xmma")
    if any(c in counted for c in convolutions):
        return "scudnn" in timed or "xmma" in timed
    return function(counted) == function(timed)


def passes(timed, counted):
    """The launches before the network, and the two passes as lists of (path, kernel, counters or None)."""
    before, found = [], []
    pending = iter(counted)
    module = len(MODULES)
    last_op = None
    for kernel, op in timed:
        if op is None:
            raise TraceError(f"No operator launched {kernel['name'][:60]}.")
        counters = None
        if "computeOffsetsKernel" not in kernel["name"]:  # the older cuDNN has no such launch
            name, counters = next(pending, ("", None))
            if counters is None or not same_work(name, kernel["name"]):
                raise TraceError(f"The traces do not pair: {name[:60]!r} against {kernel['name'][:60]!r}.")
        kind = op["name"].removeprefix("aten::")
        if not found and kind != MODULES[0][0]:
            before.append((None, kernel, counters))
            continue
        if op is not last_op:
            module = module + 1 if module + 1 < len(MODULES) else 0
            last_op = op
            if module == 0:
                found.append([])
        if MODULES[module][0] != kind:
            raise TraceError(f"Expected {MODULES[module][0]} ({MODULES[module][1]}), found {kind}.")
        found[-1].append((MODULES[module][1], kernel, counters))
    if next(pending, None) is not None or len(found) != 2 or module != len(MODULES) - 1:
        raise TraceError("The traces do not hold two whole passes of AlexNet.")
    return before, found


def kernel_line(id_, kernel, counters):
    unknown = MEMORY + TENSOR + ([] if counters else SASS)
    return {"kernel": id_, "name": kernel["name"], "grid": kernel["args"]["grid"], "block": kernel["args"]["block"],
            "time_ns": int(kernel["dur"] * 1000), "counters": counters or {}, "unknown": unknown}


def launch_line(id_, kernel, streams):
    return {"op": "launch", "kernel": id_, "stream": streams.setdefault(kernel["args"]["stream"], len(streams))}


def sequence(launches, prefix, streams):
    """Kernel definitions and operations of one pass."""
    kernels, ops = [], []
    open_path = []
    for number, (path, kernel, counters) in enumerate(launches):
        id_ = f"{prefix}_{number}"
        kernels.append(kernel_line(id_, kernel, counters))
        wanted = ["AlexNet"] + path.split("/")
        if wanted != open_path:
            common = 0
            while common < min(len(wanted), len(open_path)) and wanted[common] == open_path[common]:
                common += 1
            ops += [{"op": "pop", "domain": "gable"}] * (len(open_path) - common)
            ops += [{"op": "push", "name": name, "domain": "gable", "direction": "forward"} for name in wanted[common:]]
            open_path = wanted
        ops.append(launch_line(id_, kernel, streams))
    ops += [{"op": "pop", "domain": "gable"}] * len(open_path)
    return kernels, ops


def convert(folder):
    counted = counted_launches(load(folder, "alexnet_a100_b128_cupti_range_counters.json.gz"))
    times = load(folder, "alexnet_a100_b128_kernel_times.json.gz")
    before, found = passes(timed_launches(times), counted)
    gpu = times["deviceProperties"][0]
    yield HEADER
    yield {"device": 0, "name": gpu["name"], "compute_capability": [gpu["computeMajor"], gpu["computeMinor"]],
           "sm_count": gpu["numSms"], "memory_bytes": gpu["totalGlobalMem"], **DEVICE}
    streams = {}
    for _, kernel, counters in before:
        yield kernel_line("before", kernel, counters)
        yield launch_line("before", kernel, streams)
    for number, launches in enumerate(found):
        kernels, ops = sequence(launches, f"pass{number}", streams)
        yield from kernels
        yield {"sequence": f"pass{number}"}
        yield from ops
        yield {"end_sequence": f"pass{number}"}
    for step in range(STEPS):
        yield {"op": "push", "name": "step"}
        yield {"op": "play", "sequence": f"pass{step % 2}", "times": 1}
        yield {"op": "sync"}
        yield {"op": "pop"}


if __name__ == "__main__":
    sys.exit(run_converter(sys.argv, __doc__, convert))
