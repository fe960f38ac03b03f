# SPDX-License-Identifier: Apache-2.0
"""Runs other people's models and trainers with and without Gable, on the playback GPU, and holds the reports against what is true of the
programs: every kernel's layer against `named_modules()`, FLOPs against PyTorch's FlopCounterMode, output and exit code.

    python3 -m venv VENV && VENV/bin/pip install -r tests/programs/requirements.txt
    python3 tests/programs/programs.py --python VENV/bin/python --gable build/bin/gable           # all, and the table
    python3 tests/programs/programs.py --python VENV/bin/python --gable build/bin/gable NAME...   # these, with what is wrong
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = ("vision", "language", "others", "trainers")
SECONDS = 300  # for a run
# These return or hold another module, which keeps its name.
WRAPPERS = {"DistributedDataParallel", "DataParallel", "OptimizedModule"}
TWO_RANKS = "two_ranks"  # begin the names of programs that run so
PYPI = {"segmentation_models_pytorch": "segmentation-models-pytorch", "open_clip": "open_clip_torch", "pyro": "pyro-ppl",
        "torch_geometric": "torch_geometric", "neuralop": "neuraloperator"}
DOCS = ROOT / "docs" / "programs.md"


def all_programs():
    """{name: file}"""
    names = {}
    for file in FILES:
        text = (HERE / f"{file}.py").read_text(encoding="utf-8")
        table = text.split("\nif __name__")[0].rpartition("PROGRAMS = ")[2]
        names.update({name: file for name in re.findall(r"\b[a-z]\w+\b", table)})
    return names


@dataclasses.dataclass
class Run:
    code: int
    out: str
    err: str
    seconds: float


@dataclasses.dataclass
class Judged:
    """Of modules that launched: (number, direction)."""
    right: set
    wrong: dict  # to the layers that have their kernels


class Place:
    """A virtual environment with the programs' packages, and a folder for what they write."""

    def __init__(self, python, gable, folder, beside=()):
        """`beside`: folders with more packages."""
        self.gable, self.folder = pathlib.Path(gable).resolve(), pathlib.Path(folder).resolve()
        venv = self.folder / "venv"
        subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
        self.python = venv / "bin" / "python"
        packages = subprocess.run([python, "-c", "import torch, sys; print(*(p for p in sys.path if 'site-packages' in p), sep='\\n')"],
                                  check=True, capture_output=True, text=True).stdout
        (site,) = (venv / "lib").glob("python*/site-packages")
        (site / "packages.pth").write_text("\n".join([packages, *map(str, beside)]), encoding="utf-8")
        shutil.copy(HERE / "machine" / "sitecustomize.py", site)

    def run(self, name, file, gable=(), **variables):
        ranks = ("-m", "torch.distributed.run", "--nproc-per-node", "2") if name.startswith(TWO_RANKS) else ()
        command = [*gable, self.python, *ranks, HERE / f"{file}.py", name]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GABLE", "CUDA_INJ", "NVTX_INJ", "PYTHON"))}
        environment = kept | {
            "LD_LIBRARY_PATH": str(self.gable.parents[1] / "lib" / "playback"), "GABLE_PLAYBACK": str(ROOT / "tests" / "pytorch" / "gpu.jsonl"),
            "PLAYBACK_OPS": str(ROOT / "tests" / "pytorch"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
            "HOME": str(self.folder), "PYTHONHASHSEED": "0"} | variables
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, cwd=self.folder, check=False)
        return Run(done.returncode, done.stdout, done.stderr, time.monotonic() - began)

    def file(self, name):
        return str(self.folder / name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_layer_of(layer, places):
    """Is the report's row the layer of a module that has these places, [[class of the outermost module, name], ...]?"""
    path, dotted = layer["path"], layer["dotted"] or ""  # the outermost module's is empty
    for kind, name in places:
        kind = kind.removeprefix("FSDP")  # fully_shard gives a module a class of its own
        if kind in WRAPPERS:
            # They are no layers, but for a compiled region. What they hold keeps its name.
            wrapped, _, name = name.partition(".")
            if (bool(path) == bool(wrapped or kind == "OptimizedModule")) and dotted == name:
                return True
        elif "Loss" in kind and "/".join(path).endswith("/".join(filter(None, ("loss", *name.split("."))))):
            return True
        elif kind in path and dotted == ".".join(part for part in name.split(".") if part != "_checkpoint_wrapped_module"):
            return True
    return False


def judge(report, truth):
    layers = {row["id"]: row for row in report["layers"]}
    right, wrong = set(), collections.defaultdict(set)
    for kernel in report["kernels"]:
        direction, _, number = kernel["symbol"].partition(":")
        layer = layers[kernel["layer"]]
        if not number:
            if layer["path"][:1] != ["optimizer"]:
                wrong["", "optimizer"].add((layer["direction"], "/".join(layer["path"])))
            continue
        # What runs in no layer has no direction.
        if is_layer_of(layer, truth[int(number)]) and (direction == layer["direction"] or not layer["path"]):
            right.add((number, direction))
        else:
            wrong[number, direction].add((layer["direction"], "/".join(layer["path"])))
    return Judged(right - set(wrong), dict(wrong))


def flops_of(report):
    """FLOPs of a step by formula, of all layers where they are known, or None; and of how many they are not."""
    found = [row["model"]["self"]["flops_analytic"] for row in report["layers"] if row["model"]]
    known = [each for each in found if each is not None]
    return (sum(known) if known else None), len(found) - len(known)


@dataclasses.dataclass
class Result:
    """Of a program, or of a rank of it."""
    name: str
    plain: Run
    done: Run
    report: dict
    judged: Judged
    truth: list
    counted: list  # by FlopCounterMode, of each step
    counted_are: str

    @property
    def same(self):
        return (self.plain.code, self.plain.out) == (self.done.code, self.done.out)

    @property
    def flops(self):
        return flops_of(self.report)

    @property
    def modules(self):
        """{(number, direction)} of all that launched and were measured"""
        return self.judged.right | {key for key in self.judged.wrong if key[0]}


def try_program(place, name, file):
    """One result for each rank."""
    for old in place.folder.glob(f"{name}*.json*"):
        old.unlink()
    plain = place.run(name, file, PROGRAM_TRUTH=place.file("plain.truth"))
    done = place.run(name, file, (place.gable, "profile", "-q", "-o", place.file(f"{name}.json"), "--"),
                     PROGRAM_TRUTH=place.file(f"{name}.truth"))
    place.run(name, file, PROGRAM_FLOPS=place.file(f"{name}.flops"))
    results = []
    for path in sorted(place.folder.glob(f"{name}*.json")):
        report = read(path)
        suffix = f".{report['run']['rank']}" if name.startswith(TWO_RANKS) else ""
        truth, flops = read(place.file(f"{name}.truth{suffix}")), read(place.file(f"{name}.flops{suffix}"))
        counted = [after - before for before, after in zip(flops["steps"], flops["steps"][1:])]
        results.append(Result(name, plain, done, report, judge(report, truth), truth, counted, flops["steps are"]))
    return results


def say(results):
    """What is wrong, and what else is of interest, of a program that somebody looks at."""
    for result in results:
        steps, run = result.report["run"]["steps"], result.report["run"]
        print(f"{result.name}: exit {result.plain.code} and {result.done.code}, output {'the same' if result.same else 'CHANGED'}, "
              f"{result.plain.seconds:.1f} s and {result.done.seconds:.1f} s")
        if not result.same:
            print(result.plain.out[-500:], result.done.out[-500:], result.done.err[-1500:], sep="---\n")
        print(f"    {len(result.judged.right)} right, {len(result.judged.wrong)} wrong; complete: {run['complete']}, steps: {steps}")
        for (number, direction), found in list(result.judged.wrong.items())[:12]:
            print("   ", direction, result.truth[int(number)] if number else "", "->", *sorted(found))
        print(f"    FLOP {result.flops[0]}, unknown of {result.flops[1]} layers; FlopCounterMode: {collections.Counter(result.counted).most_common(3)} of {result.counted_are}")
        for note in run["notes"]:
            print("    note:", note)


def packages_of(name, file):
    """PyPI's names of what a program imports beside PyTorch."""
    text = (HERE / f"{file}.py").read_text(encoding="utf-8").split(f"\ndef {name}():\n")[1].split("\n\n\n")[0]
    helpers = "".join((HERE / f"{file}.py").read_text(encoding="utf-8").split(f"\ndef {each}(")[1].split("\n\n\n")[0]
                      for each in re.findall(r"\b(small_\w+|_lightning|_tune)\(", text))
    found = dict.fromkeys(re.findall(r"^ +(?:from|import) (\w+)", text + helpers, re.MULTILINE))
    return [PYPI.get(each, each.replace("_", "-")) for each in found if each not in sys.stdlib_module_names and each not in ("torch", "numpy")]


def in_short(flops):
    if flops is None:
        return "unknown"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if flops >= size:
            return f"{flops / size:.2f} {unit}"
    return f"{flops:.0f}"


def row_of(results, packages):
    right, total = (sum(len(each) for each in parts) for parts in
                    ([result.judged.right for result in results], [result.modules for result in results]))
    first = results[0]
    steps = sorted(set(first.counted))
    flops, unknown = first.flops
    of_gable = in_short(flops) + (f", and {unknown} layer{'s' * (unknown > 1)} unknown" if unknown else "")
    counted = " or ".join(in_short(each) for each in steps[:3]) + (" or …" if len(steps) > 3 else "")
    return [f"`{first.name}`", ", ".join(packages) or "PyTorch alone", "the same" if all(each.same for each in results) else "changed",
            f"{right} of {total}", of_gable, counted, f"{first.plain.seconds:.1f} s, {first.done.seconds:.1f} s"]


HEAD = ["program", "packages", "output", "modules in their layer", "FLOP a step in layers", "FlopCounterMode", "without, with Gable"]


def write_table(rows):
    """Programs that did not run keep their rows."""
    text = DOCS.read_text(encoding="utf-8")
    begin, end = text.index("| program |"), text.index("\n\n", text.index("| program |"))
    of_program = {line.split("`")[1]: line for line in text[begin:end].split("\n")[2:]}
    head, ruler, *new = ("| " + " | ".join(row) + " |" for row in [HEAD, ["---"] * 3 + ["--:"] * 4, *rows])
    of_program |= {line.split("`")[1]: line for line in new}
    lines = [head, ruler, *(of_program[name] for name in all_programs() if name in of_program)]
    DOCS.write_text(text[:begin] + "\n".join(lines) + text[end:], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--gable", required=True)
    parser.add_argument("--keep", help="a folder for the reports")
    parser.add_argument("--write", action="store_true", help="the table in docs/programs.md")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    programs = all_programs()
    names, rows = arguments.names or list(programs), []
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(arguments.python, arguments.gable, arguments.keep or scratch)
        for at, name in enumerate(names):
            print(f"{at + 1} of {len(names)}: {name}", file=sys.stderr)
            results = try_program(place, name, programs[name])
            if not results:
                sys.exit(f"{name} leaves no report")
            say(results)
            rows.append(row_of(results, packages_of(name, programs[name])))
    if arguments.write:
        write_table(rows)


if __name__ == "__main__":
    main()
