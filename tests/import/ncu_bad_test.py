# SPDX-License-Identifier: Apache-2.0
"""What is no file of ncu, or a damaged one."""
import unittest

from import_run import ImportTest, kernel, run
from ncu_pages import HEAD, row


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
                              ("Profiling failed because a driver resource was unavailable.", "fix that")):
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
