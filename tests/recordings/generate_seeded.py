#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a recording with the structure of resnet50-train in which no two launches are alike: every counter and every time
of every launch is off by a seeded factor of its own. Too big to be kept, so tests write it where they need it.

    python3 generate_seeded.py OUT [STEPS [SEED]]

One launch in eight says so by `scale`, a whole number that multiplies its times and counters; the others give each value.
Steps are push/pop ranges of the main thread, so that backward's layers stand on their own.
"""

import json
import random
import sys

from generate_resnet50 import DEVICE, HEADER, build

STEPS = 24
SEED = 20250601
# Counters that the FP32 network leaves at 0, so that every phase has something to get wrong.
EXTRA = (
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "sm__ops_path_tensor_src_fp64.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp8.sum",
)


def off(value, chance):
    return int(value * chance.uniform(0.5, 1.5)) + chance.randrange(1000)


def perturbed(op, kernel, chance):
    """The launch with values of its own."""
    if chance.randrange(8) == 0:
        return {**op, "scale": chance.randrange(2, 5)}
    counters = {metric: off(value, chance) for metric, value in kernel["counters"].items()}
    counters.update({metric: off(10000, chance) for metric in EXTRA})
    return {**op, "time_ns": off(kernel["time_ns"], chance), "counters": counters}


def lines(steps, seed):
    chance = random.Random(seed)
    rec = build(steps, "push")
    kernels = {kernel.id: kernel.line() for kernel in rec.kernels.values()}
    yield {**HEADER, "note": f"resnet50-train with every launch off by seeded factors (seed {seed}); no GPU was involved."}
    yield DEVICE
    yield from kernels.values()

    def expand(ops):
        for op in ops:
            if op["op"] == "play":
                for _ in range(op["times"]):
                    yield from expand(rec.sequences[op["sequence"]])
            elif op["op"] == "launch":
                yield perturbed(op, kernels[op["kernel"]], chance)
            else:
                yield op

    yield from expand(rec.program)


def main(arguments):
    if not 1 <= len(arguments) <= 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    steps = int(arguments[1]) if len(arguments) > 1 else STEPS
    seed = int(arguments[2]) if len(arguments) > 2 else SEED
    with open(arguments[0], "w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines(steps, seed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
