# SPDX-License-Identifier: Apache-2.0
"""%load_ext gable in a real Jupyter kernel, with kernels of the playback GPU."""
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from launchers_test import BUILD, ROOT, blocks, machine

PYTHON = BUILD / "launching" / "bin" / "python"
MODEL = f"""
import sys
sys.path[:0] = [{str(ROOT / 'tests' / 'pytorch')!r}, {str(ROOT / 'tests' / 'launching')!r}]
import torch, playback_ops
model = playback_ops.make_launching(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(4, 8)).square().mean().backward()
        optimizer.step()
"""
LOAD, CELL = "%load_ext gable", "%%gable\ntrain(20)"


def pages(outputs):
    """(the page, the table) of each output that has both."""
    return [(html.unescape(re.search(r'srcdoc="([^"]*)"', data["text/html"]).group(1)), data["text/plain"])
            for kind, data in outputs if kind == "data" and "text/html" in data]


def text(outputs, kind):
    return "".join(part for name, part in outputs if name == kind)


@unittest.skipUnless(PYTHON.exists() and (BUILD / "torch").exists(), "scripts/setup.sh --launching and --torch were not run")
class Notebook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def cells(self, *cells, **more):
        environment = machine(str(self.folder), PYTHON) | {"PYTHONPATH": str(BUILD / "lib" / "python"), "HOME": str(self.folder)} | more
        run = subprocess.run([PYTHON, ROOT / "tests" / "launching" / "run_notebook.py"], input=json.dumps(cells), capture_output=True, text=True,
                             env=environment, cwd=self.folder, timeout=300, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def page_of(self, outputs):
        self.assertEqual(len(pages(outputs)), 1, outputs)
        page, table = pages(outputs)[0]
        for name in ("Sequential/0", "Sequential/2"):
            self.assertIn(name, table)
        self.assertTrue(page.startswith("<!doctype html>"), page[:200])
        return page, table

    def test_a_cell_shows_its_page(self):
        """CUDA starts in it, or before it in another cell that is not profiled."""
        for before in ("pass", "train(3)"):
            with self.subTest(before):
                cells = self.cells(LOAD, MODEL, before, CELL + "\nprint('trained')\n6 * 7")
                self.assertEqual(cells[:3], [[], [], []])
                _, table = self.page_of(cells[3])
                self.assertIn("A step: ", table)
                self.assertNotIn("unfinished", table)
                self.assertEqual(text(cells[3], "stdout"), "trained\n")
                self.assertIn(["data", {"text/plain": "42"}], cells[3])

    def test_every_cell_has_a_page_of_its_own(self):
        cells = self.cells(LOAD, MODEL, "%%gable\ntrain(20)", "train(3)", "%%gable --active 1\ntrain(12)", "model = model[2]\ntrain(3)",
                           "%%gable --active 1 -o kept.json\nfor _ in range(12):\n    optimizer.zero_grad()\n"
                           "    model(torch.ones(4, 16)).mean().backward()\n    optimizer.step()")
        first, second = self.page_of(cells[2])[1], self.page_of(cells[4])[1]
        self.assertRegex(first, r"\b3 of \d+ steps seen")
        self.assertRegex(second, r"\b1 of \d+ steps seen")
        ((_, third),) = pages(cells[6])
        self.assertNotIn("Sequential", third)
        self.assertEqual(cells[3], [])
        kept = json.loads((self.folder / "kept.json").read_text(encoding="utf-8"))
        self.assertTrue(kept["run"]["complete"])
        self.assertEqual([row["path"][-1:] for row in kept["layers"] if "Sequential" in row["path"]], [])

    def test_a_program_that_a_cell_starts_is_not_the_cell(self):
        other = "python -B -c 'import sys; sys.path.insert(0, \"" + str(ROOT / "tests" / "launching") + \
            "\"); from kernels import Gpu; gpu = Gpu(); [gpu.launch(\"other\") for _ in range(3000)]; gpu.wait()'"
        cells = self.cells(LOAD, MODEL, f"%%gable\n!{other}", f"%%gable\ntrain(20)\n!{other}")
        self.assertEqual(text(cells[2], "stderr"), "gable: no CUDA kernel launch was seen in this cell, so there is no page.\n", cells[2])
        self.page_of(cells[3])

    def test_what_a_cell_does_wrong_is_its_own(self):
        cells = self.cells(LOAD, MODEL, "%%gable\ntrain(20)\n1 / 0", "%%gable\nx =* 3", "%%gable\n1 + 1", "x = 3\nx", "%%gable --wait long\n1",
                           "%%gable --active 0\n1")
        self.page_of(cells[2])
        error = text(cells[2], "error")
        self.assertTrue(error.startswith("ZeroDivisionError: division by zero\n"), error)
        self.assertNotIn("_notebook.py", error)
        self.assertTrue(text(cells[3], "error").startswith("SyntaxError"), cells[3])
        self.assertEqual(text(cells[4], "stderr"), "gable: no CUDA kernel launch was seen in this cell, so there is no page.\n")
        self.assertIn(["data", {"text/plain": "2"}], cells[4])
        self.assertEqual(cells[5], [["data", {"text/plain": "3"}]])
        self.assertIn("UsageError: argument --wait: invalid int value: 'long'", text(cells[6], "stderr"))
        self.assertIn("UsageError: %%gable: active takes a whole number from 1", text(cells[7], "stderr"))

    def test_it_comes_before_cuda_or_not_at_all(self):
        cells = self.cells(MODEL, "train(1)", LOAD, "%%gable\n1")
        self.assertIn("UsageError: CUDA has started in this kernel, and Gable can only come before: restart the kernel", text(cells[2], "stderr"))
        self.assertIn("%%gable", text(cells[3], "stderr") + text(cells[3], "error"))

    def test_options_of_all_cells(self):
        cells = self.cells(LOAD, "%gable --phases time", MODEL, CELL, "%gable --phases hw", "%gable --no-such-option")
        _, table = self.page_of(cells[3])
        self.assertNotIn("counter windows", table)
        self.assertIn("restart the kernel", text(cells[4], "stderr"))

    def test_a_wrong_option_is_named(self):
        cells = self.cells(LOAD, "%gable --phases sleep")
        self.assertIn("UsageError: --phases", text(cells[1], "stderr"))

    def test_another_tool_stays(self):
        cells = self.cells(LOAD, CUDA_INJECTION64_PATH="/opt/other/libother.so")
        self.assertIn("UsageError: Another tool is to be injected: CUDA_INJECTION64_PATH is /opt/other/libother.so.", text(cells[0], "stderr"))

    def test_the_kernel_ends_in_silence_and_leaves_nothing(self):
        """Also IPython in a terminal, whose standard error is nobody's but the process's."""
        for end in ("train(3)", "get_ipython().run_cell_magic('gable', '', 'train(20)')", "pass"):
            with self.subTest(end):
                (self.folder / "cells.ipy").write_text("\n".join((LOAD, MODEL, end)) + "\n", encoding="utf-8")
                environment = machine(str(self.folder), PYTHON) | {"PYTHONPATH": str(BUILD / "lib" / "python"), "HOME": str(self.folder)}
                run = subprocess.run([PYTHON, "-m", "IPython", "--no-banner", "cells.ipy"], capture_output=True, text=True, env=environment,
                                     cwd=self.folder, timeout=300, check=False)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertEqual("A step:" in run.stdout, "gable" in end, run.stdout)
                self.assertEqual(list(self.folder.glob("gable-notebook-*")), [])

    def test_the_page_of_the_launchers_says_it(self):
        commands = "\n".join(blocks("Jupyter", "python"))
        for part in (LOAD, "%%gable", "%gable --phases time"):
            self.assertIn(part, commands)


if __name__ == "__main__":
    unittest.main()
