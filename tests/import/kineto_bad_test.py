# SPDX-License-Identifier: Apache-2.0
"""Files that are no traces of PyTorch's profiler, or damaged ones."""
import gzip
import json
import unittest

from import_run import DATA, ImportTest, kernel, notes

NEW = DATA / "kineto_new.json"


class BadInput(ImportTest):
    def trace(self, *events):
        return self.file("bad.json", '{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}")

    def event(self, **fields):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 2, "args": {}} | fields

    def test_no_kernel_within_a_step(self):
        said = self.refused("--kineto", self.trace(self.event(), self.event(cat="user_annotation", name="ProfilerStep#1", ts=100)))
        self.assertIn("No kernel in these files was launched within a step", said)

    def test_cut_off(self):
        text = NEW.read_text()
        for size in (20, len(text) // 2, len(text) - 4):
            with self.subTest(size):
                said = self.refused("--kineto", self.file("cut.json", text[:size]))
                self.assertIn(f"cut.json:{text[:size].count(chr(10)) + 1}: ", said)
                self.assertIn("cut off", said)
        packed = gzip.compress(NEW.read_bytes())
        self.assertIn("cut off", self.refused("--kineto", self.file("cut.json.gz", packed[:len(packed) // 2])))

    def test_damaged(self):
        packed = bytearray(gzip.compress(NEW.read_bytes()))
        packed[len(packed) // 2] ^= 0xFF
        said = self.refused("--kineto", self.file("damaged.json.gz", bytes(packed)))
        self.assertNotIn("<fd", said)

    def test_numbers_out_of_range_name_the_line(self):
        for fields in ({"ts": 1e30}, {"ts": -1e30}, {"ts": 5, "dur": -1}, {"args": {"grid": [1 << 40, 1, 1], "block": [1, 1, 1]}}, {"args": {"correlation": 1 << 70}},
                       {"ts": 9e15, "dur": 9e15}):
            with self.subTest(fields):
                said = self.refused("--kineto", self.trace(self.event(), self.event(**fields)))
                self.assertIn("bad.json:3: ", said)
                self.assertIn("out of range", said)

    def test_parents_in_a_circle(self):
        python = [self.event(cat="python_function", args={"Python id": i, "Python parent id": i % 3 + 1}) for i in (1, 2, 3)]
        said = self.refused("--kineto", self.trace(self.event(), *python))
        self.assertIn("circle", said)

    def test_no_kernel(self):
        self.assertIn("has no kernel: it is JSON, but not a trace", self.refused("--kineto", self.trace()))
        said = self.refused("--kineto", self.trace(self.event(cat="cpu_op")))
        self.assertIn("has no kernel: nothing ran on a GPU while it was recorded", said)
        launch = self.event(cat="cuda_runtime", name="cudaLaunchKernel", args={"correlation": 5})
        said = self.refused("--kineto", self.trace(launch, launch | {"args": {"correlation": 6}}))
        self.assertIn("has no kernel, but 2 calls that launch some: the profiler got no records of the GPU", said)

    def test_a_kernel_without_a_duration_is_none_of_0_ns(self):
        endless = self.event()
        del endless["dur"]
        report = self.report("--kineto", self.trace(self.event(), self.event(), endless))
        self.assertEqual((kernel(report, "k")["launches"], kernel(report, "k")["time_ns"]["mean"]), (2, 2000))
        self.assertIn("1 kernel or copy has no duration in bad.json, and is left out.", notes(report))

    def test_other_files(self):
        self.assertIn("is empty", self.refused("--kineto", self.file("e.json", "")))
        self.assertIn("no traceEvents", self.refused("--kineto", self.file("a.json", '{"a": [1, 2, {"b": null}]}')))
        self.assertIn("this is not JSON", self.refused("--kineto", self.file("b.json", bytes(range(1, 256)) * 9)))
        self.assertIn("not a trace", self.refused("--kineto", self.file("n.json", "17")))
        self.assertIn("SQLite", self.refused("--kineto", self.file("t.json", b"SQLite format 3\0" + bytes(100))))
        self.assertIn("--ncu", self.refused("--kineto", self.file("t.csv", '"ID","Process ID"\n')))

    def test_deep_nesting(self):
        self.assertIn("too deep", self.refused("--kineto", self.file("deep.json", "[" * 100000)))


if __name__ == "__main__":
    unittest.main()
