# SPDX-License-Identifier: Apache-2.0
"""CUDA is found in every layout it comes in, and a machine without it is told the ways out: cuda_layouts_test.py ROOT CMAKE.

The trees are made up: only the names of files matter here."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, CMAKE = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
FINDER = ROOT / "scripts" / "cmake" / "GableCudaHeaders.cmake"
CUDA = ["cuda.h", "cuda_runtime_api.h"]
CRT, CUPTI, NVTX = ["crt/host_defines.h"], ["cupti.h", "cupti_range_profiler.h"], ["nvtx3/nvToolsExt.h"]
ALL = CUDA + CRT + CUPTI + NVTX
# Name: ({folder below the root: headers}, where CUPTI's are found, where libcupti lies).
LAYOUTS = {
    "NVIDIA's": ({"include": ALL}, "include", "lib64/libcupti.so.13"),
    "NVIDIA's with CUPTI apart": ({"include": CUDA + CRT + NVTX, "extras/CUPTI/include": CUPTI}, "extras/CUPTI/include",
                                  "extras/CUPTI/lib64/libcupti.so.12"),
    "NVIDIA's by target": ({"targets/x86_64-linux/include": ALL}, "targets/x86_64-linux/include",
                           "targets/x86_64-linux/lib/libcupti.so.13"),
    "Debian's and Ubuntu's": ({"include": ALL}, "include", "lib/x86_64-linux-gnu/libcupti.so.12"),
    "wheels of CUDA 13": ({"cu13/include": ALL}, "cu13/include", "cu13/lib/libcupti.so.13"),
    "wheels of CUDA 12": ({"cuda_runtime/include": CUDA, "cuda_nvcc/include": CRT, "cuda_cupti/include": CUPTI,
                           "nvtx/include": NVTX}, "cuda_cupti/include", "cuda_cupti/lib/libcupti.so.12"),
    "wheels below site-packages": ({"nvidia/cu13/include": ALL}, "nvidia/cu13/include", "nvidia/cu13/lib/libcupti.so.13"),
}
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(layouts LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "{modules}")
include(GableCuda)
get_target_property(folders gable_cuda_headers INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "all: ${{folders}}")
"""


def make(root, folders, library=None):
    for folder, headers in folders.items():
        for header in headers:
            path = root / folder / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#define CUPTI_API_VERSION 130001\n", encoding="utf-8")
    if folders and any("cupti.h" in headers for headers in folders.values()):
        folder = next(f for f, headers in folders.items() if "cupti.h" in headers)
        (root / folder / "cupti_version.h").write_text("#define CUPTI_API_VERSION 130001\n", encoding="utf-8")
    if library:
        (root / library).parent.mkdir(parents=True, exist_ok=True)
        (root / library).write_text("", encoding="utf-8")


class Layouts(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.here = pathlib.Path(self.temporary.name).resolve()

    def configure(self, *options):
        source = self.here / "source"
        source.mkdir(exist_ok=True)
        (source / "CMakeLists.txt").write_text(PROJECT.format(modules=ROOT / "scripts" / "cmake"), encoding="utf-8")
        return subprocess.run([CMAKE, "-S", str(source), "-B", str(self.here / "build"), "-DGABLE_CUDA_ONLY_ROOT=ON", *options],
                              capture_output=True, text=True, check=False)

    def test_every_layout_is_found(self):
        for i, (name, (folders, cupti, library)) in enumerate(LAYOUTS.items()):
            with self.subTest(name):
                root = self.here / str(i)
                make(root, folders, library)
                run = self.configure(f"-DGABLE_CUDA_ROOT={root}", "-UGABLE_CUPTI_LIBRARY")
                self.assertEqual(0, run.returncode, run.stderr)
                self.assertIn(f"CUPTI headers: {root / cupti} (API 130001)", run.stdout)
                found = re.search(r"CUPTI library: (.+)", run.stdout).group(1)
                self.assertEqual((root / library).resolve(), pathlib.Path(found).resolve())
                everywhere = re.search(r"all: (.+)", run.stdout).group(1).split(";")
                self.assertEqual({str(root / folder) for folder in folders}, set(everywhere))

    def test_wheels_in_the_build_folder_are_found(self):
        make(self.here / "build" / "cuda-wheels" / "nvidia", {"cu13/include": ALL})
        run = self.configure()
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn("cuda-wheels/nvidia/cu13/include", run.stdout)

    def test_one_whole_toolkit_is_better_than_parts_of_two(self):
        make(self.here / "old", {"include": CUDA + CRT})
        make(self.here / "whole", {"include": ALL})
        run = self.configure(f"-DGABLE_CUDA_ROOT={self.here / 'old'};{self.here / 'whole'}")
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn(f"all: {self.here / 'whole' / 'include'}\n", run.stdout)

    def test_without_cuda_the_ways_out_are_named(self):
        run = self.configure()
        self.assertNotEqual(0, run.returncode)
        said = " ".join(run.stderr.split())
        self.assertIn("missing: cuda.h, cuda_runtime_api.h, crt/host_defines.h, cupti_range_profiler.h, nvtx3/nvToolsExt.h", said)
        for way in ("-DGABLE_CUDA_ROOT=", "scripts/setup.sh --cuda-wheels", "-DGABLE_INJECT=OFF"):
            self.assertIn(way, said)

    def test_a_toolkit_before_12_6_is_not_enough(self):
        make(self.here / "old", {"include": [h for h in ALL if h != "cupti_range_profiler.h"]})
        run = self.configure(f"-DGABLE_CUDA_ROOT={self.here / 'old'}")
        self.assertNotEqual(0, run.returncode)
        self.assertIn("(missing: cupti_range_profiler.h)", " ".join(run.stderr.split()))
        self.assertIn("12.6 or newer", run.stderr)


if __name__ == "__main__":
    unittest.main()
