# SPDX-License-Identifier: Apache-2.0
"""`gable plan` on a plan that was made before, and on Pythons that are none: ResNet-50 of torchvision, FP16, batches 1 and 256."""
import json
import os
import pathlib
import re
import unittest

from plan_case import RESNET, PlanCase

FLOP = 8178368512
HALF = ("--efficiency", "compute=0.5")


class Plan(PlanCase):
    def test_table(self):
        out = self.plan(RESNET, "--gpu", "H100,B200", "--gpu", "a100-80gb", "--top", "4").stdout
        lines = out.splitlines()
        self.assertEqual(lines[0], "[planned] ResNet from nets:resnet50, fp16, forward, float32[B,3,224,224]")
        self.assertRegex(lines[1], r"^layer .* H100 +bound +B200 +bound +A100-80GB +bound$")
        self.assertRegex(lines[2], r"^whole model at batch 256 ")
        self.assertEqual(sum(line.startswith("ResNet/") for line in lines), 4)
        self.assertIn("more (--top).\n", out)
        self.assertEqual([line.split()[:2] for line in lines if re.match(r"(H100|B200|A100-80GB) +\d", line)],
                         [[gpu, batch] for gpu in ("H100", "B200", "A100-80GB") for batch in ("1", "256")])
        table = [line for line in lines[:-6] if not line.startswith("Memory")]
        self.assertLessEqual(max(map(len, table)), 100)
        self.assertRegex(out, r"(?m)^Memory at batch 256: parameters 51\.1 MB, values 1\.34 GB\.$")
        self.assertIn("H100: compute-bound at no batch unfused, at no batch fused; batches up to 14485 fit into 80.0 GB.\n", out)

    def test_layers_with_the_most_time_come_first(self):
        layers = self.json(RESNET, "--gpu", "H100")["predictions"]["layers"]
        times = [layer["gpus"][0]["unfused"]["time_ns"] for layer in layers]
        self.assertEqual(times, sorted(times, reverse=True))
        step = self.steps(RESNET, "--gpu", "H100")[1]
        self.near(sum(times), step["unfused"]["time_ns"], 1e-9)
        self.assertEqual(sum(layer["flops"].get("fp16", 0) for layer in layers), 256 * FLOP)
        equal = next(layer for layer in layers if layer["layer"] == "ResNet/layer3/*/conv2")
        self.assertEqual((equal["layers"], equal["class"], equal["parameters"]), (5, "Conv2d", 5 * 256 * 256 * 9))
        self.assertEqual(sum(layer["parameters"] for layer in layers), 25557032)

    def test_work_of_the_model(self):
        one, many = self.steps(RESNET, "--gpu", "H100")
        self.assertEqual((one["flops"], many["flops"]), ({"fp16": FLOP}, {"fp16": 256 * FLOP}))
        self.assertEqual((one["operators"], one["operators_unknown"]), (174, 0))
        self.assertLess(one["fused_bytes"], one["unfused_bytes"])
        # Parameters once, and each convolution's input and output: more than the parameters, of 2 bytes.
        self.assertGreater(one["fused_bytes"], 2 * 25557032)

    def test_mlsysim(self):
        """It puts the whole model under one roof, which compute is here: the sum of our layers' compute. Our step is
        longer where layers are bound by memory."""
        for gpu, overhead, batch, milliseconds, longer in (
                ("A100-80GB", 515, 1, 0.5675641025641026, 1.02), ("A100-80GB", 515, 256, 13.971410, 1.04),
                ("H100", 510, 256, 256 / 53837 * 1e3, 1.21)):
            step = next(each for each in self.steps(RESNET, "--gpu", gpu, *HALF, "--overhead", overhead) if each["batch"] == batch)
            self.near((step["fused"]["compute_ns"] + overhead * 1e3) * 1e-6, milliseconds, 0.003)
            ratio = step["fused"]["time_ns"] * 1e-6 / milliseconds
            self.assertTrue(1 <= ratio < longer, ratio)

    def test_efficiency_launches_and_overhead(self):
        def step(*more):
            return self.steps(RESNET, "--gpu", "H100", *more)[0]
        plain, half = step(), step("--efficiency", "compute=0.5,memory=0.25")
        self.near(half["unfused"]["compute_ns"], 2 * plain["unfused"]["compute_ns"], 1e-9)
        self.near(half["unfused"]["memory_ns"], 4 * plain["unfused"]["memory_ns"], 1e-9)
        launched = step("--launch", "1000")
        self.near(launched["unfused"]["time_ns"], 174 * 1e6, 1e-9)
        self.near(launched["fused"]["time_ns"], 54 * 1e6, 1e-6)  # 53 convolutions and the last layer; parameters
        self.assertEqual(launched["unfused"]["bound"], "launch")
        later = step("--overhead", "7")
        self.near(later["fused"]["time_ns"], plain["fused"]["time_ns"] + 7000, 1e-9)
        self.near(later["fused"]["samples_per_s"], 1e9 / later["fused"]["time_ns"], 1e-9)
        out = self.plan(RESNET, "--gpu", "H100", "--launch", "2", "--overhead", "7", "--efficiency", "memory=0.8").stdout
        self.assertIn("compute at 100 % and memory at 80.0 % of the roofs, none shorter than 2.00 us, and 7.00 us a step", out)

    def test_tf32_is_fp32_where_a_gpu_has_none(self):
        plan = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        for run in plan["runs"]:
            for each in run["operators"]:
                each["type"] = "tf32"
        volta, ampere = (self.steps(self.write(plan), "--gpu", gpu)[0]["fused"]["compute_ns"] for gpu in ("V100", "A100-40GB"))
        self.near(volta, FLOP / 15.7e12 * 1e9, 1e-6)
        self.near(ampere, FLOP / 156e12 * 1e9, 1e-6)

    def test_json_is_read_again(self):
        self.plan(RESNET, "--gpu", "B200", "--json", "again.json")
        self.assertEqual(self.plan(RESNET, "--gpu", "H100").stdout, self.plan("again.json", "--gpu", "H100").stdout)
        again = json.loads((self.folder / "again.json").read_text(encoding="utf-8"))
        kept = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        self.assertEqual({name: value for name, value in again.items() if name != "predictions"}, kept)
        self.assertIn("is being read", self.refused("again.json", "--gpu", "H100", "--json", "again.json"))
        self.assertEqual(self.plan(RESNET, "--gpu", "H100", "--json", "out.json").stdout, "Written: out.json\n")

    def test_batches_of_a_plan(self):
        self.assertEqual([step["batch"] for step in self.steps(RESNET, "--gpu", "H100", "--batch", "256")], [256])
        self.assertIn("has these batches: 1, 256.", self.refused(RESNET, "--gpu", "H100", "--batch", "1..256"))

    def trained(self):
        """The model with FP16 gradients and Adam's two values, and the optimizer's step: it moves 7 values of each parameter."""
        plan = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        size = plan["model"]["parameter_bytes"]
        plan["training"] = {"optimizer": "adamw", "trained_parameters": plan["model"]["parameters"], "gradient_bytes": size, "optimizer_bytes": 2 * size}
        plan["layers"].append({"path": ["optimizer"], "class": "", "parameters": 0})
        for run in plan["runs"]:
            run["operators"].append({"layer": len(plan["layers"]) - 1, "direction": "none", "name": "adamw", "type": "fp16", "count": 1, "flops": 0,
                                     "read_bytes": 4 * size, "written_bytes": 3 * size, "fused_bytes": 7 * size})
        return self.write(plan, "trained.json"), size

    def test_ranks_with_the_whole_model_sum_up_gradients(self):
        path, size = self.trained()
        one, ranks = self.steps(path, "--gpu", "H100"), self.steps(path, "--gpu", "H100", "--ranks", "data=8")
        self.assertIsNone(one[0]["exchange"])
        exchange = ranks[0]["exchange"]
        self.near(exchange["bus_bytes"], 2 * 7 / 8 * size, 1e-9)
        self.near(exchange["time_ns"], exchange["bus_bytes"] / 450, 1e-9)  # NVLink of an H100: 450 GB/s each way
        fused = one[0]["fused"]["time_ns"]
        self.near(exchange["hidden_ns"]["fused"], max(fused, exchange["time_ns"]), 1e-9)
        self.near(exchange["exposed_ns"]["fused"], fused + exchange["time_ns"], 1e-9)
        self.near(ranks[0]["fused"]["samples_per_s"], 8e9 / exchange["hidden_ns"]["fused"], 1e-9)
        self.assertEqual(ranks[0]["memory_bytes"], one[0]["memory_bytes"])
        slow = self.steps(path, "--gpu", "H100", "--ranks", "data=8", "--link", "1")[0]["exchange"]
        self.near(slow["time_ns"], exchange["bus_bytes"], 1e-9)
        self.assertEqual(slow["hidden_ns"]["fused"], slow["time_ns"])
        # Without gradients there is nothing to exchange.
        (alone, _), (eight, _) = self.steps(RESNET, "--gpu", "T4"), self.steps(RESNET, "--gpu", "T4", "--ranks", "data=8")
        self.near(eight["fused"]["samples_per_s"], 8 * alone["fused"]["samples_per_s"], 1e-9)

    def test_ranks_that_divide_the_model_gather_it(self):
        path, size = self.trained()
        one, ranks = self.steps(path, "--gpu", "H100")[0], self.steps(path, "--gpu", "H100", "--ranks", "shard=4")[0]
        self.near(ranks["exchange"]["bus_bytes"], 3 / 4 * 3 * size, 1e-9)
        largest = 2 * 512 * 512 * 9  # layer4's 3 x 3
        self.near(ranks["memory_bytes"], one["memory_bytes"] - 3 / 4 * 4 * size + largest, 1e-9)
        # A rank's optimizer has a quarter to do.
        self.near(ranks["fused"]["time_ns"], one["fused"]["time_ns"] - 3 / 4 * 7 * size / 3350, 1e-9)
        inferring = self.steps(RESNET, "--gpu", "H100", "--ranks", "shard=4")[0]["exchange"]
        self.near(inferring["bus_bytes"], 3 / 4 * size, 1e-9)

    def test_a_link_that_is_not_known_makes_no_rate(self):
        path, _ = self.trained()
        for gpu, ranks in (("A100-PCIe-80GB", "data=8"), ("H100", "data=16")):
            step = self.steps(path, "--gpu", gpu, "--ranks", ranks)[0]
            self.assertEqual((step["exchange"]["time_ns"], step["exchange"]["hidden_ns"]["fused"], step["fused"]["samples_per_s"]), (None, None, None))
            self.assertIsNotNone(step["fused"]["time_ns"])
            self.assertIn("whose rate is not known: name it with --link GB/s.\n", self.plan(path, "--gpu", gpu, "--ranks", ranks).stdout)
        out = self.plan(path, "--gpu", "H100", "--ranks", "data=8").stdout
        self.assertIn("H100: 8 ranks exchange 89.4 MB a step over each one's link, 450 GB/s (NVLink, by its data sheet).\n", out)
        self.assertRegex(out, r"(?m)^GPU +batch .*exchange +hidden +exposed")

    def test_what_does_not_fit(self):
        plan = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        plan["runs"][1]["peak_bytes"] = 200e9
        out = self.plan(self.write(plan), "--gpu", "H100,B200").stdout
        self.assertRegex(out, r"(?m)^H100 +256\* +200 GB")
        self.assertIn("*: exceeds the memory of H100, 80.0 GB.\n", out)
        plan["model"]["parameter_bytes"] = 100e9
        self.assertIn("H100: compute-bound at no batch unfused, at no batch fused; no batch fits into 80.0 GB.\n",
                      self.plan(self.write(plan), "--gpu", "H100").stdout)

    def test_unknown_is_not_0(self):
        plan = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        last = plan["runs"][1]["operators"][-1]  # the product
        last.update(flops=None, name="mine")
        out = self.plan(self.write(plan), "--gpu", "H100", "--top", "100").stdout
        self.assertRegex(out, r"(?m)^ResNet/fc +1 +unknown ")
        self.assertRegex(out, r"(?m)^whole model at batch 256 +> 2\.09 T ")
        self.assertRegex(out, r"(?m)^Work is unknown of 1 of 174 operators, which move at least 0\.0\d+ % of the bytes: mine\.$")
        del plan["runs"][0]
        steps = self.json(self.write(plan), "--gpu", "H100")["predictions"]
        self.assertIsNone(steps["gpus"][0]["most_batch_that_fits"])
        self.assertEqual(steps["steps"][0]["operators_unknown"], 1)
        last.update(flops=1, type="fp8")
        out = self.plan(self.write(plan), "--gpu", "V100").stdout
        self.assertIn("V100: no published fp8 peak, so its times are unknown.\n", out)
        step = self.steps("plan.json", "--gpu", "V100")[0]
        self.assertEqual((step["unfused"]["time_ns"], step["unfused"]["samples_per_s"]), (None, None))

    def test_nothing_of_a_file_reaches_the_terminal_as_it_is(self):
        plan = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        red = "\x1b[31mred"
        plan["model"].update(name=red)
        plan["model"]["from"] = red
        plan.update(precision=red, inputs=[red], notes=[red])
        for layer in plan["layers"]:
            layer["path"] = [red, *layer["path"]]
        for operator in plan["runs"][1]["operators"]:
            operator.update(type=red, name=red)
        plan["runs"][1]["operators"][-1]["flops"] = None
        out = self.plan(self.write(plan), "--gpu", "H100").stdout
        self.assertIn("\\x1b[31mred", out)
        self.assertNotIn("\x1b", out)

    def test_a_narrow_terminal_is_told_what_is_left_out(self):
        out = self.plan(RESNET, "--gpu", "H100,H200,B200,A100-80GB,V100").stdout
        self.assertRegex(out, r"Columns left out \(terminal too narrow\): .*fused")

    def test_refusals(self):
        gpu = ("--gpu", "H100")
        for words, says in (
                ((RESNET,), "needs --gpu"), (gpu, "needs MODEL"), ((RESNET, "--gpu", "H9"), "H9"), ((RESNET, "--gpu", ""), "names of GPUs"),
                (("none.json", *gpu), "none.json"), ((RESNET, *gpu, "--input", "float32[1]"), "--input is for models"),
                ((RESNET, *gpu, "--train"), "--train is for models"), ((RESNET, *gpu, "--precision", "fp16"), "--precision is for models"),
                ((RESNET, *gpu, "--past", "3"), "--past is for models"), ((RESNET, *gpu, "--python", "p"), "--python is for models"),
                (("nets:net", *gpu), "--input is missing"), (("nets:net", *gpu, "--input", "f[1]", "--batch", "0"), "--batch takes"),
                (("nets:net", *gpu, "--batch", "8..4"), "--batch takes"), (("nets:net", *gpu, "--batch", "1..65537"), "--batch takes"),
                (("nets:net", *gpu, "--batch", "many"), "--batch takes"), (("nets:net", *gpu, "--batch", ""), "--batch takes"),
                (("nets:net", *gpu, "--efficiency", "compute=0"), "--efficiency takes"),
                (("nets:net", *gpu, "--efficiency", "0.5"), "--efficiency takes"),
                (("nets:net", *gpu, "--efficiency", "l2=0.5"), "--efficiency takes"),
                (("nets:net", *gpu, "--launch", "-1"), "--launch takes"), (("nets:net", *gpu, "--overhead", "inf"), "--overhead takes"),
                (("nets:net", *gpu, "--precision", "int3"), "--precision takes"),
                ((RESNET, *gpu, "--ranks", "tensor=2"), "are not planned"), ((RESNET, *gpu, "--ranks", "data=0"), "--ranks takes"),
                ((RESNET, *gpu, "--ranks", "data=1e3"), "--ranks takes"), ((RESNET, *gpu, "--ranks", "8"), "--ranks takes"),
                ((RESNET, *gpu, "--ranks", "data=8", "--link", "0"), "--link takes"), ((RESNET, *gpu, "--link", "9"), "--link is for several ranks"),
                (("nets:net", *gpu, "--optimizer", "sgd"), "--optimizer is for training"),
                (("nets:net", *gpu, "--train", "--optimizer", "fast"), "--optimizer takes"),
                (("nets:net", *gpu, "--train", "--past", "3"), "--past is for generation"),
                ((RESNET, *gpu, "--json", "no/such.json"), "does not exist"),
                ((self.write({"gable_plan": 2}, "new.json"), *gpu), "is of version 2"),
                ((self.write({"gable_plan": 1}, "empty.json"), *gpu), "is missing")):
            self.assertIn(says, self.refused(*words), words)


