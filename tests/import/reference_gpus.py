# SPDX-License-Identifier: Apache-2.0
"""Recordings of ncu under roofs that their files do not give: attributes that the recording has beside them, and a named board."""
import csv
import json

from import_run import kernel, notes
from reference_case import DATA, Reference

FOLDER = "olajide_rtx5070"
MEASURED = "ffma_peak"


class Gpus(Reference):
    def attributes(self, flops):
        """A file of ncu with the device's attributes, and a kernel that does `flops` in a second."""
        device = json.loads((DATA / "ncu-csv" / FOLDER / "manifest.json").read_text(encoding="utf-8-sig"))["device"]
        major, minor = device["compute_capability"].split(".")
        values = {"display_name": device["name"], "compute_capability_major": major, "compute_capability_minor": minor,
                  "multiprocessor_count": device["sm_count"], "clock_rate": round(device["sm_clock_hz"] / 1000),
                  "memory_clock_rate": round(device["memory_clock_hz"] / 1000),
                  "global_memory_bus_width": device["memory_bus_width_bits"], "l2_cache_size": device["l2_cache_bytes"]}
        cells = {"ID": 0, "Kernel Name": MEASURED, "Device": 0, "CC": f"{major}.{minor}"}
        cells.update({f"device__attribute_{name}": value for name, value in values.items()})
        cells.update({"gpu__time_duration.sum": 10 ** 9, "dram__bytes_op_read.sum": 0, "dram__bytes_op_write.sum": 0})
        for operation, count in (("fadd", 0), ("fmul", 0), ("ffma", flops / 2)):
            cells[f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"] = count
        units = ["ns" if name.startswith("gpu__time") else "" for name in cells]
        return self.file("attributes.csv", "".join(",".join(f'"{cell}"' for cell in row) + "\n"
                                                   for row in (cells, units, cells.values())))

    def peaks(self):
        with open(DATA / "ncu-csv" / FOLDER / "peaks.csv", newline="", encoding="utf-8-sig") as file:
            return {row["label"]: row for row in csv.DictReader(file)}

    def test_an_rtx_5070_above_its_peak(self):
        peaks = self.peaks()
        flops = float(peaks["measured"]["peak_flops"])
        report = self.report("--ncu", self.attributes(flops), DATA / "ncu-csv" / FOLDER / "saxpy.csv")
        file = f"{FOLDER}: attributes of manifest.json"
        roofs = {each["name"]: each["value"] for each in report["ceilings"]}
        self.same(file, "roof of FP32, FLOP/s", float(peaks["theoretical"]["peak_flops"]), roofs["fp32"])
        self.same(file, "roof of memory, B/s", float(peaks["theoretical"]["peak_bandwidth"]), roofs["dram"])
        row = kernel(report, MEASURED)
        self.near(file, "measured peak, TFLOP/s", 33.739, row["flops_per_s"] * 1e-12, 3)
        self.near(file, "measured peak / roof of FP32", 1.046, row["roof"]["fraction"], 3)
        self.same(file, "flagged as above the roof", True, "above_roof" in row["flags"])
        self.assertIn("1 kernel is above the roof", notes(report))
        saxpy = next(each for each in report["kernels"] if "saxpy" in each["name"])
        self.assertNotIn("above_roof", saxpy["flags"])
        self.near(file, "saxpy.csv: least time by its DRAM bytes, ns", 264643, saxpy["roof"]["memory_ns"], 0)

    def test_details_of_a_t4_with_the_board_named(self):
        report = self.report("--ncu", DATA / "ncu-csv" / "nsightful_t4" / "copy_blocked.csv", "--gpu", "T4")
        file = "nsightful_t4/copy_blocked.csv, --gpu T4"
        self.same(file, "roof of memory, B/s (published)", 320e9, next(c["value"] for c in report["ceilings"] if c["name"] == "dram"))
        row = report["kernels"][0]
        self.near(file, "196.456 GB/s / 320 GB/s", 0.614, row["roof"]["memory_ns"] / row["time_ns"]["mean"], 3)
        self.refused("--ncu", DATA / "ncu-csv" / "nsightful_t4" / "copy_blocked.csv", "--gpu", "A10")
