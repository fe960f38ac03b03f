# SPDX-License-Identifier: Apache-2.0
"""Pythons that are laid out as others lay them out: a prefix as conda's, with a libstdc++ of its own, and an environment of uv's."""
import os
import shutil
import subprocess
import sys
import sysconfig
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "recordings"))
import gable_run  # noqa: E402

BUILD = os.environ["GABLE_BUILD"]
PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
UV = os.path.join(BUILD, "launching", "bin", "uv")
PROGRAM = os.path.join(HERE, "program.py")
LIBRARY = os.path.join(BUILD, "lib", "libgable_inject.so")


def ask(python, expression):
    return subprocess.run([python, "-c", f"import sys, sysconfig; print({expression})"], capture_output=True, text=True, timeout=60,
                          check=True).stdout.strip()


def prefix_as_condas(folder):
    """Its Python. The program and its libraries are copies, as conda's are, and the standard library's files are links."""
    base, name = ask(PYTHON, "sys.base_prefix"), ask(PYTHON, "'python%d.%d' % sys.version_info[:2]")
    for each in ("bin", "conda-meta", os.path.join("lib", name, "site-packages")):
        os.makedirs(os.path.join(folder, each))
    standard = ask(PYTHON, "sysconfig.get_path('stdlib')")
    for each in os.listdir(standard):
        if each not in ("site-packages", "dist-packages"):
            os.symlink(os.path.join(standard, each), os.path.join(folder, "lib", name, each))
    python = shutil.copy(os.path.realpath(os.path.join(base, "bin", name)), os.path.join(folder, "bin", name))
    os.symlink(name, os.path.join(folder, "bin", "python"))
    of_cpp = subprocess.run(["cc", "-print-file-name=libstdc++.so.6"], capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    for each in (of_cpp, os.path.join(sysconfig.get_config_var("LIBDIR") or "", ask(PYTHON, "sysconfig.get_config_var('INSTSONAME')"))):
        if os.path.isfile(each):
            shutil.copy(each, os.path.join(folder, "lib"))
    with open(os.path.join(folder, "lib", name, "site-packages", "torch.pth"), "w", encoding="utf-8") as file:
        file.write(ask(PYTHON, "sysconfig.get_path('purelib')") + "\n")
    return python


class Layouts(unittest.TestCase):
    def setUp(self):
        self.folder = gable_run.work("layouts-" + self.id().rpartition(".")[2])
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def layers(self, *command, **variables):
        out = os.path.join(self.folder, "report.json")
        if os.path.exists(out):
            os.remove(out)
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "GABLE_OPTIONS", "CUDA_INJECTION64_PATH")}
        environment.update(LD_LIBRARY_PATH=os.path.join(BUILD, "lib", "playback"), GABLE_PLAYBACK=os.path.join(HERE, "gpu.jsonl"),
                           GABLE_OPTIONS=f"-o {out}")
        environment.update(variables)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = gable_run.Report(gable_run.report_schema.parse(gable_run.read_text(out)))
        return {("/".join(path), way) for path, way in report.layers}

    def assert_layers(self, *command, **variables):
        self.assertLessEqual({("Tied/inner", "forward"), ("Tied/inner", "backward"), ("loss", "forward")},
                             self.layers(*command, **variables))

    def test_a_prefix_as_condas(self):
        python = prefix_as_condas(os.path.join(self.folder, "prefix"))
        self.assertEqual(ask(python, "sys.prefix"), os.path.join(self.folder, "prefix"))
        out = os.path.join(self.folder, "report.json")
        self.assert_layers(os.environ["GABLE_PROGRAM"], "profile", "-o", out, "--", python, PROGRAM, "shared")
        self.assert_layers(python, PROGRAM, "shared", LD_PRELOAD=LIBRARY)
        self.assert_layers(python, PROGRAM, "shared", CUDA_INJECTION64_PATH=LIBRARY)

    @unittest.skipUnless(os.path.exists(UV), "scripts/setup.sh --launching BUILD was not run")
    def test_an_environment_of_uvs(self):
        place = os.path.join(self.folder, "environment")
        subprocess.run([UV, "venv", "--quiet", "--offline", "--python", os.path.realpath(PYTHON), place], check=True, timeout=60)
        packages = ask(os.path.join(place, "bin", "python"), "sysconfig.get_path('purelib')")
        with open(os.path.join(packages, "torch.pth"), "w", encoding="utf-8") as file:
            file.write(ask(PYTHON, "sysconfig.get_path('purelib')") + "\n")
        run = (UV, "run", "--quiet", "--offline", "--no-project", "--active", "python", PROGRAM, "shared")
        out = os.path.join(self.folder, "report.json")
        self.assert_layers(os.environ["GABLE_PROGRAM"], "profile", "-o", out, "--", *run, VIRTUAL_ENV=place)
        self.assert_layers(*run, VIRTUAL_ENV=place, LD_PRELOAD=LIBRARY)


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("Skipped: no Python with PyTorch (scripts/setup.sh --torch BUILD makes one, GABLE_TORCH_PYTHON names it).")
        sys.exit(gable_run.SKIPPED)
    unittest.main()
