# SPDX-License-Identifier: Apache-2.0
"""What Gable knows of a model by formula: programs under `gable profile`, with real PyTorch on the CPU and kernels on the
playback GPU. Expected figures are worked out here, by hand, or published."""
import functools
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "recordings"), HERE]
import gable_run  # noqa: E402
import layers_test  # noqa: E402
from layers_test import GPU, PYTHON, environment_without_gable  # noqa: E402

CASES = ("resnet50", "mixed", "unknown_operators", "apart", "apart_and_failing", "odd_step", "normalized", "pipeline", "turns",
         "many_kinds_of_steps", "own_optimizer", "without_operators", "compiled_optimizer", "subclass", "script", "own_mode",
         "raising_in_description", "gpt", "inference_mode", "shared", "compiled_function", "allocations", "memory", "operators", "warned",
         "backward_on_a_thread_of_pytorchs")
PROGRAM = os.path.join(HERE, "described.py")
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
FLOAT = 4  # bytes


@functools.lru_cache(maxsize=None)
def plain():
    """What the programs print on the playback GPU without Gable, by case."""
    folder = os.path.join(os.environ["GABLE_BUILD"], "lib", "playback")
    environment = dict(environment_without_gable(), LD_LIBRARY_PATH=folder, GABLE_PLAYBACK=GPU)
    printed = {}
    # PyTorch says some warnings in a process's first backward only.
    for cases in ([case for case in CASES if case != "warned"], ["warned"]):
        done = subprocess.run([PYTHON, PROGRAM, *cases], capture_output=True, text=True, timeout=300, env=environment, check=True)
        printed.update((line.split()[0], line) for line in done.stdout.splitlines(keepends=True))
    return printed


