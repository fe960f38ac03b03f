# SPDX-License-Identifier: Apache-2.0
"""A signal that ends the program finds it anywhere: within a launch, with a lock of ours, or while the report is written at the end.
The report is there whatever the moment, no part of a file is, and the program ends as it would have.

GABLE_SIGNALS   how many moments are tried of each program, 20 unless told otherwise"""
import json
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

from hazards_test import HAZARD, LIBRARY, playback_environment

MOMENTS = int(os.environ.get("GABLE_SIGNALS", "20"))
LONGEST_S = 120  # far beyond the two seconds that Gable may take, on a machine however busy


def threads_of(process):
    folder = f"/proc/{process.pid}/task"
    names = []
    for thread in os.listdir(folder):
        with open(os.path.join(folder, thread, "comm"), encoding="utf-8") as file:
            names.append(file.read().strip())
    return names


class Signals(unittest.TestCase):
    def end_by(self, process, number):
        """What it wrote to stdout and stderr. The thread sanitizer takes a signal first and hands it on at the next call that it
        knows; one of a thousand it forgets. Our handler has not run then, so no thread of ours ends the program: the signal is sent
        again."""
        for last in (os.environ["GABLE_SANITIZE"] != "thread", True):
            process.send_signal(number)
            try:
                return process.communicate(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                if last or "gable-end" in threads_of(process):
                    process.kill()
                    raise
        return None, None

    def check(self, program, number, codes, longest_wait, more=None):
        chance = random.Random(f"{program} {number}")
        ended, unfinished = {}, 0
        for moment in range(MOMENTS):
            with self.subTest(moment=moment), tempfile.TemporaryDirectory() as folder:
                env = playback_environment() | {"CUDA_INJECTION64_PATH": LIBRARY,
                                             "GABLE_OPTIONS": "--step-range=^step --active=1 -o r.json"} | (more or {})
                with subprocess.Popen([HAZARD, program], env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      restore_signals=True) as process:
                    self.assertEqual(process.stdout.readline(), "launched\n")
                    time.sleep(chance.uniform(0, longest_wait))
                    sent = time.monotonic()
                    _, err = self.end_by(process, number)
                    took = time.monotonic() - sent
                ended[process.returncode] = ended.get(process.returncode, 0) + 1
                self.assertIn(process.returncode, codes, err)
                self.assertEqual(err, "")
                self.assertEqual(os.listdir(folder), ["r.json"])
                with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
                    complete = json.load(file)["run"]["complete"]
                # The address sanitizer has locks for the whole process, in malloc and when a thread starts. A thread that the signal
                # interrupts there keeps them: Gable then gives up after its two seconds, with the report of before.
                gave_up = bool(os.environ["GABLE_SANITIZE"]) and took > 1.9
                self.assertTrue(complete or gave_up, took)
                unfinished += not complete
        self.assertLessEqual(unfinished, 1)
        print(f"signals: {program}, signal {number}: {MOMENTS} moments, 0 reports lost, exit codes {ended}")

    def test_while_it_launches(self):
        self.check("until_a_signal", signal.SIGTERM, (-signal.SIGTERM,), 0.05)

    def test_by_the_keyboard_while_it_launches(self):
        self.check("until_a_signal", signal.SIGINT, (-signal.SIGINT,), 0.05)

    def test_of_a_batch_system_while_it_launches(self):
        self.check("until_a_signal", signal.SIGUSR1, (-signal.SIGUSR1,), 0.05)

    def test_while_it_allocates(self):
        """The thread that the signal finds has the allocator's only lock, which the report's writer needs."""
        self.check("allocate_until_a_signal", signal.SIGTERM, (-signal.SIGTERM,), 0.05, {"MALLOC_ARENA_MAX": "1"})

    def test_while_it_ends(self):
        # One that comes when the report is written already finds the program on its way out, with the code of its own.
        self.check("return_at_once", signal.SIGTERM, (3, -signal.SIGTERM), 0.01)

    @unittest.skipIf(os.environ["GABLE_SANITIZE"], "a sanitizer's run-time has to be the first that is preloaded")
    def check_with_slow_disk(self, program, slow):
        with tempfile.TemporaryDirectory() as folder:
            env = playback_environment() | {"CUDA_INJECTION64_PATH": LIBRARY, "LD_PRELOAD": os.environ["GABLE_SLOW_DISK"],
                                         "GABLE_OPTIONS": "--step-range=^step --active=1 -o r.json"} | slow
            with subprocess.Popen([HAZARD, program], env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                self.assertEqual(process.stdout.readline(), "launched\n")
                out, err = self.end_by(process, signal.SIGTERM)
            self.assertEqual((process.returncode, out, err, os.listdir(folder)), (-signal.SIGTERM, "", "", ["r.json"]))
            with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
                json.load(file)

    def test_while_the_disk_is_slow(self):
        """What is written to its end is not lost because the disk does not have it yet."""
        self.check_with_slow_disk("until_a_signal", {"SLOW_SYNC_S": "20"})

    def test_while_the_disk_is_slow_to_make_a_file(self):
        """Longer than the two seconds that everything else has. The program does not go on from its sleep meanwhile."""
        self.check_with_slow_disk("sleep_until_a_signal", {"SLOW_OPEN_S": "4"})


if __name__ == "__main__":
    unittest.main()
