# SPDX-License-Identifier: Apache-2.0
"""Recordings that others made on real GPUs, held against answers that were worked out without this program. With --write the table
of docs/accuracy.md is written anew from what the imports gave."""
import collections
import csv
import gzip
import json
import math
import pathlib
import re
import sqlite3
import sys
import unittest

import import_run
from import_run import layer, notes
from reference_case import DATA, ROWS, Reference
from reference_gpus import Gpus

PAGE = import_run.SOURCE / "docs" / "accuracy.md"


class Nsys(Reference):
    def kernels(self, name):
        report = self.report("--nsys", DATA / "nsys-sqlite" / f"{name}.sqlite")
        self.assertEqual([c for c in report["run"]["notes"] if "folded" in c], [])
        rows = collections.defaultdict(list)
        for row in report["kernels"]:
            rows[row["name"]].append(row)
        wanted = self.expected(f"cuda_gpu_kern_sum__{name}.csv")
        self.assertEqual(len(rows), len(wanted))
        for each in wanted:
            mine = rows[each["Name"]]
            got = (sum(r["time_ns"]["total"] for r in mine), sum(r["launches"] for r in mine),
                   min(r["time_ns"]["min"] for r in mine), max(r["time_ns"]["max"] for r in mine))
            self.assertEqual(got, tuple(int(each[k]) for k in ("Total Time (ns)", "Instances", "Min (ns)", "Max (ns)")), each["Name"])
        file = f"{name}.sqlite"
        self.same(file, "kernels, by name", len(wanted), len(rows))
        self.same(file, "launches", sum(int(e["Instances"]) for e in wanted), sum(r["launches"] for r in report["kernels"]))
        self.same(file, "GPU time, ns", sum(int(e["Total Time (ns)"]) for e in wanted), report["run"]["total"]["gpu_time_ns"])
        return report

    def projections(self, name, report, spans=True):
        by_name = collections.defaultdict(lambda: [0, 0, 0])
        for row in report["layers"]:
            if not row["path"]:
                continue
            # Answers leave the domain out: "CUB:cub::DeviceReduce::Sum".
            sums = by_name[re.sub(r"^[^:]+:(?!:)", "", row["path"][-1])]
            sums[0] += row["span_ns"] or 0
            sums[1] += row["launches"] or 0
            sums[2] += row["time_ns"]["total"] or 0
        wanted = self.expected(f"nvtx_proj__{name}.csv")
        checked = 0
        for each in wanted:
            key = next(iter(each.values()))
            got = by_name[key]
            self.assertEqual((got[1], got[2]), (int(each["kernels"]), int(each["sum_kernel_ns"])), key)
            if spans:
                self.assertEqual(got[0], int(each["total_proj_ns"]), key)
            checked += 1
        self.same(f"{name}.sqlite", "ranges whose kernels, kernel time" + (" and projected time" if spans else "") + " agree",
                  len(wanted), checked)
        first = next(iter(wanted[0].values()))
        if spans:
            self.same(f"{name}.sqlite", f"range {first}: projected, ns", int(wanted[0]["total_proj_ns"]), by_name[first][0])
        self.same(f"{name}.sqlite", f"range {first}: sum of its kernels, ns", int(wanted[0]["sum_kernel_ns"]), by_name[first][2])

    def test_saxpy_a100(self):
        name = "saxpy_a100_nvtx_2022.2"
        report = self.kernels(name)
        self.projections(name, report)
        self.same(f"{name}.sqlite", "roof of memory, B/s", 1555200000000,
                  next(c["value"] for c in report["ceilings"] if c["name"] == "dram"))

    def test_power_iteration_t4(self):
        name = "power_iteration_t4_nvtx_2025.3"
        report = self.kernels(name)
        self.projections(name, report)
        self.same(f"{name}.sqlite", "roof of memory, B/s", 320064000000,
                  next(c["value"] for c in report["ceilings"] if c["name"] == "dram"))
        with sqlite3.connect(f"file:{DATA}/nsys-sqlite/{name}.sqlite?mode=ro", uri=True) as base:
            [(waits, waited)] = base.execute("SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call JOIN StringIds "
                                             "ON id = nameId WHERE value LIKE '%Synchronize%'")
        self.assertEqual((waits, layer(report)["sync_ns"]), (89, waited))

    def test_torch_on_two_h100(self):
        name = "torch_emitnvtx_h100x2_2026.2"
        report = self.kernels(name)
        self.projections(name, report)
        self.same(f"{name}.sqlite", "kernels without a call", 1810, report["run"]["lost"]["unattributed_launches"])
        self.assertIn("(52.6 %)", notes(report))
        self.assertEqual([d["name"] for d in report["devices"]], [])

    def test_torch_tiny_rtx3080(self):
        report = self.kernels("torch_tiny_rtx3080_2026.1")
        self.assertEqual([row["path"] for row in report["layers"]], [[]])


