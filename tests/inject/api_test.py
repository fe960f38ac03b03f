# SPDX-License-Identifier: Apache-2.0
"""A program that uses gable.h, with and without Gable."""
import json
import os
import subprocess
import tempfile
import unittest

BUILD = os.environ["GABLE_BUILD"]
PROGRAM = os.environ["GABLE_API_PROGRAM"]
RECORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hazards", "gpu.jsonl")


class Api(unittest.TestCase):
    def test_only_the_block_is_profiled(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = subprocess.run([os.path.join(BUILD, "bin", "gable"), "profile", "--playback", RECORDING, "--active", "1000",
                                   "-o", path, "--", PROGRAM], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout), (7, "done\n"), done.stderr)
            self.assertEqual(os.listdir(folder), ["report.json"])
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        layers = {"/".join(row["path"]): row for row in report["layers"]}
        self.assertEqual({name: row["launches"] for name, row in layers.items()}, {"": 4, "first": 3, "second": 1})
        self.assertEqual((report["run"]["unit"], report["run"]["steps"]["border"]), ("step", "call"))
        self.assertEqual((report["run"]["steps"]["flops"], report["run"]["steps"]["time"]), (2, 2))
        self.assertEqual((layers["first"]["flops"]["fp32"], layers["second"]["flops"]["fp32"]), (None, 2 * 32768))

    def test_without_gable_nothing_happens(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GABLE_", "CUDA_INJ"))}
        environment.update(GABLE_PLAYBACK=RECORDING, LD_LIBRARY_PATH=os.path.join(BUILD, "lib", "playback"))
        done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "done\n", ""))


if __name__ == "__main__":
    unittest.main()
