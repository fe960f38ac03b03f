# SPDX-License-Identifier: Apache-2.0
"""pytest --gable, with kernels of the playback GPU."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from launchers_test import BUILD, ROOT, blocks, machine

PYTHON = BUILD / "launching" / "bin" / "python"
TESTS = '''
import os
import pytest
from kernels import Gpu

@pytest.fixture
def gpu():
    gpu = Gpu()
    yield gpu
    gpu.wait()

@pytest.mark.parametrize("name", ["a/b", "a_b"])
def test_twice(gpu, name):
    print("printed by", name)
    for _ in range(4000):
        gpu.launch("work")

@pytest.mark.gable(gate=300, options="--phases time")
def test_marked(gpu):
    for _ in range(4000):
        gpu.launch("work")
'''
OTHERS = '''
def test_no_kernel():
    print("none")

def test_fails():
    value = {"a": 1}
    assert value == {"a": 2}, "told"

@pytest.mark.skip(reason="because")
def test_skipped():
    pass

@pytest.mark.xfail
def test_known():
    assert 0

def test_dies():
    os.kill(os.getpid(), 9)

def test_without_its_fixture(no_such):
    pass
'''


@unittest.skipUnless(PYTHON.exists(), "scripts/setup.sh --launching was not run")
class Pytest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "tests").mkdir()
        self.write(TESTS)
        self.kernels(5000)

    def write(self, text):
        (self.folder / "tests" / "test_it.py").write_text(text, encoding="utf-8")

    def kernels(self, time_ns, ffma=1024):
        """The GPU's kernel takes so long."""
        device = (ROOT / "tests" / "pytorch" / "gpu.jsonl").read_text(encoding="utf-8").splitlines()[:2]
        kernel = {"kernel": "work", "name": "work", "grid": [8, 1, 1], "block": [64, 1, 1], "time_ns": time_ns, "counters": {
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": ffma, "dram__sectors_read.sum": 100, "dram__sectors_write.sum": 100}}
        (self.folder / "gpu.jsonl").write_text("\n".join([*device, json.dumps(kernel)]) + "\n", encoding="utf-8")

    def pytest(self, *options, code=0, where="."):
        path = f"{BUILD / 'lib' / 'python'}:{ROOT / 'tests' / 'launching'}"
        environment = machine(str(self.folder), PYTHON) | {"PYTHONPATH": path, "GABLE_PLAYBACK": str(self.folder / "gpu.jsonl"), "COLUMNS": "160"}
        run = subprocess.run([PYTHON, "-m", "pytest", "-p", "gable_profiler._pytest", "--gable", *options], capture_output=True, text=True,
                             env=environment, cwd=self.folder / where, timeout=300, check=False)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout

    def reports(self, folder="gable-reports"):
        return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (self.folder / folder).iterdir()}

    def test_every_test_has_a_report(self):
        out = self.pytest("-rA", "tests")
        reports = self.reports()
        names = [re.sub("-[0-9a-f]{8}", "-HASH", name) for name in sorted(reports)]
        self.assertEqual(names, ["tests.test_it.py.test_marked.json", "tests.test_it.py.test_twice_a.b-HASH.json",
                                 "tests.test_it.py.test_twice_a_b-HASH.json"])
        self.assertEqual({(report["run"]["complete"], tuple(kernel["name"] for kernel in report["kernels"])) for report in reports.values()},
                         {(True, ("work",))})
        self.assertIn("printed by a/b", out)
        self.assertRegex(out, r"(?m)^tests/test_it\.py::test_marked: gable-reports/tests\.test_it\.py\.test_marked\.json$")
        self.assertIn("=== 3 passed in", out)
        # Its own options.
        steps = {name: report["run"]["steps"] for name, report in reports.items()}
        self.assertEqual(steps["tests.test_it.py.test_marked.json"]["flops"], 0)
        self.assertGreater(steps[sorted(reports)[1]]["flops"], 0)

    def test_results_are_those_without_gable(self):
        self.write(TESTS + OTHERS)
        (self.folder / "tests" / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        out = self.pytest("-k", "not twice", "--junitxml", "results.xml", "-c", "pytest.ini", code=1, where="tests")
        self.assertIn("2 failed, 2 passed, 1 skipped, 2 deselected, 1 xfailed, 1 error in", out)
        self.assertIn("AssertionError: told", out)
        self.assertIn("fixture 'no_such' not found", out)
        self.assertIn("The test's process ended by signal 9 before the test did.", out)
        self.assertRegex(out, r"test_it\.py::test_no_kernel: No report was written: no CUDA kernel launch was seen")
        results = (self.folder / "tests" / "results.xml").read_text(encoding="utf-8")
        self.assertIn('tests="7"', results)
        again = self.pytest("--last-failed", "-c", "pytest.ini", code=1, where="tests")
        self.assertIn("2 failed, 1 error in", again)

    def test_a_test_that_got_slower_fails(self):
        self.pytest("--gable-reports", "main")
        out = self.pytest("--gable-baseline", "main")
        self.assertEqual(out.count(", not worse than main/"), 3)
        self.kernels(15000)
        out = self.pytest("--gable-baseline", "main", code=1)
        self.assertIn("2 failed, 1 passed in", out)
        self.assertRegex(out, r"Worse than main/tests\.test_it\.py\.test_twice_a_b-\w+\.json:\n(.*\n)*worse: whole program: time 9\.01 ms -> 27\.0 ms")
        self.assertIn("1 failed", self.pytest("--gable-baseline", "main", "-k", "a/b", code=1))
        self.assertIn("1 passed", self.pytest("--gable-baseline", "main", "-k", "a/b", "--gable-gate", "300"))

    def test_what_cannot_be_compared_is_said(self):
        (self.folder / "main").mkdir()
        out = self.pytest("--gable-baseline", "main", "-k", "marked")
        self.assertIn("test_marked.json, without a baseline", out)
        self.pytest("--gable-reports", "main", "-k", "marked")
        self.pytest("--gable-reports", "main", "-k", "a/b")
        self.kernels(5000, ffma=2048)
        out = self.pytest("--gable-baseline", "main", "-k", "a/b")
        self.assertRegex(out, r"test_twice_a\.b-\w+\.json cannot be compared with main/.* MFLOP")
        self.write(TESTS.replace("range(4000)", "range(0)"))
        out = self.pytest("--gable-baseline", "main", "-k", "marked", code=1)
        self.assertIn("test_marked.json has kernels. No report was written: no CUDA kernel launch was seen", out)

    def test_wrong_use_is_one_sentence(self):
        for options, sentence in ((("--gable-baseline", "nowhere"), "--gable-baseline: there is no folder nowhere."),
                                  (("--pdb",), "--gable runs tests in processes of their own, where --pdb has no terminal")):
            with self.subTest(options):
                path = f"{BUILD / 'lib' / 'python'}"
                run = subprocess.run([PYTHON, "-m", "pytest", "-p", "gable_profiler._pytest", "--gable", *options], capture_output=True, text=True,
                                     env=machine(str(self.folder), PYTHON) | {"PYTHONPATH": path}, cwd=self.folder, timeout=300, check=False)
                self.assertEqual(run.returncode, 4)
                self.assertIn(f"ERROR: {sentence}", run.stderr)

    def test_the_commands_on_the_page(self):
        for command in "".join(blocks("pytest")).replace("\\\n", " ").splitlines():
            with self.subTest(command):
                words = command.split()
                self.assertEqual(words[:2], ["pytest", "--gable"])
                self.pytest(*words[2:])


if __name__ == "__main__":
    unittest.main()
