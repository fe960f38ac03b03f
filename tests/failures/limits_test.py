# SPDX-License-Identifier: Apache-2.0
"""Counters are left out where they could harm: little GPU memory, and a program that waits for something."""
import os
import tempfile
import unittest

import playback_program
from said import Said

PROGRAM = os.environ["GABLE_LONG_RUN"]
OPTIONS = "--step-range=^step$ --active=2"


def run(**more):
    with tempfile.TemporaryDirectory() as folder:
        return playback_program.run([PROGRAM], folder, OPTIONS, **more)


class Limits(Said, unittest.TestCase):
    def check_only_times(self, ended, sentence):
        self.check_said(ended, sentence)
        steps = ended.report["run"]["steps"]
        self.assertEqual((steps["flops"], steps["time"]), (0, 2), steps)
        kernel = ended.report["kernels"][0]
        self.assertEqual((kernel["time_ns"]["mean"], kernel["flops"]["fp32"]), (5000, None))
        return kernel


class Memory(Limits):
    def memory(self, text):
        return {"GABLE_PLAYBACK_FREE_MEMORY": text}

    def test_too_little(self):
        ended = run(environment=self.memory(str(300 << 20)))
        self.check_only_times(ended, "Only 300 MiB of GPU memory are free, and counters may need 512")
        self.assertIsNone(ended.report["run"]["overhead"]["gpu_memory_bytes"])

    def test_what_counters_take(self):
        ended = run(environment=self.memory(f"{8 << 30},{7 << 30}"))
        self.assertEqual((ended.code, ended.err), (3, ""))
        self.assertEqual(ended.report["run"]["overhead"]["gpu_memory_bytes"], 1 << 30)
        self.assertEqual(ended.report["kernels"][0]["flops"]["fp32"], 2 * 32768)

    def test_less_later_is_no_reason(self):
        # Once they are there, counters need no more.
        ended = run(environment=self.memory(f"{8 << 30},{100 << 20}"))
        self.assertEqual((ended.code, ended.err), (3, ""))
        self.assertEqual(ended.report["kernels"][0]["flops"]["fp32"], 2 * 32768)

    def test_unknown_goes_on(self):
        ended = run()
        self.assertEqual((ended.code, ended.err), (3, ""))
        self.assertIsNone(ended.report["run"]["overhead"]["gpu_memory_bytes"])
        self.assertEqual(ended.report["kernels"][0]["flops"]["fp32"], 2 * 32768)


class NoNvml(Limits):
    """NVML that is missing, refuses or hangs costs what it would have told: the counters are the same."""

    def check_all_but_nvml(self, ended):
        self.assertEqual((ended.code, ended.out, ended.err, ended.broken), (3, "worked\n", "", ""))
        report = ended.report
        self.assertEqual((report["run"]["steps"]["flops"], report["run"]["steps"]["time"]), (2, 2))
        kernel = report["kernels"][0]
        self.assertEqual((kernel["time_ns"]["mean"], kernel["flops"]["fp32"]), (5000, 2 * 32768))
        self.assertIsNone(report["run"]["overhead"]["gpu_memory_bytes"])
        self.assertIsNone(report["devices"][0]["state"])

    def test_missing(self):
        with tempfile.TemporaryDirectory() as libraries:
            for name in os.listdir(playback_program.PLAYBACK):
                if "nvidia-ml" not in name:
                    os.symlink(os.path.join(playback_program.PLAYBACK, name), os.path.join(libraries, name))
            self.check_all_but_nvml(run(environment={"LD_LIBRARY_PATH": libraries}))

    def test_refuses_and_hangs(self):
        memory = {"GABLE_PLAYBACK_FREE_MEMORY": str(8 << 30)}
        for kind in ("call", "hang"):
            for call in ("nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetMemoryInfo"):
                with self.subTest(f"{kind} {call}"):
                    fault = playback_program.fault(kind, call, 1, times=-1)
                    self.check_all_but_nvml(run(faults=fault, environment=memory))


class Waiting(Limits):
    SENTENCE = "No kernel was launched for 1 s while counters were taken; that window was ended."
    PATIENCE = {"GABLE_PLAYBACK_STALL_MS": "1000"}

    def delay(self, call, after, times=1, ms=2500):
        return '{"fault":"delay","call":"%s","ms":%d,"after":%d,"times":%d}' % (call, ms, after, times)

    def check_one_window_is_lost(self, ended):
        """Everything is known as without the pause, from as many windows."""
        self.check_said(ended, self.SENTENCE)
        steps = ended.report["run"]["steps"]
        self.assertEqual((steps["hw"], steps["flops"], steps["time"]), (8, 2, 2))
        for kernel in ended.report["kernels"]:
            self.assertEqual((kernel["time_ns"]["mean"], kernel["flops"]["fp32"], kernel["bytes"]["dram"]),
                             (5000, 2 * 32768, 32 * 3000))

    def test_blocked_in_the_driver_within_a_step(self):
        # one synchronisation a step: the fifth step is of counters
        self.check_one_window_is_lost(run(faults=self.delay("cuCtxSynchronize", 4), environment=self.PATIENCE))

    def test_blocked_within_a_launch(self):
        # two launches a step; the range around this one is open
        self.check_one_window_is_lost(run(faults=self.delay("cuLaunchKernel", 9), environment=self.PATIENCE))

    def test_between_steps(self):
        self.check_one_window_is_lost(run(faults=self.delay("cuMemcpyHtoDAsync_v2", 4), environment=self.PATIENCE))

    def test_pauses_apart(self):
        # Each costs its window, however many there are.
        faults = "\n".join(self.delay("cuCtxSynchronize", after, ms=1700) for after in (3, 5, 7, 9))
        self.check_one_window_is_lost(run(faults=faults, environment=self.PATIENCE))

    def test_counters_that_stall_the_program(self):
        # In every window: then they are given up.
        ended = run(faults=self.delay("cuCtxSynchronize", 2, times=3, ms=1700), environment=self.PATIENCE)
        self.assertEqual((ended.code, ended.out, ended.broken), (3, "worked\n", ""), ended.err)
        self.assertEqual(ended.err.splitlines(), [f"gable: {self.SENTENCE}", f"gable: {self.SENTENCE} No more counters are taken."])
        steps = ended.report["run"]["steps"]
        self.assertEqual((steps["hw"], steps["flops"], steps["time"]), (0, 0, 2))

    def test_waiting_before_and_after_counters_is_harmless(self):
        for after in (0, 130):
            ended = run(faults=self.delay("cuCtxSynchronize", after), environment=self.PATIENCE)
            self.assertEqual((ended.code, ended.err), (3, ""))
            self.assertEqual(ended.report["kernels"][0]["flops"]["fp32"], 2 * 32768)


if __name__ == "__main__":
    unittest.main()
