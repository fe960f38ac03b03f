# SPDX-License-Identifier: Apache-2.0
"""The driver is for CUDA 12 and refuses a CUPTI of CUDA 13: that of CUDA 12 is taken, and one sentence says so."""

import os
import shutil
import unittest

from small import SmallTest, gable_run

PLAYBACK = os.path.dirname(os.path.realpath(os.environ["GABLE_PLAYBACK_LIBCUPTI"]))
PARTS = ("libnvperf_host.so", "libnvperf_target.so", "libcuda.so.1")


def install(name, *cuptis):
    """A toolkit's folder with these CUPTIs."""
    folder = gable_run.work(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "lib64"))
    for part in PARTS:
        os.symlink(os.path.join(PLAYBACK, part), os.path.join(folder, "lib64", part))
    for cupti in cuptis:
        shutil.copy(os.path.join(PLAYBACK, "libcupti.so.13"), os.path.join(folder, "lib64", cupti))
    return folder


class OldDriver(SmallTest):
    def run_with(self, driver, home, *options, switches="", cupti="none"):
        return self.gable("two_contexts", *options, environment={
            "GABLE_PLAYBACK_DRIVER": driver, "GABLE_PLAYBACK_CUPTI": cupti, "CUDA_HOME": home, "LD_LIBRARY_PATH": "",
            "GABLE_PLAYBACK_SWITCHES": switches})

    def test_one_that_is_refused_is_followed_by_the_next(self):
        home = install("asked", "libcupti.so.12", "libcupti.so.13")
        newer, older = (os.path.join(home, "lib64", name) for name in ("libcupti.so.13", "libcupti.so.12"))
        run = self.run_with("12080", home, "--step-range", "^step$", "--active", "1", "--cupti", newer)
        self.assert_plain_step(run.report)
        self.assert_said(run, f"The driver refused the CUPTI {newer} (CUDA 13.0), which is probably newer than the driver; "
                              f"{older} (CUDA 12.8) is used instead.")
        self.assertEqual(len(run.report.run["notes"]), 1, run.report.run["notes"])

    def test_none_that_the_driver_takes(self):
        """The program's own, beside which there may be no second."""
        run = self.run_with("12080", install("own", "libcupti.so.12"), cupti="")
        self.assertIn("CUPTI_ERROR_NOT_INITIALIZED (15)", run.err)
        self.assertIn("Only NVTX ranges are collected", run.err)
        self.assertNotIn("is used instead", run.err)

    def test_a_driver_that_takes_newer_ones(self):
        home = install("newer", "libcupti.so.13")
        run = self.run_with("12080", home, switches="older_driver=accepted")
        self.assert_plain_step(run.report)
        self.assertEqual(run.report.run["notes"], [])


if __name__ == "__main__":
    unittest.main()
