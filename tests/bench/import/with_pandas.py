# SPDX-License-Identifier: Apache-2.0
"""What one would write with pandas where there is no gable import: time, FLOPs and bytes of each kernel in each layer. A plain
script, with the whole-column operations that pandas is made for and no loop over rows.

    with_pandas.py ncu|nsys|kineto FILE"""
import json
import sqlite3
import sys

import pandas as pd


def ncu(path):
    with open(path, encoding="utf-8") as file:
        skip = next(i for i, line in enumerate(file) if line.startswith('"ID",'))
    rows = pd.read_csv(path, skiprows=skip)
    rows["value"] = pd.to_numeric(rows["Metric Value"].astype(str).str.replace(",", ""), errors="coerce")
    launches = rows.pivot_table(index=["ID", "Kernel Name", "Grid Size", "Block Size"], columns="Metric Name", values="value")
    sass = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
    launches["flops"] = launches[sass.format("fadd")] + launches[sass.format("fmul")] + 2 * launches[sass.format("ffma")]
    launches["bytes"] = 32 * (launches["dram__sectors_read.sum"] + launches["dram__sectors_write.sum"])
    return launches.groupby(level=["Kernel Name", "Grid Size", "Block Size"])[["gpu__time_duration.sum", "flops", "bytes"]].mean()


def in_ranges(calls, ranges, by):
    """The range that is open when each call is made; ranges do not overlap on this level."""
    calls = pd.merge_asof(calls.sort_values("call"), ranges.sort_values("begin"), left_on="call", right_on="begin", by=by)
    calls.loc[calls["call"] >= calls["finish"], "layer"] = ""
    return calls


def nsys(path):
    base = sqlite3.connect(path)
    kernels = pd.read_sql("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", base)
    calls = pd.read_sql("SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME", base)
    ranges = pd.read_sql("SELECT * FROM NVTX_EVENTS WHERE eventType = 59", base)
    names = pd.read_sql("SELECT * FROM StringIds", base)
    kernels = kernels.merge(names, left_on="demangledName", right_on="id")
    kernels["time"] = kernels["end"] - kernels["start"]
    calls = calls.sort_values("start").drop_duplicates("correlationId")
    kernels = kernels.merge(calls[["correlationId", "start", "globalTid"]].rename(columns={"start": "call"}), on="correlationId", how="left")
    ranges = ranges[["start", "end", "text", "globalTid"]].rename(columns={"start": "begin", "end": "finish", "text": "layer"})
    kernels = in_ranges(kernels, ranges, "globalTid")
    return kernels.groupby(["layer", "value", "gridX", "gridY", "gridZ", "blockX"])["time"].agg(["count", "sum", "mean", "median", "min", "max", "std"])


def kineto(path):
    with open(path, encoding="utf-8") as file:
        events = pd.DataFrame(json.load(file)["traceEvents"])
    kernels = events[events["cat"] == "kernel"].copy()
    args = pd.DataFrame(kernels["args"].tolist(), index=kernels.index)
    kernels["correlation"] = args["correlation"]
    kernels["grid"] = args["grid"].astype(str)
    kernels["block"] = args["block"].astype(str)
    calls = events[events["cat"] == "cuda_runtime"].copy()
    calls["correlation"] = [each.get("correlation") for each in calls["args"]]
    kernels = kernels.merge(calls[["correlation", "ts", "tid"]].rename(columns={"ts": "call", "tid": "thread"}), on="correlation", how="left")
    ranges = events[events["cat"] == "user_annotation"]
    ranges = pd.DataFrame({"begin": ranges["ts"], "finish": ranges["ts"] + ranges["dur"], "layer": ranges["name"], "thread": ranges["tid"]})
    kernels = in_ranges(kernels, ranges, "thread")
    return kernels.groupby(["layer", "name", "grid", "block"])["dur"].agg(["count", "sum", "mean", "median", "min", "max", "std"])


if __name__ == "__main__":
    table = globals()[sys.argv[1]](sys.argv[2])
    table.to_csv("/dev/null")
    print(len(table), "rows")
