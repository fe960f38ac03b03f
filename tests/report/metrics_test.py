# SPDX-License-Identifier: Apache-2.0
"""--metrics from the command line to the finished report: what is collected, in how many windows, and what is said of the
rest. The values are those of the recording's lines."""
import unittest

from small import CONV, RELU, STEPS, SmallTest

FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
L1_HITS, L2_HITS, L2_SECTORS = "l1tex__t_sector_hit_rate.pct", "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"


class Collected(SmallTest):
    def collected(self, *metrics, more=()):
        """The report, its windows by phase, and the counters of conv and relu."""
        options = STEPS + (("--metrics", ",".join(metrics)) if metrics else ()) + more
        run = self.gable("more_metrics", *options)
        self.assertIsNotNone(run.report, run.err)
        kernels = {kernel["name"].split("(")[0]: kernel for kernel in run.report.document["kernels"]}
        return run, kernels["conv"], kernels["relu"]


class Metrics(Collected):
    def test_sets_and_metrics_beside_the_roofline(self):
        run, conv, relu = self.collected("roofline", "mix", "warps", "cache", "smsp__inst_executed")
        # Four passes of the roofline hold everything but the hits of L2, which conflict with its sectors.
        self.assert_steps(run.report, hw=5, flops=1, time=1)
        self.assertEqual(conv["counters"][OCCUPANCY], 37.5)
        self.assertEqual(conv["counters"][L1_HITS], 25)
        self.assertEqual((conv["counters"][L2_HITS], conv["counters"][L2_SECTORS]), (3300, 4400))
        self.assertEqual(conv["counters"]["smsp__sass_inst_executed.sum"], 2500000)
        self.assertEqual(conv["counters"]["smsp__inst_executed.sum"], 2500001)
        self.assertEqual(relu["counters"]["smsp__sass_thread_inst_executed.sum"], 16384)
        self.assertEqual(relu["counters"][L1_HITS], 45)  # the mean of its launches' 30 and 60
        # The work is what it is without them.
        self.assertEqual((conv["flops"]["total"], conv["bytes"]["dram"], conv["bytes"]["l2"]),
                         (CONV["fp32"], CONV["dram"], CONV["l2"]))
        self.assert_nothing_lost(run.report)

    def test_a_set_alone_takes_its_own_windows_only(self):
        run, conv, relu = self.collected("cache")
        self.assert_steps(run.report, hw=2, flops=1, time=1)
        self.assertEqual(relu["counters"][L1_HITS], 45)
        self.assertNotIn(FFMA, conv["counters"])
        self.assertEqual((conv["flops"]["fp32"], conv["flops"]["total"]), (None, None))
        self.assertEqual(conv["bytes"]["dram"], CONV["dram"])

    def test_instructions_alone_need_no_hardware_window(self):
        run, conv, _ = self.collected("mix")
        self.assert_steps(run.report, hw=0, flops=1, time=1)
        self.assertEqual(conv["counters"]["smsp__sass_inst_executed.sum"], 2500000)
        self.assertEqual(conv["time_ns"]["mean"], CONV["time"])
        self.assertEqual((conv["flops"]["fp32"], conv["bytes"]["dram"]), (None, None))

    def test_parts_of_the_roofline_asked_for_alone_are_no_work(self):
        """fadd alone would pass for all of FP32, and does not; it is shown as asked."""
        _, _, relu = self.collected(FADD)
        self.assertEqual(relu["counters"][FADD], 16384)
        self.assertIsNone(relu["flops"]["fp32"])

    def test_what_cannot_be_had_is_said_and_the_rest_collected(self):
        run, conv, _ = self.collected("roofline", "dram__sectors_raed.sum", "lts__t_sector_hit_rate",
                                      "sm__throughput.avg.pct_of_peak_sustained_elapsed")
        self.assert_said(run, "dram__sectors_raed.sum is left out: CUPTI has no metric of that name for GH100.")
        self.assert_said(run, "sm__throughput.avg.pct_of_peak_sustained_elapsed is left out: GH100 needs ")
        self.assert_said(run, "lts__t_sectors_lookup_hit.sum and lts__t_sectors.sum are collected in its place.")
        self.assertEqual(conv["counters"][L2_HITS], 3300)
        self.assertEqual(conv["flops"]["fp32"], CONV["fp32"])
        self.assert_steps(run.report, hw=5, flops=1, time=1)

    def test_nothing_that_exists_leaves_the_times(self):
        run, conv, _ = self.collected("no__such")
        self.assert_said(run, "no__such is left out: CUPTI has no metric of that name for GH100.")
        self.assert_said(run, "Kernel times are collected without counters: CUPTI collects none of the metrics asked for")
        self.assertEqual(conv["time_ns"]["mean"], CONV["time"])
        self.assertEqual(conv["counters"], {})


class Parts(SmallTest):
    def gemm(self, *metrics):
        report = self.report("tensor_parts", *STEPS, "--metrics", ",".join(("roofline", *metrics)))
        return report.document["kernels"][0]

    def test_a_part_that_is_asked_for_is_not_added_to_the_whole(self):
        """All of the work is known without it: it is shown as asked, and counted once."""
        part = "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum"
        plain, more = self.gemm(), self.gemm(part)
        self.assertNotIn(part, plain["counters"])
        self.assertEqual(more["counters"][part], 6291456)
        for kernel in (plain, more):
            self.assertEqual((kernel["flops"]["tensor"]["bf16"], kernel["flops"]["total"]), (8388608, 8388608))


class L1(Collected):
    def test_l1_bytes_are_unknown_where_shared_memory_escapes_their_counter(self):
        run, conv, relu = self.collected()
        self.assertIsNone(conv["bytes"]["l1"])
        self.assertIn("l1_partial", conv["flags"])
        self.assertIsNone(conv["intensity"]["l1"])
        self.assertEqual(conv["counters"]["l1tex__t_bytes.sum"], 256000)
        self.assertEqual(relu["bytes"]["l1"], RELU["l1"])
        self.assertEqual(relu["flags"], ["flops_unchecked", "small_grid"])  # one flops window; 128 blocks for 132 SMs
        self.assert_noted(run.report, "1 kernel used shared memory or bulk copies, which the counter of L1 bytes misses")

    def test_l1_bytes_are_unknown_where_nobody_looked(self):
        run, conv, relu = self.collected(more=("--phases", "hw,time"))
        for kernel in (conv, relu):
            self.assertIsNone(kernel["bytes"]["l1"])
            self.assertIn("l1_unchecked", kernel["flags"])
        self.assert_noted(run.report, "L1 bytes of 2 kernels are unknown: no flops window counted whether")


if __name__ == "__main__":
    unittest.main()
