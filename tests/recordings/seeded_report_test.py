#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of a recording in which no two launches are alike (generate_seeded.py): every number of every kernel and layer
must be the mean over exactly the steps that its phase measured. What is expected comes from the recording file, not from
the generator. Counters and times are whole numbers whose sums stay far below 2^53, so a mean is the same to the last digit
in whatever order they are added; layers' sums of means are not, and may differ by 1e-12."""

import unittest

import generate_seeded
from expected_report import (DRAM_READ, DRAM_WRITE, FADD, FFMA, FMUL, L1_BYTES, L2_SECTORS, DADD, DFMA, DMUL,
                             counter_means, fp32, fp64, layer_sums, launches_per_step, times, windows)
from gable_run import ReportTest, profile, work
from recording_reader import Reader

IN_EVERY_PASS = (DRAM_READ, DRAM_WRITE, L2_SECTORS)
FLOP_COUNTERS = (FADD, FMUL, FFMA, DADD, DMUL, DFMA)
GROUPS = 4  # hardware passes of a GH100


class SeededReport(ReportTest):
    @classmethod
    def setUpClass(cls):
        recording = work("seeded.jsonl")
        if generate_seeded.main([recording]) != 0:
            raise AssertionError("generate_seeded.py failed")
        cls.report = profile(recording, "seeded", "--step-range", "^step$", "--active", "3")
        cls.windows = windows(Reader(recording, "^step$").steps, GROUPS)
        cls.kernels = cls.report.kernels

    def test_sound_and_complete(self):
        self.assert_sound(self.report)
        self.assert_nothing_lost(self.report)
        steps = self.report.run["steps"]
        self.assertEqual((steps["seen"], steps["hw"], steps["flops"], steps["time"]), (self.windows.seen, 3 * GROUPS, 3, 3))

    def test_same_kernels(self):
        self.assertEqual(set(self.kernels), set(times(self.windows.time)))

    def test_times(self):
        expected = times(self.windows.time)
        for key, row in self.kernels.items():
            found = row["time_ns"]
            want = expected[key]
            self.assertEqual((found["mean"], found["median"], found["min"], found["max"], found["total"]),
                             (want.mean, want.median, want.min, want.max, want.total), key)
            self.assert_close(found["stddev"], want.stddev, f"standard deviation of {key}", 1e-9)

    def test_counters_of_the_flops_phase(self):
        expected = counter_means(self.windows.flops, FLOP_COUNTERS)
        for key, row in self.kernels.items():
            for metric in FLOP_COUNTERS:
                self.assertEqual(row["counters"][metric], expected[key][metric], (metric, key))
            self.assert_close(row["flops"]["fp32"], fp32(expected[key]), key)
            self.assert_close(row["flops"]["fp64"], fp64(expected[key]), key)

    def test_counters_that_every_hardware_pass_has(self):
        expected = counter_means(self.windows.all_hw, IN_EVERY_PASS)
        for key, row in self.kernels.items():
            for metric in IN_EVERY_PASS:
                self.assertEqual(row["counters"][metric], expected[key][metric], (metric, key))
            self.assert_close(row["bytes"]["dram_read"], 32 * expected[key][DRAM_READ], key)
            self.assert_close(row["bytes"]["dram_write"], 32 * expected[key][DRAM_WRITE], key)
            self.assert_close(row["bytes"]["l2"], 32 * expected[key][L2_SECTORS], key)

    def test_counters_that_one_hardware_pass_has(self):
        """Which pass that is, is the planner's choice; but it must be one and the same for all kernels."""
        metrics = [L1_BYTES] + [m for m in generate_seeded.EXTRA if m.startswith("sm__ops_path")]
        passes = [counter_means(group, metrics) for group in self.windows.hw]
        checked = 0
        for metric in metrics:
            if not any(metric in row["counters"] for row in self.kernels.values()):
                continue  # collected in parts under other names
            found = {key: row["counters"][metric] for key, row in self.kernels.items()}
            matching = [number for number, means in enumerate(passes, 1)
                        if all(means[key][metric] == value for key, value in found.items())]
            self.assertEqual(len(matching), 1, f"{metric} comes from the passes {matching}")
            checked += 1
        self.assertGreaterEqual(checked, 3)

    def test_launches_and_samples(self):
        per_step = launches_per_step(self.windows.time)
        for key, row in self.kernels.items():
            self.assertEqual(row["launches"], per_step[key], key)
            self.assertEqual(row["samples"], {"hw": 3 * GROUPS * per_step[key], "flops": 3 * per_step[key],
                                              "time": 3 * per_step[key]}, key)

    def test_layers(self):
        expected = layer_sums(self.windows.time, lambda launch: launch.time_ns)
        flops = layer_sums(self.windows.flops, lambda launch: fp32(launch.counters))
        dram = layer_sums(self.windows.all_hw, lambda launch: 32 * (launch.counters.get(DRAM_READ, 0) +
                                                                    launch.counters.get(DRAM_WRITE, 0)))
        self.assertEqual(set(self.report.layers), set(expected))
        for key, row in self.report.layers.items():
            self.assert_close(row["time_ns"]["total"], expected[key], f"time of {key}")
            self.assert_close(row["flops"]["fp32"], flops[key], f"FLOPs of {key}")
            self.assert_close(row["bytes"]["dram"], dram[key], f"bytes of {key}")


if __name__ == "__main__":
    unittest.main()
