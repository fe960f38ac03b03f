# SPDX-License-Identifier: Apache-2.0
"""Every call of CUPTI that the library resolves fails at its 1st, 2nd and 100th use, once and for good, and hangs there. The
program must not notice, and its report must be right as far as it goes and say what is missing. The same with two threads that
launch, and in a program that launches nothing any more, where calls are also late. For every change a part of it, chosen by
the place in the list; with GABLE_EVERY_CASE=1 all."""
import concurrent.futures
import glob
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
WORKERS = 4 * (os.cpu_count() or 2)  # most of a case is waiting
EVERY_CASE = os.environ.get("GABLE_EVERY_CASE", "") not in ("", "0")
# Beyond the plain run. What Gable may wait is four seconds; a machine that does much else meanwhile takes longer for everything.
MOST_SECONDS = 5.0 if EVERY_CASE else 15.0
PROGRAMS = {"alone": (), "two threads": ("140", "threads"), "then silence": ("40", "silence")}

# Some calls are made under circumstances only: a refused subscription is asked for its holder, and a program that goes on
# after the last window is let go.
FIRST = {"cuptiSubscribe_v2": fault("call", "cuptiSubscribe", 1, code=39)}
ARGUMENTS = {"cuptiUnsubscribe": ("140", "wait")}

# Calls that this program never makes as often as a use says, and why; all others are.
ONCE = "once a process"
NEVER = {
    "cuptiProfilerDeviceSupported": (1, "of `gable doctor` alone"),
    "cuptiProfilerHostGetSupportedChips": (1, "of `gable doctor` alone"),
    "cuptiGetVersion": (2, ONCE),
    "cuptiSubscribe": (2, ONCE),
    "cuptiSubscribe_v2": (2, ONCE),
    "cuptiUnsubscribe": (2, ONCE),
    "cuptiGetDeviceId": (2, "once a thread and context"),
    "cuptiActivityRegisterCallbacks": (2, ONCE),
    "cuptiDeviceGetChipName": (2, "once a device"),
    "cuptiProfilerInitialize": (2, ONCE),
    "cuptiGetGraphExecId": (2, "once a graph, and there is one"),
    "cuptiGetResultString": (100, "once a refused metric, and few are"),
    "cuptiActivityEnable": (100, "four kinds, once each time that times follow counters"),
    "cuptiActivityDisable": (100, "the same"),
    "cuptiActivityFlushAll": (100, "twice a second, and at the end"),
    "cuptiActivityGetNumDroppedRecords": (100, "once a buffer"),
    "cuptiRangeProfilerEnable": (100, "once each time that counters follow times"),
    "cuptiRangeProfilerDisable": (100, "the same"),
    "cuptiGetGraphNodeId": (100, "the graph has one node"),
    "cuptiGetGraphId": (100, "there is one graph"),
}
# How many buffers there are is a matter of when CUPTI is asked for them. Records are read once each, and once more a buffer: about
# 110 times.
BY_CHANCE = {("cuptiActivityGetNumDroppedRecords", 2), ("cuptiActivityGetNextRecord", 100)}

# Of every helper, and of a profiler between enabling and disabling.
LATE = ("cuptiSubscribe", "cuptiEnableCallback", "cuptiActivityEnable", "cuptiActivityFlushAll", "cuptiActivityGetNextRecord",
        "cuptiProfilerHostInitialize", "cuptiRangeProfilerEnable", "cuptiRangeProfilerStart", "cuptiRangeProfilerPushRange",
        "cuptiRangeProfilerPopRange", "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData", "cuptiRangeProfilerDisable")
# Where only a few of these are tried: of a counter window, and of a window of times.
SLOW = ("cuptiRangeProfilerStart", "cuptiActivityEnable")
# The program may destroy what these are asked about before they return, which nobody can help.
NEVER_LATE = {"cuptiGetGraphNodeId", "cuptiGetGraphId", "cuptiGetGraphExecId"}

