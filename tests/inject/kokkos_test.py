# SPDX-License-Identifier: Apache-2.0
"""Kokkos' regions and kernels as layers, by its interface for tools."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["GABLE_BUILD"])
PROGRAM = os.environ["GABLE_KOKKOS_PROGRAM"]
RECORDING = pathlib.Path(__file__).resolve().parents[1] / "hazards" / "gpu.jsonl"
TOOL = BUILD / "lib" / "libgable_kokkos.so"
WANTED = {"timestep/force": 1, "timestep/main::{lambda(int, double&)#1}/7NoTag": 1, "timestep/foo::Bar": 1, "timestep/1D": 1, "timestep/Nbody": 1,
          "timestep/deep_copy positions": 1, "timestep/deep_copy": 1}


class Kokkos(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, *words, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GABLE_", "CUDA_INJ", "KOKKOS_"))}
        environment.update(GABLE_PLAYBACK=str(RECORDING), LD_LIBRARY_PATH=str(BUILD / "lib" / "playback"), **variables)
        return subprocess.run([*words, PROGRAM], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False)

    def layers(self):
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        return {"/".join(row["path"]): row["launches"] for row in report["layers"] if row["time_ns"]["self"]}

    def profile(self, *options, **variables):
        return self.run_it(BUILD / "bin" / "gable", "profile", "--playback", RECORDING, "--step-range", "^timestep$", "--active", "1", "-o", "report.json",
                           *options, "--", **variables)

    def test_regions_kernels_and_copies_are_layers(self):
        done = self.profile()
        self.assertEqual((done.returncode, done.stdout), (7, "done, fences 0\n"), done.stderr)
        self.assertEqual(self.layers(), WANTED)

    def test_with_ld_preload_too(self):
        done = self.run_it(KOKKOS_TOOLS_LIBS=str(TOOL), LD_PRELOAD=str(BUILD / "lib" / "libgable_inject.so"), GABLE_OPTIONS="-o report.json --step-range ^timestep$ --active 1")
        self.assertEqual((done.returncode, done.stdout), (7, "done, fences 0\n"), done.stderr)
        self.assertEqual(self.layers(), WANTED)

    def test_a_tool_of_the_users_stays(self):
        for name in ("KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"):
            with self.subTest(name):
                done = self.profile(**{name: "libnosuch.so"})
                # Kokkos reads the older variable itself; the program here does not.
                self.assertEqual(done.returncode, 97 if name == "KOKKOS_TOOLS_LIBS" else 7, done.stderr)
                said = subprocess.run([BUILD / "bin" / "gable", "env"], capture_output=True, text=True, check=True, env={**os.environ, name: "libnosuch.so"}).stdout
                self.assertNotIn("KOKKOS", said)
        said = subprocess.run([BUILD / "bin" / "gable", "env"], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"export KOKKOS_TOOLS_LIBS={TOOL}\n", said)

    def test_without_gable_it_does_nothing(self):
        for variables, fences in (({}, -1), ({"KOKKOS_TOOLS_LIBS": str(TOOL)}, 0)):
            done = self.run_it(**variables)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (7, f"done, fences {fences}\n", ""))

    def test_it_exports_what_kokkos_looks_for_and_needs_nothing(self):
        names = subprocess.run(["nm", "-D", "--defined-only", TOOL], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual({name for name in names if not name.startswith("kokkosp_") and len(name) > 1 and not name.isalnum()}, set())
        needed = subprocess.run(["readelf", "-d", TOOL], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(needed, r"NEEDED.*(stdc|gcc_s|cuda)")


if __name__ == "__main__":
    unittest.main()
