# SPDX-License-Identifier: Apache-2.0
"""One command, many processes: each writes its own report, and one table shows them all."""
import subprocess
import unittest

from hazards_test import GABLE, HAZARD, OPTIONS, RECORDING, run_command


class Processes(unittest.TestCase):
    def check(self, run, count, total):
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.out, count * "worked\n")
        self.assertEqual(len(run.reports), count, run.err)
        self.assertEqual(len({report["run"]["pid"] for report in run.reports}), count)
        for report in run.reports:
            self.assertEqual(report["layers"][0]["launches"], 4)
            self.assertEqual(report["layers"][0]["flops"]["fp32"], 4 * 2 * 64 * 512)
        self.assertEqual(run.err.count("[playback]"), 1, run.err)
        self.assertIn(f"{count} processes", run.err)
        # each did 8 steps of 4 launches of 64 FFMA on 512 threads before the measuring was over
        self.assertIn(total, run.err)

    def check_two(self, run):
        self.check(run, 2, "4.72 MFLOP")

    def test_shell_with_two_jobs(self):
        # Tools that touch no GPU run between: they write nothing.
        script = "%s return & %s return & wait; ls / >/dev/null; true" % (HAZARD, HAZARD)
        self.check_two(run_command(["sh", "-c", script]))

    def test_one_name_for_all(self):
        script = "%s return & %s return & wait; true" % (HAZARD, HAZARD)
        self.check_two(run_command(["sh", "-c", script], output="r-same.json"))

    def test_mpirun(self):
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4"]
        run = run_command([*mpirun, "sh", "-c", "%s return || true" % HAZARD])
        self.check(run, 4, "9.44 MFLOP")
        self.assertEqual({report["run"]["rank"] for report in run.reports}, {0, 1, 2, 3})
        self.assertEqual(run.violations, "")
        self.assertNotIn("gable:", run.err)

    def test_program_that_is_not_there(self):
        done = subprocess.run([GABLE, "profile", "--playback", RECORDING, *OPTIONS, "--", "no-such-program"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (127, ""))
        self.assertIn("no-such-program", done.stderr)


if __name__ == "__main__":
    unittest.main()
