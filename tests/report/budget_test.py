# SPDX-License-Identifier: Apache-2.0
"""--budget: what measuring adds stays below it, and the kernels with the largest share of the time come first."""
import unittest

from small import CONV, RELU, SmallTest

STEPS = ("--step-range", "^step$")
COST = {"GABLE_PLAYBACK_RANGE_NS": "100000"}  # of a launch with counters; a step has 80 launches and takes 10 ms


class Budget(SmallTest):
    def limited(self, budget, *options):
        return self.report("budget", *STEPS, "--budget", budget, *options, environment=COST)

    def added(self, report):
        """By the report's own wall times: what windows took more than those without counters."""
        steps, wall = report.run["steps"], report.run["overhead"]["window_wall_ns"]
        plain = wall["warmup"]
        hw = [ns for phase, ns in wall.items() if phase.startswith("hw")]
        more = steps["hw"] * (sum(hw) / max(len(hw), 1) - plain) + steps["flops"] * (wall.get("flops", plain) - plain)
        return 100 * more / (steps["seen"] * plain)

    def test_everything_is_collected_once_it_fits(self):
        report = self.limited("3%")
        overhead = report.run["overhead"]
        self.assertEqual(overhead["budget_percent"], 3)
        self.assertTrue(0.5 < overhead["added_percent"] <= 3, overhead)
        self.assertTrue(0.5 < self.added(report) <= 3, overhead)
        self.assert_work(report.layer(("step", "conv"), "none"), 40, CONV)
        self.assert_work(report.layer(("step", "relu"), "none"), 40, RELU)
        self.assert_noted(report, "--budget 3 %: measuring added ")
        self.assert_noted(report, "kernels with 100 % of the known time have bytes, with 100 % FLOPs.")

    def test_the_largest_share_first(self):
        report = self.limited("1%")
        self.assertLessEqual(self.added(report), 1)
        # Callbacks take real time after the last window too, which a busy machine makes longer.
        self.assertLessEqual(report.run["overhead"]["added_percent"], 1.1)
        conv, relu = report.layer(("step", "conv"), "none"), report.layer(("step", "relu"), "none")
        self.assertIsNone(conv["time_ns"]["total"])  # there was no room for times
        self.assertEqual(conv["bytes"]["dram"], 40 * CONV["dram"])
        self.assertEqual(conv["flops"]["fp32"], 40 * CONV["fp32"])
        self.assertIsNone(relu["flops"]["fp32"])
        self.assertGreater(report.run["steps"]["seen"], 250)  # to the end: there was never room for all

    def test_without_it_the_same_run_costs_far_more(self):
        report = self.report("budget", *STEPS, environment=COST)
        self.assertGreater(self.added(report), 30)
        self.assertIsNone(report.run["overhead"]["budget_percent"])
        self.assertGreater(report.run["overhead"]["added_percent"], 30)
        self.assertGreater(report.run["overhead"]["added_ns"], 0)

    def test_windows_of_launches(self):
        # More room than it takes: callbacks take real time, which a busy machine makes longer, and nothing here but they does.
        report = self.report("budget", "--budget", "8%", environment=COST)
        self.assertLessEqual(report.run["overhead"]["added_percent"], 8)
        self.assertEqual(report.layer((), "none")["coverage"], {"time": 1, "flops": 1, "bytes": 1})

    def test_automatic_ranges_wait_for_whole_windows(self):
        report = self.limited("100%", "--ranges", "auto")
        self.assertEqual(report.layer((), "none")["coverage"], {"time": 1, "flops": 1, "bytes": 1})


if __name__ == "__main__":
    unittest.main()
