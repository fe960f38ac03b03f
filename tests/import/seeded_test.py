# SPDX-License-Identifier: Apache-2.0
"""Files drawn from seeds, of which the truth is known (seeded_files.py). GABLE_SEEDS=N draws N others, and prints each that fails."""
import os
import secrets
import unittest

from import_run import ImportTest, notes
import seeded_files

SEEDS = [secrets.randbelow(1 << 32) for _ in range(int(os.environ["GABLE_SEEDS"]))] if "GABLE_SEEDS" in os.environ else range(12)


class Seeded(ImportTest):
    def rows(self, report):
        """By name, grid and block; long names are known by their ends."""
        rows = {}
        for row in report["kernels"]:
            name = row["name"].rpartition(" #")[0] if len(row["name"]) > 500 else row["name"]
            key = (name[-40:], *row["grid"], *row["block"])
            self.assertNotIn(key, rows)
            rows[key] = row
        return rows

    def compare(self, truth, report, counted, timed):
        units = truth.steps if report["run"]["unit"] == "step" else 1
        rows = self.rows(report)
        sums = truth.sums()
        self.assertEqual(len(rows), len(sums))
        for kernel, wanted in sums.items():
            row = rows[(kernel.name[-40:], *kernel.grid, *kernel.block)]
            self.assertAlmostEqual(row["launches"] * units, wanted["launches"], places=6)
            if timed:
                self.assertAlmostEqual(row["time_ns"]["total"] * units / wanted["ns"], 1, places=6)
            if counted:
                for kind in ("fp32", "fp16", "fp64"):
                    self.assertAlmostEqual(row["flops"][kind] * wanted["launches"] / wanted[kind], 1, places=6)
                self.assertAlmostEqual(row["bytes"]["dram"] * wanted["launches"] / max(wanted["dram"], 1), 1 if wanted["dram"] else 0, places=6)
            else:
                self.assertIsNone(row["flops"]["total"])

    def of_each(self, check):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                check(seeded_files.Truth(seed))

    def ncu(self, truth):
        return [part for path in seeded_files.ncu_files(truth, self.folder) for part in ("--ncu", path)]

    def test_counters(self):
        self.of_each(lambda truth: self.compare(truth, self.report(*self.ncu(truth)), counted=True, timed=True))

    def test_times_of_nsys(self):
        def check(truth):
            path = seeded_files.nsys_file(truth, self.folder)
            report = self.report("--nsys", path, "--step-range", "step")
            path.unlink()
            self.compare(truth, report, counted=False, timed=True)
            self.assertEqual(report["run"]["lost"]["unattributed_launches"], 0)
            early = len(truth.before)
            self.assertIn(f"{early} kernel{'s were' if early > 1 else ' was'} launched before the recording began", notes(report))
        self.of_each(check)

    def test_times_of_a_trace(self):
        self.of_each(lambda truth: self.compare(truth, self.report("--kineto", seeded_files.kineto_file(truth, self.folder)),
                                                counted=False, timed=True))

    def test_times_of_jaxs_profiler(self):
        for write, option in ((seeded_files.xplane_file, "--xplane"), (seeded_files.xla_trace_file, "--kineto")):
            self.of_each(lambda truth: self.compare(truth, self.report(option, write(truth, self.folder)), counted=False, timed=True))

    def test_sums_of_tritons_profiler(self):
        def check(truth):
            report = self.report("--proton", seeded_files.proton_file(truth, self.folder))
            sums = {}
            for launch in truth.launches:
                row = sums.setdefault(launch.kernel.name[-40:], [0, 0])
                row[0] += 1
                row[1] += launch.ns
            found = {}
            for kernel in report["kernels"]:
                name = kernel["name"].rpartition(" #")[0] if len(kernel["name"]) > 500 else kernel["name"]
                row = found.setdefault(name[-40:], [0, 0])
                row[0] += kernel["launches"]
                row[1] += kernel["time_ns"]["total"]
            self.assertEqual(found.keys(), sums.keys())
            for name, (count, ns) in sums.items():
                self.assertEqual(found[name][0], count)
                self.assertAlmostEqual(found[name][1] / ns, 1, places=6)
        self.of_each(check)

    def test_times_and_counters(self):
        def check(truth):
            times = seeded_files.kineto_file(truth, self.folder)
            self.compare(truth, self.report("--kineto", times, *self.ncu(truth)), counted=True, timed=True)
        self.of_each(check)


if __name__ == "__main__":
    unittest.main()
