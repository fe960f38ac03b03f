#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of resnet50-train with --active 1: one window for each phase. All steps that are measured are alike, so every
number must be the recording's own; convolutions and fc are also compared with the published ones."""

import os
import unittest

from expected_report import dram, fp32, layer_sums, launches_per_step, times, windows
from gable_run import RECORDINGS, ReportTest, profile
from published_resnet50 import BATCH, conv_flops, forward_backward_flops, forward_flops, minimum_bytes, stage_flops
from recording_reader import Reader

RECORDING = os.path.join(RECORDINGS, "resnet50-train.jsonl")
ROOT = ("step", "ResNet")
GROUPS = 4  # hardware passes of a GH100
COPIES = {"h2d": "host_to_device", "d2h": "device_to_host", "d2d": "device_to_device", "memset": "memset"}


def path_of(dotted):
    return ROOT + tuple(dotted.split("."))


class Resnet50Report(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.report = profile(RECORDING, "resnet50-train", "--step-range", "^step$", "--active", "1")
        steps = Reader(RECORDING, "^step$").steps
        cls.windows = windows(steps, GROUPS, active=1)
        cls.steady = cls.windows.time

    def test_sound_and_complete(self):
        self.assert_sound(self.report)
        self.assert_nothing_lost(self.report)
        self.assertTrue(self.report.run["complete"])
        self.assertEqual(self.report.run["unit"], "step")
        steps = self.report.run["steps"]
        self.assertEqual((steps["seen"], steps["hw"], steps["flops"], steps["time"]), (self.windows.seen, GROUPS, 1, 1))
        self.assertEqual(len(self.windows.time), 1)

    def test_forward_flops_of_every_layer_are_the_published_ones(self):
        total = 0
        for dotted, flops in conv_flops().items():
            row = self.report.layer(path_of(dotted))
            self.assertEqual(row["flops"]["fp32"], BATCH * flops, dotted)
            self.assertEqual(row["flops"]["total"], BATCH * flops, dotted)
            self.assertEqual(row["coverage"]["flops"], 1, dotted)
            total += row["flops"]["total"]
        self.assertEqual(total, BATCH * forward_flops())
        for stage, flops in stage_flops().items():
            rows = [self.report.layer(path_of(d)) for d in conv_flops() if d.split(".")[0] == stage]
            self.assertEqual(sum(row["flops"]["total"] for row in rows), BATCH * flops, stage)

    def test_backward_flops(self):
        total = sum(self.report.layer(path_of(d), "backward")["flops"]["total"] for d in conv_flops() if d != "fc")
        fc = self.report.layer(path_of("fc"), "backward")["flops"]["total"]
        self.assertEqual(fc, 2 * BATCH * conv_flops()["fc"] + BATCH * 1000)  # the bias's gradient is a sum of its own
        self.assertEqual(total + fc - BATCH * 1000, BATCH * (forward_backward_flops() - forward_flops()))

    def test_dram_bytes_of_convolutions(self):
        for dotted, size in minimum_bytes().items():
            row = self.report.layer(path_of(dotted))
            self.assertEqual(row["bytes"]["dram"], size, dotted)
            self.assertEqual(row["bytes"]["dram"], row["bytes"]["dram_read"] + row["bytes"]["dram_write"], dotted)
            self.assertGreaterEqual(row["bytes"]["l2"], size, dotted)
            self.assertGreaterEqual(row["bytes"]["l1"], row["bytes"]["l2"], dotted)
            self.assert_close(row["intensity"]["dram"], row["flops"]["total"] / size, dotted)

    def test_every_layer_sums_what_is_in_it(self):
        for what, value, found in (
                ("launches", lambda launch: 1, lambda row: row["launches"]),
                ("time", lambda launch: launch.time_ns, lambda row: row["time_ns"]["total"]),
                ("fp32", lambda launch: fp32(launch.counters), lambda row: row["flops"]["fp32"]),
                ("dram", lambda launch: dram(launch.counters), lambda row: row["bytes"]["dram"])):
            expected = layer_sums(self.steady, value)
            self.assertEqual({key: found(row) for key, row in self.report.layers.items()}, expected, what)

    def test_every_kernel_has_the_recordings_numbers(self):
        expected = times(self.steady)
        per_step = launches_per_step(self.steady)
        kernels = self.report.kernels
        self.assertEqual(set(kernels), set(expected))
        for key, row in kernels.items():
            self.assertEqual(row["time_ns"]["mean"], expected[key].mean, key)
            self.assertEqual(row["time_ns"]["total"], expected[key].total, key)
            self.assertEqual(row["launches"], per_step[key], key)

    def test_directions(self):
        launches = {}
        for row in self.report.document["kernels"]:
            launches[row["direction"]] = launches.get(row["direction"], 0) + row["launches"]
        expected = {}
        for launch in self.steady[0].launches:
            expected[launch.direction] = expected.get(launch.direction, 0) + 1
        self.assertEqual(launches, expected)
        self.assertGreater(expected["backward"], expected["forward"])

    def test_whole_run(self):
        """A step's mean times the steps that were seen."""
        total, seen = self.report.run["total"], self.windows.seen
        steady = self.steady[0]
        flops = seen * sum(fp32(launch.counters) for launch in steady.launches)
        size = seen * sum(dram(launch.counters) for launch in steady.launches)
        ns = seen * sum(launch.time_ns for launch in steady.launches)
        self.assertEqual((total["flops"], total["bytes_dram"], total["gpu_time_ns"]), (flops, size, ns))
        self.assert_close(total["flops_per_s"], flops / ns * 1e9, "FLOP/s")
        self.assertEqual(total["basis"], "extrapolated")
        self.assertIn(f"1 of {seen} steps", total["basis_note"])
        self.assertIn("(extrapolated)", self.report.table.splitlines()[1])

    def test_copies(self):
        found = sorted((row["kind"], row["count"], row["bytes"], row["time_ns"]) for row in self.report.document["copies"])
        expected = {}
        for kind, path, size, ns in self.steady[0].copies:
            row = expected.setdefault((kind, path), [0, 0, 0])
            row[0] += 1
            row[1] += size
            row[2] += ns
        self.assertEqual(found, sorted((COPIES[kind], *row) for (kind, _), row in expected.items()))

    def test_bounds(self):
        # 28 blocks for 132 multiprocessors: too little work in flight.
        row = self.report.layer(path_of("layer4.1.conv1"))
        self.assertEqual(row["roof"]["bound"], "small")
        self.assertLess(row["roof"]["fraction"], 0.25)
        row = self.report.layer(path_of("layer1.0.conv2"))
        self.assertEqual((row["roof"]["bound"], row["roof"]["ceiling"]), ("compute", "fp32"))
        row = self.report.layer(path_of("bn1"))
        self.assertEqual((row["roof"]["bound"], row["roof"]["level"]), ("memory", "dram"))
        for (path, direction), row in self.report.layers.items():
            if row["roof"]["fraction"] is not None:
                self.assertLessEqual(row["roof"]["fraction"], 1, path)

    def test_moves_with_hfma2_are_no_16_bit_work(self):
        (row,) = self.report.kernels_of(ROOT + ("maxpool",)).values()
        self.assertGreater(row["counters"]["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"], 0)
        self.assertIsNone(row["flops"]["fp16"])
        self.assertIn("hfma_moves", row["flags"])


if __name__ == "__main__":
    unittest.main()
