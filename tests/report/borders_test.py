# SPDX-License-Identifier: Apache-2.0
"""Where steps begin and end, and steps that differ."""
import unittest

from small import CONV, RELU, STEPS, SmallTest


class Borders(SmallTest):
    def test_profiler_start_and_stop(self):
        report = self.report("profiler_api", "--active", "1")
        self.assertEqual(report.run["unit"], "step")
        self.assert_steps(report, border="profiler", period=None)
        self.assert_plain_step(report, above=())
        # Each round begins with a relu outside of the step: the conv waits for it until 10 us after the launch.
        self.assertEqual(report.document["step"]["host_ns"]["mean"], 60000)
        self.assertEqual(report.document["step"]["wall_ns"]["mean"], 50000)  # it ends with its last kernel

    def test_gable_step(self):
        report = self.report("gable_step", "--active", "1")
        self.assertEqual(report.run["unit"], "step")
        self.assert_steps(report, border="call", period=None)
        self.assert_plain_step(report, above=())
        self.assertEqual(report.document["step"]["wall_ns"]["mean"], 52000)
        self.assertEqual(report.document["step"]["host_ns"]["mean"], 52000)

    def test_no_steps(self):
        report = self.report("no_steps", "--window", "10", "--active", "1")
        self.assertEqual(report.run["unit"], "run")
        self.assert_steps(report, border="launches", period=None)
        conv, relu = report.layer(("conv",), "none"), report.layer(("relu",), "none")
        # Six windows of 10, and the launch that ended the last one.
        self.assertEqual((conv["launches"], relu["launches"]), (31, 30))
        self.assert_work(conv, 31, CONV)
        self.assert_work(relu, 30, RELU)
        self.assertIsNone(report.document["step"]["wall_ns"]["mean"])
        self.assertIn("10 of 61 launches", report.run["total"]["basis_note"])

    def test_steps_of_each_sequence_weigh_as_often_as_they_came(self):
        report = self.report("classes")
        self.assert_steps(report, seen=28, classes=2, time=4)  # from the second step on: 21 small, 7 large
        small, large = report.layer(("step", "small"), "none"), report.layer(("step", "large"), "none")
        self.assertAlmostEqual(small["launches"], 21 / 28, places=12)
        self.assertAlmostEqual(large["launches"], 7 / 28 * 4, places=12)
        self.assertAlmostEqual(small["time_ns"]["total"], 21 / 28 * 40000, places=6)
        self.assertAlmostEqual(large["bytes"]["dram"], 7 / 28 * 4 * RELU["dram"], places=6)
        self.assertAlmostEqual(report.run["total"]["flops"], 21 * CONV["fp32"] + 28 * RELU["fp32"], delta=1)
        self.assertEqual(report.run["total"]["basis_note"],
                         "4 of 28 steps seen, weighted by launch sequence, stand for all; later steps are not counted")

    def test_only_times(self):
        report = self.report("two_contexts", *STEPS, "--phases", "time")
        self.assert_steps(report, hw=0, flops=0, time=1, border="range", period=None)
        root = report.layer((), "none")
        self.assertEqual((root["time_ns"]["total"], root["flops"]["total"], root["bytes"]["dram"]), (50000, None, None))

    def test_the_queue_twice(self):
        report = self.report("counted_time", "--step-range", "^step$", "--active", "2", "--repeat", "2")
        self.assert_steps(report, hw=16, flops=4, time=4)
        self.assert_plain_step(report)


class FewSteps(SmallTest):
    """wait + warm-up + K hardware passes + two of FLOPs + one of times: K is 4 on GH100."""

    def check(self, *options):
        report = self.report("nine_steps", *options)
        self.assert_steps(report, border="range", hw=4, flops=2, time=1, needed=9)
        self.assert_work(report.layer(("step", "conv"), "none"), 4, CONV)
        self.assert_work(report.layer(("step", "relu"), "none"), 4, RELU)
        self.assert_nothing_lost(report)

    def test_nine_steps_that_are_named_have_everything(self):
        self.check("--step-range", "^step$")

    def test_so_have_nine_that_are_found_by_their_range(self):
        self.check("--wait", "1")  # as by default


