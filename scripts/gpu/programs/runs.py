# SPDX-License-Identifier: Apache-2.0
"""How the stages of scripts/gpu/prove.sh that run PyTorch programs start them, plain and under Gable, and what they print."""
import json
import math
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
WORK = os.environ.get("WORK", ".")
GABLE = os.environ.get("GABLE", "gable")
REHEARSE = os.environ.get("REHEARSE") == "yes"
SMALL = ["--small"] if REHEARSE else []
SKIPPED = 77


class Failed(Exception):
    """What an experiment could not do, as a sentence."""


def emit(what, says, unknown=None, **fields):
    """One line of results. A field without a value has its reason in `unknown`."""
    line = {"what": what, "says": says, **fields}
    if unknown:
        line["unknown"] = {name: why for name, why in unknown.items() if fields.get(name) is None}
    print(json.dumps(line), flush=True)


def skip(why):
    print(json.dumps({"skipped": why}), flush=True)
    sys.exit(SKIPPED)


def path_of(name):
    return os.path.join(WORK, name)


def run(command, environment=None, limit=400):
    """Standard output; what it says beside goes to the log."""
    sys.stderr.write("+ " + " ".join(command) + "\n")
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment, check=False)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        raise Failed(f"{os.path.basename(command[0])} {' '.join(command[1:3])} ended with {done.returncode}: "
                     f"{(done.stderr.strip().splitlines() or [''])[-1][:200]}")
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def workload(case, *options):
    return [sys.executable, "-B", os.path.join(HERE, "workload.py"), case, *SMALL, *map(str, options)]


def playback_gpu(case, *options):
    """For a rehearsal: a recording that has a kernel of the right work for each module; its path and that work."""
    if not REHEARSE:
        return None, None
    described, recording = path_of("described.json"), path_of("gpu.jsonl")
    run(workload(case, *options, "--describe", described))
    rows = read(described)
    lines = [{"gable_recording": 1, "origin": "generated", "note": "kernels of the work that a small model's modules have"},
             {"device": 0, "name": "Playback H200", "chip": "GH100"}]
    for name, row in rows.items():
        flops, size = row["flops"] // row["calls"], row["bytes"] // row["calls"]
        for direction, times in (("forward", 1), ("backward", 2)):
            counters = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": times * flops // 2,
                        "dram__sectors_read.sum": times * size // 64, "dram__sectors_write.sum": times * size // 64,
                        "lts__t_sectors_srcunit_tex.sum": times * size // 32}
            lines.append({"kernel": direction + ":" + name, "grid": [8, 1, 1], "block": [64, 1, 1], "counters": counters,
                          "time_ns": 1500 + int(times * max(flops / 3e13, size / 2e12) * 1e9)})
    with open(recording, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return recording, rows


def environment_of(recording):
    return None if recording is None else {**os.environ, "GABLE_PLAYBACK": recording}


class Timed:
    def __init__(self, path, output):
        found = read(path)
        self.steps_ns, self.total_ns, self.output = found["steps_ns"], found["total_ns"], output

    @property
    def median_ns(self):
        return statistics.median(self.steps_ns)


def plain(case, *options, recording=None):
    times = path_of("times.json")
    output = run(workload(case, *options, "--times", times), environment_of(recording))
    return Timed(times, output)


def profiled(case, *options, recording=None, gable=()):
    """The same under Gable: its times, and the report."""
    times, report = path_of("times.json"), path_of("report.json")
    if os.path.exists(report):
        os.remove(report)
    playback = [] if recording is None else ["--playback", recording]
    output = run([GABLE, "profile", "-q", *playback, "-o", report, *map(str, gable), "--", *workload(case, *options, "--times", times)],
                 environment_of(recording))
    if not os.path.exists(report):
        raise Failed("Gable wrote no report.")
    return Timed(times, output), read(report)


# --- what a report says ---
def root_of(report):
    return next(row for row in report["layers"] if not row["path"] and row["direction"] == "none")


def flops_of(report, direction):
    """Of one unit of the report, in kernels of that direction; None where a kernel's are not known."""
    values = [row["flops"]["total"] for row in report["kernels"] if row["direction"] == direction]
    if not values or any(value is None for value in values):
        return None
    return sum(row["flops"]["total"] * row["launches"] for row in report["kernels"] if row["direction"] == direction)


def summary(report):
    """Fields of one line about a report, and why those are empty that are."""
    root, run_ = root_of(report), report["run"]
    fields = {"unit": run_["unit"], "border": run_["steps"]["border"], "layers": len(report["layers"]),
              "kernels": len(report["kernels"]), "launches": root["launches"], "time_ns": root["time_ns"]["total"],
              "flops": root["flops"]["total"], "bytes_dram": root["bytes"]["dram"],
              "coverage_flops": root["coverage"]["flops"], "coverage_bytes": root["coverage"]["bytes"],
              "coverage_time": root["coverage"]["time"], "fraction": root["roof"]["fraction"],
              "lost": sum(run_["lost"].values()), "notes": len(run_["notes"])}
    why = run_["notes"][0] if run_["notes"] else "the report does not say"
    return fields, {name: why for name, value in fields.items() if value is None}


def percent(new, old):
    return None if not old else round(100 * (new - old) / old, 3)


def median(values):
    values = [value for value in values if value is not None and math.isfinite(value)]
    return statistics.median(values) if values else None


def main(experiments):
    """Runs the experiment that the command line names."""
    name, *arguments = sys.argv[1:]
    try:
        experiments[name](*arguments)
    except Failed as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
    except subprocess.TimeoutExpired as problem:
        print(problem, file=sys.stderr)
        sys.exit(124)
