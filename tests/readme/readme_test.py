# SPDX-License-Identifier: Apache-2.0
"""The commands of the README and of the commands' pages do what these say: readme_test.py ROOT BUILD [unittest's arguments]. BUILD is a finished build; where
the README says build/, it is used."""
import gzip
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
FLEET = BUILD / "fleet" / "bin" / "python"
README = (ROOT / "README.md").read_text(encoding="utf-8")
HAS_GPU = os.path.exists("/dev/nvidiactl")
# A program of one's own, standing in for `python train.py`: the sample on the playback GPU, with launches enough for
# windows of 200 where no step is named.
GPU = [
    {"gable_recording": 1, "origin": "hand-written", "note": "the GPU of the README's test"},
    {"device": 0, "name": "Playback H200", "chip": "GH100", "compute_capability": [9, 0], "sm_count": 132,
     "sm_clock_max_hz": 1980000000, "memory_clock_max_hz": 3201000000, "memory_bus_bits": 6144,
     "memory_bytes": 150754820096, "l2_bytes": 62914560},
    {"kernel": "triad", "name": "triad", "grid": [65536, 1, 1], "block": [256, 1, 1], "time_ns": 50000,
     "counters": {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1 << 24, "dram__sectors_read.sum": 1 << 22,
                  "dram__sectors_write.sum": 1 << 21}},
    {"kernel": "polynomial", "name": "polynomial", "grid": [65536, 1, 1], "block": [256, 1, 1], "time_ns": 400000,
     "counters": {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1 << 33, "dram__sectors_read.sum": 1 << 21,
                  "dram__sectors_write.sum": 1 << 21}},
]
# Forms, not examples.
PLACEHOLDER = re.compile(r"\b(REC|FILE|COMMAND|SHELL|program args)\b|\[")
PYTHON = '#!/bin/sh\nLD_LIBRARY_PATH="$README_PLAYBACK" exec "$README_PROGRAM" 4000\n'


