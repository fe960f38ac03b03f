# SPDX-License-Identifier: Apache-2.0
"""Runs `gable profile --playback` as a user does and reads the report that the library wrote. The build tells where things
are: GABLE_PROGRAM (the program), GABLE_WORK (a folder for files), GABLE_REFERENCE_DATA (recorded profiles of other tools,
where this machine has them)."""

import math
import os
import subprocess
import sys
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import report_schema  # noqa: E402

RECORDINGS = os.path.join(SOURCE, "tests", "data", "recordings")
SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def work(name):
    folder = os.environ.get("GABLE_WORK", "")
    if not folder:
        raise SystemExit("GABLE_WORK names no folder: run these tests through ctest.")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name)


def reference_data():
    folder = os.environ.get("GABLE_REFERENCE_DATA") or os.path.join(SOURCE, "..", "shared", "data")
    return os.path.abspath(folder) if os.path.isdir(folder) else None


def need_reference_data():
    """Ends the test program as skipped, with a notice, where the data is not there."""
    folder = reference_data()
    if folder is None:
        print("Skipped: this machine has no recorded profiles of other tools (GABLE_REFERENCE_DATA names their folder).")
        sys.exit(SKIPPED)
    return folder


def convert(script, folder, out):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), script)
    subprocess.run([sys.executable, script, folder, out], check=True, timeout=120)
    return out


class Run:
    """What one run of `gable profile --playback` left: exit code, output, the report (None where there is none), and the
    rules of CUPTI that it broke, one a line."""

    def __init__(self, code, out, err, report, violations):
        self.code, self.out, self.err, self.report, self.violations = code, out, err, report, violations


def read_text(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def run_profile(recording, name, *options, environment=(), timeout=300):
    out, violations = work(name + ".json"), work(name + ".violations")
    for path in (out, violations):
        if os.path.exists(path):
            os.remove(path)
    command = [os.environ["GABLE_PROGRAM"], "profile", "--playback", recording, "-o", out, *options]
    variables = {key: value for key, value in os.environ.items() if key != "GABLE_OPTIONS"}
    variables.update(environment, GABLE_PLAYBACK_VIOLATIONS=violations)
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=variables, check=False)
    text = read_text(out)
    report = Report(report_schema.parse(text), done.stderr) if text else None
    return Run(done.returncode, done.stdout, done.stderr, report, read_text(violations))


def profile(recording, name, *options):
    """The report of one playback run; the run itself must end well and write nothing to standard output."""
    run = run_profile(recording, name, *options)
    command = " ".join(("gable profile --playback", recording, *options))
    if run.code != 0 or run.report is None:
        raise AssertionError(f"{command} ended with {run.code}:\n{run.err}")
    if run.out:
        raise AssertionError(f"{command} wrote to standard output:\n{run.out[:500]}")
    return run.report


class Report:
    def __init__(self, document, table=""):
        self.document = document
        self.table = table  # what gable printed
        self.run = document["run"]
        self.on_device = {}  # by device, then as `layers`, which are those of the first device
        self._paths = {}
        for row in document["layers"]:
            key = tuple(row["path"]), row["direction"]
            layers = self.on_device.setdefault(row["device"], {})
            if key in layers:
                raise AssertionError(f"the report has the layer {key} twice")
            layers[key] = row
            self._paths[row["id"]] = key
        self._layers = self.on_device[min(self.on_device)] if self.on_device else {}

    @property
    def layers(self):
        return self._layers

    def layer(self, path, direction="forward"):
        return self._layers[tuple(path), direction]

    @property
    def kernels(self):
        """By what makes a launch: layer, direction, symbol, grid, block."""
        found = {}
        for row in self.document["kernels"]:
            key = self._paths[row["layer"]] + (row["symbol"], tuple(row["grid"] or ()), tuple(row["block"] or ()))
            if row["device"] != min(self.on_device):
                key += (row["device"],)
            if key in found:
                raise AssertionError(f"the report has the kernel {key} twice")
            found[key] = row
        return found

    def kernels_of(self, path, direction="forward"):
        return {key: row for key, row in self.kernels.items() if key[:2] == (tuple(path), direction)}

    def problems(self):
        """What the published schema says against the report."""
        return report_schema.problems(self.document)


class ReportTest(unittest.TestCase):
    maxDiff = 4000

    def assert_close(self, found, expected, what, relative=1e-12):
        """Equal but for the last digits: sums of many numbers may be added in another order."""
        self.assertIsNotNone(found, what)
        self.assertTrue(math.isclose(found, expected, rel_tol=relative, abs_tol=1e-9), f"{what}: {found!r}, not {expected!r}")

    def assert_nothing_lost(self, report):
        self.assertEqual({kind: n for kind, n in report.run["lost"].items() if n}, {})

    def assert_overhead(self, document):
        """What measuring cost is in every report of launches."""
        run = document["run"]
        overhead, steps = run["overhead"], run["steps"]
        if document["kernels"]:
            self.assertGreater(overhead["callbacks_ns"], 0)
        if steps["hw"] + steps["flops"] > 0:
            self.assertGreater(overhead["counter_image_bytes"], 0)
        phases = {name.split(":")[0] for name in overhead["window_wall_ns"]}
        self.assertEqual({name for name in ("hw", "flops", "time") if steps[name] > 0}, phases & {"hw", "flops", "time"})
        for phase, wall in overhead["window_wall_ns"].items():
            self.assertGreater(wall, 0, phase)

    def assert_sound(self, report):
        """What holds for every report from playback."""
        self.assert_overhead(report.document)
        self.assertEqual(report.problems(), [])
        self.assertEqual(report.run["source"], "playback")
        self.assertIn("playback", report.table.lower())
        self.assertEqual(report.document["gable"]["schema"], 2)
