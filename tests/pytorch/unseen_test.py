# SPDX-License-Identifier: Apache-2.0
"""A program that looks for what Gable does to it finds nothing; and when the queue is complete, nothing is left."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "recordings"), HERE]
import gable_run  # noqa: E402
import layers_test  # noqa: E402
from layers_test import GPU, PYTHON  # noqa: E402

PROGRAM = os.path.join(HERE, "unseen.py")
LEFT_BEHIND = os.path.join(HERE, "left_behind.py")


class OldDynamo(unittest.TestCase):
    """It can leave out single functions only, so that it is told of each."""

    def test_all_code_of_the_python_side_is_left_out(self):
        lines = ("from gable_profiler import _dynamo, _modules", "told = []", "def first(): pass", "_dynamo._skip_package(told.append, first.__code__)",
                 "print(*sorted({code.co_name for code in told}))", "told.clear()", "_dynamo._skip_package(told.append, first.__code__)", "print(len(told))")
        library = os.path.join(os.environ["GABLE_BUILD"], "lib", "python")
        done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=100, check=True,
                              env=dict(os.environ, PYTHONPATH=library))
        names, again = done.stdout.splitlines()
        # A method, a class's __call__, functions within functions, and those of other modules.
        self.assertLessEqual({"first", "_place", "__call__", "open_first", "open_module", "is_wrapper", "modules_below"}, set(names.split()))
        self.assertEqual(again, "1")


class Unseen(gable_run.ReportTest):
    maxDiff = 20000

    def compare(self, case):
        environment = dict(layers_test.environment_without_gable(), GABLE_PLAYBACK=GPU,
                           LD_LIBRARY_PATH=os.path.join(os.environ["GABLE_BUILD"], "lib", "playback"))

        def run_plain():
            with layers_test.skipping(case):
                return subprocess.run([PYTHON, PROGRAM, case], capture_output=True, text=True, timeout=300, env=environment, check=True).stdout
        plain = run_plain()
        run = gable_run.run_profile(GPU, "unseen-" + case, "--", PYTHON, PROGRAM, case)
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        # Archives of an old PyTorch are others each time.
        differ = {i for i, (one, other) in enumerate(zip(plain.splitlines(), run_plain().splitlines())) if one != other} if layers_test.OLD else set()
        self.assertLess(len(differ), 4)
        self.assertEqual([line for i, line in enumerate(run.out.splitlines()) if i not in differ],
                         [line for i, line in enumerate(plain.splitlines()) if i not in differ])
        self.assertTrue(run.report.run["complete"])
        self.assertTrue([path for path, _ in run.report.layers if path == ("Net", "block", "inner")], "its modules are followed")
        return run

    def test_tracebacks_warnings_and_stacks(self):
        run = self.compare("tracebacks")
        for ours in ("gable_profiler", "libgable"):  # a checkout may well be in a folder of that name
            self.assertNotIn(ours, run.out)
        # The same in the step in which operators are looked at.
        self.assertIsNotNone(run.report.layer(("Net",))["model"])

    def test_what_tools_of_pytorch_and_python_make_of_modules(self):
        self.compare("tools")

    def test_what_dynamo_compiles_and_recompiles(self):
        self.compare("compiles")


class LeftBehind(gable_run.ReportTest):
    def left(self, case, *options):
        run = gable_run.run_profile(GPU, "left-" + case, *options, "--", PYTHON, LEFT_BEHIND, case)
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        return run.out.split(), run

    def test_nothing_when_the_queue_is_complete(self):
        self.assertEqual(self.left("nothing")[0], ["True", "True", "False", "True"])

    def test_nothing_below_the_wrapper_of_another_library(self):
        # Of each of the steps and of what is in it.
        self.assertEqual(self.left("wrapped")[0], ["False", "True", "120"])

    def test_a_block_of_the_program_is_followed_again(self):
        out, _ = self.left("block")
        self.assertEqual(out, ["False", "True", "False", "False"])
        self.check_second("block")

    def test_a_further_queue_that_opens_in_the_middle_of_a_forward(self):
        out, _ = self.left("thread")
        self.assertEqual(out, ["False", "True", "True", "False"])
        self.check_second("thread")

    def test_modules_with_a_call_of_their_own_are_layers(self):
        out, run = self.left("own_call")
        self.assertEqual(out, ["False"])
        for name in ("first", "last"):
            layer = run.report.layer(("Model", name))
            self.assertEqual((layer["launches"], layer["calls"]), (1, 1), name)

    def check_second(self, case):
        second = gable_run.Report(gable_run.report_schema.parse(gable_run.read_text(gable_run.work(f"left-{case}-2.json"))))
        self.assertEqual({path[0] for path, _ in second.layers if path}, {"Model"})
        for name in ("first", "last"):
            self.assertEqual(second.layer(("Model", name))["launches"], 1)


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("Skipped: no Python with PyTorch (scripts/setup.sh --torch BUILD makes one, GABLE_TORCH_PYTHON names it).")
        sys.exit(gable_run.SKIPPED)
    unittest.main(verbosity=2)
