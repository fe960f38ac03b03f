# SPDX-License-Identifier: Apache-2.0
"""--metrics from the command line to the finished report: what is collected, in how many windows, and what is said of the
rest. The values are those of the recording's lines."""
import csv
import io
import json
import os
import re
import subprocess
import tempfile
import unittest

from small import CONV, RELU, STEPS, SmallTest

FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
L1_HITS, L1_SECTORS = "l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum"
L2_HITS, L2_SECTORS = "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"

EXACT = {"GABLE_PLAYBACK_SWITCHES": "user_range_time=exact"}


class Collected(SmallTest):
    def collected(self, *metrics, more=(), environment=()):
        """The report, its windows by phase, and the counters of conv and relu."""
        options = STEPS + (("--metrics", ",".join(metrics)) if metrics else ()) + more
        run = self.gable("more_metrics", *options, environment=environment)
        self.assertIsNotNone(run.report, run.err)
        kernels = {kernel["name"].split("(")[0]: kernel for kernel in run.report.document["kernels"]}
        return run, kernels["conv"], kernels["relu"]


class Metrics(Collected):
    def test_sets_and_metrics_beside_the_roofline(self):
        run, conv, relu = self.collected("roofline", "mix", "warps", "cache", "smsp__inst_executed")
        # Four passes of the roofline hold everything but the hits of L2, which conflict with its sectors.
        self.assert_steps(run.report, hw=5, flops=1, time=1)
        self.assertEqual(conv["counters"][OCCUPANCY], 37.5)
        self.assertEqual((conv["counters"][L1_HITS], conv["counters"][L1_SECTORS]), (2000, 8000))
        self.assertEqual((conv["counters"][L2_HITS], conv["counters"][L2_SECTORS]), (3300, 4400))
        self.assertEqual(conv["counters"]["smsp__sass_inst_executed.sum"], 2500000)
        self.assertEqual(conv["counters"]["smsp__inst_executed.sum"], 2500001)
        self.assertEqual(relu["counters"]["smsp__sass_thread_inst_executed.sum"], 16384)
        self.assertEqual((relu["counters"][L1_HITS], relu["counters"][L1_SECTORS]), (1050, 2000))  # means of its two launches
        # The work is what it is without them.
        self.assertEqual((conv["flops"]["total"], conv["bytes"]["dram"], conv["bytes"]["l2"]),
                         (CONV["fp32"], CONV["dram"], CONV["l2"]))
        self.assert_nothing_lost(run.report)

    def test_a_set_alone_takes_its_own_windows_only(self):
        run, conv, relu = self.collected("cache")
        self.assert_steps(run.report, hw=2, flops=1, time=1)
        self.assertEqual((relu["counters"][L1_HITS], relu["metrics"]["l1_hit_rate"]), (1050, 0.525))
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


