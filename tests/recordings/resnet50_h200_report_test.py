#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a real H200 counted in training steps of ResNet-50 (torchvision's, FP32, batch 32), played back. The expected numbers are
those of the report that was written there, of 41 steps."""

import os
import unittest

from gable_run import ReportTest, profile

RECORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "recordings", "resnet50-h200.jsonl")
FLOPS = 709627415145
DRAM_BYTES = 31128500294
KERNEL_NS = 40798583
BUSY_NS = 40508119
# By shapes: three times the forward's, less conv1's gradient of its input, which nobody needs.
BY_FORMULA = 32 * (3 * 8178368512 - 2 * 64 * 3 * 7 * 7 * 112 * 112)


class Resnet50H200(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.report = profile(RECORDING, "resnet50-h200")
        cls.steps = cls.report.run["steps"]["seen"]

    def test_sound(self):
        self.assert_sound(self.report)
        self.assert_nothing_lost(self.report)
        self.assertEqual(self.report.document["devices"][0]["name"], "NVIDIA H200")

    def test_a_step_has_what_the_gpu_counted(self):
        total, step = self.report.run["total"], self.report.document["step"]
        self.assertEqual(total["flops"], FLOPS * self.steps)
        self.assert_close(total["bytes_dram"] / self.steps, DRAM_BYTES, "DRAM bytes", 2e-3)
        self.assert_close(total["gpu_time_ns"] / self.steps, KERNEL_NS, "kernels' time", 1e-6)
        self.assert_close(step["busy_ns"], BUSY_NS, "time with a kernel", 2e-3)

    def test_cudnn_needed_less_than_the_formula_says(self):
        self.assertEqual(round(FLOPS / BY_FORMULA, 3), 0.913)

    def test_every_convolution_has_flops_bytes_and_time_in_both_directions(self):
        self.assertEqual((len(self.report.document["layers"]), len(self.report.document["kernels"])), (306, 581))
        convolutions = [row for row in self.report.document["layers"] if "conv" in "".join(row["path"][-1:]) or "downsample" in row["path"][-2:-1]]
        self.assertEqual(len(convolutions), 2 * (53 + 4))  # with the batch norms of the four shortcuts
        for row in convolutions:
            self.assertGreater(min(row["flops"]["total"], row["bytes"]["dram"], row["time_ns"]["total"]), 0, row["path"])

    def test_pushed_ranges_are_no_reason_to_doubt_times(self):
        kernels = self.report.document["kernels"]
        self.assertEqual({row["time_source"] for row in kernels}, {"time"})
        doubted = [row for row in kernels if "times_differ" in row["flags"]]
        self.assertLess(len(doubted), 30, "a pushed range is up to 64 us longer than its kernel")


if __name__ == "__main__":
    unittest.main()
