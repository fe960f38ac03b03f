# SPDX-License-Identifier: Apache-2.0
"""Which GPU files of ncu are from: attributes in them, a board that the user names, and points above its roofs."""
import json
import os
import subprocess
import unittest

from import_run import DATA, PROGRAM, ImportTest, export_nsys, kernel, notes

ATTRIBUTES = DATA / "ncu_attributes.csv"
SAXPY = "saxpy(float, const float *, float *, int)"
HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
        '"Section Name","Metric Name","Metric Unit","Metric Value"\n')


def row(metric, unit, value, cc="7.5"):
    return (f'"0","1","app","node1","k","1","7","(32, 1, 1)","(4, 1, 1)","0","{cc}","Command line profiler metrics",'
            f'"{metric}","{unit}","{value}"\n')


def roofs(report):
    return {each["name"]: each for each in report["ceilings"]}


class Attributes(ImportTest):
    def test_theoretical_roofs_from_them(self):
        report = self.report("--ncu", ATTRIBUTES)
        device = report["devices"][0]
        self.assertEqual((device["name"], device["compute_capability"], device["sm_count"]), ("NVIDIA GeForce RTX 5070", "12.0", 48))
        self.assertEqual((device["clocks_hz"]["sm_max"], device["clocks_hz"]["memory_max"]), (2_625_000_000, 14_001_000_000))
        self.assertEqual((device["memory_bus_bits"], device["l2_bytes"], device["memory_bytes"]), (192, 50331648, 12820480000))
        self.assertEqual(roofs(report)["fp32"]["value"], 48 * 256 * 2.625e9)
        self.assertEqual(roofs(report)["dram"]["value"], 14.001e9 * 192 * 2 / 8)
        self.assertIn("The attributes of device 0 are those in ncu_attributes.csv: theoretical roofs are from them.", notes(report))
        self.assertNotIn("node1", self.text)

    def test_of_the_long_form_in_a_file_of_their_own(self):
        rows = [("device__attribute_display_name", "", "Tesla T4"), ("device__attribute_clock_rate", "", "n/a"),
                ("device__attribute_max_gpu_frequency_khz", "", "1,590,000"), ("device__attribute_multiprocessor_count", "", "40"),
                ("device__attribute_max_mem_frequency_khz", "Mhz", "5,001"), ("device__attribute_fb_bus_width", "", "256")]
        attributes = self.file("gpu.csv", HEAD + "".join(row(*each) for each in rows))
        counters = self.file("time.csv", HEAD + row("gpu__time_duration.sum", "ns", "10"))
        for files in ((attributes, counters), (counters, attributes)):
            report = self.report("--ncu", *files)
            self.assertEqual(roofs(report)["dram"]["value"], 5.001e9 * 256 * 2 / 8)
            self.assertEqual(roofs(report)["fp32"]["value"], 40 * 128 * 1.59e9)
            self.assertEqual((kernel(report, "k")["launches"], kernel(report, "k")["time_ns"]["mean"]), (1, 10))

    def test_a_value_that_is_none(self):
        for metric, value in (("device__attribute_multiprocessor_count", "many"), ("device__attribute_clock_rate", "1e300"),
                              ("device__attribute_fb_bus_width", "-1")):
            said = self.refused("--ncu", self.file("a.csv", HEAD + row(metric, "", value)))
            self.assertIn(f"a.csv:2: '{value}' is not a value of {metric}", said)

    def test_attributes_of_another_gpu(self):
        said = self.refused("--ncu", self.file("a.csv", HEAD + row("gpu__time_duration.sum", "ns", "10")
                                               + row("device__attribute_compute_capability_major", "", "9")))
        self.assertIn("different GPUs", said)
        said = self.refused("--nsys", export_nsys(self.folder / "t4.sqlite"), "--ncu", self.file(
            "b.csv", HEAD + row("device__attribute_display_name", "", "NVIDIA A10")))
        self.assertIn("NVIDIA A10", said)
        # A name of several lines stays one sentence.
        said = self.refused("--nsys", export_nsys(self.folder / "t4.sqlite"), "--ncu", self.file(
            "c.csv", HEAD + row("device__attribute_display_name", "", "NVIDIA\nA10")))
        self.assertIn("NVIDIA A10", said)

    def test_points_above_the_roof_are_flagged_and_not_cut_off(self):
        """FFMA at 33.7 TFLOP/s where the attributes allow 32.26, and a saxpy out of L2 above DRAM's bandwidth."""
        report = self.report("--ncu", ATTRIBUTES)
        peak = kernel(report, "fma_peak(float *)")
        self.assertEqual(peak["flops_per_s"], 33.7e12)
        self.assertAlmostEqual(peak["roof"]["fraction"], 33.7 / 32.256)
        small, large = kernel(report, SAXPY, grid=[4096, 1, 1]), kernel(report, SAXPY, grid=[65536, 1, 1])
        self.assertAlmostEqual(small["roof"]["fraction"], 18e6 / 20e-6 / 672.048e9)
        self.assertEqual([("above_roof" in each["flags"]) for each in (peak, small, large)], [True, True, False])
        self.assertEqual((peak["saving_ns"], small["saving_ns"]), (0, 0))
        self.assertIn("2 kernels are above the roof: likely a clock above the stated one, data that stayed in a cache", notes(report))
        shown = subprocess.run([PROGRAM, "report", self.folder / "report.json"], capture_output=True, text=True, timeout=100,
                               env=dict(os.environ, COLUMNS="120"), check=True).stdout
        line = next(each for each in shown.splitlines() if each.startswith("fma_peak"))
        self.assertIn("33.7", line)
        self.assertIn("104 %", line)


