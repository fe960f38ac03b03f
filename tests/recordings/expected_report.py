# SPDX-License-Identifier: Apache-2.0
"""What a report must say about a recording, computed from the recording alone: which steps each phase measured, and the
means and sums over exactly those. The queue (docs of `gable profile`): wait, warm-up until a sequence of launches is seen
again; every hardware pass once, all of flops, time once; then the rest of `active` steps each: every hardware pass once, two of
time, and so on."""

import dataclasses
import statistics

FADD, FMUL, FFMA, HADD, HMUL, HFMA, DADD, DMUL, DFMA = (
    f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"
    for op in ("fadd", "fmul", "ffma", "hadd", "hmul", "hfma", "dadd", "dmul", "dfma"))
DRAM_READ, DRAM_WRITE = "dram__sectors_read.sum", "dram__sectors_write.sum"
L2_SECTORS, L1_BYTES = "lts__t_sectors_srcunit_tex.sum", "l1tex__t_bytes.sum"


@dataclasses.dataclass
class Windows:
    hw: list  # for each pass, its steps
    flops: list
    time: list
    seen: int  # steps until the queue was complete; nothing is watched after it

    @property
    def all_hw(self):
        return [step for group in self.hw for step in group]


def order(groups, active):
    """The phases of the steps that are measured: the number of a hardware pass, "flops" or "time"."""
    def timed(count):  # a step's length shows at the next one
        return [*["time"] * count, "reach"] if count else []
    left = max(0, active - 3)
    phases = [*range(groups), *["flops"] * active, *timed(active - left)]
    for group in range(groups):  # what is left of each pass, one after the other
        phases += [group] * (active - 1)
    return phases + timed(left)


def windows(steps, groups, active=3, wait=1, warmup=1):
    """`steps` in order; counts of windows as given to gable. Raises when the recording is too short."""
    seen, at = [], 0
    warmed = 0
    repeated = False
    while at < wait or warmed < warmup or not repeated:
        sequence = steps[at].sequence
        repeated = repeated or sequence in seen
        seen.append(sequence)
        warmed += at >= wait
        at += 1
    phases = order(groups, active)
    if at + len(phases) == len(steps) + 1 and phases[-1] == "reach":
        phases.pop()  # the program ends before: nobody knows how long its last step was
    if at + len(phases) > len(steps):
        raise ValueError(f"{len(steps)} steps are too few: the queue needs {at + len(phases)}")

    def taken(phase):
        return [step for step, each in zip(steps[at:], phases) if each == phase]
    return Windows([taken(group) for group in range(groups)], taken("flops"), taken("time"), at + len(phases))


def by_key(steps):
    found = {}
    for step in steps:
        for launch in step.launches:
            found.setdefault(launch.key, []).append(launch)
    return found


def counter_means(steps, metrics):
    """For each launch key: the mean of each metric over its launches in these steps."""
    return {key: {m: sum(launch.counters.get(m, 0) for launch in launches) / len(launches) for m in metrics}
            for key, launches in by_key(steps).items()}


@dataclasses.dataclass
class Times:
    mean: float
    median: float
    min: int
    max: int
    stddev: float | None
    total: float  # per step


def times(steps):
    found = {}
    for key, launches in by_key(steps).items():
        ns = [launch.time_ns for launch in launches]
        found[key] = Times(sum(ns) / len(ns), statistics.median(ns), min(ns), max(ns),
                           statistics.stdev(ns) if len(ns) > 1 else None, sum(ns) / len(steps))
    return found


def launches_per_step(steps):
    return {key: len(launches) / len(steps) for key, launches in by_key(steps).items()}


def fp32(counters):
    return counters.get(FADD, 0) + counters.get(FMUL, 0) + 2 * counters.get(FFMA, 0)


def fp64(counters):
    return counters.get(DADD, 0) + counters.get(DMUL, 0) + 2 * counters.get(DFMA, 0)


def dram(counters):
    return 32 * (counters.get(DRAM_READ, 0) + counters.get(DRAM_WRITE, 0))


def layer_sums(steps, value):
    """Sum of value(launch) over the launches of each layer and those in it, per step."""
    sums = {}
    for step in steps:
        for launch in step.launches:
            for layer in launch.layers:
                sums[layer] = sums.get(layer, 0) + value(launch)
    return {layer: total / len(steps) for layer, total in sums.items()}
