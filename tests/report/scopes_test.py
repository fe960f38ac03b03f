# SPDX-License-Identifier: Apache-2.0
"""What counters are taken of: the launches of a layer together (--scope range), or each kernel several times (--replay)."""
import unittest

from small import CONV, PUSHED_NS, RELU, STEPS, SmallTest, longer

RANGE = STEPS + ("--scope", "range")
REPLAY = STEPS + ("--replay", "kernel")
RANGED = {"GABLE_PLAYBACK_SWITCHES": "graphs_in_replay=ranged"}


class Ranges(SmallTest):
    def range_row(self, report, path):
        layer = report.layer(path, "none")["id"]
        (row,) = [row for row in report.document["kernels"] if row["ranges"] is not None and row["layer"] == layer]
        return row

    def test_layers_are_counted_together(self):
        report = self.report("layers", *RANGE)
        self.assert_nothing_lost(report)
        self.assertEqual(report.run["scope"], "range")
        self.assert_work(report.layer(("step", "block"), "none"), 2, CONV, RELU)
        self.assert_work(report.layer(("step", "head"), "none"), 2, RELU)
        self.assert_work(report.layer(("step",), "none"), 1, CONV, CONV, *[RELU] * 5)
        self.assertEqual(report.layer(("step",), "none")["time_ns"]["self"], RELU["time"])
        self.assertEqual(report.layer((), "none")["launches"], 7)

    def test_the_row_of_a_layer_stands_beside_those_of_its_kernels(self):
        report = self.report("layers", *RANGE)
        # Of the five passes, block is entered twice in each.
        for path, launches, ranges in ((("step", "block"), 4, 10), (("step", "head"), 2, 5), (("step",), 1, 5)):
            row = self.range_row(report, path)
            self.assertEqual((row["name"], row["grid"], row["launches"], row["ranges"]), ("(range)", None, launches, ranges))
            self.assertEqual((row["samples"], row["overlap"]), ({"hw": 4 * launches, "flops": launches, "time": launches}, 0))
            self.assertNotIn("overlapped", row["flags"])
        self.assertEqual(self.range_row(report, ("step", "block"))["flops"]["fp32"], (CONV["fp32"] + RELU["fp32"]) / 2)
        for row in report.document["kernels"]:
            if row["ranges"] is None:
                self.assertEqual((row["flops"]["total"], row["bytes"]["dram"], row["overlap"]), (None, None, None))
                self.assertEqual(row["time_ns"]["mean"], (CONV if row["name"].startswith("conv") else RELU)["time"])

    def test_only_some_kernels(self):
        """What -k leaves out is in no range, and the layer says how much of its time was counted."""
        report = self.report("layers", *RANGE, "-k", "relu*")
        block = report.layer(("step", "block"), "none")
        self.assertEqual((block["flops"]["fp32"], block["bytes"]["dram"]), (2 * RELU["fp32"], 2 * RELU["dram"]))
        self.assertEqual((block["time_ns"]["total"], block["coverage"]["flops"], block["flops_per_s"]), (100000, 0.2, None))

    def test_without_times_the_counted_ones(self):
        report = self.gable(longer("layers"), *RANGE, "--phases", "hw,flops").report
        block = report.layer(("step", "block"), "none")
        # From the first start to the last end of a range: two, of a conv and a relu.
        self.assertEqual((block["time_ns"]["total"], block["time_source"], block["coverage"]["time"]),
                         (100 * 100000 + 2 * PUSHED_NS, "hw", 1))
        self.assertIsNone(self.report("layers", *RANGE, "--phases", "hw,flops").layer(("step", "block"), "none")["time_ns"]["total"])

    def test_without_steps(self):
        report = self.report("layers", "--window", "7", "--active", "1", "--scope", "range")
        self.assertEqual(report.run["unit"], "run")
        block = report.layer(("step", "block"), "none")
        self.assertGreater(block["launches"], 4)
        self.assertEqual(block["flops"]["fp32"], block["launches"] * (CONV["fp32"] + RELU["fp32"]) / 2)

    def test_overlap_is_flagged_with_its_share(self):
        run = self.gable("two_streams", *RANGE, out="training\ndone\n")
        report = run.report
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV)
        # 10 of the conv's 40 us, and all of the relu's.
        for layer, share in (("conv", 0.25), ("relu", 1)):
            row = self.range_row(report, ("step", layer))
            self.assertEqual(row["overlap"], share)
            self.assertIn("overlapped", row["flags"])
        self.assert_noted(report, "Ranges of 2 layers overlapped kernels of other layers")
        self.assertIn("2 layers overlapped others", run.err)

    def test_what_overlaps_may_be_counted_too(self):
        """Then the row is flagged, and the window is not taken for another launch's."""
        report = self.report("two_streams", *RANGE, out="training\ndone\n",
                             environment={"GABLE_PLAYBACK_SWITCHES": "user_ranges=overlapping"})
        row = self.range_row(report, ("step", "relu"))
        self.assertEqual(row["flops"]["fp32"], RELU["fp32"] + CONV["fp32"])
        self.assertIn("overlapped", row["flags"])

    def test_blocks_of_nobody_cost_the_window(self):
        report = self.report("layers", *RANGE, environment={"GABLE_PLAYBACK_FAULTS": '{"fault":"wrong_ctas","count":1}'})
        self.assert_lost(report, windows=1)
        self.assert_work(report.layer(("step", "head"), "none"), 2, RELU)

    def test_a_capture_is_in_no_range(self):
        report = self.report("capture_in_step", *RANGE)
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV)

    def test_threads_contexts_and_graphs(self):
        self.assert_plain_step(self.report("two_contexts", *RANGE))
        self.assert_nothing_lost(self.report("two_threads", *RANGE))
        model = self.report("graph_layers", *RANGE).layer(("model",), "none")
        self.assertEqual(model["flops"]["fp32"], 2 * (CONV["fp32"] + RELU["fp32"]))


