#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Six real training steps of ResNet-50 on a V100 (convert_kineto.py): 8868 kernels with their real times, no counters. The
expected numbers come from the trace itself and from tables that other tools made of it."""

import csv
import gzip
import json
import os
import unittest

from gable_run import ReportTest, convert, need_reference_data, profile, work

TRACE = "resnet50_v100_b32_nw4_steps5-10.pt.trace.json.gz"
STEP = "ProfilerStep##"  # numbers in the name of a step are cut


def trace_steps(data):
    """Kernel times (ns) of each step, by the time of the call that launched them: straight from the trace."""
    with gzip.open(os.path.join(data, "kineto", TRACE), "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    calls = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") == "Runtime"}
    steps = sorted((e for e in events if e.get("name", "").startswith("ProfilerStep")), key=lambda e: e["ts"])
    kernels = [(calls[e["args"]["correlation"]], e["dur"] * 1000) for e in events if e.get("cat") == "Kernel"]
    return [[ns for ts, ns in kernels if s["ts"] <= ts < s["ts"] + s["dur"]] for s in steps]


class Resnet50V100(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.data = need_reference_data()
        cls.recording = convert("convert_kineto.py", os.path.join(cls.data, "kineto"), work("resnet50-v100.jsonl"))
        cls.report = cls.run_gable("resnet50-v100", wait=0, active=6)
        cls.steps = trace_steps(cls.data)

    @classmethod
    def run_gable(cls, name, wait, active):
        return profile(cls.recording, name, "--step-range", "^ProfilerStep", "--phases", "time", "--wait", str(wait),
                       "--warmup", "0", "--active", str(active))

    def test_sound(self):
        self.assert_sound(self.report)
        self.assert_nothing_lost(self.report)
        self.assertEqual(self.report.run["steps"]["time"], 6)

    def test_every_kernel_is_there(self):
        kernels = self.report.document["kernels"]
        self.assertEqual(sum(row["samples"]["time"] for row in kernels), 8868)
        self.assertEqual(sum(row["launches"] for row in kernels), 1478)

    def test_gpu_time_is_the_traces(self):
        self.assertEqual([len(step) for step in self.steps], [1478] * 6)
        total = sum(row["time_ns"]["total"] for row in self.report.document["kernels"])
        self.assert_close(total, sum(map(sum, self.steps)) / 6, "GPU time of a step")

    def test_every_single_step(self):
        for number, step in enumerate(self.steps):
            report = self.run_gable(f"resnet50-v100-step{number}", wait=number, active=1)
            kernels = report.document["kernels"]
            self.assertEqual(sum(row["time_ns"]["total"] for row in kernels), sum(step), f"step {number}")
            self.assertEqual(report.layer((), "none")["time_ns"]["total"], sum(step), f"step {number}")
            self.assertEqual(sum(row["launches"] for row in kernels), 1478, f"step {number}")

    def test_53_convolutions(self):
        with open(os.path.join(self.data, "expected", "resnet50_v100_b32_nw4__conv_fwd_per_layer.csv"),
                  encoding="utf-8") as rows:
            expected = {row["layer"]: row for row in csv.DictReader(rows)}
        self.assertEqual(len(expected), 53)
        for name, want in expected.items():
            layer = self.report.layer((STEP, "ResNet", *name.split(".")))
            self.assertEqual(layer["launches"], int(want["kernels_step5"]), name)
            self.assertAlmostEqual(layer["time_ns"]["total"] / 1000, float(want["time_us_mean_6steps"]), delta=0.0051, msg=name)

    def test_backward_runs_on_autograds_thread(self):
        for name in ("conv1", "layer1.0.conv1", "layer4.2.conv3", "fc"):
            self.assertGreater(self.report.layer(("ResNet", *name.split(".")), "backward")["time_ns"]["total"], 0, name)

    def test_no_work_is_invented(self):
        for row in self.report.document["kernels"] + self.report.document["layers"]:
            self.assertIsNone(row["flops"]["total"])
            self.assertIsNone(row["bytes"]["dram"])
            self.assertIn(row["roof"]["bound"], ("unknown", "overhead"))  # one that is shorter than its launch needs no counter
            self.assertIsNone(row["roof"]["fraction"])
        self.assertIsNone(self.report.run["total"]["flops"])


if __name__ == "__main__":
    unittest.main()
