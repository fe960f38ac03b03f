#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the three recordings of docs/example.md: ResNet-50 trained on an H200, as it is first, with a loader that keeps up, and
with TF32 besides. All come from the formulas of resnet50_kernels.py; no GPU was involved.

    python3 worked_example.py FOLDER
"""

import dataclasses
import pathlib
import sys

from generate_resnet50 import build
from resnet50_kernels import BANDWIDTH, DRAM_READ, DRAM_WRITE, FFMA, LAUNCH_NS, PEAK_FLOPS, SM_COUNT, ceil_div

STEPS = 30
SLOW_LOADER_NS = 15_000_000  # one process decodes 32 images
TF32 = "sm__ops_path_tensor_src_tf32_dst_fp32.sum"
TF32_PEAK = PEAK_FLOPS * 8  # the whitepaper's 1024 FMA for each SM and clock, where FP32 has 128
RENAMED = (("f32f32_f32f32_f32_nchwkcrs_nchw", "tf32f32_tf32f32_f32_nhwckrsc_nhwc"), ("g1_ffma", "g1_tensor16x8x8"),
           ("ampere_sgemm", "cutlass_80_tensorop_s1688gemm"))


def with_loader(rec, idle_ns):
    for op in rec.program:
        if op["op"] == "idle":
            op["ns"] = idle_ns
    return rec


def on_tensor_cores(kernel):
    """The same product by TF32: at half of the tensor cores' peak, and no faster than its bytes."""
    if "f32f32_f32f32_f32" not in kernel.name and "sgemm" not in kernel.name:
        return kernel
    counters = dict(kernel.counters)
    counters[TF32] = flops = 2 * counters.pop(FFMA)
    blocks = kernel.grid[0] * kernel.grid[1] * kernel.grid[2]
    waves = ceil_div(blocks, SM_COUNT)
    compute_ns = ceil_div(flops * 10**10 * waves * SM_COUNT, 5 * TF32_PEAK * blocks)
    memory_ns = ceil_div(32 * (counters[DRAM_READ] + counters[DRAM_WRITE]) * 10**10, 8 * BANDWIDTH)
    name = kernel.name
    for old, new in RENAMED:
        name = name.replace(old, new)
    return dataclasses.replace(kernel, name=name, counters=tuple(counters.items()),
                               time_ns=max(compute_ns, memory_ns) + LAUNCH_NS)


def recordings():
    """(name, recording)"""
    yield "slow", with_loader(build(STEPS), SLOW_LOADER_NS)
    yield "fed", build(STEPS)
    fast = build(STEPS)
    fast.kernels = {id_: on_tensor_cores(kernel) for id_, kernel in fast.kernels.items()}
    yield "tf32", fast


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, recording in recordings():
        recording.write(folder / f"{name}.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
