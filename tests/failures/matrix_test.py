# SPDX-License-Identifier: Apache-2.0
"""Every call of CUPTI that the library resolves fails at its 1st, 2nd and 100th use, once and for good, and every flush and
every stop hangs. The program must not notice, and its report must be right as far as it goes."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

import playback_program
from playback_program import fault

PROGRAM = os.environ["GABLE_LONG_RUN"]
OPTIONS = "--step-range=^step$ --active=20"
USES = (1, 2, 100)
HANGS = ("cuptiActivityFlushAll", "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData", "cuptiRangeProfilerDisable")
WORKERS = 2 * (os.cpu_count() or 2)  # most of a case is waiting
MOST_SECONDS = 5.0  # beyond the plain run
THINNED = bool(os.environ.get("GABLE_SANITIZE"))  # then each pair of call and use fails in one of the two ways

# Calls of `gable doctor` alone: no run comes to their first use.
NEVER = {"cuptiProfilerDeviceSupported", "cuptiProfilerHostGetSupportedChips"}
# Some calls are made under circumstances only: a refused subscription is asked for its holder, and a program that goes on
# after the last window is let go.
FIRST = {"cuptiSubscribe_v2": fault("call", "cuptiSubscribe", 1, code=39)}
ARGUMENTS = {"cuptiUnsubscribe": ("140", "wait")}


def symbols():
    done = subprocess.run([os.environ["GABLE_SYMBOLS"]], capture_output=True, text=True, check=True)
    return done.stdout.split()


def names_in_library():
    """Every text of the library that ends with the name of a call of CUPTI, so also of one resolved past the list. Compilers put
    short texts beside each other without a zero between."""
    with open(playback_program.LIBRARY, "rb") as file:
        library = file.read()
    found = {name.decode() for name in re.findall(rb"(?<!\w)(cupti[A-Z]\w+)(?=\0)", library)}
    return found | {name for name in symbols() if name.encode() + b"\0" in library}


class Case:
    def __init__(self, kind, call, use, times):
        self.kind, self.call, self.use, self.times = kind, call, use, times

    def __str__(self):
        often = "once" if self.times == 1 else "for good"
        return f"{self.call} {'fails' if self.kind == 'call' else 'hangs'} {often} at use {self.use}"

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = FIRST.get(self.call, "") + "\n" + fault(self.kind, self.call, self.use, times=self.times)
            return playback_program.run([PROGRAM, *ARGUMENTS.get(self.call, ())], folder, OPTIONS, lines.strip())


def cases():
    pairs = [(call, use) for call in symbols() for use in USES]
    failing = [Case("call", *pair, times) for i, pair in enumerate(pairs) for times in (1, -1)
               if not THINNED or times == (1, -1)[i % 2]]
    hanging = [Case("hang", call, use, 1) for call in HANGS for use in USES]
    return failing + (hanging[::2] if THINNED else hanging)


def values(report):
    """Everything that a report says of work and times, by what it is of."""
    found = {}
    paths = {row["id"]: "/".join(row["path"]) for row in report["layers"]}
    for row in report["layers"]:
        name = f"layer {paths[row['id']]} {row['direction']}"
        found[name] = {"launches": row["launches"], "time": row["time_ns"]["total"], "busy": row["time_ns"]["busy"]}
        for part in ("flops", "bytes", "intensity"):
            found[name].update({f"{part} {k}": v for k, v in row[part].items() if not isinstance(v, dict)})
    for row in report["kernels"]:
        name = f"kernel {paths[row['layer']]} {row['name']} {row['grid']} {row['block']}"
        found[name] = {"launches": row["launches"], "time": row["time_ns"]["mean"]}
        for part in ("flops", "bytes", "counters"):
            found[name].update({f"{part} {k}": v for k, v in row[part].items() if not isinstance(v, dict)})
    for row in report["copies"]:
        found[f"copy {row['kind']}"] = {k: row[k] for k in ("count", "bytes", "time_ns")}
    # Totals are of the steps that were seen; these may be fewer.
    seen = report["run"]["steps"]["seen"]
    found["run"] = {k: None if report["run"]["total"][k] is None or not seen else report["run"]["total"][k] / seen
                    for k in ("flops", "bytes_dram", "gpu_time_ns")}
    return found


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.plain = playback_program.run([PROGRAM], folder, injected=False)
        with tempfile.TemporaryDirectory() as folder:
            cls.whole = playback_program.run([PROGRAM], folder, OPTIONS)

    def test_a_run_without_faults(self):
        self.assertEqual((self.plain.code, self.plain.out, self.plain.err), (3, "worked\n", ""))
        self.assertEqual((self.whole.code, self.whole.out, self.whole.err, self.whole.broken), (3, "worked\n", "", ""))
        steps = self.whole.report["run"]["steps"]
        self.assertEqual((steps["flops"], steps["time"]), (20, 20), steps)
        kernel = values(self.whole.report)["kernel step/first work [8, 1, 1] [64, 1, 1]"]
        self.assertEqual((kernel["time"], kernel["flops fp32"], kernel["bytes dram"]), (5000, 2 * 32768, 32 * 3000))

    def complaints(self, ended):
        """What is wrong with how a run ended; nothing, where the fault was harmless."""
        wrong = []
        if (ended.code, ended.out) != (self.plain.code, self.plain.out):
            wrong.append(f"ended with {ended.code} and the output {ended.out!r}")
        if ended.seconds > self.plain.seconds + MOST_SECONDS:
            wrong.append(f"took {ended.seconds:.1f} s instead of {self.plain.seconds:.1f} s")
        if ended.broken:
            wrong.append(f"broke rules: {ended.broken}")
        wrong += [f"said {line!r}" for line in ended.err.splitlines()
                  if not re.fullmatch(r"gable: .*[a-z].*[.]", line)]
        if len(ended.err.splitlines()) > 3:
            wrong.append(f"said much: {ended.err}")
        if ended.report is None:
            return wrong if ended.err else wrong + ["left no report and did not say why"]
        return wrong + self.wrong_values(ended)

    def wrong_values(self, ended):
        wrong, missing = [], []
        whole, found = values(self.whole.report), values(ended.report)
        for name, numbers in found.items():
            if name not in whole:
                wrong.append(f"the report has a row of its own: {name}")
                continue
            for what, value in numbers.items():
                if what.startswith("counters ") and what not in whole[name]:
                    continue  # where a metric cannot be had, another one stands in for it
                expected = whole[name].get(what)
                if value is None and expected is not None:
                    missing.append(f"{name}: {what}")
                elif value != expected:
                    wrong.append(f"{name}: {what} is {value}, not {expected}")
        missing += [name for name in whole if name not in found]
        if missing and set(ended.notes) <= set(self.whole.notes):
            wrong.append(f"the report does not say why these are missing: {', '.join(missing[:5])}")
        return wrong

    def test_rows_are_what_the_library_resolves(self):
        self.assertEqual(names_in_library(), set(symbols()))

    def test_matrix(self):
        todo = cases()
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            endings = list(pool.map(Case.run, todo))
        never = {use: set() for use in USES}
        reports = 0
        for case, ended in zip(todo, endings):
            if case.call not in ended.fired and case.kind == "call" and (case.times == 1 or THINNED):
                never[case.use].add(case.call)
            reports += ended.report is not None
            with self.subTest(str(case)):
                self.assertEqual(self.complaints(ended), [], ended.err)
        pairs = {(case.call, case.use) for case in todo if case.kind == "call"}
        self.assertEqual(len(pairs), len(symbols()) * len(USES))
        hangs = [case for case in todo if case.kind == "hang"]
        for use in USES:
            print(f"failures: never came to use {use}: {', '.join(sorted(never[use])) or 'none'}", file=sys.stderr)
        print(f"failures: {len(pairs)} pairs of call and use = {len(symbols())} symbols x {len(USES)} uses, once "
              f"{'or' if THINNED else 'and'} for good, and {len(hangs)} hangs: {len(todo)} runs, {reports} left a report", file=sys.stderr)
        self.assertEqual(never[1], NEVER)


if __name__ == "__main__":
    unittest.main()
