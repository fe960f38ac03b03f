# SPDX-License-Identifier: Apache-2.0
"""Programs that end without an end, and those that are ended: each ends as it would have, in time, and its report is there.

GABLE_LONG_TESTS   also what takes minutes or looks at the clock"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hazards_test import FORKS_ALONE, GABLE, GIVES_UP_S, HAZARD, LIBRARY, RECORDING, SANITIZERS, playback_environment

LONG = os.environ.get("GABLE_LONG_TESTS") == "1"
COMPILER = os.environ.get("GABLE_COMPILER_ID", "GNU")
STEPS = "--step-range=^step --active=1 -o r.json"
# Far beyond what the program takes and Gable may, on a machine however busy; what hung did so for good.
LONGEST_S = 300
LEFT_TO_THE_SYSTEM = {signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGXCPU}


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class EndsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.report = os.path.join(self.folder, "r.json")

    def environment(self, options=STEPS, **more):
        return playback_environment() | {"CUDA_INJECTION64_PATH": LIBRARY, "GABLE_OPTIONS": options, "HAZARD_REPORTS": self.folder} | more

    def run_it(self, words, env, timeout=LONGEST_S):
        return subprocess.run([HAZARD, *words], env=env, cwd=self.folder, preexec_fn=no_core, text=True, capture_output=True,
                              timeout=timeout, check=False)

    def started(self, words, **more):
        process = subprocess.Popen([HAZARD, *words], env=self.environment(**more), cwd=self.folder, preexec_fn=no_core, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def read(self):
        with open(self.report, encoding="utf-8") as file:
            return json.load(file)

    def check(self, *words, options=STEPS, complete=True, steps=1, **more):
        """Same end, same output, and a report; complete, unless nothing of ours could run any more at the end."""
        plain = self.run_it(words, playback_environment())
        if COMPILER != "GNU" and plain.returncode == -signal.SIGSEGV:
            self.skipTest("without Gable it crashes: its compiler's C++ library does not know how the C library ends a thread")
        done = self.run_it(words, self.environment(options, **more))
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertEqual(done.stderr, plain.stderr)
        self.assertEqual(os.listdir(self.folder), ["r.json"])
        report = self.read()
        run = report["run"]
        if complete is not None:
            self.assertEqual(run["complete"], complete)
        if steps:
            self.assertEqual(run["steps"]["time"], steps, run)
        return report


@unittest.skipIf(SANITIZERS == "thread", "its run-time has a thread of its own, which nobody can tell from the program's")
class LastThreads(EndsTest):
    """The last thread of the program ends, and the process with it."""

    # What only the main thread knew is lost once that has ended, and a checker of leaks would say so.
    NO_LEAKS = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

    def run_it(self, words, env, timeout=LONGEST_S):
        return super().run_it(words, env | self.NO_LEAKS)

    def test_main_leaves_by_pthread_exit(self):
        self.check("pthread_exit")

    def test_another_thread_goes_on_after_it(self):
        report = self.check("pthread_exit_before_others")
        self.assertGreaterEqual(report["run"]["wall_time_s"], 2, "it did not end before the program's last thread")

    def test_another_thread_ends_the_process(self):
        self.check("pthread_exit_and_others_exit")

    def test_before_the_queue_is_complete(self):
        self.check("pthread_exit", options="--step-range=^step --active=3 -o r.json", steps=3)

    def test_a_thread_is_cancelled_while_it_waits_for_gable(self):
        slow = '{"fault":"delay","call":"cuptiRangeProfilerStart","ms":1500}'
        self.check("cancelled_while_it_launches", "700", complete=None, steps=0, GABLE_PLAYBACK_FAULTS=slow)

    def test_a_thread_is_cancelled_at_any_moment(self):
        for milliseconds in ("1", "5", "20", "60"):
            with self.subTest(milliseconds):
                self.check("cancelled_while_it_launches", milliseconds, complete=None, steps=0)

    def test_exit_of_a_thread_by_a_system_call(self):
        self.check("raw_thread_exit", "24")

    def test_such_an_exit_runs_no_handlers(self):
        self.check("raw_thread_exit", "0")

    def test_exit_in_strict_mode(self):
        self.check("strict_mode_exit")

    def test_killed_by_strict_mode(self):
        self.check("strict_mode_broken")

    def test_a_filter_that_kills_its_thread(self):
        self.check("filter_kills_thread")

    def test_under_the_launcher(self):
        done = subprocess.run([GABLE, "profile", "--playback", RECORDING, *STEPS.split(), "--", HAZARD, "pthread_exit"], cwd=self.folder,
                              env=os.environ | self.NO_LEAKS, text=True, capture_output=True, timeout=LONGEST_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "worked\nat exit\n"), done.stderr)


class WithoutAnEnd(EndsTest):
    """Nothing of ours runs at such an end: the report of the complete queue is there already."""

    def test_exit_of_the_process_by_a_system_call(self):
        self.check("raw_exit")

    def test_a_filter_that_kills_the_process(self):
        self.check("filter_kills_process")

    def test_exec_in_a_thread(self):
        self.check("replaced_in_a_thread")


class NeverWaits(EndsTest):
    """A program that never waits for its GPU is not held up by Gable either: no wait ends by its timeout, and its last window has times."""

    def check_end(self, *words, options, times):
        report = self.check(*words, options=options, steps=0)
        run = report["run"]
        self.assertFalse([note for note in run["notes"] if "time limit" in note], run["notes"])
        self.assertEqual(run["steps"]["time"], times, run)
        if times:
            self.assertEqual(report["kernels"][0]["time_ns"]["mean"], 5000)
            self.assertEqual(report["kernels"][0]["time_source"], "time")

    def test_it_ends_after_its_time_window(self):
        self.check_end("never_waits_in_steps", "9", options=STEPS, times=1)

    def test_it_ends_within_it(self):
        self.check_end("never_waits_in_steps", "8", options=STEPS, times=1)

    def test_it_ends_after_the_queue(self):
        self.check_end("never_waits_in_steps", "30", options=STEPS, times=1)

    def test_windows_of_launches(self):
        for number in (1000, 1200, 1300, 1400, 1600):
            with self.subTest(launches=number):
                self.check_end("never_waits", str(number), options="--active=1 --window=200 -o r.json", times=int(number >= 1200))

    def test_context_that_ends_before(self):
        for name in ("never_waits_reset", "never_waits_release"):
            with self.subTest(name):
                self.check_end(name, "1300", options="--active=1 --window=200 -o r.json", times=1)

    def test_records_that_never_come(self):
        env = self.environment(GABLE_PLAYBACK_FAULTS='{"fault":"lose_records","count":2}')
        done = self.run_it(["never_waits_in_steps", "9"], env)
        self.assertEqual((done.returncode, done.stderr), (22, ""))
        run = self.read()["run"]
        self.assertEqual(run["lost"]["records"], 2)
        self.assertFalse([note for note in run["notes"] if "time limit" in note], run["notes"])


    def test_a_gpu_that_works_on(self):
        # Whoever waits for this GPU waits for ten minutes, and the program ends without waiting.
        env = self.environment(GABLE_PLAYBACK_FAULTS='{"fault":"delay","call":"cuCtxSynchronize","ms":600000}')
        done = self.run_it(["never_waits_in_steps", "9"], env, timeout=GIVES_UP_S)
        self.assertEqual((done.returncode, done.stderr), (22, ""))
        self.assertIn("1 wait for CUPTI, the GPU or another thread ended at the time limit.", self.read()["run"]["notes"])


class EndingSignals(EndsTest):
    """What the program leaves to the system ends it as it would have, also before there is any window; the rest is the program's."""

    def test_right_after_the_first_launch(self):
        for number in sorted(LEFT_TO_THE_SYSTEM | {signal.SIGINT, signal.SIGTERM}):
            with self.subTest(number):
                process = self.started(["one_launch_and_sleep"])
                self.assertEqual(process.stdout.readline(), "launched\n")
                process.send_signal(number)
                _, err = process.communicate(timeout=LONGEST_S)
                self.assertEqual((process.returncode, err), (-number, ""))
                self.assertEqual(os.listdir(self.folder), ["r.json"])
                report = self.read()
                self.assertTrue(report["run"]["complete"])
                os.remove(self.report)

    def test_the_launcher_is_told(self):
        env = playback_environment() | {"HAZARD_REPORTS": self.folder}
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU):
            with self.subTest(number), subprocess.Popen(
                    [GABLE, "profile", "--playback", RECORDING, "-q", "-o", self.report, "--", HAZARD, "one_launch_and_sleep"],
                    env=env, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.assertEqual(process.stdout.readline(), "launched\n")
                process.send_signal(number)
                _, err = process.communicate(timeout=LONGEST_S)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertIn(self.report, err)
                os.remove(self.report)

    def test_the_programs_own(self):
        for number in sorted(LEFT_TO_THE_SYSTEM):
            for name in ("signal_handled_before", "signal_handled_after", "signal_ignored", "signal_waited_for", "signal_read"):
                with self.subTest(name, number=number):
                    # A handler that ends the program with _exit lets nobody write; the queue was complete.
                    self.check(name, str(int(number)))
                    os.remove(self.report)

    @unittest.skipIf(SANITIZERS, "Python brings no sanitizer's run-time along")
    def test_python(self):
        program = "\n".join((
            "import ctypes, os, signal, sys",
            "number = int(sys.argv[2])",
            "def start(): return ctypes.CDLL('libcuda.so.1').cuInit(0)",
            "def handle(): return signal.signal(number, lambda *_: print('handled'))",
            "before = [start(), handle()] if sys.argv[1] == 'after' else [handle(), start()]",
            "os.kill(os.getpid(), number)",
            "print(before, signal.getsignal(number) is not signal.SIG_DFL)"))
        for number in sorted(LEFT_TO_THE_SYSTEM | {signal.SIGTERM, signal.SIGINT}):
            for moment in ("before", "after"):
                with self.subTest(moment, number=number):
                    done = [subprocess.run([sys.executable, "-c", program, moment, str(int(number))], env=env, cwd=self.folder,
                                           text=True, capture_output=True, timeout=LONGEST_S, check=False)
                            for env in (playback_environment(), self.environment())]
                    self.assertIn("handled", done[0].stdout)
                    self.assertEqual((done[1].returncode, done[1].stdout, done[1].stderr),
                                     (done[0].returncode, done[0].stdout, done[0].stderr))

    def test_a_broken_pipe(self):
        # A handler there would be called by libraries that take the signal for themselves.
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([HAZARD, "return_at_once"], env=self.environment(), cwd=self.folder, stdout=writer, stderr=subprocess.PIPE,
                              text=True, timeout=LONGEST_S, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))


