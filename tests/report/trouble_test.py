# SPDX-License-Identifier: Apache-2.0
"""CUPTI loses, refuses, fails or hangs: the program ends as it would have, what can be known is right, the rest is null."""
import os
import shutil
import subprocess
import tempfile
import unittest

from small import CONV, RELU, SmallTest, gable_run, path_of

REMEDY_PERMISSION = "NVreg_RestrictProfilingToAdminUsers=0"


class Lost(SmallTest):
    def test_lost_records_are_counted_and_the_means_stand(self):
        report = self.report("lost_records")
        self.assert_lost(report, records=2, unattributed_launches=2)
        conv, relu = report.layer(("step", "conv"), "none"), report.layer(("step", "relu"), "none")
        self.assert_work(conv, 2, CONV)
        self.assert_work(relu, 2, RELU)
        self.assertIsNone(report.layer((), "none")["time_ns"]["busy"])  # when the lost two ran is not known
        samples = {row["symbol"]: row["samples"]["time"] for row in report.document["kernels"]}
        self.assertEqual(samples, {"_Z4convPKfPf": 1, "_Z4reluPf": 1})

    def test_zero_timestamps(self):
        report = self.report("zero_timestamps")
        self.assert_lost(report, zero_timestamps=1)
        self.assert_work(report.layer(("step", "conv"), "none"), 2, CONV)
        rows = {row["symbol"]: row for row in report.document["kernels"]}
        self.assertEqual((rows["_Z4convPKfPf"]["samples"]["time"], rows["_Z4reluPf"]["samples"]["time"]), (1, 2))
        self.assertEqual(rows["_Z4convPKfPf"]["time_ns"]["min"], 40000)
        self.assertIsNone(report.document["step"]["busy_ns"])

    def test_a_dropped_range_costs_its_window(self):
        report = self.report("dropped_ranges")
        self.assert_plain_step(report)
        self.assert_lost(report, ranges=1, windows=1)
        self.assert_steps(report, seen=10, hw=4)
        self.assert_noted(report, "1 range was dropped by CUPTI.")

    def test_wrong_thread_blocks_cost_their_window(self):
        report = self.report("wrong_ctas")
        self.assert_plain_step(report)
        self.assert_lost(report, windows=1)
        self.assert_steps(report, seen=10, hw=4)
        self.assert_noted(report, "2 launches came back with a count of thread blocks that does not match the grid.")

    def test_a_capture_costs_its_window(self):
        report = self.report("capture_in_step")
        self.assert_plain_step(report)
        self.assert_lost(report, windows=1)
        self.assert_noted(report, "A stream was captured within it.")

    def test_a_new_kernel_costs_its_window(self):
        report = self.report("module_in_step")
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV)
        late = report.layer(("step", "late"), "none")
        self.assertEqual((late["flops"]["fp32"], late["bytes"]["dram"], late["time_ns"]["total"]), (512, 512, 5000))
        self.assert_lost(report, windows=1)
        self.assert_noted(report, "A kernel ran for the first time within it.")


