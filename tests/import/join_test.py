# SPDX-License-Identifier: Apache-2.0
"""Times of one tool and counters of another in one report."""
import json
import unittest

from import_run import DATA, ImportTest, export_nsys, kernel, layer, notes

HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
        '"Section Name","Metric Name","Metric Unit","Metric Value"\n')
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"


def launch(number, name, ffma, grid="(4, 1, 1)", block="(128, 1, 1)", cc="7.5"):
    rows = [(SASS.format("fadd"), "inst", 0), (SASS.format("fmul"), "inst", 0), (SASS.format("ffma"), "inst", ffma),
            ("dram__sectors_read.sum", "sector", 10), ("dram__sectors_write.sum", "sector", 5), ("gpu__time_duration.sum", "ns", 77)]
    return "".join(f'"{number}","1","app","h","{name}","1","7","{block}","{grid}","0","{cc}","Command line profiler metrics",'
                   f'"{metric}","{unit}","{value}"\n' for metric, unit, value in rows)


class Join(ImportTest):
    def nsys(self, *changes):
        return export_nsys(self.folder / "times.sqlite", *changes)

    def ncu(self, *launches, name="counters.csv"):
        return self.file(name, HEAD + "".join(launch(i, *each[:-1], **each[-1]) if isinstance(each[-1], dict) else launch(i, *each)
                                              for i, each in enumerate(launches)))

    RELU = ("relu(float *)", 7, {"grid": "(8, 1, 1)", "block": "(256, 1, 1)"})

    def test_files_without_options_are_joined_in_any_order(self):
        times, counters = self.nsys(), self.ncu(("gemm(float *, int)", 100), self.RELU, ("gemm(float *, int)", 300), self.RELU)
        told = self.report("--nsys", times, "--ncu", counters)["kernels"]
        self.assertEqual(self.report(counters, times)["kernels"], told)
        self.assertEqual(self.report(counters, "--nsys", times)["kernels"], told)

    def test_times_and_layers_of_nsys_with_counters_of_ncu(self):
        report = self.report("--nsys", self.nsys(), "--ncu",
                             self.ncu(("gemm(float *, int)", 100), self.RELU, ("gemm(float *, int)", 300), self.RELU))
        mm = layer(report, "model", "aten::mm")
        gemm = kernel(report, "gemm(float *, int)", layer=mm["id"])
        # By order: the first of two gemms is in this layer.
        self.assertEqual(gemm["flops"]["fp32"], 200)
        self.assertEqual(gemm["bytes"]["dram"], 32 * 15)
        self.assertEqual(gemm["time_ns"]["mean"], 500)
        self.assertEqual(gemm["time_source"], "time")
        self.assertEqual(gemm["flops_per_s"], 200 / 500e-9)
        other = layer(report, "mylib:registered")
        self.assertEqual(kernel(report, "gemm(float *, int)", layer=other["id"])["flops"]["fp32"], 600)
        self.assertIn("by name, grid, block and order for 4 of 4 launches", notes(report))
        self.assertIn("times from nsys 2025.3.1.90 (times.sqlite); counters from ncu (counters.csv)", notes(report))

    def test_a_file_that_is_named_twice_does_not_count_twice(self):
        times, counters = self.nsys(), self.ncu(self.RELU)
        link = self.folder / "link"
        for option, path in (("--nsys", times), ("--ncu", counters)):
            self.assertEqual(self.refused(option, path, option, path), f"gable: {path} is given twice: name each file once.")
        link.symlink_to(times)
        self.assertEqual(self.refused("--nsys", times, "--nsys", link), f"gable: {link} is given twice: name each file once.")

    def test_another_order_is_joined_by_name_with_sums_and_said(self):
        report = self.report("--nsys", self.nsys(), "--ncu",
                             self.ncu(self.RELU, ("gemm(float *, int)", 100), ("gemm(float *, int)", 300), self.RELU))
        mm = layer(report, "model", "aten::mm")
        self.assertEqual(kernel(report, "gemm(float *, int)", layer=mm["id"])["flops"]["fp32"], 400)
        self.assertIn("by name and sums", notes(report))

    def test_another_number_is_joined_by_name_with_sums(self):
        report = self.report("--nsys", self.nsys(), "--ncu", self.ncu(("gemm(float *, int)", 100)))
        gemms = [row for row in report["kernels"] if row["name"].startswith("gemm")]
        self.assertEqual([row["flops"]["fp32"] for row in gemms], [200, 200])
        relu = [row for row in report["kernels"] if row["name"].startswith("relu")]
        self.assertTrue(all(row["flops"]["total"] is None for row in relu))
        self.assertIn("2 have none", notes(report))

    def test_another_grid_is_another_kernel(self):
        report = self.report("--nsys", self.nsys(), "--ncu", self.ncu(("gemm(float *, int)", 100, {"grid": "(5, 1, 1)"})))
        self.assertTrue(all(row["flops"]["total"] is None for row in report["kernels"]))
        self.assertIn("belong to no kernel with a time", notes(report))

    def test_names_without_parameters(self):
        report = self.report("--nsys", self.nsys(), "--ncu", self.ncu(("gemm", 100), ("gemm", 300)))
        mm = layer(report, "model", "aten::mm")
        self.assertEqual(kernel(report, "gemm(float *, int)", layer=mm["id"])["flops"]["fp32"], 200)

    def test_names_as_other_demanglers_write_them(self):
        times = self.nsys("UPDATE StringIds SET value = 'void k<(int)4, (bool)1>(float *, int)' WHERE id = 1")
        report = self.report("--nsys", times, "--ncu", self.ncu(("void k<4, 1>(float*, int)", 100), ("void k<4, 1>(float*, int)", 300)))
        self.assertEqual(sorted(row["flops"]["fp32"] or 0 for row in report["kernels"] if row["name"].startswith("void k")), [200, 600])

    def named(self, *names):
        """Times of kernels with these names, of one grid and block."""
        return self.file("named.json", json.dumps({"schemaVersion": 1, "traceEvents": [
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100 + 10 * i, "dur": 5,
             "args": {"device": 0, "grid": [4, 1, 1], "block": [128, 1, 1], "correlation": i + 1}} for i, name in enumerate(names)]}))

    def joined(self, times, counted):
        """FLOPs by name, of launches that do 2, 4, 6 …"""
        report = self.report("--kineto", self.named(*times), "--ncu", self.ncu(*((name, i + 1) for i, name in enumerate(counted))))
        return [row["flops"]["fp32"] for row in sorted(report["kernels"], key=lambda row: times.index(row["symbol"]))]

    def test_names_of_one_kernel_as_tools_write_them(self):
        for timed, counted in (("void at::native::(anonymous namespace)::k<float>(float*)", "void at::native::<unnamed>::k<float>(float *)"),
                               ("void k<4, true, 7ul>(float const*, A)", "void k<(int)4, (bool)1, (unsigned long)7>(const T1 *, T2)"),
                               ("void k<f<float>(float*)::{lambda(int)#1}>(int, f<float>(float*)::{lambda(int)#1})",
                                "void k<f<float>(T1 *)::[lambda(int) (instance 1)]>(int, T1)"),
                               ("std::enable_if<true, void>::type a::k<int>(int)", "a::k<int>(int)"),
                               ("s(unsigned int, float const*)", "s(unsigned int, const float *)"), ("_Z1kPfi", "k(float *, int)"),
                               ("k(float *, int)", "_Z1kPfi"), ("void a::(anonymous namespace)::k<float>(float*)", "k"), ("k", "a::k(int)")):
            self.assertEqual(self.joined([timed, "other(int)"], [counted, "other(int)"]), [2, 4], timed)
            self.assertIn("for 2 of 2 launches", notes(json.loads(self.text)))

    def test_other_instances_of_a_template_get_nothing(self):
        self.assertEqual(self.joined(["void k<float>(float*)", "void k<double>(double*)"], ["void k<half>(half *)"]), [None, None])
        self.assertIn("The counters of 1 launch belong to no kernel with a time, and are left out.", notes(json.loads(self.text)))
        self.assertEqual(self.joined(["void k<float>(float*)"], ["void k<double>(double *)"]), [None])
        self.assertEqual(self.joined(["void a::k<float>(float*)"], ["void b::k<float>(float *)"]), [None])
        self.assertEqual(self.joined(["k(float*)"], ["k(double *)"]), [None])

    def test_kernels_of_one_namespace_without_a_name_are_different_ones(self):
        self.assertEqual(self.joined(["void at::native::<unnamed>::softmax<float>(float *)"], ["void at::native::<unnamed>::cat<float>(float *)"]),
                         [None])

    def test_names_that_do_not_tell_instances_apart_are_counted_in_a_note(self):
        times = ["void k<float>(float*)", "void k<double>(double*)", "other(int)"]
        self.assertEqual(self.joined(times, ["k", "k", "other"]), [None, None, 6])
        self.assertIn("The counters of 2 launches are left out: by name they could belong to several kernels", notes(json.loads(self.text)))
        self.assertNotIn("belong to no kernel", notes(json.loads(self.text)))
        # One that has its own full name may not leave the other for what is left.
        self.assertEqual(self.joined(times, ["void k<float>(float *)", "k", "other"]), [2, None, 6])
        self.assertIn("The counters of 1 launch are left out", notes(json.loads(self.text)))

    def test_times_of_a_trace_with_counters_of_ncu(self):
        report = self.report("--kineto", DATA / "kineto_new.json", "--ncu",
                             self.ncu(("gemm(float*)", 50, {"block": "(64, 1, 1)", "cc": "8.0"})))
        self.assertEqual(kernel(report, "gemm(float*)")["flops"]["fp32"], 100)
        self.assertEqual(report["run"]["unit"], "step")

    def test_files_of_different_gpus(self):
        said = self.refused("--nsys", self.nsys(), "--ncu", self.ncu(("gemm(float *, int)", 1, {"cc": "9.0"})))
        self.assertIn("different GPUs", said)
        said = self.refused("--nsys", self.nsys(), "--kineto", DATA / "kineto_new.json")
        self.assertIn("different GPUs", said)

    def test_two_files_of_times_are_one_run(self):
        report = self.report("--nsys", self.nsys(), "--nsys", self.nsys_again())
        self.assertEqual(report["run"]["total"]["gpu_time_ns"], 2 * 1301)

    def nsys_again(self):
        path = self.nsys_copy = self.folder / "again.sqlite"
        path.write_bytes((self.folder / "times.sqlite").read_bytes())
        return path


if __name__ == "__main__":
    unittest.main()
