#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AlexNet's forward pass on an A100, from real counters and real times (convert_kineto_counters.py): no bytes were measured,
and three convolutions ran on tensor cores, which were not counted."""

import csv
import os
import re
import unittest

from gable_run import ReportTest, convert, need_reference_data, profile, work
from recording_reader import Reader

ROOT = ("step", "AlexNet")
TENSOR_LAYERS = {"conv3": ("features", "6", "conv3"), "conv4": ("features", "8", "conv4"),
                 "conv5": ("features", "10", "conv5")}
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
FC1 = ROOT + ("classifier", "1", "fc1")


def is_tensor_kernel(row):
    return "tf32" in row["symbol"]


class AlexnetReport(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.data = need_reference_data()
        cls.recording = convert("convert_kineto_counters.py", os.path.join(cls.data, "kineto-cupti-counters"),
                                work("alexnet-a100.jsonl"))
        # Two windows for each phase: the trace's two passes, once each.
        cls.report = profile(cls.recording, "alexnet-a100", "--step-range", "^step$", "--active", "2")

    def fc1(self):
        (row,) = [row for row in self.report.kernels_of(FC1).values() if "sgemm" in row["symbol"]]
        return row

    def test_sound(self):
        self.assert_sound(self.report)
        self.assert_nothing_lost(self.report)

    def test_fc1(self):
        row = self.fc1()
        self.assertEqual(row["flops"]["fp32"], 9667346432)
        self.assertEqual(row["flops"]["total"], 9667346432)
        self.assertGreaterEqual(row["time_ns"]["min"], 812000)
        self.assertLessEqual(row["time_ns"]["max"], 822000)
        self.assertEqual(row["time_ns"]["mean"], 817000)
        self.assertTrue(11.8e12 <= row["flops_per_s"] <= 11.9e12, row["flops_per_s"])
        (ceiling,) = [c for c in self.report.document["ceilings"] if c["name"] == "fp32" and c["clock"] == "boost"]
        self.assert_close(ceiling["value"], 19.5e12, "FP32 of an A100", 1e-3)

    def test_counters_are_the_traces(self):
        expected = []
        with open(os.path.join(self.data, "expected", "alexnet_a100_cupti_counter_flops.csv"), encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                expected.append(int(row["fp32_flops"]))
        found = sum(row["flops"]["fp32"] * row["launches"] for row in self.report.document["kernels"]
                    if row["flops"]["fp32"] is not None)
        tensor = sum(row["counters"]["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] +
                     row["counters"]["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"]
                     for row in self.report.document["kernels"] if is_tensor_kernel(row) and row["flops"]["fp32"] is None)
        self.assertEqual(found + tensor, sum(expected[1:]) / 2)  # the first launch precedes the two passes

    def test_no_bytes_anywhere(self):
        nothing = {"dram": None, "dram_read": None, "dram_write": None, "l2": None, "l1": None}
        for row in self.report.document["kernels"] + self.report.document["layers"]:
            self.assertEqual(row["bytes"], nothing)
            self.assertEqual(set(row["intensity"].values()), {None})
            self.assertIsNone(row["bytes_per_s"])
        self.assertIsNone(self.report.run["total"]["bytes_dram"])

    def test_tensor_core_work_is_inferred_and_never_idle(self):
        for name, path in TENSOR_LAYERS.items():
            (row,) = [row for row in self.report.kernels_of(ROOT + path).values() if is_tensor_kernel(row)]
            self.assertEqual(row["counters"][FFMA], 0, name)
            self.assertIsNone(row["flops"]["total"], name)
            self.assertIsNone(row["flops_per_s"], name)
            self.assertIsNone(row["roof"]["fraction"], name)
            self.assertEqual(row["roof"]["bound"], "unknown", name)
            self.assertIn("tensor_inferred", row["flags"], name)
            layer = self.report.layer(ROOT + path)
            self.assertGreater(layer["time_ns"]["total"], 250000, name)
            self.assertIsNone(layer["flops_per_s"], name)  # most of its time has no known FLOPs
            self.assertLess(layer["coverage"]["flops"], 0.5, name)
            self.assertEqual(layer["roof"]["bound"], "unknown", name)

    def test_the_table_shows_them_as_inferred(self):
        lines = self.report.table.splitlines()
        for name in TENSOR_LAYERS:
            (line,) = [line for line in lines if re.match(rf"step/\S*/{name} +forward ", line)]  # a row, not an advice
            self.assertRegex(line, r"forward +[0-9.]+ %  tensor\? +-  +-  unknown")
        self.assertTrue(any(line.startswith("tensor?: work on tensor cores, by a kernel's name") for line in lines), self.report.table)
        self.assertIn("at least", lines[1])  # the total is no total

    def test_nothing_else_is_inferred(self):
        flagged = [row["symbol"] for row in self.report.document["kernels"] if "tensor_inferred" in row["flags"]]
        self.assertEqual(len(flagged), 3)
        self.assertTrue(all("tf32" in symbol for symbol in flagged), flagged)

    def test_times_are_the_traces(self):
        steps = Reader(self.recording, "^step$").steps
        both = sum(launch.time_ns for step in steps[:2] for launch in step.launches)
        self.assert_close(self.report.layer((), "none")["time_ns"]["total"], both / 2, "mean of the two passes")


if __name__ == "__main__":
    unittest.main()
