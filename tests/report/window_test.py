# SPDX-License-Identifier: Apache-2.0
"""gable window and SIGUSR2: further queues in a program that runs, each with a report of its own."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
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
        return err

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
        said = self.assert_ends_well(running)
        # The table is of the newest; a process is one process however often it was measured.
        self.assertNotIn("processes", said)
        self.assertEqual(re.findall("^Report: (.*)$", said, re.MULTILINE), [running.report_path(3)])
        self.assertIn(f"\n2 earlier reports: {running.report_path(1)} to {running.report_path(2)}\n", said)

    def test_queues_again_and_again(self):
        running = self.running("every", *STEPS, "--every", "1s")
        for queue in (1, 2, 3):
            self.assert_queue(running, queue, 1)
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

    def address(self, pid):
        return f"\0gable-{os.stat('/proc/self/ns/pid').st_ino}-{pid}"

    def test_another_process_answers(self):
        with subprocess.Popen(["sleep", "60"]) as other, socket.socket(socket.AF_UNIX) as impostor:
            self.addCleanup(other.kill)
            impostor.bind(self.address(other.pid))
            impostor.listen()
            asked = subprocess.run([os.environ["GABLE_PROGRAM"], "window", str(other.pid)], capture_output=True, text=True,
                                   timeout=PATIENCE_S, check=False)
            other.kill()
        self.assertEqual((asked.returncode, asked.stdout), (2, ""))
        self.assertIn("another process answers in its place", asked.stderr)

    def test_an_answer_that_a_terminal_would_obey(self):
        script = ("import os, socket; s = socket.socket(socket.AF_UNIX)\n"
                  "s.bind(f\"\\0gable-{os.stat('/proc/self/ns/pid').st_ino}-{os.getpid()}\"); s.listen(); print('ready', flush=True)\n"
                  "peer, _ = s.accept(); peer.recv(99); peer.send(b'+\\x1b[31mred\\x07\\xe2\\x80\\xae\\n')")
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
            other.stdout.readline()
            asked = subprocess.run([os.environ["GABLE_PROGRAM"], "window", str(other.pid)], capture_output=True, text=True,
                                   timeout=PATIENCE_S, check=False)
        self.assertEqual(asked.stdout, "?[31mred????\n")

    def test_somebody_who_asks_byte_by_byte(self):
        running = self.running("drips")
        with socket.socket(socket.AF_UNIX) as slow:
            slow.connect(self.address(running.pid))
            refused = False
            for _ in range(100):  # far beyond what one request may take
                try:
                    slow.send(b"w")
                except OSError:
                    refused = True
                    break
                time.sleep(0.1)
            self.assertTrue(refused)

    @unittest.skipUnless(os.geteuid() == 0, "only root may make a namespace here")
    def test_a_process_of_a_container(self):
        out = gable_run.work("container.json")
        if os.path.exists(out):
            os.remove(out)
        inner = [os.environ["GABLE_PROGRAM"], "profile", "-q", "--playback", path_of("long_run"), "-o", out, *STEPS]
        # The launcher and the program under it have small numbers in there, and others here.
        with subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", *inner], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as container:
            until = time.monotonic() + PATIENCE_S
            while not gable_run.read_text(out) and time.monotonic() < until:
                time.sleep(0.05)
            number = json.loads(gable_run.read_text(out))["run"]["pid"]
            self.assertLess(number, 100)
            (here,) = self.numbers_of(container.pid, number)
            asked = subprocess.run([os.environ["GABLE_PROGRAM"], "window", str(here)], capture_output=True, text=True,
                                   timeout=PATIENCE_S, check=False)
            container.communicate(timeout=PATIENCE_S)
        self.assertIn(asked.returncode, (0, 1), asked.stderr)  # open, or the one before still is

    def numbers_of(self, root, inner):
        """The processes below `root` that have the number `inner` in their container."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/status", encoding="utf-8") as file:
                    numbers = re.search(r"^NSpid:\t(.*)$", file.read(), re.MULTILINE).group(1).split()
            except OSError:
                continue
            if len(numbers) > 1 and int(numbers[-1]) == inner and int(name) > root:
                found.append(int(name))
        return found

    def test_nobody_to_ask(self):
        asked = subprocess.run([os.environ["GABLE_PROGRAM"], "window", str(os.getpid())], capture_output=True,
                               text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(asked.returncode, 2)
        self.assertIn("cannot be asked", asked.stderr)


if __name__ == "__main__":
    unittest.main()
