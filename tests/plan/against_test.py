# SPDX-License-Identifier: Apache-2.0
"""`gable diff PLAN RUN`: a plan and a report with numbers that one can divide in one's head."""
import copy
import json
import subprocess
import unittest

import made_reports
from plan_case import GABLE, PlanCase

GPU = {"name": "Made", "sm_count": 100, "sm_clock_hz": 1e9, "memory_bytes": 80e9, "bytes_per_s": {"dram": made_reports.DRAM},
       "flops_per_s": {"fp32": made_reports.COMPUTE}}


def operator(layer, direction, name, flops, moved, fused, count=1):
    return {"layer": layer, "direction": direction, "name": name, "type": "fp32", "count": count, "flops": flops,
            "read_bytes": moved and moved / 2, "written_bytes": moved and moved / 2, "fused_bytes": fused}


def run_of(batch, scale=1.0):
    """conv takes 100 us at least, forward, and 200 us backward; relu 50 us, and nothing where it is fused."""
    return {"batch": batch, "asked": True, "tokens_per_sample": None, "input_bytes": 0, "kept_bytes": None, "peak_bytes": 0, "kv_bytes": None,
            "operators": [operator(2, "forward", "convolution", 1e10 * scale, 5e7, 5e7), operator(1, "forward", "relu", 0, 1e8 * scale, 0),
                          operator(2, "backward", "convolution_backward", 2e10 * scale, 1e8, 1e8)]}


def plan(*runs):
    return {"gable_plan": 1, "made_with": {"torch": "2", "python": "3"},
            "model": {"name": "Net", "from": "mine:build", "parameters": 1, "parameter_bytes": 4, "buffer_bytes": 0}, "inputs": ["float32[B,1]"],
            "past_tokens": 0, "precision": None, "training": {"optimizer": "sgd", "trained_parameters": 1, "gradient_bytes": 4, "optimizer_bytes": 0},
            "layers": [{"path": ["Net"], "class": "Net", "parameters": 0}, {"path": ["Net", "relu"], "class": "ReLU", "parameters": 0},
                       {"path": ["Net", "conv"], "class": "Conv2d", "parameters": 1}], "runs": list(runs or [run_of(8)]), "notes": []}