class FoundSteps(SmallTest):
    """Nobody says where steps end: the period of the launch sequence does."""
    FOUND = "steps: found by the launch sequence's period of 12 launches\n"

    def assert_round(self, report, rounds=1):
        self.assert_work(report.layer(("embed",), "none"), rounds, CONV)
        self.assert_work(report.layer(("block",), "none"), 5 * rounds, CONV, RELU)
        self.assert_work(report.layer(("head",), "none"), rounds, RELU)
        self.assertEqual(report.layer((), "none")["launches"], 12 * rounds)
        self.assertEqual(report.layer(("block",), "none")["calls"], 5 * rounds)

    def test_the_period_is_a_step(self):
        run = self.gable("period", "--window", "10")
        report = run.report
        self.assertEqual(report.run["unit"], "step")
        # Four hardware passes until every kernel has three launches: five of a step's, or one of each of three steps.
        self.assert_steps(report, border="period", period=12, classes=1, hw=12, flops=2, time=3)
        self.assert_round(report)
        self.assert_nothing_lost(report)
        # From the first launch of one round to that of the next: 300 us of kernels, one after the other, and the first launch.
        self.assertEqual(report.document["step"]["wall_ns"], {"mean": 302000, "stddev": 0})
        self.assertEqual(report.run["overhead"]["slowdown"]["time"], 1)
        self.assertIn(self.FOUND, run.err)

    def test_steps_that_are_found_too_late_leave_the_windows_before(self):
        report = self.report("period_short", "--window", "5", "--active", "1")
        self.assertEqual(report.run["unit"], "run")
        self.assert_steps(report, border="launches", period=None, seen=0)
        self.assert_steps(report, hw=4, flops=1, time=1)
        # 6 rounds of 12 and the three launches before them, whenever the period was found.
        self.assertEqual(report.layer((), "none")["launches"], 75)
        self.assertEqual(report.layer(("embed",), "none")["launches"], 6)
        self.assertEqual(report.layer(("block",), "none")["calls"], 30)
        self.assert_noted(report, "launches repeat every 12 launches, but it ended before such steps were measured")

    def test_a_loop_that_ends_is_forgotten(self):
        run = self.gable("period_ends", "--window", "200")
        report = run.report
        self.assertEqual(report.run["unit"], "run")
        self.assert_steps(report, border="launches", period=None)
        self.assertNotIn("steps: found", run.err)
        self.assertEqual([row["path"] for row in report.document["layers"]], [[], ["later"]])
        later = report.layer(("later",), "none")
        self.assert_work(later, later["launches"], RELU)
        self.assert_noted(report, "steps of 12 launches and then stopped repeating: this report covers what came later.")

    def test_the_program_knows_better(self):
        run = self.gable("period_then_steps", "--window", "200")
        self.assert_steps(run.report, border="call", period=None)
        self.assert_round(run.report, rounds=2)
        self.assertNotIn("steps: found", run.err)

    def test_a_range_that_is_asked_for_wins(self):
        report = self.report("period", "--step-range", "^block$", "--active", "1")
        self.assert_steps(report, border="range", period=None)
        self.assert_work(report.layer(("block",), "none"), 1, CONV, RELU)

    def test_ranks_find_none(self):
        report = self.report("period", "--window", "20", environment={"WORLD_SIZE": "2"})
        self.assertEqual(report.run["unit"], "run")
        self.assert_steps(report, border="launches", period=None)


