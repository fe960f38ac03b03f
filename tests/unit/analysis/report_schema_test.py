# SPDX-License-Identifier: Apache-2.0
"""The published schema: every report of the unit tests matches it, and it refuses what no report may be.
report_schema_test.py PROGRAM…: the unit tests that write down their reports."""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import report_schema  # noqa: E402

PROGRAMS = sys.argv[1:]
FULL = "ReportJson.EveryFieldSurvives-"  # a report with a value in every field


def places(value, path=()):
    """Every place in a document: (path, value)."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, path + (key,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            for program in PROGRAMS:
                run = subprocess.run([program], env={**os.environ, "GABLE_TEST_REPORTS": folder}, capture_output=True,
                                     text=True, timeout=300, check=False)
                if run.returncode != 0:
                    raise AssertionError(run.stdout[-3000:])
            cls.reports = {path.name: report_schema.parse(path.read_text(encoding="utf-8"))
                           for path in pathlib.Path(folder).iterdir()}
        (name,) = [name for name in cls.reports if name.startswith(FULL)]
        cls.full = cls.reports[name]

    def assert_refused(self, document, what):
        self.assertFalse(report_schema.matches(document), what)

    def test_every_report_of_the_unit_tests_matches(self):
        self.assertGreater(len(self.reports), 30)
        for name, document in self.reports.items():
            self.assertEqual(report_schema.problems(document), [], name)

    def test_gable_stands_first(self):
        for document in self.reports.values():
            self.assertEqual(next(iter(document)), "gable")

    def test_no_field_may_be_missing_and_none_added(self):
        for path, value in places(self.full):
            if not isinstance(value, dict) or path[-1:] in (("tensor",), ("ops",), ("types",), ("counters",), ("mix",), ("memory_mix",), ("slowdown",),
                                                           ("window_wall_ns",)):
                continue
            more = copy.deepcopy(self.full)
            at(more, path)["surprise"] = 1
            self.assert_refused(more, f"a surprise in {path}")
            for field in value:
                less = copy.deepcopy(self.full)
                del at(less, path)[field]
                self.assert_refused(less, f"{path} without {field}")

    def test_no_field_may_have_another_type(self):
        for path, value in places(self.full):
            if not path:
                continue
            wrong = copy.deepcopy(self.full)
            at(wrong, path[:-1])[path[-1]] = [["x"]] if not isinstance(value, list) else "x"
            self.assert_refused(wrong, f"{path} of another type")

    def test_null_is_allowed_exactly_where_something_may_be_unknown(self):
        known = {"schema", "version", "command", "hostname", "pid", "started_at", "source", "unit", "scope", "complete",
                 "basis", "basis_note", "seen", "classes", "ranks", "notes", "id", "device", "kind", "value", "path",
                 "direction", "depth", "launches", "bound", "cluster", "dynamic_shared", "flags", "count",
                 "symbol"}
        for path, value in places(self.full):
            if not path or not isinstance(path[-1], str) or path[-1] not in known or path[-2:] in (
                    ("roof", "source"), ("nvlink", "version"), ("collective", "kind"), ("collective", "ranks")):
                continue
            if path[0] == "layers" and path[-1] == "launches":
                continue  # unknown where only ranges were collected
            wrong = copy.deepcopy(self.full)
            at(wrong, path[:-1])[path[-1]] = None
            self.assert_refused(wrong, f"null in {path}")
        unknown = {"flops_per_s", "bytes_per_s", "saving_ns", "fraction", "mean", "dram", "total", "rank", "wall_time_s",
                   "callbacks_ns", "busy_ns", "compute_capability", "sm_max", "parent", "calls", "dotted", "time_source",
                   "time_share", "l2_bytes"}
        checked = set()
        for path, value in places(self.full):
            if not path or path[-1] not in unknown or isinstance(value, dict) or (path[0], path[-1]) == ("operators", "calls"):
                continue
            right = copy.deepcopy(self.full)
            at(right, path[:-1])[path[-1]] = None
            self.assertEqual(report_schema.problems(right), [], f"null in {path}")
            checked.add(path[-1])
        self.assertEqual(checked, unknown)

    def test_negative_amounts_and_unknown_words_are_refused(self):
        for path, value in places(self.full):
            if isinstance(value, (int, float)) and not isinstance(value, bool) and path[-1] != "pid":
                wrong = copy.deepcopy(self.full)
                at(wrong, path[:-1])[path[-1]] = -1
                self.assert_refused(wrong, f"-1 in {path}")
        for path in (("run", "source"), ("run", "unit"), ("run", "total", "basis"), ("layers", 0, "roof", "bound"),
                     ("layers", 0, "direction"), ("kernels", 0, "time_source"), ("copies", 0, "kind"),
                     ("kernels", 0, "flags", 0)):
            wrong = copy.deepcopy(self.full)
            at(wrong, path[:-1])[path[-1]] = "surprise"
            self.assert_refused(wrong, f"a surprise in {path}")

    def test_every_field_is_described(self):
        for path, value in places(report_schema.schema()):
            if len(path) < 2 or path[-2] != "properties":
                continue
            shared = value.get("$ref", "").removeprefix("#/$defs/")
            described = "description" in value or "description" in report_schema.schema()["$defs"].get(shared, {})
            self.assertTrue(described, path)
        for path, value in places(report_schema.schema()):
            if isinstance(value, dict) and value.get("type") == "object":
                self.assertIn("additionalProperties", value, path)

    def test_no_number_is_nan(self):
        with self.assertRaises(AssertionError):
            report_schema.parse(json.dumps({"value": float("nan")}))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
