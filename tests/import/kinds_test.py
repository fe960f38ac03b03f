# SPDX-License-Identifier: Apache-2.0
"""Files with the wrong option, and formats of the tools that Gable does not read: known by what they begin with."""
import gzip
import unittest

from import_run import DATA, ImportTest, export_nsys

OPTIONS = ("--nsys", "--ncu", "--kineto")
REPORT = b"NVIDIA Tegra Profiler Report 2025@3@1@90-253135822126v0.\n\x0bLocal (CLI)"


class Kinds(ImportTest):
    def refused_by(self, path, *options):
        return [self.refused(option, path) for option in options]

    def test_files_of_the_other_options(self):
        trace = (DATA / "kineto_new.json").read_bytes()
        for path, own in ((export_nsys(self.folder / "a"), "--nsys"), (self.file("b", (DATA / "ncu_raw.csv").read_bytes()), "--ncu"),
                          (self.file("c", trace), "--kineto"), (self.file("d", gzip.compress(trace)), "--kineto")):
            for said in self.refused_by(path, *(each for each in OPTIONS if each != own)):
                self.assertIn(f"{path} ", said)
                self.assertIn(f"give it with {own}.", said)
            self.report(own, path)

    def test_reports_of_the_tools_by_what_is_in_them(self):
        for option in ("--ncu", "--kineto"):
            self.assertIn("nsys export --type sqlite -o renamed.sqlite", self.refused(option, self.file("renamed.bin", REPORT)))
        for option in ("--nsys", "--kineto"):
            self.assertIn("--csv --page raw --print-units base", self.refused(option, self.file("renamed.bin", b"NVR\0\x10\0\0\0")))

    def test_other_exports_of_nsys(self):
        folder = self.folder / "parquet"
        folder.mkdir()
        (folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet").write_bytes(b"PAR1")
        for path, name in ((self.file("a.jsonl", '{"data":["[Unknown]","main"],"files":[]}\n{"Type":59,"NvtxEvent":{"Type":59}}\n'), "as JSON"),
                           (self.file("b.jsonl", '{"CudaEvent":{"startNs":"1","endNs":"2"}}\n'), "as JSON"),
                           (self.file("c.arrow", b"ARROW1\0\0"), "Arrow"), (self.file("d.arrows", b"\xff\xff\xff\xff\x10\0\0\0"), "Arrow"),
                           (self.file("e.parquet", b"PAR1\x15"), "Parquet"), (folder, "Parquet"), (self.file("f.h5", b"\x89HDF\r\n\x1a\n\0"), "HDF5"),
                           (self.file("g.csv", "Time (%),Total Time (ns),Instances,Avg (ns)\n1,2,3,4\n"), "a summary of nsys stats")):
            for said in self.refused_by(path, *OPTIONS):
                self.assertIn(name, said)
                self.assertIn("make one with nsys export --type sqlite of the same .nsys-rep file, and give it with --nsys.", said)

    def test_what_gable_does_not_read(self):
        for said in self.refused_by(self.file("a.pb", b"\x0a\x0d\x08\x02\x12\x09/host:CPU\x1a\0"), *OPTIONS):
            self.assertIn("is an XPlane file of JAX's or TensorFlow's profiler: give it with --xplane.", said)
        own = self.folder / "own.json"
        self.report("--kineto", DATA / "kineto_new.json")
        own.write_text(self.text)
        for said in self.refused_by(own, *OPTIONS):
            self.assertIn("gable report shows it", said)

    def test_a_log_with_json_around_ncus_rows_is_ncus(self):
        self.report("--ncu", self.file("log.csv", b'{"traceEvents": "what the program printed"}\n' + (DATA / "ncu_raw.csv").read_bytes()))


if __name__ == "__main__":
    unittest.main()
