#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large a fleet may be: times gable export and gable fleet on fleets of several sizes, and prints the table of docs/dataset.md.

    scale.py GABLE PYTHON TEMPLATE WORK     WORK: an empty folder with 4 GB of room

TEMPLATE is one real report. A size whose stragglers are not the ten slowest that are named ends it.
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

import synthetic

GABLE, PYTHON, TEMPLATE, WORK = sys.argv[1:]
MAKE = (PYTHON, pathlib.Path(__file__).with_name("synthetic.py"))
os.environ["PYTHONPATH"] = str(pathlib.Path(GABLE).resolve().parents[1] / "lib" / "python")  # gable_fleet


def timed(*words):
    begin = time.monotonic()
    said = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
    return time.monotonic() - begin, said


def size_of(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def named(dataset, ranks):
    seconds, said = timed(GABLE, "fleet", dataset, "--python", PYTHON, "--json", "-")
    slow = {row["rank"] for row in json.loads(said)["slow_ranks"]}
    if slow != set(synthetic.stragglers(ranks)):
        sys.exit(f"scale: of {ranks} ranks, {sorted(slow)} were named, and {sorted(synthetic.stragglers(ranks))} are slow")
    return seconds


def main():
    work = pathlib.Path(WORK)
    print("| | ranks | MB | s |\n|---|---|---|---|")
    for ranks in (125, 250, 500, 1000):
        reports, dataset = work / f"reports-{ranks}", work / f"from-{ranks}"
        subprocess.run([*MAKE, "reports", TEMPLATE, str(ranks), str(reports)], check=True)
        seconds, _ = timed(GABLE, "export", reports, "--parquet", dataset, "--python", PYTHON)
        print(f"| `gable export` of report files | {ranks:,} | {size_of(reports) / 1e6:,.0f} | {seconds:.1f} |", flush=True)
        named(dataset, ranks)
        shutil.rmtree(reports)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    for ranks in (1000, 10_000, 100_000):
        dataset = work / f"fleet-{ranks}"
        subprocess.run([*MAKE, "dataset", TEMPLATE, str(ranks), str(dataset)], check=True)
        print(f"| `gable fleet`, all its questions | {ranks:,} | {size_of(dataset) / 1e6:,.0f} | {named(dataset, ranks):.1f} |", flush=True)
        shutil.rmtree(dataset)
    print(f"\nThe largest process of gable export took {most:.2f} GB.")


if __name__ == "__main__":
    main()
