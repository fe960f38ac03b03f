# SPDX-License-Identifier: Apache-2.0
"""Every process leaves its own report, whatever names they are given: none is written over, and the launcher's table lists all."""
import json
import os
import subprocess
import tempfile
import time
import unittest

from hazards_test import GABLE, HAZARD, LIBRARY, RECORDING, playback_environment

REPORT = "--step-range=^step --active=1"


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def injected(self, command, name="r.json", **variables):
        env = playback_environment() | {"CUDA_INJECTION64_PATH": LIBRARY, "GABLE_OPTIONS": f"{REPORT} -o {name}"} | variables
        return subprocess.run(command, env=env, cwd=self.folder, text=True, capture_output=True, timeout=240, check=False)

    def profiled(self, command, name="r.json"):
        env = {key: value for key, value in os.environ.items() if not key.startswith("GABLE_")}
        return subprocess.run([GABLE, "profile", "--playback", RECORDING, *REPORT.split(), "-o", name, "--", *command], env=env,
                              cwd=self.folder, text=True, capture_output=True, timeout=240, check=False)

    def reports(self):
        found = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                found[name] = json.load(file)["run"]
        return found

    def test_six_processes_at_once(self):
        script = " & ".join([f"{HAZARD} return"] * 6) + " & wait"
        self.injected(["sh", "-c", script])
        found = self.reports()
        self.assertEqual(len(found), 6)
        self.assertEqual(len({run["pid"] for run in found.values()}), 6)
        self.assertIn("r.json", found)

    def test_six_processes_one_after_the_other_under_the_launcher(self):
        done = self.profiled(["sh", "-c", "; ".join([f"{HAZARD} return"] * 6)])
        self.assertEqual(len({run["pid"] for run in self.reports().values()}), 6)
        self.assertEqual(sorted(line.rpartition("/")[2] for line in done.stderr.splitlines() if line.startswith("Report: ")),
                         sorted(self.reports()))

    def test_a_program_that_replaces_itself(self):
        for run in (self.injected, self.profiled):
            run([HAZARD, "replace_itself", "3"])
            found = self.reports()
            self.assertEqual(len(found), 3, found.keys())
            self.assertEqual(len({about["pid"] for about in found.values()}), 1)
            for name in found:
                os.unlink(os.path.join(self.folder, name))

    def test_a_second_run_replaces_the_first(self):
        pids = []
        for _ in range(2):
            time.sleep(0.1)  # a process that begins while a file is written takes it for another's
            self.injected([HAZARD, "return"])
            self.assertEqual(list(self.reports()), ["r.json"])
            pids.append(self.reports()["r.json"]["pid"])
        self.assertNotEqual(pids[0], pids[1])

    def test_a_variable_that_is_not_set(self):
        done = self.injected([HAZARD, "return"], name="r-%q{NO_SUCH_RANK}.json")
        ((name, run),) = self.reports().items()
        self.assertEqual(name, f"r-{run['pid']}.json")
        self.assertEqual(done.stderr, "gable: -o r-%q{NO_SUCH_RANK}.json names NO_SUCH_RANK, which is not set here: the process id stands "
                         f"in its place, in {name}.\n")
        self.assertEqual(self.injected([HAZARD, "return"], name="r-%q{RANK}.json", RANK="7").stderr, "")
        self.assertIn("r-7.json", self.reports())


if __name__ == "__main__":
    unittest.main()