class Roofs(Collected):
    """The roof that CUPTI states where no attribute tells it: of an H100, whose L2 no source describes."""
    PEAK, CLOCK = "lts__t_bytes.sum.peak_sustained", "lts__cycles_elapsed.avg.per_second"

    def stated(self, run):
        return {one["name"]: one for one in run.report.document["ceilings"] if "CUPTI states" in one["source"]}

    def assert_stated(self, run):
        stated = self.stated(run)
        self.assertEqual(list(stated), ["l2"])  # L1's is known, and nothing was recorded of DRAM's clock
        self.assertAlmostEqual(stated["l2"]["value"] / (6144 * 1.6e9), 1, places=9)  # (2 x 1.5 + 1.8) / 3, weighed by exact times
        self.assertEqual(stated["l2"]["source"], f"theoretical: CUPTI states 6144 byte per cycle ({self.PEAK}) x 1.6 GHz, "
                                                 "the L2 clock of the counter windows")
        self.assertIsNone(stated["l2"]["clock"])

    def test_are_in_the_report_and_no_counters_of_kernels(self):
        run, conv, _ = self.collected(environment=EXACT)
        self.assert_stated(run)
        self.assertIn("Roofs of device 0 that CUPTI states, at the clocks of the counter windows: l2.",
                      run.report.document["run"]["notes"])
        self.assertIn("l2 stated by CUPTI at the clocks of the counter windows", " ".join(run.err.split()))
        self.assertFalse({self.PEAK, self.CLOCK} & set(conv["counters"]))
        self.assert_steps(run.report, hw=4, flops=1, time=1)

    def test_are_counters_where_somebody_asks(self):
        run, conv, relu = self.collected("roofline", self.PEAK, self.CLOCK, environment=EXACT)
        self.assert_stated(run)
        self.assertEqual((conv["counters"][self.PEAK], conv["counters"][self.CLOCK]), (6144, 1.5e9))
        self.assertEqual((relu["counters"][self.PEAK], relu["counters"][self.CLOCK]), (6144, 1.8e9))

    def test_are_not_divided_by_the_launches_of_a_range(self):
        run = self.gable("more_metrics", *STEPS, "--scope", "range", "--metrics", f"roofline,{self.PEAK}")
        self.assertIsNotNone(run.report, run.err)
        self.assertEqual(self.stated(run)["l2"]["source"].split(" byte")[0], "theoretical: CUPTI states 6144")
        ranges = [kernel for kernel in run.report.document["kernels"] if kernel["name"] == "(range)"]
        self.assertTrue(any(kernel["launches"] > 1 for kernel in ranges), ranges)
        for kernel in ranges:
            self.assertEqual(kernel["counters"][self.PEAK], 6144)

    def test_of_a_recording_without_them_are_unknown(self):
        run = self.gable("layers", *STEPS)
        self.assertEqual(self.stated(run), {})


class Use(Collected):
    """What follows from the counters, by hand from the recording's lines."""
    SETS = ("roofline", "mix", "warps", "cache")

    def test_of_kernels(self):
        _, conv, relu = self.collected(*self.SETS)
        mix, memory = conv["metrics"].pop("mix"), conv["metrics"].pop("memory_mix")
        self.assertEqual(conv["metrics"], {
            "occupancy": 0.375, "warp_efficiency": 75e6 / (32 * 2.5e6), "warp_efficiency_predicated": 70e6 / (32 * 2.5e6),
            "branch_uniformity": 3000 / 4000, "l1_hit_rate": 2000 / 8000, "l2_hit_rate": 3300 / 4400, "sectors_per_load": 16000 / 1000,
            "sectors_per_store": None, "l2_sectors_per_request": 4000 / 1250,
            "compute_throughput": None, "memory_throughput": None, "dram_throughput": None})  # it stores nothing
        self.assertEqual((mix["fp32"], mix["integer"], mix["fp64"]), (67584 / 70000, 0.02, 0))
        self.assertEqual((memory["global"], memory["local"], memory["shared"]), (0.04, 0.02, 8448 / 2.5e6))
        # Two launches: of 1,000 and 3,000 sectors in L1, at 75 and 25 % of the warps.
        self.assertEqual((relu["metrics"]["l1_hit_rate"], relu["metrics"]["occupancy"]), ((300 + 1800) / 4000, 0.5))
        self.assertIsNone(relu["metrics"]["branch_uniformity"])  # it has no branches

    def test_of_layers_as_ratios_of_sums(self):
        run, _, _ = self.collected(*self.SETS)
        root = run.report.layer((), "none")["metrics"]
        self.assertEqual(root["l1_hit_rate"], (2000 + 300 + 1800) / (8000 + 1000 + 3000))
        self.assertAlmostEqual(root["l2_hit_rate"], (3300 + 2 * 2048) / (4400 + 2 * 8192))
        self.assertAlmostEqual(root["sectors_per_load"], (16000 + 2 * 512) / (1000 + 2 * 128))
        self.assertEqual(root["sectors_per_store"], 4)  # relu's: conv is known to store nothing
        self.assertAlmostEqual(root["l2_sectors_per_request"], (4000 + 2 * 8192) / (1250 + 2 * 2048))
        self.assertAlmostEqual(root["warp_efficiency"], (75e6 + 2 * 16384) / (32 * (2.5e6 + 2 * 512)))
        self.assertAlmostEqual(root["mix"]["integer"], 1.4e6 / (70e6 + 2 * 12288))
        self.assertAlmostEqual(root["memory_mix"]["local"], 50e3 / (2.5e6 + 2 * 512))
        self.assertEqual(root["branch_uniformity"], 0.75)
        # By time: 40 us of conv, 2 x 10 us of relu.
        self.assertAlmostEqual(root["occupancy"], (40 * 0.375 + 20 * 0.5) / 60)

    def test_nothing_is_said_of_what_was_not_asked_for(self):
        run, conv, relu = self.collected()
        self.assertEqual((conv["metrics"], relu["metrics"], run.report.layer((), "none")["metrics"]), (None, None, None))
        _, conv, _ = self.collected("warps")
        self.assertEqual((conv["metrics"]["occupancy"], conv["metrics"]["l1_hit_rate"], conv["metrics"]["mix"]), (0.375, None, {}))

    def test_layers_whose_launches_are_counted_together(self):
        """A range of relu's two launches is counted once."""
        run, _, _ = self.collected(*self.SETS, more=("--scope", "range"))
        ranges = {run.report.document["layers"][row["layer"]]["path"][-1]: row for row in run.report.document["kernels"] if row["ranges"]}
        self.assertEqual(ranges["conv"]["metrics"]["occupancy"], 0.375)
        self.assertEqual(ranges["relu"]["metrics"]["l1_hit_rate"], (300 + 1800) / 4000)
        self.assertEqual(ranges["relu"]["metrics"]["sectors_per_load"], 4)
        self.assertEqual(run.report.layer(("step", "relu"), "none")["metrics"]["sectors_per_load"], 4)


