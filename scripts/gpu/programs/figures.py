# SPDX-License-Identifier: Apache-2.0
"""The table "What only a GPU can tell" of docs/performance.md, from what scripts/gpu/prove.sh left:

    python3 scripts/gpu/programs/figures.py [prove-results]            prints it
    python3 scripts/gpu/programs/figures.py prove-results --write      and puts it into docs/performance.md

Only results from hardware count. A figure that is missing is open, with the command that measures it."""
import json
import os
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "performance.md")
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def last(rows, what, **fields):
    found = [row["fields"] for row in rows if row["what"] == what and all(row["fields"].get(k) == v for k, v in fields.items())]
    return found[-1] if found else {}


def all_of(rows, what, **fields):
    return [row["fields"] for row in rows if row["what"] == what and all(row["fields"].get(k) == v for k, v in fields.items())]


def at_most(limit, unit, scale=1):
    def judge(value):
        value *= scale
        return f"{value:.3g} {unit}", "reached" if value <= limit else f"{value / limit:.2g} times the target"
    return judge


def within(percent):
    """Of a ratio that should be 1."""
    def judge(value):
        off = 100 * abs(value - 1)
        return f"{value:.5g}", "reached" if off <= percent else f"{off:.2g} % off"
    return judge


def shares(value):
    return f"{value[0]} of {value[1]}", "reached" if value[0] == value[1] > 0 else f"{value[1] - value[0]} are not"


def of(rows, what, part, whole, **fields):
    found = [one for one in all_of(rows, what, **fields) if one.get(whole)]
    return (sum(one[part] for one in found), sum(one[whole] for one in found)) if found else None


def farthest(values):
    values = [value for value in values if value is not None]
    return max(values, key=lambda value: abs(value - 1)) if values else None


# What, the target in words, the stage, where the figure is, what makes of it.
FIGURES = (
    ("Profiling all layers of a ResNet-50 training step: added wall time a step beside ncu's, for the same counters", "at most 5 %",
     "peers", lambda rows: last(rows, "added", program="resnet").get("share_of_ncu"), at_most(5, "%", 100)),
    ("500 steps of 200 ms at full coverage: the run takes longer by", "at most 3 %", "resnet",
     lambda rows: last(rows, "overhead").get("of_500_steps_of_200ms_percent"), at_most(3, "%")),
    ("After the queue a step takes longer by", "at most 0.5 %", "resnet", lambda rows: last(rows, "overhead").get("after_percent"),
     at_most(0.5, "%")),
    ("Forward FLOPs of ResNet-50 without TF32, counted / 8,178,368,512 an image", "1 within 1 %", "resnet",
     lambda rows: farthest([one["ratio"] for one in all_of(rows, "forward_flops")]), within(1)),
    ("SASS counts of PyTorch programs that equal ncu's", "all", "peers", lambda rows: of(rows, "counters", "sass_equal", "sass_compared"), shares),
    ("DRAM sectors / ncu's, its caches left alone, median of the kernels", "1 within 5 %", "peers",
     lambda rows: farthest([one["dram_ratio_median"] for one in all_of(rows, "counters", cache_control="none")]), within(5)),
    ("Times of kernels above 50 us / torch.profiler's, the farthest", "1 within 1 %", "peers",
     lambda rows: farthest([one[side] for one in all_of(rows, "times") for side in ("long_ratio_least", "long_ratio_most")]), within(1)),
    ("Settings of an LSTM cell inside the overhead box", "all", "sweeps", lambda rows: of(rows, "expected", "inside", "points", case="lstm"), shares),
    ("Kernels of recorded runs that are the same when played", "all", "record", lambda rows: of(rows, "recording", "same", "kernels"), shares),
)


def read(folder, stage):
    path = os.path.join(folder, stage + ".jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    return [line for line in lines if line.get("source") == "hardware" and "fields" in line]


def table(folder):
    lines = ["| figure | target | measured | |", "|---|---|---|---|"]
    machines = set()
    for name, target, stage, find, judge in FIGURES:
        rows = read(folder, stage) if folder else []
        value = find(rows)
        if value is None:
            lines.append(f"| {name} | {target} | open: measured by `scripts/gpu/prove.sh {stage}` | |")
            continue
        machines |= {f"{row['gpu']}, driver {row['driver']}, CUPTI {row['cupti']}" for row in rows}
        lines.append("| {} | {} | {} | {} |".format(name, target, *judge(value)))
    text = "\n".join(lines) + "\n"
    return text + ("\n" + "; ".join(sorted(machines)) + ".\n" if machines else "")


def write(text):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + text + END + after)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    figures = table(words[0] if words else "")
    sys.stdout.write(figures)
    if "--write" in sys.argv:
        write(figures)
