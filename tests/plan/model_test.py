# SPDX-License-Identifier: Apache-2.0
"""`gable plan` with PyTorch: models of nets.py against figures worked out by hand and published ones, and the worked example of
docs/plan.md as it stands there."""
import argparse
import contextlib
import importlib.machinery
import io
import json
import os
import pathlib
import re
import sys
import unittest

PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
SKIPPED = 77
if not os.access(PYTHON, os.X_OK):
    print("skipped: there is no PyTorch (scripts/setup.sh --torch BUILD)", file=sys.stderr)
    sys.exit(SKIPPED)
if importlib.machinery.PathFinder.find_spec("torch") is None:
    os.execv(PYTHON, [PYTHON, "-W", "ignore", *sys.argv])

import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from plan_case import RESNET, ROOT, PlanCase  # noqa: E402

sys.path[:0] = [str(ROOT / "inject" / "python"), str(pathlib.Path(PYTHON).parents[2] / "torchvision")]
from gable_profiler import _plan  # noqa: E402
from gable_profiler._work import Work  # noqa: E402

PAGE = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
HAS_TORCHVISION = importlib.machinery.PathFinder.find_spec("torchvision") is not None
HIDDEN, INNER, LAYERS, WORDS, TOKENS = 4096, 11008, 32, 32000, 2048  # of Llama-2-7B


def document(function, *inputs, **options):
    """What Python writes for a function of nets.py."""
    values = {"model": "nets:" + function, "input": list(inputs), "batch": None, "train": False, "precision": None, "optimizer": "adamw",
              "past": 0, **options}
    with contextlib.redirect_stdout(io.StringIO()):
        return _plan.plan(torch, argparse.Namespace(**values))


def total(run, field, direction=None):
    return sum(each["count"] * each[field] for each in run["operators"] if direction in (None, each["direction"]))


