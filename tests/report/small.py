# SPDX-License-Identifier: Apache-2.0
"""What the tests of small recordings share: how they are run, and what the two kernels of most of them do."""

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


def path_of(name):
    return os.path.join(FOLDER, name + ".jsonl")


class SmallTest(gable_run.ReportTest):
    def gable(self, name, *options, environment=(), code=0, out="", broken="", timeout=300):
        """Runs a recording; exit code and output must be the program's own, and no rule of CUPTI may be broken."""
        run = gable_run.run_profile(path_of(name), name, *(options or STEPS), environment=environment, timeout=timeout)
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

    def assert_work(self, row, times, *kernels):
        """Work and time of a layer: `times` of each of the kernels."""
        for key in ("fp32",):
            self.assertEqual(row["flops"][key], times * sum(kernel[key] for kernel in kernels), row)
        for key in ("dram", "l2", "l1"):
            self.assertEqual(row["bytes"][key], times * sum(kernel[key] for kernel in kernels), row)
        self.assertEqual(row["time_ns"]["total"], times * sum(kernel["time"] for kernel in kernels), row)
        self.assertEqual(row["coverage"], {"time": 1, "flops": 1, "bytes": 1})

    def assert_plain_step(self, report, above=("step",)):
        """A step of one conv and one relu, each in its layer."""
        self.assert_work(report.layer(above + ("conv",), "none"), 1, CONV)
        self.assert_work(report.layer(above + ("relu",), "none"), 1, RELU)
        self.assert_work(report.layer((), "none"), 1, CONV, RELU)
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