# Of the details page.
THROUGHPUTS = {"Compute (SM) Throughput, %": ("compute_throughput", 100), "Memory Throughput, %": ("memory_throughput", 100),
               "DRAM Throughput, %": ("dram_throughput", 100)}


class Ncu(Reference):
    def only(self, *files):
        report = self.report("--ncu", *(DATA / "ncu-csv" / file for file in files))
        self.assertEqual(len(report["kernels"]), len(files))
        return report

    def used(self, file, report, figures, more=()):
        """What the tool itself printed of how the kernel used the GPU; what it did not print is unknown."""
        with open(DATA / "ncu-csv" / file, newline="", encoding="utf-8-sig") as text:
            lines = text.read().splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if line.startswith('"ID",'))
        rows = list(csv.DictReader(lines[first:]))  # two metrics have the title "Memory Throughput"
        printed = {row["Metric Name"] + unit: row["Metric Value"] for row in rows for unit in ("", f", {row['Metric Unit']}")}
        metrics = report["kernels"][0]["metrics"]
        for title, (field, unit) in figures.items():
            self.near(file, title, float(printed[title]), unit * metrics[field], 2)
        told = {field for field, _ in figures.values()} | set(more)
        self.assertEqual({field for field, value in metrics.items() if value not in (None, {})}, told)
        self.assertEqual(report["layers"][0]["metrics"], metrics)  # its only kernel

    def asked(self, file, sectors):
        """Ratios that were asked for by name, and parts of which the ratio follows from the kernels' source."""
        report = self.only(file)
        self.used(file, report, {"sm__warps_active.avg.pct_of_peak_sustained_active": ("occupancy", 100),
                                 "smsp__thread_inst_executed_per_inst_executed.ratio": ("warp_efficiency", 32),
                                 "lts__t_sector_hit_rate.pct": ("l2_hit_rate", 100),
                                 "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("compute_throughput", 100)}, ("sectors_per_load", "sectors_per_store"))
        metrics = report["kernels"][0]["metrics"]
        self.same(file, "L1 sectors for each load", sectors, metrics["sectors_per_load"])
        self.same(file, "L1 sectors for each store", 4, metrics["sectors_per_store"])

    def test_gemm_of_an_rtx_5070(self):
        file = "olajide_rtx5070/gemm_naive.csv"
        row = self.only(file)["kernels"][0]
        self.same(file, "DRAM bytes", 80808960, row["bytes"]["dram"])
        self.same(file, "duration, ns", 9589248, row["time_ns"]["mean"])
        self.same(file, "FLOPs (not counted there)", None, row["flops"]["total"])
        self.near(file, "2 x 2048^3 FLOP / DRAM bytes, FLOP/B", 212.6, 2 * 2048 ** 3 / row["bytes"]["dram"], 1)
        self.asked(file, 2.5)  # of its two loads one is of a single address, the other of 32 side by side

    def test_saxpy_of_an_rtx_5070(self):
        file = "olajide_rtx5070/saxpy.csv"
        row = self.only(file)["kernels"][0]
        self.same(file, "DRAM bytes", 134221568 + 43631104, row["bytes"]["dram"])
        self.same(file, "duration, ns", 292928, row["time_ns"]["mean"])
        self.asked(file, 4)
        # Two files of one run, each with a kernel of its own.
        self.only(file, "olajide_rtx5070/gemm_naive.csv")

    def test_details_of_a_t4(self):
        file = "nsightful_t4/copy_blocked.csv"
        report = self.only(file)
        row = report["kernels"][0]
        self.same(file, "duration, ns", 21058944, row["time_ns"]["mean"])
        self.same(file, "DRAM bytes (throughput x duration)", round(196456177859.63 * 21058944e-9), row["bytes"]["dram"])
        self.same(file, "SM clock, Hz", round(12319469 / 21058944e-9), report["devices"][0]["clocks_hz"]["sm_measured"])
        self.same(file, "least of ncu's block limits", 4, row["blocks_per_sm"])
        self.near(file, "waves", 6.4, row["waves"], 2)
        self.used(file, report, {"Achieved Occupancy, %": ("occupancy", 100), "L1/TEX Hit Rate, %": ("l1_hit_rate", 100),
                                 "L2 Hit Rate, %": ("l2_hit_rate", 100), "Avg. Active Threads Per Warp": ("warp_efficiency", 32),
                                 "Avg. Not Predicated Off Threads Per Warp": ("warp_efficiency_predicated", 32),
                                 "Branch Efficiency, %": ("branch_uniformity", 100), **THROUGHPUTS})

    def test_details_of_a_gb200(self):
        file = "superbench_gb200/cublaslt_ncu.log"
        report = self.only(file)
        row = report["kernels"][0]
        self.same(file, "duration, ns", 406240, row["time_ns"]["mean"])
        self.same(file, "grid", str([9, 32, 1]), str(row["grid"]))
        self.same(file, "least of ncu's block limits", 1, row["blocks_per_sm"])
        self.near(file, "waves", 1.89, row["waves"], 2)
        self.used(file, report, {"Achieved Occupancy, %": ("occupancy", 100), **THROUGHPUTS})
        self.same(file, "FLOPs (not counted there)", None, row["flops"]["total"])
        self.near(file, "2 x 2208 x 2048 x 5608 FLOP / duration, TFLOP/s", 124.849, 2 * 2208 * 2048 * 5608 / row["time_ns"]["mean"] * 1e-3, 3)


ALEXNET = "kineto-cupti-counters/alexnet_a100_b128_"


class Kineto(Reference):
    def trace(self, *files):
        return self.report("--kineto", *(DATA / file for file in files))

    def test_alexnet_counters(self):
        file = ALEXNET + "cupti_range_counters.json.gz"
        report = self.trace(file)
        wanted = self.expected("alexnet_a100_cupti_counter_flops.csv")
        short = pathlib.Path(file).name
        self.same(short, "launches", len(wanted), sum(row["launches"] for row in report["kernels"]))
        for kind in ("fp32", "fp64"):
            got = sum((row["flops"][kind] or 0) * row["launches"] for row in report["kernels"])
            self.same(short, f"{kind.upper()} FLOPs", sum(int(row[f"{kind}_flops"]) for row in wanted), round(got))
        for metric in ("fadd", "fmul", "ffma", "hadd", "hmul", "hfma", "dadd", "dmul", "dfma"):
            name = f"smsp__sass_thread_inst_executed_op_{metric}_pred_on.sum"
            got = sum(row["counters"][name] * row["launches"] for row in report["kernels"])
            self.assertEqual(round(got), sum(int(row[metric]) for row in wanted), metric)
        by_kernel = collections.Counter()
        for row in wanted:
            by_kernel[row["kernel_prefix"]] += int(row["fp32_flops"])
        mine = collections.Counter()
        for row in report["kernels"]:
            prefix = next(each for each in by_kernel if row["name"].startswith(each))
            mine[prefix] += round(row["flops"]["fp32"] * row["launches"])
        self.assertEqual(mine, by_kernel)
        self.same(short, "kernels, by name, whose FP32 FLOPs agree", len(by_kernel), len(mine))
        # HFMA2 as a move, in kernels that compute in FP32.
        moves = [row for row in report["kernels"] if row["counters"]["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"]]
        self.assertTrue(moves and all(row["flops"]["fp16"] is None for row in moves))
        # conv3 to conv5 ran on tensor cores, which nobody counted.
        tensor = [row for row in report["kernels"] if "implicit_gemm" in row["name"]]
        self.assertTrue(tensor)
        self.same(short, "FLOPs of the convolutions on tensor cores", None, tensor[0]["flops"]["total"])
        self.assertTrue(all("tensor_inferred" in row["flags"] for row in tensor))

    def test_alexnet_counters_with_times(self):
        report = self.trace(ALEXNET + "cupti_range_counters.json.gz", ALEXNET + "kernel_times.json.gz")
        short = "alexnet_a100_b128, counters and times"
        self.same(short, "launches with a time", 79, sum(row["launches"] for row in report["kernels"]))
        for name, number, flops in (("fc1", 1, 9667346432), ("fc2", 2, None)):
            rows = [row for row in report["kernels"] if row["name"].startswith("ampere_sgemm")
                    and report["layers"][row["layer"]]["path"][-1] == f"aten::linear #{number}"]
            self.assertEqual(len(rows), 2)
            self.assertEqual(len({row["flops"]["total"] for row in rows}), 1)
            ffma = rows[0]["counters"]["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]
            self.same(short, f"{name}: fused multiply-adds", 128 * (9216 if name == "fc1" else 4096) * 4096, ffma)
            if name == "fc1":
                self.same(short, "fc1: FLOPs", flops, rows[0]["flops"]["total"])
            if name == "fc1":
                times = sorted(row["time_ns"]["mean"] for row in rows)
                self.same(short, "fc1: time, us", "812 to 822", f"{times[0] / 1000:g} to {times[-1] / 1000:g}")
                rates = sorted(row["flops_per_s"] * 1e-12 for row in rows)
                self.same(short, "fc1: TFLOP/s", "11.8 to 11.9", f"{rates[0]:.1f} to {rates[-1]:.1f}")

    def test_occupancy(self):
        """PyTorch's profiler asks CUDA's calculator, in the program itself: blocks of an SM x their threads / the most there can be."""
        for file, threads, sms in (("kineto/resnet50_v100_b32_nw4_steps5-10.pt.trace.json.gz", 2048, 80), (ALEXNET + "kernel_times.json.gz", 2048, 108),
                                   (next((DATA / "kineto").glob("tracelens*/*.json.gz")).relative_to(DATA), 2048, 132)):
            mine = {(row["name"], tuple(row["grid"]), tuple(row["block"])): row for row in self.trace(file)["kernels"]}
            told = {}
            for event in json.loads(gzip.decompress((DATA / file).read_bytes()))["traceEvents"]:
                args = event.get("args", {})
                if event.get("cat", "").lower() == "kernel" and "est. achieved occupancy %" in args:
                    told[event["name"], tuple(args["grid"]), tuple(args["block"])] = args["est. achieved occupancy %"]
            both = told.keys() & mine.keys()
            wrong = []
            # One kernel was launched with two sizes of shared memory, which makes no two rows here.
            unknown = {key for key in both if mine[key]["blocks_per_sm"] is None}
            self.assertLessEqual(len(unknown), 1)
            # More than 48 KiB has to be asked for, which the profiler does not tell the calculator: it says that nothing fits.
            impossible = {key for key in both if told[key] == 0 and (mine[key]["shared_bytes"] or 0) > 48 << 10}
            both -= unknown | impossible
            for key in both:
                row = mine[key]
                blocks = min(math.prod(row["grid"]) / sms, row["blocks_per_sm"])
                got = 100 * blocks * math.prod(row["block"]) / threads
                if abs(got - told[key]) > 0.5001:  # whole percent there, computed in single precision
                    wrong.append((key, got, told[key], row["registers"], row["shared_bytes"]))
            self.assertEqual([], wrong)
            self.same(pathlib.Path(file).name, "kernels whose occupancy is PyTorch's", len(both), len(both) - len(wrong))
            self.assertGreater(len(both), 8)

    def test_resnet_50(self):
        file = "kineto/resnet50_v100_b32_nw4_steps5-10.pt.trace.json.gz"
        report = self.trace(file)
        short = pathlib.Path(file).name
        raw = json.loads(gzip.decompress((DATA / file).read_bytes()))["traceEvents"]
        kernels = [event for event in raw if event.get("cat") == "Kernel"]
        self.same(short, "steps", 6, report["run"]["steps"]["seen"])
        steps = [event for event in raw if event.get("name", "").startswith("ProfilerStep#") and event["cat"] == "Operator"]
        waited = sum(event["dur"] for event in raw if event.get("cat") == "Runtime" and event["name"].endswith("Synchronize")
                     and any(step["ts"] <= event["ts"] < step["ts"] + step["dur"] for step in steps))
        self.assertEqual((waited, report["step"]["sync_ns"]), (386, 386000 / 6))
        got = sum(row["launches"] for row in report["kernels"]) * 6
        outside = int((re.search(r"(\d+) of \d+ kernels ran outside", notes(report)) or [0, 0])[1])
        self.same(short, "kernels", len(kernels), round(got) + outside)
        groups = collections.defaultdict(lambda: [0, 0, 0.0])
        for row in self.expected("resnet50_v100_b32_nw4__conv_fwd_per_layer.csv"):
            k, size = row["k"], row["in_hw"]
            label = f"aten::conv2d [32, {row['in_ch']}, {size}, {size}] [{row['out_ch']}, {row['in_ch']}, {k}, {k}]"
            sums = groups[label]
            sums[0] += 1
            sums[1] += int(row["flops_batch32"])
            sums[2] += float(row["time_us_mean_6steps"])
        total_flops = total_ns = calls = 0
        for label, (count, flops, time_us) in groups.items():
            mine = layer(report, label, direction="forward")
            self.assertEqual(mine["calls"], count, label)
            self.assertEqual(mine["model"]["flops_analytic"], flops, label)
            self.assertLessEqual(abs(mine["time_ns"]["total"] - time_us * 1000), 5 * count + 1, label)  # answers have two digits of us
            total_flops += mine["model"]["flops_analytic"]
            total_ns += mine["time_ns"]["total"]
            calls += mine["calls"]
        self.same(short, "forward convolutions by input dims", 53, calls)
        self.near(short, "their FLOPs by formula, GFLOP", 261.58, total_flops * 1e-9, 2)
        self.same(short, "their time in a step lies in 21.0 to 21.9 ms", True, 21.0e6 <= total_ns <= 21.9e6)
        # By formula they do more than the GPU can: Winograd. Nothing is cut off at the roof.
        above = [row for row in report["layers"] if row["model"] and (row["model"]["roof"]["fraction"] or 0) > 1]
        self.same(short, "convolutions above the roof of FP32, by formula", 13, sum(row["calls"] for row in above))
        self.assertTrue(all(", 3, 3]" in row["path"][-1] for row in above))
        self.assertIn("4 layers are above the roof", notes(report))
        macs = sum(int(row["macs_per_image"]) for row in self.expected("cnn_macs_per_layer.csv") if row["model"] == "resnet50" and row["type"] == "conv")
        self.same(short, "MACs of the convolutions per image", macs, round(total_flops / 2 / 32))

    def test_bert_small(self):
        folder = DATA / "kineto" / "tracelens_bert-small_h100"
        file = next(folder.glob("*.json.gz"))
        report = self.report("--kineto", file)
        tables = next(folder.glob("*_csvs"))
        short = file.name

        def read(name):
            with open(tables / name, newline="", encoding="utf-8") as rows:
                return list(csv.DictReader(rows))
        wanted = read("kernel_summary.csv")
        self.same(short, "kernels", 60, round(sum(row["launches"] for row in report["kernels"])))
        whole = sum(round(float(row["Kernel duration (\u00b5s)_sum"]) * 1000) for row in wanted)
        self.same(short, "GPU time, ns", whole, report["run"]["total"]["gpu_time_ns"])
        gemms = read("GEMM.csv")
        flops = sum(2 * int(row["param: M"]) * int(row["param: N"]) * int(row["param: K"]) * int(row["name_count"]) for row in gemms)
        heads = read("SDPA_fwd.csv")
        flops += sum(round(float(row["GFLOPS_first"]) * 1e9) * int(row["name_count"]) for row in heads)
        got = sum(row["model"]["flops_analytic"] for row in report["layers"] if row["model"] and row["depth"] > 0
                  and report["layers"][row["parent"]]["model"] is None)
        self.same(short, "FLOPs of matrix products and attention, by formula", flops, got)
        linear = [row for row in report["layers"] if row["path"][-1:] == ["aten::linear"]]
        self.same(short, "matrix products", sum(int(row["name_count"]) for row in gemms), len(linear))

    def test_triton(self):
        file = "kineto/triton_tiny_a100.json.gz"
        report = self.trace(file)
        self.same("triton_tiny_a100.json.gz", "time of its kernel, ns", 1760, report["kernels"][0]["time_ns"]["mean"])


def table():
    lines = ["| file | figure | expected | got |", "|---|---|---:|---:|"]
    for row in ROWS:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->\n"


class ThePage(unittest.TestCase):
    """Last, when all rows are there."""

    def test_the_page_has_what_the_imports_gave(self):
        text = PAGE.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        old, tail = rest.split(END)
        if "--write" in sys.argv:
            PAGE.write_text(head + BEGIN + table() + END + tail, encoding="utf-8")
        else:
            self.assertEqual(old, table(), "run tests/import/reference_test.py --write and commit docs/accuracy.md")


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for case in CASES + [ThePage]:
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


CASES = [Nsys, Ncu, Gpus, Kineto]

if __name__ == "__main__":
    unittest.main(argv=[arg for arg in sys.argv if arg != "--write"])
