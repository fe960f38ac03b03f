# SPDX-License-Identifier: Apache-2.0
"""gable import beside a script with pandas, on the same files, in one run: time and peak memory of each, and the ratios.

    compare.py GABLE FOLDER [MEGABYTES] [PYTHON]

Times are processor time (user and system): other work on the machine adds little to it, and both are one thread. FOLDER keeps the files. PYTHON is an interpreter with pandas; without it only gable import runs. 200 MB where no size is named."""
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def measured(command):
    """Seconds of the processor and of the clock, and peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - start
    if status != 0:
        sys.exit(f"compare: {' '.join(map(str, command))} ended with {status}")
    return usage.ru_utime + usage.ru_stime, took, usage.ru_maxrss / 1024


def warm(path):
    """Into the page cache, for both; a piece at a time, as a child's peak begins with its parent's memory."""
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass


def best(command):
    runs = [measured(command) for _ in range(3)]
    return min(run[0] for run in runs), min(run[1] for run in runs), min(run[2] for run in runs)


def main(gable, folder, megabytes="200", python=None):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| file | MB | gable import: CPU time (s) | wall time (s) | peak MB | pandas: CPU time (s) | wall time (s) | peak MB "
          "| times faster | times less memory |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for kind, ending in (("ncu", "csv"), ("nsys", "sqlite"), ("kineto", "json")):
        file = folder / f"{kind}-{megabytes}.{ending}"
        if not file.exists():
            subprocess.run([sys.executable, HERE / "make_files.py", kind, megabytes, file], check=True)
        warm(file)
        # The best of three each: other work on the machine only ever adds.
        seconds, clock, memory = best([gable, "import", f"--{kind}", str(file), "-o", str(folder / "report.json")])
        line = f"| {kind} | {file.stat().st_size / 1e6:.0f} | {seconds:.2f} | {clock:.2f} | {memory:.0f} |"
        if python:
            theirs, waited, most = best([python, str(HERE / "with_pandas.py"), kind, str(file)])
            line += f" {theirs:.1f} | {waited:.1f} | {most:.0f} | {theirs / seconds:.1f} | {most / memory:.1f} |"
        else:
            line += " - | - | - | - | - |"
        print(line, flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:5])
