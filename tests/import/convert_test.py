# SPDX-License-Identifier: Apache-2.0
"""Reports of nsys and ncu, which their own programs export. Here these are scripts in PATH: what matters is what Gable gives them, what
it makes of what they write, and that nothing of it is left behind."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

import import_run
from import_run import DATA, ImportTest, export_nsys, notes

INSTALLED = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-systems", "/opt/nvidia/nsight-compute")


class Convert(ImportTest):
    def setUp(self):
        super().setUp()
        self.tools, self.temporary = self.folder / "bin", self.folder / "tmp"
        self.tools.mkdir()
        self.temporary.mkdir()
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ["PATH"] = f"{self.tools}:/usr/bin:/bin"
        os.environ["TMPDIR"] = str(self.temporary)
        os.environ.pop("CUDA_HOME", None)
        self.arguments = self.folder / "arguments"

    def tool(self, name, script):
        path = self.tools / name
        path.write_text(f'#!/bin/sh\nfor each in "$@"; do echo "$each" >> "{self.arguments}"; done\n{script}\n')
        path.chmod(0o755)

    def nsys(self, more=""):
        made = export_nsys(self.folder / "made.sqlite")
        self.tool("nsys", f'while [ "$1" != -o ]; do shift; done\ncp "{made}" "$2"\n{more}')
        return self.file("run one.nsys-rep", b"NVIDIA Tegra Profiler Report 1.")

    def given(self):
        return self.arguments.read_text().splitlines()

    def nothing_is_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_nsys_exports_its_report(self):
        report = self.report("--nsys", self.nsys())
        self.assertEqual(report["run"]["total"]["gpu_time_ns"], 1301)
        self.assertIn("nsys 2025.3.1.90 (run one.nsys-rep)", notes(report))
        self.assertEqual(self.given()[:4], ["export", "--type", "sqlite", "-o"])
        self.assertEqual(self.given()[5:], [str(self.folder / "run one.nsys-rep")])
        self.assertNotIn("gable-import", self.text)
        self.nothing_is_left()

    def test_what_is_being_done_is_said(self):
        done = import_run.run("--nsys", self.nsys(), "-o", self.folder / "out.json")
        self.assertIn(f"run one.nsys-rep is exported by {self.tools}/nsys.", done.stdout.splitlines())
        done = import_run.run("--nsys", self.nsys(), "-o", "-")
        self.assertTrue(done.stdout.startswith("{"), done.stdout[:80])

    def test_qdrep_too(self):
        self.nsys()
        self.report("--nsys", self.file("old.qdrep", b"\x01anything"))
        self.nothing_is_left()

    def test_ncu_exports_its_report(self):
        os.environ["LC_ALL"] = "de_DE.UTF-8"
        self.tool("ncu", f'[ "$LC_ALL" = C ] && cat "{DATA / "ncu_raw.csv"}"')
        path = self.file("-run.ncu-rep", b"NVR\0")
        was = pathlib.Path.cwd()
        self.addCleanup(os.chdir, was)
        os.chdir(self.folder)
        report = self.report("--ncu=-run.ncu-rep")
        plain = self.report("--ncu", DATA / "ncu_raw.csv")
        self.assertEqual([row["flops"] for row in report["kernels"]], [row["flops"] for row in plain["kernels"]])
        self.assertIn("ncu (-run.ncu-rep)", notes(report))
        self.assertEqual(self.given(), ["--import", "./-run.ncu-rep", "--csv", "--page", "raw", "--print-units", "base"])
        self.assertTrue(path.exists())
        self.nothing_is_left()

    def test_a_name_is_no_command(self):
        self.nsys()
        path = self.file("$(touch pwned); a`b`.nsys-rep", b"NVIDIA Tegra Profiler Report 1.")
        self.report("--nsys", path)
        self.assertEqual(self.given()[5:], [str(path)])

    def test_what_the_program_says_where_it_fails(self):
        path = self.nsys()
        self.tool("nsys", 'echo "Processing..."\necho "ERROR: The report file is newer than this version of nsys." >&2\necho bye >&2\nexit 3')
        said = self.refused("--nsys", path)
        self.assertIn("run one.nsys-rep could not be exported by nsys: ERROR: The report file is newer than this version of nsys.", said)
        self.nothing_is_left()
        self.tool("nsys", "exit 3")
        self.assertIn("could not be exported by nsys: it ended with 3.", self.refused("--nsys", path))
        self.tool("nsys", "kill -9 $$")
        self.assertIn("could not be exported by nsys: signal 9 ended it.", self.refused("--nsys", path))
        self.tool("nsys", "exit 0")
        self.assertIn("could not be exported by nsys: it wrote nothing.", self.refused("--nsys", path))
        self.tool("ncu", 'echo "==ERROR== Failed to open the report."\nexit 1')
        self.assertIn("by ncu: ==ERROR== Failed to open the report.", self.refused("--ncu", self.file("a.ncu-rep", b"NVR\0")))
        self.nothing_is_left()

    def test_what_is_wrong_in_the_export_names_the_report(self):
        path = self.nsys()
        export_nsys(self.folder / "made.sqlite", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
        self.assertIn(f"{path} has no table CUPTI_ACTIVITY_KIND_KERNEL", self.refused("--nsys", path))
        self.nothing_is_left()
        self.tool("ncu", 'echo "==WARNING== No kernels were profiled."')
        said = self.refused("--ncu", self.file("a.ncu-rep", b"NVR\0"))
        self.assertIn(f"{self.folder}/a.ncu-rep is a log of ncu's without a kernel", said)
        self.nothing_is_left()

    def test_ctrl_c_ends_a_program_that_hangs(self):
        path = self.nsys()
        started = self.folder / "started"
        # What it starts is ended with it.
        self.tool("nsys", f'sleep 1000 &\necho $! > "{started}"\nmv "{started}" "{started}.all"\nwait')
        process = subprocess.Popen([import_run.PROGRAM, "import", "--nsys", path, "-o", self.folder / "out.json"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not pathlib.Path(f"{started}.all").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertFalse((self.folder / "out.json").exists())
        self.nothing_is_left()
        slept = int(pathlib.Path(f"{started}.all").read_text())
        def running():
            try:
                return pathlib.Path(f"/proc/{slept}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
            except (FileNotFoundError, ProcessLookupError):
                return False
        for _ in range(1000):
            if not running():
                break
            time.sleep(0.01)
        self.assertFalse(running())

    def test_without_the_program_the_command_is_named(self):
        if any(pathlib.Path(place).exists() and list(pathlib.Path(place).glob("**/" + name)) for place in INSTALLED for name in ("nsys", "ncu")):
            self.skipTest("the tools are installed here")
        path = self.file("run.nsys-rep", b"NVIDIA Tegra Profiler Report 1.")
        self.assertIn("export it with `nsys export --type sqlite -o run.sqlite", self.refused("--nsys", path))
        self.assertIn("export it with `ncu --import", self.refused("--ncu", self.file("run.ncu-rep", b"NVR\0")))
        home = self.folder / "cuda" / "bin"
        home.mkdir(parents=True)
        self.nsys()
        (self.tools / "nsys").rename(home / "nsys")
        os.environ["CUDA_HOME"] = str(home.parent)
        self.report("--nsys", path)


if __name__ == "__main__":
    unittest.main()
