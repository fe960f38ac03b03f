# SPDX-License-Identifier: Apache-2.0
"""Each code with which CUPTI refuses: one sentence with its remedy, from the library and from `gable doctor`, and the report
has what can be had without."""
import os
import re
import subprocess
import tempfile
import time
import unittest

import playback_program
from playback_program import fault
from said import Said

PROGRAM = os.environ["GABLE_LONG_RUN"]
GABLE = os.path.join(playback_program.BUILD, "bin", "gable")
OPTIONS = "--step-range=^step$ --active=2"

# code: its name, what helps
COUNTERS = {
    15: ("CUPTI_ERROR_NOT_INITIALIZED", "the driver is older than CUPTI"),
    26: ("CUPTI_ERROR_HARDWARE_BUSY", "`dcgmi profile --pause`"),
    33: ("CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", "use one with profiling, or the whole GPU"),
    35: ("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "NVreg_RestrictProfilingToAdminUsers=0"),
    40: ("CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", "enable_profiling=1"),
    41: ("CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", "use a GPU where it is off"),
    42: ("CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", "use another GPU"),
    43: ("CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", "`nvidia-smi -mig 0`"),
    44: ("CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "switch it off"),
    45: ("CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED", "use native Linux"),
}


# Why a GPU has no counters, the code that says so, what helps, and whether CUPTI says so beforehand.
DEVICES = {
    "architecture": (27, "it needs compute capability 7.5 or newer", True),
    "sli": (44, "Counters do not work while SLI is on", True),
    "vgpu": (33, "Counters do not work on this virtual GPU", True),
    "vgpu_disabled": (40, "The hypervisor does not allow profiling on this virtual GPU", True),
    "confidential_computing": (41, "Counters do not work in confidential computing mode", True),
    "cmp": (42, "NVIDIA's mining processors (CMP) have no counters", True),
    "wsl": (45, "Counters do not work under WSL with this GPU or driver", True),
    "mig": (43, "Counters do not work on this MIG instance", False),
}


def unsupported(why):
    return '{"fault":"unsupported","why":"%s"}' % why


def refused(code, call="cuptiRangeProfilerEnable"):
    return fault("call", call, 1, code=code, times=-1)


class Codes(Said, unittest.TestCase):
    def run_program(self, faults):
        with tempfile.TemporaryDirectory() as folder:
            ended = playback_program.run([PROGRAM], folder, OPTIONS, faults)
        self.check_unharmed(ended)
        return ended

    def test_counters_are_refused(self):
        for code, (name, remedy) in COUNTERS.items():
            with self.subTest(name):
                ended = self.run_program(refused(code))
                self.check_said(ended, (str(code), remedy))
                kernel = ended.report["kernels"][0]
                self.assertEqual((kernel["time_ns"]["mean"], kernel["flops"]["fp32"], kernel["bytes"]["dram"]),
                                 (5000, None, None))

    def test_devices_without_counters(self):
        for why, (code, sentence, _) in DEVICES.items():
            with self.subTest(why):
                ended = self.run_program(unsupported(why))
                self.check_said(ended, (str(code), sentence))
                kernel = ended.report["kernels"][0]
                self.assertEqual((kernel["time_ns"]["mean"], kernel["flops"]["fp32"], kernel["bytes"]["dram"]),
                                 (5000, None, None))

    def test_another_subscriber(self):
        ended = self.run_program(refused(39, "cuptiSubscribe"))
        self.check_said(ended, ("(39)", "run it without nsys, ncu, cuda-gdb or torch.profiler",
                                "It is held by 'CUPTI for another tool'"))
        self.assertEqual(ended.report["kernels"], [])


class Doctor(unittest.TestCase):
    def doctor(self, faults="", **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_"))}
        env.update(more, GABLE_PLAYBACK_FAULTS=faults)
        done = subprocess.run([GABLE, "doctor", "--playback", playback_program.RECORDING], env=env, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.stderr, "")
        return done.returncode, " ".join(done.stdout.split())

    def test_finds_the_same_beforehand(self):
        for code, (name, remedy) in COUNTERS.items():
            with self.subTest(name):
                ended, said = self.doctor(refused(code))
                self.assertEqual(ended, 1)
                self.assertIn("counters limited", said)
                self.assertRegex(said, rf"counters limited [^.]*\b{code}\b")
                self.assertIn(remedy, said)
                self.assertIn("flops missing does not run here: see counters", said)
                self.assertIn("time ready", said)

    def test_finds_devices_without_counters(self):
        for why, (code, sentence, beforehand) in DEVICES.items():
            with self.subTest(why):
                ended, said = self.doctor(unsupported(why))
                self.assertEqual(ended, 1)
                self.assertIn("counters limited " + ("" if beforehand else "cuptiRangeProfilerEnable failed with "), said)
                self.assertIn(sentence, said)
                self.assertEqual(re.search(rf"\({code}\)|CUPTI error {code}\b", said) is not None, not beforehand, said)
                for other in DEVICES.values():
                    self.assertEqual(other[1] in said, other[1] == sentence, said)
                self.assertIn("flops missing does not run here: see counters", said)
                self.assertIn("time ready", said)

    def test_its_own_calls_fail(self):
        # The two calls of CUPTI that no profiled program makes.
        ended, said = self.doctor(refused(999, "cuptiProfilerDeviceSupported"))
        self.assertEqual(ended, 1)
        self.assertIn("counters limited cuptiProfilerDeviceSupported failed with", said)
        done = subprocess.run([GABLE, "doctor", "--chip", "GH100", "--playback", playback_program.RECORDING],
                              env={**os.environ, "GABLE_PLAYBACK_FAULTS": refused(999, "cuptiProfilerHostGetSupportedChips")},
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("does not list its chips here", done.stderr)

    def test_a_driver_that_is_too_old(self):
        ended, said = self.doctor(GABLE_PLAYBACK_DRIVER="12040")
        self.assertEqual(ended, 1)
        self.assertIn("is newer than the driver supports (CUDA 12.4): update the driver, or point --cupti "
                      "to the CUPTI of CUDA 12.", said)

    def test_names_who_may_hold_the_counters(self):
        with tempfile.TemporaryDirectory() as folder:
            # A process of that name, as DCGM's is.
            engine = subprocess.Popen(["nv-hostengine", "60"], executable="/bin/sleep", cwd=folder)
            try:
                named = f"nv-hostengine (process {engine.pid}): DCGM takes counters: `dcgmi profile --pause`"
                ended, said = self.doctor(refused(26))
                self.assertEqual(ended, 1)
                self.assertIn("holder limited", said)
                self.assertIn(named, said)
                _, said = self.doctor()
                self.assertIn("others ready", said)
                self.assertIn(named, said)
                self.assertIn("The counters were free just now.", said)
                self.assertNotIn("holder limited", said)
            finally:
                engine.kill()
                engine.wait()
        self.assertNotIn(str(engine.pid), self.doctor(refused(26))[1])

    def test_names_a_program_with_another_injection(self):
        # A library of the C library's own stands for the other tool: it is mapped, as an injected one is.
        with open("/proc/self/maps", encoding="utf-8") as file:
            library = next(line.split()[-1] for line in file if "/libc.so" in line or "/libc-" in line)
        environment = {**os.environ, "CUDA_INJECTION64_PATH": library}
        program = subprocess.Popen(["python-job", "60"], executable="/bin/sleep", env=environment)
        while library not in playback_program.read(f"/proc/{program.pid}/maps"):
            time.sleep(0.01)
        try:
            _, said = self.doctor(refused(26))
            self.assertIn(f"python-job (process {program.pid}): {library} is injected into it", said)
        finally:
            program.kill()
            program.wait()


if __name__ == "__main__":
    unittest.main()
