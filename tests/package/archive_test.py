# SPDX-License-Identifier: Apache-2.0
"""The tarball and the Debian package, unpacked and used, with their manual pages, completions, licences and list of parts."""
import gzip
import hashlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["GABLE_BUILD"])
RECORDING = ROOT / "tests" / "data" / "recordings" / "small" / "layers.jsonl"
COMMANDS = sorted(page.stem for page in (ROOT / "docs" / "commands").glob("*.md") if page.stem != "gable")
EPOCH = "1700000000"


def script(name, *words):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "DEBFULLNAME": "Somebody", "DEBEMAIL": "somebody@example.org"}
    return subprocess.run([str(ROOT / "scripts" / "package" / name), *map(str, words)], check=True, capture_output=True, text=True,
                          env=environment, timeout=300).stdout.strip()


def packaged(folder):
    """Stage, tarball and Debian package, all below the folder."""
    script("stage.sh", BUILD, folder / "stage")
    return (pathlib.Path(script("tarball.sh", folder / "stage", folder / "out")),
            pathlib.Path(script("deb.sh", folder / "stage", folder / "out")))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@unittest.skipUnless(all(map(shutil.which, ("lowdown", "dpkg-shlibdeps", "dpkg-deb"))), "scripts/setup.sh installs lowdown and dpkg-dev")
