# SPDX-License-Identifier: Apache-2.0
"""CUPTI refuses what is asked of it: something else is counted instead, one rung of the ladder after the other, and the program
does not notice."""
import json
import os
import tempfile
import unittest

import playback_program
from playback_program import fault
from said import Said

PROGRAM = os.environ["GABLE_LONG_RUN"]
OPTIONS = "--step-range=^step$ --active=2"
FP32, DRAM, TIME = 2 * 32768, 32 * 3000, 5000  # of one launch

AUTOMATIC = "Counting continues with CUPTI's automatic ranges, in which CUPTI waits after every launch."
LAYERS = "Counting continues with one range for each layer: counters are of layers, not of single kernels."
NO_FLOPS = "FLOPs are no longer counted; hardware counters still are."
NO_HARDWARE = "Hardware counters are no longer taken; FLOPs are still counted."
TIMES = "No more counters are taken."


class LadderTest(Said, unittest.TestCase):
    def run_program(self, switches="", faults="", options="", launches=1, **environment):
        environment["LONG_RUN_LAUNCHES"] = str(launches)
        if switches:
            environment["GABLE_PLAYBACK_SWITCHES"] = switches
        with tempfile.TemporaryDirectory() as folder:
            ended = playback_program.run([PROGRAM, "40"], folder, f"{OPTIONS} {options}", faults, environment=environment)
        self.check_unharmed(ended)
        self.assertIsNotNone(ended.report, ended.err)
        return ended

    def check_said(self, ended, *rungs):
        """Those rungs in that order, each at the end of its line."""
        found = super().check_said(ended, *rungs)
        self.assertTrue(all(map(str.endswith, found, rungs)), ended.err)
        return found

    def check_kernels(self, ended, fp32=FP32, dram=DRAM, scope="kernel"):
        self.assertEqual(ended.report["run"]["scope"], scope)
        kernels = [row for row in ended.report["kernels"] if row["ranges"] is None]
        self.assertEqual(len(kernels), 2)
        for row in kernels:
            self.assertEqual((row["time_ns"]["mean"], row["flops"]["fp32"], row["bytes"]["dram"]), (TIME, fp32, dram))

    def check_layers(self, ended, launches):
        """Every layer has what its launches do together; of single kernels nothing but times is known."""
        self.check_kernels(ended, None, None, "range")
        layers = {"/".join(row["path"]): row for row in ended.report["layers"]}
        for name in ("step/first", "step/second"):
            row = layers[name]
            self.assertEqual((row["launches"], row["flops"]["fp32"], row["bytes"]["dram"], row["time_ns"]["total"]),
                             (launches, launches * FP32, launches * DRAM, launches * TIME))
            self.assertEqual(row["coverage"], {"time": 1, "flops": 1, "bytes": 1})
        self.assertEqual(layers["step"]["flops"]["fp32"], 2 * launches * FP32)


class Automatic(LadderTest):
    def test_user_ranges_are_refused(self):
        ended = self.run_program("user_ranges=refused")
        (line,) = self.check_said(ended, AUTOMATIC)
        self.assertIn("cuptiRangeProfilerSetConfig failed with CUPTI_ERROR_INVALID_OPERATION (7).", line)
        self.check_kernels(ended)

    def test_a_call_is_refused(self):
        # Each is asked on a thread of Gable's, then on the program's; SetConfig for two nesting levels.
        calls = (("cuptiRangeProfilerEnable", 2), ("cuptiRangeProfilerGetCounterDataSize", 2), ("cuptiRangeProfilerSetConfig", 4),
                 ("cuptiRangeProfilerStart", 2), ("cuptiRangeProfilerPushRange", -1), ("cuptiRangeProfilerDecodeData", 2),
                 ("cuptiProfilerHostEvaluateToGpuValues", 1))
        for call, times in calls:
            with self.subTest(call):
                ended = self.run_program(faults=fault("call", call, 1, times=times))
                (line,) = self.check_said(ended, AUTOMATIC)
                self.assertIn(f"{call} failed with CUPTI_ERROR_UNKNOWN (999).", line)
                self.check_kernels(ended)

    def test_ranges_that_do_not_fit(self):
        ended = self.run_program("user_ranges=several_launches")
        (line,) = self.check_said(ended, AUTOMATIC)
        steps = ended.report["run"]["steps"]
        self.assertEqual((steps["hw"], steps["flops"], steps["time"]), (8, 2, 2))  # what was thrown away is taken again
        self.assertIn("Hardware counters did not fit the launches: 2 launches came back with a count of thread blocks", line)
        self.check_kernels(ended)
        # Three that did not fit, and before them one for which CUPTI counted nothing for a thread of Gable's.
        self.assertEqual(ended.report["run"]["lost"]["windows"], 4)

    def test_what_worked_before_is_asked_for_again(self):
        """Its window is lost, or begins again, and nothing else changes."""
        for call, use, times in (("cuptiRangeProfilerStart", 3, 2), ("cuptiRangeProfilerSetConfig", 3, 4),
                                 ("cuptiRangeProfilerPushRange", 5, 2), ("cuptiRangeProfilerDecodeData", 3, 2)):
            with self.subTest(call):
                ended = self.run_program(faults=fault("call", call, use, times=times))
                self.check_said(ended)
                self.check_kernels(ended)
                self.assertIn(f"{call} failed with CUPTI_ERROR_UNKNOWN (999). Gable asked for it again.", ended.notes)

    def test_not_where_ranks_may_wait(self):
        """What would be counted that way is not."""
        ended = self.run_program("user_ranges=refused", WORLD_SIZE="2")
        self.check_said(ended, TIMES)
        self.check_kernels(ended, None, None)

    def test_not_where_the_user_chose(self):
        ended = self.run_program("user_ranges=refused", options="--ranges=user")
        self.check_said(ended, TIMES)
        self.check_kernels(ended, None, None)


