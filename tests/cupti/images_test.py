# SPDX-License-Identifier: Apache-2.0
"""Counter images that --record kept: a host API gives the values again that CUPTI gave when they were taken."""

import glob
import os
import struct
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "recordings"))
from gable_run import RECORDINGS, SOURCE, run_profile, work  # noqa: E402

EVALUATE = os.environ["GABLE_EVALUATE"]
PLAYED = os.environ["GABLE_PLAYED_CUPTI"]
# Of real GPUs, kept by the stage record of scripts/gpu/prove.sh.
REAL = glob.glob(os.path.join(SOURCE, "tests", "data", "images", "*.images"))


def evaluate(*arguments):
    return subprocess.run([EVALUATE, *arguments], capture_output=True, text=True, timeout=120, check=False)


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        recording = work("images.jsonl")
        cls.run_ = run_profile(os.path.join(RECORDINGS, "small", "layers.jsonl"), "images", "--record", recording,
                               "--step-range", "^step$", "--active", "1")
        cls.file = work("images.images")

    def test_same_values_again(self):
        """One image of each phase, with what CUPTI gave of it."""
        self.assertEqual((self.run_.code, self.run_.violations), (0, ""), self.run_.err)
        done = evaluate("--played", PLAYED, self.file)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("images.images (playback): 5 images\n", done.stdout)
        launches = sum(row["launches"] for row in self.run_.report.kernels.values())
        self.assertIn(f"of {5 * launches} ranges, 0 different", done.stdout)

    def test_a_value_that_differs(self):
        with open(self.file, "rb") as file:
            text = file.read()
        told = b"\xfa" + struct.pack(">f", 1000)
        self.assertIn(told, text)
        spoilt = work("spoilt.images")
        with open(spoilt, "wb") as file:
            file.write(text.replace(told, b"\xfa" + struct.pack(">f", 1001), 1))
        done = evaluate("--played", PLAYED, spoilt)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("dram__sectors_read.sum is 1000, was 1001", done.stdout)

    def test_damaged(self):
        with open(self.file, "rb") as file:
            text = file.read()
        for cut, says in ((len(text) // 2, "the counter images are damaged"), (0, "the counter images are damaged")):
            broken = work("broken.images")
            with open(broken, "wb") as file:
                file.write(text[:cut])
            done = evaluate("--played", PLAYED, broken)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
        self.assertIn("these are not counter images", evaluate("--played", PLAYED, self.other()).stderr)

    def other(self):
        path = work("other.images")
        with open(path, "wb") as file:
            file.write(b"\xa1\x61a\x01")
        return path

    def test_of_another_library(self):
        """CUPTI's own host API dies of an image that it did not make: it gets none."""
        done = evaluate(PLAYED, self.file)
        self.assertEqual(done.returncode, 2)
        self.assertIn("images of source playback are none of this library's", done.stderr)

    def test_real_images(self):
        """With the toolkit's own host API; it needs no GPU."""
        if not REAL:
            self.skipTest("no image of a real GPU is in tests/data/images yet: scripts/gpu/prove.sh record keeps them")
        done = evaluate("", *REAL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
