#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The committed recording resnet50-train.jsonl itself, without Gable: the generator reproduces it, and its numbers are the
published ones. Needs no build."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import generate_resnet50  # noqa: E402
from published_resnet50 import BATCH, conv_flops, forward_flops, minimum_bytes, stage_flops  # noqa: E402
from recording_reader import Reader  # noqa: E402

RECORDING = os.path.join(HERE, "..", "data", "recordings", "resnet50-train.jsonl")
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"


def is_gemm(launch):
    return launch.path[-1] == "fc" or "conv" in launch.path[-1] or launch.path[-2:] == ("downsample", "0")


class Resnet50Recording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording = Reader(RECORDING, "step")
        cls.step = cls.recording.steps[-1]

    def flops_by_layer(self, direction):
        flops = {}
        for launch in self.step.launches:
            if launch.direction == direction and FFMA in launch.counters and is_gemm(launch):
                layer = ".".join(launch.path[2:])  # without step and ResNet
                flops[layer] = flops.get(layer, 0) + 2 * launch.counters[FFMA]
        return flops

    def test_generator_reproduces_the_file(self):
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as again:
            self.assertEqual(generate_resnet50.main([again.name]), 0)
            with open(again.name, "rb") as new, open(RECORDING, "rb") as committed:
                self.assertTrue(new.read() == committed.read(),
                                "generate_resnet50.py writes another file; run it on " + os.path.relpath(RECORDING))

    def test_is_small_and_says_what_it_is(self):
        self.assertLess(os.path.getsize(RECORDING), 600 * 1024)
        self.assertEqual(self.recording.header["origin"], "generated")

    def test_forty_steps_of_which_the_first_two_differ(self):
        sequences = [step.sequence for step in self.recording.steps]
        self.assertEqual(len(sequences), 40)
        self.assertNotEqual(sequences[0], sequences[1])
        self.assertNotIn(sequences[9], sequences[:2])
        self.assertTrue(all(sequence == sequences[9] for sequence in sequences[2:]))
        self.assertEqual(self.recording.outside.launches, [])

    def test_forward_flops_layer_by_layer(self):
        flops = self.flops_by_layer("forward")
        self.assertEqual(len(flops), 54)
        self.assertEqual(flops, {layer: BATCH * n for layer, n in conv_flops().items()})
        self.assertEqual(sum(flops.values()), BATCH * forward_flops())
        for stage, total in stage_flops().items():
            self.assertEqual(sum(n for layer, n in flops.items() if layer.split(".")[0] == stage), BATCH * total, stage)

    def test_backward_is_twice_forward_without_the_images_gradient(self):
        flops = self.flops_by_layer("backward")
        forward = conv_flops()
        self.assertEqual(flops.pop("conv1"), BATCH * forward.pop("conv1"))
        self.assertEqual(flops, {layer: 2 * BATCH * n for layer, n in forward.items()})

    def test_dram_bytes_are_inputs_weights_and_outputs(self):
        expected = minimum_bytes()
        for launch in self.step.launches:
            layer = ".".join(launch.path[2:])
            if launch.direction == "forward" and layer in expected:
                sectors = launch.counters["dram__sectors_read.sum"] + launch.counters["dram__sectors_write.sum"]
                self.assertEqual(32 * sectors, expected.pop(layer), layer)
        self.assertEqual(expected, {})

    def test_two_threads(self):
        self.assertEqual({launch.thread for launch in self.step.launches if launch.direction == "forward"}, {0})
        self.assertEqual({launch.thread for launch in self.step.launches if launch.direction == "backward"}, {1})

    def test_some_layers_are_held_by_latency(self):
        slow = [launch for launch in self.step.launches
                if launch.time_ns > 100000 and 2 * launch.counters.get(FFMA, 0) / launch.time_ns < 0.25 * 66908]
        self.assertGreaterEqual(len(slow), 4)


if __name__ == "__main__":
    unittest.main()
