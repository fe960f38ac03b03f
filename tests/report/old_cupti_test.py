# SPDX-License-Identifier: Apache-2.0
"""The program has loaded a CUPTI that is too old for counters, as an older PyTorch brings it: times, one sentence, and what
the sentence says helps."""

import os
import unittest

from small import CONV, RELU, STEPS, SmallTest

OLD = os.environ["GABLE_OLD_CUPTI"]
SENTENCE = f"Counters are not taken: the CUPTI that the program has loaded, {OLD}, is of CUDA 12.1 or older"


class OldCupti(SmallTest):
    def old(self, *options, **environment):
        return self.gable("counted_time", *(options or STEPS), environment={"GABLE_PLAYBACK_CUPTI": OLD, **environment})

    def check_times(self, report):
        conv, relu = report.layer(("step", "conv"), "none"), report.layer(("step", "relu"), "none")
        self.assertEqual((conv["time_ns"]["total"], relu["time_ns"]["total"]), (CONV["time"], RELU["time"]))
        root = report.layer((), "none")
        self.assertEqual((root["flops"]["total"], root["bytes"]["dram"], root["coverage"]["time"]), (None, None, 1))
        self.assert_steps(report, hw=0, flops=0, time=1)

    def test_times_and_one_sentence(self):
        run = self.old()
        self.check_times(run.report)
        self.assert_said(run, SENTENCE)
        self.assert_said(run, "`pip install --target $HOME/cupti nvidia-cuda-cupti-cu12`")
        self.assert_said(run, "LD_PRELOAD=$HOME/cupti/nvidia/cuda_cupti/lib/libcupti.so.12")
        self.assertEqual(run.err.count("ounters"), 1, run.err)
        self.assertEqual(len(run.report.run["notes"]), 1, run.report.run["notes"])

    def test_an_option_does_not_replace_it(self):
        newer = os.path.join(os.path.dirname(OLD), "..", "playback", "libcupti.so.13")
        run = self.old(*STEPS, "--cupti", newer)
        self.check_times(run.report)
        self.assert_said(run, SENTENCE)

    def test_one_that_is_loaded_before_it_does(self):
        newer = os.path.join(os.path.dirname(OLD), "..", "playback", "libcupti.so.13")
        run = self.old(LD_PRELOAD=newer)
        self.assert_plain_step(run.report)
        self.assertNotIn("ounters are not taken", run.err)

    def test_who_wants_times_is_told_nothing(self):
        run = self.old(*STEPS, "--phases", "time")
        self.check_times(run.report)
        self.assertEqual(run.report.run["notes"], [])


if __name__ == "__main__":
    unittest.main()
