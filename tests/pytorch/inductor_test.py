# SPDX-License-Identifier: Apache-2.0
"""The kernels of regions that Inductor compiles have the layers of the modules that they come from."""
import collections
import functools
import glob
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "recordings"))
import gable_run  # noqa: E402

GPU = os.path.join(HERE, "gpu.jsonl")
PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
PROGRAM = os.path.join(HERE, "inductor.py")
STEPS = "60"
# PyTorch up to 2.8 tells nothing, or not all, of the modules of backward.
OLD = bool(os.environ.get("GABLE_OLD_TORCH"))
LONG = os.environ.get("GABLE_LONG_TESTS") == "1"


def cache(how, used):
    """Each program has a cache of its own: Inductor does not see that it was told to write other functions. `used`: the user has chosen
    that code is taken from it."""
    return {"TORCHINDUCTOR_CACHE_DIR": gable_run.work("inductor-cache-" + how), "TORCHINDUCTOR_COMPILE_THREADS": "1",
            **({"TORCHINDUCTOR_FX_GRAPH_CACHE": "1"} if used else {})}


@functools.lru_cache(maxsize=None)
def plain(how, again=False):
    """`again`: its code is in the cache, which its tracebacks show."""
    dropped = ("GABLE_OPTIONS", "PYTHONPATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment.update(cache(how, used=True), GABLE_PLAYBACK=GPU,
                       LD_LIBRARY_PATH=os.path.join(os.environ["GABLE_BUILD"], "lib", "playback"))
    return subprocess.run([PYTHON, PROGRAM, how, STEPS], capture_output=True, text=True, timeout=600, env=environment, check=True).stdout


