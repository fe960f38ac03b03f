# SPDX-License-Identifier: Apache-2.0
"""What the tests of small recordings share: how they are run, and what the two kernels of most of them do."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "recordings"))

import gable_run  # noqa: E402

STEPS = ("--step-range", "^step$", "--active", "1")
FOLDER = os.path.join(gable_run.RECORDINGS, "small")

# By hand, from the recordings' kernel lines: FLOP, bytes of DRAM, L2 and L1, ns.
CONV = {"fp32": 2 * 67584000, "dram": 32 * 1500, "l2": 32 * 4000, "l1": 256000, "time": 40000}
RELU = {"fp32": 16384, "dram": 32 * 8192, "l2": 32 * 8192, "l1": 262144, "time": 10000}


# How much longer than its kernel the playback GPU makes a pushed range, as an H200 does in PyTorch.
PUSHED_NS = 64000


def path_of(name):
    return os.path.join(FOLDER, name + ".jsonl")


def longer(name, times=100):
    """A copy of the recording whose kernels take that many times as long, whose path is the answer."""
    lines = []
    for line in gable_run.read_text(path_of(name)).splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            for fields in (entry, entry.get("counters", {})):
                for field in ("time_ns", "gpu__time_duration.sum"):
                    if isinstance(fields, dict) and field in fields:
                        fields[field] *= times
            line = json.dumps(entry)
        lines.append(line)
    path = gable_run.work(name + "-longer.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


class SmallTest(gable_run.ReportTest):
    def gable(self, name, *options, environment=(), code=0, out="", broken="", timeout=300):
        """Runs a recording; exit code and output must be the program's own, and no rule of CUPTI may be broken."""
        path = name if os.path.isabs(name) else path_of(name)
        run = gable_run.run_profile(path, os.path.basename(name), *(options or STEPS), environment=environment, timeout=timeout)
        self.assertEqual(run.code, code, run.err)
        self.assertEqual(run.out, out)
        self.assertEqual(run.violations, broken)
        if run.report is not None:
            self.assert_sound(run.report)
        return run

    def report(self, name, *options, **more):
        run = self.gable(name, *options, **more)
        self.assertIsNotNone(run.report, run.err)
        return run.report

    def assert_work(self, row, times, *kernels, timed=True):
        """Work and time of a layer: `times` of each of the kernels."""
        for key in ("fp32",):
            self.assertEqual(row["flops"][key], times * sum(kernel[key] for kernel in kernels), row)
        for key in ("dram", "l2", "l1"):
            self.assertEqual(row["bytes"][key], times * sum(kernel[key] for kernel in kernels), row)
        if not timed:  # the counted durations are of pushed ranges, and short
            self.assertEqual((row["time_ns"]["total"], row["time_source"], row["coverage"]["time"]), (None, None, 0), row)
            return
        self.assertEqual(row["time_ns"]["total"], times * sum(kernel["time"] for kernel in kernels), row)
        self.assertEqual(row["coverage"], {"time": 1, "flops": 1, "bytes": 1})

    def assert_plain_step(self, report, above=("step",), timed=True):
        """A step of one conv and one relu, each in its layer."""
        self.assert_work(report.layer(above + ("conv",), "none"), 1, CONV, timed=timed)
        self.assert_work(report.layer(above + ("relu",), "none"), 1, RELU, timed=timed)
        self.assert_work(report.layer((), "none"), 1, CONV, RELU, timed=timed)
        self.assertEqual(report.layer((), "none")["launches"], 2)

    def assert_steps(self, report, **expected):
        found = report.run["steps"]
        self.assertEqual({key: found[key] for key in expected}, expected)

    def assert_lost(self, report, **expected):
        self.assertEqual({kind: n for kind, n in report.run["lost"].items() if n}, expected)

    def assert_said(self, run, sentence):
        """On standard error, and in the report where there is one."""
        self.assertIn(sentence, run.err)
        if run.report is not None:
            self.assert_noted(run.report, sentence)

    def assert_noted(self, report, sentence):
        self.assertTrue(any(sentence in note for note in report.run["notes"]), report.run["notes"])
