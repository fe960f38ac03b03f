# SPDX-License-Identifier: Apache-2.0
"""Files with the wrong option, and formats of the tools that Gable does not read: known by what they begin with."""
import gzip
import json
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

    def test_files_without_an_option_are_known_by_what_they_begin_with(self):
        trace, pages = (DATA / "kineto_new.json").read_bytes(), (DATA / "ncu_raw.csv").read_bytes()
        files = {"--nsys": export_nsys(self.folder / "a"), "--ncu": self.file("b", pages), "--kineto": self.file("c", gzip.compress(trace))}
        for option, path in files.items():
            told, known = self.report(option, path), self.report(path)
            self.assertEqual([known[part] for part in ("layers", "kernels", "copies", "step")], [told[part] for part in ("layers", "kernels", "copies", "step")])

    def test_what_cannot_be_known_is_asked_for(self):
        self.assertIn("notes does not begin as a file of any tool that Gable knows: name the tool that wrote it, as in --ncu", self.refused(self.file("notes", "one\ntwo\n")))
        self.assertIn("nothing does not exist.", self.refused(self.folder / "nothing"))
        self.assertIn("make one with nsys export --type sqlite", self.refused(self.file("c.arrow", b"ARROW1\0\0")))

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

    def test_what_is_packed(self):
        packed = {"a.zip": b"PK\x03\x04\x14\0", "b.zst": b"\x28\xb5\x2f\xfd\x04", "c.xz": b"\xfd7zXZ\0\0", "d.bz2": b"BZh91AY&SY",
                  "e.gz": gzip.compress(gzip.compress(b"{}")), "f.tar": b"a.csv".ljust(257, b"\0") + b"ustar\x0000",
                  "g.tgz": gzip.compress(b"a.csv".ljust(257, b"\0") + b"ustar  \0")}
        for name, content in packed.items():
            for said in self.refused_by(self.file(name, content), *OPTIONS):
                self.assertIn(f"{name} is packed in a way that Gable does not read: unpack it", said)
        export = gzip.compress(export_nsys(self.folder / "a.sqlite").read_bytes())
        self.assertIn("unpack it with gunzip", self.refused("--nsys", self.file("a.sqlite.gz", export)))

    def test_what_was_not_downloaded(self):
        for name, content in (("a.json", "\n<!DOCTYPE html><html><head><title>404: Not Found</title></head></html>"), ("b.csv", "<HTML>no</HTML>"),
                              ("c.sqlite", '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>'),
                              ("d.json", '{"message": "Not Found", "status": "404"}')):
            for said in self.refused_by(self.file(name, content), *OPTIONS):
                self.assertIn("a web server's answer, not a profile: the file was not downloaded", said)
        for name in ("a.json.gz", "b.csv", "c.sqlite"):
            for said in self.refused_by(self.file(name, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2\nsize 12345\n"), *OPTIONS):
                self.assertIn("is a pointer of Git LFS: the file itself was not downloaded; git lfs pull fetches it.", said)

    def test_other_profilers(self):
        nvprof = ("==26243== NVPROF is profiling process 26243, command: python example.py\n==26243== Profiling result:\n",
                  '"Start","Duration","Grid X","Grid Y"\n', '"Device","Kernel","Invocations","Metric Name"\n')
        rocprof = ("Index,KernelName,gpu-id\n", "Dispatch_ID,Kernel_Name,GPU_ID\n", '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n',
                   '"Kind","Agent_Id","Queue_Id"\n', '{"rocprofiler-sdk-tool":[{"metadata":{}}]}',
                   '{ "traceEvents":[{}\n,{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name"}]}')
        for content in nvprof:
            for said in self.refused_by(self.file("n.csv", content), *OPTIONS):
                self.assertIn("is output of nvprof, which Gable does not read: record the same run with nsys", said)
        for content in rocprof:
            for said in self.refused_by(self.file("r.csv", content), *OPTIONS):
                self.assertIn("is output of AMD's rocprof, which Gable does not read", said)
                self.assertIn("traces of PyTorch's and JAX's profilers (--kineto)", said)
                self.assertNotIn("ncu", said)

    def test_a_trace_that_was_made_of_nsys(self):
        """No option may send it to one that refuses it."""
        event = {"name": "gemv", "ph": "X", "cat": "cuda", "ts": 1, "dur": 2, "tid": "CUDA API 7", "pid": "Device 0", "args": {"NVTXRegions": [None]}}
        for trace in ([event], {"traceEvents": [event | {"args": {}}]}):
            for said in self.refused_by(self.file("p.json", json.dumps(trace)), *OPTIONS):
                self.assertIn("was made from an export of nsys", said)
                self.assertIn("give the export itself (nsys export --type sqlite) with --nsys", said)

    def test_traces_of_programs_that_profile_no_gpu(self):
        """That nothing ran on a GPU is said of PyTorch's profiler alone."""
        tool = {"name": "RunTask", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 1, "cat": "toplevel"}
        for content in ({"traceEvents": [tool]}, [tool], [[-1, 1, 37888, 7], [-1, 1, 512, 7]], {"resourceSpans": []}, [{"cols": []}]):
            said = self.refused("--kineto", self.file("c.json", json.dumps(content)))
            self.assertIn("not a trace of PyTorch's, JAX's or TensorFlow's profiler", said)
            self.assertNotIn("ProfilerActivity", said)
        for said in self.refused_by(self.file("c.json", json.dumps([tool])), "--nsys", "--ncu"):
            self.assertIn("is a trace in Chrome's format", said)
        host = {"name": "aten::mm", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 1, "cat": "cpu_op"}
        for content in ({"traceEvents": [host]}, [host], {"schemaVersion": 1, "traceEvents": []}):
            self.assertIn("ProfilerActivity.CUDA was not asked for", self.refused("--kineto", self.file("h.json", json.dumps(content))))
        said = self.refused("--kineto", self.file("m.json", json.dumps({"schemaVersion": 1, "traceEvents": [host, tool | {"cat": "mtia_ccp_events"}]})))
        self.assertIn("its work ran on an accelerator that PyTorch calls MTIA", said)
        self.assertNotIn("nothing ran", said)

    def test_text_of_16_bit_units_is_read(self):
        """PowerShell writes so what a program prints."""
        def numbers(report):
            return report["kernels"], report["layers"], report["ceilings"]
        for option, source in (("--ncu", DATA / "ncu_details.csv"), ("--ncu", DATA / "ncu_raw.csv"), ("--kineto", DATA / "kineto_new.json")):
            text = source.read_text() + ("\n# \u00e9 \U0001f600\n" if option == "--ncu" else "")
            plain = self.report(option, self.file("plain", text))
            for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
                wide = mark + text.replace("\n", "\r\n").encode(encoding)
                self.assertEqual(numbers(self.report(option, self.file("wide", wide))), numbers(plain))
                self.assertEqual(numbers(self.report(option, self.file("wide.gz", gzip.compress(wide)))), numbers(plain))
                self.assertIn(f"give it with {option}.", self.refused("--nsys", self.file("wide", wide)))
                self.assertIn("wide begins as UTF-16, but is not UTF-16 further on", self.refused(option, self.file("wide", wide[:1001])))

    def test_a_log_with_json_around_ncus_rows_is_ncus(self):
        self.report("--ncu", self.file("log.csv", b'{"traceEvents": "what the program printed"}\n' + (DATA / "ncu_raw.csv").read_bytes()))


if __name__ == "__main__":
    unittest.main()
