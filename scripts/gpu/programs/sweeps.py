# SPDX-License-Identifier: Apache-2.0
"""The stage sweeps: convolutions and an LSTM cell over their parameters, as the study of the time-based roofline did
(arXiv 2009.04598). Expected: the LSTM stays inside the overhead box, and takes longer with the sequence at one intensity."""
import sys

import runs

ACTIVE = 2 if runs.REHEARSE else 20
# What a launch takes where the report could not measure it.
USUAL_LATENCY_NS = 4000


def ceiling(report, kind, name):
    found = [row["value"] for row in report["ceilings"] if row["kind"] == kind and row["name"] == name]
    return max(found) if found else None


def point(case, precision, options):
    """One setting: its work, its time, and where it stands against the overhead box."""
    options = (*options, "--precision", precision, "--steps", 12 * ACTIVE + 20)
    recording, _ = runs.playback_gpu(case, *options)
    _, report = runs.profiled(case, *options, recording=recording, gable=("--active", ACTIVE))
    root = runs.root_of(report)
    flops, size, launches = root["flops"]["total"], root["bytes"]["dram"], root["launches"]
    latency = report["step"]["launch_latency_ns"] or USUAL_LATENCY_NS
    compute = ceiling(report, "compute", "fp16_tensor" if precision == "fp16" else "fp32")
    memory = ceiling(report, "memory", "dram")
    inside = None
    if None not in (flops, size, compute, memory):
        box = launches * latency / 1e9
        inside = flops <= box * compute and size <= box * memory
    return {"flops": flops, "bytes_dram": size, "launches": launches, "time_ns": root["time_ns"]["total"],
            "intensity": root["intensity"]["dram"], "fraction": root["roof"]["fraction"], "bound": root["roof"]["bound"],
            "launch_latency_ns": latency, "latency_measured": report["step"]["launch_latency_ns"] is not None,
            "inside_overhead_box": inside, "windows": report["run"]["steps"]["time"]}, report


def sweep(case, precision, option, *values):
    """The points of one line of the study, and what it shows."""
    points, given = [], ["--mode", "train"]
    while values and values[0].startswith("--"):
        given += values[:2]
        values = values[2:]
    for value in values:
        fields, report = point(case, precision, (*given, option, value))
        why = report["run"]["notes"][0] if report["run"]["notes"] else "the report does not say"
        points.append(fields)
        runs.emit("point", f"{option[2:]} {value}: {fields['time_ns'] and round(fields['time_ns'] / 1e3, 1)} us, "
                  f"{fields['intensity'] and round(fields['intensity'], 2)} FLOP/B", {name: why for name in fields},
                  case=case, precision=precision, option=option[2:], value=int(value), **fields)
    if case != "lstm":
        return
    inside = [one["inside_overhead_box"] for one in points]
    intensities = [one["intensity"] for one in points]
    known = None not in intensities and len(points) > 1
    spread = max(intensities) / min(intensities) - 1 if known else None
    times = [one["time_ns"] for one in points]
    grows = None if None in times else all(a < b for a, b in zip(times, times[1:]))
    runs.emit("expected", f"inside the box {sum(value is True for value in inside)}/{len(inside)}, time grows: {grows}, "
              f"intensity within {spread and round(100 * spread, 1)} %", {"spread_percent": "an intensity is not known",
              "time_grows": "a time is not known"}, case=case, precision=precision, option=option[2:], inside=sum(value is True for value in inside),
              points=len(inside), time_grows=grows, spread_percent=None if spread is None else 100 * spread)


if __name__ == "__main__":
    sys.argv[1:1] = ["sweep"]
    runs.main({"sweep": sweep})
