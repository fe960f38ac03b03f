# SPDX-License-Identifier: Apache-2.0
"""The program starts a CUPTI tool of its own, as torch.profiler is one: Gable leaves first, and both get what is theirs."""
import os
import tempfile
import unittest

import playback_program

PROGRAM = os.environ["GABLE_WITH_OTHER_TOOL"]
OPTIONS = "--step-range=^step --active=1"
WORKED = "the other tool was answered 0 and saw 12 kernels\n"


class OtherTools(unittest.TestCase):
    def run_program(self, binding, when, steps, wait_ms=0, injected=True):
        library = os.environ["GABLE_OTHER_TOOL_" + binding]
        with tempfile.TemporaryDirectory() as folder:
            ended = playback_program.run([PROGRAM, library, when, str(steps), str(wait_ms)], folder, OPTIONS,
                                         injected=injected)
        self.assertEqual((ended.code, ended.broken), (4, ""), ended.err)
        return ended

    def test_without_gable(self):
        self.assertEqual(self.run_program("now", "early", 5, injected=False).out, WORKED)

    def test_gable_leaves_first(self):
        for binding in ("now", "lazy"):
            for when, wait_ms in (("early", 0), ("late", 800)):
                with self.subTest(binding=binding, when=when):
                    ended = self.run_program(binding, when, 5, wait_ms)
                    self.assertEqual(ended.out, WORKED, ended.err)
                    sentence = f"libgable_other_tool_{binding}.so uses CUPTI from now on, so Gable stops"
                    self.assertIn(sentence, ended.err)
                    self.assertTrue(any(sentence in note for note in ended.notes), ended.notes)
                    steps = ended.report["run"]["steps"]
                    self.assertEqual((steps["seen"], steps["time"]), (5, 0), steps)
                    kernel = ended.report["kernels"][0]
                    self.assertEqual((kernel["bytes"]["dram"], kernel["flops"]["fp32"]), (32 * 3000, None))

    def test_in_the_middle_of_kernel_times(self):
        # wait, warm-up twice, hw:1..4, flops: the ninth step is of kernel times
        ended = self.run_program("now", "early", 9)
        self.assertEqual(ended.out, WORKED, ended.err)
        self.assertEqual(ended.report["kernels"][0]["time_ns"]["mean"], 5000)
        self.assertEqual(ended.report["run"]["lost"]["records"], 0)

    def test_after_the_queue_both_are_complete(self):
        ended = self.run_program("now", "late", 14, 800)
        self.assertEqual((ended.out, ended.err), (WORKED, ""))
        self.assertEqual(ended.report["run"]["steps"]["time"], 1)
        self.assertTrue(ended.report["run"]["complete"])

    def test_a_tool_that_asks_before_the_first_kernel_is_refused(self):
        ended = self.run_program("now", "early", 0)
        self.assertEqual(ended.out, "the other tool was answered 39 and saw 0 kernels\n")
        self.assertTrue(any("asked for CUPTI before the first kernel ran" in note for note in ended.notes), ended.notes)


if __name__ == "__main__":
    unittest.main()
