# SPDX-License-Identifier: Apache-2.0
"""Kernel by kernel: Gable's report beside what ncu counted (gable import --ncu) and what torch.profiler timed."""
import json
import re
import statistics

SASS = re.compile(r"^smsp__sass_")
DRAM = ("dram__sectors_read.sum", "dram__sectors_write.sum", "dram__sectors_op_read.sum", "dram__sectors_op_write.sum")


def plain_name(name):
    """Tools differ in blanks, `void`, parameters and casts of template arguments; what is left says which kernel it is."""
    name = name.split("(anonymous namespace)::")
    name = "".join(name)
    depth = 0
    for i, sign in enumerate(name):
        depth += (sign == "<") - (sign == ">")
        if sign == "(" and depth == 0:
            name = name[:i]
            break
    return re.sub(r"^void |\s+|\((?:int|bool|unsigned int|long)\)", "", name)


def by_kernel(report):
    """Rows of one kernel and shape joined over layers: means of one launch, weighted by launches."""
    groups = {}
    for row in report["kernels"]:
        if row["grid"] is not None:
            groups.setdefault((plain_name(row["name"]), tuple(row["grid"]), tuple(row["block"])), []).append(row)
    return {key: joined(rows) for key, rows in groups.items()}


def joined(rows):
    def mean(values):
        known = [(value, weight) for value, weight in values if value is not None]
        total = sum(weight for _, weight in known)
        return sum(value * weight for value, weight in known) / total if total else None
    names = {name for row in rows for name in row["counters"]}
    weights = [row["launches"] or 1 for row in rows]
    return {"launches": sum(weights), "time_ns": mean([(row["time_ns"]["mean"], w) for row, w in zip(rows, weights)]),
            "counters": {name: mean([(row["counters"].get(name), w) for row, w in zip(rows, weights)]) for name in names}}


def counters(ours, theirs):
    """Of the kernels that both have: which SASS counts agree, and the spread of DRAM sectors."""
    both = ours.keys() & theirs.keys()
    compared, equal, dram, different = 0, 0, [], []
    for key in both:
        mine, other = ours[key]["counters"], theirs[key]["counters"]
        for name in mine.keys() & other.keys():
            if mine[name] is None or other[name] is None:
                continue
            if SASS.match(name):
                compared += 1
                if abs(mine[name] - other[name]) <= 1e-9 * max(abs(mine[name]), abs(other[name])):
                    equal += 1
                else:
                    different.append({"kernel": key[0], "grid": list(key[1]), "metric": name, "gable": mine[name], "ncu": other[name]})
        read = [(sum(side.get(name) or 0 for name in DRAM)) for side in (mine, other)]
        if all(read):
            dram.append(read[0] / read[1])
    return {"kernels": len(both), "only_gable": len(ours.keys() - theirs.keys()), "only_ncu": len(theirs.keys() - ours.keys()),
            "sass_compared": compared, "sass_equal": equal, "different": different[:5],
            "dram_compared": len(dram), "dram_ratio_median": statistics.median(dram) if dram else None,
            "dram_ratio_least": min(dram, default=None), "dram_ratio_most": max(dram, default=None)}


def trace_kernels(path):
    """Of torch.profiler's trace: durations in ns by kernel and shape. Its times are in us."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    found = {}
    for event in events:
        if event.get("cat") == "kernel" and event.get("ph") == "X":
            shape = (tuple(event["args"]["grid"]), tuple(event["args"]["block"]))
            found.setdefault((plain_name(event["name"]), *shape), []).append(1000 * event["dur"])
    return found


def times(ours, theirs, least_ns=50_000):
    """Medians against means, of kernels of which both have some; and the same of those above 50 us."""
    ratios = {key: ours[key]["time_ns"] / statistics.median(theirs[key]) for key in ours.keys() & theirs.keys()
              if ours[key]["time_ns"] and statistics.median(theirs[key]) > 0}
    long = [ratio for key, ratio in ratios.items() if statistics.median(theirs[key]) >= least_ns]
    return {"kernels": len(ratios), "only_gable": len(ours.keys() - theirs.keys()), "only_torch": len(theirs.keys() - ours.keys()),
            "ratio_median": statistics.median(ratios.values()) if ratios else None, "long_kernels": len(long),
            "long_ratio_least": min(long, default=None), "long_ratio_most": max(long, default=None)}
