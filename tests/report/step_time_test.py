# SPDX-License-Identifier: Apache-2.0
"""How long a step takes on the GPU, in whichever way a loop waits for it: never, now and then, each time, on several streams. The
clock is the playback GPU's, so that every number is exact."""
import json
import os
import tempfile
import unittest

from small import SmallTest, gable_run

KERNELS = 20  # of 1 ms in a step
CALL_US = 2  # of a launch, on the host
HOST_US = 1000  # the host is busy for so long in a step
WORK_US = 1000
FLOPS = 132 * 128 * 2 * 1980000000 // 1000 * 6 // 10  # of a launch: 60 % of the FP32 roof of a GH100 with 132 SMs


def recording(play):
    """A loop of steps, whose lines `play` gives."""
    counters = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": FLOPS // 2, "dram__sectors_read.sum": 1000,
                "dram__sectors_write.sum": 500, "lts__t_sectors_srcunit_tex.sum": 4000, "l1tex__t_bytes.sum": 256000}
    lines = [{"gable_recording": 1, "origin": "generated", "note": "a loop that waits in its own way"},
             {"kernel": "work", "name": "work", "grid": [264, 1, 1], "block": [256, 1, 1], "time_ns": WORK_US * 1000, "counters": counters},
             {"kernel": "side", "name": "side", "grid": [264, 1, 1], "block": [256, 1, 1], "time_ns": 900 * 1000, "counters": counters}]
    return "".join(json.dumps(line) + "\n" for line in lines + play)


def launches(stream=0, kernel="work", count=KERNELS):
    return [{"op": "launch", "kernel": kernel, "stream": stream}] * count


def step(*work, wait=False):
    busy = [{"op": "idle", "ns": (HOST_US - CALL_US * len(work)) * 1000}]
    return [{"op": "push", "name": "step"}, *busy, *work, *([{"op": "sync"}] if wait else []), {"op": "pop"}]


class StepTime(SmallTest):
    def run_steps(self, play, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(recording(play))
            run = gable_run.run_profile(path, self.id(), "--step-range", "^step$", *options)
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        self.assert_sound(run.report)
        return run.report, run.err

    def assert_step(self, report, wall_us, idle_us, host_us):
        found = report.document["step"]
        self.assertEqual((found["wall_ns"]["mean"], found["idle_ns"], found["host_ns"]["mean"]),
                         (wall_us * 1000, idle_us * 1000, host_us * 1000))
        # What a step has of FLOPs fits into it.
        self.assertAlmostEqual(found["hfu"], 0.6 * KERNELS * WORK_US / wall_us, places=6)
        # Where the host is ahead, a window that is taken waits for steps before it, and nothing tells what is its own.
        slowdown = report.run["overhead"]["slowdown"]
        self.assertLessEqual({"hw:1", "time"}, slowdown.keys())
        for phase, times in slowdown.items():
            if host_us < wall_us:
                self.assertIsNone(times, phase)
            else:
                self.assertLess(times, 1.2, phase)

    def test_a_loop_that_waits_in_every_step(self):
        """As .item() does: the next step's host part passes on an idle GPU."""
        report, table = self.run_steps(step(*launches(), wait=True) * 30)
        gpu = KERNELS * WORK_US
        gap = HOST_US - CALL_US * KERNELS + CALL_US  # until the first launch, and its call
        self.assert_step(report, gpu + gap, gap, gpu + gap)
        self.assertIn("A step: 21.0 ms, GPU busy 20.0 ms, idle 962 us", table)

    def test_a_loop_that_never_waits(self):
        report, table = self.run_steps(step(*launches()) * 30)
        self.assert_step(report, KERNELS * WORK_US, 0, HOST_US)
        self.assertIn("A step: 20.0 ms, GPU busy 20.0 ms, host 1.00 ms", table)

    def test_a_loop_that_waits_every_ten_steps(self):
        """Windows are the 9th step to the 11th, or later ones: one border in them is a wait."""
        ten = step(*launches()) * 9 + step(*launches(), wait=True)
        report, _ = self.run_steps(ten * 3)
        found = report.document["step"]
        gap = HOST_US - CALL_US * KERNELS + CALL_US
        self.assertIn(found["wall_ns"]["mean"], (KERNELS * WORK_US * 1000, (KERNELS * WORK_US + gap / 2) * 1000))
        self.assertLessEqual(found["hfu"], 0.6)

    def test_the_step_that_a_counted_window_reaches_into(self):
        report, _ = self.run_steps(step(*launches()) * 30, "--active", "1")
        self.assert_steps(report, time=1)
        self.assert_step(report, KERNELS * WORK_US, 0, HOST_US)

    def test_a_program_that_ends_before_the_next_step(self):
        report, table = self.run_steps(step(*launches()) * 10)  # CUDA starts within the first
        self.assert_steps(report, time=1)
        self.assertIsNone(report.document["step"]["wall_ns"]["mean"])
        self.assertIsNone(report.document["step"]["hfu"])
        self.assertIn("A step: unknown on the GPU, busy 20.0 ms, host 1.00 ms", table)
        self.assert_noted(report, "How long a step takes on the GPU is unknown: it lasts until the next step's first kernel, and no two consecutive steps were timed. Let the program run for one more step.")

    def test_several_streams(self):
        """On a second stream each step has a kernel that runs beside the others."""
        work = launches(kernel="side", stream=1, count=1) + launches()
        report, _ = self.run_steps(step(*work) * 30)
        found = report.document["step"]
        self.assertEqual((found["wall_ns"]["mean"], found["idle_ns"]), (KERNELS * WORK_US * 1000, 0))

    def test_a_loop_that_the_host_holds_up(self):
        """Kernels of 1 ms, one a step, and a host that takes 3 ms for each."""
        play = [{"op": "push", "name": "step"}, {"op": "idle", "ns": 2998000}, *launches(count=1), {"op": "pop"}]
        report, _ = self.run_steps(play * 30)
        found = report.document["step"]
        self.assertEqual((found["wall_ns"]["mean"], found["idle_ns"], found["host_ns"]["mean"]), (3000000, 2000000, 3000000))


if __name__ == "__main__":
    unittest.main()
