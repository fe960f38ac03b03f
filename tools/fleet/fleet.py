# SPDX-License-Identifier: Apache-2.0
"""gable fleet: what the jobs of a dataset lose, which ranks and nodes are slow, and what got slower from day to day."""
import argparse
import json
import sys

try:
    import duckdb
    import pyarrow
    import rich.console
    import rich.table
except ImportError as missing:
    sys.exit(f"gable: {sys.executable} has no {missing.name}: run '{sys.executable} -m pip install \"duckdb>=1.1\" \"pyarrow>=14\" rich' (pip install "
             "'gable-profiler[fleet]' does), or name a Python that has it with --python.")

from gable_fleet import queries, words
from gable_fleet.dataset import Dataset, NoDataset
from gable_fleet.text import plain

_STRIPS = 8
_TABLES = ("runs", "gpus", "steps", "layers")


class NotDone(Exception):
    """Why, in one sentence."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job", action="append", default=[])
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--dask", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--html", default="")
    parser.add_argument("dataset")
    options = parser.parse_args()
    try:
        judgement = queries.Judgement(surveys(options))
        answers = {name: judgement.ask(name, options.top) for name in queries.QUESTIONS}
        answers["fleet"] = answers["fleet"][0]
        if options.json:
            save(options.json, json.dumps(answers, indent=1, default=str) + "\n")
        if options.html:
            save(options.html, page_of(answers, judgement, options.dataset))
        if options.json != "-" and options.html != "-":
            show(answers, rich.console.Console(highlight=False))
    except (NoDataset, NotDone) as problem:
        print(f"gable: {plain(str(problem))}", file=sys.stderr)
        return 2
    except (duckdb.IOException, duckdb.InvalidInputException, pyarrow.ArrowException) as problem:
        print(f"gable: {options.dataset} cannot be read: {str(problem).splitlines()[0]} Export the reports again.", file=sys.stderr)
        return 2
    return 0


def surveys(options):
    dataset = Dataset(options.dataset)
    dataset.open()
    there = dataset.jobs()
    jobs = options.job or there
    unknown = [job for job in jobs if job not in there]
    if unknown:
        raise NotDone(f"{options.dataset} has no job {unknown[0]}; it has {', '.join(there[:5])}{' and others' if len(there) > 5 else ''}.")
    if not dataset.files("runs", jobs):
        raise NotDone(f"{options.dataset} has no report: export some with 'gable export REPORTS --parquet {options.dataset}'.")
    if options.dask:
        from gable_fleet.cluster import survey_on
        return survey_on(options.dask, dataset, jobs, options.top, NotDone)
    return [queries.survey({table: dataset.files(table, jobs) for table in _TABLES}, options.top)]


def page_of(answers, judgement, dataset):
    try:
        from gable_fleet.page import page
    except ImportError as missing:
        raise NotDone(f"{sys.executable} has no {missing.name}, which draws the page: run '{sys.executable} -m pip install plotly'.") from missing
    steps = [{"model": model, "layer": "", "direction": ""} for model in dict.fromkeys(row["model"] for row in answers["models"])]
    return page(answers, judgement.strip(_STRIPS), judgement.history(answers["slower_layers"] + steps + answers["layers"]), dataset)


def save(path, text):
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise NotDone(f"{path} cannot be written: {problem.strerror}.") from problem


def show(answers, console):
    console.print(words.headline(answers["fleet"]), soft_wrap=True, markup=False)
    for sentence in words.cautions(answers["fleet"]):
        console.print(sentence, markup=False)
    for title, name, columns in words.sections(answers):
        rows = answers[name]
        if not rows:
            console.print(f"\n{words.nothing(name, answers['fleet'])}", markup=False)
            continue
        table = rich.table.Table(box=None, pad_edge=False, header_style="bold")
        for heading, _, number in columns:
            table.add_column(heading, justify="right" if number else "left", no_wrap=number, overflow="fold")
        for row in rows:
            table.add_row(*(rich.text.Text(plain(text(row))) for _, text, _ in columns))
        console.print(f"\n{title}", style="bold", markup=False)
        console.print(table)
    console.print(f"\n{words.LOST}\n{words.SLOW}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
