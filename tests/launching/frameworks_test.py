# SPDX-License-Identifier: Apache-2.0
"""What docs/frameworks.md shows, as it stands there, around launches of this folder's kernels."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from launchers_test import BUILD, ROOT, machine

PAGE = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
PYTHON, NUMBA = BUILD / "launching" / "bin" / "python", BUILD / "frameworks" / "bin" / "python"
LONG = os.environ.get("GABLE_LONG_TESTS")


def block(language, imports=""):
    """The one block in that language that imports this, or any."""
    found = [text for text in re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE) if imports in text]
    assert len(found) == 1
    return found[0]


class Frameworks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def layers(self, *command):
        done = subprocess.run([BUILD / "bin" / "gable", "profile", "--active", "1", "-o", "report.json", *command], cwd=self.folder,
                              env=machine(str(self.folder), PYTHON), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        return report["run"]["steps"]["border"], {"/".join(row["path"]): row["launches"] for row in report["layers"] if row["time_ns"]["self"]}

    @unittest.skipUnless(PYTHON.exists(), "scripts/setup.sh --launching was not run")
    def test_the_package_nvtx(self):
        command = re.search(r"^    (gable profile .* simulation\.py)$", PAGE, re.MULTILINE).group(1).split()
        option = command[command.index("--step-range") + 1].strip("'")
        (self.folder / "simulation.py").write_text("import sys\nsys.path.insert(0, sys.argv[1])\nimport kernels\ngpu = kernels.Gpu()\n"
                                                    "def launch():\n    gpu.launch('work')\n" + block("python", "launch()"), encoding="utf-8")
        border, layers = self.layers("--step-range", option, "--", PYTHON, "simulation.py", ROOT / "tests" / "launching")
        self.assertEqual((border, layers), ("range", {"step/simulation:forces": 1}))

    @unittest.skipUnless(LONG and NUMBA.exists(), "scripts/setup.sh --frameworks was not run")
    def test_numba(self):
        """It compiles the kernel, loads it as a library of the driver's, and launches it."""
        (self.folder / "simulation.py").write_text(block("python", "numba"), encoding="utf-8")
        border, layers = self.layers("--step-range", "^step$", "--", NUMBA, "-W", "ignore", "simulation.py")
        self.assertEqual((border, layers), ("range", {"step/forces": 1}))
        (kernel,) = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["kernels"]
        self.assertRegex(kernel["name"], r"^__main__::forces\b")
        place = re.search(r"written at `([^`]+)`", PAGE).group(1)
        self.assertEqual(kernel["place"], place)

    def test_the_header(self):
        source = block("c").replace('#include "gable.h"\n', "")
        (self.folder / "program.c").write_text(f"""
#include "gable.h"
int cuInit(unsigned), cuDeviceGet(int*, int), cuDevicePrimaryCtxRetain(void**, int), cuCtxSetCurrent(void*), cuCtxSynchronize(void);
int cuModuleLoadData(void**, const void*), cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
static void* kernel;
static void launch_forces(void) {{ cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, 0, 0, 0); }}
int main(void) {{
  static const char image[] = ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry work() {{ ret; }}\\n";
  void *context, *module;
  int device, steps = 40;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, image);
  cuModuleGetFunction(&kernel, module, "work");
{source}
  cuCtxSynchronize();
  return 0;
}}
""", encoding="utf-8")
        subprocess.run(["cc", "-std=c99", "-o", "program", "program.c", "-I", ROOT / "inject", BUILD / "lib" / "playback" / "libcuda.so.1", "-ldl"],
                       cwd=self.folder, check=True, timeout=120)
        self.assertEqual(self.layers("--", "./program"), ("call", {"forces": 1}))


if __name__ == "__main__":
    unittest.main()
