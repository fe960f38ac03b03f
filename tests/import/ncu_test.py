# SPDX-License-Identifier: Apache-2.0
"""Files of ncu: pages, column sets, units, gaps, and what is no such file."""
import csv
import io
import re
import unittest

from import_run import DATA, ImportTest, kernel, notes, run

NAME = "gpu__time_duration.sum"
HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
        '"Section Name","Metric Name","Metric Unit","Metric Value"\n')


def row(number, name="k", metric=NAME, unit="ns", value="10", grid="(4, 1, 1)", cc="8.0"):
    return (f'"{number}","1","app","node1","{name}","1","7","(32, 1, 1)","{grid}","0","{cc}","Command line profiler metrics",'
            f'"{metric}","{unit}","{value}"\n')


class Pages(ImportTest):
    def test_metrics_amid_the_output_of_a_program(self):
        report = self.report("--ncu", DATA / "ncu_metrics.csv")
        add = kernel(report, "void add<float>(float *, float *, int)")
        self.assertEqual(add["launches"], 2)
        self.assertEqual(add["flops"]["fp32"], 1000 + 2000 + 2 * 3000)
        self.assertEqual(add["bytes"]["dram"], 32 * (1024 + 512))
        self.assertEqual(add["time_ns"]["mean"], 5120)
        self.assertEqual(add["time_source"], "hw")
        self.assertEqual((add["grid"], add["block"]), ([16, 2, 1], [128, 1, 1]))

    def test_na_is_unknown_and_not_zero(self):
        report = self.report("--ncu", DATA / "ncu_metrics.csv")
        other = kernel(report, 'name with "quotes", and a comma(const char *)')
        self.assertIsNone(other["flops"]["fp32"])
        self.assertIsNone(other["flops"]["total"])
        self.assertIsNone(other["counters"]["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"])
        self.assertEqual(other["counters"]["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"], 7)

    def test_details_with_rules_short_rows_and_scaled_units(self):
        report = self.report("--ncu", DATA / "ncu_details.csv")
        row = kernel(report, "gemm(float *)")
        self.assertEqual(row["time_ns"]["mean"], 2_000_000)
        self.assertEqual(row["bytes"]["dram"], 200_000_000)
        self.assertIsNone(row["bytes"]["dram_read"])
        # Rates per elapsed cycle times the cycles; what is already doubled is not doubled again.
        self.assertEqual(row["flops"]["fp32"], 10.5 * 2_000_000 + 64 * 2_000_000)
        self.assertEqual(report["devices"][0]["sm_count"], 40)
        self.assertEqual(report["devices"][0]["clocks_hz"]["sm_measured"], 1_000_000_000)
        self.assertNotIn("several lines", self.text)

    TAKES = (("launch__registers_per_thread", "register/thread", "128"), ("launch__shared_mem_per_block_static", "Kbyte/block", "20"),
             ("launch__shared_mem_per_block_dynamic", "byte/block", "1,000"))
    TITLES = ("Registers Per Thread", "Static Shared Memory Per Block", "Dynamic Shared Memory Per Block")

    def blocks(self, text):
        row = kernel(self.report("--ncu", self.file("blocks.csv", text)), "k")
        return [row[key] for key in ("registers", "shared_bytes", "blocks_per_sm")]

    def test_what_blocks_take(self):
        # 32 threads of 128 registers on 8.0: 16 blocks by registers, 167,936 / 22,144 = 7 by shared memory.
        wanted = [128, 21000, 7]
        self.assertEqual(self.blocks(HEAD + row(0) + "".join(row(0, metric=m, unit=u, value=v) for m, u, v in self.TAKES)), wanted)
        self.assertEqual(self.blocks(HEAD + row(0) + "".join(row(0, metric=t, unit=u, value=v) for t, (_, u, v) in zip(self.TITLES, self.TAKES))), wanted)
        raw = HEAD.split('"Section Name"')[0] + ",".join(f'"{name}"' for name in (NAME, *(m for m, _, _ in self.TAKES))) + "\n"
        raw += '"",' * 11 + ",".join(f'"{unit}"' for unit in ("ns", *(u for _, u, _ in self.TAKES))) + "\n"
        raw += row(0).split('"Command line')[0] + ",".join(f'"{value}"' for value in ("10", *(v for _, _, v in self.TAKES))) + "\n"
        self.assertEqual(self.blocks(raw), wanted)

    def test_what_blocks_take_is_unknown_unless_all_of_it_is_known(self):
        for left_out in range(3):
            takes = [each for i, each in enumerate(self.TAKES) if i != left_out]
            self.assertEqual(self.blocks(HEAD + row(0) + "".join(row(0, metric=m, unit=u, value=v) for m, u, v in takes)), [None] * 3)
        # That of the launch before is not this one's.
        text = HEAD + row(0, name="other") + "".join(row(0, name="other", metric=m, unit=u, value=v) for m, u, v in self.TAKES)
        self.assertEqual(self.blocks(text + row(1) + row(1, metric="launch__registers_per_thread", unit="", value="n/a")), [None] * 3)

    def test_one_metric_a_file_that_is_no_counter(self):
        """ncu --metrics launch__registers_per_thread --page raw, and another run for each other one."""
        head = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
        row = '"0","1","app","node1","k(int)","1","7","(32, 1, 1)","(4, 1, 1)","0","8.0",'
        files = [self.file(f"{i}.csv", f'{head}"{metric}"\n{"," .join([chr(34) * 2] * 11)},"{unit}"\n{row}"{value}"\n')
                 for i, (metric, unit, value) in enumerate((("launch__registers_per_thread", "register/thread", "40"),
                                                           ("launch__waves_per_multiprocessor", "", "0.5"),
                                                           ("gpu__time_duration.sum", "ns", "77")))]
        for order in (files, files[::-1]):
            report = self.report("--ncu", *order)
            self.assertEqual([(each["name"], each["launches"], each["time_ns"]["total"]) for each in report["kernels"]], [("k(int)", 1, 77)])
        self.assertIn('has neither "Metric Name" nor a metric', self.refused("--ncu", self.file("n.csv", head + '"Color"\n' + row + '"red"\n')))

    def test_how_kernels_use_the_gpu(self):
        """By full names and by the titles of the details page; launches of other sizes weigh in a layer, where their parts are known."""
        full = (("sm__warps_active.avg.pct_of_peak_sustained_active", "%", "40"), ("lts__t_sectors_lookup_hit.sum", "sector", "1,500"),
                ("lts__t_sectors.sum", "sector", "2,000"), ("smsp__thread_inst_executed_per_inst_executed.ratio", "", "24"))
        titles = (("Achieved Occupancy", "%", "80"), ("L2 Hit Rate", "%", "25"), ("Avg. Active Threads Per Warp", "", "16"))
        report = self.report("--ncu", self.file("use.csv", HEAD + row(0, "a", value="30") + row(1, "b", value="10")
                                                + "".join(row(2, "a2", metric=m, unit=u, value=v) for m, u, v in full)
                                                + "".join(row(3, "b2", metric=m, unit=u, value=v) for m, u, v in titles)))
        self.assertEqual([kernel(report, name)["metrics"] for name in "ab"], [None, None])
        a, b = (kernel(report, name)["metrics"] for name in ("a2", "b2"))
        self.assertEqual((a["occupancy"], a["l2_hit_rate"], a["warp_efficiency"], a["l1_hit_rate"]), (0.4, 0.75, 0.75, None))
        self.assertEqual((b["occupancy"], b["l2_hit_rate"], b["warp_efficiency"]), (0.8, 0.25, 0.5))
        both = HEAD + "".join(row(0, "a", metric=m, unit=u, value=v) for m, u, v in ((NAME, "ns", "30"), *full))
        both += "".join(row(1, "b", metric=m, unit=u, value=v) for m, u, v in ((NAME, "ns", "10"), *titles))
        root = self.report("--ncu", self.file("both.csv", both))["layers"][0]["metrics"]
        self.assertAlmostEqual(root["occupancy"], (30 * 0.4 + 10 * 0.8) / 40)
        self.assertIsNone(root["l2_hit_rate"])  # b's sectors are not known
        root = self.report("--ncu", self.file("both.csv", both + row(1, "b", metric="lts__t_sectors.sum", unit="sector", value="6,000")))
        self.assertAlmostEqual(root["layers"][0]["metrics"]["l2_hit_rate"], (1500 + 0.25 * 6000) / 8000)

    def test_what_ncu_measured_itself_is_shown_where_nothing_better_is(self):
        titles = (("Compute (SM) Throughput", "%", "23.6"), ("Memory Throughput", "%", "61.8"), ("DRAM Throughput", "%", "55"), ("Memory Throughput", "byte/second", "1000.5"))
        text = HEAD + row(0, value="2000") + "".join(row(0, metric=m, unit=u, value=v) for m, u, v in titles)
        file = self.file("t.csv", text)
        report = self.report("--ncu", file)
        use = kernel(report, "k")["metrics"]
        self.assertEqual([round(use[key], 9) for key in ("compute_throughput", "memory_throughput", "dram_throughput")], [0.236, 0.618, 0.55])
        self.assertIn("The counters do not tell FLOPs of the kernel: next time collect ncu --set roofline", notes(report))
        said = self.table()
        self.assertRegex(said, r"SM thr\.\s+mem thr\.")
        self.assertRegex(said, r"23\.6 %\s+61\.8 %")
        # With its work and a GPU's roofs there is a better answer.
        work = "".join(row(0, metric=f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum", unit="inst", value="100000") for op in ("fadd", "fmul", "ffma"))
        report = self.report("--ncu", self.file("t.csv", text + work), "--gpu", "A100-80GB")
        self.assertIsNotNone(kernel(report, "k")["roof"]["fraction"])
        self.assertNotIn("SM thr.", self.table())
        self.assertNotIn("do not tell", notes(report))

    def test_columns_of_2020(self):
        row = kernel(self.report("--ncu", DATA / "ncu_2020.csv"), "step_kernel")
        self.assertEqual(row["launches"], 2)
        self.assertIsNone(row["grid"])
        self.assertAlmostEqual(row["time_ns"]["mean"], 10_000)  # cycles over their rate
        self.assertEqual(row["flops"]["fp32"], 30 + 4 + 2 * 500)
        self.assertEqual(row["bytes"]["dram"], 2500)

    def test_raw_page_with_a_row_of_units(self):
        row = kernel(self.report("--ncu", DATA / "ncu_raw.csv"), "hgemm")
        self.assertEqual(row["launches"], 2)
        self.assertEqual(row["bytes"]["dram_read"], 1_500_000)
        self.assertEqual(row["bytes"]["dram"], 1_750_000)
        self.assertEqual(row["time_ns"]["mean"], 4500)

    def test_a_sum_and_its_parts_are_not_added(self):
        row = kernel(self.report("--ncu", DATA / "ncu_raw.csv"), "hgemm")
        self.assertEqual(row["flops"]["tensor"], {"fp16": 8192})
        self.assertEqual(row["counters"]["sm__ops_path_tensor_src_fp16_sparsity_off.sum"], 8192)

    def test_names_of_processes_and_hosts_stay_out(self):
        self.report("--ncu", DATA / "ncu_metrics.csv")
        for word in ("node1", "train", "/opt"):
            self.assertNotIn(word, self.text)


class ManyFiles(ImportTest):
    ONES = [DATA / f"ncu_one_{name}.csv" for name in ("fadd", "fmul", "ffma")]

    def test_one_metric_a_file(self):
        report = self.report("--ncu", *self.ONES)
        a, b = kernel(report, "a"), kernel(report, "b")
        self.assertEqual((a["launches"], b["launches"]), (2, 1))
        self.assertEqual(a["flops"]["fp32"], ((1 + 2 + 6) + (5 + 6 + 14)) / 2)
        self.assertEqual(b["flops"]["fp32"], 40)

    def test_another_order_is_joined_by_name_and_said(self):
        report = self.report("--ncu", *self.ONES, DATA / "ncu_one_order.csv")
        self.assertEqual(kernel(report, "a")["launches"], 2)
        self.assertEqual(kernel(report, "a")["bytes"]["dram_read"], 150 * 32)
        self.assertEqual(kernel(report, "b")["bytes"]["dram_read"], 8 * 32)
        self.assertIn("another order", notes(report))

    def test_a_kernel_and_a_metric_a_file(self):
        """As `ncu -k NAME` runs once for each kernel and metric: what is new is so for that kernel."""
        metrics = (("dram__bytes_read.sum", "byte"), ("dram__bytes_write.sum", "byte"), (NAME, "ns"))
        values = {"k": (32, 1, 100), "q": (64, 2, 200)}
        files = [self.file(f"{place}-{name}.csv", HEAD + row(0, name, metric, unit, str(values[name][place])))
                 for place, (metric, unit) in enumerate(metrics) for name in values]
        report = self.report("--ncu", *files)
        for name, (read, write, time) in values.items():
            each = kernel(report, name)
            self.assertEqual((each["launches"], each["time_ns"]["total"], each["bytes"]["dram"]), (1, time, read + write))
        # The same metrics again are of further launches.
        again = self.file("again.csv", HEAD + row(0, "q", value="300"))
        report = self.report("--ncu", *files, again)
        self.assertEqual([(kernel(report, name)["launches"], kernel(report, name)["time_ns"]["total"]) for name in "kq"], [(1, 100), (2, 500)])

    def test_without_durations_no_times_are_spoken_of(self):
        report = self.report("--ncu", self.file("bytes.csv", HEAD + row(0, "k", "dram__bytes_read.sum", "byte", "64")))
        self.assertIsNone(kernel(report, "k")["time_ns"]["mean"])
        self.assertIn("Imported: no times, as no file has gpu__time_duration.sum; counters from ncu (bytes.csv).", notes(report))
        self.assertNotIn("Times are those", notes(report))

    def one_metric_files(self, launches, metrics, cc="7.0", shuffled=()):
        """A file for each metric: `launches` are (kernel, values), `shuffled` the metrics whose file has another order of kernels."""
        files = []
        for place, (metric, unit) in enumerate(metrics):
            order = sorted(launches, key=lambda each: each[0]) if metric in shuffled else launches
            text = "".join(row(i, name, metric=metric, unit=unit, value=str(values[place]), cc=cc) for i, (name, values) in enumerate(order))
            files.append(self.file(f"{place}.csv", HEAD + text))
        return files

    def test_names_that_differ_from_file_to_file(self):
        """As --print-kernel-base, other versions of ncu and a demangler behind it make them."""
        def file(name, metric, unit, values):
            head = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
                    '"Section Name","Metric Name","Metric Unit","Metric Value"\n')
            return self.file(name, head + "".join(f'"{i}","1","app","h","{kernel_name}","1","7","(128, 1, 1)","(4, 1, 1)","0","8.0","S","{metric}","{unit}",'
                                                  f'"{value}"\n' for i, (kernel_name, value) in enumerate(values)))
        for one, other in (("void k<float, 3>(float *, int)", "void k<float,3>(float*,int)"), ("_Z1kPfi", "k(float *, int)"),
                           ("void k<(int)3>(const float *)", "void k<3>(float const*)"), ("<unnamed>::k(int)", "(anonymous namespace)::k(int)"),
                           ("void k<float>(float *)", "k"), ("void k<int>(int)", "k<int>(int)")):
            times = file("times.csv", "gpu__time_duration.sum", "ns", [(one, 10), ("other(int)", 20)])
            for values in ([(other, 640), ("other(int)", 320)], [("other(int)", 320), (other, 640)]):
                report = self.report("--ncu", times, file("bytes.csv", "dram__bytes_read.sum", "byte", values))
                self.assertEqual(sorted((row["time_ns"]["total"], row["bytes"]["dram_read"]) for row in report["kernels"]), [(10, 640), (20, 320)], one)
        times = file("times.csv", "gpu__time_duration.sum", "ns", [("void k<float>(float *)", 10), ("void k<int>(int *)", 20)])
        report = self.report("--ncu", times, file("bytes.csv", "dram__bytes_read.sum", "byte", [("k", 320), ("k", 640)]))
        self.assertEqual({row["bytes"]["dram_read"] for row in report["kernels"] if row["name"] != "k"}, {None})
        self.assertIn("Which kernels of the files before it 2 launches of bytes.csv are of is unknown", notes(report))

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

    def test_other_kernels_are_further_launches(self):
        one = self.file("one.csv", HEAD + row(0, "x", value="10"))
        two = self.file("two.csv", HEAD + row(0, "x", value="30") + row(1, "y"))
        report = self.report("--ncu", one, "--ncu", two)
        self.assertEqual(kernel(report, "x")["launches"], 2)
        self.assertEqual(kernel(report, "x")["time_ns"]["mean"], 20)
        self.assertEqual(kernel(report, "y")["launches"], 1)

    def test_two_outputs_in_one_file(self):
        report = self.report("--ncu", self.file("a.csv", HEAD + row(0, value="10") + "==PROF== Disconnected\n" + HEAD + row(0, value="30")))
        self.assertEqual((kernel(report, "k")["launches"], kernel(report, "k")["time_ns"]["mean"]), (2, 20))

    def test_a_grid_of_another_size_is_another_row(self):
        report = self.report("--ncu", self.file("a.csv", HEAD + row(0) + row(1, grid="(8, 1, 1)")))
        self.assertEqual(len(report["kernels"]), 2)
        said = self.table()
        self.assertRegex(said, r"k <<<4, 32>>>.*\n.*k <<<8, 32>>>")
        self.assertIn("2 of 2 kernels", said)

    def test_kernels_whose_long_names_differ_at_the_end_are_other_kernels(self):
        names = ["void kernel<" + 600 * "t" + "::{lambda(int)#%d}>(int)" % i for i in range(12)]
        report = self.report("--ncu", self.file("a.csv", HEAD + "".join(row(i, name, value=str(10 + i)) for i, name in enumerate(names))))
        self.assertEqual(len({each["name"] for each in report["kernels"]}), 12)
        said = self.table("--top", "20")
        self.assertIn("12 of 12 kernels", said)
        for i in range(12):
            self.assertIn("#%d}>(int)" % i, said)


class WrittenNumbers(ImportTest):
    """A locale's decimal mark, by what the file itself shows; what it does not show is asked for."""
    DRAM = "dram__bytes.sum"

    def values(self, *texts):
        rows = "".join(row(i, f"k{i}", self.DRAM, "byte", text) + row(i, f"k{i}", value="7") for i, text in enumerate(texts))
        report = self.report("--ncu", self.file("n.csv", HEAD + rows))
        return [kernel(report, f"k{i}")["bytes"]["dram"] for i in range(len(texts))]

    def test_the_decimal_mark_that_the_file_shows(self):
        for texts, wanted in ((("15,36", "1.234"), (15.36, 1234)), (("1.234", "0,5"), (1234, 0.5)), (("1.234,56", "7"), (1234.56, 7)),
                              (("1.000,5", "2.000"), (1000.5, 2000)), (("1,234", "1.5"), (1234, 1.5)), (("1.234", "0.5"), (1.234, 0.5)),
                              (("1,234", "5"), (1234, 5)), (("12.345.678", "1,234"), (12345678, 1.234)), (("12,34,567.5", "8"), (1234567.5, 8)),
                              (("1\u202f234,5", "1\u00a0234"), (1234.5, 1234)), (("1'234.5", "9"), (1234.5, 9)), (("1,234", "5,678"), (1234, 5678)),
                              # Blanks and apostrophes part the groups: the mark is of decimals.
                              (("1\u202f234", "1,234"), (1234, 1.234)), (("1,234", "12 345"), (1.234, 12345)), (("1.234", "1'234"), (1.234, 1234))):
            with self.subTest(texts):
                self.assertEqual(self.values(*texts), list(wanted))

    def test_a_whole_page(self):
        head = HEAD.split('"Section Name"')[0] + f'"{self.DRAM}","{NAME}"\n' + '"",' * 11 + '"byte","us"\n'
        rows = "".join(row(i, f"k{i}").split('"Command line')[0] + f'"{value}","1.024"\n' for i, value in enumerate(("3", "1.234", "2,75")))
        report = self.report("--ncu", self.file("raw.csv", head + rows))
        self.assertEqual([kernel(report, f"k{i}")["bytes"]["dram"] for i in range(3)], [3, 1234, 2.75])
        self.assertEqual(kernel(report, "k0")["time_ns"]["mean"], 1_024_000)

    def test_what_no_number_of_the_file_tells_is_asked_for(self):
        # Where numbers have no groups, three digits behind a comma are none either; and ncu prints no three decimals.
        for doubtful, other in (("1.234", "17"), ("1.234", "1234567"), ("1,234", "1234567"), ("1,234", "5.678"), ("1.234", "5,678")):
            said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value=doubtful) + row(1, value=other)))
            self.assertIn(f"'{doubtful}' may be with decimals or in groups of digits", said)
            self.assertIn("LC_ALL=C", said)

    def test_two_marks_in_one_file(self):
        said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value="15,36") + row(1, value="1.5")))
        self.assertIn("n.csv:3: '1.5' is no number where the decimal mark is a comma", said)

    def test_each_output_in_a_file_has_a_mark_of_its_own(self):
        text = HEAD + row(0, "a", value="15,36") + row(1, "a", value="1.234") + HEAD + row(0, "b", value="1.5") + row(1, "b", value="1,234")
        report = self.report("--ncu", self.file("two.csv", text))
        self.assertEqual([kernel(report, name)["time_ns"]["total"] for name in "ab"], [15.36 + 1234, 1.5 + 1234])

    def test_marks_that_make_no_number(self):
        for text in ("1,2,3", "1.2.3,4", "..5", "1,23,45"):
            with self.subTest(text):
                said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value=text)))
                self.assertIn(f"n.csv:2: '{text}' is no number", said)

    def test_text_is_unknown_wherever_it_stands(self):
        self.assertEqual(self.values("CachePreferNone", "nan", "15,36", "(!) n/a"), [None, None, 15.36, None])

    def test_signs_and_blanks_around_numbers(self):
        self.assertEqual(self.values("+5", " 6", "7\u00a0", "\u30008 ", "1\u2007234\u2007567", "+1,5"), [5, 6, 7, 8, 1234567, 1.5])

    def test_a_percent_sign_is_the_unit(self):
        def hit_rate(value, unit):
            return kernel(self.report("--ncu", self.file("p.csv", HEAD + row(0) + row(0, metric="L2 Hit Rate", unit=unit, value=value))), "k")["metrics"]["l2_hit_rate"]
        self.assertEqual([hit_rate("25%", "%"), hit_rate("25 %", ""), hit_rate("12,5%", "%")], [0.25, 0.25, 0.125])
        for unit, said in (("byte", "'5%' is no number"), ("", None)):
            text = HEAD + row(0) + row(0, metric=self.DRAM, unit=unit, value="5%")
            if said:
                self.assertIn(said, self.refused("--ncu", self.file("p.csv", text)))
            else:
                self.assertIsNone(kernel(self.report("--ncu", self.file("p.csv", text)), "k")["bytes"]["dram"])
                self.assertIn(f"{self.DRAM} is in '%'", notes(self.parsed()))

    def test_numbers_that_are_not_understood_are_refused(self):
        for value in ("\u0661\u066c\u0662\u0663\u0664", "\uff15\uff10\uff10", "1_234", "1\u3000234", "0x10", "1e", "(5)", "1 2 3", "5 foo", "+-5", "5%"):
            for metric, unit in ((self.DRAM, "byte"), ("lts__t_tag_requests.sum", "request"), ("Duration", "ns"), ("Registers Per Thread", "register/thread")):
                with self.subTest(value, metric=metric):
                    said = self.refused("--ncu", self.file("n.csv", HEAD + row(0) + row(0, metric=metric, unit=unit, value=value)))
                    self.assertIn("n.csv:3: '", said)
                    self.assertIn(f"is no number ({NAME if metric == 'Duration' else metric}): run ncu with LC_ALL=C", said)
        self.assertIn("out of range", self.refused("--ncu", self.file("n.csv", HEAD + row(0) + row(0, metric=self.DRAM, unit="byte", value="\u22125"))))

    def test_text_of_other_metrics_passes(self):
        text = HEAD + row(0) + "".join(row(0, metric=metric, unit="", value=value) for metric, value in
                                       (("Function Cache Configuration", "CachePreferNone"), ("device__attribute_display_name", "GPU \uff15 1_234"),
                                        ("launch__func_cache_config", "\u0661"), ("Driver", "535.104.05"), ("Policy", "1_2")))
        self.assertEqual(self.report("--ncu", self.file("t.csv", text))["devices"][0]["name"], "GPU \uff15 1_234")


