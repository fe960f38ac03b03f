# SPDX-License-Identifier: Apache-2.0
"""gable window and SIGUSR2: further queues in a program that runs, each with a report of its own."""
import json
import os
import signal
import subprocess
import time
import unittest

from small import STEPS, SmallTest, gable_run, path_of

PATIENCE_S = 60


class Running:
    """The recording that runs for some seconds; its first queue is complete."""

    def __init__(self, name, *options):
        self.out, self.violations = gable_run.work(name + ".json"), gable_run.work(name + ".violations")
        for path in (self.out, self.report_path(2), self.report_path(3), self.violations):
            if os.path.exists(path):
                os.remove(path)
        variables = {key: value for key, value in os.environ.items() if key != "GABLE_OPTIONS"}
        variables["GABLE_PLAYBACK_VIOLATIONS"] = self.violations
        command = [os.environ["GABLE_PROGRAM"], "profile", "--playback", path_of("long_run"), "-o", self.out]
        self.process = subprocess.Popen([*command, *(options or STEPS)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=variables)
        self.pid = self.report(1)["run"]["pid"]

    def report_path(self, queue):
        return self.out if queue == 1 else self.out.replace(".json", f"-{queue}.json")

    def report(self, queue):
        """Once it is complete."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            text = gable_run.read_text(self.report_path(queue))
            if text and json.loads(text)["run"]["complete"]:
                return gable_run.Report(gable_run.report_schema.parse(text)).document
            time.sleep(0.02)
        raise AssertionError(f"no complete report of queue {queue}: {self.process.poll()}")

    def window(self, *options):
        return subprocess.run([os.environ["GABLE_PROGRAM"], "window", str(self.pid), *options],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def end(self):
        """Exit code, output and what was said, as of any other run."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


class Window(SmallTest):
    def running(self, name, *options):
        running = Running(name, *options)
        self.addCleanup(running.process.kill)
        return running

    def assert_queue(self, running, queue, windows):
        report = gable_run.Report(running.report(queue))
        self.assert_plain_step(report)
        self.assert_steps(report, hw=4 * windows, flops=windows, time=windows)
        self.assert_nothing_lost(report)

    def assert_ends_well(self, running):
        code, out, err = running.end()
        self.assertEqual((code, out), (0, "done\n"), err)
        self.assertEqual(gable_run.read_text(running.violations), "")

    def test_queues_on_demand(self):
        running = self.running("on_demand")
        self.assert_queue(running, 1, 1)
        asked = running.window("--steps", "2")
        self.assertEqual((asked.returncode, asked.stderr), (0, ""))
        self.assertEqual(asked.stdout, f"A queue is open; its report will be {running.report_path(2)}.\n")
        self.assert_queue(running, 2, 2)
        os.kill(running.pid, signal.SIGUSR2)
        self.assert_queue(running, 3, 1)
        self.assert_queue(running, 1, 1)  # is still there
        self.assert_ends_well(running)

    def test_one_queue_at_a_time(self):
        running = self.running("one_at_a_time")
        self.assertEqual(running.window("--steps", "100").returncode, 0)
        refused = running.window()
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("A queue is open in it: its windows come first.", refused.stderr)
        self.assert_ends_well(running)

    def test_windows_of_launches(self):
        running = self.running("launches", "--window", "10", "--active", "1")
        self.assertEqual(running.window("--steps", "1").returncode, 0)
        report = gable_run.Report(running.report(2))
        self.assertEqual(report.layer(("step", "conv"), "none")["coverage"], {"time": 1, "flops": 1, "bytes": 1})
        self.assert_ends_well(running)

    def test_nobody_to_ask(self):
        asked = subprocess.run([os.environ["GABLE_PROGRAM"], "window", str(os.getpid())], capture_output=True,
                               text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(asked.returncode, 2)
        self.assertIn("cannot be asked", asked.stderr)


if __name__ == "__main__":
    unittest.main()
