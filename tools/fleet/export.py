# SPDX-License-Identifier: Apache-2.0
"""gable export: reports into a Parquet dataset, on all cores."""
import argparse
import concurrent.futures.process
import contextlib
import hashlib
import json
import multiprocessing
import os
import re
import sys

try:
    import pyarrow
    import rich.console
    import rich.progress
except ImportError as missing:
    sys.exit(f"gable: {sys.executable} has no {missing.name}: run '{sys.executable} -m pip install \"pyarrow>=14\" rich' (pip install "
             "'gable-profiler[fleet]' does), or name a Python that has it with --python.")

from gable_fleet.dataset import Dataset, NoDataset, to_table, write
from gable_fleet.files import reports_in
from gable_fleet.tables import TABLES, NoRun, Rows, checked
from gable_fleet.text import plain

_RANKS_OF_A_BLOCK = 256
_MOST_NAMED = 5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parquet", required=True)
    parser.add_argument("--job", default="")
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("reports", nargs="*")
    options = parser.parse_args()
    try:
        return export(options)
    except NoDataset as problem:
        print(f"gable: {problem}", file=sys.stderr)
        return 2
    except concurrent.futures.process.BrokenProcessPool:
        print("gable: a process that converts reports was ended, probably for want of memory: run the command again with --processes 1.", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"gable: {problem.filename or options.parquet}: {problem.strerror}. What was written before is complete; run the command again.",
              file=sys.stderr)
        return 2


def export(options):
    paths, problems = find(options.reports)
    dataset = Dataset(options.parquet)
    taken = replaced = size = 0
    if paths:
        dataset.create()
        blocks = list(blocks_of(paths, options.job))
        workers = min(options.processes or len(os.sched_getaffinity(0)), len(blocks))
        for block in converted(dataset, blocks, workers):
            problems += block["problems"]
            taken += len(block["runs"])
            size += block["bytes"]
            if block["runs"]:
                replaced += dataset.put(block["job"], block["name"], block["parts"], block["runs"])
    for sentence in problems[:_MOST_NAMED]:
        print(f"gable: {plain(sentence)}", file=sys.stderr)
    if len(problems) > _MOST_NAMED:
        print(f"gable: {len(problems) - _MOST_NAMED} further files were left out for such reasons.", file=sys.stderr)
    if taken:
        print(f"{count(taken, 'report')} ({size / 1e6:.1f} MB) in {options.parquet}"
              + (f"; {replaced} of them replaced what was there" if replaced else "") + f". Next: gable fleet {options.parquet}")
    elif not problems:
        print("gable: there is no report: name report files, or folders that have some.", file=sys.stderr)
    return 2 if problems or not taken else 0


def count(number, word):
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def find(names):
    """The files named, and in folders those that begin like a report; and sentences on what is not there."""
    found, problems = {}, []
    for name in names:
        if os.path.isdir(name):
            before = len(found)
            found.update((os.path.realpath(path), None) for path in reports_in(name))
            if len(found) == before:
                problems.append(f"{name} has no report in it or in its folders.")
        elif os.path.exists(name):
            found[os.path.realpath(name)] = None
        else:
            problems.append(f"There is no file {name}.")
    return list(found), problems


def blocks_of(paths, job):
    """(job, paths) of the ranks that go into one file each. Without a name for the job, a report's folder names it."""
    jobs = {}
    for path in paths:
        jobs.setdefault(job or os.path.basename(os.path.dirname(path)) or "reports", []).append(path)
    for name, files in sorted(jobs.items()):
        files.sort(key=natural)
        for begin in range(0, len(files), _RANKS_OF_A_BLOCK):
            yield name, files[begin:begin + _RANKS_OF_A_BLOCK]


def natural(path):
    """rank2 before rank10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


def converted(dataset, blocks, workers):
    """The blocks' parts, as they are done."""
    for job, _ in blocks:
        for table in TABLES:
            os.makedirs(dataset.path(table, job), exist_ok=True)
    with shown(sum(len(paths) for _, paths in blocks)) as advance:
        # Not a fork: Arrow has threads.
        with concurrent.futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            running = {pool.submit(convert, dataset, job, paths): len(paths) for job, paths in blocks}
            for done in concurrent.futures.as_completed(running):
                advance(running[done])
                yield done.result()


@contextlib.contextmanager
def shown(total):
    """A bar on a terminal, nothing elsewhere: a function that takes how many more reports are done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with rich.progress.Progress(*rich.progress.Progress.get_default_columns(), rich.progress.MofNCompleteColumn(),
                                console=rich.console.Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reports", total=total)
        yield lambda more: progress.advance(task, more)


def convert(dataset, job, paths):
    """Writes one block's files beside where they go to."""
    tables, problems, runs, ranks, size = {table: [] for table in TABLES}, [], {}, [], 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read()
            rows = Rows(checked(json.loads(text), path), os.path.basename(path))
            made = {table: to_table(table, rows.columns(table)) for table in TABLES}
        except NoRun as problem:
            problems.append(str(problem))
            continue
        except OSError as problem:
            problems.append(f"{path} cannot be read: {problem.strerror}.")
            continue
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pyarrow.ArrowException) as problem:
            problems.append(f"{path} is damaged, or no report of Gable ({type(problem).__name__}: {problem}).")
            continue
        if rows.run in runs:
            problems.append(f"{path} is the same run as {runs[rows.run]}.")
            continue
        runs[rows.run] = path
        ranks.append(rows.rank)
        size += len(text)
        for table, part in made.items():
            tables[table].append(part)
    if not runs:
        return {"job": job, "runs": [], "problems": problems, "bytes": 0}
    known = [rank for rank in ranks if rank is not None]
    digest = hashlib.sha256("\n".join(sorted(runs)).encode()).hexdigest()[:12]
    name = (f"ranks-{min(known):06}-{max(known):06}" if known else "processes") + f"-{digest}.parquet"
    parts = {}
    for table, pieces in tables.items():
        parts[table] = dataset.path(table, job, name) + ".part"
        write(pyarrow.concat_tables(pieces), parts[table])
    return {"job": job, "name": name, "parts": parts, "runs": list(runs), "problems": problems, "bytes": size}


if __name__ == "__main__":
    sys.exit(main())