class Replay(SmallTest):
    def test_a_kernel_that_is_launched_once_has_all_counters(self):
        plain, replayed = self.report("once", "--window", "2"), self.report("once", "--window", "2", "--replay", "kernel")
        self.assertIsNone(plain.layer(("conv",), "none")["flops"]["fp32"])
        self.assert_noted(plain, "2 kernels were launched once and have bytes or FLOPs, not both: a second run with --phases flops")
        self.assertFalse([note for note in replayed.run["notes"] if "launched once" in note])
        self.assert_work(replayed.layer(("conv",), "none"), 1, CONV)
        self.assert_work(replayed.layer(("relu",), "none"), 1, RELU)
        self.assertEqual([row["samples"] for row in replayed.document["kernels"]], [{"hw": 1, "flops": 0, "time": 0}] * 2)

    def test_steps_need_one_window(self):
        report = self.report("layers", *REPLAY)
        self.assert_nothing_lost(report)
        self.assert_steps(report, hw=1, flops=0, time=1)
        self.assert_work(report.layer((), "none"), 1, CONV, CONV, *[RELU] * 5)

    def test_graphs_are_not_replayed(self):
        run = self.gable("graph_layers", *REPLAY)
        report = run.report
        self.assert_nothing_lost(report)
        self.assert_steps(report, hw=1, flops=0, time=1)
        model = report.layer(("model",), "none")
        self.assertEqual((model["flops"]["fp32"], model["bytes"]["dram"], model["time_ns"]["total"]), (None, None, 100000))
        self.assert_work(report.layer(("step", "loss"), "none"), 1, RELU)
        self.assert_said(run, "CUPTI does not replay the kernels of CUDA graphs, so their counters are unknown")
        self.assertEqual(run.err.count("does not replay"), 1, run.err)

    def test_graphs_where_CUPTI_replays_them(self):
        report = self.report("graph_layers", *REPLAY, environment=RANGED)
        self.assert_nothing_lost(report)
        model = report.layer(("model",), "none")
        self.assertEqual((model["flops"]["fp32"], model["bytes"]["dram"]),
                         (2 * (CONV["fp32"] + RELU["fp32"]), 2 * (CONV["dram"] + RELU["dram"])))
        self.assert_work(report.layer(("step", "loss"), "none"), 1, RELU)

    def test_a_graph_that_nobody_knows_shifts_nothing(self):
        environment = {"GABLE_PLAYBACK_FAULTS": '{"fault":"call","call":"cuptiGetGraphNodeId","code":999}'}
        report = self.report("graph_layers", *REPLAY, environment=environment)
        self.assert_work(report.layer(("step", "loss"), "none"), 1, RELU)
        report = self.report("graph_layers", *REPLAY, environment={**environment, **RANGED})
        self.assertIsNone(report.layer(("step", "loss"), "none")["flops"]["fp32"])
        self.assert_noted(report, "A CUDA graph ran in it for which CUPTI makes an unknown number of ranges.")

    def test_modules_that_are_patched_too_late_have_unknown_work(self):
        environment = {"GABLE_PLAYBACK_SWITCHES": "late_modules=unpatched"}
        report = self.report("once_late", "--window", "2", "--replay", "kernel", environment=environment)
        conv = report.layer(("conv",), "none")
        self.assertEqual((conv["flops"]["fp32"], conv["bytes"]["dram"]), (None, CONV["dram"]))


