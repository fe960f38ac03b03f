# SPDX-License-Identifier: Apache-2.0
"""The Python side gets into Python programs that were started with one variable and nothing else, wherever and whenever they start
CUDA; what they print and their exit code stay as they are."""
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

BUILD = os.environ["GABLE_BUILD"]
LIBRARY = os.path.join(BUILD, "lib", "libgable_inject.so")
STARTUP = os.path.join(BUILD, "lib", "python", "startup")
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "attach_program.py")
INJECTED, PRELOADED = {"CUDA_INJECTION64_PATH": LIBRARY}, {"LD_PRELOAD": LIBRARY}
SANITIZED = bool(os.environ.get("GABLE_SANITIZE"))
TORCH = """
import ctypes, os
if os.environ.get("TORCH_FAILS"):
    ctypes.CDLL("libcuda.so.1").cuInit(0)
    raise RuntimeError("this import fails")
ctypes.CDLL("libcuda.so.1").cuInit(0)
for i in range(100): pass
__version__ = "1.13"
"""


def version_of(python):
    try:
        done = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True,
                              timeout=60, check=False)
    except OSError:
        return None
    return tuple(map(int, done.stdout.split("."))) if re.fullmatch(r"\d+\.\d+\n", done.stdout) else None


def pythons():
    """{version: path} of every Python that this machine has."""
    paths = [sys.executable, *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")),
             *filter(None, (shutil.which(f"python{version}") for version in ("2", *(f"3.{minor}" for minor in range(6, 16)))))]
    found = {}
    for path in paths:
        version = version_of(path)
        if version is not None:
            found.setdefault(version, path)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "torch"))
        with open(os.path.join(self.folder, "torch", "__init__.py"), "w", encoding="utf-8") as file:
            file.write(TORCH)
        self.marks = os.path.join(self.folder, "marks")

    def run_here(self, command, **variables):
        """(exit code, standard output, standard error, what stands in the marks)"""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_", "PYTHON"))}
        environment.update(LD_LIBRARY_PATH=os.path.join(BUILD, "lib", "playback"), PYTHONDONTWRITEBYTECODE="1",
                           GABLE_PLAYBACK=os.path.join(HERE, "..", "pytorch", "gpu.jsonl"), ATTACH_MARK=self.marks)
        environment.update(variables)
        if os.path.exists(self.marks):
            os.remove(self.marks)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=self.folder, check=False)
        marks = ""
        if os.path.exists(self.marks):
            with open(self.marks, encoding="utf-8") as file:
                marks = file.read()
        return done.returncode, done.stdout, done.stderr, marks

    def compare(self, command, ways=(INJECTED, PRELOADED), **variables):
        """Each way gives what a plain run gives, and the Python side is there in every process that leaves a mark."""
        plain = self.run_here(command, **variables)
        self.assertEqual(plain[0], 7, plain[2])
        self.assertNotIn("yes", plain[3])
        for way in ways:
            if SANITIZED and "LD_PRELOAD" in way:
                continue  # its run-time cannot be preloaded into other programs
            with self.subTest(command[-1], way=next(iter(way))):
                got = self.run_here(command, **variables, **way)
                self.assertEqual(got[:3], plain[:3])
                self.assertEqual(got[3], plain[3].replace("no", "yes"))


