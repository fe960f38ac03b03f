# SPDX-License-Identifier: Apache-2.0
"""Runs `gable import` for tests, and reads the report that it wrote. From the environment: GABLE_PROGRAM, GABLE_WORK (a folder
for files), GABLE_REFERENCE_DATA (recorded profiles of other tools; tests that need them are skipped without)."""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = SOURCE / "tests" / "data" / "import"
PROGRAM = os.environ.get("GABLE_PROGRAM", "")
SKIPPED = 77

sys.path.insert(0, str(SOURCE / "tests"))
import report_schema  # noqa: E402


def run(*arguments, check=True):
    environment = dict(os.environ, GABLE_CEILINGS="none")
    done = subprocess.run([PROGRAM, "import", *map(str, arguments)], capture_output=True, text=True, timeout=100,
                          env=environment)
    if check and done.returncode != 0:
        raise AssertionError(f"gable import ended with {done.returncode}: {done.stderr}")
    return done


class ImportTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("GABLE_WORK") or None))
        self.addCleanup(shutil.rmtree, self.folder)
        self.text = ""  # of the last report, as it is in the file

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def report(self, *arguments):
        out = self.folder / "report.json"
        run(*arguments, "-o", out)
        self.text = out.read_text()
        report = report_schema.parse(self.text)
        self.assertEqual(report_schema.problems(report), [])
        self.assertEqual(report["run"]["source"], "import")
        self.assertTrue(report["run"]["complete"], "no snapshot of something that goes on")
        return report

    def parsed(self):
        return report_schema.parse(self.text)

    def table(self, *options):
        """What `gable report` prints of the report that was made last."""
        return subprocess.run([PROGRAM, "report", *options, self.folder / "report.json"], capture_output=True, text=True, timeout=100, check=True,
                              env=dict(os.environ, COLUMNS="160")).stdout

    def refused(self, *arguments):
        """The one sentence that it says; nothing is written."""
        out = self.folder / "refused.json"
        done = run(*arguments, "-o", out, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(out.exists(), "a partial report was written")
        lines = done.stderr.strip().split("\n")
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("gable: "), lines[0])
        return lines[0]


def export_nsys(path, *changes):
    """A small export of nsys, with statements that change it."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute("PRAGMA synchronous = OFF")
    base.executescript((DATA / "nsys_3.sql").read_text())
    for change in changes:
        base.execute(change)
    base.commit()
    base.close()
    return path


def kernel(report, name, **fields):
    rows = [row for row in report["kernels"] if row["name"] == name and all(row[key] == value for key, value in fields.items())]
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} kernels {name}: {[row['name'] for row in report['kernels']]}")
    return rows[0]


def layer(report, *path, direction=None):
    rows = [row for row in report["layers"] if row["path"] == list(path) and direction in (None, row["direction"])]
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} layers {path}: {[row['path'] for row in report['layers']]}")
    return rows[0]


def reference_data():
    """The folder of recorded profiles; ends the test program as skipped, with a notice, where there is none."""
    folder = pathlib.Path(os.environ.get("GABLE_REFERENCE_DATA") or SOURCE.parent / "shared" / "data")
    if not folder.is_dir():
        print("Skipped: this machine has no recorded profiles of other tools (GABLE_REFERENCE_DATA names their folder).")
        sys.exit(SKIPPED)
    return folder


def notes(report):
    return " ".join(report["run"]["notes"])
