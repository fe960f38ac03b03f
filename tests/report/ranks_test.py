# SPDX-License-Identifier: Apache-2.0
"""Which ranks of a job write a report: --ranks."""
import os
import signal
import subprocess
import tempfile
import time
import unittest

from small import STEPS, path_of


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_ranks(self, ranks, *options, launcher=()):
        """(standard error, names of the reports) of one `gable profile` around a process for each rank, as with torchrun. `launcher`:
        variables of `gable profile` itself."""
        environment = {name: value for name, value in os.environ.items() if name not in ("GABLE_OPTIONS", "RANK")} | dict(launcher)
        player = os.path.join(os.path.dirname(os.environ["GABLE_PROGRAM"]), "..", "lib", "playback", "gable-player")
        recording = path_of("layers")
        script = "; ".join(f"{rank} {player} {recording}" for rank in ranks)
        command = [os.environ["GABLE_PROGRAM"], "profile", "--playback", recording, *STEPS, "-o", "rank-%q{RANK}.json", *options, "-q",
                   "--", "sh", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=self.folder, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr, sorted(os.listdir(self.folder))

    def test_those_that_were_asked_for(self):
        ranks = [f"RANK={rank}" for rank in (0, 1, 7, 8)]
        err, names = self.run_ranks(ranks, "--ranks", "0::8")
        self.assertEqual(names, ["rank-0.json", "rank-8.json"])
        self.assertEqual(err, "".join(f"Report: {os.path.join(os.path.realpath(self.folder), name)}\n" for name in names))

    def test_nothing_else_is_written_either(self):
        _, names = self.run_ranks(["RANK=1", "RANK=2"], "--ranks", "1", "--record", "recording-%q{RANK}.jsonl")
        self.assertEqual([name for name in names if "2" in name], [])
        self.assertIn("recording-1.jsonl", names)

    def test_a_process_that_is_no_rank_writes_its_own(self):
        _, names = self.run_ranks([""], "--ranks", "5", "-o", "alone.json")
        self.assertEqual(names, ["alone.json"])

    def test_where_no_rank_is_left(self):
        err, names = self.run_ranks(["RANK=0", "RANK=1"], "--ranks", "5")
        self.assertEqual(names, [])
        self.assertEqual(err, "gable: No report was written: --ranks 5 leaves out every rank that launched kernels.\n")

    def test_a_launcher_of_a_rank_that_is_left_out_is_silent(self):
        """As with srun, where each rank has its own: another one's report is wanted."""
        self.assertEqual(self.run_ranks([""], "--ranks", "0", "-o", "it.json", launcher={"SLURM_PROCID": "3"}), ("", []))
        self.assertEqual(self.run_ranks([""], "--ranks", "0", "-o", "it.json", launcher={"SLURM_PROCID": "0"})[1], ["it.json"])

    def test_a_rank_that_is_left_out_opens_no_further_queue(self):
        """Its report would be promised and never come."""
        gable, pid = os.environ["GABLE_PROGRAM"], os.path.join(self.folder, "pid")
        player = os.path.join(os.path.dirname(gable), "..", "lib", "playback", "gable-player")
        command = [gable, "profile", "--playback", path_of("long_run"), "-q", "--ranks", "5", "--", "sh", "-c",
                   f"echo $$ >{pid}; exec {player} {path_of('long_run')}"]
        environment = {name: value for name, value in os.environ.items() if name != "GABLE_OPTIONS"} | {"RANK": "1"}
        with subprocess.Popen(command, env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            said, until = "", time.monotonic() + 60
            while "--ranks" not in said and time.monotonic() < until and running.poll() is None:
                if os.path.exists(pid):
                    with open(pid, encoding="utf-8") as file:
                        done = subprocess.run([gable, "window", file.read().strip() or "1"], capture_output=True, text=True, timeout=60,
                                              check=False)
                    said = done.stdout + done.stderr
                time.sleep(0.02)
            with open(pid, encoding="utf-8") as file:
                os.kill(int(file.read()), signal.SIGKILL)
        self.assertIn("It is a rank that --ranks leaves out, and writes no report: ask one of the others.", said)


if __name__ == "__main__":
    unittest.main()
