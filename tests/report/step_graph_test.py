# SPDX-License-Identifier: Apache-2.0
"""How much shorter a step would be, on a playback GPU with two streams that wait for each other, as data-parallel training has: every
number is exact."""
import json
import os
import tempfile
import unittest

from small import SmallTest, gable_run

FORWARD_US, PRODUCT_US = 100, 1000
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
SMS, CLOCK = 132, 1980000000
PEAK = SMS * 128 * 2 * CLOCK  # FLOP/s at FP32 of a GH100


def kernel(name, time_us, flops, bytes):
    counters = {FFMA: flops // 2, "dram__sectors_read.sum": bytes // 32, "dram__sectors_write.sum": 0,
                "lts__t_sectors_srcunit_tex.sum": bytes // 32, "l1tex__t_bytes.sum": bytes}
    return {"kernel": name, "name": name, "grid": [264, 1, 1], "block": [256, 1, 1], "time_ns": time_us * 1000, "counters": counters}


def recording(reduce_us, steps, host_us=100, wait=False):
    lines = [{"gable_recording": 1, "origin": "generated", "note": "an allreduce beside a matrix product"},
             kernel("first", FORWARD_US, PEAK // 10**6 * FORWARD_US // 2, 32000),
             kernel("gemm", PRODUCT_US, PEAK // 10**6 * PRODUCT_US // 2, 32000), kernel(REDUCE, reduce_us, 0, 32000)]
    play = [{"op": "push", "name": "step"}, {"op": "idle", "ns": host_us * 1000},
            {"op": "push", "name": "in"}, {"op": "launch", "kernel": "first", "stream": 1}, {"op": "pop"},
            {"op": "event_record", "event": 1, "stream": 1}, {"op": "stream_wait", "event": 1, "stream": 2},
            {"op": "push", "name": "ddp"}, {"op": "launch", "kernel": REDUCE, "stream": 2}, {"op": "pop"},
            {"op": "push", "name": "mm"}, {"op": "launch", "kernel": "gemm", "stream": 1}, {"op": "pop"},
            {"op": "event_record", "event": 2, "stream": 2}, {"op": "stream_wait", "event": 2, "stream": 1},
            *([{"op": "sync", "stream": 1}] if wait else []), {"op": "pop"}]
    return "".join(json.dumps(line) + "\n" for line in lines + play * steps)


class StepGraph(SmallTest):
    def run_steps(self, *arguments, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ddp.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(recording(*arguments, **more))
            run = gable_run.run_profile(path, self.id(), "--step-range", "^step$")
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        self.assert_sound(run.report)
        graph = run.report.document["step"]["graph"]
        self.assertIsNotNone(graph, run.report.run["notes"])
        self.assertEqual((graph["explained"], graph["replay_error"], graph["violated_edges"]), (1, 0, 0), graph)
        return run.report, run.out + run.err

    def saving(self, report, name):
        (row,) = [row for row in report.document["layers"] if row["path"] == ["step", name]]
        return row["step_saving_ns"]["low"], row["step_saving_ns"]["high"]

    def test_communication_that_is_hidden_saves_nothing(self):
        report, shown = self.run_steps(900, 40)
        step = report.document["step"]
        self.assertEqual(step["wall_ns"]["mean"], 1100000)
        self.assertEqual((step["exposed"]["communication_ns"], step["exposed"]["saving_ns"]["communication"]), (0, {"low": 0, "high": 0}))
        self.assertEqual((step["critical_path"]["kernels_ns"], step["critical_path"]["communication_ns"]), (1100000, 0))
        self.assertEqual({row["host_path_ns"] for row in report.document["layers"]}, {0})
        self.assertNotIn("The host's part", shown)
        self.assertEqual(self.saving(report, "ddp"), (0, 0))
        (reduce,) = [row for row in report.document["kernels"] if row["name"] == REDUCE]
        self.assertGreater(reduce["saving_ns"], 800000, "of kernels' time")
        # At its roof the product takes half as long; then the allreduce is the limit, if the other ranks follow.
        self.assertEqual(self.saving(report, "mm")[0], 0)
        self.assertAlmostEqual(self.saving(report, "mm")[1], 100000, delta=2)
        self.assertIn("how much shorter a step would be", shown)
        self.assertNotIn("collectives", shown, "no advice on what is hidden")

    def test_communication_that_sticks_out_is_exposed(self):
        report, shown = self.run_steps(1400, 40)
        step = report.document["step"]
        self.assertEqual(step["wall_ns"]["mean"], 1500000)
        self.assertEqual(step["exposed"]["communication_ns"], 400000)
        self.assertEqual(step["exposed"]["saving_ns"]["communication"], {"low": 400000, "high": 400000})
        self.assertEqual(self.saving(report, "mm"), (0, 0))
        self.assertIn("Not hidden: communication 400 us (without it a step would be 400 us shorter)", shown)
        self.assertIn("up to 400 us", shown)

    def test_a_host_that_is_the_limit_leaves_kernels_nothing_to_save(self):
        report, shown = self.run_steps(900, 40, host_us=3000)
        step = report.document["step"]
        # What the program does until it launches the first layer, and all of the host's part has a layer.
        host = {tuple(row["path"]): row["host_path_ns"] for row in report.document["layers"]}
        self.assertAlmostEqual(host["step", "in"], 3000000, delta=10000)
        self.assertEqual(host[()], step["critical_path"]["host_ns"])
        self.assertEqual(host["step",], sum(ns for path, ns in host.items() if len(path) == 2))
        self.assertRegex(shown, r"\nThe host's part, by what it launches next: step/in 3\.\d\d ms")
        self.assertGreater(step["wall_ns"]["mean"], 3000000)
        self.assertEqual(self.saving(report, "mm"), (0, 0))
        self.assertGreater(step["critical_path"]["host_ns"], 0.95 * step["wall_ns"]["mean"])
        # Down to the product and the allreduce, if the other ranks become as fast.
        self.assertEqual(step["exposed"]["saving_ns"]["host"]["low"], 0)
        self.assertEqual((step["critical_path"]["waits_ns"], step["exposed"]["saving_ns"]["waits"]["high"]), (0, 0))
        self.assertNotIn("waits for the GPU it takes", shown)
        self.assertIn("is the host's work between launches, not", shown)
        self.assertAlmostEqual(step["exposed"]["saving_ns"]["host"]["high"], 1900000, delta=150000)

    def test_waiting_in_each_step_puts_host_and_kernels_in_a_row(self):
        report, shown = self.run_steps(900, 40, host_us=300, wait=True)
        step = report.document["step"]
        self.assertGreater(step["wall_ns"]["mean"], 1400000)
        self.assertEqual(step["critical_path"]["kernels_ns"], 1100000)
        self.assertAlmostEqual(step["exposed"]["saving_ns"]["host"]["high"], 300000, delta=20000)
        # The same time is the waits': without them the host would be ahead, and its own work hidden.
        self.assertAlmostEqual(step["critical_path"]["waits_ns"], 300000, delta=40000)
        self.assertLessEqual(step["critical_path"]["waits_ns"], step["critical_path"]["host_ns"])
        self.assertAlmostEqual(step["exposed"]["saving_ns"]["waits"]["high"], 300000, delta=60000)
        self.assertIn("After waits for the GPU it takes the host", shown)

    def test_a_program_of_few_steps_says_that_nothing_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ddp.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(recording(900, 3))
            run = gable_run.run_profile(path, self.id(), "--step-range", "^step$")
        self.assertIsNone(run.report.document["step"]["graph"])
        self.assertTrue(all(row["step_saving_ns"] is None and row["path_ns"] is None for row in run.report.document["layers"]))


if __name__ == "__main__":
    unittest.main()
