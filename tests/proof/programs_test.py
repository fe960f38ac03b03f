# SPDX-License-Identifier: Apache-2.0
"""The stages that run PyTorch programs, rehearsed; and how they compare kernels, on small tables written by hand."""
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import unittest

import prove

sys.path.insert(0, str(prove.ROOT / "scripts" / "gpu" / "programs"))
import compare  # noqa: E402
import figures  # noqa: E402

TORCH = os.environ.get("GABLE_TORCH_PYTHON", "")


def row(name, grid, time, launches=1, **counters):
    return {"name": name, "grid": grid, "block": [64, 1, 1], "launches": launches, "time_ns": {"mean": time}, "counters": counters}


FADD, READ = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "dram__sectors_read.sum"


class Comparing(unittest.TestCase):
    def test_names(self):
        for name in ("void add<float>(float *, float *, int)", "add<float>(float*, float*, int)", "void add< float >(float*,float*,int)",
                     "void (anonymous namespace)::add<float>(float*)"):
            self.assertEqual(compare.plain_name(name), "add<float>")
        self.assertEqual(compare.plain_name("void at::f<(int)4, g<float> >(int)"), compare.plain_name("at::f<4, g<float>>(int)"))
        self.assertNotEqual(compare.plain_name("add<float>()"), compare.plain_name("add<double>()"))

    def test_rows_of_layers_are_one_kernel(self):
        report = {"kernels": [row("k()", [2, 1, 1], 10, 1, **{FADD: 100}), row("k()", [2, 1, 1], 40, 2, **{FADD: 400}),
                              row("(graph of 2 kernels)", None, 5)]}
        found = compare.by_kernel(report)
        self.assertEqual(list(found), [("k", (2, 1, 1), (64, 1, 1))])
        self.assertEqual(found["k", (2, 1, 1), (64, 1, 1)], {"launches": 3, "time_ns": 30, "counters": {FADD: 300}})

    def test_counters(self):
        """A SASS count that differs is no equal one; DRAM is a ratio; what only one has is counted."""
        ours = compare.by_kernel({"kernels": [row("a(int)", [2, 1, 1], 10, **{FADD: 100, READ: 90}), row("b()", [2, 1, 1], 1, **{FADD: 7}),
                                              row("mine()", [2, 1, 1], 1)]})
        theirs = compare.by_kernel({"kernels": [row("void a(int)", [2, 1, 1], 9, **{FADD: 100, READ: 100}), row("b()", [2, 1, 1], 1, **{FADD: 8}),
                                                row("b()", [3, 1, 1], 1, **{FADD: 8})]})
        found = compare.counters(ours, theirs)
        self.assertEqual((found["sass_compared"], found["sass_equal"]), (2, 1))
        self.assertEqual(found["different"], [{"kernel": "b", "grid": [2, 1, 1], "metric": FADD, "gable": 7, "ncu": 8}])
        self.assertEqual((found["dram_compared"], found["dram_ratio_median"]), (1, 0.9))
        self.assertEqual((found["kernels"], found["only_gable"], found["only_ncu"]), (2, 1, 1))

    def test_times(self):
        """Of torch.profiler's trace: kernels alone, in ns, the median of each."""
        events = [{"ph": "X", "cat": "kernel", "name": "void a(int)", "dur": duration, "args": {"grid": [2, 1, 1], "block": [64, 1, 1]}}
                  for duration in (59, 60, 100)]
        events += [{"ph": "X", "cat": "cpu_op", "name": "a", "dur": 5}, {"ph": "M", "name": "process_name"}]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"traceEvents": events}, file)
            file.flush()
            theirs = compare.trace_kernels(file.name)
        self.assertEqual(theirs, {("a", (2, 1, 1), (64, 1, 1)): [59000, 60000, 100000]})
        found = compare.times(compare.by_kernel({"kernels": [row("a(int)", [2, 1, 1], 66000), row("b()", [1, 1, 1], 5)]}), theirs)
        self.assertEqual((found["kernels"], found["long_kernels"], found["only_gable"], found["only_torch"]), (1, 1, 1, 0))
        self.assertAlmostEqual(found["ratio_median"], 1.1)