class Amid(ImportTest):
    """Rows amid what the program printed, which may end without a line end and begin with a quote; and files that another program wrote again."""
    DRAM = "dram__bytes_read.sum"
    RAW = HEAD.split('"Section Name"')[0] + f'"{NAME}","{DRAM}"\n'
    UNITS = '"",' * 11 + '"us","Kbyte"\n'
    PRINTED = ("progress 50% ", "epoch 1\r", "5,6,7,", '"hello" world ', '"hello', '"', '""', '"0","1', '"1", 2, ', "\r\r", "a\nb", 'x"5", ', '"ID", ', "1,\r", 'say ""5"", ')
    AFTER = ('"done", 1, 2\n', '"hello\n', '"', '"\n', '"5"\n', "5,6\n", '{"a": "1","2"}\n', "12", 'last "5', '"a","b","c"', "ID,x\n", "I", "\r", '"ok"\r\n')

    def raw(self, number, ns=3, kbytes=4):
        return row(number, f"k{number}").split('"Command line')[0] + f'"{ns}","{kbytes}"\n'

    def times_and_bytes(self, text, name="a.csv"):
        report = self.report("--ncu", self.file(name, text))
        return sorted((each["name"], each["launches"], each["time_ns"]["total"], each["bytes"]["dram_read"]) for each in report["kernels"])

    def test_rows_behind_what_a_program_printed(self):
        for printed in self.PRINTED:
            with self.subTest(printed):
                text = HEAD + row(0, "k0") + printed + row(0, "k0", self.DRAM, "byte", "7") + printed + row(1, "k1") + row(1, "k1", self.DRAM, "byte", "9")
                self.assertEqual(self.times_and_bytes(printed + text), [("k0", 1, 10, 7), ("k1", 1, 10, 9)])
                text = printed + self.RAW + printed + self.UNITS + printed + self.raw(0) + printed + self.raw(1)
                self.assertEqual(self.times_and_bytes(text), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])

    def test_what_a_program_printed_last(self):
        for printed in self.AFTER:
            with self.subTest(printed):
                if not printed.startswith('"') or len(printed) > 1:
                    self.assertEqual(self.times_and_bytes(HEAD + row(0, "k0") + printed), [("k0", 1, 10, None)])
                if printed not in ('"', "I", "12", 'last "5'):
                    self.assertEqual(self.times_and_bytes(printed + "\n" + HEAD + row(0, "k0")), [("k0", 1, 10, None)])

    def test_rows_behind_long_lines(self):
        """Around the borders at which the file is read."""
        for length in (*range(262_144 - 40, 262_144 + 4, 3), 700_000):
            front = "x" * (length - len(self.RAW + self.UNITS)) + " "
            self.assertEqual(self.times_and_bytes(self.RAW + self.UNITS + front + self.raw(0) + self.raw(1)), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])

    def rewritten(self, text, quoting, index, delimiter=","):
        """By a program that reads tables: no more lines but the table's."""
        out = io.StringIO()
        write = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        for i, fields in enumerate(csv.reader(io.StringIO(text))):
            numbers = [float(each) if re.fullmatch(r"[0-9.]+", each) else each for each in fields] if quoting == csv.QUOTE_NONNUMERIC else fields
            write.writerow((["" if i == 0 else i - 1] if index else []) + numbers)
        return out.getvalue()

    def test_files_that_another_program_wrote_again(self):
        details = HEAD + row(0, "k<a, b>(int)") + row(0, "k<a, b>(int)", self.DRAM, "byte", "7") + row(1, 'q"')
        raw = self.RAW + self.UNITS + self.raw(0) + self.raw(1)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL):
            for index in (False, True):
                with self.subTest(quoting=quoting, index=index):
                    self.assertEqual(self.times_and_bytes(self.rewritten(details.replace('q"', "q"), quoting, index)), [("k<a, b>(int)", 1, 10, 7), ("q", 1, 10, None)])
                    self.assertEqual(self.times_and_bytes(self.rewritten(raw, quoting, index)), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])
        spreadsheet = self.rewritten(raw, csv.QUOTE_MINIMAL, False).replace(",8.0,", ",8,").replace("\n", "\r\n")
        self.assertEqual(self.times_and_bytes("==PROF== Connected,,,,\r\n" + spreadsheet), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])

    def test_other_separators_are_named(self):
        for delimiter, name in ((";", "semicolons"), ("\t", "tabs")):
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
                said = self.refused("--ncu", self.file("s.csv", self.rewritten(HEAD + row(0), quoting, False, delimiter)))
                self.assertIn(f"s.csv has {name} between its fields", said)
                self.assertIn("save it again with commas", said)

    def test_a_file_that_is_cut_anywhere(self):
        """Refused, or every whole row is there and no other."""
        details = HEAD + row(0, "k0") + "50% " + row(0, "k0", self.DRAM, "byte", "7") + row(1, "k1")
        raw = self.RAW + self.UNITS + self.raw(0) + "epoch\r" + self.raw(1)
        for text in (details, raw, self.rewritten(details.replace("50% ", ""), csv.QUOTE_MINIMAL, False)):
            refused = 0
            for length in range(len(text) - 130, len(text)):
                path = self.file("cut.csv", text[:length])
                done = run("--ncu", path, "-o", self.folder / "cut.json", check=False)
                lines = text[:length].splitlines(keepends=True)
                if done.returncode == 2:
                    self.assertRegex(done.stderr, rf"cut.csv:{text[:length].count(chr(10)) + 1}: .*cut off")
                    refused += 1
                else:
                    at = "" if text[length - 1] == "\n" else lines[-1]
                    self.assertTrue(at == "" or "epoch".startswith(at) or at in ("epoch\r", 'epoch\r"') or text[length] == "\n" and at[-1] == '"', at)
            self.assertGreater(refused, 100)

    def test_a_piece_of_a_row_is_refused(self):
        for lost in (4, 20):
            self.assertIn("p.csv:3: the", self.refused("--ncu", self.file("p.csv", HEAD + row(0) + row(1)[lost:] + row(2))))
        said = self.refused("--ncu", self.file("p.csv", HEAD + row(0) + row(1).replace('"1","7",', "")[4:] + row(2)))
        self.assertIn("p.csv:3: the line is a piece of a row, of which the rest is lost", said)
        self.assertIn("p.csv:2: the row has 16 fields", self.refused("--ncu", self.file("p.csv", HEAD + 'my "5",' + row(0))))
        for damaged in (row(1).replace('"app",', '"app"'), row(1).replace('"app"', '"app')):
            self.assertIn("p.csv:3", self.refused("--ncu", self.file("p.csv", HEAD + row(0) + damaged + row(2))))