class RefusedAtOnce(unittest.TestCase):
    """One sentence, exit code 2, and no program is started."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check_refused(self, sentence, *words, folder=None, before=None):
        done = subprocess.run([os.environ["GABLE_PROGRAM"], "profile", *words, "--", "sh", "-c", "echo started"], cwd=folder or self.folder, text=True,
                              capture_output=True, timeout=60, preexec_fn=before)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"gable: {sentence}\n"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_damaged_recording(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.write(gable_run.read_text(path_of("layers"))[:1500])
            file.flush()
            line = gable_run.read_text(file.name).count("\n") + 1
            self.check_refused(f"{file.name}:{line}: this line is not one JSON object.", "--playback", file.name)

    def test_names_of_files(self):
        self.check_refused("--output takes the name of a file: standard output is the program's.", "-o", "-")
        self.check_refused("The file name of --output has a line break or another control character: leave that out.", "-o", "a\nb.json")

    def test_a_folder_that_is_gone(self):
        gone = tempfile.mkdtemp()

        def remove():
            os.rmdir(gone)

        self.check_refused("The current folder no longer exists: change into one that does.", "-o", "r.json", folder=gone, before=remove)


class Refused(SmallTest):
    def check_only_times(self, run):
        report = run.report
        root = report.layer((), "none")
        self.assertEqual(root["time_ns"]["total"], 50000)
        self.assertEqual((root["flops"]["total"], root["flops"]["fp32"], root["bytes"]["dram"]), (None, None, None))
        self.assertEqual(root["coverage"], {"time": 1, "flops": 0, "bytes": 0})
        self.assertEqual(root["roof"]["bound"], "unknown")
        self.assert_steps(report, hw=0, flops=0, time=1)
        self.assertEqual((report.run["total"]["flops"], report.run["total"]["bytes_dram"]), (None, None))

    def test_another_subscriber(self):
        run = self.gable("another_subscriber", out="done\n", code=5)
        self.assert_said(run, "Another profiler already watches this program")
        self.assert_said(run, "It is held by 'CUPTI for another tool'.")
        self.assert_said(run, "Only NVTX ranges are collected; your program runs on.")
        conv = run.report.layer(("step", "conv"), "none")
        self.assertEqual(conv["calls"], 30)
        self.assertGreater(conv["cpu_ns"], 0)
        root = run.report.layer((), "none")
        self.assertEqual((root["launches"], root["time_ns"]["total"], root["flops"]["total"]), (None, None, None))
        self.assertEqual((run.report.kernels, run.report.run["steps"]["seen"]), ({}, 0))
        total = run.report.run["total"]
        self.assertEqual((total["basis"], total["basis_note"]), ("extrapolated", "no launch was seen"))
        self.assertIn("GPU time unknown, - FLOP/s (extrapolated)", run.err)
        self.assertIn("all FLOPs, all bytes.", run.err.replace("\n", " "))  # to its end, at any width

    def test_no_permission(self):
        run = self.gable("no_permission")
        self.check_only_times(run)
        self.assert_said(run, REMEDY_PERMISSION)
        self.assertEqual(run.err.count("INSUFFICIENT_PRIVILEGES"), run.err.count(REMEDY_PERMISSION))

    def test_counters_busy(self):
        run = self.gable("counters_busy")
        self.check_only_times(run)
        self.assert_said(run, "`dcgmi profile --pause`")

    def fault(self, line):
        return {"GABLE_PLAYBACK_FAULTS": line}

    def test_no_activity(self):
        run = self.gable("two_contexts", environment=self.fault('{"fault":"call","call":"cuptiActivityEnable","code":999}'))
        self.assert_said(run, "Kernel times cannot be taken: cuptiActivityEnable says CUPTI_ERROR_UNKNOWN (999).")
        self.assert_work(run.report.layer(("step", "conv"), "none"), 1, CONV, timed=False)
        self.assert_noted(run.report, "No time window was measured, so times are unknown")

    def test_each_call_of_a_counter_window_may_fail(self):
        for call in ("GetCounterDataSize", "CounterDataImageInitialize", "SetConfig", "Start", "DecodeData", "GetCounterDataInfo",
                     "CounterDataGetRangeInfo"):
            with self.subTest(call):
                line = '{"fault":"call","call":"cuptiRangeProfiler%s","code":999}' % call
                report = self.report("two_contexts", environment=self.fault(line))
                root = report.layer((), "none")
                self.assertEqual((root["time_ns"]["total"], root["flops"]["fp32"], root["bytes"]["dram"]), (50000, None, None))

    def test_decoding_that_fails_once_is_done_again(self):
        line = '{"fault":"call","call":"cuptiRangeProfilerDecodeData","code":999,"times":1}'
        report = self.report("two_streams", environment=self.fault(line), out="training\ndone\n")
        self.assert_plain_step(report)
        self.assert_lost(report)

    def test_a_call_that_always_fails_ends_the_counting(self):
        line = '{"fault":"call","call":"cuptiRangeProfilerStart","code":999,"times":-1}'
        run = self.gable("two_streams", environment=self.fault(line), out="training\ndone\n")
        self.check_only_times(run)
        self.assert_said(run, "cuptiRangeProfilerStart failed with CUPTI_ERROR_UNKNOWN (999). No more counters are taken.")
        self.assertEqual(run.report.run["scope"], "kernel")

    def test_an_error_of_no_known_reason_does_not(self):
        for call in ("Start", "PushRange"):
            with self.subTest(call):
                line = '{"fault":"call","call":"cuptiRangeProfiler%s","code":999,"times":2}' % call
                run = self.gable("two_streams", environment=self.fault(line), out="training\ndone\n")
                self.assert_plain_step(run.report)
                self.assert_said(run, "cuptiRangeProfiler%s failed with CUPTI_ERROR_UNKNOWN (999)." % call)

    def refused(self, *more):
        return {"GABLE_PLAYBACK_SWITCHES": ",".join(("user_ranges=refused", *more))}

    def test_automatic_ranges_instead_keep_the_rules(self):
        """Captures, threads and contexts: no rule of CUPTI's is broken, and the numbers are right."""
        for name in ("capture_in_step", "two_contexts"):
            with self.subTest(name):
                run = self.gable(name, environment=self.refused())
                self.assert_plain_step(run.report)
                self.assert_said(run, "Counting continues with CUPTI's automatic ranges")
        root = self.report("two_threads", environment=self.refused()).layer((), "none")
        self.assertEqual((root["flops"]["fp32"], root["bytes"]["dram"]), (2 * CONV["fp32"] + RELU["fp32"], 2 * CONV["dram"] + RELU["dram"]))

    def test_no_automatic_ranges_beside_nccl(self):
        run = self.gable("communicator", environment=self.refused())
        self.assert_said(run, "cuptiRangeProfilerSetConfig failed with CUPTI_ERROR_INVALID_OPERATION (7). No more counters are taken.")
        self.assertNotIn("automatic", run.err)
        run = self.gable("collective", environment=self.refused())
        self.assert_said(run, "A kernel of NCCL was launched, which may wait for other ranks: Gable no longer waits after every launch.")
        conv = run.report.layer(("step", "conv"), "none")
        self.assertEqual((conv["time_ns"]["total"], conv["bytes"]["dram"]), (CONV["time"], CONV["dram"]))  # of before

    def test_what_no_rung_helps_has_one_sentence(self):
        """Graphs are in no automatic range, and nothing else is had here."""
        run = self.gable("graph_layers", environment=self.refused())
        self.assert_said(run, "No more counters are taken.")
        self.assertEqual(run.err.count("Counting continues"), 0, run.err)
        self.assertEqual(run.report.run["scope"], "kernel")

    def test_a_launch_that_fails_is_no_launch(self):
        line = '{"fault":"call","call":"cuLaunchKernel","code":2,"after":9,"times":1}'
        run = self.gable("two_streams", environment=self.fault(line), code=2, out="training\n")
        self.assertIn("the launch answered CUDA_ERROR_OUT_OF_MEMORY", run.err)


class WrongUse(SmallTest):
    def test_a_switch_that_does_not_exist(self):
        run = self.gable("two_contexts", environment={"GABLE_PLAYBACK_SWITCHES": "gravity=off"}, code=2)
        self.assertIn("there is no switch gravity with the value off; docs/recordings.md lists them.", run.err)


class Hanging(SmallTest):
    def test_a_hang_at_flush(self):
        run = self.gable("hang_at_flush", code=3, timeout=60)  # Gable gives up after seconds
        self.assert_said(run, "cuptiActivityFlushAll did not return in time; CUPTI is left alone")
        report = run.report
        self.assert_work(report.layer(("step", "conv"), "none"), 1, CONV, timed=False)
        self.assert_lost(report, unattributed_launches=2)
        self.assertIsNone(report.document["step"]["busy_ns"])


if __name__ == "__main__":
    unittest.main()