class Figures(unittest.TestCase):
    """The table of docs/performance.md: open, or from hardware."""

    def table(self, source):
        head = {"source": source, "gpu": "NVIDIA H200", "driver": "580", "cupti": 130000}
        results = {"resnet": [("overhead", {"of_500_steps_of_200ms_percent": 2.5, "after_percent": 0.75}),
                              ("forward_flops", {"ratio": 1.0}), ("forward_flops", {"ratio": 0.999})],
                   "peers": [("added", {"program": "resnet", "share_of_ncu": 0.1}), ("times", {"long_ratio_least": 0.98, "long_ratio_most": 1.01}),
                             ("counters", {"cache_control": "none", "sass_equal": 9, "sass_compared": 10, "dram_ratio_median": 1.01})]}
        with tempfile.TemporaryDirectory() as folder:
            for stage, rows in results.items():
                lines = [json.dumps({**head, "stage": stage, "what": what, "fields": fields}) for what, fields in rows]
                pathlib.Path(folder, stage + ".jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            return figures.table(folder)

    def test_filled(self):
        text = self.table("hardware")
        for cells in ("| at most 3 % | 2.5 % | reached |", "| at most 0.5 % | 0.75 % | 1.5 times the target |", "| at most 5 % | 10 % | 2 times the target |",
                      "| 1 within 1 % | 0.999 | reached |", "| 1 within 1 % | 0.98 | 2 % off |", "| all | 9 of 10 | 1 are not |", "| 1 within 5 % | 1.01 | reached |",
                      "| all | open: measured by `scripts/gpu/prove.sh sweeps` | |", "NVIDIA H200, driver 580, CUPTI 130000."):
            self.assertIn(cells, text)

    def test_playback_fills_nothing(self):
        self.assertEqual(self.table("playback"), figures.table(""))

    def test_page(self):
        """The page has every figure, open or not."""
        page = pathlib.Path(figures.PAGE).read_text(encoding="utf-8")
        part = page.partition(figures.BEGIN)[2].partition(figures.END)[0]
        rows = [line.split(" | ")[:2] for line in part.splitlines() if line.startswith("| ")][1:]
        self.assertEqual(rows, [["| " + name, target] for name, target, *_ in figures.FIGURES])


class Rehearsal(unittest.TestCase):
    """Each stage ends with 0 only where every field of its output is filled, or says why it is not."""

    def rehearse(self, stage, folder, torch=TORCH):
        run = prove.prove("--rehearse", "-o", folder, stage, GABLE_PROVE_TORCH=torch)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout + pathlib.Path(folder, "prove.log").read_text(encoding="utf-8")[-3000:])
        self.assertIn("nothing here is measured", run.stdout)
        lines = prove.lines(pathlib.Path(folder, stage.split("/")[0] + ".jsonl"))
        self.assertEqual({line["source"] for line in lines}, {"playback"})
        return lines

    def found(self, lines, what, **fields):
        rows = [line["fields"] for line in lines if line["what"] == what and all(line["fields"].get(k) == v for k, v in fields.items())]
        self.assertTrue(rows, (what, fields))
        return rows

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def need_torch(self):
        if not os.path.exists(TORCH):
            self.skipTest("there is no PyTorch here (GABLE_TORCH_PYTHON)")

    def test_without_pytorch(self):
        """What needs it is skipped, says so, and the rest is done."""
        lines = self.rehearse("record", self.folder, torch="/nowhere/python")
        self.assertEqual([one["recording"] for one in self.found(lines, "recording")], ["sample.jsonl", "truth-core.jsonl"])
        self.assertEqual({line["reason"] for line in lines if line["what"] == "skipped"}, {"there is no PyTorch that sees this GPU"})

    def test_record(self):
        """Also in two runs, of which the second goes on where the first stopped."""
        self.need_torch()
        self.rehearse("record/sample", self.folder)
        lines = self.rehearse("record", self.folder)
        rows = self.found(lines, "recording")
        self.assertEqual([one["recording"] for one in rows], ["sample.jsonl", "truth-core.jsonl", "resnet50-train.jsonl", "transformer-layer.jsonl"])
        for one in rows:
            self.assertEqual(one["origin"], "playback")
            self.assertEqual(one["same"], one["kernels"])
            self.assertLess(one["bytes"], 2_000_000)
        with tarfile.open(pathlib.Path(self.folder, "recordings.tar.gz")) as archive:
            self.assertIn("recordings/resnet50-train.jsonl", archive.getnames())
            self.assertIn("recordings/sample.images", archive.getnames())

    def test_peers(self):
        self.need_torch()
        lines = self.rehearse("peers", self.folder)
        self.assertEqual(self.found(lines, "gable")[0]["kernels"], 2)
        self.found(lines, "added", program="block", target_share_of_ncu=0.05)
        # PyTorch on a CPU has no kernels to trace: none is made up.
        self.assertEqual(self.found(lines, "times")[0]["kernels"], 0)

    def test_resnet(self):
        """FLOPs to the last one, and the same output as without Gable."""
        self.need_torch()
        lines = self.rehearse("resnet", self.folder)
        self.assertEqual({one["ratio"] for one in self.found(lines, "forward_flops")}, {1})
        for one in self.found(lines, "case"):
            self.assertTrue(one["same_output"], one)
        self.assertEqual(self.found(lines, "overhead")[0]["target_added_percent"], 3)

    def test_sweeps(self):
        self.need_torch()
        lines = self.rehearse("sweeps", self.folder)
        points = self.found(lines, "point", case="lstm")
        self.assertEqual([one["value"] for one in points], [2, 4])
        self.assertEqual(points[1]["flops"], 2 * points[0]["flops"])
        found = self.found(lines, "expected")[0]
        self.assertEqual((found["inside"], found["points"], found["time_grows"]), (2, 2, True))


if __name__ == "__main__":
    unittest.main()
