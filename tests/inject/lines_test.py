# SPDX-License-Identifier: Apache-2.0
"""The report says where kernels are written, where their compiler left lines in the code that the program loads."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["GABLE_BUILD"])
GABLE = BUILD / "bin" / "gable"
RECORDING = pathlib.Path(__file__).resolve().parents[1] / "hazards" / "gpu.jsonl"
PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path=os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin"))
PTX = """.version 8.0
.target sm_80
.address_size 64
.file 1 "{file}"
.visible .entry work(.param .u64 p) {{
  .reg .b64 %a<2>;
  .loc 1 {line} 0
  ld.param.u64 %a1, [p];
  st.global.u32 [%a1], 1;
  ret;
}}
"""
PROGRAM = """
import ctypes, sys
cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
def call(name, *arguments):
    assert getattr(cuda, name)(*arguments) == 0, name
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
for path in sys.argv[1:]:
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), open(path, "rb").read())
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"work")
    for _ in range(40):
        call("cuLaunchKernel", kernel, 8, 1, 1, 64, 1, 1, 0, None, None, None)
print("done")
"""


@unittest.skipUnless(PTXAS, "there is no ptxas here")
class Lines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "main.py").write_text(PROGRAM, encoding="utf-8")

    def code(self, name, file, line, lines=True):
        source, code = self.folder / f"{name}.ptx", self.folder / f"{name}.cubin"
        text = PTX.format(file=file, line=line)
        source.write_text(text if lines else re.sub(r"\.(loc|file) .*", "", text), encoding="utf-8")
        subprocess.run([PTXAS, "--generate-line-info", "-arch=sm_80", source, "-o", code], check=True)
        return code

    def places(self, *codes):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GABLE_", "CUDA_INJ"))}
        done = subprocess.run([GABLE, "profile", "--playback", RECORDING, "-o", "report.json", "--", sys.executable, "main.py", *codes],
                              cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        return {row["place"] for row in report["kernels"] if row["name"] == "work"}

    def test_file_and_line_where_it_begins(self):
        code = self.code("lines", self.folder / "ops" / "kernels.py", 12)
        self.assertEqual(self.places(code), {"ops/kernels.py:12"})
        shown = subprocess.run([GABLE, "report", self.folder / "report.json", "--kernels"], capture_output=True, text=True, check=True,
                               env=dict(os.environ, COLUMNS="160")).stdout
        self.assertRegex(shown, r"(?m)^work .* ops/kernels\.py:12 ")
        self.assertIn("written at", shown)

    def test_code_without_lines_has_no_place(self):
        self.assertEqual(self.places(self.code("plain", "/x/kernels.py", 12, lines=False)), {None})

    def test_kernels_of_one_name_from_two_places_have_none(self):
        first = self.code("first", self.folder / "kernels.py", 12)
        second = self.code("second", self.folder / "kernels.py", 99)
        self.assertEqual(self.places(first, second), {None})

    def test_damaged_code_costs_nothing_but_its_place(self):
        code = self.code("damaged", self.folder / "kernels.py", 12)
        damaged = bytearray(code.read_bytes())
        damaged[0x3e:0x40] = b"\xff\xff"  # where it has its sections' names
        code.write_bytes(damaged)
        self.assertEqual(self.places(code), {None})


if __name__ == "__main__":
    unittest.main()