class Inductor(gable_run.ReportTest):
    @classmethod
    def setUpClass(cls):
        for how in ("module", "function", "partitions", "block"):
            shutil.rmtree(cache(how, False)["TORCHINDUCTOR_CACHE_DIR"], ignore_errors=True)

    def report(self, how, used=False):
        wanted = ""
        if how in ("module", "block"):
            wanted = plain(how)  # and its code is in the cache, as that of whoever ran it before without Gable
        if used:
            wanted = plain(how, again=True)
        kept = self.kept(how)
        run = gable_run.run_profile(GPU, f"inductor-{how}-{used}", "--stacks", "--", PYTHON, PROGRAM, how, STEPS,
                                    environment=cache(how, used))
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        if wanted:
            self.assertEqual(run.out, wanted, "losses bit by bit, a traceback, what was compiled, and what the program can keep of it")
            if not OLD:
                self.assertTrue(kept)
                self.assertEqual(self.kept(how), kept, "nothing is kept twice")
        self.assertIn("the head fails", run.out)
        self.assertIn("(0, 2)", run.out, "nothing is left in the code that Inductor wrote")
        self.assert_sound(run.report)
        return run.report

    def report_of_tied(self, how):
        shutil.rmtree(cache(how, False)["TORCHINDUCTOR_CACHE_DIR"], ignore_errors=True)
        run = gable_run.run_profile(GPU, "inductor-" + how, "--", PYTHON, PROGRAM, how, STEPS, environment=cache(how, False))
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        return run.report

    def kept(self, how):
        """Compiled graphs in the cache."""
        folder = cache(how, used=True)["TORCHINDUCTOR_CACHE_DIR"]
        return sorted(path for kind in ("fxgraph", "aotautograd") for path in glob.glob(os.path.join(folder, kind, "**"), recursive=True)
                      if os.path.isfile(path))

    def own_kernels(self, report, direction):
        """{path: [what the kernel stands for]} of the layers that launch kernels."""
        paths = {row["id"]: ("/".join(row["path"]), row["direction"]) for row in report.document["layers"]}
        found = collections.defaultdict(list)
        for kernel in report.document["kernels"]:
            path, way = paths[kernel["layer"]]
            if way == direction:
                found[path] += [kernel["symbol"]] * round(kernel["launches"])
        return {path: sorted(kernels) for path, kernels in found.items()}

    def assert_forward(self, report):
        wanted = {}
        for i in range(2):
            block = f"Net/blocks/{i}"
            for part in ("first", "second"):
                wanted[f"{block}/{part}"] = [f"forward:blocks.{i}.{part}"]
                wanted[f"{block}/{part}/linear"] = ["addmm"]
            wanted[f"{block}/act"] = ["fused"]
        wanted.update({"Net/blocks/0/norm": ["fused"], "Net/blocks/0 + 1.norm": ["fused"], "Net/blocks/0 + 1": ["fused"]})
        wanted.update({"Net/head": ["forward:head"], "Net/head/linear": ["addmm"]})
        self.assertEqual(self.own_kernels(report, "forward"), wanted)

    def assert_backward(self, report):
        found = self.own_kernels(report, "backward")
        if OLD:
            for kernels in self.own_kernels(report, "forward").values():
                self.assertFalse([kernel for kernel in kernels if "backward:" in kernel])
            return
        for place in ("blocks.0.first", "blocks.0.second", "blocks.1.first", "blocks.1.second", "head"):
            path = "Net/" + place.replace(".", "/")
            self.assertEqual([each for each in found[path] if each != "fused"], ["backward:" + place])
            self.assertEqual(found[path + "/linear"].count("mm"), 2, "of its input and of its weight")
        self.assertNotIn("Net", found)
        self.assertIn("Net/blocks/0/act + first", found)

    def test_a_compiled_module(self):
        report = self.report("module")
        self.assert_forward(report)
        self.assert_backward(report)
        self.assert_described(report)
        self.assert_operators(report)
        said = [note for note in report.run["notes"] if "compile" in note]
        self.assertIn(["writes code anew" in note for note in said], ([True], []) if OLD else ([True],), said)  # 2.4 keeps nothing unasked
        layers = {"/".join(path): row for (path, way), row in report.layers.items() if way == "forward"}
        for path in ("Net/blocks/0", "Net/blocks/1/first/linear", "Net/head"):
            self.assertEqual(layers[path]["dotted"], path[len("Net/"):].replace("/", "."))
        fused = layers["Net/blocks/0 + 1.norm"]
        each = fused["time_ns"]["self"] / 2
        self.assertEqual(fused["compiled"], {"fused": True, "left_out": 0, "modules": [
            {"name": "blocks.0", "class": "Block", "time_ns": each}, {"name": "blocks.1.norm", "class": "LayerNorm", "time_ns": each}]})
        region = layers["Net"]["compiled"]
        times = {module["name"]: module["time_ns"] for module in region["modules"]}
        self.assertFalse(region["fused"])
        self.assertEqual(times["blocks.0.act"], layers["Net/blocks/0/act"]["time_ns"]["self"])
        self.assertIsNone(times["blocks"], "a list of modules launches nothing")
        self.assert_close(sum(time for time in times.values() if time), layers["Net"]["time_ns"]["total"], "all kernels have a module")

    def assert_model(self, report, path, direction, flops, moved):
        model = report.layers[tuple(path.split("/")), direction]["model"]["self"]
        self.assertEqual((model["flops_analytic"], model["bytes_analytic"]), (flops, moved), path)

    def assert_described(self, report):
        """4 rows of 16 in FP32, so 256 bytes, by 16 x 16 weights."""
        block = "Net/blocks/0"
        product = 2 * 4 * 16 * 16
        self.assert_model(report, block + "/first/linear", "forward", product, 64 + 256 + 1024 + 256)
        self.assert_model(report, block + "/act", "forward", 0, 2 * 256)
        self.assert_model(report, block + "/norm", "forward", 0, 2 * 64 + 256 + 256 + 2 * 16)
        self.assert_model(report, block + "/first", "forward", None, 2 * 256)
        if not OLD:
            self.assert_model(report, block + "/first/linear", "backward", 2 * product, 2 * (256 + 1024 + 256) + 256 + 64)

    def assert_operators(self, report):
        paths = {row["id"]: ("/".join(row["path"]), row["direction"]) for row in report.document["layers"]}
        rows = {(row["name"], *paths[row["layer"]]): row for row in report.document["operators"]}
        inputs = [{"dtype": "float32", "shape": shape} for shape in ([16], [4, 16], [16, 16])]
        self.assertEqual(rows["aten::addmm", "Net/head/linear", "forward"]["inputs"], inputs)
        fused = rows["aten::add + aten::native_layer_norm", "Net/blocks/0 + 1.norm", "forward"]
        self.assertEqual((fused["calls"], fused["launches"]), (1, 1))
        with open(PROGRAM, encoding="utf-8") as program:
            line = 1 + [line.strip() for line in program].index("return x + self.second(self.act(self.first(self.norm(x))))")
        self.assertEqual(fused["place"].rpartition("/")[2], f"inductor.py:{line} in forward")
        self.assertGreater(fused["time_ns"], 0)

    def test_a_block_that_is_compiled_by_itself(self):
        """What is around it is described, too, or the report says that it is not. Modes see one operator for the region."""
        report = self.report("block")
        self.assert_described(report)
        layers = {"/".join(path): row["model"] for (path, way), row in report.layers.items() if way == "forward"}
        said = [note for note in report.run["notes"] if "Layers launch kernels outside of the operators" in note]
        if OLD:
            self.assertIsNone(layers["Net/head"]["self"]["flops_analytic"])
            self.assertLess(layers["Net"]["coverage"]["bytes"], 1)
            self.assertEqual(len(said), 1)
            return
        self.assertEqual(said, [])
        worked = 2 * 256  # of the operator that launches a kernel
        for path in ("Net/blocks/1/first", "Net/blocks/1/second", "Net/head"):
            self.assert_model(report, path, "forward", None, 64 + 256 + 1024 + 256 + worked)
            self.assertEqual(layers[path]["self"]["types"], {"fp32": 2 * 4 * 16 * 16})
        self.assertEqual(layers["Net"]["coverage"]["bytes"], 1)

    def test_a_compiled_function_that_calls_a_model(self):
        """With sizes that Inductor leaves open."""
        report = self.report("function")
        if not OLD:
            self.assert_described(report)
        self.assert_forward(report)
        self.assert_backward(report)

    @unittest.skipIf(OLD, "it tells nothing of backward's modules")
    def test_products_that_backward_adds_up(self):
        """Inductor makes one operator of a product and a sum, and keeps no module for it. The region's code knows its module as args[0]."""
        report = self.report_of_tied("tied")
        own = self.own_kernels(report, "backward")
        self.assertEqual(sorted(kernel for kernels in own.values() for kernel in kernels).count("addmm"), 2, own)
        product = 2 * 4 * 16 * 16
        for part in ("left", "right", "head"):
            path = "Tied", part
            self.assertEqual(report.layers[path, "forward"]["dotted"], part)
            self.assertEqual(report.layers[path, "forward"]["model"]["self"]["flops_analytic"], product, part)
            self.assertEqual(report.layers[path, "backward"]["model"]["self"]["flops_analytic"], 2 * product, part)

    @unittest.skipIf(OLD, "it tells nothing of backward's modules")
    def test_a_kernel_that_adds_the_products_of_two_modules(self):
        report = self.report_of_tied("tied_autotuned")
        both = "Tied/right + left"
        self.assertEqual(self.own_kernels(report, "backward")[both], ["_mm_plus_mm"])
        self.assert_model(report, both, "backward", 2 * 2 * 4 * 16 * 16, None)
        compiled = report.layers[tuple(both.split("/")), "backward"]["compiled"]
        self.assertEqual([module["name"] for module in compiled["modules"]], ["right", "left"])

    @unittest.skipIf(OLD, "it makes no such functions")
    @unittest.skipUnless(LONG, "compiles for a minute: GABLE_LONG_TESTS=1")
    def test_code_in_functions_that_become_cuda_graphs(self):
        report = self.report("partitions")
        self.assert_forward(report)
        self.assert_described(report)
        self.assert_backward(report)

    def test_code_from_the_cache_on_disk(self):
        """As the user has chosen."""
        report = self.report("module", used=True)
        self.assertEqual(list(self.own_kernels(report, "forward")), ["Net"])
        self.assertEqual(list(self.own_kernels(report, "backward")), ["Net"])
        said = [note for note in report.run["notes"] if "had written before" in note]
        self.assertEqual(len(said), 1)
        self.assertIn("Without TORCHINDUCTOR_FX_GRAPH_CACHE=1", said[0])
        self.assertEqual(report.table.count("Without TORCHINDUCTOR_FX_GRAPH_CACHE=1"), 1)
        unknown = "How much work the model's operators do is unknown: the program uses torch.compile, and Gable did not see Inductor write"
        if not OLD:
            unknown = "Layers launch kernels outside of the operators that Gable sees"
        self.assertEqual(len([note for note in report.run["notes"] if note.startswith(unknown)]), 1)
        self.assertIsNone(((report.layers[("Net",), "forward"]["model"] or {}).get("self") or {}).get("flops_analytic"))


if __name__ == "__main__":
    if not PYTHON:
        print("Skipped: no Python with PyTorch (scripts/setup.sh --torch BUILD).")
        sys.exit(gable_run.SKIPPED)
    unittest.main()
