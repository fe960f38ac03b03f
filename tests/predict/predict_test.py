# SPDX-License-Identifier: Apache-2.0
"""`gable predict` against published predictions, known models, and reports whose layers one can work out by hand."""
import csv
import io
import unittest

import made_reports
from compare_case import CompareCase

# FLOP of a multiply-add are 2: published multiply-adds x 2.
FLOPS = {"resnet18": 3628146688, "resnet50": 8178368512, "vgg16": 30940528640, "mobilenet": 601548544}


class Predict(CompareCase):
    def setUp(self):
        super().setUp()
        for kernel in self.net["kernels"]:  # enough blocks for every GPU
            kernel["grid"] = [10000, 1, 1]

    def rows(self, *arguments):
        text = self.gable("predict", *arguments, "--csv", "-").stdout
        return [{k: float(v) if k not in ("source", "what", "gpu", "precision", "bottleneck", "fits_in_memory") and v else v
                 for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def by_hand(self, device, precision, flops, bytes, *more):
        return self.rows("--flops", str(flops), "--bytes", str(bytes), "--device", device, "--precision", precision, *more)[0]

    def test_a_kernel_under_one_roof(self):
        for device, precision, intensity, rate, bottleneck in (
                ("GTX1080Ti", "fp32", 7, 3.388e12, "memory"), ("GTX1080Ti", "fp32", 25, 11.3e12, "compute"),
                ("A100-40GB", "fp32", 16.41, 19.5e12, "compute"), ("A100-80GB", "fp16", 50, 50 * 2039e9, "memory")):
            row = self.by_hand(device, precision, intensity * 1e12, 1e12)
            self.assertEqual(row["bottleneck"], bottleneck, device)
            self.assertAlmostEqual(row["flop_per_s"] / rate, 1, places=6)
            self.assertEqual(row["source"], "predicted")
            self.assertEqual(row["changes_at_batch"], "")  # there is no batch

    def test_two_names_of_one_gpu_are_one(self):
        rows = self.rows("--flops", "1e12", "--bytes", "1e9", "--gpu", "H100,A100-40GB,h100")
        self.assertEqual(len(rows), 2, rows)

    def test_ridge_points(self):
        for device, precision, ridge in (("GTX1080Ti", "fp32", 23.347), ("A100-40GB", "fp32", 12.540), ("A100-80GB", "fp16", 153.016),
                                         ("A100-40GB", "fp16", 200.643), ("H100", "fp16", 295.224), ("H200", "fp16", 206.042),
                                         ("H200", "fp32", 13.958), ("V100", "fp16", 138.889), ("A6000", "fp16", 201.613)):
            self.assertAlmostEqual(self.by_hand(device, precision, 1, 1)["ridge_flop_per_byte"], ridge, delta=0.003)

    def test_mlsysim(self):
        # its weights are read 1 + 0.1 x batch times; it adds 0.5 ms, and each GPU's launch latency
        for device, batch, milliseconds, per_second, bottleneck in (
                ("A100-80GB", 1, 0.5675641025641026, 1761.915518409758, "compute"), ("A100-80GB", 4, 0.725256, 5515.29, "compute"),
                ("A100-80GB", 16, 1.356026, 11799.19, "compute"), ("A100-80GB", 32, 2.197051, 14564.98, "compute"),
                ("A100-80GB", 64, 3.879103, 16498.66, "compute"), ("A100-80GB", 128, 7.243205, 17671.73, "compute"),
                ("A100-80GB", 256, 13.971410, 18323.13, "compute"), ("H100", 1, 0.526812, None, "memory"),
                ("V100", 1, 0.651200, None, "compute")):
            row = self.by_hand(device, "fp16", 8.2e9 * batch, 51.2e6 * (1 + 0.1 * batch), "--efficiency", "0.5",
                               "--overhead", {"H100": "510", "V100": "520"}.get(device, "515"))
            self.assertAlmostEqual(row["latency_ns"] * 1e-6, milliseconds, places=6, msg=f"{device} {batch}")
            if per_second:
                self.assertAlmostEqual(row["per_s"] * batch / per_second, 1, places=5)
            self.assertEqual(row["bottleneck"], bottleneck, device)

    def test_llm_viewer(self):
        hidden, inner, tokens = 4096, 11008, 2048
        for out, rows, microseconds in ((hidden, tokens, 443.814), (inner, tokens, 1192.75), (hidden, 1, 43.712), (inner, 1, 117.458)):
            row = self.by_hand("A6000", "fp16", 2 * rows * hidden * out, 2 * (hidden * out + rows * (hidden + out)))
            self.assertAlmostEqual(row["latency_ns"] * 1e-3 / microseconds, 1, places=4)

    def test_models_have_their_published_work(self):
        for model, flops in FLOPS.items():
            one, eight = self.rows("--model", model, "--device", "H100", "--batch", "1,8")
            self.assertEqual((one["flop"], eight["flop"]), (flops, 8 * flops), model)

    def test_llama(self):
        def of(kind, sequence):
            return self.rows("--model", f"llama2-7b-{kind}", "--device", "A6000", "--sequence", str(sequence))[0]
        linear = 32 * 2 * (4 * 4096 ** 2 + 3 * 4096 * 11008)
        head = 2 * 4096 * 32000
        self.assertEqual(of("decode", 2048)["flop"], linear + 32 * 4 * 2048 * 4096 + head)
        self.assertEqual(of("prefill", 2048)["flop"], 2048 * linear + 32 * 4 * 2048 ** 2 * 4096 + head)
        self.assertEqual((of("decode", 2048)["bottleneck"], of("prefill", 2048)["bottleneck"]), ("memory", "compute"))
        weights = 2 * (32 * (4 * 4096 ** 2 + 3 * 4096 * 11008) + 4096 * 32000)
        self.assertGreater(of("decode", 1)["bytes"], weights)
        self.assertLess(of("decode", 1)["bytes"], 1.001 * weights)

    def test_options_that_would_change_nothing_are_refused(self):
        path = self.write(self.net, "net.json")
        by_hand = ["--flops", "1e9", "--bytes", "1e6"]
        for arguments in ([path, "--batch", "4"], [path, "--efficiency", "0.5"], [path, "--overhead", "5"], [path, "--sequence", "5"], [path, "--training"],
                          [*by_hand, "--batch", "4"], [*by_hand, "--top", "4"], ["--model", "resnet50", "--sequence", "100"]):
            self.assertRegex(self.gable("predict", *arguments, "--gpu", "H100", code=2).stderr, "^gable: --[a-z]+ is for .*\\.\n$")

    def test_numbers_without_an_end_are_refused(self):
        for arguments in (["--flops", "inf", "--bytes", "1"], ["--flops", "1e400", "--bytes", "1"], ["--flops", "1", "--bytes", "inf"],
                          ["--flops", "1", "--bytes", "1", "--overhead", "inf"]):
            self.gable("predict", *arguments, "--device", "H100", code=2)

    def test_no_peak_is_not_never(self):
        out = self.gable("predict", "--model", "resnet50", "--device", "V100", "--precision", "fp8").stdout
        self.assertNotIn("never", out)

    def test_the_batch_where_the_bottleneck_changes(self):
        arguments = ["--model", "resnet50", "--device", "V100", "--precision", "fp16"]
        at = int(self.rows(*arguments)[0]["changes_at_batch"])
        before, after = self.rows(*arguments, "--batch", f"{at - 1},{at}")
        self.assertNotEqual(before["bottleneck"], after["bottleneck"])
        never = self.rows("--model", "llama2-7b-prefill", "--device", "V100")[0]
        self.assertEqual(never["changes_at_batch"], "")

    def test_table(self):
        out = self.gable("predict", "--model", "resnet50", "--device", "A100-80GB,V100,H100", "--batch", "1,4,16,32,64,128,256").stdout
        self.assertTrue(out.startswith("[predicted] resnet50; fp16"), out)
        self.assertEqual(len([line for line in out.splitlines() if line.startswith(("A100-80GB ", "V100 ", "H100 "))]), 21)
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        big = self.gable("predict", "--model", "llama2-7b-decode", "--device", "GTX1080Ti", "--precision", "fp32").stdout
        self.assertIn("*: exceeds GPU memory", big)
        none = self.gable("predict", "--model", "resnet50", "--device", "V100", "--precision", "fp8").stdout
        self.assertIn("V100: no published fp8 peak", none)
        self.assertIn("unknown", none)

    def test_a_report_on_other_gpus(self):
        path = self.write(self.net, "net.json")
        text = self.gable("predict", path, "--device", "H100,V100", "--csv", "-").stdout
        rows = {(row["layer"], row["direction"], row["gpu"]): row for row in csv.DictReader(io.StringIO(text))}
        # conv: 1e10 FLOP32, 5e7 byte; compute binds everywhere, and it stays at a quarter of the roof
        conv = rows[("Net/conv", "forward", "H100")]
        self.assertAlmostEqual(float(conv["time_ns"]), 4e5 * made_reports.COMPUTE / 67e12)
        self.assertAlmostEqual(float(conv["least_ns"]), 1e10 / 67e12 * 1e9)
        self.assertAlmostEqual(float(conv["fraction"]), 0.25)
        # relu: DRAM binds, half of the roof
        relu = rows[("Net/relu", "forward", "V100")]
        self.assertAlmostEqual(float(relu["time_ns"]), 1e5 * made_reports.DRAM / 900e9)
        self.assertEqual(relu["bound"], "memory")
        self.assertEqual(rows[("Net/relu", "forward", "Made-up GPU")]["source"], "playback")
        self.assertEqual(relu["source"], "predicted")
        # nothing is known of its work
        self.assertEqual(rows[("Net/secret", "forward", "H100")]["time_ns"], "")
        table = self.gable("predict", path, "--device", "H100,V100").stdout
        self.assertTrue(table.startswith("[playback] [predicted] time per step, from Made-up GPU\n"), table)
        self.assertEqual(text, self.gable("predict", path, "--gpu", "H100,V100", "--csv", "-").stdout)

    def test_onto_its_own_gpu_nothing_changes(self):
        self.net["devices"][0].update(name="NVIDIA H100 80GB HBM3", sm_count=132)
        self.net["ceilings"][0]["clock"] = "measured"
        path = self.write(self.net, "net.json")
        text = self.gable("predict", path, "--gpu", "H100,H200", "--csv", "-").stdout
        rows = [(row["layer"], row["direction"], row["source"], row["time_ns"]) for row in csv.DictReader(io.StringIO(text))]
        here = [row for row in rows if row[2] == "playback"]
        own = rows[1::3]  # here, H100, H200
        self.assertEqual([(*row[:2], row[3]) for row in here], [(*row[:2], row[3]) for row in own])
        table = self.gable("predict", path, "--gpu", "H100").stdout
        self.assertIn("from NVIDIA H100 80GB HBM3 (H100)\n", table)
        self.assertRegex(table, r"(?m)^whole program +1.00 ms +1.00 ms")

    def test_half_the_blocks_do_not_use_twice_the_sms(self):
        for kernel in self.net["kernels"]:
            kernel["grid"] = [50, 1, 1]
        few = self.write(self.net, "few.json")
        text = self.gable("predict", few, "--gpu", "H100", "--csv", "-").stdout
        conv = next(row for row in csv.DictReader(io.StringIO(text)) if row["layer"] == "Net/conv" and row["gpu"] == "H100"
                    and row["direction"] == "forward")
        # 50 blocks use 50 of 100 SMs here and 50 of 132 there
        self.assertAlmostEqual(float(conv["time_ns"]), 4e5 * made_reports.COMPUTE / 67e12 * 132 / 100, places=3)

    def test_a_gpu_that_a_file_describes(self):
        mine = {"name": "Mine", "sm_count": 100, "sm_clock_hz": 1.5e9, "memory_bytes": 24e9, "bytes_per_s": {"dram": 2 * made_reports.DRAM},
                "flops_per_s": {"fp32": 2 * made_reports.COMPUTE}}
        path, gpu = self.write(self.net, "net.json"), self.write(mine, "gpu.json")
        text = self.gable("predict", path, "--gpu", gpu, "--csv", "-").stdout
        rows = {(row["layer"], row["direction"], row["gpu"]): row["time_ns"] for row in csv.DictReader(io.StringIO(text))}
        self.assertEqual(float(rows[("Net/conv", "forward", "Mine")]), 2e5)
        self.assertEqual(float(rows[("Net/relu", "forward", "Mine")]), 5e4)
        mine["name"] = "Mine, \x1b[31mred"  # a stranger's file: nothing of it reaches the terminal as it is
        gpu = self.write(mine, "gpu.json")
        for arguments in ([path], ["--model", "resnet18", "--precision", "fp64"]):
            out = self.gable("predict", *arguments, "--gpu", gpu).stdout
            self.assertIn("\\x1b[31mred", out)
            self.assertNotIn("\x1b", out)
        self.assertEqual(self.rows("--model", "resnet18", "--gpu", gpu, "--precision", "fp32")[0]["gpu"], mine["name"])
        del mine["sm_count"]
        done = self.gable("predict", path, "--gpu", self.write(mine, "gpu.json"), code=2)
        self.assertEqual(done.stderr, f"gable: {gpu} describes no GPU: \"sm_count\" is missing.\n")
        self.assertIn("none.json", self.gable("predict", path, "--gpu", "none.json", code=2).stderr)

    def test_memory_has_the_keys_and_values_of_all_layers(self):
        few, many = self.rows("--model", "llama2-7b-decode", "--gpu", "RTX4090", "--sequence", "4096", "--batch", "1,16")
        self.assertEqual((few["fits_in_memory"], many["fits_in_memory"]), ("yes", "no"))
        kv = 2 * 32 * 32 * 128 * 2 * 4096
        self.assertAlmostEqual(many["memory_bytes"] - few["memory_bytes"], 15 * kv, delta=0.001 * 15 * kv)
        self.assertAlmostEqual(many["memory_bytes"] * 1e-9, 47.8, delta=0.1)
        table = self.gable("predict", "--model", "llama2-7b-decode", "--gpu", "RTX4090", "--sequence", "4096", "--batch", "16").stdout
        self.assertRegex(table, r"(?m)^RTX4090 +16\* +47.8 GB")
        trained = self.rows("--model", "llama2-7b-prefill", "--gpu", "H200", "--training", "--sequence", "16")[0]
        self.assertGreater(trained["memory_bytes"], 16 * 6738415616)
        self.assertEqual(trained["fits_in_memory"], "yes")
        self.gable("predict", "--model", "llama2-7b-decode", "--gpu", "H200", "--training", code=2)

    def test_a_layer_of_which_a_part_has_no_prediction_has_none(self):
        self.net["kernels"].append(made_reports.kernel(2, "relu_secret", None, 1e6, 1e5, "forward"))
        path = self.write(self.net, "net.json")
        text = self.gable("predict", path, "--device", "H100", "--csv", "-").stdout
        relu = {row["gpu"]: row["time_ns"] for row in csv.DictReader(io.StringIO(text)) if row["layer"] == "Net/relu"}
        self.assertEqual(relu, {"Made-up GPU": "200000", "H100": ""})
        table = self.gable("predict", path, "--device", "H100").stdout
        self.assertRegex(table, r"(?m)^Net/relu +for +200 us +\w+ +- +unknown")
        self.assertRegex(table, r"(?m)^whole program +1.00 ms +- ")

    def test_another_precision(self):
        path = self.write(self.net, "net.json")
        text = self.gable("predict", path, "--device", "H100", "--precision", "bf16", "--csv", "-").stdout
        conv = next(row for row in csv.DictReader(io.StringIO(text)) if row["layer"] == "Net/conv" and row["gpu"] == "H100"
                    and row["direction"] == "forward")
        self.assertAlmostEqual(float(conv["least_ns"]), max(1e10 / 989e12, 2.5e7 / 3350e9) * 1e9)  # half the bytes
        self.assertEqual(conv["bound"], "compute")
        relu = next(row for row in csv.DictReader(io.StringIO(text)) if row["layer"] == "Net/relu" and row["gpu"] == "H100")
        self.assertAlmostEqual(float(relu["least_ns"]), 0.5e8 / 3350e9 * 1e9)  # no matrix: FP32 as before, half the bytes

    def test_pages(self):
        path = self.write(self.net, "net.json")
        for arguments in ([path, "--device", "H100"], ["--model", "resnet50", "--device", "A100-80GB,H100", "--batch", "1,64"]):
            self.gable("predict", *arguments, "--html", "out.html")
            with open(self.folder + "/out.html", encoding="utf-8") as file:
                self.assertIn("[predicted", file.read())

    def test_wrong_use(self):
        for arguments, words in ((["--model", "resnet50", "--device", "H999"], "H200"),
                                 (["--model", "resnet50", "--device", "A100"], "A100-40GB, A100-80GB"),
                                 (["--model", "resnet50", "--device", ""], "names of GPUs"),
                                 (["--model", "resnet50", "--device", "H100", "--batch", ""], "whole numbers"),
                                 (["--model", "alexnet", "--device", "H100"], "resnet18"), (["--device", "H100"], "one of"),
                                 (["--flops", "1", "--device", "H100"], "--bytes"),
                                 (["--model", "resnet50", "--device", "H100", "--batch", "0"], "--batch"),
                                 (["--model", "resnet50", "--device", "H100", "--batch", "4x"], "--batch"),
                                 (["--model", "resnet50", "--device", "H100", "--precision", "fp12"], "--precision"),
                                 (["--model", "resnet50", "--device", "H100", "--efficiency", "2"], "--efficiency"),
                                 (["missing.json", "--device", "H100"], "missing.json")):
            done = self.gable("predict", *arguments, code=2)
            self.assertIn(words, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