@unittest.skipIf(os.environ.get("GABLE_INJECT") == "0", "the Python side is not built")
class Pythons(PlanCase):
    """Which Python is asked, and what becomes of its answer."""
    MODEL = ("nets:net", "--input", "float32[B,8]", "--gpu", "H100")

    def python(self, text, name="python3"):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def on_path(self):
        return {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def test_the_first_python3_of_the_path(self):
        self.python(f'for word; do echo "$word"; done >said\nd=${{3#--descriptor=}}\ncat {RESNET} >/dev/fd/$d\n')
        out = self.plan(*self.MODEL, "--batch", "1..5,16", "--train", "--optimizer", "sgd", "--precision", "bf16", **self.on_path()).stdout
        self.assertIn("[planned] ResNet", out)
        said = (self.folder / "said").read_text(encoding="utf-8").splitlines()
        self.assertEqual(said[:2], ["-m", "gable_profiler._plan"])
        self.assertEqual(said[3:], ["--input=float32[B,8]", "--batch=1,2,4,5,16", "--precision=bf16", "--optimizer=sgd", "--train", "--",
                                    "nets:net"])

    def test_another_one(self):
        other = self.python(f"d=${{3#--descriptor=}}\ncat {RESNET} >/dev/fd/$d\n", "other")
        self.assertIn("[planned] ResNet", self.plan(*self.MODEL, "--python", other).stdout)
        self.assertIn("name one with --python.", self.refused(*self.MODEL, "--python", "./none"))

    def test_one_that_fails(self):
        self.python("kill -9 $$\n")
        done = self.plan(*self.MODEL, code=137, **self.on_path())
        self.assertEqual(done.stderr, "gable: python3 ended with 137 before it had described the model.\n")
        self.python("exit 0\n")
        self.assertIn("What Python has written is no plan: It is not JSON.", self.refused(*self.MODEL, **self.on_path()))

    def test_one_without_torch(self):
        (self.folder / "torch.py").write_text("raise ImportError('there is none')\n", encoding="utf-8")
        self.assertRegex(self.refused(*self.MODEL), r"^gable: \S+ cannot import torch \(ImportError: there is none\): name a Python that "
                                                    r"has it with --python\.\n$")


if __name__ == "__main__":
    unittest.main()