class Ranks(SmallTest):
    """Which window comes when must be the same on every rank, whatever each of them sees."""
    RANKED = {"WORLD_SIZE": "2"}

    def test_three_windows_of_each_phase_and_flops_twice(self):
        report = self.report("two_classes", "--step-range", "^step$", environment=self.RANKED)
        self.assert_steps(report, hw=12, flops=2, time=3)

    def test_a_spoilt_window_is_not_taken_again(self):
        report = self.report("wrong_ctas", environment=self.RANKED)
        self.assert_steps(report, hw=3, flops=1, time=1)
        self.assert_lost(report, windows=1)

    def test_a_world_of_one_is_no_rank(self):
        report = self.report("wrong_ctas", environment={"WORLD_SIZE": "1"})
        self.assert_steps(report, hw=4, flops=1, time=1)

    def test_nothing_waits_for_launches_or_for_room(self):
        run = self.gable("two_contexts", *STEPS, "--ranges", "auto", "--budget", "1%", environment=self.RANKED)
        self.assert_said(run, "--ranges auto waits after every launch, and other ranks may wait for this one meanwhile")
        self.assert_said(run, "--budget is ignored: several ranks must all be in the same window.")
        self.assert_steps(run.report, flops=1, time=1)

    def test_a_communicator_makes_it_a_rank(self):
        run = self.gable("communicator", *STEPS, "--budget", "50%")
        self.assert_said(run, "--budget is ignored: several ranks must all be in the same window.")
        self.assert_steps(run.report, hw=3, flops=1, time=1)  # the spoilt window was not taken again
        self.assert_lost(run.report, windows=1)

    def test_a_communicator_of_a_world_of_one_does_not(self):
        report = self.report("communicator", *STEPS, environment={"WORLD_SIZE": "1"})
        self.assert_steps(report, hw=4, flops=1, time=1)

    def test_a_communicator_that_comes_while_measuring_is_said(self):
        late = "NCCL made a communicator after measuring had begun"
        report = self.report("communicator", *STEPS, "--wait", "0", "--warmup", "0")
        self.assert_noted(report, late)
        self.assert_steps(report, hw=4, flops=1, time=1)
        report = self.report("communicator", *STEPS)
        self.assertFalse(any(late in note for note in report.run["notes"]), report.run["notes"])


class StepsThatDiffer(SmallTest):
    def test_a_rare_step_is_not_waited_for(self):
        report = self.report("step_that_differs")
        self.assert_plain_step(report)
        self.assertNotIn((("step", "log"), "none"), report.layers)
        self.assert_steps(report, seen=9, time=1)

    def test_every_tenth_step_is_seen_where_the_queue_is_longer(self):
        report = self.report("step_that_differs", "--step-range", "^step$", "--active", "3")
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV)
        # Two of the 20 steps that were watched log.
        self.assertEqual(report.run["steps"]["time"], 3)
        self.assertEqual(report.layer(("step", "conv"), "none")["launches"], 1)

    def test_two_kinds_of_step_each_get_the_queue(self):
        report = self.report("two_classes")
        self.assert_steps(report, classes=2)
        self.assert_nothing_lost(report)
        rows = {row["symbol"]: row for row in report.document["kernels"]}
        conv, relu = rows["_Z4convPKfPf"], rows["_Z4reluPf"]
        # Means of one launch do not depend on how many steps of which kind were measured.
        self.assertEqual((conv["time_ns"]["mean"], relu["time_ns"]["mean"]), (40000, 10000))
        self.assertEqual((conv["flops"]["fp32"], relu["flops"]["fp32"]), (CONV["fp32"], RELU["fp32"]))
        self.assertEqual((conv["bytes"]["dram"], relu["bytes"]["dram"]), (CONV["dram"], RELU["dram"]))
        self.assertEqual(relu["launches"], 1)  # every step has one
        self.assertTrue(0 < conv["launches"] <= 1, conv)

    def test_a_step_that_grows(self):
        report = self.report("many_ranges")
        relu = report.layer(("step", "relu"), "none")
        self.assertEqual(relu["launches"], 200)
        self.assert_work(relu, 200, RELU)
        self.assert_noted(report, "had more launches than the 66 that there was room for")
        self.assert_lost(report, windows=1)


if __name__ == "__main__":
    unittest.main()