class Shown(Collected):
    """Columns where the report has them, as far as lines are wide; CSV always."""

    def table(self, *options, sets=("roofline", "mix", "warps", "cache"), columns="200"):
        run, _, _ = self.collected(*sets)
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(run.report.document, file)
            file.flush()
            done = subprocess.run([os.environ["GABLE_PROGRAM"], "report", file.name, *options], capture_output=True, text=True, timeout=60,
                                  check=True, env={**os.environ, "COLUMNS": columns})
        return done.stdout.splitlines()

    def cells(self, lines, name):
        heads = re.split(r"  +", next(line for line in lines if line.startswith(("layer ", "kernel "))))
        return dict(zip(heads, re.split(r"  +", next(line for line in lines if line.startswith(name)))))

    def test_columns_of_layers_and_kernels(self):
        expected = {"occup.": "37.5 %", "warp eff": "93.8 %", "L1 hit": "25.0 %", "L2 hit": "75.0 %", "sect/ld": "16.0"}
        for name, options in (("step/conv", ()), ("conv(", ("--kernels",))):
            cells = self.cells(self.table(*options), name)
            self.assertEqual({head: cells[head] for head in expected}, expected)

    def test_columns_only_where_some_row_has_them(self):
        self.assertNotIn("occup.", "\n".join(self.table(sets=())))
        heads = self.cells(self.table(sets=("roofline", "warps")), "step/conv")
        self.assertIn("occup.", heads)
        self.assertNotIn("L1 hit", heads)

    def test_a_narrow_terminal_shows_fewer_and_says_so(self):
        lines = self.table(columns="100")
        self.assertTrue(all(len(line) <= 100 for line in lines if not line.startswith("Next: ")), lines)
        self.assertIn("Columns left out (terminal too narrow): warp eff.", "\n".join(lines))
        self.assertIn("occup.", self.cells(lines, "step/conv"))

    def test_csv_has_all_of_it(self):
        for options, name in (((), "step/conv"), (("--kernels",), "conv(float const*, float*)")):
            rows = {row["name"]: row for row in csv.DictReader(io.StringIO("\n".join(self.table(*options, "--csv", "-"))))}
            row = rows[name]
            self.assertEqual([row[key] for key in ("occupancy", "branch_uniformity", "l1_hit_rate", "sectors_per_load", "sectors_per_store",
                                                   "mix_integer", "mix_fp64", "memory_mix_local")],
                             ["0.375", "0.75", "0.25", "16", "", "0.02", "0", "0.02"])
        rows = list(csv.DictReader(io.StringIO("\n".join(self.table("--csv", "-", sets=())))))
        self.assertEqual({rows[0][key] for key in ("occupancy", "mix_integer", "memory_mix_local")}, {""})


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
