# SPDX-License-Identifier: Apache-2.0
"""Threads that launch as they please: no window is lost, no rule of CUPTI's is broken, and no wait ends by its timeout.

What the scheduler makes of a run differs from run to run, so each program runs several times:
GABLE_HAZARD_ROUNDS, 5 unless told otherwise."""
import os
import unittest

from hazards_test import HAZARD, run_command

ROUNDS = int(os.environ.get("GABLE_HAZARD_ROUNDS", "5"))
LAUNCHES = ["--window", "20", "--active", "3"]
STEPS = ["--step-range", "^step$", "--active", "3"]
WINDOWS = (12, 3, 3)  # of hardware counters, four to a round, of FLOPs and of times


class Threads(unittest.TestCase):
    def check(self, program, threads, options):
        for number in range(ROUNDS):
            with self.subTest(round=number):
                run = run_command([HAZARD, program, str(threads)], options)
                self.assertEqual((run.code, run.out, run.violations), (0, "launched\n", ""), run.err)
                self.assertEqual(len(run.reports), 1, run.err)
                about = run.reports[0]["run"]
                self.assertEqual({name: count for name, count in about["lost"].items() if count}, {}, about["notes"])
                self.assertFalse([note for note in about["notes"] if "time limit" in note or "too long" in note])
                self.assertFalse([note for note in about["notes"] if "thrown away" in note or "No more" in note])
                steps = about["steps"]
                windows = (steps["hw"], steps["flops"], steps["time"])
                if options is LAUNCHES:
                    self.assertEqual((about["unit"], windows), ("run", WINDOWS), about["notes"])
                else:
                    # Steps of other launches are classes of their own, and how many of them come is up to the scheduler.
                    self.assertTrue(all(had >= least for had, least in zip(windows, WINDOWS)), about)
                kernel = run.reports[0]["kernels"][0]
                # gpu.jsonl: 5,000 ns, 64 FFMA a thread on 512 threads, 2,000 + 1,000 sectors
                self.assertEqual(kernel["time_ns"]["mean"], 5000)
                self.assertEqual(kernel["flops"]["fp32"], 2 * 64 * 512)
                self.assertEqual(kernel["bytes"]["dram"], 32 * 3000)

    def test_2_threads(self):
        self.check("free_threads", 2, LAUNCHES)

    def test_8_threads(self):
        self.check("free_threads", 8, LAUNCHES)

    def test_32_threads(self):
        self.check("free_threads", 32, LAUNCHES)

    def test_2_threads_with_steps(self):
        self.check("step_threads", 2, STEPS)

    def test_8_threads_with_steps(self):
        self.check("step_threads", 8, STEPS)

    def test_32_threads_with_steps(self):
        self.check("step_threads", 32, STEPS)


if __name__ == "__main__":
    unittest.main()
