# SPDX-License-Identifier: Apache-2.0
"""scripts/release.sh in two clones: the same bytes, and what others' checkers say of them."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ["GABLE_WORK"]) / "release"


def run(*words, cwd=WORK, check=True):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False, timeout=3000)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


@unittest.skipUnless(shutil.which("lintian") and (ROOT / ".git").exists(), "scripts/setup.sh --package BUILD installs lintian")
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        tables = []
        for name, options in (("one", ()), ("another/place", ("--no-wheel",))):
            run("git", "clone", "-q", ROOT, WORK / name)
            tables.append(run("bash", "scripts/release.sh", *options, "-o", WORK / name / "out", cwd=WORK / name).stdout)
        cls.table, cls.out = tables[0], WORK / "one" / "out"

    def file(self, pattern):
        (found,) = self.out.glob(pattern)
        return found

    def test_what_was_made_is_listed(self):
        self.assertEqual(run("sha256sum", "-c", "SHA256SUMS", cwd=self.out).stdout.count(": OK"), 4)
        for pattern in ("*.tar.gz", "*.deb", "*.whl", "*.json"):
            self.assertIn(self.file(pattern).name, self.table)

    def test_two_builds_give_the_same_bytes(self):
        for pattern in ("*.tar.gz", "*.deb", "*.json"):
            (other,) = (WORK / "another" / "place" / "out").glob(pattern)
            self.assertEqual(self.file(pattern).read_bytes(), other.read_bytes(), pattern)

    def test_lintian_finds_no_error(self):
        said = run("lintian", "--allow-root", "--fail-on", "error", self.file("*.deb"), check=False)
        self.assertEqual(said.returncode, 0, said.stdout)

    def test_the_sbom_is_valid(self):
        run(WORK / "one" / "build-release" / "package" / "bin" / "pyspdxtools", "-i", self.file("*.json"))

    def test_the_wheel_says_which_c_library_it_needs(self):
        self.assertRegex(self.file("*.whl").name, r"-py3-none-manylinux_2_\d+_x86_64\.whl$")
        self.assertIn("consistent with", run(WORK / "one" / "build-release" / "package" / "bin" / "python", "-m", "auditwheel", "show",
                                             self.file("*.whl")).stdout.replace("\n", " "))

    def test_nothing_names_the_folder_it_was_built_in(self):
        for name in ("bin/gable", "lib/libgable_inject.so"):
            self.assertNotIn(str(WORK).encode(), (WORK / "one" / "build-release" / "stage" / name).read_bytes(), name)
        with zipfile.ZipFile(self.file("*.whl")) as wheel:
            for name in wheel.namelist():
                self.assertNotIn(str(WORK).encode(), wheel.read(name), name)

    def test_the_wheel_installs_and_runs(self):
        run(sys.executable, "-m", "venv", WORK / "environment")
        run(WORK / "environment" / "bin" / "pip", "install", "-q", "--no-index", self.file("*.whl"))
        recording = ROOT / "tests" / "data" / "recordings" / "small" / "layers.jsonl"
        said = run(WORK / "environment" / "bin" / "gable", "profile", "--playback", recording, "--step-range", "^step$", "--active", "1")
        self.assertIn("step/block", said.stderr)


if __name__ == "__main__":
    unittest.main()
