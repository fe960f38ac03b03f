# SPDX-License-Identifier: Apache-2.0
"""`pip install .` in a fresh virtual environment, as users without root do it, and what is there afterwards."""
import glob
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ["GABLE_WORK"])
ENVIRONMENT = WORK / "environment"
sys.path.insert(0, str(ROOT / "tests" / "first_contact"))
import machine_with_pytorch as world  # noqa: E402


def clean_environment(**more):
    dropped = ("GABLE_OPTIONS", "PYTHONPATH", "CUDA_HOME", "CUDA_PATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_LIBRARY_PATH")
    return {name: value for name, value in os.environ.items() if name not in dropped} | more


def run(*command, timeout=800, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, check=False, cwd=WORK,
                          env=clean_environment(**more))


def index_answers():
    """Whether pip can reach a package index; without one there is nothing to install from."""
    return run(ENVIRONMENT / "bin" / "python", "-m", "pip", "download", "-q", "--no-deps", "-d", WORK / "probe",
               "scikit-build-core==0.11.6").returncode == 0


def without_toolkits():
    """Words that run a command where no toolkit can be seen; None where this user may not arrange that."""
    folders = [folder for folder in glob.glob("/usr/local/cuda*") if os.path.isdir(folder) and not os.path.islink(folder)]
    hide = "".join(f"mount -t tmpfs none {shlex.quote(folder)} && " for folder in folders) + 'exec "$@"'
    for unshare in (("unshare", "-m"), ("unshare", "-rm")):
        words = (*unshare, "sh", "-c", hide, "sh")
        if shutil.which("unshare") and run(*words, "true").returncode == 0:
            return words
    return None


class InstalledByPip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True, timeout=200)
        if not index_answers():
            raise unittest.SkipTest("no package index can be reached from here")
        # As `pip install .` does it, in two steps: the wheel is installed again below. Debug: it compiles sooner.
        shutil.rmtree(WORK / "wheel", ignore_errors=True)
        for words in (("wheel", "--no-deps", "--config-settings=cmake.build-type=Debug", "-w", WORK / "wheel", ROOT), ("install",)):
            wheels = [f"{wheel}[cupti]" for wheel in (WORK / "wheel").glob("*.whl")]
            done = run(ENVIRONMENT / "bin" / "pip", "-q", "--disable-pip-version-check", *words, *wheels, timeout=3000)
            if done.returncode != 0:
                raise AssertionError(f"pip {words[0]} says:\n{done.stdout}\n{done.stderr}")
        (cls.wheel,) = (WORK / "wheel").glob("gable_profiler-*.whl")
        cls.gable = ENVIRONMENT / "bin" / "gable"

    def profile(self, name):
        report = WORK / (name + ".json")
        report.unlink(missing_ok=True)
        recording = ROOT / "tests/data/recordings/resnet50-train.jsonl"
        done = run(self.gable, "profile", "--playback", recording, "-o", report, "--step-range", "^step$")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, json.loads(report.read_text(encoding="utf-8"))

    def test_the_program_is_there_with_its_version(self):
        done = run(self.gable, "--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        version = run(ENVIRONMENT / "bin" / "python", "-c", "import importlib.metadata as m; print(m.version('gable-profiler'))").stdout
        self.assertIn(version.strip(), done.stdout)

    def test_it_profiles(self):
        _, report = self.profile("resnet")
        self.assertIn(["step", "ResNet", "layer4", "2", "conv2"], [row["path"] for row in report["layers"]])

    def test_its_cupti_is_found_where_there_is_no_toolkit(self):
        words = without_toolkits()
        if words is None:
            self.skipTest("the toolkits of this machine cannot be hidden")
        done = run(*words, self.gable, "doctor", "--chip", "GH100")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (library,) = ENVIRONMENT.glob("lib/python*/site-packages/nvidia/cu13/lib/libcupti.so.13")
        self.assertIn(f"as planned by {library} (CUDA 13.0", " ".join(done.stdout.split()))

    def test_its_library_asks_for_nothing_but_glibc(self):
        library = next(ENVIRONMENT.glob("lib/python*/site-packages/gable_profiler/native/lib/libgable_inject.so"))
        needed = run("readelf", "-d", library).stdout
        self.assertNotIn("libstdc++", needed)
        self.assertNotIn(str(WORK), needed)

    def test_with_the_other_project_of_that_name(self):
        """PyPI's gable has a module and a command of the same names, and overwrites them. Ours are there by their own."""
        pip = (ENVIRONMENT / "bin" / "pip", "--disable-pip-version-check", "-q")
        done = run(*pip, "install", "--no-deps", "gable==0.75.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        python, ours = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "bin" / "gable-profiler"
        self.assertNotEqual(self.gable.read_bytes(), ours.read_bytes())
        recording = ROOT / "tests/data/recordings/resnet50-train.jsonl"
        done = run(ours, "profile", "--playback", recording, "-o", WORK / "beside.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        program = "import gable_profiler as gable\nwith gable.range('a'):\n  gable.step()\nprint('ran')"
        done = run(python, "-c", program)
        self.assertEqual((done.stdout, done.stderr), ("ran\n", ""))
        # What the README says.
        self.assertEqual(run(*pip, "uninstall", "-y", "gable").returncode, 0)
        done = run(*pip, "install", "--force-reinstall", "--no-deps", self.wheel)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(self.gable, "--version").returncode, 0)

    def test_the_module_does_nothing_outside_of_a_profile(self):
        script = "import gable\nwith gable.range('a'):\n  gable.step()\nprint('ran')"
        done = run(ENVIRONMENT / "bin" / "python", "-c", script)
        self.assertEqual((done.stdout, done.stderr), ("ran\n", ""))

    def test_a_program_beside_it_has_its_layers_by_every_way_in(self):
        """PyTorch and Gable in one virtual environment, and the README's command."""
        if world.why_not():
            self.skipTest(world.why_not())
        machine = world.Machine(WORK / "machine", ENVIRONMENT / "bin" / "python")
        (machine.home / "train.py").write_text((world.HERE / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
        native = next(ENVIRONMENT.glob("lib/python*/site-packages/gable_profiler/native"))
        library, program = native / "lib" / "libgable_inject.so", "python train.py --arch resnet50"
        command = f"gable profile -- {program}"
        self.assertIn(f"    pip install .\n    {command}\n", (ROOT / "README.md").read_text(encoding="utf-8"))
        plain = machine.run(program, machine.home, machine.with_gpu(native))
        layers = []
        for way in (command, f"LD_PRELOAD='{library}' {program}", f"CUDA_INJECTION64_PATH='{library}' {program}"):
            with self.subTest(way):
                done = machine.run(way, machine.home, machine.with_gpu(native) | {"GABLE_OPTIONS": "-o report.json"})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(world.same_output(done.stdout), world.same_output(plain.stdout))
                report = world.read_report(machine.home / "report.json")
                self.assertEqual(world.missing_convolutions(report, "forward:Conv2d", "backward:Conv2d"), [])
                (machine.home / "report.json").unlink()
                layers.append(set(world.layers_of(report)))
        self.assertTrue(layers[0] == layers[1] == layers[2])


if __name__ == "__main__":
    unittest.main()
