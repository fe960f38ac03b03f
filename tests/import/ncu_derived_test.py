# SPDX-License-Identifier: Apache-2.0
"""Files of ncu: what follows from several metrics, and the roofs that ncu states."""
import unittest

from import_run import ImportTest, kernel, notes, run
from ncu_pages import HEAD, row


class Derived(ImportTest):
    def one_metric_files(self, launches, metrics, cc="7.0", shuffled=()):
        """A file for each metric: `launches` are (kernel, values), `shuffled` the metrics whose file has another order of kernels."""
        files = []
        for place, (metric, unit) in enumerate(metrics):
            order = sorted(launches, key=lambda each: each[0]) if metric in shuffled else launches
            text = "".join(row(i, name, metric=metric, unit=unit, value=str(values[place]), cc=cc) for i, (name, values) in enumerate(order))
            files.append(self.file(f"{place}.csv", HEAD + text))
        return files

    def test_what_follows_from_several_metrics_follows_from_several_files(self):
        """Cycles, their rate and instructions in a file each, as scripts for rooflines of V100 run ncu; two files in another order."""
        sass = "sm__sass_thread_inst_executed_op_%s_pred_on.sum"
        metrics = [("smsp__cycles_elapsed.avg", "cycle"), ("smsp__cycles_elapsed.avg.per_second", "cycle/nsecond"), (sass % "fadd", "inst"),
                   (sass % "fmul", "inst"), (sass % "ffma", "inst"), ("sm__inst_executed_pipe_tensor.sum", "inst"), ("dram__bytes.sum", "byte"),
                   ("lts__t_bytes.sum", "byte")]
        launches = [("b", (2_000_000, 1.25, 10, 20, 30, 4, 1000, 5000)), ("a", (1_000_000, 1.25, 1, 2, 3, 0, 100, 500)),
                    ("b", (4_000_000, 1.6, 30, 40, 50, 8, 3000, 7000))]
        report = self.report(*(part for path in self.one_metric_files(launches, metrics, shuffled=(metrics[1][0], metrics[5][0]))
                               for part in ("--ncu", path)))
        a, b = kernel(report, "a"), kernel(report, "b")
        self.assertEqual((a["launches"], b["launches"]), (1, 2))
        self.assertAlmostEqual(a["time_ns"]["mean"], 800_000)
        self.assertAlmostEqual(b["time_ns"]["total"], 1_600_000 + 2_500_000)  # each launch by its own rate
        self.assertEqual((a["flops"]["fp32"], b["flops"]["fp32"]), (9, (10 + 20 + 60 + 30 + 40 + 100) / 2))
        # 512 operations of one HMMA; a kernel without any did none, and nothing is left to be said of it.
        self.assertEqual((a["flops"]["tensor"], b["flops"]["tensor"]), ({"fp16": 0}, {"fp16": 512 * 6}))
        self.assertEqual((a["flops"]["total"], b["flops"]["total"]), (9, 130 + 512 * 6))
        self.assertEqual((a["bytes"]["l2"], b["bytes"]["l2"], b["bytes"]["dram"]), (500, 6000, 2000))
        self.assertEqual((a["flags"], b["flags"]), (["l2_all"], ["l2_all"]))
        self.assertIn("cycles over the clock's rate", notes(report))
        self.assertNotIn("not fully counted", notes(report))

    def test_one_instruction_of_other_tensor_cores_tells_no_work(self):
        for cc, count, total in (("8.0", 5, None), ("8.0", 0, 9), ("10.0", 0, None), ("7.5", 7, None)):
            with self.subTest(cc, count=count):
                metrics = [("gpu__time_duration.sum", "ns"), ("sm__inst_executed_pipe_tensor.sum", "inst")]
                metrics += [(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum", "inst") for op in ("fadd", "fmul", "ffma")]
                report = self.report("--ncu", *self.one_metric_files([("s16816gemm", (100, count, 1, 2, 3))], metrics, cc))
                self.assertEqual(kernel(report, "s16816gemm")["flops"]["total"], total)

    def test_no_instruction_of_any_kind_is_no_work(self):
        """Of each kind on floating point that the chip has."""
        kinds = {"7.0": ["hmma"], "7.5": ["hmma"], "8.0": ["hmma", "dmma"], "8.6": ["hmma"], "9.0": ["hmma", "dmma", "gmma"]}
        sass = [(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum", "inst") for op in ("fadd", "fmul", "ffma")]
        for cc, names in {**kinds, "8.9": None, "10.0": None}.items():
            for unit in ("sm", "smsp"):
                for missing in [None, *(names or ())] if names else [True]:
                    counted = [(f"{unit}__inst_executed_pipe_tensor_op_{kind}.sum", "inst") for kind in (names or ["hmma", "imma", "dmma", "gmma"]) if kind != missing]
                    with self.subTest(cc, unit=unit, missing=missing):
                        values = (100, 1, 2, 3, *[0] * len(counted))
                        report = self.report("--ncu", *self.one_metric_files([("k", values)], [("gpu__time_duration.sum", "ns"), *sass, *counted], cc))
                        self.assertEqual(kernel(report, "k")["flops"]["total"], 9)
                        self.assertEqual(kernel(report, "k")["flags"], ["tensor_unknown"] if missing else [])
                        self.assertEqual("not fully counted" in notes(report), bool(missing))

    def test_instructions_a_cycle_of_the_roofline_section(self):
        """derived__smsp__… is what ran, derived__sm__… what could run."""
        fixed = [("gpu__time_duration.sum", "ns"), ("smsp__cycles_elapsed.avg", "cycle")]
        for metric, unit, value in (("derived__smsp__inst_executed_pipe_tensor_x512", "inst/cycle", 1024), ("derived__smsp__inst_executed_pipe_tensor_x512", "", 1024),
                                    ("smsp__inst_executed_pipe_tensor.sum.per_cycle_elapsed", "inst/cycle", 2), ("sm__inst_executed_pipe_tensor.sum.per_cycle_elapsed", "inst/cycle", 2)):
            one = kernel(self.report("--ncu", *self.one_metric_files([("k", (100, 1000, value))], [*fixed, (metric, unit)])), "k")
            self.assertEqual(one["flops"]["tensor"], {"fp16": 512 * 2 * 1000})
        peak = ("derived__sm__inst_executed_pipe_tensor_x512", "")
        one = kernel(self.report("--ncu", *self.one_metric_files([("k", (100, 1000, 1024))], [*fixed, peak])), "k")
        self.assertEqual((one["flops"]["tensor"], one["flops"]["total"]), ({}, None))

    def test_what_cuda_cores_could_do_is_not_what_they_did(self):
        def fp32(ffma):
            metrics = [("gpu__time_duration.sum", "ns"), ("smsp__cycles_elapsed.avg", "cycle")]
            metrics += [(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum.per_cycle_elapsed", "inst/cycle") for op in ("fadd", "fmul")] + ffma
            values = (100, 1000, 1, 2, *[4 if "smsp" in name else 33792 for name, _ in ffma])
            return kernel(self.report("--ncu", *self.one_metric_files([("k", values)], metrics, "8.0")), "k")["flops"]["fp32"]
        ran, could = (f"derived__{unit}__sass_thread_inst_executed_op_ffma_pred_on_x2" for unit in ("smsp", "sm"))
        self.assertEqual([fp32([(ran, "")]), fp32([(ran, ""), (could, "")]), fp32([(could, ""), (ran, "")]), fp32([(could, "")])], [7000, 7000, 7000, None])

    def test_peaks_that_ncu_states_are_roofs(self):
        """As ncu draws its own: what a unit can do in a cycle, at the unit's own clock. The peaks are those of an H100 with 132 SMs."""
        rate = "__cycles_elapsed.avg.per_second"
        metrics = [("gpu__time_duration.sum", "ns"), ("derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", ""),
                   ("derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2", ""),
                   ("derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4", ""), ("smsp" + rate, "cycle/nsecond"),
                   ("derived__lts__lts2xbar_bytes.sum.peak_sustained", "Kbyte/cycle"), ("lts__t_bytes.sum.peak_sustained", "byte/cycle"),
                   ("lts" + rate, "cycle/nsecond"), ("derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.peak_sustained", "byte/cycle"),
                   ("l1tex" + rate, "Ghz")]
        launches = [("k", (100, 33792, 16896, 67584, clock, 5.12, 9999, clock / 2, 16896, clock)) for clock in (1.5, 1.7, 1.6)]
        report = self.report("--ncu", *self.one_metric_files(launches, metrics, "9.0"))
        roofs = {each["name"]: (each["value"], each["source"]) for each in report["ceilings"]}
        for name, value in (("fp32", 33792 * 1.6e9), ("fp64", 16896 * 1.6e9), ("fp16", 67584 * 1.6e9), ("l2", 5120 * 0.8e9), ("l1", 16896 * 1.6e9)):
            self.assertAlmostEqual(roofs[name][0] / value, 1, 9, name)
            self.assertIn(f"ncu states {value / (0.8e9 if name == 'l2' else 1.6e9):.0f} ", roofs[name][1])
        self.assertNotIn("dram", roofs)  # neither its peak nor its clock is there
        one = self.report("--ncu", *self.one_metric_files([("k", (100, 5120, 1.6))], [metrics[0], ("lts__t_bytes.sum.peak_sustained", "byte/cycle"),
                                                                                      ("sm" + rate, "cycle/nsecond")], "9.0"))
        self.assertNotIn("l2", {each["name"] for each in one["ceilings"]})  # another unit's clock is not its own

    def test_l2_bytes_of_the_sms_go_before_those_of_all(self):
        metrics = [("gpu__time_duration.sum", "ns"), ("lts__t_bytes.sum", "byte"), ("lts__t_sectors_srcunit_tex.sum", "sector")]
        one = kernel(self.report("--ncu", *self.one_metric_files([("k", (100, 5000, 7))], metrics)), "k")
        self.assertEqual((one["bytes"]["l2"], one["flags"]), (7 * 32, []))

    def test_rates_are_of_their_own_units_cycles(self):
        metrics = [("sm__cycles_elapsed.avg", "cycle"), ("dram__cycles_elapsed.avg", "cycle"), ("dram__bytes.sum.per_cycle_elapsed", "byte/cycle")]
        one = kernel(self.report("--ncu", *self.one_metric_files([("k", (1000, 300, 2))], metrics)), "k")
        self.assertEqual(one["bytes"]["dram"], 600)
        one = kernel(self.report("--ncu", *self.one_metric_files([("k", (1000, 300, 2))], [metrics[0], metrics[0], metrics[2]])), "k")
        self.assertIsNone(one["bytes"]["dram"])  # another unit's clock says nothing of it

    def test_integers_on_tensor_cores_are_said(self):
        for metric, name in (("sm__inst_executed_pipe_tensor_op_imma.sum", "k"), ("gpu__time_duration.avg", "ampere_i16832gemm_int8"),
                             ("gpu__time_duration.avg", "sm90_xmma_gemm_i8i32_i8i32_i32_tn_n_tilesize128x128x128")):
            metrics = [("gpu__time_duration.sum", "ns"), (metric, "inst" if "inst" in metric else "ns")]
            report = self.report("--ncu", *self.one_metric_files([(name, (100, 64)), ("plain", (100, 0))], metrics, "8.0"))
            self.assertIn("integer_unknown", kernel(report, name)["flags"])
            self.assertNotIn("integer_unknown", kernel(report, "plain")["flags"])
            self.assertIn("1 kernel used tensor cores on integers", notes(report))


if __name__ == "__main__":
    unittest.main()
