# SPDX-License-Identifier: Apache-2.0
"""Files of ncu: pages, sets of columns, several files, and units."""
import unittest

from import_run import DATA, ImportTest, kernel, notes, run
from ncu_pages import HEAD, NAME, row


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
        self.assertIn("Which kernels of the files before it 2 launches of bytes.csv belong to is unknown", notes(report))

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
        self.assertIn(f"a.csv:3: '5 foo' is not a value of {clock}", said)


if __name__ == "__main__":
    unittest.main()
