# SPDX-License-Identifier: Apache-2.0
"""Work, bytes and times of small recordings, computed here by hand from their lines."""
import unittest

from small import CONV, RELU, STEPS, SmallTest, longer

PEAK_FP32 = 132 * 128 * 2 * 1980000000  # SMs, lanes, FLOP of an FMA, Hz
PEAK_DRAM = 2 * 3201000000 * 6144 // 8  # two transfers a clock, Hz, bytes of the bus


class Streams(SmallTest):
    def test_overlap_is_counted_once(self):
        report = self.report("two_streams", out="training\ndone\n")
        self.assert_plain_step(report)
        self.assert_nothing_lost(report)
        root = report.layer((), "none")
        self.assertEqual(root["time_ns"], {"self": 0, "total": 50000, "busy": 40000})
        step = report.document["step"]
        self.assertEqual(step["wall_ns"]["mean"], 42000)
        self.assertEqual((step["busy_ns"], step["idle_ns"], step["copy_ns"]), (40000, 2000, 0))

    def test_ratios(self):
        report = self.report("two_streams", out="training\ndone\n")
        conv = report.layer(("step", "conv"), "none")
        self.assertEqual(conv["intensity"]["dram"], CONV["fp32"] / CONV["dram"])  # 2,816 FLOP/byte
        self.assertEqual(conv["intensity"]["l2"], 1056)
        self.assertEqual(conv["flops_per_s"], CONV["fp32"] * 1000000000 // 40000)
        self.assertEqual(conv["time_share"], 40000 / 50000)
        relu = report.layer(("step", "relu"), "none")
        self.assertEqual(relu["bytes_per_s"], RELU["dram"] * 1000000000 / 10000)
        self.assertEqual(relu["roof"]["bound"], "small")  # 128 blocks for 132 SMs
        # L2 has no known ceiling here and L1's is far above: DRAM holds the relu, the FMA pipe the conv.
        self.assert_close(relu["roof"]["fraction"], RELU["dram"] / PEAK_DRAM / 10e-6, "the relu's share of its roof", 1e-9)
        self.assert_close(conv["roof"]["fraction"], CONV["fp32"] / PEAK_FP32 / 40e-6, "the conv's share of its roof", 1e-9)

    def test_totals(self):
        total = self.report("two_streams", out="training\ndone\n").run["total"]
        self.assertEqual(total["flops"], 9 * (CONV["fp32"] + RELU["fp32"]))  # the nine steps that were watched
        self.assertEqual(total["bytes_dram"], 9 * (CONV["dram"] + RELU["dram"]))
        self.assertEqual(total["gpu_time_ns"], 9 * 50000)
        self.assertEqual(total["basis"], "extrapolated")

    def test_samples(self):
        report = self.report("two_streams", out="training\ndone\n")
        self.assert_steps(report, seen=9, hw=4, flops=1, time=1, classes=1)
        for row in report.document["kernels"]:
            self.assertEqual(row["samples"], {"hw": 4, "flops": 1, "time": 1})
            self.assertEqual(row["time_source"], "time")


class DoneBySamples(SmallTest):
    def test_three_samples_of_each_phase_and_a_check_of_flops(self):
        report = self.report("varying_work", "--step-range", "^step$")
        # Three launches of the key in each step: one window of a phase has its samples.
        self.assert_steps(report, hw=4, flops=2, time=3)
        row = report.document["kernels"][0]
        self.assertEqual(row["samples"], {"hw": 12, "flops": 6, "time": 9})
        self.assertEqual(row["flags"], ["mixed_work"])  # and not work_varies: every step has the same three
        self.assert_work(report.layer(("step", "gemm"), "none"), 1 + 2 + 3, CONV)

    def test_a_kernel_launched_once_a_step_has_three_windows(self):
        report = self.report("capture_in_step", "--step-range", "^step$")
        self.assert_steps(report, hw=12, flops=2, time=3)
        for row in report.document["kernels"]:
            self.assertEqual(row["samples"], {"hw": 12, "flops": 2, "time": 3})
            self.assertEqual(row["flags"], ["small_grid"] if row["name"].startswith("relu") else [])  # 128 blocks for 132 SMs


class Waves(SmallTest):
    def test_what_a_block_takes_says_how_many_waves_a_grid_is(self):
        report = self.report("waves")
        self.assert_nothing_lost(report)
        rows = {row["name"].partition("(")[0]: row for row in report.document["kernels"]}
        told = {name: tuple(row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")) for name, row in rows.items()}
        self.assertEqual(told, {"little": (64, 0, 4, 256 / 528), "full": (64, 0, 4, 10), "tail": (64, 0, 4, 594 / 528),
                                "shared": (32, 50000, 4, 1), "untold": (None, None, None, None)})
        self.assertEqual({row["flags"][0] for row in rows.values()}, {"flops_unchecked"})  # one flops window
        bounds = {name: (row["roof"]["bound"], row["flags"][1:]) for name, row in rows.items()}
        self.assertEqual(bounds, {"little": ("small", ["small_grid"]), "full": ("latency", []), "tail": ("latency", ["tail"]),
                                  "shared": ("latency", []), "untold": ("latency", [])})
        self.assertEqual(report.layer(("step", "little"), "none")["roof"]["bound"], "small")
        self.assertEqual(report.layer(("step", "rest"), "none")["roof"]["bound"], "latency")
        self.assertEqual(report.layer(("step",), "none")["roof"]["bound"], "latency")  # 40 of 200 us are in a small grid


class Contexts(SmallTest):
    def test_two_contexts(self):
        report = self.report("two_contexts")
        self.assert_plain_step(report)
        self.assert_nothing_lost(report)
        self.assertEqual(report.layer((), "none")["time_ns"]["busy"], 40000)

    def test_two_devices_are_two_sets_of_rows(self):
        report = self.report("two_devices")
        self.assert_nothing_lost(report)
        self.assertEqual(sorted(report.on_device), [0, 1])
        self.assert_work(report.on_device[0][("step", "conv"), "none"], 1, CONV)
        self.assert_work(report.on_device[1][("step", "conv"), "none"], 2, CONV)
        self.assertEqual([device["id"] for device in report.document["devices"]], [0, 1])

    def test_a_context_that_ends_before_the_program(self):
        report = self.report("context_destroyed", code=4)
        self.assert_plain_step(report)
        self.assert_nothing_lost(report)

    def test_a_context_that_ends_in_a_counter_window(self):
        report = self.report("context_in_window")
        self.assert_plain_step(report)
        self.assertEqual(report.run["lost"]["unattributed_launches"], 0)


class Modules(SmallTest):
    def test_handles_that_are_used_again_for_other_kernels(self):
        report = self.report("module_unloaded")
        self.assert_nothing_lost(report)
        self.assert_plain_step(report)
        names = {row["name"]: report.document["layers"][row["layer"]]["path"] for row in report.document["kernels"]}
        self.assertEqual(names, {"conv(float const*, float*)": ["step", "conv"], "relu(float*)": ["step", "relu"]})


class Threads(SmallTest):
    def test_backward_on_another_thread(self):
        report = self.report("two_threads")
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV)
        self.assert_work(report.layer(("step", "conv"), "backward"), 1, CONV)
        self.assert_work(report.layer(("relu",), "none"), 1, RELU)
        self.assert_nothing_lost(report)
        self.assertEqual(report.document["step"]["busy_ns"], 90000)

    def test_a_range_that_ends_on_another_thread(self):
        report = self.report("start_end")
        self.assert_nothing_lost(report)
        self.assert_work(report.layer(("both",), "none"), 1, CONV, RELU)
        self.assertEqual(report.layer(("both",), "none")["time_ns"]["self"], 10000)

    def test_unbalanced_ranges(self):
        self.assert_plain_step(self.report("unbalanced"), above=("other:forgotten", "step"))


class Launches(SmallTest):
    def test_every_call_that_launches(self):
        report = self.report("launch_kinds")
        self.assert_nothing_lost(report)
        relu = report.layer(("step", "relu"), "none")
        self.assert_work(relu, 6, RELU)
        # Three on the default stream from 2 us, three on the thread's own, which wait for each other: 2 to 62.
        self.assertEqual((relu["launches"], relu["time_ns"]["busy"]), (6, 60000))
        cluster = [row for row in report.document["kernels"] if row["symbol"] == "_Z8clustersPf"][0]
        self.assertEqual((cluster["grid"], cluster["block"], cluster["time_ns"]["mean"]), ([64, 1, 1], [128, 1, 1], 7000))
        self.assertEqual(cluster["bytes"]["dram"], 320)

    def test_one_kernel_three_sizes(self):
        report = self.report("varying_work")
        gemm = report.layer(("step", "gemm"), "none")
        self.assert_work(gemm, 1 + 2 + 3, CONV)
        time = report.document["kernels"][0]["time_ns"]
        self.assertEqual((time["min"], time["mean"], time["max"], time["stddev"]), (40000, 80000, 120000, 40000))

    def test_a_graph_in_no_layer(self):
        report = self.report("graph")
        self.assert_nothing_lost(report)
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV)
        self.assert_work(report.layer((), "none"), 1, CONV, CONV, RELU)
        self.assertEqual(report.layer((), "none")["time_ns"]["self"], 50000)
        self.assertEqual(report.document["step"]["busy_ns"], 90000)

    def test_k_limits_the_counters(self):
        report = self.report("two_streams", "--step-range", "^step$", "--active", "1", "-k", "*relu*", out="training\ndone\n")
        self.assertEqual(report.layer(("step", "relu"), "none")["bytes"]["dram"], RELU["dram"])
        conv = report.layer(("step", "conv"), "none")
        self.assertEqual((conv["bytes"]["dram"], conv["flops"]["fp32"], conv["time_ns"]["total"]), (None, None, 40000))

    def test_automatic_ranges_say_the_same(self):
        report = self.report("two_contexts", "--step-range", "^step$", "--active", "1", "--ranges", "auto")
        self.assert_plain_step(report)
        self.assert_nothing_lost(report)


class Waits(SmallTest):
    def test_the_launch_latency_is_measured_where_the_gpu_is_idle(self):
        report = self.report("latency")
        self.assert_nothing_lost(report)
        self.assertEqual(report.document["step"]["launch_latency_ns"], 5000)
        bounds = {row["name"].partition("(")[0]: row["roof"]["bound"] == "overhead" for row in report.document["kernels"]}
        self.assertEqual(bounds, {"conv": False, "relu": False, "tiny": True})
        counted = self.report("latency", *STEPS, "--phases", "hw,flops")
        self.assertIsNone(counted.document["step"]["launch_latency_ns"], "counters delay kernels")

    def test_without_waits_the_launch_latency_is_unknown(self):
        self.assertIsNone(self.report("idle").document["step"]["launch_latency_ns"])

    def test_waits_are_in_their_layers(self):
        report = self.report("waits")
        self.assert_nothing_lost(report)
        waits = {"/".join(path): row["sync_ns"] for (path, _), row in report.layers.items()}
        self.assertEqual(waits, {"": 50000, "step": 50000, "step/model": 40000, "step/model/block": 40000, "step/loss": 0})
        self.assertEqual(report.document["step"]["sync_ns"], 50000)
        counted = self.report("waits", "--phases", "hw,flops")
        self.assertEqual({row["sync_ns"] for row in counted.layers.values()}, {None}, "counter windows slow the program down")


class Copies(SmallTest):
    def test_copies(self):
        report = self.report("copies")
        self.assert_plain_step(report)
        found = {row["kind"]: (row["count"], row["bytes"], row["time_ns"]) for row in report.document["copies"]}
        self.assertEqual(found, {"host_to_device": (1, 1048576, 50000), "device_to_host": (1, 4096, 3000),
                                 "device_to_device": (1, 65536, 2000), "memset": (1, 1024, 1000)})
        self.assertEqual(report.document["step"]["copy_ns"], 56000)
        # One stream: 2 us until the first copy, then 106 us without a gap.
        self.assertEqual(report.document["step"]["wall_ns"]["mean"], 108000)

    def test_idle(self):
        step = self.report("idle").document["step"]
        self.assertEqual((step["wall_ns"]["mean"], step["busy_ns"], step["idle_ns"]), (114000, 50000, 64000))


class Counters(SmallTest):
    def test_the_time_is_that_without_counters(self):
        self.assert_plain_step(self.report("counted_time"))

    def test_a_run_too_short_for_times_has_the_counted_ones_of_long_kernels(self):
        report = self.gable(longer("short_run")).report
        self.assert_steps(report, seen=7, hw=4, flops=1, time=0)
        conv, relu = (report.layer(("step", name), "none") for name in ("conv", "relu"))
        # 4 ms, of which the counter says 4.4; 1 ms is too short for a range that lasts longer.
        self.assertEqual((conv["time_ns"]["total"], relu["time_ns"]["total"]), (4400000, None))
        self.assertEqual((conv["flops"]["fp32"], conv["bytes"]["dram"]), (CONV["fp32"], CONV["dram"]))
        self.assertEqual((relu["flops"]["fp32"], relu["bytes"]["dram"]), (RELU["fp32"], RELU["dram"]))
        self.assert_noted(report, "Times of 1 kernel are gpu__time_duration of counter windows, which are upper bounds: no time window "
                                  "saw them, and a counter range may last longer than its kernel, by 50 us and more.")
        self.assert_noted(report, "Times of 1 kernel are unknown, because no time window saw them: a counter range lasts longer than its "
                                  "kernel, by 50 us and more, which is too much for kernels below 1.28 ms.")
        self.assertEqual({row["name"][:4]: row["time_source"] for row in report.document["kernels"]}, {"conv": "hw", "relu": None})
        self.assertIsNone(report.document["step"]["wall_ns"]["mean"])

    def test_a_run_too_short_for_times_of_short_kernels_has_none(self):
        run = self.gable("short_run")
        self.assert_steps(run.report, seen=7, hw=4, flops=1, time=0)
        self.assert_plain_step(run.report, timed=False)
        self.assert_noted(run.report, "No time window was measured, so times are unknown: a counter range lasts longer than its kernel, by "
                                      "50 us and more, which is too much for kernels below 1.28 ms. If the program runs more steps, Gable "
                                      "measures times, too.")

    def test_an_unknown_counter_is_null_and_not_zero(self):
        report = self.report("unknown_metric")
        relu = report.layer(("step", "relu"), "none")
        self.assertEqual((relu["bytes"]["dram"], relu["bytes"]["dram_read"], relu["bytes"]["dram_write"]),
                         (None, None, 32 * 4096))
        self.assertEqual((relu["roof"]["bound"], relu["intensity"]["dram"]), ("unknown", None))
        root = report.layer((), "none")
        self.assertEqual((root["bytes"]["dram"], root["coverage"]["bytes"]), (CONV["dram"], 0.8))  # 40 of 50 us
        self.assertIsNone(root["intensity"]["dram"])

    def test_constants_that_move_are_no_work(self):
        report = self.report("moved_constants")
        conv = report.layer(("step", "conv"), "none")
        self.assertEqual((conv["flops"]["fp16"], conv["flops"]["fp32"]), (None, CONV["fp32"]))
        self.assertEqual(conv["flops"]["total"], CONV["fp32"])
        self.assert_noted(report, "1 kernel executed HFMA2 and no other 16-bit arithmetic, as moves of constants do: FP16 is unknown there and left out.")


if __name__ == "__main__":
    unittest.main()