class Layers(LadderTest):
    def test_ranges_of_launches_do_not_fit(self):
        ended = self.run_program("user_ranges=several_launches", launches=3, WORLD_SIZE="2")
        self.check_said(ended, LAYERS)
        self.check_layers(ended, 3)

    def test_after_automatic_ranges(self):
        for how in ("refused", "uncounted"):
            with self.subTest(how):
                ended = self.run_program(f"user_ranges=several_launches,auto_ranges={how}", launches=2)
                self.check_said(ended, LAYERS)
                self.check_layers(ended, 2)

    def test_a_trial_that_works_changes_what_all_counters_are_of(self):
        """FLOPs are refused in ranges of launches, which hardware counters were had in. Four hardware passes come first."""
        ended = self.run_program(faults=fault("call", "cuptiRangeProfilerSetConfig", 5, times=6))
        self.assertEqual(ended.err.splitlines(), ["gable: cuptiRangeProfilerSetConfig failed with CUPTI_ERROR_UNKNOWN (999). " + LAYERS +
                                                  " What was measured before is left out."])
        self.check_layers(ended, 1)

    def test_not_beside_a_recording(self):
        """It keeps what single launches counted."""
        with tempfile.TemporaryDirectory() as folder:
            ended = self.run_program("user_ranges=several_launches", launches=2, options=f"--record={folder}/rec", WORLD_SIZE="2")
        self.check_said(ended, TIMES)
        self.check_kernels(ended, None, None)


class OneKind(LadderTest):
    def test_hardware_alone(self):
        ended = self.run_program("counter_kinds=hardware")
        self.check_said(ended, NO_FLOPS)
        self.check_kernels(ended, fp32=None)

    def test_flops_alone(self):
        ended = self.run_program("counter_kinds=sass")
        self.check_said(ended, NO_HARDWARE)
        self.check_kernels(ended, dram=None)
        self.assertEqual(ended.report["run"]["steps"]["hw"], 0)

    def test_flops_alone_in_automatic_ranges(self):
        ended = self.run_program("counter_kinds=sass,user_ranges=refused")
        self.check_said(ended, NO_HARDWARE, AUTOMATIC)  # one of each kind
        self.check_kernels(ended, dram=None)


class Times(LadderTest):
    def test_nothing_is_taken(self):
        ended = self.run_program("user_ranges=refused,auto_ranges=refused")
        self.check_said(ended, TIMES)
        self.check_kernels(ended, None, None)
        self.assertEqual(ended.report["run"]["steps"]["time"], 2)

    def test_what_needs_the_user_is_no_question_of_ranges(self):
        for lines, remedy in (({"fault": "no_permission"}, "NVreg_RestrictProfilingToAdminUsers=0"),
                              ({"fault": "call", "call": "cuptiRangeProfilerEnable", "code": 26}, "`dcgmi profile --pause`")):
            with self.subTest(remedy):
                ended = self.run_program(faults=json.dumps(lines))
                (line,) = self.check_said(ended, TIMES)
                self.assertIn(remedy, line)
                self.check_kernels(ended, None, None)


if __name__ == "__main__":
    unittest.main()