# What the report says where it does not name the call that failed.
SAID_AS = {
    "cuptiDeviceGetChipName": "The GPU's chip is not known to CUPTI",
    "cuptiSubscribe_v2": "cuptiSubscribe says",
}


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
    def __init__(self, kind, call, use, times, program="alone"):
        self.kind, self.call, self.use, self.times, self.program = kind, call, use, times, program

    def __str__(self):
        often = "once" if self.times == 1 else "for good"
        what = {"call": "fails", "hang": "hangs", "delay": "is late"}[self.kind]
        return f"{self.call} {what} {often} at use {self.use}, {self.program}"

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = FIRST.get(self.call, "") + "\n" + fault(self.kind, self.call, self.use, times=self.times)
            arguments = PROGRAMS[self.program] or ARGUMENTS.get(self.call, ())
            return playback_program.run([PROGRAM, *arguments], folder, OPTIONS, lines.strip())


def may_fire(call, use):
    return call not in NEVER or use < NEVER[call][0]


def cases():
    """Each pair fails once, fails for good, and hangs; beside another thread and before a silence it hangs. The part for every
    change: each pair fails in one of two ways, and hangs; with the other programs one use of each call."""
    pairs = [(call, use) for call in symbols() for use in USES]
    ways = [("call", 1), ("call", -1)]
    some = [Case(kind, *pair, times) for i, pair in enumerate(pairs) for j, (kind, times) in enumerate(ways)
            if EVERY_CASE or i % 2 == j]
    some += [Case("hang", *pair, 1) for pair in pairs if may_fire(*pair)]
    for program in ("two threads", "then silence"):
        for i, call in enumerate(symbols()):
            uses = [use for use in USES if may_fire(call, use) and call not in ARGUMENTS]
            if not EVERY_CASE and uses:
                uses = [uses[i % len(uses)]] if program == "two threads" or i % 3 == 0 else []
            some += [Case("hang", call, use, 1, program) for use in uses]
            if EVERY_CASE and program == "two threads":
                some += [Case("call", call, use, times, program) for use in uses for times in (1, -1)]
    # What a call did that comes back after all is undone, or goes on.
    late = symbols() if EVERY_CASE else [call for call in LATE if call in symbols()]
    some += [Case("delay", call, 1, 1, "then silence") for call in late
             if may_fire(call, 1) and call not in ARGUMENTS and call not in NEVER_LATE]
    return some


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
        # How long a range lasts depends on who makes it; the kernels' times are compared above.
        for name_of_range in ("gpu__time_duration.sum", "sm__cycles_elapsed.avg"):
            found[name].pop("counters " + name_of_range, None)
    for row in report["copies"]:
        found[f"copy {row['kind']}"] = {k: row[k] for k in ("count", "bytes", "time_ns")}
    # Totals are of the steps that were seen; these may be fewer.
    seen = report["run"]["steps"]["seen"]
    found["run"] = {k: None if report["run"]["total"][k] is None or not seen else report["run"]["total"][k] / seen
                    for k in ("flops", "bytes_dram", "gpu_time_ns")}
    return found


