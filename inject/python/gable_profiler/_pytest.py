# SPDX-License-Identifier: Apache-2.0
"""pytest --gable: every test runs in a process of its own under gable profile, leaves a report, and may be held against a baseline."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zlib

import pytest

from gable_profiler import _program

_RESULTS = "GABLE_PYTEST_RESULTS"  # in a test's own process: the file that its results go to
_WORSE, _NOT_COMPARABLE = 1, 3  # exit codes of gable check


def pytest_addoption(parser):
    group = parser.getgroup("gable", "per-layer rooflines of tests (gable)")
    group.addoption("--gable", action="store_true", help="run every test in a process of its own under gable profile, and keep its report")
    group.addoption("--gable-reports", metavar="DIR", default="gable-reports", help="folder of the reports (gable-reports)")
    group.addoption("--gable-options", metavar="OPTIONS", default="", help="further options of gable profile, such as '--active 1'")
    group.addoption("--gable-baseline", metavar="DIR", help="folder of earlier reports: a test that got slower fails, as gable check says")
    group.addoption("--gable-gate", metavar="PCT", type=float, default=5, help="largest change in percent that passes (5)")


def pytest_configure(config):
    config.addinivalue_line("markers", "gable(gate=PCT, options='...'): for pytest --gable: this test's own gate, and options of gable profile "
                                       "after those of the command line")
    if _RESULTS in os.environ:
        config.pluginmanager.register(_Inner(config, os.environ[_RESULTS]), "gable-inner")
        config.option.xmlpath = None  # the outer pytest writes it
    elif config.getoption("gable"):
        if getattr(config.option, "numprocesses", None):
            raise pytest.UsageError("--gable measures one test at a time: leave out -n.")
        if config.option.usepdb:
            raise pytest.UsageError("--gable runs tests in processes of their own, where --pdb has no terminal: leave out one of them.")
        config.pluginmanager.register(_Outer(config), "gable-outer")


class _Inner:
    """In a test's own process: hands the results over."""

    def __init__(self, config, path):
        self._config, self._path = config, path

    def pytest_runtest_logreport(self, report):
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")


class _Outer:
    def __init__(self, config):
        self._config = config
        self._folder = os.path.abspath(config.getoption("gable_reports"))
        self._baseline = config.getoption("gable_baseline")
        self._lines = []
        if self._baseline and not os.path.isdir(self._baseline):
            raise pytest.UsageError(f"--gable-baseline: there is no folder {self._baseline}.")
        os.makedirs(self._folder, exist_ok=True)
        # What the user typed, without the tests: those come one by one.
        tests = set(map(str, config.option.file_or_dir))
        self._arguments = [word for word in map(str, config.invocation_params.args) if word not in tests]

    def _report_of(self, item):
        """Where the report goes: a name that is the same in every run, and that tests with other parameters do not have."""
        name = re.sub(r"[^\w.=+-]+", "_", item.nodeid.replace("::", ".").replace("/", ".")).strip("_")
        if "[" in item.nodeid:
            name += f"-{zlib.crc32(item.nodeid.encode()):08x}"
        return os.path.join(self._folder, name + ".json")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._run(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _run(self, item):
        mark = item.get_closest_marker("gable")
        own = mark.kwargs if mark else {}
        path = self._report_of(item)
        if os.path.exists(path):
            os.remove(path)
        with tempfile.TemporaryDirectory(prefix="gable-pytest-") as folder:
            results = os.path.join(folder, "results")
            command = [_program.path(), "profile", "-q", "-o", path, *shlex.split(self._config.getoption("gable_options")),
                       *shlex.split(own.get("options", "")), "--", sys.executable, "-m", "pytest", *self._arguments,
                       "-o", f"cache_dir={os.path.join(folder, 'cache')}", f"--rootdir={self._config.rootpath}", str(self._config.rootpath / item.nodeid)]
            done = subprocess.run(command, cwd=self._config.invocation_params.dir, env={**os.environ, _RESULTS: results}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
            reports = self._read(results)
        if not any(report.when == "teardown" for report in reports):
            reports.append(self._died(item, done))
        elif all(report.passed for report in reports):
            self._look_at(item, path, own.get("gate", self._config.getoption("gable_gate")), reports, done.stderr)
        return reports

    def _read(self, results):
        try:
            with open(results, encoding="utf-8") as file:
                return [self._read_one(json.loads(line)) for line in file]
        except OSError:
            return []

    def _read_one(self, data):
        report = self._config.hook.pytest_report_from_serializable(config=self._config, data=data)
        # JSON knows no tuples, and pytest means them.
        if isinstance(report.longrepr, list):
            report.longrepr = tuple(report.longrepr)
        report.location = tuple(report.location)
        report.sections = [tuple(section) for section in report.sections]
        report.user_properties = [tuple(pair) for pair in report.user_properties]
        return report

    @staticmethod
    def _failed(item, when, text):
        return pytest.TestReport(nodeid=item.nodeid, location=item.location, keywords={}, outcome="failed", longrepr=text, when=when)

    def _died(self, item, done):
        end = f"by signal {done.returncode - 128}" if done.returncode > 128 else f"with exit code {done.returncode}"
        return self._failed(item, "call", f"The test's process ended {end} before the test did.\n{done.stdout[-4000:]}{done.stderr[-4000:]}")

    def _look_at(self, item, path, gate, reports, said):
        """Says what there is, and makes a test that got slower one that failed."""
        shown, call = os.path.relpath(path), next(i for i, report in enumerate(reports) if report.when == "call")
        former = os.path.join(self._baseline, os.path.basename(path)) if self._baseline else None
        compared = former is not None and os.path.exists(former)
        if not os.path.exists(path):
            sentence = next((line for line in said.splitlines() if line.startswith("gable: ")), "gable: No report was written.")
            self._lines.append(f"{item.nodeid}: {sentence[len('gable: '):]}")
            if compared:
                reports[call] = self._failed(item, "call", f"{former} has kernels. {sentence[len('gable: '):]}")
            return
        if not compared:
            self._lines.append(f"{item.nodeid}: {shown}" + (", without a baseline" if former else ""))
            return
        done = subprocess.run([_program.path(), "check", path, "--baseline", former, "--gate", str(gate)], capture_output=True, text=True,
                              check=False)
        told = (done.stdout + done.stderr).strip()
        if done.returncode == _WORSE:
            reports[call] = self._failed(item, "call", f"Worse than {former}:\n{told}")
        elif done.returncode != 0:
            why = "cannot be compared" if done.returncode == _NOT_COMPARABLE else "was not compared"
            self._lines.append(f"{item.nodeid}: {shown} {why} with {former}: {told.splitlines()[-1] if told else done.returncode}")
        else:
            self._lines.append(f"{item.nodeid}: {shown}, not worse than {former}")

    def pytest_terminal_summary(self, terminalreporter):
        if self._lines:
            terminalreporter.section("gable")
            for line in self._lines:
                terminalreporter.write_line(line)
