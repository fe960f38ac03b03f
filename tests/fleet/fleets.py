# SPDX-License-Identifier: Apache-2.0
"""Fleets of reports for these tests: made of what the playback GPU gives, with stragglers, days and nodes that are known beforehand."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import synthetic

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["GABLE_BUILD"])
GABLE = BUILD / "bin" / "gable"
PYTHON = BUILD / "fleet" / "bin" / "python"
RECORDINGS = ROOT / "tests" / "data" / "recordings"
LONG = os.environ.get("GABLE_LONG_TESTS")


def played(folder, recording, *options):
    """The report of a recording."""
    path = pathlib.Path(folder) / (pathlib.Path(recording).stem + ".json")
    subprocess.run([GABLE, "profile", "-q", "--playback", RECORDINGS / recording, *options, "-o", path], check=True, capture_output=True, timeout=300)
    return json.loads(path.read_text(encoding="utf-8"))


def layers_report(folder):
    return played(folder, "small/layers.jsonl", "--active", "1", "--step-range", "^step")


@unittest.skipUnless(PYTHON.exists(), "scripts/setup.sh --fleet was not run")
class FleetTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gable-fleet-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)

    def gable(self, *words, code=0, python=PYTHON, **environment):
        """(standard output, standard error) of `gable`, which must end with that code."""
        # GABLE_PYTHON is how a program that pip installed tells which Python it came with.
        run = subprocess.run([GABLE, *words], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
                             env={**os.environ, "GABLE_PYTHON": str(python), "COLUMNS": "100", **environment})
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout, run.stderr

    def python(self, code, *words):
        """What a program in the Python that has the packages prints, as JSON."""
        run = subprocess.run([PYTHON, "-c", code, *words], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def asked(self, query):
        """Rows of DuckDB, as dictionaries; lists stay lists."""
        return self.python("import duckdb, json, sys\nanswer = duckdb.sql(sys.argv[1])\n"
                           "print(json.dumps([dict(zip(answer.columns, row)) for row in answer.fetchall()], default=str))", query)

    def write(self, path, report):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report), encoding="utf-8")
        return path

    def job(self, template, name, ranks=16, day="2026-03-02", slower=None, change=None):
        """Reports of a job's ranks in a folder of that name. `slower`: by rank, what share it needs longer, in the victim's layer; `change`
        is done to each report, with its rank."""
        for rank in range(ranks):
            report = synthetic.one_rank(template, rank, (slower or {}).get(rank, 0))
            report["run"]["started_at"] = f"{day}T08:00:00Z"
            if change:
                change(report, rank)
            self.write(f"reports/{name}/run-rank{rank}.json", report)

    def judged(self, *words):
        """All answers about the reports written so far."""
        self.gable("export", "reports", "--parquet", "data")
        return json.loads(self.gable("fleet", "data", "--json", "-", *words)[0])
