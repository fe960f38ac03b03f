# SPDX-License-Identifier: Apache-2.0
"""The stage record: recordings of short real runs for the playback GPU, each played again at once."""
import json
import os
import shutil
import subprocess
import sys

import runs

LIMIT = 2_000_000
FOLDER = os.path.join(os.environ.get("WORK", "."), "recordings")
ARCHIVE = os.path.join(os.environ.get("OUT", "."), "recordings.tar.gz")


def rows_of(report):
    paths = {row["id"]: tuple(row["path"]) for row in report["layers"]}
    return {(paths[row["layer"]], row["direction"], row["device"], row["symbol"], str(row["grid"]), str(row["block"])): row
            for row in report["kernels"]}


def close(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def agreement(first, again):
    """Kernels that have the same launches, time and counters in both reports."""
    ours, theirs = rows_of(first), rows_of(again)
    same = 0
    for key in ours.keys() & theirs.keys():
        a, b = ours[key], theirs[key]
        names = a["counters"].keys() | b["counters"].keys()
        same += (close(a["launches"], b["launches"]) and close(a["time_ns"]["mean"], b["time_ns"]["mean"]) and
                 all(close(a["counters"].get(name), b["counters"].get(name)) for name in names))
    return len(ours.keys() | theirs.keys()), same


def record(name, options, program, environment=None):
    if not os.path.isdir(FOLDER) and os.path.exists(ARCHIVE):  # a former run's go on travelling
        subprocess.run(["tar", "-xzf", ARCHIVE, "-C", os.path.dirname(FOLDER)], check=True)
    os.makedirs(FOLDER, exist_ok=True)
    recording, report, again = os.path.join(FOLDER, name + ".jsonl"), runs.path_of("report.json"), runs.path_of("again.json")
    playback = ["--playback", environment["GABLE_PLAYBACK"]] if runs.REHEARSE else []
    runs.run([runs.GABLE, "profile", "-q", *playback, "-o", report, "--record", recording, *options, "--", *program], environment)
    if not os.path.exists(recording):
        raise runs.Failed("no recording was written; the report's notes say why.")
    with open(recording, encoding="utf-8") as file:
        header = json.loads(file.readline())
    # On the playback GPU whatever the machine has; the machine's CUPTI is of no use there.
    elsewhere = {k: v for k, v in os.environ.items() if k not in ("GABLE_OPTIONS", "GABLE_PLAYBACK")}
    runs.run([runs.GABLE, "profile", "-q", "--playback", recording, "-o", again, *options], elsewhere)
    images = os.path.splitext(recording)[0] + ".images"
    runs.emit("images", "counter images kept", {"bytes": "the run had no counter window, or its images are too large"}, recording=name,
              bytes=os.path.getsize(images) if os.path.exists(images) else None)
    kernels, same = agreement(runs.read(report), runs.read(again))
    size = os.path.getsize(recording)
    fields, unknown = runs.summary(runs.read(report))
    fields["kernels"] = kernels
    runs.emit("recording", f"{size} bytes, {same} of {kernels} kernels the same when played", unknown, recording=name + ".jsonl", bytes=size,
              origin=header["origin"], note=header["note"], same=same, within_limit=size <= LIMIT, **fields)
    subprocess.run(["tar", "-czf", ARCHIVE, "-C", os.path.dirname(FOLDER), "recordings"], check=True)
    if size > LIMIT or same < kernels:
        raise runs.Failed(f"{name}: {size} bytes, {same} of {kernels} kernels the same.")


def program(name, path, *arguments):
    if shutil.which(path) is None:
        runs.skip(f"{os.path.basename(path)} is not built here")
    record(name, ("--active", "1", "--step-range", "^step$"), [path, *arguments], dict(os.environ))


def pytorch(name, *case):
    recording, _ = runs.playback_gpu(*case)
    record(name, ("--active", "1"), runs.workload(*case, "--steps", 16), runs.environment_of(recording) or dict(os.environ))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("write program NAME PATH or pytorch NAME CASE OPTIONS")
    runs.main({"program": program, "pytorch": pytorch})