class Ranks(SmallTest):
    """Kernels of several ranks wait for each other: nothing may wait after a launch, none may run again."""

    def check(self, run, said):
        self.assert_said(run, said)
        self.assert_nothing_lost(run.report)

    def test_a_program_of_several_ranks(self):
        for name in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"):
            run = self.gable("layers", *REPLAY, environment={name: "2"})
            self.check(run, "--replay kernel runs kernels again, and these may wait for kernels of other ranks")
            self.assert_steps(run.report, hw=4, flops=1, time=1)
            self.assert_work(run.report.layer(("step", "head"), "none"), 2, RELU)
        run = self.gable("layers", *STEPS, "--ranges", "auto", environment={"WORLD_SIZE": "4"})
        self.check(run, "--ranges auto waits after every launch, and other ranks may wait for this one meanwhile")

    def test_one_rank_is_none(self):
        self.assertEqual(self.report("layers", *REPLAY, environment={"WORLD_SIZE": "1"}).run["steps"]["hw"], 1)

    def test_a_collective_ends_the_replay(self):
        run = self.gable("collective", *REPLAY)
        self.assert_said(run, "A kernel of NCCL was launched, which may wait for other ranks: no kernel is replayed.")
        reduce = run.report.layer(("step", "reduce"), "none")
        self.assertEqual((reduce["time_ns"]["total"], reduce["bytes"]["dram"]), (20000, None))

    def test_a_collective_ends_automatic_ranges(self):
        run = self.gable("collective", *STEPS, "--ranges", "auto")
        self.assert_said(run, "Gable no longer waits after every launch. Counting continues with user ranges.")
        self.assert_work(run.report.layer(("step", "conv"), "none"), 1, CONV)
        self.assertEqual(run.report.layer(("step", "reduce"), "none")["roof"]["bound"], "communication")

    def test_a_communicator_ends_automatic_ranges_before_a_kernel_of_it_runs(self):
        run = self.gable("communicator", *STEPS, "--ranges", "auto")
        self.assert_said(run, "NCCL made a communicator, so kernels may wait for other ranks: "
                         "Gable no longer waits after every launch. Counting continues with user ranges.")
        conv = run.report.layer(("step", "conv"), "none")
        self.assertEqual((conv["flops"]["fp32"], conv["bytes"]["dram"]), (CONV["fp32"], CONV["dram"]))
        self.assertNotIn("A kernel of NCCL", run.err)

    def test_a_communicator_of_the_process_alone_ends_them_too(self):
        """Its GPUs wait for each other, whatever a launcher says; but its windows are all its own."""
        run = self.gable("communicator_all", *STEPS, "--ranges", "auto", environment={"WORLD_SIZE": "1"})
        self.assert_said(run, "NCCL made a communicator, so kernels may wait for other ranks: "
                         "Gable no longer waits after every launch. Counting continues with user ranges.")
        self.assert_steps(run.report, hw=4, flops=1, time=1)  # what was spoilt was taken again

    def test_a_communicator_ends_the_replay(self):
        run = self.gable("communicator", *REPLAY)
        self.assert_said(run, "NCCL made a communicator, so kernels may wait for other ranks: no kernel is replayed.")
        reduce = run.report.layer(("step", "reduce"), "none")
        self.assertEqual((reduce["time_ns"]["total"], reduce["bytes"]["dram"]), (20000, None))


if __name__ == "__main__":
    unittest.main()
