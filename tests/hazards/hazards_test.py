# SPDX-License-Identifier: Apache-2.0
"""The profiled program must end as it would have ended: same output, same exit code; and its report must be there."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import report_schema

BUILD = os.environ["GABLE_BUILD"]
HAZARD = os.environ["GABLE_HAZARD"]
GABLE = os.path.join(BUILD, "bin", "gable")
PLAYBACK = os.path.join(BUILD, "lib", "playback")
LIBRARY = os.path.join(BUILD, "lib", "libgable_inject.so")
RECORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu.jsonl")
LONGEST_S = 240
# For a run in which Gable waits for something that never comes: it gives up after seconds, and a busy machine takes a little more.
GIVES_UP_S = 60
OPTIONS = ["--step-range", "^step", "--active", "1"]
SANITIZERS = os.environ.get("GABLE_SANITIZE", "")
# The address sanitizer of GCC 12 forks without its own locks: where another thread holds one, the child waits for
# it in its first allocation. Seen in the sanitizer's stack depot, in one of thirty forks of a program with threads.
FORKS_ALONE = unittest.skipIf("address" in SANITIZERS, "the sanitizer's own locks are not made for forks beside threads")


class Run:
    def __init__(self, code, out, err, reports, violations):
        self.code, self.out, self.err, self.reports, self.violations = code, out, err, reports, violations


def playback_environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_"))}
    env["LD_LIBRARY_PATH"] = PLAYBACK
    env["GABLE_PLAYBACK"] = RECORDING
    return env


def run_plain(name):
    done = subprocess.run([HAZARD, name], env=playback_environment(), capture_output=True, text=True, timeout=LONGEST_S)
    return done.returncode, done.stdout, done.stderr


def run_command(program, options=OPTIONS, faults="", meanwhile=None, timeout=LONGEST_S, output="r-%p.json"):
    """Any command under gable profile; its reports are those whose names begin with r-."""
    with tempfile.TemporaryDirectory() as folder:
        violations = os.path.join(folder, "violations")
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_"))}
        env["GABLE_PLAYBACK_VIOLATIONS"] = violations
        env["HAZARD_REPORTS"] = folder
        if faults:
            env["GABLE_PLAYBACK_FAULTS"] = faults
        command = [GABLE, "profile", "--playback", RECORDING, *options, "-o", os.path.join(folder, output),
                   "--", *program]
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=folder, start_new_session=True)
        if meanwhile:
            meanwhile(process, folder)
        out, err = process.communicate(timeout=timeout)
        reports = []
        for path in sorted(glob.glob(os.path.join(folder, "r-*.json"))):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            wrong = report_schema.problems(document)
            if wrong:
                raise AssertionError("%s does not match the schema: %s" % (path, wrong))
            reports.append(document)
        broken = ""
        if os.path.exists(violations):
            with open(violations, encoding="utf-8") as file:
                broken = file.read()
        return Run(process.returncode, out, err, reports, broken)


def run_profiled(name, *arguments, **more):
    return run_command([HAZARD, name], *arguments, **more)


def shell_code(code):
    return 128 - code if code < 0 else code


class Endings(unittest.TestCase):
    """Programs that do the whole work and then end in their own way."""

    def check(self, name, complete=True):
        code, out, _ = run_plain(name)
        run = run_profiled(name)
        self.assertEqual(run.code, shell_code(code), run.err)
        self.assertEqual(run.out, out)
        self.assertEqual(run.violations, "")
        self.assertEqual(len(run.reports), 1, run.err)
        report = run.reports[0]
        self.assertEqual(report["run"]["source"], "playback")
        if complete:
            self.check_numbers(report)
        return run

    def check_numbers(self, report):
        self.assertEqual(report["run"]["unit"], "step")
        self.assertEqual(report["run"]["steps"]["time"], 1, report["run"])
        layers = [l for l in report["layers"] if l["path"] and l["path"][-1] == "layer"]
        self.assertEqual(len(layers), 1)
        self.assertEqual(layers[0]["path"], ["step #", "layer"])
        self.assertEqual(layers[0]["launches"], 4)
        # gpu.jsonl: 5,000 ns, 64 FFMA a thread on 512 threads, 2,000 + 1,000 sectors
        self.assertEqual(layers[0]["time_ns"]["total"], 4 * 5000)
        self.assertEqual(layers[0]["flops"]["fp32"], 4 * 2 * 64 * 512)
        self.assertEqual(layers[0]["bytes"]["dram"], 4 * 32 * 3000)

    def test_return(self):
        self.check("return")

    def test_exit(self):
        self.check("exit")

    def test_exit_in_range(self):
        self.check("exit_in_range")

    def test_quick_exit(self):
        self.check("quick_exit")

    def test_exit_from_thread(self):
        self.check("exit_from_thread")

    def test_underscore_exit_leaves_what_was_written(self):
        self.check("_exit")

    def test_exception(self):
        self.check("exception")

    def test_abort(self):
        self.check("abort")

    def test_terminated(self):
        self.check("terminated")

    def test_interrupted(self):
        self.check("interrupted")

    def test_own_handler(self):
        self.check("own_handler")

    def test_late_handler(self):
        self.check("late_handler")

    def test_own_usr2(self):
        self.assertIn("The program handles SIGUSR2 itself, so that signal opens no queue; gable window does.",
                      self.check("own_usr2").reports[0]["run"]["notes"])

    def test_late_usr2(self):
        self.check("late_usr2")

    def test_ignored_signal(self):
        self.check("ignored_signal")

    def test_killed(self):
        self.check("killed")

    def test_dlopen_dlclose(self):
        self.check("dlopen_dlclose")

    def test_entries_twice(self):
        self.check("entries_twice")

    def test_context_destroyed(self):
        run = self.check("context_destroyed")
        # what its windows took is not forgotten with it
        self.assertGreater(run.reports[0]["run"]["overhead"]["counter_image_bytes"], 0)

    @FORKS_ALONE
    def test_fork(self):
        self.check("fork")

    @FORKS_ALONE
    @unittest.skipIf(SANITIZERS == "thread", "its run-time hangs in such a child by itself")
    def test_fork_killed_child(self):
        self.check("fork_killed_child")

    def test_fork_before_cuda(self):
        self.check("fork_before_cuda")

    @FORKS_ALONE
    @unittest.skipIf(SANITIZERS == "thread", "its run-time takes a child's new thread for one of the parent's")
    def test_many_forks(self):
        run = self.check("many_forks", complete=False)
        self.assertEqual(len(run.reports), 1, "a child wrote the parent's report")

    def test_threads(self):
        run = self.check("threads", complete=False)
        report = run.reports[0]
        layers = [l for l in report["layers"] if l["path"] and l["path"][-1] == "thread"]
        self.assertEqual(layers[0]["launches"], 32)
        self.assertEqual(layers[0]["time_ns"]["total"], 32 * 5000)
        self.assertEqual(layers[0]["bytes"]["dram"], 32 * 32 * 3000)
        self.assertEqual(report["run"]["lost"]["unattributed_launches"], 0)


class Borders(unittest.TestCase):
    def test_gable_step(self):
        run = run_profiled("gable_step", ["--active", "1"])
        self.assertEqual(run.code, 19, run.err)
        report = run.reports[0]
        self.assertEqual(report["run"]["unit"], "step")
        self.assertEqual(report["kernels"][0]["launches"], 5)

    def test_profiler_start_stop(self):
        run = run_profiled("profiler_api", ["--active", "1"])
        self.assertEqual(run.code, 20, run.err)
        report = run.reports[0]
        self.assertEqual(report["run"]["unit"], "step")
        self.assertEqual(report["kernels"][0]["launches"], 5, "the two launches outside are in no step")

    def test_no_cuda(self):
        run = run_profiled("no_cuda")
        self.assertEqual(run.code, 18)
        self.assertEqual(run.out, "no CUDA\n")
        self.assertEqual(run.reports, [])


class Trouble(unittest.TestCase):
    """CUPTI fails or hangs: the program runs on, and what is missing is said."""

    def check(self, faults, sentence, time_known=True, reports=1):
        run = run_profiled("return", faults=faults)
        self.assertEqual(run.code, 3, run.err)
        self.assertEqual(run.out, "worked\n")
        self.assertEqual(len(run.reports), reports, run.err)
        self.assertIn(sentence, run.err)
        if reports:
            self.assertTrue(any(sentence in note for note in run.reports[0]["run"]["notes"]), run.reports[0]["run"])
            root = run.reports[0]["layers"][0]
            self.assertEqual(root["time_ns"]["total"] is not None, time_known)
            self.assertIsNone(root["bytes"]["dram"])
            self.assertIsNone(root["flops"]["total"])
        return run

    def test_no_permission(self):
        self.check('{"fault":"no_permission"}', "RestrictProfiling")

    def test_counters_busy(self):
        self.check('{"fault":"call","call":"cuptiRangeProfilerEnable","code":26}', "dcgmi")

    def test_another_subscriber(self):
        self.check('{"fault":"call","call":"cuptiSubscribe","code":39}', "runs on", time_known=False)

    def test_no_activity(self):
        run = run_profiled("return", faults='{"fault":"call","call":"cuptiActivityEnable","code":999}')
        self.assertEqual((run.code, run.out), (3, "worked\n"))
        self.assertIn("Kernel times cannot be taken", run.err)
        root = run.reports[0]["layers"][0]
        self.assertIsNotNone(root["bytes"]["dram"])
        self.assertIsNone(run.reports[0]["kernels"][0]["time_source"])  # a short kernel in a range of Gable's

    def test_every_call_may_fail(self):
        for call in ("cuptiGetTimestamp", "cuptiEnableCallback", "cuptiGetDeviceId", "cuptiActivityRegisterCallbacks",
                     "cuptiActivityFlushAll", "cuptiActivityGetNumDroppedRecords", "cuptiDeviceGetChipName",
                     "cuptiProfilerInitialize", "cuptiProfilerHostInitialize", "cuptiProfilerHostConfigAddMetrics",
                     "cuptiProfilerHostGetConfigImage", "cuptiProfilerHostGetNumOfPasses",
                     "cuptiProfilerHostEvaluateToGpuValues", "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart",
                     "cuptiRangeProfilerStop", "cuptiRangeProfilerPushRange", "cuptiRangeProfilerPopRange",
                     "cuptiRangeProfilerDecodeData", "cuptiRangeProfilerGetCounterDataSize",
                     "cuptiRangeProfilerCounterDataImageInitialize", "cuptiRangeProfilerGetCounterDataInfo",
                     "cuptiRangeProfilerCounterDataGetRangeInfo"):
            with self.subTest(call):
                run = run_profiled("return", faults='{"fault":"call","call":"%s","code":999}' % call)
                self.assertEqual((run.code, run.out), (3, "worked\n"), run.err)

    def test_flush_hangs(self):
        run = run_profiled("return", faults='{"fault":"hang","call":"cuptiActivityFlushAll"}', timeout=GIVES_UP_S)
        self.assertEqual((run.code, run.out), (3, "worked\n"))
        self.assertEqual(len(run.reports), 1)

    def test_records_are_lost(self):
        run = run_profiled("return", faults='{"fault":"lose_records","count":2}')
        self.assertEqual(run.code, 3)
        self.assertEqual(run.reports[0]["run"]["lost"]["records"], 2)


class Meanwhile(unittest.TestCase):
    """While the program runs."""

    def wait_for_report(self, folder):
        end = time.monotonic() + LONGEST_S
        while time.monotonic() < end:
            found = glob.glob(os.path.join(folder, "r-*.json"))
            if found:
                return found[0]
            time.sleep(0.05)
        self.fail("no report while the program runs")

    def test_report_is_there_when_the_queue_is_complete(self):
        def look(process, folder):
            path = self.wait_for_report(folder)
            shown = subprocess.run([GABLE, "report", path], capture_output=True, text=True, timeout=120)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("work", shown.stdout)
            process.send_signal(signal.SIGTERM)

        run = run_profiled("sleep", meanwhile=look)
        self.assertEqual(run.code, 128 + signal.SIGTERM, run.err)
        self.assertEqual(len(run.reports), 1)

    def test_snapshot_survives_a_kill(self):
        def kill(process, folder):
            path = self.wait_for_report(folder)
            end = time.monotonic() + LONGEST_S
            while time.monotonic() < end:
                with open(path, encoding="utf-8") as file:
                    if json.load(file)["run"]["steps"]["hw"] > 0:
                        break
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGKILL)

        run = run_profiled("slow", ["--step-range", "^step", "--active", "3"], meanwhile=kill)
        self.assertEqual(run.code, -signal.SIGKILL)
        self.assertFalse(run.reports[0]["run"]["complete"])
        self.assertGreaterEqual(run.reports[0]["run"]["steps"]["hw"], 1)

    def test_then_stop(self):
        run = run_profiled("sleep", [*OPTIONS, "--then", "stop"], timeout=GIVES_UP_S)
        self.assertEqual(run.code, 128 + signal.SIGINT)
        self.assertEqual(len(run.reports), 1)


if __name__ == "__main__":
    unittest.main()