class Units(ImportTest):
    """What ncu prints a value in; what is not understood makes it unknown, and a note says of which metric."""
    BYTES = "dram__bytes_read.sum"

    def one(self, metric, unit, value="3"):
        return kernel(self.report("--ncu", self.file("u.csv", HEAD + row(0, metric="sm__ctas_launched.sum", unit="block", value="4")
                                                     + row(0, metric=metric, unit=unit, value=value))), "k")

    def test_times(self):
        for unit, ns in (("ns", 1), ("\u00b5s", 1e3), ("\u03bcs", 1e3), ("usecond", 1e3), ("Second", 1e9), ("minute", 60e9), ("hour", 3600e9), ("psecond", 1e-3)):
            with self.subTest(unit):
                self.assertEqual(self.one(NAME, unit)["time_ns"]["total"], 3 * ns)

    def test_bytes(self):
        for unit, scale in (("byte", 1), ("Kbyte", 1e3), ("KiB", 1024), ("Kbytes", 1e3), ("Tbyte", 1e12), ("Pbyte", 1e15), ("Ebyte", 1e18)):
            with self.subTest(unit):
                self.assertEqual(self.one(self.BYTES, unit)["bytes"]["dram_read"], 3 * scale)

    def test_what_is_not_understood_is_unknown_and_said(self):
        for metric, unit in ((NAME, "cycle"), (NAME, "fortnight"), (NAME, "Msecond"), (self.BYTES, "mbyte"), (self.BYTES, "Mfoo"), (self.BYTES, "sector"),
                             ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "byte"), ("dram__bytes.sum.per_second", "byte")):
            with self.subTest(metric, unit=unit):
                one = self.one(metric, unit)
                self.assertIsNone(one["counters"][metric])
                self.assertEqual((one["time_ns"]["total"], one["bytes"]["dram_read"], one["counters"]["sm__ctas_launched.sum"]), (None, None, 4))
                self.assertIn(f"unknown: in u.csv {metric} is in '{unit}'", notes(self.parsed()))

    def test_of_many_metrics_three_are_named(self):
        text = HEAD + row(0) + "".join(row(0, metric=f"lts__t_bytes_{i}.sum", unit="Mfoo") for i in range(5))
        said = notes(self.report("--ncu", self.file("u.csv", text)))
        self.assertIn("lts__t_bytes_2.sum is in 'Mfoo' and so on, 5 metrics.", said)
        self.assertEqual(said.count("Mfoo"), 3)

    def test_the_raw_page_and_what_blocks_take(self):
        head = HEAD.split('"Section Name"')[0] + f'"{NAME}","{self.BYTES}","launch__shared_mem_per_block_static"\n'
        line = row(0).split('"Command line')[0] + '"10","20","30"\n'
        report = self.report("--ncu", self.file("raw.csv", head + '"",' * 11 + '"\u00b5s","furlong","foo/bar/baz"\n' + line))
        self.assertEqual((kernel(report, "k")["time_ns"]["total"], kernel(report, "k")["bytes"]["dram_read"]), (10_000, None))
        for said in (f"{self.BYTES} is in 'furlong'", "launch__shared_mem_per_block_static is in 'foo/bar/baz'"):
            self.assertIn(said, notes(report))
        report = self.report("--ncu", self.file("raw.csv", head + line))
        self.assertEqual((kernel(report, "k")["time_ns"]["total"], kernel(report, "k")["bytes"]["dram_read"]), (10, 20))
        self.assertIn("raw.csv does not say the units of its numbers", notes(report))

    def test_attributes_of_the_gpu(self):
        clock = "device__attribute_clock_rate"
        for unit, value, hz in (("", "1410000", 1.41e9), ("Ghz", "1.41", 1.41e9), ("cycle/nsecond", "1.41", 1.41e9)):
            report = self.report("--ncu", self.file("a.csv", HEAD + row(0) + row(0, metric=clock, unit=unit, value=value)))
            self.assertEqual(report["devices"][0]["clocks_hz"]["sm_max"], hz)
        said = self.refused("--ncu", self.file("a.csv", HEAD + row(0) + row(0, metric=clock, unit="foo", value="5")))
        self.assertIn(f"a.csv:3: '5 foo' is no value of {clock}", said)


