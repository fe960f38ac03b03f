# SPDX-License-Identifier: Apache-2.0
"""Built with the oldest and with the newest headers, run on every release's library: the host API plans the same counters,
doctor says what works and survives what does not, and structures have sizes that every release takes. For every change three
releases; GABLE_EVERY_CASE=1, as scripts/nightly.sh has it, asks all of them."""

import json
import os
import re
import subprocess
import unittest

import wheels
from built import Built

EVERY_CASE = os.environ.get("GABLE_EVERY_CASE", "") not in ("", "0")
RELEASES = wheels.RELEASES if EVERY_CASE else (wheels.OLDEST, wheels.NEWEST_PLANNING, wheels.CRASHING, wheels.NEWEST)
CHIPS = {"TU102": 1, "GA100": 4, "GH100": 4, "AD102": 5} if EVERY_CASE else {"GH100": 4}  # and their hardware passes
RECORDING = os.path.join(wheels.SOURCE, "tests", "data", "recordings", "small", "two_contexts.jsonl")


def number(release):
    major, minor = release.split(".")
    return int(major), int(minor)


PLANNING = [release for release in RELEASES if number(release) <= number(wheels.NEWEST_PLANNING)]


class Matrix:
    """What a program does, whichever headers it was built with."""

    headers = None

    @classmethod
    def setUpClass(cls):
        cls.built = Built(cls.headers)
        cls.addClassCleanup(cls.built.remove)

    def gable(self, *words, **environment):
        variables = {key: value for key, value in os.environ.items()
                     if key not in ("GABLE_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH")}
        return subprocess.run([self.built.program, *words], capture_output=True, text=True, check=False, timeout=200,
                              env={**variables, **environment})

    def test_plans(self):
        for release in PLANNING:
            for chip, passes in CHIPS.items():
                with self.subTest(release, chip=chip):
                    run = self.gable("doctor", "--chip", chip, "--cupti", wheels.library(release))
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    self.assertEqual(len(re.findall(r"^hw", run.stdout, re.MULTILINE)), passes)

    def test_those_that_do_not_plan_without_a_driver(self):
        for release in set(RELEASES) - set(PLANNING):
            with self.subTest(release):
                run = self.gable("doctor", "--chip", "GH100", "--cupti", wheels.library(release))
                self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (1, "", 1))
                self.assertIn(wheels.library(release), run.stderr)
                self.assertIn("CUDA 12.6 to 13.1", run.stderr)

    def test_doctor_without_a_driver(self):
        for release in RELEASES:
            with self.subTest(release):
                run = self.gable("doctor", "--cupti", wheels.library(release))
                self.check_examined(run, release)

    def test_doctor_where_cupti_cannot_use_the_driver(self):
        """As with one that is too old, or in a sandbox: the playback driver has nothing of what CUPTI wants of one."""
        for release in RELEASES:
            with self.subTest(release):
                run = self.gable("doctor", "--cupti", wheels.library(release),
                                 LD_LIBRARY_PATH=os.environ["GABLE_PLAYBACK_FOLDER"], GABLE_PLAYBACK=RECORDING)
                said = self.check_examined(run, release)
                self.assertRegex(said, r"device ready 0: NVIDIA H200")
                for phase in ("hw", "flops", "time"):
                    self.assertIn(f"{phase} missing does not run here: see C" if release == wheels.CRASHING else
                                  f"{phase} missing does not run here: see counters", said)

    def check_examined(self, run, release):
        self.assertEqual((run.returncode, run.stderr), (1, ""), run.stdout)
        said = " ".join(run.stdout.split())
        self.assertIn(wheels.library(release), said)
        self.assertIn("Something is limited here.", said)
        if release == wheels.CRASHING:
            self.assertIn("12.6 to 13.1", said)
        return said

    def test_sizes_that_every_release_takes(self):
        for release in wheels.RELEASES:  # played, so that nothing needs a GPU
            with self.subTest(release):
                out = os.path.join(self.built.folder, "report.json")
                run = self.gable("profile", "--playback", RECORDING, "--step-range", "^step$", "--active", "1", "-o", out,
                                 GABLE_PLAYBACK_SWITCHES="cupti=" + release)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertNotIn("rule broken", run.stderr)
                with open(out, encoding="utf-8") as file:
                    report = json.load(file)
                self.assertEqual(report["run"]["notes"], [])
                self.assertEqual(sorted(row["flops"]["fp32"] for row in report["kernels"]), [16384, 135168000])


class OldestHeaders(Matrix, unittest.TestCase):
    headers = wheels.OLDEST


class NewestHeaders(Matrix, unittest.TestCase):
    headers = wheels.NEWEST


if __name__ == "__main__":
    wheels.need_wheels()
    unittest.main()