def losses(report):
    """What a report counts as lost or not measured, as far as it can be compared."""
    steps = report["run"]["steps"]
    lost = {f"lost {what}": count for what, count in report["run"]["lost"].items() if count}
    for what in ("flops", "time"):  # those of hardware counters are as many as the plan has passes
        lost[f"steps of {what} missing"] = -steps[what]
    for row in report["kernels"]:
        if row.get("time_source") not in (None, "records"):
            lost[f"kernel {row['name']}: time by {row['time_source']}"] = 1
    return lost


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain, cls.whole = {}, {}
        for name, arguments in PROGRAMS.items():
            with tempfile.TemporaryDirectory() as folder:
                cls.plain[name] = playback_program.run([PROGRAM, *arguments], folder, injected=False)
            with tempfile.TemporaryDirectory() as folder:
                cls.whole[name] = playback_program.run([PROGRAM, *arguments], folder, OPTIONS)

    def test_a_run_without_faults(self):
        for name in PROGRAMS:
            with self.subTest(name):
                plain, whole = self.plain[name], self.whole[name]
                self.assertEqual((plain.code, plain.out, plain.err), (3, "worked\n", ""))
                self.assertEqual((whole.code, whole.out, whole.err, whole.broken), (3, "worked\n", "", ""))
        steps = self.whole["alone"].report["run"]["steps"]
        self.assertEqual((steps["flops"], steps["time"]), (20, 20), steps)
        kernel = values(self.whole["alone"].report)["kernel step/first work [8, 1, 1] [64, 1, 1]"]
        self.assertEqual((kernel["time"], kernel["flops fp32"], kernel["bytes dram"]), (5000, 2 * 32768, 32 * 3000))

    def took_long(self, case, ended):
        """A machine that does other work takes long for the plain program too: both are run again, alone, and compared."""
        if ended.seconds <= self.plain[case.program].seconds + MOST_SECONDS:
            return False
        again = case.run()
        with tempfile.TemporaryDirectory() as folder:
            plain = playback_program.run([PROGRAM, *PROGRAMS[case.program]], folder, injected=False)
        return again.seconds > MOST_SECONDS + 20 * plain.seconds

    def complaints(self, case, ended):
        """What is wrong with how a run ended; nothing, where the fault was harmless."""
        wrong, plain = [], self.plain[case.program]
        if (ended.code, ended.out) != (plain.code, plain.out):
            wrong.append(f"ended with {ended.code} and the output {ended.out!r}")
        if self.took_long(case, ended):
            wrong.append(f"took {ended.seconds:.1f} s instead of {plain.seconds:.1f} s")
        if ended.broken:
            wrong.append(f"broke rules: {ended.broken}")
        wrong += [f"said {line!r}" for line in ended.err.splitlines()
                  if not re.fullmatch(r"gable: .*[a-z].*[.]", line)]
        if len(ended.err.splitlines()) > 3:
            wrong.append(f"said much: {ended.err}")
        fired = case.call in ended.fired
        if case.kind != "call" and fired and ended.err.count(f"{case.call} did not return in time") != 1:
            wrong.append(f"did not say once which call hung: {ended.err}")
        if case.kind == "hang" and fired and len(ended.err.splitlines()) > 1:
            wrong.append(f"said more than which call hung: {ended.err}")
        if ended.report is None:
            return wrong if ended.err else wrong + ["left no report and did not say why"]
        return wrong + self.wrong_values(case, ended)

    def wrong_values(self, case, ended):
        wrong, missing, report = [], [], self.whole[case.program].report
        whole, found = values(report), values(ended.report)
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
        before = losses(report)
        missing += [what for what, count in losses(ended.report).items() if count > before.get(what, 0)]
        said = [note for note in ended.notes if case.call in note or SAID_AS.get(case.call, case.call) in note]
        if missing and case.call in ended.fired and not said:
            wrong.append(f"the report does not say that {case.call} is why these are missing: {', '.join(missing[:5])}; "
                         f"it says {ended.notes}")
        return wrong

    def test_rows_are_what_the_library_resolves(self):
        self.assertEqual(names_in_library(), set(symbols()))

    def test_every_call_can_be_named(self):
        """One that is made past GABLE_CALL and called() would hang without its name."""
        collector = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "collector")
        sources = [path for ending in ("cpp", "h") for path in glob.glob(os.path.join(collector, "*", "*." + ending))]
        self.assertGreater(len(sources), 100)
        for path in sources:
            with open(path, encoding="utf-8") as file:
                past = re.findall(r"\bapi_?(?:\.|->)cupti\w+\(.*", file.read())
            self.assertEqual(past, [], path)

    def test_the_calls_that_are_never_made_are_calls(self):
        self.assertEqual(set(NEVER) - set(symbols()), set())

    def test_a_late_start_is_no_loss(self):
        """CUPTI may need the driver's start to be over before it answers another thread: then collecting begins late."""
        for call in ("cuptiSubscribe", "cuptiEnableCallback"):
            with self.subTest(call), tempfile.TemporaryDirectory() as folder:
                ended = playback_program.run([PROGRAM, "140", "pause"], folder, OPTIONS, fault("delay", call, 1, late_ms=2600))
                self.assertEqual((ended.code, ended.out, ended.broken), (3, "worked\n", ""))
                self.assertEqual(ended.err.count(f"{call} did not return in time"), 1, ended.err)
                self.assertEqual(values(ended.report), values(self.whole["alone"].report))

    def test_a_slow_call_costs_its_window_alone(self):
        """Once it returns, everything is measured all the same: no window is spent while CUPTI is left alone."""
        calls = [call for call in LATE if call.startswith(("cuptiActivity", "cuptiRangeProfiler"))] if EVERY_CASE else SLOW

        def run(call):
            with tempfile.TemporaryDirectory() as folder:
                return playback_program.run([PROGRAM, "6000", "beats"], folder, OPTIONS, fault("delay", call, 2))

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for call, ended in zip(calls, pool.map(run, calls)):
                with self.subTest(call):
                    self.assertEqual((ended.code, ended.out, ended.broken, ended.fired), (3, "worked\n", "", [call]))
                    self.assertEqual(ended.err.count(f"{call} did not return in time"), 1, ended.err)
                    self.assertEqual(values(ended.report)["kernel step/first work [8, 1, 1] [64, 1, 1]"],
                                     values(self.whole["alone"].report)["kernel step/first work [8, 1, 1] [64, 1, 1]"])
                    steps = ended.report["run"]["steps"]
                    self.assertEqual((steps["flops"], steps["time"]), (20, 20), ended.notes)

    def test_a_gpu_that_cupti_does_not_tell(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = playback_program.run([PROGRAM, "140"], folder, OPTIONS, fault("call", "cuptiGetDeviceId", 1))
            self.assertEqual((ended.code, ended.out, ended.err, ended.broken), (3, "worked\n", "", ""))
            self.assertIn("CUPTI did not report which GPU a context belongs to; its kernels are shown as GPU 0's.", ended.notes)

    def test_matrix(self):
        todo = cases()
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            endings = list(pool.map(Case.run, todo))
        fired, reports = set(), 0
        for case, ended in zip(todo, endings):
            reports += ended.report is not None
            pair = (case.call, case.use)
            with self.subTest(str(case)):
                self.assertEqual(self.complaints(case, ended), [], ended.err)
                if case.program == "alone" and pair not in BY_CHANCE:
                    self.assertEqual(case.call in ended.fired, may_fire(*pair),
                                     "it did not come to this use" if may_fire(*pair) else "NEVER says that it does not come to this use")
                if case.call in ended.fired:
                    fired.add(pair)
        pairs = {(call, use) for call in symbols() for use in USES}
        hangs = [(case, ended) for case, ended in zip(todo, endings) if case.kind == "hang" and case.call in ended.fired]
        for use in USES:
            never = sorted(call for call in symbols() if (call, use) not in fired)
            print(f"failures: never came to use {use}: {', '.join(never) or 'none'}", file=sys.stderr)
        longest = max(ended.seconds - self.plain[case.program].seconds for case, ended in hangs)
        print(f"failures: {len(pairs)} pairs of call and use = {len(symbols())} symbols x {len(USES)} uses, of which {len(fired)} "
              f"fired; {len(todo)} runs, {len(hangs)} of them with a call that hung, at most {longest:.1f} s longer than the plain "
              f"run; {reports} left a report", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