class Attach(Case):
    def test_wherever_cuda_starts(self):
        for case in ("plain", "lock_held", "thread", "main_in_c", "subinterpreter", "forked", "child", "at_exit", "finalizing",
                     "interrupted"):
            self.compare([sys.executable, PROGRAM, case])

    def test_every_python_of_this_machine(self):
        tried = pythons()
        for version, python in sorted(tried.items()):
            if version >= (3, 6):
                for case in ("plain", "thread", "forked"):
                    self.compare([python, PROGRAM, case])
        self.assertIn(sys.version_info[:2], tried)

    def test_python_2_is_left_alone(self):
        python = pythons().get((2, 7))
        if python is None:
            self.skipTest("there is no Python 2 here")
        plain = self.run_here([python, PROGRAM, "plain"])
        for way in (INJECTED, PRELOADED):
            self.assertEqual(self.run_here([python, PROGRAM, "plain"], **way), plain)

    def test_python_that_ignores_its_environment(self):
        for options in ("-I", "-E", "-S", "-IS"):
            self.compare([sys.executable, options, PROGRAM, "plain"])

    def test_torch_that_starts_cuda_while_it_is_imported(self):
        """Gable waits for the end of the import: its version is the last thing that is set there."""
        for case in ("half_imported", "half_imported_by_thread", "failed_import"):
            code, out, err, _ = self.run_here([sys.executable, PROGRAM, case], PYTHONPATH=self.folder)
            self.assertEqual((code, err), (7, ""))
            for way in (INJECTED, PRELOADED)[:1 if SANITIZED else 2]:
                with self.subTest(case, way=next(iter(way))):
                    got = self.run_here([sys.executable, PROGRAM, case], PYTHONPATH=self.folder, **way)
                    self.assertEqual(got[:2], (code, out))
                    self.assertEqual(got[2], "gable: PyTorch 1.13 is too old for layers to be named; they need PyTorch 2.0 or newer.\n")

    def test_a_module_of_the_programs_own_that_is_called_gable(self):
        """It hides none of ours, and nobody imports it but the program."""
        with open(os.path.join(self.folder, "gable.py"), "w", encoding="utf-8") as file:
            file.write("raise RuntimeError('this is not the profiler')")
        shutil.copy(PROGRAM, self.folder)
        program = os.path.join(self.folder, os.path.basename(PROGRAM))
        self.compare([sys.executable, program, "plain"], PYTHONPATH=self.folder)
        imports = "import sys; sys.argv[1:] = ['plain']\ntry: import gable\nexcept RuntimeError as problem: print(problem, flush=True)\n"
        code = imports + f"exec(open({program!r}).read())"
        self.assertIn("this is not the profiler", self.run_here([sys.executable, "-c", code], PYTHONPATH=self.folder, **INJECTED)[1])
        self.compare([sys.executable, "-c", code], PYTHONPATH=self.folder)

    def test_layers_off(self):
        command = [sys.executable, PROGRAM, "plain"]
        self.assertEqual(self.run_here(command, GABLE_OPTIONS="--layers off", **INJECTED), self.run_here(command))

    def embedded_python(self, code, *more):
        """The command, and the variables that it needs."""
        name = sysconfig.get_config_var("INSTSONAME") or ""
        library = os.path.join(sysconfig.get_config_var("LIBDIR") or "", name)
        if ".so" not in name or not os.path.exists(library):
            self.skipTest("this Python has no library of its own")
        return [os.environ["GABLE_EMBEDDED_PYTHON"], library, code, *more], {"PYTHONHOME": sys.base_prefix}

    def test_python_that_a_program_opens_for_itself(self):
        # Modules in C cannot be imported there, ours neither: it is enough that Gable came as far as to try.
        code = f"import sys\nfor i in range(10): pass\nprint({os.path.dirname(STARTUP)!r} in sys.path, flush=True)"
        command, home = self.embedded_python(code)
        self.assertEqual(self.run_here(command, **home)[:3], (0, "False\n", ""))
        self.assertEqual(self.run_here(command, **INJECTED, **home)[:3], (0, "True\n", ""))

    def test_python_that_starts_after_cuda_handles_its_interrupts(self):
        code = """import _signal, posix, time
try:
    posix.kill(posix.getpid(), _signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted", flush=True)"""
        command, home = self.embedded_python(code, "cuda first")
        for way in ({}, INJECTED):
            self.assertEqual(self.run_here(command, **way, **home)[:3], (0, "interrupted\n", ""))


@unittest.skipIf(SANITIZED, "a sanitizer's runtime cannot be preloaded into other programs")
class PythonPath(Case):
    def value(self, command, **variables):
        code, out, err, _ = self.run_here(command, **PRELOADED, **variables)
        self.assertEqual((code, err), (0, ""))
        return out

    def test_is_set_for_python_alone(self):
        shell = ["sh", "-c", "echo \"$PYTHONPATH\""]
        self.assertEqual(self.value(shell), "\n")
        self.assertEqual(self.value(shell, PYTHONPATH="/mine"), "/mine\n")
        python = [sys.executable, "-c", "import os, sys; print(os.environ['PYTHONPATH']); print([p for p in sys.path if 'startup' in p])"]
        self.assertEqual(self.value(python), f"{STARTUP}\n[]\n")
        self.assertEqual(self.value(python, PYTHONPATH=""), f"{STARTUP}\n[]\n")
        self.assertEqual(self.value(python, PYTHONPATH="/mine:/yours"), f"{STARTUP}:/mine:/yours\n[]\n")
        self.assertEqual(self.value(python, PYTHONPATH=f"{STARTUP}:/mine"), f"{STARTUP}:/mine\n[]\n")

    def test_children_inherit_it_once(self):
        code = "import os, subprocess, sys; subprocess.check_call([sys.executable, '-c', 'import os; print(os.environ[\"PYTHONPATH\"])'])"
        self.assertEqual(self.value([sys.executable, "-c", code], PYTHONPATH="/mine"), f"{STARTUP}:/mine\n")

    def test_is_left_alone_where_another_tool_is_injected(self):
        code = "import os; print(os.environ.get('PYTHONPATH'))"
        self.assertEqual(self.value([sys.executable, "-c", code], CUDA_INJECTION64_PATH="/other.so"), "None\n")

    def test_a_library_named_from_the_working_folder(self):
        shutil.copytree(os.path.join(BUILD, "lib", "python"), os.path.join(self.folder, "python"))
        shutil.copy(LIBRARY, self.folder)
        code = "import os; print(os.environ['CUDA_INJECTION64_PATH'], os.environ['PYTHONPATH'])"
        got = self.run_here([sys.executable, "-c", code], LD_PRELOAD="./libgable_inject.so")
        here = os.path.realpath(self.folder)
        self.assertEqual(got[:3], (0, f"{here}/libgable_inject.so {here}/python/startup\n", ""))

    def test_the_programs_own_sitecustomize_runs_once(self):
        with open(os.path.join(self.folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("print('its own')\n")
        self.assertEqual(self.value([sys.executable, "-c", "print('program')"], PYTHONPATH=self.folder), "its own\nprogram\n")


if __name__ == "__main__":
    unittest.main()
