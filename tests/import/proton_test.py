# SPDX-License-Identifier: Apache-2.0
"""Profiles of Triton's profiler: scopes are layers, kernels have counts and the sum of their times, and nothing more is made of them."""
import gzip
import json
import unittest

from import_run import ImportTest, kernel, layer, notes


def frame(name, *children, **metrics):
    return {"children": list(children), "frame": {"name": name, "type": "function"}, "metrics": metrics}


def ran(name, time, count=1, device="0", **more):
    metrics = {"count": count, "device_id": device, "device_type": "CUDA", "time (ns)": time, **more}
    return {"children": [], "frame": {"name": name, "type": "function"}, "metrics": metrics}


RTX4090 = {"arch": "89", "bus_width": 384, "clock_rate": 2520000, "memory_clock_rate": 10501000, "num_sms": 128}
H200 = {"arch": "90", "bus_width": 6144, "clock_rate": 1980000, "memory_clock_rate": 3201000, "num_sms": 132}


class Proton(ImportTest):
    def profile(self, *children, devices=None, name="run.hatchet"):
        tree = frame("ROOT", *children, **{"count": 0, "time (ns)": 0})
        return self.file(name, "\n" + json.dumps([tree, {"CUDA": {"0": RTX4090}} if devices is None else devices], indent=1))

    def test_scopes_are_layers_and_leaves_are_kernels(self):
        report = self.report("--proton", self.profile(
            frame("model", frame("softmax", ran("_Z4gemmPfi", 1003, 10), ran("softmax_kernel", 500)), ran("copy_kernel", 7)), ran("outside", 90, 3)))
        self.assertEqual(report["run"]["total"]["gpu_time_ns"], 1600)
        softmax = layer(report, "model", "softmax")
        self.assertEqual((softmax["launches"], softmax["time_ns"]["total"]), (11, 1503))
        row = kernel(report, "gemm(float*, int)", layer=softmax["id"])
        self.assertEqual((row["launches"], row["time_ns"]["total"], row["time_ns"]["mean"], row["grid"]), (10, 1003, 100.3, None))
        self.assertEqual(layer(report, "model")["time_ns"]["total"], 1510)
        self.assertEqual(layer(report)["time_ns"]["self"], 90)
        self.assertIn("proton (run.hatchet)", notes(report))
        self.assertIn("each launch has their mean", notes(report))
        self.assertIsNone(layer(report)["sync_ns"])

    def test_the_gpus(self):
        report = self.report("--proton", self.profile(ran("a", 10), ran("b", 10, device="1"), devices={"CUDA": {"0": RTX4090, "1": H200}}))
        self.assertEqual([(each["id"], each["compute_capability"], each["sm_count"]) for each in report["devices"]], [(0, "8.9", 128), (1, "9.0", 132)])
        roofs = {(each["device"], each["name"]): each["value"] for each in report["ceilings"]}
        self.assertEqual((roofs[0, "dram"], roofs[1, "dram"]), (10501e6 * 384 / 4, 3201e6 * 6144 / 4))
        self.assertEqual(roofs[0, "fp32"], 128 * 256 * 2520e6)
        report = self.report("--proton", self.profile(ran("a", 10), devices={"CUDA": {"0": {**RTX4090, "arch": "120"}}}))
        self.assertEqual(report["devices"][0]["compute_capability"], "12.0")

    def test_amd(self):
        report = self.report("--proton", self.profile(ran("add_kernel", 10, device_type="HIP"), devices={"HIP": {"0": {
            "arch": "gfx90a", "bus_width": 4096, "clock_rate": 1700000, "memory_clock_rate": 1600000, "num_sms": 104}}}))
        self.assertEqual((report["devices"][0]["name"], report["ceilings"]), ("AMD gfx90a", []))
        self.assertIn("not one of NVIDIA's (AMD gfx90a)", notes(report))

    def test_work_that_the_program_stated_is_not_counted_work(self):
        report = self.report("--proton", self.profile(frame("mm", ran("k", 10, flops16=1e9, bytes=1e6), flops8=0)))
        self.assertIn("The program stated work of its own (bytes, flops16)", notes(report))
        self.assertIsNone(kernel(report, "k")["flops"]["total"])

    def test_kernels_of_proton_itself_are_left_out(self):
        report = self.report("--proton", self.profile(frame("scope", frame("__proton_launch_metadata", ran("cuda_kernel", 4064)), ran("triton_kernel", 1664))))
        self.assertEqual(report["run"]["total"]["gpu_time_ns"], 1664)
        self.assertIn("1 launches in __proton_launch_metadata are proton's own", notes(report))

    def test_names_of_old_versions_and_packed_files(self):
        old = {"children": [], "frame": {"name": "k"}, "metrics": {"Count": 2, "DeviceId": 0, "DeviceType": "CUDA", "Time (ns)": 9}}
        path = self.profile(old)
        self.assertEqual(kernel(self.report("--proton", path), "k")["launches"], 2)
        self.report("--proton", self.file("run.gz", gzip.compress(path.read_bytes())))

    def test_folders_stay_out(self):
        report = self.report("--proton", self.profile(frame("/home/alice/train.py:main@10", frame("scale/attention", ran("k", 5)))))
        layer(report, "train.py:main@10", "scale/attention")
        self.assertNotIn("alice", self.text)

    def test_what_is_no_profile(self):
        self.assertIn("has 1 scopes and no kernel with a time", self.refused("--proton", self.profile(frame("a", frame("b")))))
        self.assertIn("cycles were counted", self.refused("--proton", self.profile(frame("a", frame("b", cycles=5)))))
        whole = self.profile(ran("k", 5)).read_text()
        for text, said in ((whole[:-9], "cut off"), ("[]", "no tree of scopes"), ('{"a": 1}', "no tree of scopes"), ("[" * 5000, "nested too deep")):
            self.assertIn(said, self.refused("--proton", self.file("bad.hatchet", text)))
        for metrics, said in (({"time (ns)": -1, "count": 1}, "the time of 'k'"), ({"time (ns)": 5, "count": "x"}, "the count of 'k'"), ({"time (ns)": 5}, "has no count"),
                              ({"time (ns)": 5, "count": 1e8}, "launches"), ({"time (ns)": 5, "count": 1, "device_id": "x"}, "a device")):
            self.assertIn(said, self.refused("--proton", self.profile(frame("k", **metrics))))
        for option in ("--nsys", "--ncu", "--kineto"):
            self.assertIn("give it with --proton.", self.refused(option, self.profile(ran("k", 5))))


if __name__ == "__main__":
    unittest.main()
