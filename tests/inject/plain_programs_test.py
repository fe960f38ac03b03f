# SPDX-License-Identifier: Apache-2.0
"""Programs that never touch CUDA: not a byte of their output and no exit code may change, however we are loaded."""
import os
import subprocess
import tempfile
import unittest

BUILD = os.environ["GABLE_BUILD"]
LIBRARY = os.path.join(BUILD, "lib", "libgable_inject.so")
PROGRAMS = [
    ["sh", "-c", "echo out; echo err >&2; exit 7"],
    ["ls", "/"],
    ["ls", "/does/not/exist"],
    ["python3", "-c", "import os, threading; t = threading.Thread(target=lambda: print('thread')); t.start(); t.join(); "
                      "pid = os.fork(); pid or os._exit(5); print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])); raise SystemExit(9)"],
    ["sh", "-c", "kill -TERM $$"],
]


def run(command, **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_"))}
    env.update(variables)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, env=env, capture_output=True, timeout=60, cwd=folder)
        return done.returncode, done.stdout, done.stderr, os.listdir(folder)


@unittest.skipIf(os.environ.get("GABLE_SANITIZE"), "a sanitizer's runtime cannot be preloaded into other programs")
class PlainPrograms(unittest.TestCase):
    def compare(self, **variables):
        for command in PROGRAMS:
            with self.subTest(command[-1][:40]):
                self.assertEqual(run(command, **variables), run(command))

    def test_injection_variables(self):
        self.compare(CUDA_INJECTION64_PATH=LIBRARY, NVTX_INJECTION64_PATH=LIBRARY, GABLE_OPTIONS="--active 1")

    def test_preload(self):
        self.compare(LD_PRELOAD=LIBRARY)

    def test_preload_points_the_variables_at_itself(self):
        code, out, _, _ = run(["sh", "-c", "echo $CUDA_INJECTION64_PATH $NVTX_INJECTION64_PATH"], LD_PRELOAD=LIBRARY)
        self.assertEqual((code, out.decode().split()), (0, [LIBRARY, LIBRARY]))

    def test_preload_leaves_another_tools_variables(self):
        code, out, _, _ = run(["sh", "-c", "echo $CUDA_INJECTION64_PATH"], LD_PRELOAD=LIBRARY, CUDA_INJECTION64_PATH="/other.so")
        self.assertEqual((code, out), (0, b"/other.so\n"))

    def test_launcher_passes_everything_through(self):
        for command in PROGRAMS[:4]:
            with self.subTest(command[-1][:40]):
                code, out, err, files = run(command)
                got_code, got_out, got_err, got_files = run([os.path.join(BUILD, "bin", "gable"), "profile", "--", *command])
                self.assertEqual((got_code, got_out, got_files), (code, out, files))
                self.assertTrue(got_err.startswith(err), got_err)


if __name__ == "__main__":
    unittest.main()