class Stopped(EndsTest):
    @unittest.skipUnless(LONG, "looks at the clock")
    def test_time_in_which_it_is_stopped_does_not_count(self):
        # CUPTI answers after four and a half seconds, and the process is stopped for four of them.
        fault = '{"fault":"delay","call":"cuptiActivityFlushAll","ms":4500,"times":1}'
        process = self.started(["return_at_once"], GABLE_PLAYBACK_FAULTS=fault)
        self.assertEqual(process.stdout.readline(), "launched\n")
        time.sleep(0.3)
        process.send_signal(signal.SIGSTOP)
        time.sleep(4)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=LONGEST_S)
        self.assertEqual((process.returncode, err), (3, ""))


class Elsewhere(EndsTest):
    @unittest.skipIf(SANITIZERS, "the sanitizer has to stand before everything else")
    def test_a_clock_that_jumps(self):
        clock = os.environ["GABLE_JUMPING_CLOCK"]
        for words in (["return"], ["never_waits_in_steps", "9"], ["pthread_exit"]):
            with self.subTest(words[0]):
                self.check(*words, LD_PRELOAD=clock)
                os.remove(self.report)

    def test_folder_that_cannot_be_written(self):
        done = self.run_it(["return"], self.environment("--step-range=^step --active=1 -o /proc/r.json"))
        self.assertEqual((done.returncode, done.stdout), (3, "worked\n"))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("/proc/r.json cannot be written", done.stderr)

    def test_without_a_home_and_a_temporary_folder(self):
        env = self.environment(TMPDIR="/proc")
        env.pop("HOME", None)
        done = self.run_it(["return"], env)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "worked\n", ""))
        self.assertTrue(self.read()["run"]["complete"])


class Others(EndsTest):
    """Programs that start others on the way: every process that launches has a report of its own."""

    def check_two(self, name, count=2):
        plain = self.run_it([name], playback_environment())
        env = self.environment("--step-range=^step --active=1 -o r-%p.json")
        env.pop("HAZARD_REPORTS")
        done = self.run_it([name], env)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (plain.returncode, plain.stdout, plain.stderr))
        names = os.listdir(self.folder)
        self.assertEqual(len(names), count)
        for one in names:
            with open(os.path.join(self.folder, one), encoding="utf-8") as file:
                self.assertTrue(json.load(file)["run"]["complete"])

    def test_posix_spawn(self):
        self.check_two("spawn")

    def test_vfork(self):
        self.check_two("vfork")

    @FORKS_ALONE
    def test_daemon(self):
        # The daemon has the output until it has ended, so its report is there when that is closed.
        self.check_two("daemon", count=1)


if __name__ == "__main__":
    unittest.main()
