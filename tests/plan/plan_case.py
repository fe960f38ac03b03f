# SPDX-License-Identifier: Apache-2.0
"""Runs `gable plan` in a folder of its own."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

GABLE = os.environ["GABLE_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
RESNET = str(ROOT / "tests" / "data" / "plan" / "resnet50.json")


class PlanCase(unittest.TestCase):
    def setUp(self):
        os.makedirs(os.environ["GABLE_WORK"], exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["GABLE_WORK"]))
        self.addCleanup(shutil.rmtree, self.folder)

    def plan(self, *arguments, code=0, **environment):
        done = subprocess.run([GABLE, "plan", *map(str, arguments)], cwd=self.folder, env={**os.environ, **environment}, timeout=300,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def refused(self, *arguments, **environment):
        """The one sentence."""
        done = self.plan(*arguments, code=2, **environment)
        self.assertRegex(done.stderr, r"\Agable: [^\n]*\n\Z")
        self.assertEqual(done.stdout, "")
        return done.stderr

    def json(self, *arguments, **environment):
        return json.loads(self.plan(*arguments, "--json", "-", **environment).stdout)

    def steps(self, *arguments, **environment):
        return self.json(*arguments, **environment)["predictions"]["steps"]

    def write(self, document, name="plan.json"):
        (self.folder / name).write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return name

    def near(self, value, expected, share):
        self.assertAlmostEqual(value / expected, 1, delta=share, msg=f"{value} against {expected}")
