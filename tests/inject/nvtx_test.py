# SPDX-License-Identifier: Apache-2.0
"""Layers as an ordinary program with the real NVTX headers names them, seen in the finished report."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import report_schema

BUILD = os.environ["GABLE_BUILD"]
PROGRAM = os.environ["GABLE_NVTX_PROGRAM"]
RECORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hazards", "gpu.jsonl")


class Nvtx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = subprocess.run(
                [os.path.join(BUILD, "bin", "gable"), "profile", "--playback", RECORDING, "--phases", "time",
                 "--fold", " #[0-9]+$", "-o", path, "--", PROGRAM],
                capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            assert done.stdout == "", done.stdout
            with open(path, encoding="utf-8") as file:
                cls.report = json.load(file)
        cls.launches = {tuple(l["path"]): l["launches"] for l in cls.report["layers"]}

    def test_report_matches_its_schema(self):
        self.assertEqual(report_schema.problems(self.report), [])

    def own(self, *path):
        """Launches in that layer itself."""
        children = sum(n for p, n in self.launches.items() if len(p) == len(path) + 1 and p[:-1] == path)
        return self.launches.get(path, 0) - children

    def test_range_opened_before_cuda(self):
        self.assertEqual(self.own("before CUDA"), 1)

    def test_kinds_of_text(self):
        for name in ("ascii", "w\u00efde \U0001F600", "attributes"):
            self.assertEqual(self.own(name), 1, self.launches)

    def test_domains_and_registered_strings(self):
        self.assertEqual(self.own("mylib:outer", "mylib:registered"), 1, self.launches)
        self.assertEqual(self.own("mylib:outer", "mylib:wide"), 1)
        self.assertEqual(self.own("mylib:outer"), 0)

    def test_start_end_holds_on_another_thread(self):
        self.assertEqual(self.own("start/end"), 1)

    def test_thread_without_ranges_takes_the_main_threads(self):
        self.assertEqual(self.own("backward"), 1)
        self.assertTrue(any("main thread" in note for note in self.report["run"]["notes"]), self.report["run"]["notes"])

    def test_megabyte_is_cut(self):
        names = [p[0] for p in self.launches if p and p[0].startswith("mmm")]
        self.assertEqual(len(names), 1)
        self.assertLessEqual(len(names[0].encode()), 600)
        self.assertEqual(self.own(names[0]), 1)

    def test_invalid_utf8_and_no_name(self):
        self.assertEqual(self.own("bad \ufffd\ufffd utf8"), 1, self.launches)
        self.assertEqual(self.own("(unnamed)"), 1)

    def test_slashes_stay_inside_a_name(self):
        self.assertEqual(self.own("a/b", "c"), 1)

    def test_sequence_numbers_are_cut_and_folds_applied(self):
        self.assertEqual(self.own("aten::mm"), 3)
        self.assertEqual(self.own("request"), 3)

    def test_unbalanced_pops_and_depth(self):
        self.assertEqual(self.own("after unbalanced pops"), 1)
        self.assertEqual(self.own("after the deep"), 1)
        deepest = max(self.launches, key=len)
        self.assertGreater(len(deepest), 50)
        self.assertEqual(self.own(*deepest), 1)
        self.assertGreater(self.report["run"]["lost"]["folded_layers"], 0)

    def test_second_shared_object(self):
        self.assertEqual(self.own("second library"), 1)

    def test_nothing_is_lost(self):
        lost = self.report["run"]["lost"]
        self.assertEqual((lost["records"], lost["unattributed_launches"], lost["zero_timestamps"]), (0, 0, 0))
        self.assertEqual(self.report["layers"][0]["launches"], 22)
        self.assertEqual(self.report["layers"][0]["time_ns"]["total"], 22 * 5000)


if __name__ == "__main__":
    unittest.main()