class Against(PlanCase):
    def setUp(self):
        super().setUp()
        self.write(plan(), "plan.json")
        self.write(GPU, "gpu.json")
        self.net = made_reports.net()
        self.write(self.net, "run.json")

    def diff(self, *arguments, code=0):
        done = subprocess.run([GABLE, "diff", *map(str, arguments)], cwd=self.folder, timeout=60, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def numbers(self, *arguments):
        return json.loads(self.diff(*arguments, "--json", "-").stdout)

    def rows(self, *arguments):
        return {(row["layer"], row["direction"]): row for row in self.numbers(*arguments)["layers"]}

    def test_numbers(self):
        rows = self.rows("plan.json", "run.json", "--gpu", "gpu.json")
        conv, back, relu = rows[("Net/conv", "forward")], rows[("Net/conv", "backward")], rows[("Net/relu", "forward")]
        self.assertEqual(conv["planned"], {"flops": 1e10, "unfused_bytes": 5e7, "fused_bytes": 5e7, "unfused_ns": 1e5, "fused_ns": 1e5})
        self.assertEqual(conv["done"], {"time_ns": 4e5, "flops": 1e10, "flops_analytic": None, "dram_bytes": 5e7})
        self.assertEqual((conv["over_ns"], back["over_ns"], relu["over_ns"]), (3e5, 2e5, 5e4))
        self.assertEqual((relu["planned"]["fused_ns"], relu["planned"]["unfused_ns"]), (0, 5e4))
        both = self.numbers("plan.json", "run.json", "--gpu", "gpu.json")
        self.assertEqual([row["over_ns"] for row in both["layers"]], [3e5, 2e5, 5e4])
        self.assertEqual((both["step"]["planned"]["unfused_ns"], both["step"]["planned"]["fused_ns"]), (3.5e5, 3e5))
        self.assertEqual((both["step"]["done"]["time_ns"], both["step"]["wall_ns"], both["batch"]), (9e5, 2e6, 8))
        self.assertEqual(both["run_alone"], [{"layer": "Net/cast", "direction": "forward", "time_ns": 5e4},
                                             {"layer": "Net/secret", "direction": "forward", "time_ns": 5e4}])

    def test_table(self):
        out = self.diff("plan.json", "run.json", "--gpu", "gpu.json").stdout
        lines = out.splitlines()
        self.assertEqual(lines[0], "[planned] Net from mine:build, batch 8, against [playback] python main.py on Made-up GPU (Made)")
        self.assertRegex(out, r"(?m)^Net/conv +for .* 100 us +400 us +300 us +4 x$")
        self.assertRegex(out, r"(?m)^Net/relu +for .* 50\.0 us +100 us +50\.0 us +2 x$")
        self.assertIn("A step: planned are at least 300 us fused and 350 us unfused; the run's takes 2.00 ms (5.71 x of unfused), of which "
                      "these layers' kernels 900 us.\n", out)
        self.assertIn("In the run alone: 100 us in 2 layers: Net/cast (50.0 us), Net/secret (50.0 us).\n", out)
        self.assertLessEqual(max(map(len, lines[1:6])), 100)
        self.assertEqual(out, self.diff("run.json", "plan.json", "--gpu", "gpu.json").stdout)  # a plan is one on either side
        first = self.diff("plan.json", "run.json", "--gpu", "gpu.json", "--sort", "name", "--top", "1").stdout
        self.assertRegex(first, r"(?m)^Net/conv ")
        self.assertNotIn("Net/relu", first)
        self.assertIn("And 2 more (--top).\n", first)

    def test_without_the_gpu_work_is_compared_and_times_are_unknown(self):
        rows = self.rows("plan.json", "run.json")
        self.assertIsNone(rows[("Net/conv", "forward")]["over_ns"])
        self.assertIsNone(rows[("Net/conv", "forward")]["planned"]["unfused_ns"])
        out = self.diff("plan.json", "run.json").stdout
        self.assertIn("The catalogue does not know Made-up GPU, so planned times are unknown: name it, or a file that describes it, with --gpu.\n", out)
        self.assertIn("FLOPs: counted 30.1 G where 30.0 G were planned (1 x).\n", out)
        self.net["devices"][0]["name"] = "NVIDIA H100 80GB HBM3"
        self.net["devices"][0]["sm_count"] = 132
        self.write(self.net, "h100.json")
        self.assertEqual(self.numbers("plan.json", "h100.json")["gpu"], "H100")

    def test_the_batch_with_the_runs_work(self):
        self.write(plan(run_of(4, 0.5), run_of(8), run_of(16, 2)), "three.json")
        self.assertEqual(self.numbers("three.json", "run.json")["batch"], 8)
        for kernel in self.net["kernels"]:
            if kernel["flops"]["total"]:
                kernel["flops"].update(fp32=2.1 * kernel["flops"]["fp32"], total=2.1 * kernel["flops"]["total"])
        self.write(self.net, "twice.json")
        self.assertEqual(self.numbers("three.json", "twice.json")["batch"], 16)
        self.assertEqual(self.numbers("three.json", "twice.json", "--batch", "4")["batch"], 4)
        self.assertIn("has these batches: 4, 8, 16.", self.diff("three.json", "run.json", "--batch", "5", code=2).stderr)
        for kernel in self.net["kernels"]:
            kernel["flops"] = {"fp64": None, "fp32": None, "fp16": None, "tensor": {}, "total": None}
        self.write(self.net, "uncounted.json")
        self.assertIn("name one of 4, 8, 16 with --batch.", self.diff("three.json", "uncounted.json", code=2).stderr)
        self.assertEqual(self.numbers("plan.json", "uncounted.json")["batch"], 8)

    def test_other_work_is_said(self):
        def with_formula(scale):
            net = copy.deepcopy(self.net)
            for layer in net["layers"]:
                if layer["path"] == ["Net", "conv"]:
                    flops = {"forward": 1e10, "backward": 2e10}[layer["direction"]] * scale
                    layer["model"] = {"inputs": None, "outputs": None, "parameters": None, "dtypes": [], "flops_analytic": flops,
                                      "bytes_analytic": None, "types": {"fp32": flops}, "self": {"flops_analytic": flops, "bytes_analytic": None,
                                      "types": {"fp32": flops}}, "operators": 1, "coverage": {"flops": 1, "bytes": None}, "flops_ratio": None,
                                      "bytes_ratio": None, "intensity": None, "flops_per_s": None, "bytes_per_s": None, "saving_ns": None,
                                      "roof": made_reports.roof(), "allocated_bytes": None}
            return self.write(net, "formula.json")
        self.assertNotIn("Planned and done work differ", self.diff("plan.json", with_formula(1)).stdout)
        out = self.diff("plan.json", with_formula(3)).stdout
        self.assertIn("by formula 90.0 G where 30.0 G were planned (3 x)", out)
        self.assertIn("Planned and done work differ: another batch, input or model. The times do not belong together.\n", out)

    def test_a_wrapped_model_and_its_optimizer(self):
        document = plan()
        document["layers"].append({"path": ["optimizer"], "class": "", "parameters": 0})
        document["runs"][0]["operators"].append(operator(3, "none", "sgd", 0, 2e7, 2e7))
        for layer in self.net["layers"]:
            if layer["path"]:
                layer["path"] = ["step", "DistributedDataParallel", "module", *layer["path"][1:]]
                layer["depth"] = len(layer["path"])
        self.net["layers"].append(made_reports.layer(7, 0, ["step", "optimizer"], 3e4))
        self.net["kernels"].append(made_reports.kernel(7, "sgd_kernel", 1e6, 2e7, 3e4))
        rows = self.rows(self.write(document, "wrapped_plan.json"), self.write(self.net, "wrapped.json"), "--gpu", "gpu.json")
        self.assertEqual(rows[("optimizer", "none")]["over_ns"], 2e4)
        self.assertEqual(rows[("Net/conv", "forward")]["over_ns"], 3e5)

    def test_what_is_not_found_or_not_known_is_no_number(self):
        document = plan()
        document["layers"].append({"path": ["Net", "secret"], "class": "Mine", "parameters": 0})
        document["layers"].append({"path": ["Net", "gone"], "class": "Mine", "parameters": 0})
        document["runs"][0]["operators"] += [operator(3, "forward", "mine", None, None, None), operator(4, "forward", "mm", 1e9, 1e6, 1e6)]
        self.write(document, "more.json")
        rows = self.rows("more.json", "run.json", "--gpu", "gpu.json")
        secret, gone = rows[("Net/secret", "forward")], rows[("Net/gone", "forward")]
        self.assertEqual((secret["planned"]["flops"], secret["planned"]["unfused_ns"], secret["over_ns"], secret["done"]["time_ns"]),
                         (None, None, None, 5e4))
        self.assertEqual((gone["found"], gone["done"]["time_ns"], gone["over_ns"]), (0, None, None))
        out = self.diff("more.json", "run.json", "--gpu", "gpu.json").stdout
        self.assertIn("In the plan alone: 1 layer without a kernel of its own in the run.\n", out)
        self.assertRegex(out, r"(?m)^Net/gone +for .* - +- +-$")

    def test_where_no_layer_is_the_plans_the_wholes_are_compared(self):
        document = plan()
        for layer in document["layers"]:
            layer["path"] = ["Other", *(name + "x" for name in layer["path"][1:])]
        self.write(document, "other.json")
        self.net["step"]["model_flops"] = 3e10
        root = self.net["layers"][0]
        root["coverage"] = {"time": 1, "flops": 0.5, "bytes": 0.99}
        root["flops"]["total"], root["bytes"]["dram"] = 1.5e10, 2.5e8
        both = self.numbers("other.json", self.write(self.net, "trace.json"), "--gpu", "gpu.json")
        self.assertEqual((both["whole_only"], both["layers"], both["run_alone"]), (True, [], []))
        self.assertEqual(both["step"]["done"], {"time_ns": 1e6, "flops": None, "flops_analytic": 3e10, "dram_bytes": 2.5e8})
        out = self.diff("other.json", "trace.json", "--gpu", "gpu.json").stdout
        self.assertRegex(out, r"(?m)^whole model .* 350 us +1\.00 ms")
        self.assertIn("FLOPs: by formula 30.0 G where 30.0 G were planned (1 x).\n", out)
        self.assertIn("only the wholes are compared.\n", out)
        self.assertFalse(self.numbers("plan.json", "run.json")["whole_only"])

    def test_refusals(self):
        self.net["run"]["unit"] = "run"
        self.write(self.net, "no_steps.json")
        other = plan()
        for layer in other["layers"]:
            layer["path"] = ["Other", *(name + "x" for name in layer["path"][1:])]
        self.write(other, "other.json")
        broken = plan()
        del broken["runs"]
        for arguments, says in ((["plan.json", "no_steps.json"], "A plan is of a step"), (["other.json", "run.json"], "none of the layers of the plan's model"),
                                (["plan.json", "plan.json"], "Both are plans"), (["plan.json", "run.json", "--kernels"], "--kernels is for two reports"),
                                (["plan.json", "run.json", "--html", "o.html"], "--html is for two reports"),
                                (["run.json", "run.json", "--batch", "3"], "--batch is for a plan and a run"),
                                (["plan.json", "run.json", "--gpu", "H100,H200"], "--gpu names the run's GPU: one."),
                                ([self.write(broken, "broken.json"), "run.json"], "\"runs\" is missing"),
                                (["plan.json", "none.json"], "none.json"), (["plan.json", "run.json", "--json", "plan.json"], "is being read")):
            done = self.diff(*arguments, code=2)
            self.assertIn(says, done.stderr, arguments)
            self.assertRegex(done.stderr, r"\Agable: [^\n]*\n\Z")
            self.assertEqual(done.stdout, "")

    def test_nothing_of_a_file_reaches_the_terminal_as_it_is(self):
        red = "\x1b[31mred"
        document = plan()
        document["model"].update({"name": "Net", "from": red})
        document["layers"].append({"path": ["Net", red], "class": red, "parameters": 0})
        document["runs"][0]["operators"].append(operator(3, "forward", red, 1, 1, 1))
        self.net["devices"][0]["name"] = red
        self.net["layers"][5]["path"] = ["Net", red + "2"]
        out = self.diff(self.write(document, "red.json"), self.write(self.net, "red_run.json"), "--gpu", "gpu.json").stdout
        self.assertIn("\\x1b[31mred", out)
        self.assertNotIn("\x1b", out)


if __name__ == "__main__":
    unittest.main()