class Archives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="gable-archives-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.tarball, cls.deb = packaged(cls.folder / "one")
        cls.unpacked = cls.folder / "any where" / "it may be"
        cls.unpacked.mkdir(parents=True)
        subprocess.run(["tar", "-xzf", cls.tarball, "-C", cls.unpacked, "--strip-components=1"], check=True)
        cls.installed = cls.folder / "root"
        subprocess.run(["dpkg-deb", "-x", cls.deb, cls.installed], check=True)

    def profiles(self, program, folder):
        """That the program finds its library and the playback GPU beside itself."""
        with tempfile.TemporaryDirectory(dir=folder) as here:
            run = subprocess.run([program, "profile", "--playback", RECORDING, "--step-range", "^step$", "--active", "1", "-o", "r.json"],
                                 cwd=here, env={"PATH": "/usr/bin:/bin", "HOME": here}, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("step/block", run.stderr)
            self.assertNotIn("missing", run.stderr)
            self.assertTrue(pathlib.Path(here, "r.json").exists(), run.stderr)

    def test_the_tarball_runs_from_any_folder(self):
        self.profiles(self.unpacked / "bin" / "gable", self.folder)
        self.assertTrue((self.unpacked / "lib" / "python" / "gable_profiler" / "_torch.py").exists())

    def test_the_debian_package_runs_where_it_is_installed(self):
        program = self.installed / "usr" / "bin" / "gable"
        self.assertTrue(program.is_symlink())
        self.profiles(program, self.folder)

    def test_the_debian_package_needs_the_c_library_alone(self):
        def field(name):
            return subprocess.run(["dpkg-deb", "-f", self.deb, name], check=True, capture_output=True, text=True).stdout.strip()
        self.assertRegex(field("Depends"), r"^libc6 \(>= 2\.\d+\)$")
        self.assertEqual((field("Package"), field("Maintainer")), ("gable-profiler", "Somebody <somebody@example.org>"))
        listed = subprocess.run(["dpkg-deb", "-c", self.deb], check=True, capture_output=True, text=True).stdout
        self.assertEqual({line.split()[1] for line in listed.splitlines()}, {"root/root"})
        sums = subprocess.run(["dpkg-deb", "--ctrl-tarfile", self.deb], check=True, capture_output=True).stdout
        self.assertIn(b"md5sums", sums)

    def test_containers_find_it_where_the_page_says(self):
        """/usr/lib/gable, copied to /opt/gable."""
        page = (ROOT / "docs" / "launching.md").read_text(encoding="utf-8")
        named = set(re.findall(r"/opt/gable(/[a-z_./]*\w)", page))
        self.assertLessEqual({"/bin/gable", "/lib/libgable_inject.so"}, named)
        copy = self.folder / "copied"
        shutil.copytree(self.installed / "usr" / "lib" / "gable", copy, symlinks=True)
        for path in named:
            self.assertTrue((copy / path[1:]).is_file(), path)
        self.profiles(copy / "bin" / "gable", self.folder)

    def test_the_same_build_gives_the_same_bytes(self):
        tarball, deb = packaged(self.folder / "another" / "place")
        self.assertEqual((sha256(tarball), sha256(deb)), (sha256(self.tarball), sha256(self.deb)))

    def test_every_command_has_a_manual_page_with_its_options(self):
        found = sorted(page.stem.removeprefix("gable-") for page in (self.unpacked / "share" / "man" / "man1").glob("gable-*.1"))
        self.assertEqual(found, COMMANDS)
        for command in COMMANDS:
            page = (self.unpacked / "share" / "man" / "man1" / f"gable-{command}.1").read_text(encoding="utf-8")
            self.assertRegex(page, rf"\.SH\nNAME\n\.LP\ngable-{command} - \w")
            source = (ROOT / "docs" / "commands" / f"{command}.md").read_text(encoding="utf-8")
            for option in re.findall(r"^\| `.*?(--[a-z-]+)", source, re.MULTILINE):
                self.assertIn(option, page.replace("\\-", "-"), command)
        with gzip.open(self.installed / "usr" / "share" / "man" / "man1" / "gable.1.gz", "rt", encoding="utf-8") as page:
            self.assertIn("gable profile", page.read())

    def test_all_parts_are_listed_with_their_licences(self):
        docs = self.unpacked / "share" / "doc" / "gable-profiler"
        listed = json.loads((docs / "sbom.spdx.json").read_text(encoding="utf-8"))
        self.assertEqual((listed["spdxVersion"], listed["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        parts = {part["name"]: part for part in listed["packages"] if part["name"] != "gable-profiler"}
        # What the build looks for is what is in it.
        wanted = "\n".join((ROOT / "scripts" / "cmake" / name).read_text(encoding="utf-8").lower()
                           for name in ("GableDependencies.cmake", "GablePage.cmake"))
        for name in ("nlohmann_json", "cli11", "zlib", "sqlite", "rapidjson", "protozero", "d3"):
            self.assertIn(name, wanted)
            self.assertIn(name, [part.lower() for part in parts])
        for name, part in parts.items():
            self.assertRegex(part["versionInfo"], r"^\d", name)
            self.assertIn("icense", (docs / "licenses" / name).read_text(encoding="utf-8", errors="replace"), name)
        self.assertIn("Apache License", (docs / "LICENSE").read_text(encoding="utf-8"))


class Completion(unittest.TestCase):
    """By the shells themselves."""
    PROGRAM = BUILD / "bin" / "gable"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)
        (self.here / "report.json").write_text("{}", encoding="utf-8")
        for shell in ("bash", "zsh", "fish"):
            script = subprocess.run([self.PROGRAM, "completion", shell], check=True, capture_output=True, text=True).stdout
            (self.here / ("_gable" if shell == "zsh" else shell)).write_text(script, encoding="utf-8")

    def environment(self):
        return {"PATH": f"{BUILD / 'bin'}:/usr/bin:/bin", "HOME": str(self.here), "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def bash(self, *words):
        command = ('source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gable; printf "%s\\n" "${COMPREPLY[@]}"')
        run = subprocess.run(["bash", "-uec", command, "bash", "gable", *words], cwd=self.here, env=self.environment(), capture_output=True,
                             text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("mer"), ["merge"])
        self.assertEqual(self.bash("help", "pre"), ["predict"])
        self.assertEqual(sorted(set(COMMANDS) - set(self.bash(""))), [])
        self.assertEqual(self.bash("profile", "--rang"), ["--ranges"])
        self.assertEqual(self.bash("profile", "--ranges", ""), ["user", "auto"])
        self.assertEqual(self.bash("merge", "-o", ""), [])  # the shell's own files
        self.assertEqual(self.bash("profile", "--", "python", "--ran"), [])
        self.assertEqual(self.bash("nothing", "--x"), [])

    @unittest.skipUnless(shutil.which("fish"), "there is no fish; scripts/setup.sh installs it")
    def test_fish(self):
        def fish(line):
            run = subprocess.run(["fish", "--no-config", "-c", f"source ./fish; complete -C {line!r}"], cwd=self.here,
                                 env=self.environment(), capture_output=True, text=True, check=True)
            return [word.split("\t")[0] for word in run.stdout.splitlines()]
        self.assertEqual(fish("gable mer"), ["merge"])
        self.assertEqual(fish("gable profile --ranges "), ["auto", "user"])
        self.assertEqual(fish("gable profile --rang"), ["--ranges"])
        self.assertIn("report.json", fish("gable merge --output "))

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh; scripts/setup.sh installs it")
    def test_zsh(self):
        def zsh(line):
            """What stands on the command line after Tab, as the shell sees it then."""
            child, terminal = pty.fork()
            if child == 0:
                os.chdir(self.here)
                os.execve(shutil.which("zsh"), ["zsh", "-f", "-i"], self.environment())
            try:
                show = "show() { print -r -- \"<<$BUFFER>>\"; BUFFER=; zle accept-line }; zle -N show; bindkey '^X' show"
                setup = f"fpath=({self.here} $fpath); autoload -Uz compinit; compinit -D -u; PS1=; unsetopt BEEP; {show}; print -r -- rea''dy\n"
                os.write(terminal, setup.encode())
                self.read_until(terminal, b"ready")
                os.write(terminal, line.encode() + b"\t\x18")
                return re.search(rb"<<(.*?)>>", self.read_until(terminal, b">>"), re.DOTALL).group(1).decode().strip()
            finally:
                os.close(terminal)
                os.waitpid(child, 0)
        self.assertEqual(zsh("gable mer"), "gable merge")
        self.assertEqual(zsh("gable profile --rang"), "gable profile --ranges")
        self.assertEqual(zsh("gable profile --ranges au"), "gable profile --ranges auto")
        self.assertEqual(zsh("gable merge -o rep"), "gable merge -o report.json")

    def read_until(self, terminal, what):
        seen, ends = b"", time.monotonic() + 60
        while what not in seen:
            if not select.select([terminal], [], [], max(ends - time.monotonic(), 0))[0]:
                self.fail(f"zsh never showed {what!r}: {seen!r}")
            seen += os.read(terminal, 4096)
        return seen

    def test_another_shell_is_wrong(self):
        run = subprocess.run([self.PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("SHELL is bash, zsh or fish, not 'tcsh'.", run.stderr)


if __name__ == "__main__":
    unittest.main()
