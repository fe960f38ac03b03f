# SPDX-License-Identifier: Apache-2.0
"""The oldest CUPTI with counters and the newest that answers without a driver plan the same counters in as many windows;
one that is too old, or too new for a machine without a driver, is one sentence that says what helps."""

import ctypes
import os
import re
import subprocess
import sys
import unittest

import wheels

RECORDING = os.path.join(wheels.SOURCE, "tests", "data", "recordings", "small", "counted_time.jsonl")
INSTALL = "`pip install --target $HOME/cupti nvidia-cuda-cupti-cu12`"
# Hardware passes, and a metric that only this kind of chip has.
CHIPS = {
    "TU102": (1, "dram__sectors_read.sum"),
    "GA100": (4, "sm__ops_path_tensor_src_tf32_dst_fp32.sum"),
    "GH100": (4, "smsp__sass_inst_executed_op_tma.sum"),
    "AD102": (5, "dram__sectors_read.sum"),
}
NEW_CHIPS = {"GB202": (9, "dram__sectors_op_read.sum")}  # CUDA 12.6 does not know them
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"


def driver():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def gable(*words, **environment):
    variables = {key: value for key, value in os.environ.items() if key not in ("GABLE_OPTIONS", "LD_PRELOAD")}
    return subprocess.run([os.environ["GABLE_PROGRAM"], *words], capture_output=True, text=True, check=False, timeout=100,
                          env={**variables, **environment})


class Planned(unittest.TestCase):
    def check(self, release, chips):
        for chip, (passes, metric) in chips.items():
            with self.subTest(release=release, chip=chip):
                run = gable("doctor", "--chip", chip, "--cupti", wheels.library(release))
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertEqual(len(re.findall(r"^hw", run.stdout, re.MULTILINE)), passes)
                self.assertEqual(len(re.findall(r"^flops ", run.stdout, re.MULTILINE)), 1)
                names = run.stdout.split()
                for wanted in (metric, *(SASS.format(op) for op in ("fadd", "fmul", "ffma"))):
                    self.assertIn(wanted, names)

    def test_by_the_oldest(self):
        self.check(wheels.OLDEST, CHIPS)

    def test_by_the_newest_that_needs_no_driver(self):
        self.check(wheels.NEWEST_PLANNING, {**CHIPS, **NEW_CHIPS})

    @unittest.skipIf(driver() is not None, "with a driver it plans")
    def test_the_newest_of_all_says_what_it_lacks(self):
        run = gable("doctor", "--chip", "GH100", "--cupti", wheels.library(wheels.NEWEST))
        self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (1, "", 1))
        self.assertIn("does not list its chips here, like those from CUDA 13.3 on where there is no driver", run.stderr)
        self.assertIn("point --cupti to one", run.stderr)
        found = gable("doctor", "--cupti", wheels.library(wheels.NEWEST)).stdout
        self.assertRegex(found, r"(?m)^CUPTI +ready ")
        self.assertIn("it does not tell its version here", " ".join(found.split()))


ASK_TIME = """
import ctypes, sys, time
cupti = ctypes.CDLL(sys.argv[1])
answer = ctypes.c_uint64()
for _ in range(3):
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    assert cupti.cuptiGetTimestamp(ctypes.byref(answer)) == 0
    assert before <= answer.value <= time.clock_gettime_ns(time.CLOCK_REALTIME)
"""


class Clock(unittest.TestCase):
    """Gable reads the system's clock itself where CUPTI answers with it: see collector/process/host_clock.h."""

    def test_is_the_systems(self):
        for release in (wheels.TOO_OLD, wheels.OLDEST, wheels.NEWEST_PLANNING):
            with self.subTest(release=release):
                run = subprocess.run([sys.executable, "-c", ASK_TIME, wheels.library(release)], capture_output=True, text=True,
                                     check=False, timeout=100)
                self.assertEqual((run.returncode, run.stderr), (0, ""))


class TooOld(unittest.TestCase):
    """The real library of CUDA 12.1. It cannot take times without a GPU; tests/report shows them with the playback one."""

    def check_said(self, text, *parts):
        for part in ("is of CUDA 12.1 or older", "need that of CUDA 12.6 or newer", INSTALL, *parts):
            self.assertIn(part, text)

    def test_that_the_program_has_loaded(self):
        old = wheels.library(wheels.TOO_OLD)
        out = os.path.join(os.environ["GABLE_WORK"], "too_old.json")
        run = gable("profile", "--playback", RECORDING, "--cupti", wheels.library(wheels.OLDEST), "-o", out,
                    GABLE_PLAYBACK_CUPTI="none", LD_PRELOAD=old)
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        said = [line for line in run.stderr.splitlines() if "Counters are not taken" in line]
        self.assertEqual(len(said), 1, run.stderr)
        self.check_said(said[0], f"the CUPTI that the program has loaded, {old},", "have it loaded first, with LD_PRELOAD=")
        self.assertNotIn("--cupti", said[0])  # which could not help

    def test_what_the_sentence_says_puts_a_newer_one_in_its_place(self):
        """Of a program that is linked to its old CUPTI, as PyTorch is, the loader takes the newer one, and that alone."""
        old, newer = wheels.library(wheels.TOO_OLD), wheels.library(wheels.OLDEST)
        source = os.path.join(os.environ["GABLE_WORK"], "linked.cpp")
        program = os.path.join(os.environ["GABLE_WORK"], "linked")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include <cstdio>\n#include <fstream>\n#include <iostream>\nextern "C" int cuptiGetVersion(unsigned*);\n'
                       'int main() { unsigned v = 0; cuptiGetVersion(&v); std::cout << v << "\\n" '
                       '<< std::ifstream("/proc/self/maps").rdbuf(); }\n')
        subprocess.run([os.environ["GABLE_COMPILER"], source, old, "-Wl,-rpath," + os.path.dirname(old), "-o", program],
                       check=True, timeout=100)
        for preload, version, mapped in (("", "18", old), (newer, "24", newer)):
            run = subprocess.run([program], capture_output=True, text=True, check=True, timeout=100,
                                 env={**os.environ, "LD_PRELOAD": preload})
            self.assertEqual(run.stdout.split()[0], version)
            self.assertEqual(set(re.findall(r"/\S*libcupti\S*", run.stdout)), {os.path.realpath(mapped)})

    def test_that_was_asked_for(self):
        old = wheels.library(wheels.TOO_OLD)
        run = gable("doctor", "--chip", "GH100", "--cupti", old)
        self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (1, "", 1))
        self.check_said(run.stderr, f"the CUPTI that --cupti names, {old},", "leave --cupti out")
        found = " ".join(gable("doctor", "--cupti", old).stdout.split())
        self.assertIn("CUPTI limited Counters are not taken", found)


if __name__ == "__main__":
    wheels.need_wheels()
    unittest.main()
