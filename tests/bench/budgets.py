#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and prints what Gable adds, beside its budget and the same without Gable, as a table in Markdown.

    tests/bench/budgets.py [BENCHMARK PROGRAM]     default build/bin/gable_bench
"""
import json
import os
import statistics
import subprocess
import sys

# benchmark, the same without Gable, what it is, budget in ns (of the difference where there is a base)
ROWS = [
    ("launch_gable/threads:1", "launch_empty_subscriber/threads:1", "one launch, 1 thread", 250),
    ("launch_gable/threads:16", "launch_empty_subscriber/threads:16", "one launch, 16 threads", 250),
    ("wait_gable", "wait_empty_subscriber", "one call that waits for the GPU", 250),
    ("launch_period/threads:1", None, "looking for a period, one launch, 1 thread", 50),
    ("launch_period/threads:16", None, "looking for a period, one launch, 16 threads", 50),
    ("nvtx_in_window/threads:1", "nvtx_empty/threads:1", "NVTX push and pop in a window, 1 thread", 80),
    ("nvtx_in_window/threads:16", "nvtx_empty/threads:16", "NVTX push and pop in a window, 16 threads", 80),
    ("nvtx_after_queue/threads:1", "nvtx_empty/threads:1", "NVTX push and pop after the queue", 5),
    ("records", None, "one activity record taken in", 200),
    ("start_with_variables/real_time", "start_plain/real_time", "start of a program without CUDA, by variables", 2e6),
    ("start_with_preload/real_time", "start_plain/real_time", "start of a program without CUDA, by LD_PRELOAD", 2e6),
]


def measure(program):
    done = subprocess.run([program, "--benchmark_format=json", "--benchmark_repetitions=5",
                           "--benchmark_enable_random_interleaving=true"], check=True, capture_output=True, text=True)
    found = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        # On several threads wall time is shared: what one call costs its thread is CPU time.
        time = run["real_time"] if run["name"].endswith("real_time") else run["cpu_time"]
        found.setdefault(run["name"], []).append(time)
    return {name: statistics.median(times) for name, times in found.items()}


def shown(ns):
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join("build", "bin", "gable_bench")
    if not os.access(program, os.X_OK):
        sys.exit(f"budgets: {program} is not there: build with -DGABLE_BENCHMARKS=ON first")
    found = measure(program)
    print("| cost | with Gable | without | ratio | added | budget | |\n|---|---|---|---|---|---|---|")
    met = True
    for name, base_name, what, budget in ROWS:
        time, base = found[name], found.get(base_name)
        added = time - (base or 0)
        met = met and added <= budget
        ratio = f"{time / base:.3g}" if base else "-"
        print(f"| {what} | {shown(time)} | {shown(base) if base else '-'} | {ratio} | {shown(max(added, 0))} "
              f"| {shown(budget)} | {'met' if added <= budget else 'over'} |")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
