# SPDX-License-Identifier: Apache-2.0
"""scripts/release.sh in two clones: the same bytes, what others' checkers say of them, and that they run on other machines."""
import glob
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import unittest
import urllib.request
import zipfile

from emulated_python import EmulatedPython, NotHere

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ["GABLE_WORK"]) / "release"
RECORDING = ROOT / "tests" / "data" / "recordings" / "small" / "layers.jsonl"
DEBIAN = "http://deb.debian.org/debian"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
HERE = platform.machine()
OTHER = next(arch for arch in ARCHITECTURES if arch != HERE)
PROFILE = ("--step-range", "^step$", "--active", "1")


def run(*words, cwd=WORK, check=True, **more):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False, timeout=3000, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def layers(report):
    """What a report says of the layers, without what the host's clock says."""
    return [{name: value for name, value in layer.items() if name != "cpu_ns"} for layer in json.loads(report.read_text(encoding="utf-8"))["layers"]]


def interpreters():
    """Every CPython from 3.8 on that is to be had here, one of each version."""
    found = {}
    for path in (*glob.glob("/usr/bin/python3.*"), *glob.glob("/usr/local/bin/python3.*"),
                 *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))):
        said = subprocess.run([path, "-c", "import sys, venv; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False)
        if said.returncode == 0 and tuple(map(int, said.stdout.split())) >= (3, 8):
            found.setdefault(said.stdout.strip().replace(" ", "."), path)
    return found


@unittest.skipUnless(shutil.which("lintian") and (ROOT / ".git").exists(), "scripts/setup.sh --package BUILD installs lintian")
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        tables = []
        for name in ("one", "another/place"):
            run("git", "clone", "-q", ROOT, WORK / name)
            tables.append(run("bash", "scripts/release.sh", "-o", WORK / name / "out", cwd=WORK / name).stdout)
        cls.table, cls.out = tables[0], WORK / "one" / "out"
        cls.tools = WORK / "one" / "build-release" / "package" / "bin"

    def file(self, pattern):
        (found,) = self.out.glob(pattern)
        return found

    def tarball(self, arch):
        """The tarball's folder, unpacked."""
        to = WORK / ("unpacked-" + arch)
        if not to.exists():
            to.mkdir()
            run("tar", "-xzf", self.file(f"*-linux-{arch}.tar.gz"), "-C", to)
        (found,) = to.iterdir()
        return found

    def wheel(self, arch):
        return self.file(f"*_{arch}.whl")

    def test_what_was_made_is_listed(self):
        self.assertEqual(run("sha256sum", "-c", "SHA256SUMS", cwd=self.out).stdout.count(": OK"), 9)
        patterns = [pattern for arch, debian in ARCHITECTURES.items() for pattern in (f"*-linux-{arch}.tar.gz", f"*_{debian}.deb", f"*_{arch}.whl", f"*-{arch}_0.conda")]
        for pattern in (*patterns, "*.json"):
            self.assertIn(self.file(pattern).name, self.table)

    def test_two_builds_give_the_same_bytes(self):
        for path in self.out.iterdir():
            self.assertEqual(path.read_bytes(), (WORK / "another" / "place" / "out" / path.name).read_bytes(), path.name)

    def test_lintian_finds_no_error(self):
        for package in self.out.glob("*.deb"):
            said = run("lintian", "--allow-root", "--fail-on", "error", package, check=False)
            self.assertEqual(said.returncode, 0, said.stdout)

    def test_the_sbom_is_valid(self):
        run(self.tools / "pyspdxtools", "-i", self.file("*.json"))

    def test_the_packages_need_the_c_library_of_2018(self):
        for arch, debian in ARCHITECTURES.items():
            with self.subTest(arch):
                self.assertTrue(self.wheel(arch).name.endswith(f"-py3-none-manylinux_2_28_{arch}.whl"))
                said = run(self.tools / "python", "-m", "auditwheel", "show", self.wheel(arch)).stdout
                self.assertIn(f'"manylinux_2_28_{arch}"', said)
                needs = run("dpkg-deb", "-f", self.file(f"*_{debian}.deb"), "Depends").stdout.strip()
                self.assertEqual(needs, "libc6 (>= 2.28)")

    def test_the_wheel_has_the_licences_and_the_list_of_parts(self):
        listed = json.loads(self.file("*.json").read_text(encoding="utf-8"))
        parts = [part["name"] for part in listed["packages"] if part["name"] != "gable-profiler"]
        for arch in ARCHITECTURES:
            with zipfile.ZipFile(self.wheel(arch)) as wheel:
                info = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
                metadata = wheel.read(f"{info}/METADATA").decode()
                for part in parts:
                    self.assertIn(f"License-File: licenses/{part}\n", metadata)
                    self.assertIn(b"icense", wheel.read(f"{info}/licenses/licenses/{part}"))
                self.assertEqual(json.loads(wheel.read(f"{info}/sboms/sbom.spdx.json")), listed)

    def test_nothing_names_the_folder_it_was_built_in(self):
        for arch in ARCHITECTURES:
            for path in self.tarball(arch).rglob("*"):
                if path.is_file():
                    self.assertNotIn(str(WORK).encode(), path.read_bytes(), path)
            with zipfile.ZipFile(self.wheel(arch)) as wheel:
                for name in wheel.namelist():
                    self.assertNotIn(str(WORK).encode(), wheel.read(name), name)

    def test_the_wheel_installs_and_runs_with_every_python(self):
        found = interpreters()
        self.assertTrue(found)
        for version, python in found.items():
            with self.subTest(version):
                here = WORK / ("environment-" + version)
                run(python, "-m", "venv", here)
                run(here / "bin" / "python", "-m", "pip", "install", "-q", "--no-index", self.wheel(HERE))
                said = run(here / "bin" / "gable", "profile", "--playback", RECORDING, *PROFILE, cwd=here)
                self.assertIn("step/block", said.stderr)
                run(here / "bin" / "python", "-c", "import gable, gable_profiler", cwd=here)

    def test_the_conda_package_installs_and_runs(self):
        """From a channel of its own, by what mamba and pixi are made of."""
        prefix = WORK / "conda"
        said = run(self.tools / "python", ROOT / "tests" / "package" / "conda_install.py", self.file(f"*-{HERE}_0.conda"), WORK / "channel", prefix)
        self.assertEqual(said.stdout, "gable-profiler\n")
        said = run(prefix / "bin" / "gable", "profile", "--playback", RECORDING, *PROFILE, "-o", "conda.json")
        self.assertIn("step/block", said.stderr)
        self.assertNotIn("missing", said.stderr)
        self.assertTrue((prefix / "share" / "man" / "man1" / "gable-profile.1").is_file())

    def test_the_recipe_for_conda_builds_and_passes_its_tests(self):
        """By rattler-build, with this machine's compiler and libraries in the place of conda-forge's."""
        headers = WORK / "one" / "build-release" / "portable" / HERE / "cuda-wheels" / "nvidia" / "cu13"
        made = run(self.tools / "python", ROOT / "tests" / "package" / "conda_recipe.py", headers, "/usr/share/nodejs/d3/dist/d3.min.js",
                   WORK / "recipe-channel", WORK / "recipe")
        self.assertIn("all tests passed", made.stderr)
        self.assertTrue(pathlib.Path(made.stdout.strip()).is_file())

    def test_both_architectures_write_the_same_report(self):
        run(self.tarball(HERE) / "bin" / "gable", "profile", "--playback", RECORDING, *PROFILE, "-o", "here.json")
        root, other = f"/usr/{OTHER}-linux-gnu", self.tarball(OTHER)
        emulator = (f"qemu-{OTHER}-static", "-L", root)
        # The emulator runs what it is given; what that starts it must be told again.
        run(*emulator, other / "bin" / "gable", "profile", "--playback", RECORDING, *PROFILE, "-o", "other.json", "--", *emulator,
            other / "lib" / "playback" / "gable-player", RECORDING)
        self.assertEqual(layers(WORK / "other.json"), layers(WORK / "here.json"))
        for command in (("report",), ("report", "--kernels"), ("report", "--csv", "-"), ("report", "--html", "page.html")):
            with self.subTest(command):
                texts = []
                for words in ((), emulator):
                    program = (other if words else self.tarball(HERE)) / "bin" / "gable"
                    said = run(*words, program, *command, WORK / "here.json").stdout
                    texts.append((WORK / "page.html").read_text(encoding="utf-8") if "--html" in command else said)
                self.assertEqual(*texts)

    def want_debian(self, release):
        try:
            with urllib.request.urlopen(f"{DEBIAN}/dists/{release}/Release", timeout=60):
                pass
        except OSError as problem:
            self.skipTest(f"Debian's {release} cannot be reached from here: {problem}")

    def emulated_python(self):
        if HERE != "x86_64":
            self.skipTest("this machine needs no emulator for aarch64")
        try:
            return EmulatedPython(WORK / "aarch64")
        except NotHere as reason:
            self.skipTest(str(reason))

    def test_cupti_for_aarch64_plans_the_same_passes(self):
        """NVIDIA's own library, which needs no GPU for that."""
        plans = []
        for arch, words in (("x86_64", ()), ("aarch64", self.emulated_python().emulator)):
            cupti = WORK / "one" / "build-release" / "portable" / arch / "cuda-wheels" / "nvidia" / "cu13" / "lib" / "libcupti.so.13"
            said = run(*words, self.tarball(arch) / "bin" / "gable", "doctor", "--chip", "GH100", "--cupti", cupti).stdout
            plans.append(" ".join(said.replace(str(cupti), "CUPTI").split()))
        self.assertIn("dram__sectors_read.sum", plans[0])
        self.assertEqual(*plans)

    def test_the_wheel_for_aarch64_follows_pytorch(self):
        """Layers, forward and backward, and their FLOPs, by all three ways in."""
        python = self.emulated_python()
        python.install(self.wheel("aarch64"))
        native = python.site / "gable_profiler" / "native"
        gpu, program = ROOT / "tests" / "pytorch" / "gpu.jsonl", (pathlib.Path(__file__).with_name("small_model.py"), ROOT / "tests" / "pytorch")
        library, playback = native / "lib" / "libgable_inject.so", f"LD_LIBRARY_PATH={native / 'lib' / 'playback'}"
        plain = run(*python.words(playback), *program, env=python.environment(GABLE_PLAYBACK=str(gpu)))
        ways = {"gable profile": ((*python.emulator, native / "bin" / "gable", "profile", "--playback", gpu, "--", *python.words()), {})}
        for name in ("LD_PRELOAD", "CUDA_INJECTION64_PATH"):
            ways[name] = (python.words(playback, f"{name}={library}"), {"GABLE_PLAYBACK": str(gpu)})
        # 2 x 5 x 8 x 16 and 2 x 5 x 16 x 4; the first layer's input needs no gradient.
        wanted = {("0", "forward"): 1280, ("2", "forward"): 640, ("0", "backward"): 1280, ("2", "backward"): 1280,
                  ("1", "forward"): 0, ("1", "backward"): 0}
        for name, (words, more) in ways.items():
            with self.subTest(name):
                report = WORK / "pytorch.json"
                report.unlink(missing_ok=True)
                done = run(*words, *program, env=python.environment(GABLE_OPTIONS=f"-o {report}", **more))
                self.assertEqual(done.stdout, plain.stdout)
                found = {(layer["dotted"], layer["direction"]): layer["model"]["flops_analytic"]
                         for layer in json.loads(report.read_text(encoding="utf-8"))["layers"] if layer["dotted"]}
                self.assertEqual(found, wanted, done.stderr)

    def test_it_runs_with_an_older_c_library(self):
        """Debian 11's, 2.31: the oldest that Debian's servers still have."""
        if not shutil.which("mmdebstrap") or os.geteuid() != 0:
            self.skipTest("wants root and mmdebstrap")
        old = WORK / "bullseye"
        self.want_debian("bullseye")
        run("mmdebstrap", "--variant=minbase", "--include=python3,python3-venv", "bullseye", old, DEBIAN)
        shutil.copy(self.wheel(HERE), old / "root")
        shutil.copy(RECORDING, old / "root")
        shutil.copytree(self.tarball(HERE), old / "root" / "tarball")

        def inside(*words):
            return run("chroot", old, *words, cwd="/", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"})
        self.assertIn("2.31", inside("ldd", "--version").stdout)
        inside("python3", "-m", "venv", "/root/environment")
        inside("/root/environment/bin/pip", "install", "-q", "--no-index", "/root/" + self.wheel(HERE).name)
        for program in ("/root/environment/bin/gable", "/root/tarball/bin/gable"):
            said = inside(program, "profile", "--playback", "/root/" + RECORDING.name, *PROFILE, "-o", "/root/r.json")
            self.assertIn("step/block", said.stderr)
            inside(program, "report", "/root/r.json", "--html", "/root/r.html")

    def test_the_image_runs_and_what_is_in_it_runs_elsewhere(self):
        if not all(map(shutil.which, ("mmdebstrap", "buildah"))) or os.geteuid() != 0:
            self.skipTest("wants root, mmdebstrap and buildah")
        self.want_debian("bookworm")
        made = run("bash", ROOT / "scripts" / "package" / "image.sh", self.file(f"*_{ARCHITECTURES[HERE]}.deb"), WORK / "image")
        buildah = ("buildah", "--storage-driver", "vfs", "--root", WORK / "image" / "storage", "--runroot", WORK / "image" / "run")
        image = run(*buildah, "pull", "-q", "oci-archive:" + made.stdout.strip()).stdout.strip()
        run(*buildah, "tag", image, "localhost/gable:taken")
        recipe = WORK / "image" / "Dockerfile"
        recipe.write_text("FROM localhost/gable:taken\nCOPY --from=localhost/gable:taken /usr/lib/gable /opt/gable\n", encoding="utf-8")
        run(*buildah, "bud", "-q", "--isolation", "chroot", "-t", "localhost/another", "-f", recipe, WORK / "image")
        container = run(*buildah, "from", "-q", "localhost/another").stdout.strip()
        self.addCleanup(run, *buildah, "rm", "-a")
        config = json.loads(run(*buildah, "inspect", "--type", "container", container).stdout)["OCIv1"]["config"]
        self.assertEqual((config["Entrypoint"], config["Cmd"]), (["/usr/bin/gable"], ["doctor"]))
        for program in ("gable", "/opt/gable/bin/gable"):
            said = run(*buildah, "run", "--isolation", "chroot", "-v", f"{RECORDING.parent}:/recordings:ro", container, "--", "sh", "-c",
                       f"cd /tmp && {program} profile --playback /recordings/{RECORDING.name} {' '.join(PROFILE)}")
            self.assertIn("step/block", said.stdout + said.stderr)

    def test_cupti_comes_with_the_wheel_where_it_is_asked_for(self):
        here = WORK / "environment-cupti"
        run("python3", "-m", "venv", here)
        made = run(here / "bin" / "python", "-m", "pip", "install", "-q", f"{self.wheel(HERE)}[cupti]", check=False)
        if "No matching distribution" in made.stderr or "Could not find a version" in made.stderr:
            self.skipTest("no package index can be reached from here")
        self.assertEqual(made.returncode, 0, made.stderr)
        said = run("unshare", "-m", "sh", "-c", 'for f in /usr/local/cuda*; do [ -L "$f" ] || mount -t tmpfs none "$f"; done; exec "$@"', "sh",
                   here / "bin" / "gable", "doctor", "--chip", "GH100", check=False)
        if "unshare" in said.stderr:
            self.skipTest("a toolkit cannot be hidden here")
        self.assertRegex(re.sub(r"\s+", " ", said.stdout), r"^GH100: 5 passes, .* as planned by /[^ ]*/environment-cupti/[^ ]*/site-packages/nvidia/")


if __name__ == "__main__":
    unittest.main()