class BadInput(ImportTest):
    def test_cut_off_within_a_row(self):
        text = HEAD + row(0) + row(1)
        said = self.refused("--ncu", self.file("cut.csv", text[:-30]))
        self.assertIn("cut.csv:3", said)

    def test_cut_off_between_fields(self):
        said = self.refused("--ncu", self.file("cut.csv", HEAD + row(0) + '"1","1","app","node1"\n'))
        self.assertIn("cut.csv:3: the row has 4 fields", said)

    def test_empty(self):
        self.assertIn("is empty", self.refused("--ncu", self.file("empty.csv", "")))

    def test_a_head_alone(self):
        said = self.refused("--ncu", self.file("head.csv", "==ERROR== No kernels were profiled.\n" + HEAD))
        self.assertIn("no launch", said)
        self.assertIn("No kernels were profiled", said)

    def test_binary(self):
        self.assertIn("binary", self.refused("--ncu", self.file("b.csv", bytes(range(256)) * 20)))

    def test_other_tools_files(self):
        self.assertIn("--kineto", self.refused("--ncu", self.file("t.json", '{"traceEvents": []}')))
        self.assertIn("--nsys", self.refused("--ncu", self.file("t.sqlite", b"SQLite format 3\0" + bytes(100))))
        self.assertIn("ncu --csv", self.refused("--ncu", self.file("t.txt", "hello\nworld\n")))

    def test_a_log_without_a_kernel_is_named(self):
        prof = "==PROF== Connected to process 7 (/home/me/app)\nthe program prints\n==PROF== Disconnected from process 7\n"
        said = self.refused("--ncu", self.file("a.log", prof))
        self.assertIn("is a log of ncu's without a kernel: see that its filters", said)
        said = self.refused("--ncu", self.file("a.log", prof + "==WARNING== No kernels were profiled.\n"))
        self.assertIn("without a kernel (ncu says: ==WARNING== No kernels were profiled.)", said)

    def test_a_run_that_failed_has_a_remedy(self):
        prof = "==PROF== Connected to process 7 (/usr/bin/python3.12)\n==PROF== Disconnected from process 7\n"
        for error, remedy in (("The application returned an error code (1).", "see that it ends well without ncu"),
                              ("ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters.", "run ncu as root"),
                              ("Profiling failed because a driver resource was unavailable.", "mend that")):
            said = self.refused("--ncu", self.file("a.csv", prof + "==ERROR== " + error + "\n"))
            self.assertIn("has no launches (ncu says: ==ERROR== " + error[:40], said)
            self.assertIn(remedy, said)
            self.assertIn(", and count again.", said)

    def test_text_without_csv_is_named(self):
        kernels = ("  k(int) (1, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n", "  k(int), 2020-Oct-28 10:36:31, Context 1, Stream 7\n")
        rule, head = "    " + "-" * 23 + "\n", "    Metric Name             Metric Unit Metric Value\n"
        prof = '==PROF== Connected to process 1\n==PROF== Profiling "k" - 0: 0%....100% - 9 passes\n'
        for text in (*(kernel + "    Section: GPU Speed Of Light Throughput\n" + rule for kernel in kernels), rule + head + rule + "    Duration    us   12.3\n"):
            for front in ("", prof, "==WARNING== Unable to access some metrics\n", '"hello"\n'):
                said = self.refused("--ncu", self.file("a.log", front + text))
                self.assertIn("with kernels in it: add --csv to its options", said)
        self.assertIn("kernels and none of their numbers: if ncu wrote a report, export that with ncu --import", self.refused("--ncu", self.file("a.log", prof)))

    def test_a_summary_is_named(self):
        text = '"Process ID","Kernel Name","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"\n"1","k","2","S","DRAM Throughput","%","5","15","10"\n'
        said = self.refused("--ncu", self.file("s.csv", text))
        self.assertIn("is a summary of ncu's (--print-summary)", said)
        self.assertIn("--page raw", said)

    def test_reports_of_nsight_compute_name_the_export(self):
        for content in (b"NVR\0" + bytes(50), b"anything"):
            said = self.refused("--ncu", self.file("run.ncu-rep", content))
            self.assertIn("ncu --import", said)
            self.assertIn("--csv --page raw", said)
        self.assertIn("ncu --import", self.refused("--ncu", self.file("renamed.csv", b"NVR\0" + bytes(50))))

    def test_numbers_out_of_range(self):
        for value in ("1e999", "-5", "9" * 40):
            with self.subTest(value):
                said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value=value)))
                self.assertIn("n.csv:2", said)
                self.assertIn("out of range", said)

    def test_sizes_that_are_none(self):
        self.assertIn("n.csv:2", self.refused("--ncu", self.file("n.csv", HEAD + row(0, grid="(4, 99999999999, 1)"))))

    def test_different_gpus(self):
        said = self.refused("--ncu", self.file("a.csv", HEAD + row(0)), self.file("b.csv", HEAD + row(0, cc="9.0")))
        self.assertIn("different GPUs", said)
        self.assertIn("b.csv:2", said)

    def test_no_such_file(self):
        self.assertIn("No such file or directory", self.refused("--ncu", self.folder / "missing.csv"))
        self.assertIn("is a folder", self.refused("--ncu", self.folder))

    def test_no_input(self):
        self.assertIn("--ncu", self.refused())


if __name__ == "__main__":
    unittest.main()