def blocks():
    """The shell commands, one entry for each fenced block."""
    return re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def examples():
    """(page, lines) of every indented example of docs/commands that can be typed as it stands."""
    for page in sorted((ROOT / "docs" / "commands").glob("*.md")):
        for block in re.findall(r"(?:^    \S.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
            lines = [line.strip() for line in block.splitlines() if not PLACEHOLDER.search(line)]
            if lines:
                yield page.name, lines


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)
        for name in ("scripts", "tests"):
            (self.here / name).symlink_to(ROOT / name)
        (self.here / "build").symlink_to(BUILD)
        (self.here / "gpu.jsonl").write_text("".join(json.dumps(line) + "\n" for line in GPU), encoding="utf-8")
        (self.here / "stubs").mkdir()
        for name, text in (("python", PYTHON), ("srun", '#!/bin/sh\nexec "$@"\n')):
            (self.here / "stubs" / name).write_text(text, encoding="utf-8")
            (self.here / "stubs" / name).chmod(0o755)

    def run_here(self, command):
        environment = {k: v for k, v in os.environ.items() if k not in ("GABLE_OPTIONS", "LD_LIBRARY_PATH")
                       and not k.endswith("_INJECTION64_PATH")}
        environment |= {"GABLE_QUICKSTART_BUILD": str(BUILD), "README_PLAYBACK": str(BUILD / "lib" / "playback"),
                        "README_PROGRAM": str(BUILD / "bin" / "gable-sample"), "GABLE_PLAYBACK": str(self.here / "gpu.jsonl"), "GABLE_PYTHON": str(FLEET),
                        "PATH": f"{self.here / 'stubs'}:{BUILD / 'bin'}:{os.environ['PATH']}"}
        # The quickstart itself needs the real python nowhere: its build is finished.
        return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=self.here, env=environment, timeout=240,
                              capture_output=True, text=True, check=False)

    def assert_table(self, text):
        self.assertRegex(text, r"(?m)^.* DRAM.* FLOP/B, .* GPU, .*$")
        self.assertRegex(text, r"(?m)^(layer|kernel) .* saving$")

    def test_there_are_exactly_the_two_commands_for_the_set_up(self):
        section = README.split("## Two commands")[1].split("\n## ")[0]
        self.assertEqual(["scripts/quickstart.sh\n", "scripts/test.sh\n"], re.findall(r"```sh\n(.*?)```", section, re.DOTALL))

    def test_quickstart_ends_with_the_table_and_the_paths(self):
        run = self.run_here(blocks()[0])
        self.assertEqual(0, run.returncode, run.stderr)
        if not HAS_GPU:
            self.assertIn("no GPU here", run.stderr)
            self.assert_table(run.stderr)
            self.assertRegex(run.stderr, r"(?m)^\[playback\] ")
            self.assertIn("step/ResNet/layer4/2/conv2", run.stderr)
            self.assertNotIn("FLOP unknown", run.stderr)
        report = re.search(r"quickstart: the report is (\S+)", run.stderr)
        program = re.search(r"quickstart: the program is (\S+);", run.stderr)
        self.assertTrue(report and program, run.stderr)
        with open(report.group(1), encoding="utf-8") as file:
            self.assertEqual(2, json.load(file)["gable"]["schema"])
        self.assertTrue(os.access(program.group(1), os.X_OK), program.group(1))

    def test_the_second_command_is_what_ci_runs(self):
        command = blocks()[1].strip()
        self.assertTrue(os.access(ROOT / command, os.X_OK), command)
        self.assertRegex((ROOT / ".ci" / "run").read_text(encoding="utf-8"), rf"(?m)^{re.escape(command)}\b")

    def assert_no_gpu(self, run):
        self.assertEqual((1, ""), (run.returncode, run.stdout))
        self.assertRegex(run.stderr, r"^gable: No NVIDIA driver [^\n]*\n$")

    def test_the_commands_for_a_program_of_ones_own(self):
        if HAS_GPU:
            self.skipTest("the stand-in for a PyTorch program runs on the playback GPU, which a real driver would hide")
        commands = blocks()[2:]
        self.assertGreaterEqual(len(commands), 5, "the README lost its commands, or this test no longer finds them")
        for command in commands:
            with self.subTest(command):
                run = self.run_here(command)
                if " doctor" in command:
                    self.assertEqual(1, run.returncode, run.stderr)  # no driver
                    self.assertRegex(run.stdout, r"(?m)^driver +missing")
                    continue
                if " ceilings" in command:
                    self.assert_no_gpu(run)
                    continue
                self.assertEqual(0, run.returncode, f"{run.stdout}\n{run.stderr}")
                self.assertIn("steps, y[0] =", run.stdout)  # the program's own output
                text = run.stdout + run.stderr
                self.assert_table(text)
                self.assertIn("step/network/triad", text)
                self.assertEqual("--phases time" in command, "FLOP unknown" in text, text)
        self.assertTrue((self.here / "run.json").is_file() and list(self.here.glob("run-*.json")))

    def test_the_examples_on_the_pages(self):
        if HAS_GPU:
            self.skipTest("the stand-in for a program of one's own runs on the playback GPU")
        recording = "tests/data/recordings/resnet50-train.jsonl"
        self.run_here(f"gable profile -q --step-range '^step$' -o gable-node1-4711.json --playback {recording}")
        for name in ("before", "after", "main", "main1", "main2", "now", "now1", "now2"):
            shutil.copy(self.here / "gable-node1-4711.json", self.here / f"{name}.json")
        data = ROOT / "tests" / "data" / "import"
        shutil.copy(data / "ncu_details.csv", self.here / "counters.csv")
        shutil.copy(ROOT / "tests" / "data" / "plan" / "resnet50.json", self.here / "resnet50.json")
        for rank in range(2):
            trace = json.loads((data / "kineto_new.json").read_text(encoding="utf-8"))
            trace["distributedInfo"] = {"rank": rank}
            with gzip.open(self.here / f"rank{rank}.json.gz", "wt") as packed:
                json.dump(trace, packed)
        times = sqlite3.connect(self.here / "times.sqlite")
        times.executescript((data / "nsys_3.sql").read_text())
        times.execute("UPDATE NVTX_EVENTS SET text = 'step 1' WHERE text = 'model'")
        times.commit()
        times.close()
        for rank in range(2):
            with open(self.here / "gable-node1-4711.json", encoding="utf-8") as file:
                report = json.load(file)
            report["run"].update(rank=rank, pid=4711 + rank)
            (self.here / "reports").mkdir(exist_ok=True)
            for name in (f"rank-{rank}.json", f"run-rank{rank}.json", f"reports/run-rank{rank}.json"):
                (self.here / name).write_text(json.dumps(report), encoding="utf-8")
        pages = set()
        for page, lines in examples():
            if page in ("export.md", "fleet.md", "monitor.md") and not FLEET.exists():
                pages.add(page)  # scripts/setup.sh --fleet was not run
                continue
            if page == "window.md":
                continue  # about a program that runs: tests/report/window_test.py has one
            # The lines of a page's block belong together only where the first sets something up.
            for command in ["\n".join(lines)] if lines[0].startswith("eval") else lines:
                with self.subTest(page=page, command=command):
                    pages.add(page)
                    run = self.run_here(command)
                    if command.startswith("gable ceilings"):
                        self.assert_no_gpu(run)
                        continue
                    limited = command == "gable doctor"  # no driver
                    self.assertEqual(1 if limited else 0, run.returncode, f"{run.stdout}\n{run.stderr}")
                    self.assertTrue(run.stdout or "\nReport: " in run.stderr, run.stderr)
        self.assertEqual({page.name for page in (ROOT / "docs" / "commands").glob("*.md")} - {"window.md", "mcp.md"}, pages,
                         "a page has no example that can be typed as it stands")

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)#]+)\)", README):
            if "://" not in target:
                self.assertTrue((ROOT / target).exists(), target)


class Picture(unittest.TestCase):
    def test_is_what_the_program_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            drawn = pathlib.Path(folder) / "drawn.svg"
            subprocess.run([sys.executable, str(ROOT / "scripts" / "readme_picture.py"), str(BUILD / "bin" / "gable"), str(drawn)],
                           check=True, timeout=120)
            kept = ROOT / "docs" / "first-table.svg"
            self.assertEqual(kept.read_text(encoding="utf-8"), drawn.read_text(encoding="utf-8"),
                             "draw it anew: scripts/readme_picture.py BUILD/bin/gable")

    def test_says_that_it_is_playback(self):
        self.assertIn("no GPU was involved", (ROOT / "docs" / "first-table.svg").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