class NamedByTheUser(ImportTest):
    def counters(self, cc="7.5"):
        return self.file("c.csv", HEAD + row("gpu__time_duration.sum", "ns", "100", cc) + row("dram__bytes_read.sum", "byte", "8000", cc)
                         + row("dram__bytes_write.sum", "byte", "8000", cc))

    def test_without_it_nothing_is_guessed(self):
        report = self.report("--ncu", self.counters())
        self.assertEqual(report["ceilings"], [])
        self.assertIsNone(report["devices"][0]["name"])
        self.assertIn("`gable import --gpu NAME` names a board of the catalogue", notes(report))

    def test_published_peaks_and_who_named_them(self):
        report = self.report("--ncu", self.counters(), "--gpu", "nvidia t4")
        self.assertEqual((roofs(report)["fp32"]["value"], roofs(report)["dram"]["value"]), (8.1e12, 320e9))
        for each in report["ceilings"]:
            link = "PCIe 3.0 x16, each way, " if each["kind"] == "link" else ""
            self.assertEqual(each["source"], f"theoretical: {link}Tesla T4 data sheet: published peak of the T4 that the user named")
        self.assertAlmostEqual(roofs(report)["pcie"]["value"] / 15.754e9, 1, places=4)
        self.assertEqual(kernel(report, "k")["roof"]["memory_ns"], 16000 / 320)
        self.assertIn("The user named the GPU with --gpu: T4.", notes(report))
        self.assertNotIn("Roofs are missing", notes(report))

    def test_what_the_files_give_goes_first(self):
        report = self.report("--nsys", export_nsys(self.folder / "t4.sqlite", "UPDATE TARGET_INFO_GPU SET name = NULL"), "--gpu", "T4")
        self.assertEqual(roofs(report)["dram"]["value"], 320_064_000_000)
        self.assertIn("memoryBandwidth", roofs(report)["dram"]["source"])

    def test_a_board_that_the_catalogue_does_not_have(self):
        report = self.report("--nsys", export_nsys(self.folder / "gtx.sqlite", "UPDATE TARGET_INFO_GPU SET name = 'NVIDIA GeForce GTX 1050', "
                                                   "computeMajor = 6, computeMinor = 1"))
        self.assertIn("Roofs of NVIDIA GeForce GTX 1050 are missing", notes(report))
        self.assertIn("`gable import --gpu FILE.json`", notes(report))
        self.assertNotIn("no file tells the GPU", notes(report))

    def test_devices_that_no_file_tells(self):
        report = self.report("--nsys", export_nsys(self.folder / "t4.sqlite", "DROP TABLE TARGET_INFO_GPU"), "--gpu", "H100-PCIe")
        self.assertEqual([each["name"] for each in report["devices"]], ["H100 PCIe"])
        self.assertEqual(roofs(report)["dram"]["value"], 2000e9)

    def test_the_board_that_the_files_name(self):
        report = self.report("--nsys", export_nsys(self.folder / "t4.sqlite"), "--gpu", "T4")
        self.assertNotIn("named the GPU", notes(report))

    def test_another_board_or_chip_than_the_files_name(self):
        said = self.refused("--nsys", export_nsys(self.folder / "t4.sqlite"), "--gpu", "A10")
        self.assertIn("Device 0 is Tesla T4 in the files, which is not the board A10 that --gpu names", said)
        said = self.refused("--ncu", ATTRIBUTES, "--gpu", "RTX5090")
        self.assertIn("NVIDIA GeForce RTX 5070", said)
        said = self.refused("--ncu", self.counters("8.6"), "--gpu", "A30")
        self.assertIn("compute capability 8.6 in the files, and A30, which --gpu names, has 8.0", said)
        self.report("--ncu", self.counters("8.6"), "--gpu", "A10")

    A100 = "UPDATE TARGET_INFO_GPU SET name = '{}', smCount = 108, computeMajor = 8, computeMinor = 0, clockRate = 1410000000, " \
           "totalMemory = {}, memoryBandwidth = 0"

    def test_attributes_tell_boards_of_a_family_apart(self):
        for name, memory, bandwidth in (("NVIDIA A100-SXM-80GB", 85e9, 2039e9), ("A100-PG509-200", 85e9, 2039e9), ("A100-PG509-200", 42.5e9, 1555e9)):
            export = export_nsys(self.folder / "a100.sqlite", self.A100.format(name, int(memory)))
            self.assertEqual(roofs(self.report("--nsys", export))["dram"]["value"], bandwidth)
            self.report("--nsys", export, "--gpu", "A100-80GB" if memory > 50e9 else "A100-40GB")
            self.refused("--nsys", export, "--gpu", "A100-80GB" if memory < 50e9 else "A100-40GB")
        # A name that several boards have, and a file that tells which.
        export = export_nsys(self.folder / "a100.sqlite", self.A100.format("", int(85e9)))
        for name, bandwidth in (("A100", 2039e9), ("A100-SXM", 2039e9), ("A100 PCIe", 1935e9)):
            self.assertEqual(roofs(self.report("--nsys", export, "--gpu", name))["dram"]["value"], bandwidth)
        self.assertIn("has 108 SMs in the files", self.refused("--nsys", export, "--gpu", "A30"))

    def test_a_file_that_describes_the_gpu(self):
        described = self.file("mine.json", """{"name": "Mine", "sm_count": 40, "sm_clock_hz": 1e9, "memory_bytes": 16e9,
            "bytes_per_s": {"dram": 250e9}, "flops_per_s": {"fp32": 5e12, "fp4_tensor": 9e12}}""")
        report = self.report("--ncu", self.counters(), "--gpu", described)
        self.assertEqual((roofs(report)["fp32"]["value"], roofs(report)["dram"]["value"], roofs(report)["fp4_tensor"]["value"]), (5e12, 250e9, 9e12))
        self.assertIn("peak of the Mine that the user described", roofs(report)["fp32"]["source"])
        self.assertIn("The user described the GPU with --gpu: Mine. Roofs that the files do not give are its peaks", notes(report))
        self.assertIn("describes no GPU", self.refused("--ncu", self.counters(), "--gpu", self.file("bad.json", "{}")))
        self.assertIn("No such file", self.refused("--ncu", self.counters(), "--gpu", self.folder / "none.json"))
        other = export_nsys(self.folder / "t4.sqlite", "UPDATE TARGET_INFO_GPU SET smCount = 41")
        self.assertIn("Mine", self.refused("--nsys", other, "--gpu", described))

    def test_gpus_of_other_makers_have_no_roofs(self):
        """gfx90a has the numbers of a Hopper."""
        for name in ("AMD Instinct MI250X", "gfx90a", ""):
            export = export_nsys(self.folder / "amd.sqlite", f"UPDATE TARGET_INFO_GPU SET name = '{name}', smCount = 104, computeMajor = 9, "
                                 "computeMinor = 0, clockRate = 1700000000", "UPDATE StringIds SET value = 'Cijk_Ailk_Bljk_SB_MT64x64' WHERE id = 1")
            report = self.report("--nsys", export)
            self.assertEqual(report["ceilings"], [])
            self.assertIsNone(report["devices"][0]["compute_capability"])
            self.assertIn("The GPU is not one of NVIDIA's (" + (name or "AMD, by the names of its kernels") + ")", notes(report))
            self.assertNotIn("Roofs are missing", notes(report))
            self.refused("--nsys", export, "--gpu", "H100")

    def amd_trace(self, names, device):
        """HIP's numbers of devices count the host's processors, and the header's do not."""
        trace = json.loads((DATA / "kineto_new.json").read_text())
        trace["deviceProperties"] = [{"id": i, "name": name, "totalGlobalMem": 206141652992, "computeMajor": 9, "computeMinor": 0, "numSms": 304}
                                     for i, name in enumerate(names)]
        for event in trace["traceEvents"]:
            if event.get("cat") in ("kernel", "gpu_memcpy"):
                event["args"]["device"] = device
        return self.file("amd.json", json.dumps(trace))

    def test_the_gpu_of_an_amd_trace_whatever_its_number_is(self):
        mi300x = "AMD Instinct MI300X"
        for names, device, name, sms in (([mi300x], 9, mi300x, 304), ([mi300x] * 4, 3, mi300x, 304), ([mi300x] * 4, 5, mi300x, 304),
                                         (["AMD Radeon RX 7900 XTX", "AMD Radeon Graphics"], 1, "AMD GPU", None)):
            trace = self.amd_trace(names, device)
            report = self.report("--kineto", trace)
            self.assertEqual([(each["id"], each["name"], each["sm_count"]) for each in report["devices"]], [(device, name, sms)])
            self.assertEqual(report["ceilings"], [])
            self.assertIn(f"The GPU is not one of NVIDIA's ({name})", notes(report))
            self.assertIn("which is not the board H100", self.refused("--kineto", trace, "--gpu", "h100"))
        self.assertEqual(self.report("--kineto", self.amd_trace(["NVIDIA H100 80GB HBM3"], 3))["devices"][0]["name"], "NVIDIA H100 80GB HBM3")

    def test_tensor_cores_only_where_the_board_has_them(self):
        """nsys names the chip: TU116 and TU117 are 7.5 as well."""
        def tensor_roofs(*changes):
            return [name for name in roofs(self.report("--nsys", export_nsys(self.folder / "t.sqlite", *changes))) if "tensor" in name]
        self.assertEqual(tensor_roofs(), ["fp16_tensor", "int8_tensor"])
        self.assertEqual(tensor_roofs("UPDATE TARGET_INFO_GPU SET name = 'NVIDIA GeForce GTX 1650', chipName = 'TU117', smCount = 16"), [])
        self.assertEqual(tensor_roofs("UPDATE TARGET_INFO_GPU SET name = 'NVIDIA T1000', smCount = 14"), [])
        self.assertEqual(tensor_roofs("UPDATE TARGET_INFO_GPU SET name = 'NVIDIA H20', smCount = 78, computeMajor = 9, computeMinor = 0"), [])

    def test_names_that_the_catalogue_does_not_have(self):
        said = self.refused("--ncu", self.counters(), "--gpu", "Voodoo2")
        self.assertIn("There is no GPU 'Voodoo2' in the catalogue: GTX1080Ti, V100, V100-PCIe, T4", said)
        self.assertIn("'A100' is one of several: A100-40GB, A100-80GB, A100-PCIe-80GB.", self.refused("--ncu", self.counters(), "--gpu", "A100"))
        self.assertIn("There is no GPU ''", self.refused("--ncu", self.counters(), "--gpu", ""))


if __name__ == "__main__":
    unittest.main()
