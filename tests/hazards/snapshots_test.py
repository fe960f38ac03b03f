# SPDX-License-Identifier: Apache-2.0
"""What is on the disk while the program runs, which is what a kill leaves: it follows the program, is whole, and costs little.

GABLE_LONG_TESTS   also what takes minutes or looks at the clock"""
import os
import random
import time
import unittest

from ends_test import LONG, LONGEST_S, EndsTest

NEVER = "100000000"  # ms from one snapshot to the next


class Snapshots(EndsTest):
    """What is on the disk while the program runs is what a kill leaves."""

    def wait_for(self, wanted, limit=LONGEST_S):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if os.path.exists(self.report):
                report = self.read()
                if wanted(report["run"]):
                    return report
            time.sleep(0.02)
        return self.fail("no such report while the program runs")

    def test_launches_alone(self):
        process = self.started(["one_launch_and_sleep"], GABLE_PLAYBACK_SNAPSHOT_MS=NEVER)
        self.assertEqual(process.stdout.readline(), "launched\n")
        report = self.wait_for(lambda run: True)
        process.kill()
        self.assertFalse(report["run"]["complete"])

    def test_the_first_window_comes_at_once(self):
        # The second report: the first has no window yet.
        process = self.started(["steps_after_the_first_report"], options="--step-range=^step --active=1000000 -o r.json",
                               GABLE_PLAYBACK_SNAPSHOT_MS=NEVER)
        report = self.wait_for(lambda run: run["steps"]["hw"] > 0)
        process.kill()
        self.assertFalse(report["run"]["complete"])

    def test_they_follow_the_program(self):
        process = self.started(["steps_with_times"], options="--step-range=^step --active=1000 -o r.json", GABLE_PLAYBACK_SNAPSHOT_MS="100")
        seen = 0
        for _ in range(4):
            seen = self.wait_for(lambda run, before=seen: run["steps"]["seen"] > before)["run"]["steps"]["seen"]
        process.kill()

    def test_nothing_is_written_while_nothing_changes(self):
        process = self.started(["one_launch_and_sleep"], GABLE_PLAYBACK_SNAPSHOT_MS="10")
        self.wait_for(lambda run: True)
        first = os.stat(self.report)
        time.sleep(2)
        last = os.stat(self.report)
        process.kill()
        self.assertEqual((first.st_ino, first.st_mtime_ns), (last.st_ino, last.st_mtime_ns))

    def is_writing(self, process):
        """A file of ours is open in the folder, with a name or without."""
        for file in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                if os.readlink(f"/proc/{process.pid}/fd/{file}").startswith(self.folder + "/"):
                    return True
            except FileNotFoundError:
                pass
        return False

    def test_a_kill_while_it_writes_leaves_no_part_of_a_file(self):
        for _ in range(3):
            process = self.started(["many_layers", "5000"], options="--step-range=^step --active=1000000 -o r.json",
                                   GABLE_PLAYBACK_SNAPSHOT_MS="10")
            end = time.monotonic() + LONGEST_S
            while not self.is_writing(process):
                self.assertLess(time.monotonic(), end, "it writes nothing")
            process.kill()
            process.communicate()
            self.assertIn(os.listdir(self.folder), ([], ["r.json"]))
            if os.path.exists(self.report):
                self.read()
                os.remove(self.report)

    @unittest.skipUnless(LONG, "a minute and a half, and looks at the clock")
    def test_a_kill_at_any_moment_costs_five_seconds(self):
        chance = random.Random("kill")
        oldest = 0.0
        for _ in range(10):
            process = self.started(["steps_with_times"], options="--step-range=^step --active=100000 -o r.json")
            time.sleep(chance.uniform(1.5, 16))
            killed = time.monotonic()
            process.kill()
            out, _ = process.communicate()
            # A line cut short is the last one.
            ended = [float(line) for line in out.split("\n")[:-1]]
            seen = self.read()["run"]["steps"]["seen"]
            self.assertEqual(os.listdir(self.folder), ["r.json"])
            # The first step counts for the border alone.
            lacks = killed - ended[min(seen, len(ended) - 1)]
            oldest = max(oldest, lacks)
            self.assertLessEqual(lacks, 5, f"{seen} of {len(ended)} steps")
            os.remove(self.report)
        print(f"ends: 10 kills, at most {oldest:.1f} s lost")

    @unittest.skipUnless(LONG, "a minute, and looks at the clock")
    def test_a_large_report_takes_little_of_a_core(self):
        process = self.started(["many_layers", "10000"], options="--step-range=^step --active=100000 -o r.json")
        time.sleep(60)
        ticks = 0
        for thread in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{thread}/stat", encoding="utf-8") as file:
                name, rest = file.read().rsplit(")", 1)
            if name.endswith("(gable-worker"):
                ticks = sum(int(field) for field in rest.split()[11:13])
        process.kill()
        self.assertTrue([note for note in self.read()["run"]["notes"] if "is written every" in note], "the user is told")
        seconds = ticks / os.sysconf("SC_CLK_TCK")
        print(f"ends: 10,000 kernels, the worker took {seconds:.1f} s of 60")
        # Two snapshots, for the launches and for the first window, and then one in fifty of the time; it also drains events.
        self.assertLess(seconds, 12)


if __name__ == "__main__":
    unittest.main()
