# SPDX-License-Identifier: Apache-2.0
"""The stage `truth`: it can be rehearsed, and a number that is off is found."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import prove
import truth_recording

RECORDING = prove.ROOT / "tests" / "gpu" / "truth.jsonl"


def compared(report, expected):
    """What `gable_prove truth` says of a report (an object) and expectations: (exit code, lines)."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("report.json", "expected")]
        paths[0].write_text(json.dumps(report), encoding="utf-8")
        paths[1].write_text("".join(json.dumps(line) + "\n" for line in expected), encoding="utf-8")
        run = prove.part("truth", *paths)
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


class Rehearsal(unittest.TestCase):
    def family(self, name, recording):
        with tempfile.TemporaryDirectory() as folder:
            report, expected = pathlib.Path(folder, "r.json"), pathlib.Path(folder, "expected")
            with expected.open("w", encoding="utf-8") as file:
                subprocess.run([prove.BUILD / "bin" / "gable", "profile", "-q", "--playback", recording, "--step-range", "^step$",
                                "-o", report, "--", prove.BUILD / "bin" / "gable_truth", name], env=prove.environment(), stdout=file,
                               stderr=subprocess.PIPE, timeout=300, check=True)
            run = prove.part("truth", report, expected)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        return run.returncode, lines[:-1], lines[-1]

    def changed(self, kernel, metric, change):
        """The recording with another count of one kernel."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "changed.jsonl")
        lines = prove.lines(RECORDING)
        changed = [line for line in lines if line.get("kernel") == kernel]
        self.assertEqual(1, len(changed))
        changed[0]["counters"][metric] = change(changed[0]["counters"].get(metric, 0))
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def test_the_stage_can_be_rehearsed(self):
        with tempfile.TemporaryDirectory() as folder:
            run = prove.prove("--rehearse", "-o", folder, "truth")
            self.assertEqual(0, run.returncode, run.stderr + run.stdout)
            results = prove.lines(pathlib.Path(folder, "truth.jsonl"))
        answers = {line["experiment"]: line["fields"] for line in results if line["what"] == "answer"}
        self.assertEqual({"core", "half", "times", "streams", "caches", "tensor"}, set(answers))
        self.assertTrue(all(fields["agrees"] for fields in answers.values()), answers)
        self.assertGreater(sum(fields["numbers"] for fields in answers.values()), 300)

    def test_the_recording_is_the_one_that_was_worked_out(self):
        self.assertEqual(truth_recording.text(), RECORDING.read_text(encoding="utf-8"))

    def test_counts_are_what_the_description_says(self):
        # 512 instructions x 200 turns x 264 thread blocks x 256 threads
        code, lines, _ = self.family("core", RECORDING)
        self.assertEqual(0, code)
        counted = {(line["name"], line["quantity"]): line["counted"] for line in lines}
        self.assertEqual(6920601600, counted["truth_fadd", "counters.smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"])
        self.assertEqual(13841203200, counted["truth_ffma", "flops.fp32"])
        self.assertEqual(6920601600, counted["truth_predicated", "flops.fp32"])
        self.assertEqual(8650752000, counted["truth_divergent", "flops.fp32"])  # a quarter of 2, three quarters of 1
        self.assertEqual(13841203200, counted["truth_dfma", "flops.fp64"])
        self.assertEqual(0, counted["truth_integer", "flops.fp32"])
        self.assertIsNone(counted["truth_constants", "flops.fp16"])  # moves are no work

    def test_one_instruction_too_many_is_found(self):
        ffma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
        code, lines, answer = self.family("core", self.changed("truth_ffma", ffma, lambda count: count + 1))
        self.assertEqual((1, False, 2), (code, answer["agrees"], answer["wrong"]))
        self.assertEqual({("truth_ffma", "counters." + ffma), ("truth_ffma", "flops.fp32")},
                         {(line["name"], line["quantity"]) for line in lines if not line["agrees"]})
        self.assertIn("first truth_ffma", answer["says"])

    def test_tensor_work_that_is_missing_is_found(self):
        metric = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
        code, lines, _ = self.family("tensor", self.changed("gable_roof_bf16_tensor_wgmma", metric, lambda count: count // 2))
        self.assertEqual(1, code)
        self.assertEqual([("gable_roof_bf16_tensor_wgmma", "flops.tensor.bf16", 0.5)],
                         [(line["name"], line["quantity"], line["ratio"]) for line in lines if not line["agrees"]])

    def test_three_percent_of_memory_are_found(self):
        metric = "dram__sectors_read.sum"
        code, lines, _ = self.family("streams", self.changed("truth_copy_3", metric, lambda count: count * 103 // 100))
        self.assertEqual(1, code)
        self.assertEqual([("truth_copy_3", "bytes.dram_read")], [(line["name"], line["quantity"]) for line in lines if not line["agrees"]])


class Comparison(unittest.TestCase):
    REPORT = {"layers": [{"path": ["step", "gemm"], "flops": {"tensor": {"bf16": 1000}}}],
              "kernels": [{"symbol": "a", "name": "a", "launches": 2, "time_ns": {"median": 1000}, "bytes": {"dram_read": 10},
                           "counters": {"x.sum": 3, "y.sum": 4, "z.sum": None}},
                          {"symbol": "b", "name": "b", "launches": 1, "time_ns": {"median": None}, "bytes": {"dram_read": 5}, "counters": {}}]}

    def agrees(self, row, name, quantity, value, kind="exact", **more):
        code, lines = compared(self.REPORT, [{"row": row, "name": name, "quantity": quantity, "kind": kind, "value": value, **more}])
        self.assertEqual(0 if lines[0]["agrees"] else 1, code)
        return lines[0]["agrees"]

    def test_rows_and_sums(self):
        self.assertTrue(self.agrees("kernel", "a", "counters.x.sum", 3))
        self.assertFalse(self.agrees("kernel", "a", "counters.x.sum", 4))
        self.assertTrue(self.agrees("kernel", "a", "counters.x.sum+counters.y.sum", 7))
        self.assertTrue(self.agrees("layer", "gemm", "flops.tensor.bf16", 990, "between", high=1000))
        self.assertFalse(self.agrees("layer", "gemm", "flops.tensor.bf16", 980, "between", high=999))
        self.assertTrue(self.agrees("step", "step", "bytes.dram_read", 25))  # 2 x 10 + 5

    def test_tolerance_is_of_what_is_known(self):
        self.assertTrue(self.agrees("kernel", "a", "time_ns.median", 1009, "near", tolerance=0.01))
        self.assertFalse(self.agrees("kernel", "a", "time_ns.median", 1011, "near", tolerance=0.01))

    def test_what_is_not_known_does_not_agree(self):
        self.assertFalse(self.agrees("kernel", "b", "time_ns.median", 5))
        self.assertFalse(self.agrees("kernel", "a", "counters.x.sum+counters.z.sum", 3))
        self.assertFalse(self.agrees("step", "step", "time_ns.median", 5))
        self.assertFalse(self.agrees("kernel", "c", "counters.x.sum", 0))
        self.assertTrue(self.agrees("kernel", "b", "time_ns.median", 5, may_be_null="it was not timed"))

    def test_nothing_compared_is_no_success(self):
        self.assertEqual(1, compared(self.REPORT, [])[0])
        self.assertEqual(1, compared({}, [{"row": "kernel", "name": "a", "quantity": "x", "kind": "exact", "value": 0}])[0])
        self.assertEqual(77, compared({}, [{"skipped": "there is none"}])[0])


class Page(unittest.TestCase):
    def page(self, source):
        head = {"stage": "truth", "experiment": "core", "source": source, "gpu": "A GPU", "driver": "1.2", "cuda": 13000, "cupti": 130001}
        numbers = [{"name": "a", "quantity": "flops.fp32", "counted": 100, "expected": 100, "ratio": 1, "agrees": True},
                   {"name": "a", "quantity": "bytes.l2", "counted": 99, "expected": 100, "ratio": 0.99, "agrees": True},
                   {"name": "b", "quantity": "flops.fp16", "counted": None, "expected": 0, "agrees": True},
                   {"name": "b", "quantity": "flops.fp64", "counted": 7, "expected": 6, "ratio": 7 / 6, "agrees": False, "why": "three FMA",
                    "wrong": "not equal"}]
        lines = [{**head, "what": "number", "fields": fields} for fields in numbers] + [{**head, "what": "end", "exit": 1, "seconds": 2}]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "truth.jsonl")
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            return prove.part("truth-page", path).stdout

    def test_hardware_is_shown_with_what_is_off(self):
        page = self.page("hardware")
        self.assertIn("## core on A GPU, driver 1.2, CUPTI 130001", page)
        self.assertIn("| `a` | 2 | 2 | 0 | `bytes.l2` x 0.99 |", page)
        self.assertIn("| `b` | 2 | 1 | 1 | `flops.fp64` x 1.16667 |", page)
        self.assertIn("- `b` `flops.fp64`: 7 for 6 (three FMA): not equal", page)

    def test_the_committed_page_is_made_of_the_committed_results(self):
        made = prove.part("truth-page", *sorted((prove.ROOT / "tests" / "gpu" / "results").glob("*-truth.jsonl")))
        self.assertEqual(made.stdout, (prove.ROOT / "docs" / "hardware-truth.md").read_text(encoding="utf-8"), made.stderr)
        self.assertIn("## tensor on NVIDIA H200, ", made.stdout)

    def test_playback_is_never_shown(self):
        page = self.page("playback")
        self.assertNotIn("A GPU,", page)
        self.assertTrue(page.endswith("Not measured on hardware yet.\n"))


if __name__ == "__main__":
    unittest.main()
