# SPDX-License-Identifier: Apache-2.0
"""Reports with known numbers in files, and commands on them."""
import copy
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import made_reports

GABLE = os.environ["GABLE_PROGRAM"]


def slower(report, name, factor):
    """The report with the times of kernels of that name, and of the layers they are in, as they would be."""
    out = copy.deepcopy(report)
    layers = {layer["id"]: layer for layer in out["layers"]}
    for kernel in out["kernels"]:
        if kernel["name"] != name:
            continue
        more = kernel["time_ns"]["total"] * (factor - 1)
        for field in ("mean", "median", "min", "max", "total"):
            kernel["time_ns"][field] *= factor
        at = layers[kernel["layer"]]
        while at is not None:
            at["time_ns"]["total"] += more
            at = layers.get(at["parent"])
    return out


def with_spread(report, stddev, samples=4):
    out = copy.deepcopy(report)
    for kernel in out["kernels"]:
        kernel["time_ns"]["stddev"] = stddev
        kernel["samples"]["time"] = samples
    return out


def with_state(report, throttled=0.0, mhz=1900):
    """The report as of a GPU whose power limit held it down at that share of the samples."""
    out = copy.deepcopy(report)
    clock = {"mean": mhz * 1e6, "min": mhz * 1e6 - 1, "max": mhz * 1e6 + 1}
    reasons = dict.fromkeys(("sw_thermal", "hw_thermal", "hw_slowdown", "power_brake", "sync_boost"), 0)
    out["devices"][0]["state"] = {
        "samples": 100, "idle_samples": 0, "sm_clock_hz": clock, "memory_clock_hz": clock, "power_w": {"mean": 1, "max": 1, "limit": 1},
        "temperature_max_c": 60, "throttled": {"any": throttled, "power_cap": throttled, **reasons}, "clocks_set": 0}
    return out


class CompareCase(unittest.TestCase):
    def setUp(self):
        os.makedirs(os.environ["GABLE_WORK"], exist_ok=True)
        self.folder = tempfile.mkdtemp(dir=os.environ["GABLE_WORK"])
        self.addCleanup(shutil.rmtree, self.folder)
        self.net = made_reports.net()

    def write(self, report, name):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file)
        return path

    def gable(self, *arguments, code=0):
        done = subprocess.run([GABLE, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done