class Model(PlanCase):
    def wrong(self, function, *inputs, **options):
        with self.assertRaises(_plan.Wrong) as caught:
            document(function, *inputs, **options)
        return str(caught.exception)

    @unittest.skipUnless(HAS_TORCHVISION, "there is no torchvision")
    def test_resnet_trains(self):
        made = document("resnet50", "float32[2,3,224,224]", train=True)
        run = made["runs"][0]
        # Each convolution twice more in backward, but for the gradient of the images.
        self.assertEqual(total(run, "flops"), 2 * 24299077632)
        self.assertEqual({each["type"] for each in run["operators"] if "convolution" in each["name"]}, {"tf32"})  # PyTorch's default
        self.assertEqual(made["training"], {"optimizer": "adamw", "trained_parameters": 25557032, "gradient_bytes": 4 * 25557032,
                                            "optimizer_bytes": 8 * 25557032})
        step = next(each for each in run["operators"] if each["name"] == "adamw")
        self.assertEqual((step["read_bytes"], step["written_bytes"]), (16 * 25557032, 12 * 25557032))
        # A layer's backward is its own.
        layers = {"/".join(each["path"]): place for place, each in enumerate(made["layers"])}
        once = 2 * 2 * 56 * 56 * 64 * 64 * 9
        for direction, times in (("forward", 1), ("backward", 2)):
            self.assertEqual(sum(each["flops"] for each in run["operators"] if each["direction"] == direction and
                                 each["layer"] == layers["ResNet/layer1/1/conv2"]), times * once)
        self.assertGreater(run["peak_bytes"], run["kept_bytes"])
        self.assertEqual([(each["batch"], each["asked"]) for each in made["runs"]], [(2, True), (4, False)])

    @unittest.skipUnless(HAS_TORCHVISION, "there is no torchvision")
    def test_the_plan_that_other_tests_read(self):
        made = document("resnet50", "float32[B,3,224,224]", batch=[1, 256], precision="fp16")
        kept = json.loads(pathlib.Path(RESNET).read_text(encoding="utf-8"))
        self.assertEqual({**made, "made_with": kept["made_with"]}, kept)

    def test_llm_viewer(self):
        """Its A100 and A6000; Llama-2-7B in FP16. Of prefill only what fused attention takes: its 105.9 ms have attention's scores and
        softmax in memory (10.9 ms more), norms and sums, and its last layer lacks the factor 2."""
        linear = LAYERS * (4 * HIDDEN ** 2 + 3 * HIDDEN * INNER)
        for function, tokens, a100, a6000, share in (("llama_decode", 1, 7.01969, 18.6369, 0.005),
                                                     ("llama_prefill", TOKENS, 92.2, 186, 0.005)):
            made = document(function, f"int64[1,{tokens}]", precision="fp16")
            run = made["runs"][0]
            self.assertEqual(total(run, "flops"), 2 * tokens * linear + LAYERS * 4 * tokens * TOKENS * HIDDEN + 2 * HIDDEN * WORDS)
            self.assertEqual(run["kv_bytes"], 2 * LAYERS * HIDDEN * TOKENS * 2)
            self.assertEqual((run["tokens_per_sample"], made["model"]["parameters"]), (tokens, linear + 2 * HIDDEN * WORDS))
            path = self.write(made)
            steps = self.steps(path, "--gpu", "A100-80GB,A6000")
            for step, milliseconds in zip(steps, (a100, a6000)):
                self.near(step["fused"]["time_ns"] * 1e-6, milliseconds, share)
                self.near(step["fused"]["tokens_per_s"], tokens / milliseconds * 1e3, share)
            self.assertIn("K and V 1.07 GB.", self.plan(path, "--gpu", "A100-80GB").stdout)

    def test_heads_that_are_written_out_count_once(self):
        run = document("small_grouped", "int64[3,10]")["runs"][0]
        self.assertEqual(run["kv_bytes"], 2 * 2 * 2 * 8 * 10 * 3 * 4)  # K and V, layers, heads, head, tokens, batch, FP32

    def test_what_runs_and_what_is_planned_do_the_same(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parent))
        import nets
        seen = {"flops": 0, "bytes": 0}

        class Seeing(TorchDispatchMode):
            work = Work(torch, torch.is_tensor)

            def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
                out = operator(*args, **(kwargs or {}))
                done = self.work.of(operator, args, kwargs or {}, out)
                if done is not None:
                    seen["flops"] += done[2]
                    seen["bytes"] += done[3] + done[4]
                return out
        model, x = nets.Small(), torch.randn(6, 8)
        with Seeing():
            out = model(x)
            out.backward(torch.empty_like(out))
        run = document("small", "float32[6,8]", train=True, optimizer="none")["runs"][0]
        self.assertEqual(total(run, "flops"), seen["flops"])
        self.assertEqual(total(run, "read_bytes") + total(run, "written_bytes"), seen["bytes"])

    def test_memory_by_hand(self):
        run = document("small", "float32[6,8]")["runs"][0]
        self.assertEqual(run["peak_bytes"], 6 * (16 + 16) * 4)  # the first layer's result, and what comes of it
        trained = document("small", "float32[6,8]", train=True, optimizer="momentum")
        self.assertEqual(trained["runs"][0]["kept_bytes"], 6 * (16 + 4) * 4)  # relu's result and the model's
        self.assertEqual(trained["training"]["optimizer_bytes"], 4 * 212)
        self.assertEqual(document("small", "float32[6,8]", train=True, optimizer="sgd")["training"]["optimizer_bytes"], 0)

    def test_fused_bytes_by_hand(self):
        run = document("small", "float32[6,8]")["runs"][0]
        rows = {each["name"]: each for each in run["operators"] if each["name"] != "addmm"}
        self.assertEqual((rows["relu"]["fused_bytes"], rows["relu"]["read_bytes"]), (0, 6 * 16 * 4))
        self.assertEqual(total(run, "fused_bytes"), 4 * (6 * (8 + 16 + 16 + 4) + 212))

    def test_inputs(self):
        def shapes(*inputs, **more):
            made = document("small", *inputs, **more)
            return made["inputs"], [(run["batch"], run["input_bytes"]) for run in made["runs"]]
        self.assertEqual(shapes("float32[5,8]"), (["float32[5,8]"], [(5, 160), (10, 320)]))
        self.assertEqual(shapes("float32[5,8]", batch=[1, 3]), (["float32[5,8]"], [(1, 32), (3, 96)]))
        self.assertEqual(shapes("float32[B,8]", "scale=float32[4]", batch=[3, 7])[1], [(3, 112), (7, 240)])
        self.assertEqual(shapes("float32[5,8]", precision="fp16")[1][0], (5, 80))
        self.assertIn("needs --batch", self.wrong("small", "float32[B,8]"))
        for text in ("float32", "float3[1]", "float32[x]", "[1]", "float32[2B]"):
            self.assertIn("--input", self.wrong("small", text), text)

    def test_what_has_no_formula(self):
        run = document("own_operator", "float32[2,8]")["runs"][0]
        own = next(each for each in run["operators"] if each["name"] == "twice")
        self.assertEqual((own["flops"], own["read_bytes"], own["written_bytes"], own["fused_bytes"]), (None, 32, 32, 64))

    def test_errors_are_one_sentence_with_the_place(self):
        def line(text):
            lines = (pathlib.Path(__file__).parent / "nets.py").read_text(encoding="utf-8").splitlines()
            return next(place for place, each in enumerate(lines, 1) if text in each)
        self.assertRegex(self.wrong("throws", "float32[2,8]"),
                         rf"^nets:throws failed: \S*nets\.py:{line('there are no weights')}, in throws: ValueError: there are no weights$")
        self.assertRegex(self.wrong("values", "float32[2,8]"), rf"nets\.py:{line('.item() > 0')}, in forward: .*depend on values")
        self.assertIn("SystemExit: 7", self.wrong("leaves", "float32[2,8]"))
        self.assertIn("must return a torch.nn.Module, not int.", self.wrong("no_module", "float32[2,8]"))
        self.assertIn("nets has no function none.", self.wrong("none", "float32[2,8]"))
        self.assertIn("at batch 3: ", self.wrong("small", "float32[2,9]", batch=[3]))
        self.assertIn("There is no module nowhere ", self.wrong("small", "float32[2,8]", model="nowhere:net"))
        self.assertIn("MODULE:FUNCTION", self.wrong("small", "float32[2,8]", model="nowhere"))
        self.assertIn("Hugging Face", self.wrong("small", "float32[2,8]", past=3))

    def test_a_function_that_looks_at_values(self):
        self.assertIn("built on the CPU", document("values_while_built", "float32[2,8]")["notes"][0])

    def test_the_worked_example(self):
        source = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
        self.write(source, "mymodel.py")
        command = re.search(r"^    gable plan (mymodel:build .*)$", PAGE, re.MULTILINE)[1].replace("'", "").split()
        printed = re.search(r"^    gable plan mymodel:build .*?```\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)[1]
        self.assertEqual(self.plan(*command, "--python", PYTHON).stdout, printed)

    def test_a_users_error_ends_the_command(self):
        self.write("def build():\n    print('here')\n    raise KeyError('x')\n", "mine.py")
        done = self.plan("mine:build", "--input", "float32[1]", "--gpu", "H100", "--python", PYTHON, code=2)
        self.assertEqual((done.stdout, done.stderr), ("", "here\ngable: mine:build failed: mine.py:3, in build: KeyError: 'x'\n"))


if __name__ == "__main__":
    unittest.main()
