# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs under `gable profile`, with real PyTorch on the CPU and kernels on the playback GPU."""
import collections
import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "recordings"), HERE]
import gable_run  # noqa: E402

PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
GPU = os.path.join(HERE, "gpu.jsonl")
PROGRAM = os.path.join(HERE, "program.py")
API_CASES = ("own_block", "annotated")
# Those that every test's run is compared with.
PLAIN_CASES = ("resnet", "gpt", "generate", "generate_without_cache", "read_texts", "copies", "shared", "accumulation", "checkpoint",
               "translate", "translate_speech", "translate_by_function", "methods", "functions", "parts", "episodes", "optimizers", "validated_first", "validated_long", "built", "derivatives", "serving", "answering", "without_hash", "custom", "closure", "closure_lbfgs", "functorch", "saved_tensors",
               "checkpoint_reentrant", "checkpoint_all", "backward_thread", "two_models", "no_grad", "inference_mode",
               "gradients_on", "compiled", "compiled_regions", "raising_hooks", "many_models", "odd_names", "workers")


OLD = os.environ.get("GABLE_OLD_TORCH") == "1"


def environment_without_gable():
    dropped = ("GABLE_OPTIONS", "PYTHONPATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    return {name: value for name, value in os.environ.items() if name not in dropped}


@functools.lru_cache(maxsize=None)
def run_plain(*cases):
    folder = os.path.join(os.environ["GABLE_BUILD"], "lib", "playback")
    environment = dict(environment_without_gable(), LD_LIBRARY_PATH=folder, GABLE_PLAYBACK=GPU)
    if set(cases) & set(API_CASES):  # as where Gable is installed by pip
        environment["PYTHONPATH"] = os.path.join(os.environ["GABLE_BUILD"], "lib", "python")
    return subprocess.run([PYTHON, PROGRAM, *cases], capture_output=True, text=True, timeout=900, env=environment, check=True).stdout


@functools.lru_cache(maxsize=None)
def plain_outputs(cases):
    """{case: what it prints}. One process loads PyTorch for all of them: loading it takes longer than most of them."""
    parts = re.split(r"^case (\w+)\n", run_plain(*cases), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def plain(case):
    """What the program prints on the playback GPU without Gable. A test of an old PyTorch that cannot do this is skipped."""
    if not OLD:
        return plain_outputs(PLAIN_CASES)[case] if case in PLAIN_CASES else run_plain(case)
    with skipping(case):
        return run_plain(case)


@contextlib.contextmanager
def skipping(what):
    """An old PyTorch may be unable to do it, without Gable."""
    try:
        yield
    except subprocess.CalledProcessError as failed:
        if not OLD:
            raise
        raise unittest.SkipTest(f"{what}: {failed.stderr.strip().splitlines()[-1]}") from failed


@functools.lru_cache(maxsize=None)
def profiled(case, *options):
    run = gable_run.run_profile(GPU, "pytorch-" + case + "".join(options).replace("/", ""), *options, "--", PYTHON, PROGRAM, case)
    if run.code != 0 or run.report is None:
        raise AssertionError(f"{case} ended with {run.code}:\n{run.err}")
    return run


class Layers(gable_run.ReportTest):
    def report(self, case, *options):
        wanted = plain(case)
        run = profiled(case, *options)
        self.assertEqual(run.out, wanted, "the program's own output, losses and gradients bit by bit")
        self.assertEqual(run.violations, "")
        self.assert_sound(run.report)
        return run.report

    def is_described(self, report):
        """PyTorch 2.0 has no formulas, and a note says so."""
        without = [note for note in report.run["notes"] if "has no formulas for it, and 2.1 or newer has" in note]
        return not (OLD and without)

    def places(self, report):
        """{(direction, dotted name or path) of the layer: kernels there}"""
        layers = {row["id"]: row for row in report.document["layers"]}
        found = collections.defaultdict(list)
        for kernel in report.document["kernels"]:
            layer = layers[kernel["layer"]]
            found[layer["direction"], layer["dotted"] or "/".join(layer["path"])].append(kernel)
        return found

    def assert_kernels_at_home(self, report, loss=True):
        """Each kernel's name says the layer that launched it."""
        checked = 0
        for (direction, place), kernels in self.places(report).items():
            for kernel in kernels:
                way, _, tag = kernel["symbol"].partition(":")
                if tag == "loss" or not tag:
                    continue
                self.assertEqual(tag, place, kernel["symbol"])
                self.assertEqual(way, "forward" if direction == "recompute" else direction, kernel["symbol"])
                checked += 1
        self.assertGreater(checked, 0)
        return checked

    def test_resnet(self):
        report = self.report("resnet")
        self.assertEqual(self.assert_kernels_at_home(report), 2 * (53 + 53 + 17 + 1 + 1 + 1))
        self.assertEqual((report.run["unit"], report.run["steps"]["border"]), ("step", "optimizer"))
        # The tree of layers is that of named_modules().
        names = subprocess.run([PYTHON, "-c", "import models; print(*(n for n, _ in models.ResNet(4).named_modules()), sep='\\n')"],
                               capture_output=True, text=True, cwd=HERE, env=environment_without_gable(), check=True).stdout.split("\n")[:-1]
        for direction in ("forward", "backward"):
            paths = {path for path, way in report.layers if way == direction and path[:1] == ("ResNet",)}
            self.assertEqual(paths, {("ResNet", *filter(None, name.split("."))) for name in names}, direction)
        dotted = {row["dotted"] for (path, way), row in report.layers.items() if way == "forward" and len(path) > 1}
        self.assertEqual(dotted, set(filter(None, names)))
        self.assertEqual(report.layer(("ResNet", "layer1", "0", "relu"))["calls"], 3)
        places = self.places(report)
        self.assertEqual([k["symbol"] for k in places["forward", "loss"]], ["forward:loss"])
        self.assertEqual([k["symbol"] for k in places["backward", "loss"]], ["backward:loss"])

    def test_gpt(self):
        report = self.report("gpt")
        self.assert_kernels_at_home(report)
        self.assertIn((("GPT", "transformer", "h", "1", "attn", "qkv"), "backward"), report.layers)

    def test_prefill_and_decode_are_roots_of_their_own(self):
        report = self.report("generate")
        self.assert_kernels_at_home(report)
        roots = {path[0] for path, _ in report.layers if path}
        self.assertEqual(roots, {"prefill", "decode"})
        for root, per_sequence in (("prefill", 8), ("decode", 1)):
            self.assertIn(((root, "GPT", "transformer", "h", "1", "attn", "qkv"), "forward"), report.layers)
            layer = report.layer((root,), "none")
            tokens = layer["tokens"]
            self.assertEqual((tokens["per_sequence"], tokens["per_forward"]), (per_sequence, 2 * per_sequence), root)
            self.assertGreater(tokens["forwards"], 0)
            self.assertEqual((tokens["wall_ns"], tokens["host_ns"]), (36000, 36000))  # 18 launches of 2 us on the host; the kernels are shorter
            self.assertAlmostEqual(tokens["ns_each"] * per_sequence, 36000)
            self.assertAlmostEqual(tokens["per_s"] * tokens["wall_ns"], 2e9 * per_sequence, delta=1)
            self.assertIsNone(report.layer((root, "GPT"))["tokens"])
        # A third of the forwards are prefill, and each launches as often.
        share = report.layer(("prefill",), "none")["launches"] / report.layer((), "none")["launches"]
        self.assertAlmostEqual(share, 1 / 3, delta=0.08)  # of the steps until the queue was complete
        table = profiled("generate").err
        self.assertRegex(table, r"decode: .* a token, .*tokens/s \(2 sequences, \d+ forwards timed\)")
        self.assertRegex(table, r"prefill: .* for 8 tokens, .*tokens/s \(2 sequences, \d+ forwards timed\)")

    def test_generation_without_a_cache(self):
        report = self.report("generate_without_cache")
        self.assert_kernels_at_home(report)
        self.assertEqual(report.layer(("decode",), "none")["tokens"]["per_sequence"], 1)
        self.assertIn((("prefill", "GPT"), "forward"), report.layers)

    def test_an_encoder_and_a_decoder(self):
        for case, tokens in (("translate", 8), ("translate_by_function", 8), ("translate_speech", None)):
            with self.subTest(case):
                report = self.report(case)
                self.assert_kernels_at_home(report)
                below = {root: {path[2] for path, _ in report.layers if path[:2] == (root, "Translating") and len(path) > 2}
                         for root in {path[0] for path, _ in report.layers if path}}
                self.assertEqual(below, {"prefill": {"encoder"}, "decode": {"decoder", "head"}})
                block = report.layer(("prefill", "Translating", "encoder", "1", "attn", "qkv"))
                self.assertEqual(block["dotted"], "encoder.1.attn.qkv")
                read, made = (report.layer((root,), "none")["tokens"] for root in ("prefill", "decode"))
                self.assertEqual((read and read["per_sequence"], made["per_sequence"], made["per_forward"]), (tokens, 1, 2))

    def test_modules_that_a_method_of_the_model_calls(self):
        report = self.report("methods")
        self.assert_kernels_at_home(report)
        self.assertEqual({path[0] for path, _ in report.layers if path} - {"optimizer", "zero_grad"}, {"Comparing", "loss"})
        for way in ("forward", "backward"):
            for side in ("left", "right"):
                self.assertEqual(report.layer(("Comparing", side, "0"), way)["launches"], 1)

    def test_modules_that_a_function_takes_out_of_a_model(self):
        report = self.report("functions")
        self.assert_kernels_at_home(report)
        self.assertEqual({path[0] for path, _ in report.layers if path} - {"optimizer", "zero_grad", "loss"}, {"Comparing"})
        for way in ("forward", "backward"):
            for side in ("left", "right"):
                self.assertEqual(report.layer(("Comparing", side, "0"), way)["launches"], 1)

    def test_forwards_that_wait_and_yield(self):
        report = self.report("answering")
        self.assert_kernels_at_home(report)
        self.assertEqual({path[0] for path, _ in report.layers if path}, {"Answering"})
        # Once to the end, once closed after what was thrown into it, once given up.
        self.assertEqual(report.layer(("Answering", "listening", "first"))["launches"], 3)
        self.assertEqual(report.layer(("Answering", "listening", "second"), "backward")["launches"], 1)

    def test_forwards_that_run_in_pieces(self):
        report = self.report("serving")
        self.assertEqual(self.assert_kernels_at_home(report), 22)
        self.assertEqual({path[0] for path, _ in report.layers if path}, {"Serving"})
        self.assertEqual(report.layer(("Serving", "streaming", "first"))["launches"], 2)
        self.assertEqual(report.layer(("Serving", "waiting", "1", "second"), "backward")["launches"], 1)

    def test_modules_without_a_hash(self):
        report = self.report("without_hash")
        self.assertEqual(self.assert_kernels_at_home(report), 6)
        self.assertFalse([note for note in report.run["notes"] if "unknown: TypeError" in note])
        if self.is_described(report):
            self.assertEqual(report.layer(("Sequential", "0"))["model"]["parameters"], 20)

    def test_functions_with_a_backward_of_their_own(self):
        report = self.report("custom")
        self.assert_kernels_at_home(report)
        self.assertEqual(report.layer(("Sequential", "0"), "backward")["launches"], 4)  # two of its own, one for each module below
        self.assertEqual(report.layer(("Sequential", "0", "inner"), "recompute")["launches"], 1)

    def test_texts_that_are_only_read_are_no_generation(self):
        report = self.report("read_texts")
        self.assert_kernels_at_home(report)
        self.assertEqual({path[0] for path, _ in report.layers if path}, {"GPT"})

    def test_copies_outside_of_modules(self):
        report = self.report("copies")
        layers = {row["id"]: "/".join(row["path"]) for row in report.document["layers"]}
        found = {layers[row["layer"]]: (row["kind"], row["count"], row["bytes"]) for row in report.document["copies"]}
        self.assertEqual(found, {"copies": ("host_to_device", 1, 4096), "Model": ("host_to_device", 1, 512)})
        row = report.layer(("copies",), "none")
        self.assertEqual((row["launches"], row["time_ns"]["total"]), (0, 0))

    def test_recomputed_layers(self):
        # Without reentrance PyTorch stops recomputing as soon as it has what it wants.
        for case, recomputed in (("checkpoint", ("0",)), ("checkpoint_reentrant", ("0", "1"))):
            with self.subTest(case):
                report = self.report(case)
                self.assert_kernels_at_home(report)
                if not self.is_described(report):  # nor did PyTorch 2.0 stop
                    recomputed = ("0", "1")
                self.assertEqual({path for path, way in report.layers if way == "recompute" and len(path) > 2},
                                 {("Tower", "block", name) for name in recomputed})
                for way in ("forward", "recompute", "backward"):
                    self.assertEqual(report.layer(("Tower", "block", "0"), way)["launches"], 1, way)

    def test_a_recomputed_module_is_no_forward_of_its_own(self):
        report = self.report("checkpoint_all")
        self.assert_kernels_at_home(report)
        self.assertEqual((report.run["steps"]["border"], report.run["steps"]["classes"]), ("optimizer", 1))
        self.assertEqual(report.layer(("Tall", "blocks", "5", "0"), "recompute")["launches"], 1)
        # What follows backward, as gradients are clipped, is no loss.
        self.assertIn("optimizer", {kernel["symbol"] for kernel in self.places(report)["none", ""]})

    def test_shared_modules_are_one_layer(self):
        report = self.report("shared")
        self.assert_kernels_at_home(report)
        self.assertEqual(report.layer(("Tied", "inner"))["launches"], 4)
        self.assertEqual(report.layer(("Tied", "inner"), "backward")["launches"], 4)

    def test_accumulated_gradients_are_one_step(self):
        report = self.report("accumulation")
        self.assert_kernels_at_home(report)
        self.assertEqual(report.layer(("Sequential", "0"))["launches"], 3)

    def test_what_a_step_calls_by_parts_or_often_is_one_step(self):
        for case, place, forwards in (("parts", ("Coding", "expand"), 1), ("episodes", ("Sequential", "0"), 7)):
            with self.subTest(case):
                report = self.report(case)
                self.assert_kernels_at_home(report)
                self.assertEqual(report.run["steps"]["border"], "optimizer")
                self.assertEqual(report.layer(place)["launches"], forwards)
                self.assertEqual(report.layer(place, "backward")["launches"], forwards)

    def test_optimizers_that_follow_one_another_end_one_step(self):
        report = self.report("optimizers", "--active", "10")
        self.assert_kernels_at_home(report)
        self.assertEqual(report.run["steps"]["border"], "optimizer")
        for direction in ("forward", "backward"):
            self.assertEqual(report.layer(("Sequential", "1"), direction)["launches"], 1)
        self.assertEqual(report.run["steps"]["classes"], 2)  # in the first round each optimizer ended a step: these do not count
        self.assertAlmostEqual(report.layer(("optimizer",), "none")["launches"], 3, delta=0.1)

    def test_training_that_begins_after_everything_was_measured_is_said(self):
        run = profiled("validated_long", "--active", "1")
        self.assertEqual((run.out, run.violations), (plain("validated_long"), ""))
        self.assertNotIn((("Sequential", "0"), "backward"), run.report.layers)
        for text in (run.err, "\n".join(run.report.run["notes"])):
            self.assertEqual(text.count("The program began to train after everything was measured"), 1, text)

    def test_derivatives_of_derivatives_are_their_layers(self):
        report = self.report("derivatives", "--active", "1")
        places = self.places(report)
        for (direction, place), kernels in places.items():
            for kernel in kernels:
                way, _, tag = kernel["symbol"].partition(":")
                expected = (way, tag) if tag != "afterwards" else (direction, "loss" if direction == "forward" else "")
                self.assertEqual((direction, place), expected, kernel["symbol"])
        launches = {tag: sum(each["launches"] for each in places["backward", tag]) for tag in "012"}
        self.assertEqual(launches, {"0": 6, "1": 2, "2": 1})

    def test_a_module_that_was_called_before_it_was_part_of_a_model(self):
        report = self.report("built", "--active", "1")
        self.assertEqual(report.layer(("Sequential", "0", "part", "0", "0"))["dotted"], "0.part.0.0")

    def test_a_validation_before_training_is_none_of_its_steps(self):
        report = self.report("validated_first", "--active", "1")
        self.assertFalse([note for note in report.run["notes"] if "train" in note])
        self.assert_kernels_at_home(report)
        self.assertEqual((report.run["steps"]["border"], report.run["steps"]["classes"]), ("optimizer", 1))
        for direction in ("forward", "backward"):
            self.assertEqual(report.layer(("Sequential", "0"), direction)["launches"], 1)

    def test_backward_on_another_thread(self):
        self.assert_kernels_at_home(self.report("backward_thread"))

    def test_a_model_that_the_optimizer_runs_is_not_under_it(self):
        for case, forwards in (("closure", 6), ("closure_lbfgs", None)):
            with self.subTest(case):
                report = self.report(case)
                self.assert_kernels_at_home(report)
                self.assertEqual(report.run["steps"]["border"], "optimizer")
                roots = {path[0] for path, _ in report.layers if path}
                self.assertLessEqual({"Sequential", "loss"}, roots)
                self.assertLessEqual(roots, {"Sequential", "loss", "zero_grad", "optimizer"})
                self.assertNotIn("optimizer", {name for path, _ in report.layers for name in path[1:]})
                places = self.places(report)
                self.assertEqual([k["symbol"] for k in places["forward", "loss"]], ["forward:loss"])
                self.assertIn("clip", {k["symbol"] for k in places["none", ""]})
                if forwards is not None:  # all of them in one step
                    self.assertEqual(report.layer(("Sequential", "0"))["launches"], forwards)
                    self.assertEqual([k["symbol"] for k in places["none", "optimizer"]], ["optimizer"])

    def test_a_first_backward_that_is_another_one(self):
        for case in ("functorch", "saved_tensors"):
            with self.subTest(case):
                report = self.report(case)
                self.assert_kernels_at_home(report)
                self.assertIn((("Sequential", "1"), "backward"), report.layers)
                self.assertNotIn("Kernels of backward", profiled(case).err)

    def test_a_layout_of_autograds_that_is_unknown(self):
        """The sentence says what the reason is."""
        for broken, why in (("_NODE_WORDS = 1", "autograd's nodes are not laid out as in the versions that are known"),
                            ("_words = None", "TypeError: 'NoneType' object is not callable")):
            code = (f"import runpy, sys\nfrom gable_profiler import _autograd\n_autograd.{broken}\nsys.path.insert(0, {HERE!r})\n"
                    f"sys.argv = [{PROGRAM!r}, 'shared']\nrunpy.run_path({PROGRAM!r}, run_name='__main__')")
            run = gable_run.run_profile(GPU, "pytorch-layout", "--", PYTHON, "-c", code)
            self.assertEqual((run.code, run.out), (0, plain("shared")), run.err)
            said = [line for line in run.err.split("\n") if "Kernels of backward" in line]
            self.assertEqual(len(said), 1, run.err)
            self.assertRegex(said[0], rf"^gable: Kernels of backward cannot be given to layers with PyTorch .*: {re.escape(why)}\. Those of "
                                      r"forward are\.$")

    def test_several_models(self):
        report = self.report("two_models")
        self.assert_kernels_at_home(report)
        self.assertEqual({path[0] for path, _ in report.layers if path}, {"Generator", "Discriminator"})
        self.assertEqual(report.layer(("Discriminator", "0"))["launches"], 2)

    def test_inference_steps_are_forwards(self):
        for case in ("no_grad", "inference_mode", "gradients_on"):
            with self.subTest(case):
                report = self.report(case)
                self.assert_kernels_at_home(report)
                self.assertEqual((report.run["unit"], report.run["steps"]["border"]), ("step", "forward"))
                self.assertEqual(report.layer(("Sequential", "0"))["launches"], 1)

    def test_compiled_modules_stay_as_they_are(self):
        report = self.report("compiled")  # its output has the graphs, their breaks and recompilations
        self.assertRegex(profiled("compiled").out, r"^\[\d+\] \{\} \{\} ")
        self.assert_kernels_at_home(report)

    def test_compiled_regions_list_their_modules(self):
        report = self.report("compiled_regions")
        self.assertRegex(profiled("compiled_regions").out, r"^\[('?[a-zA-Z0-9, ()']+'?)\] \{\} \{\} ")
        self.assert_kernels_at_home(report)
        found = {}
        for row in report.document["layers"]:
            if row["compiled"] is not None:
                self.assertEqual(row["direction"], "forward")
                inside = [(each["name"], each["class"]) for each in row["compiled"]["modules"]]
                found["/".join(row["path"])] = inside, row["compiled"]["left_out"]
        wide = [("linear", "Linear"), ("unused", "ModuleList"), *((f"unused.{i}", "Identity") for i in range(254))]
        self.assertEqual(found, {
            "Net/block": ([("block.0", "Linear"), ("block.1", "ReLU"), ("block.2", "Sequential"), ("block.2.0", "Linear")], 0),
            "Net/later": ([("later.linear", "Linear"), ("later.tanh", "Tanh")], 0),
            "Net/scaled": ([("scaled.linear", "Linear")], 0),
            "Wide": (wide, 46)})
        for path in found:  # each is one layer
            self.assertFalse([below for below, _ in report.layers if below[:-1] == tuple(path.split("/"))], path)

    def test_hooks_that_raise(self):
        self.assert_kernels_at_home(self.report("raising_hooks"))

    def test_a_thousand_models(self):
        report = self.report("many_models")
        self.assertLess(len(report.document["layers"]), 10)

    def test_odd_names(self):
        report = self.report("odd_names")
        self.assertIn((("Odd", "a/b"), "forward"), report.layers)
        self.assertIn((("Odd", "ünï"), "backward"), report.layers)

    def test_calls_that_go_through_ctypes(self):
        """As on a Python whose functions are laid out differently: the same layers."""
        code = ("import runpy, sys\nfrom gable_profiler import _slot\n_slot._NEEDED = ('PyNo_Such',)\n"
                f"sys.argv = [{PROGRAM!r}, 'shared']\nrunpy.run_path({PROGRAM!r}, run_name='__main__')\n"
                "import torch\ncalled = torch.nn.Module.__call__\n"
                "assert called.__module__ == 'gable_profiler._modules', called")
        run = gable_run.run_profile(GPU, "pytorch-ctypes", "--", PYTHON, "-c", f"import sys\nsys.path.insert(0, {HERE!r})\n" + code)
        self.assertEqual((run.code, run.out, run.violations), (0, plain("shared"), ""), run.err)
        self.assert_kernels_at_home(run.report)
        self.assertEqual(run.report.layer(("Tied", "inner"), "backward")["launches"], 4)

    def test_workers_of_a_data_loader(self):
        report = self.report("workers")
        self.assert_kernels_at_home(report)
        # The program waits for its workers in each step; how long is theirs.
        path, graph = (report.document["step"][part] for part in ("critical_path", "graph"))
        self.assertIsNotNone(path, report.run["notes"])
        self.assertIsNotNone(path["input_ns"])
        self.assertLessEqual(path["input_ns"], path["host_ns"])
        self.assertLessEqual(path["host_ns"], graph["wall_ns"])
        self.assertLessEqual(report.document["step"]["exposed"]["saving_ns"]["input"]["high"], graph["wall_ns"])

    def test_input_that_no_data_loader_fetches_is_unknown(self):
        self.assertIsNone(self.report("resnet").document["step"]["critical_path"]["input_ns"])

    def gpu_that_counts(self, report):
        """The same GPU, with counters for the kernels of that report."""
        path = gable_run.work("counting-gpu.jsonl")
        with open(GPU, encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as file:
            file.write(lines.read())
            for symbol in sorted({kernel["symbol"] for kernel in report.document["kernels"]}):
                line = {"kernel": symbol, "name": symbol, "grid": [8, 1, 1], "block": [256, 1, 1], "time_ns": 5000,
                        "counters": {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1000}}
                file.write(json.dumps(line) + "\n")
        return path

    def test_counters_of_one_block_alone(self):
        gpu = self.gpu_that_counts(self.report("gpt"))
        run = gable_run.run_profile(gpu, "pytorch-block", "--include", "transformer.h.1", "--exclude", "qkv", "--", PYTHON, PROGRAM, "gpt")
        self.assertEqual((run.code, run.out), (0, plain("gpt")))
        places = self.places(run.report)
        counted = {place for (_, place), kernels in places.items() if any(k["flops"]["total"] for k in kernels)}
        every = {place for _, place in places if place.startswith("transformer.h.1.")}
        self.assertIn("transformer.h.1.attn.qkv", every)
        self.assertEqual(counted, every - {"transformer.h.1.attn.qkv"})
        self.assertTrue(all(kernel["time_ns"]["mean"] for kernels in places.values() for kernel in kernels), "times are taken of all")

    def test_blocks_of_the_programs_own(self):
        gpu = self.gpu_that_counts(self.report("gpt"))
        run = gable_run.run_profile(gpu, "pytorch-own", "--", PYTHON, PROGRAM, "own_block")
        self.assertEqual((run.code, run.out, run.violations), (0, plain("own_block"), ""), run.err)
        second = gable_run.Report(gable_run.report_schema.parse(gable_run.read_text(gable_run.work("pytorch-own-2.json"))), run.err)
        qkv = ("GPT", "transformer", "h", "0", "attn", "qkv")
        # The first block says its steps, of two optimizer steps each; in the second they are found.
        for report, border, launches, attention in ((run.report, "call", 2, True), (second, "optimizer", 1, False)):
            self.assert_sound(report)
            self.assert_kernels_at_home(report)
            self.assertEqual((report.run["steps"]["border"], report.run["steps"]["flops"]), (border, 1))
            self.assertEqual(report.layer(qkv)["launches"], launches)
            self.assertNotIn("afterwards", {kernel["symbol"] for kernel in report.document["kernels"]})
            counted = {place for (_, place), kernels in self.places(report).items() if any(k["flops"]["total"] for k in kernels)}
            self.assertTrue(counted)
            self.assertEqual({"attn" in place for place in counted}, {attention})

    def test_chosen_modules_alone_are_layers(self):
        report = self.report("annotated")
        block = ("GPT", "transformer", "h", "1")
        for direction in ("forward", "backward"):
            layers = {path: row for (path, way), row in report.layers.items() if way == direction and row["dotted"]}
            self.assertEqual(set(layers), {block, (*block, "attn", "qkv")}, direction)
            self.assertEqual(layers[block]["dotted"], "transformer.h.1")
            self.assertEqual((layers[block]["launches"], layers[(*block, "attn", "qkv")]["launches"]), (7, 1))

    def test_a_pytorch_that_is_too_old(self):
        folder = gable_run.work("old-torch")
        os.makedirs(os.path.join(folder, "torch"), exist_ok=True)
        with open(os.path.join(folder, "torch", "__init__.py"), "w", encoding="utf-8") as file:
            file.write('__version__ = "1.13.1"\n')
        run = gable_run.run_profile(GPU, "pytorch-old", "--", PYTHON, "-c", "import torch; print(torch.__version__)",
                                    environment={"PYTHONPATH": folder})
        self.assertEqual((run.code, run.out), (0, "1.13.1\n"))
        self.assertEqual(run.err.count("PyTorch 1.13.1 is too old for layers to be named; they need PyTorch 2.0 or newer."), 1)

    def test_bad_arguments_of_a_block(self):
        for arguments in ("active=0", "wait=-1", "repeat=True", "include=3", "exclude=['']", "warmup='2'"):
            code = f"import gable\ntry: gable.profile({arguments})\nexcept (ValueError, TypeError) as problem: print(problem)"
            run = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, timeout=60,
                                 env=dict(environment_without_gable(), PYTHONPATH=os.path.join(os.environ["GABLE_BUILD"], "lib", "python")))
            self.assertRegex(run.stdout, rf"^gable.profile: {arguments.partition('=')[0]} takes .*\.\n$", run.stderr)

    def test_a_pattern_that_matches_no_layer(self):
        run = profiled("shared", "--include", "encoder")
        self.assertEqual(run.out, plain("shared"))
        self.assertIn("--include 'encoder' matches no layer", run.err)

    def test_ranks_under_torchrun(self):
        for case, share in (("ddp", 1), ("fsdp", 1), ("tensor_parallel", 2)):
            with self.subTest(case):
                self.check_ranks(case, share)

    def check_ranks(self, case, share):
        """`share`: so many ranks have a part each of the work of a block's MLP."""
        command = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAM, case]
        folder = os.path.join(os.environ["GABLE_BUILD"], "lib", "playback")
        environment = dict(environment_without_gable(), LD_LIBRARY_PATH=folder, GABLE_PLAYBACK=GPU)
        with skipping(case):
            alone = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=True).stdout
        reports = gable_run.work("ranks-" + case)
        shutil.rmtree(reports, ignore_errors=True)
        os.mkdir(reports)
        done = subprocess.run([os.environ["GABLE_PROGRAM"], "profile", "--playback", GPU, "-o", reports + "/%p.json", "--", *command],
                              capture_output=True, text=True, timeout=300, env=environment_without_gable(), check=False)
        # In the order of their connections.
        printed, wanted = ([line for line in text.splitlines() if not line.startswith("[Gloo] ")] for text in (done.stdout, alone))
        self.assertEqual((done.returncode, printed), (0, wanted), done.stderr)
        ranks = [gable_run.Report(gable_run.report_schema.parse(gable_run.read_text(os.path.join(reports, name))), "")
                 for name in os.listdir(reports)]
        self.assertEqual(sorted(report.run["rank"] for report in ranks), [0, 1])
        for report in ranks:
            self.assert_kernels_at_home(report)
            self.assertIn((("GPT", "transformer", "h", "1", "attn", "qkv"), "backward"), report.layers)
            self.assertEqual({path[0] for path, _ in report.layers if path}, {"GPT"})
            if not self.is_described(report):
                continue
            # Also where ranks divide the parameters: a layer computes with all of them.
            product = report.layer(("GPT", "transformer", "h", "1", "attn", "qkv"), "forward")["model"]
            self.assertIsNotNone(product, report.run["notes"])
            batch, tokens, width = product["inputs"][0]["shape"]
            self.assertEqual(product["flops_analytic"], 2 * batch * tokens * width * 3 * width)
            mlp = report.layer(("GPT", "transformer", "h", "1", "mlp"), "forward")["model"]
            self.assertEqual(mlp["flops_analytic"], 2 * 2 * batch * tokens * width * 4 * width / share)
            self.assertEqual(report.run["unit"], "step")

    def test_layers_off(self):
        report = self.report("shared", "--layers", "off")
        self.assertEqual({path for path, _ in report.layers}, {()})
        self.assertFalse([note for note in report.run["notes"] if "Python side" in note or "have to do" in note])
        self.assertEqual({row["model"] is None for row in report.document["layers"]}, {True})

    def test_a_module_as_the_program_beside_a_sitecustomize_of_its_own(self):
        folder = gable_run.work("own-site")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("import sys\nprint('its own', [name for name in sys.path if 'startup' in name])\n")
        run = gable_run.run_profile(GPU, "pytorch-site", "--", PYTHON, "-m", "program", "shared",
                                    environment={"PYTHONPATH": os.pathsep.join((folder, HERE))})
        self.assertEqual((run.code, run.out), (0, "its own []\n" + plain("shared")), run.err)
        self.assert_kernels_at_home(run.report)

    def test_python_that_ignores_its_environment(self):
        """The library brings the Python side when CUDA starts, which is in the first forward here."""
        run = gable_run.run_profile(GPU, "pytorch-isolated", "--", PYTHON, "-E", PROGRAM, "shared")
        self.assertEqual((run.code, run.out), (0, plain("shared")), run.err)
        self.assert_kernels_at_home(run.report)
        self.assertEqual(set(run.report.layers), set(profiled("shared").report.layers))

    def test_a_process_forked_before_cuda_starts(self):
        self.assert_kernels_at_home(self.report("forked"))

    def test_a_library_without_its_python_side(self):
        folder = gable_run.work("library-alone")
        os.makedirs(folder, exist_ok=True)
        library = shutil.copy(os.path.join(os.environ["GABLE_BUILD"], "lib", "libgable_inject.so"), folder)
        environment = dict(environment_without_gable(), LD_LIBRARY_PATH=os.path.join(os.environ["GABLE_BUILD"], "lib", "playback"),
                           GABLE_PLAYBACK=GPU, CUDA_INJECTION64_PATH=library, GABLE_OPTIONS=f"-o {folder}/alone.json")
        done = subprocess.run([PYTHON, PROGRAM, "shared"], capture_output=True, text=True, timeout=300, env=environment, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, plain("shared")), done.stderr)
        report = gable_run.Report(gable_run.report_schema.parse(gable_run.read_text(os.path.join(folder, "alone.json"))))
        self.assertEqual({path for path, _ in report.layers}, {()})
        self.assertTrue([note for note in report.run["notes"] if re.search("without Gable's Python side.*--target gable_python", note)])


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("Skipped: no Python with PyTorch (scripts/setup.sh --torch BUILD makes one, GABLE_TORCH_PYTHON names it).")
        sys.exit(gable_run.SKIPPED)
    unittest.main()