def gpu_with(name, *lines):
    """The tests' GPU, and more lines of a recording."""
    path = gable_run.work(name + "-gpu.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(gable_run.read_text(GPU) + "".join(json.dumps(line) + "\n" for line in lines))
    return path


@functools.lru_cache(maxsize=None)
def profiled(case, *options, gpu):
    return gable_run.run_profile(gpu, "model-" + case + "".join(options), *options, "--", PYTHON, PROGRAM, case)


@functools.lru_cache(maxsize=None)
def forbidden_gpu():
    """Its counters are for administrators."""
    return gpu_with("forbidden", {"fault": "no_permission"})


@functools.lru_cache(maxsize=None)
def counting_gpu():
    """Kernels of the case "shared" with work: of "last" more than its formula has, and in backward less."""
    return gpu_with("counted", kernel("forward:inner", 256, 17), kernel("forward:last", 200, 17), kernel("backward:inner", 512, 34),
                    kernel("backward:last", 100, 34), kernel("forward:loss", 0, 1), kernel("backward:loss", 0, 1),
                    kernel("optimizer", 0, 1))


def kernel(name, ffma=None, sectors=None):
    counters = {FFMA: ffma} if ffma is not None else {}
    if sectors is not None:
        counters.update({"dram__sectors_read.sum": sectors, "dram__sectors_write.sum": 0})
    return {"kernel": name, "name": name, "grid": [8, 1, 1], "block": [64, 1, 1], "time_ns": 5000, "counters": counters}


class Model(gable_run.ReportTest):
    def run_case(self, case, *options, gpu=GPU):
        run = profiled(case, *options, gpu=gpu)
        self.assertEqual((run.code, run.out), (0, plain()[case]), "the program's own output, losses and gradients bit by bit")
        self.assertEqual(run.violations, "")
        self.assertIsNotNone(run.report, run.err)
        self.assert_sound(run.report)
        return run

    def report(self, case, *options, gpu=GPU):
        return self.run_case(case, *options, gpu=gpu).report

    def model(self, report, path, direction="forward"):
        model = report.layer(path, direction)["model"]
        self.assertIsNotNone(model, path)
        self.assertEqual(model["sources"], {"flops": "analytic", "bytes": "analytic", "time": "measured"})
        return model

    def work(self, report, path, direction="forward"):
        model = self.model(report, path, direction)
        return model["flops_analytic"], model["bytes_analytic"]

    def assert_not_described(self, report, why):
        self.assertEqual({row["model"] is None for row in report.document["layers"]}, {True})
        notes = [note for note in report.run["notes"] if "operators do is unknown" in note]
        self.assertEqual(len(notes), 1, report.run["notes"])
        self.assertIn(why, notes[0])

    def test_resnet50_has_its_published_figures(self):
        report = self.report("resnet50", "--active", "1")
        whole = self.model(report, ("ResNet",))
        self.assertEqual((whole["flops_analytic"], whole["parameters"]), (8178368512, 25557032))
        self.assertEqual(whole["inputs"], [{"shape": [1, 3, 224, 224], "dtype": "float32"}])
        self.assertEqual(whole["outputs"], [{"shape": [1, 1000], "dtype": "float32"}])
        self.assertEqual((whole["dtypes"], whole["types"]), (["float32"], {"fp32": 8178368512}))
        conv1 = self.model(report, ("ResNet", "conv1"))
        self.assertEqual(conv1["flops_analytic"], 2 * 64 * 3 * 7 * 7 * 112 * 112)
        self.assertEqual(conv1["bytes_analytic"], FLOAT * (3 * 224 * 224 + 64 * 3 * 7 * 7 + 64 * 112 * 112))
        self.assertEqual(conv1["parameters"], 64 * 3 * 7 * 7)
        relu = self.model(report, ("ResNet", "relu"))
        self.assertEqual((relu["flops_analytic"], relu["bytes_analytic"]), (0, FLOAT * 2 * 64 * 112 * 112))
        block = self.model(report, ("ResNet", "layer1", "0"))  # the sum with the shortcut is its own, in place or not
        self.assertIn(block["self"]["bytes_analytic"], (FLOAT * 3 * 256 * 56 * 56,))
        self.assertEqual((block["self"]["flops_analytic"], block["flops_analytic"]),
                         (0, 2 * 56 * 56 * (64 * 64 + 9 * 64 * 64 + 2 * 64 * 256)))
        own = sum(row["model"]["self"]["flops_analytic"] for row in report.document["layers"] if row["model"])
        self.assertEqual(own, 8178368512)

    def operators(self, report, layer, direction, name):
        """Rows by the comment in the line of the program that calls them."""
        ids = {row["id"] for row in report.document["layers"] if ".".join(row["path"]) == layer and row["direction"] == direction}
        with open(PROGRAM, encoding="utf-8") as file:
            lines = file.read().splitlines()
        rows = {}
        for row in report.document["operators"]:
            if row["layer"] not in ids or row["name"] != name:
                continue
            self.assertEqual(row["direction"], direction)
            place = re.fullmatch(r".*described\.py:([0-9]+) in .*", row["place"] or "")
            comment = lines[int(place[1]) - 1].rpartition("  # ")[2] if place else None
            rows.setdefault(comment, []).append(row)
        return rows

    def test_operators_have_the_kernels_that_they_launch(self):
        report = self.report("operators", "--stacks")
        gemms = self.operators(report, "Sequential.1", "forward", "mine::gemm")
        (first,), (second,), (other,) = (gemms[comment] for comment in ("first call", "second call", "another shape"))
        self.assertEqual([row["calls"] for row in (first, second, other)], [1, 2, 1])
        self.assertEqual([row["launches"] for row in (first, second, other)], [2, 4, 2])
        self.assertEqual([shape["shape"] for shape in other["inputs"]], [[4, 8], [8, 4]])
        self.assertRegex(first["place"], r"described\.py:[0-9]+ in Gemms\.forward$")
        kernels = report.document["kernels"]
        self.assertEqual({kernels[each["kernel"]]["name"]: each["launches"] for each in second["kernels"]}, {"gemm": 2, "epilogue": 2})
        # All of the layer's calls launch these two kernels, which have one mean each.
        self.assertTrue(first["shared"] and second["shared"] and other["shared"])
        self.assertAlmostEqual(second["time_ns"], 2 * first["time_ns"])
        self.assertAlmostEqual(first["time_ns"] + second["time_ns"] + other["time_ns"],
                               report.layer(("Sequential", "1"), "forward")["time_ns"]["self"])
        back = [row for rows in self.operators(report, "Sequential.1", "backward", "mine::gemm_back").values() for row in rows]
        self.assertEqual(sorted((row["calls"], row["launches"]) for row in back), [(1, 1), (3, 3)])
        # Nobody has a formula for the program's own; PyTorch's have theirs.
        self.assertIsNone(first["flops_analytic"])
        ((product,),) = self.operators(report, "Sequential.0", "forward", "aten::addmm").values()
        self.assertEqual((product["flops_analytic"], product["launches"], product["time_ns"]), (2 * 4 * 8 * 8, 0, None))
        self.assertEqual(product["bytes_analytic"], FLOAT * (8 + 4 * 8 + 8 * 8 + 4 * 8))

    def test_places_are_told_when_they_are_asked_for(self):
        rows = self.report("operators").document["operators"]
        self.assertEqual({row["place"] for row in rows}, {None})
        (gemms,) = (row for row in rows if row["name"] == "mine::gemm" and row["inputs"][1]["shape"] == [8, 8])
        self.assertEqual((gemms["calls"], gemms["launches"]), (3, 6))

    def test_what_layers_allocate(self):
        report = self.report("allocations", "--memory")
        for path, bytes_ in ((("Sequential",), 128 + 64), (("Sequential", "0"), 4 * 4 * 8), (("Sequential", "1"), 4 * 4 * 4)):
            self.assertEqual(self.model(report, path)["allocated_bytes"], bytes_, path)
            self.assertIsNone(self.model(report, path, "backward")["allocated_bytes"])
        unasked = self.report("allocations")
        self.assertIsNone(self.model(unasked, ("Sequential", "0"))["allocated_bytes"])

    def test_an_allocators_statistics_come_first(self):
        memory = self.report("allocations", "--memory").document["memory"]
        self.assertEqual((memory["source"], memory["reserved_bytes"]), ("allocator", 1 << 20))
        self.assertEqual(memory["allocator_peak_bytes"], memory["end"]["bytes"] + 2000)
        first, second = 4 * 4 * 8, 4 * 4 * 4
        self.assertEqual(memory["peak"]["bytes"] - memory["begin"]["bytes"], first + second, "what the modules took")
        self.assertEqual(memory["unexplained_bytes"], memory["peak"]["bytes"] - sum(row["bytes"] for row in memory["held"]))
        self.assertIsNone(self.report("allocations").document["memory"])

    def test_what_holds_memory_byte_by_byte(self):
        run = self.run_case("memory", "--memory")
        self.assertEqual(run.err.count("--memory: PyTorch's caching allocator is not in use here; only the tensors that Gable sees "
                                       "count."), 1)
        report = run.report
        memory, rows = report.document["memory"], {row["id"]: row for row in report.document["layers"]}
        batch, wide, hidden, narrow = 256, 16, 64, 4
        first, last = FLOAT * (wide * hidden + hidden), FLOAT * (hidden * narrow + narrow)
        adam = 2 * (first + last) + 4 * FLOAT  # two averages, and the number of each parameter's steps
        hiddens = FLOAT * batch * hidden
        # Where backward goes through Sigmoid: its result, which it needs, the gradient of that and of its input. The gradients of the last
        # layer are there, and the loss's targets and the sum of its weights, which no module was given.
        expected = {("parameters", "Sequential/0"): first, ("parameters", "Sequential/2"): last, ("gradients", "Sequential/2"): last,
                    ("optimizer_state", ""): adam, ("inputs", "Sequential/0"): FLOAT * batch * wide,
                    ("activations", "Sequential/1"): hiddens, ("backward", "Sequential/1"): hiddens, ("backward", "Sequential/2"): hiddens,
                    ("activations", ""): 8 * batch + FLOAT}
        self.assertEqual({(row["for"], "/".join(row["path"])): row["bytes"] for row in memory["held"]}, expected)
        self.assertEqual((memory["source"], memory["peak"]["bytes"], memory["unexplained_bytes"]), ("tensors", sum(expected.values()), 0))
        peak = memory["peak"]
        self.assertEqual((peak["operator"], rows[peak["layer"]]["path"], rows[peak["layer"]]["direction"]),
                         ("aten::sigmoid_backward", ["Sequential", "1"], "backward"))
        self.assertEqual(memory["begin"]["bytes"], first + last + adam)
        self.assertEqual(memory["end"]["bytes"], 2 * (first + last) + adam + FLOAT * batch * wide + 8 * batch, "gradients and the batch")
        after = {point["operator"]: point["bytes"] for point in memory["timeline"][:9]}
        self.assertEqual(after["aten::sigmoid"] - memory["begin"]["bytes"], FLOAT * batch * wide + 2 * hiddens)
        for row in memory["held"]:
            if row["layer"] is not None:
                self.assertEqual((rows[row["layer"]]["path"], rows[row["layer"]]["direction"]),
                                 (row["path"], "backward" if row["for"] == "backward" else "forward"))
        shown = subprocess.run([os.environ["GABLE_PROGRAM"], "report", gable_run.work("model-memory--memory.json"), "--memory"],
                               capture_output=True, text=True, check=True).stdout
        self.assertIn("16.2 kB when the model begins, 232 kB at most in Sequential/1 (backward), after aten::sigmoid_backward",
                      " ".join(shown.split()))

    def test_a_gpt_block_is_what_its_shapes_say(self):
        report = self.report("gpt", gpu=forbidden_gpu())
        batch, length, width, heads, vocabulary = 2, 16, 32, 4, 64
        rows = batch * length
        product = 2 * batch * heads * length * length * (width // heads)  # one of attention's, masked or not
        block = ("GPT", "transformer", "h", "1")
        qkv = 2 * rows * width * 3 * width
        mlp = 2 * 2 * rows * width * 4 * width
        self.assertEqual(self.work(report, (*block, "attn", "qkv")),
                         (qkv, FLOAT * (rows * width + 3 * width * width + 3 * width + rows * 3 * width)))
        attention = self.model(report, (*block, "attn"))
        self.assertEqual(attention["self"]["flops_analytic"], 2 * product)
        self.assertEqual(attention["flops_analytic"], 2 * product + qkv + 2 * rows * width * width)
        forward = 2 * product + qkv + 2 * rows * width * width + mlp
        self.assertEqual(self.model(report, block)["flops_analytic"], forward)
        self.assertEqual(self.model(report, block)["inputs"], [{"shape": [batch, length, width], "dtype": "float32"}])
        whole = 2 * forward + 2 * rows * width * vocabulary
        self.assertEqual(self.model(report, ("GPT",))["flops_analytic"], whole)
        # A table that is looked up is read where it is looked up.
        self.assertEqual(self.work(report, ("GPT", "transformer", "wte")), (0, 8 * rows + 2 * FLOAT * rows * width))
        # Backward: two products for each, attention computes its scores again.
        backward = self.model(report, block, "backward")
        self.assertEqual(backward["flops_analytic"], 2 * forward + product)
        self.assertEqual((backward["inputs"], backward["parameters"]), (None, None))
        self.assertEqual(self.model(report, ("GPT",), "backward")["flops_analytic"], 2 * whole + 2 * product)
        # What no module runs was not followed.
        self.assertIsNone(report.layer((), "none")["model"])

    def test_layers_called_several_times_are_sums(self):
        report = self.report("shared", gpu=counting_gpu())
        self.assertEqual(self.model(report, ("Tied", "inner"))["flops_analytic"], 4 * 2 * 4 * 8 * 8)
        self.assertEqual(self.model(report, ("Tied", "inner"), "backward")["flops_analytic"], 7 * 2 * 4 * 8 * 8)

    def test_mixed_precision_by_type(self):
        report = self.report("mixed")
        linear = self.model(report, ("Sequential", "1"))
        self.assertEqual(linear["types"], {"bf16": 2 * 2 * 12 * 8 * 8})
        self.assertEqual(linear["dtypes"], ["float32"])
        self.assertEqual(linear["outputs"], [{"shape": [2, 6, 8], "dtype": "bfloat16"}])
        self.assertEqual(linear["roof"]["source"], "theoretical")

    def test_inference_mode(self):
        report = self.report("inference_mode")
        self.assertEqual(self.work(report, ("Sequential", "0")),
                         (2 * 2 * 4 * 3 * 9 * 36, FLOAT * (2 * 3 * 64 + 4 * 3 * 9 + 4 + 2 * 4 * 36)))
        self.assertEqual(self.model(report, ("Sequential", "2"))["flops_analytic"], 2 * 2 * 20 * 144)
        # Products of tensors of three dimensions are made of others there.
        self.assertEqual(self.work(report, ("Sequential", "4")), (2 * 10 * 4 * 8, FLOAT * (10 * 4 + 4 * 8 + 10 * 8)))
        self.assertEqual(self.model(report, ("Sequential", "5"))["flops_analytic"], 2 * 10 * 8 * 3)

    def test_operators_without_a_formula_are_unknown(self):
        report = self.report("unknown_operators")
        self.assertIsNone(self.model(report, ("Recurrent", "own"))["flops_analytic"])
        self.assertEqual(self.model(report, ("Recurrent", "last"))["flops_analytic"], 2 * 6 * 8 * 4)
        whole = self.model(report, ("Recurrent",))
        self.assertEqual(whole["self"]["flops_analytic"], 2 * 6 * 4 * 8 * (8 + 8), "the LSTM's, which launches no kernel here")
        self.assertEqual(whole["flops_analytic"], 2 * 6 * 8 * 4 + 2 * 6 * 4 * 8 * 16, "what is known of it")
        own, time = report.layer(("Recurrent", "own"))["time_ns"]["total"], report.layer(("Recurrent",))["time_ns"]["total"]
        self.assert_close(whole["coverage"]["flops"], 1 - own / time, "share of the time")
        self.assertIsNone(whole["flops_ratio"])
        self.assertIsNone(whole["flops_per_s"])
        self.assertIsNone(whole["roof"]["fraction"])
        self.assertEqual(whole["roof"]["bound"], "unknown")
        self.assertEqual(self.model(report, ("Recurrent", "last"))["coverage"], {"flops": 1, "bytes": 1})

    def test_what_a_mode_would_change_is_set_apart(self):
        """The rest of backward is known."""
        report = self.report("apart")
        forward = self.model(report, ("Sequential", "1"))["flops_analytic"]
        self.assertEqual(forward, 3 * 6 * 6 * 8 + 2 * 6 * 8 * 6 + 2 * 6 ** 3 / 3 + 2 * 6 * 6)  # distances, a product, factors, a column
        self.assertIsNone(self.model(report, ("Sequential", "1"), "backward")["self"]["flops_analytic"])
        first, last = (self.model(report, ("Sequential", name), "backward")["flops_analytic"] for name in "02")
        self.assertEqual((first, last), (2 * 6 * 8 * 8, 2 * 2 * 6 * 6 * 4))
        whole = self.model(report, ("Sequential",), "backward")
        self.assertEqual(whole["flops_analytic"], first + last)
        self.assertTrue(0 < whole["coverage"]["flops"] < 1, whole["coverage"])

    def test_a_backward_that_fails_while_some_of_it_is_set_apart(self):
        run = self.run_case("apart_and_failing")
        self.assertIn("not now", run.out)

    def test_without_permission_there_is_an_analytic_roofline(self):
        run = self.run_case("gpt", gpu=forbidden_gpu())
        report = run.report
        row = report.layer(("GPT", "transformer", "h", "0", "mlp", "0"))
        roofs = {each["name"]: each["value"] for each in report.document["ceilings"]}
        flops, size = 2 * 32 * 32 * 128, FLOAT * (32 * 32 + 32 * 128 + 128 + 32 * 128)
        seconds = row["time_ns"]["total"] * 1e-9
        self.assertEqual((row["flops"]["total"], row["bytes"]["dram"], row["roof"]["bound"]), (None, None, "unknown"))
        model = row["model"]
        self.assert_close(model["intensity"], flops / size, "intensity")
        self.assert_close(model["flops_per_s"], flops / seconds, "FLOP/s")
        self.assert_close(model["bytes_per_s"], size / seconds, "byte/s")
        least = max(flops / roofs["fp32"], size / roofs["dram"])
        self.assert_close(model["roof"]["fraction"], least / seconds, "fraction")
        self.assert_close(model["saving_ns"], (seconds - least) * 1e9, "saving")
        self.assertEqual((model["roof"]["bound"], model["roof"]["ceiling"]), ("latency", "dram"))
        self.assertEqual((model["flops_ratio"], model["bytes_ratio"]), (None, None))
        # The table is of the same numbers, and says whose they are.
        table = run.err.split("\n")
        head = next(line for line in table if line.startswith("layer"))
        self.assertTrue(head.endswith("work"), head)
        rows = [line for line in table if line.startswith(("GPT", "…"))]
        self.assertEqual({line.split()[-1] for line in rows}, {"analytic"})
        self.assertTrue([line for line in table if line.startswith("analytic: nothing was counted")])
        self.assertLessEqual(max(len(line) for line in table if line.startswith(("layer", "GPT", "analytic"))), 100)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", run.err)

    def test_counted_beside_analytic(self):
        run = self.run_case("shared", gpu=counting_gpu())
        report = run.report
        inner, last = report.layer(("Tied", "inner")), report.layer(("Tied", "last"))
        self.assertEqual(inner["flops"]["total"], 4 * 2 * 256)
        self.assertEqual(inner["model"]["flops_ratio"], 1)
        self.assert_close(inner["model"]["bytes_ratio"], 4 * 17 * 32 / inner["model"]["bytes_analytic"], "bytes")
        self.assert_close(last["model"]["flops_ratio"], 400 / 256, "padded")
        self.assertEqual(report.layer(("Tied", "inner"), "backward")["flops_over_forward"], 2)
        self.assertEqual(report.layer(("Tied", "last"), "backward")["flops_over_forward"], 0.5)
        whole = report.layer(("Tied",), "backward")
        self.assert_close(whole["flops_over_forward"], (4 * 1024 + 200) / (4 * 512 + 400), "the model's backward")
        self.assertIsNone(inner["flops_over_forward"])
        note = [note for note in report.run["notes"] if "operators' formulas" in note]
        self.assertEqual(len(note), 1, report.run["notes"])
        self.assertIn("Tied/last (backward, 0.391 times", note[0])
        self.assertNotIn("analytic", run.err)

    def assert_compared(self, report, whether=True):
        notes = [note for note in report.run["notes"] if "are not compared with counted" in note]
        self.assertEqual(bool(notes), not whether, report.run["notes"])

    def test_a_norm_is_no_algebra_of_matrices(self):
        report = self.report("normalized")
        backward = self.model(report, ("Sequential", "0"), "backward")
        self.assertEqual((backward["flops_analytic"], backward["coverage"]["flops"]), (2 * 6 * 8 * 8, 1))

    def test_a_step_that_is_another_one_is_not_the_only_one_described(self):
        report = self.report("odd_step")
        self.assertEqual(self.model(report, ("Sequential", "0"))["flops_analytic"], 2 * 2 * 8 * 4)
        self.assert_compared(report)
        self.assertEqual(self.model(self.report("odd_step", gpu=forbidden_gpu()), ("Sequential", "0"))["flops_analytic"], 2 * 2 * 8 * 4)

    def test_the_model_that_works_is_described_after_one_that_prepared(self):
        for gpu in (GPU, forbidden_gpu()):
            with self.subTest(gpu=gpu):
                report = self.report("pipeline", gpu=gpu)
                self.assert_compared(report)
                model = self.model(report, ("Sequential", "0"))
                self.assertEqual(model["inputs"], [{"shape": [2, 8], "dtype": "float32"}])
                self.assert_close(model["flops_analytic"], 2 * 2 * 8 * 8, "of either model's step")
                self.assertIsNotNone(self.model(report, ("Sequential", "1")))

    def test_steps_that_take_turns_are_all_described(self):
        report = self.report("turns")
        self.assert_compared(report)
        self.assertEqual(report.run["steps"]["classes"], 2)
        row = report.layer(("Sequential", "1"))
        model = self.model(report, ("Sequential", "1"))  # of every second step
        self.assert_close(model["bytes_analytic"], row["launches"] * FLOAT * 2 * 2 * 8, "a step")

    def test_steps_of_more_kinds_than_are_described_are_compared_with_nothing(self):
        report = self.report("many_kinds_of_steps")
        model = self.model(report, ("Sequential", "0"))
        self.assertEqual(model["flops_analytic"], 2 * 2 * 8 * 4)
        self.assertEqual((model["flops_per_s"], model["roof"]["fraction"]), (None, None))
        self.assert_compared(report, False)
        self.assertNotIn("analytic", report.table)

    def test_training_without_an_optimizer_of_pytorchs(self):
        report = self.report("own_optimizer")
        self.assertEqual((report.run["unit"], report.run["steps"]["border"]), ("step", "forward"))
        self.assertEqual(report.layer(("Sequential", "0"), "backward")["launches"], 1)
        self.assertEqual(self.work(report, ("Sequential", "2"), "backward")[0], 2 * 2 * 2 * 8 * 4)

    def test_the_work_of_a_kernel_that_no_operator_launches_is_unknown(self):
        report = self.report("without_operators")
        self.assertEqual(self.work(report, ("Sequential", "1")), (None, None))
        self.assertEqual(self.work(report, ("Sequential", "0"))[0], 2 * 2 * 8 * 4)
        self.assertEqual(self.work(report, ("Sequential", "2"))[0], 2 * 2 * 4 * 4, "what is exchanged is no work")
        self.assertAlmostEqual(self.model(report, ("Sequential",))["coverage"]["flops"], 2 / 3)
        said = [note for note in report.run["notes"] if "outside of the operators that Gable sees" in note]
        self.assertEqual(len(said), 1)

    def test_training_with_an_optimizer_that_is_compiled(self):
        report = self.report("compiled_optimizer")
        self.assertEqual((report.run["unit"], report.run["steps"]["border"]), ("step", "forward"))
        self.assertEqual(report.layer(("Sequential", "0"), "backward")["launches"], 1)
        if not os.environ.get("GABLE_OLD_TORCH"):  # there it is not described, as it compiles
            self.assertEqual(self.work(report, ("Sequential", "2"), "backward")[0], 2 * 2 * 2 * 8 * 4)

    def generated(self, name, gpu):
        run = gable_run.run_profile(gpu, "model-generate-" + name, "--", PYTHON, layers_test.PROGRAM, "generate")
        self.assertEqual((run.code, run.out, run.violations), (0, layers_test.run_plain("generate"), ""), run.err)
        self.assert_sound(run.report)
        self.assertFalse([note for note in run.report.run["notes"] if "are not compared with counted" in note or "not known" in note])
        return run.report

    def test_prefill_and_decode_are_each_compared_with_their_own_work(self):
        sequences, prompt, width, vocabulary = 2, 8, 32, 64
        counted, sectors = sequences * prompt * width * vocabulary, 100  # of every launch: what prefill has to do
        report = self.generated("counted", gpu_with("generating", kernel("forward:lm_head", counted, sectors)))
        for root, tokens in (("prefill", prompt), ("decode", 1)):
            path = (root, "GPT", "lm_head")
            row, model, rows = report.layer(path), self.model(report, path), sequences * tokens
            self.assertEqual(model["inputs"], [{"shape": [sequences, tokens, width], "dtype": "float32"}])
            size = FLOAT * (rows * width + width * vocabulary + rows * vocabulary)
            # Per step, of which each kind of forward is a share, as everything in the row.
            self.assert_close(model["flops_analytic"], row["launches"] * 2 * rows * width * vocabulary, root)
            self.assert_close(model["bytes_analytic"], row["launches"] * size, root)
            self.assert_close(model["flops_ratio"], prompt / tokens, root)
            self.assert_close(model["bytes_ratio"], sectors * 32 / size, root)
            self.assertIsNotNone(self.model(report, (root, "GPT"))["roof"]["fraction"])

    def test_generation_without_permission_has_both_analytic(self):
        report = self.generated("forbidden", forbidden_gpu())
        for root in ("prefill", "decode"):
            model = self.model(report, (root, "GPT"))
            seconds = report.layer((root, "GPT"))["time_ns"]["total"] * 1e-9
            self.assert_close(model["flops_per_s"], model["flops_analytic"] / seconds, root)
            self.assertIsNotNone(model["roof"]["fraction"])
            self.assertEqual(report.layer((root,), "none")["tokens"]["wall_ns"], 36000)

    def test_what_a_mode_would_disturb_is_left_alone(self):
        cases = [("subclass", "Labelled"), ("script", "script module"), ("own_mode", "a dispatch mode of its own")]
        if os.environ.get("GABLE_OLD_TORCH"):
            cases.append(("compiled_function", "torch.compile"))
        for case, why in cases:
            with self.subTest(case):
                self.assert_not_described(self.report(case), why)

    @unittest.skipIf(os.environ.get("GABLE_OLD_TORCH"), "it does not compile the same while a mode is active")
    def test_a_function_that_another_backend_compiles_is_described_by_its_operators(self):
        report = self.report("compiled_function")
        self.assertEqual(self.work(report, ("Sequential", "0"))[0], 2 * 2 * 8 * 4)

    def test_a_backward_that_no_python_called(self):
        report = self.report("backward_on_a_thread_of_pytorchs", "--active", "1", "--stacks")
        self.assertEqual(self.work(report, ("Sequential", "0"), "backward")[0], 2 * 4 * 8 * 8)
        self.assertEqual(self.work(report, ("Sequential", "2"), "backward")[0], 2 * 2 * 4 * 8 * 4)

    def test_what_a_module_raises_is_the_programs_own(self):
        report = self.report("raising_in_description")
        self.assertEqual(self.model(report, ("Sequential", "0"))["flops_analytic"], 2 * 2 * 2 * 8 * 4)

    def test_warnings_name_the_places_that_they_name_without_gable(self):
        self.assertGreater(plain()["warned"].count(".py:"), 10)
        report = self.report("warned")
        self.assertIsNotNone(self.model(report, ("Sequential", "0"))["flops_analytic"])


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("Skipped: no Python with PyTorch (scripts/setup.sh --torch BUILD makes one, GABLE_TORCH_PYTHON names it).")
        sys.exit(gable_run.SKIPPED)
    unittest.main()
