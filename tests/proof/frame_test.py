# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu/prove.sh promises, with a stage made up for the test."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import prove

STAGE = """
good() { echo '{"what":"count","says":"all is well","n":1,"m":null,"unknown":{"m":"it is not known here"}}'; echo some noise; }
empty() { echo '{"a":{"b":[null]}}'; }
silent() { :; }
skips() { echo '{"skipped":"there is no such thing"}'; exit 77; }
hangs() { echo '{"n":1}'; trap '' TERM; sleep 1000 & echo $! >"$ROOT/child"; wait; sleep 1000; }
leaves() { echo '{"n":1}'; sleep 1000 & echo $! >"$ROOT/child"; }
once() { echo run >>"$ROOT/runs"; echo '{"n":1}'; }
crashes() { echo '{"n":1}'; kill -SEGV $BASHPID; }
may_be_empty allowed skip 'the test says so'
case $(<"$ROOT/wanted") in
  good) experiment good 60 good; experiment once 60 once; experiment allowed 60 skips ;;
  empty) experiment empty 60 empty ;;
  silent) experiment silent 60 silent ;;
  skips) experiment skips 60 skips; skip_experiment other 'not here' ;;
  hangs) experiment hangs 5 hangs; experiment once 60 once ;;
  leaves) experiment leaves 60 leaves; experiment once 60 once ;;
  crashes) experiment crashes 60 crashes; experiment once 60 once ;;
  short) experiment hangs 1000 hangs; experiment once 60 once ;;
esac
"""


class Frame(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name).resolve()
        shutil.copytree(prove.ROOT / "scripts" / "gpu", self.root / "scripts" / "gpu")
        (self.root / "tests" / "hazards").mkdir(parents=True)
        shutil.copy(prove.ROOT / "tests" / "hazards" / "gpu.jsonl", self.root / "tests" / "hazards")
        (self.root / "scripts" / "gpu" / "stages" / "demo.sh").write_text(STAGE, encoding="utf-8")
        self.out = self.root / "out"

    def rehearse(self, wanted, *arguments, **more):
        (self.root / "wanted").write_text(wanted, encoding="utf-8")
        return prove.prove("--rehearse", "-o", self.out, *(arguments or ("demo",)), root=self.root, **more)

    def lines(self):
        return prove.lines(self.out / "demo.jsonl")

    def test_results_are_lines_that_say_where_they_come_from_and_a_table_comes_last(self):
        run = self.rehearse("good")
        self.assertEqual(0, run.returncode, run.stderr)
        first, end = self.lines()[:2]
        self.assertEqual(("demo", "good", "playback", "count"), tuple(first[k] for k in ("stage", "experiment", "source", "what")))
        self.assertEqual({"n": 1, "m": None}, first["fields"])
        self.assertEqual("Playback H200", first["gpu"])
        self.assertEqual("playback", first["driver"])
        self.assertGreaterEqual(first["cupti"], 18)
        self.assertEqual(("end", 0), (end["what"], end["exit"]))
        self.assertIn("some noise", (self.out / "prove.log").read_text(encoding="utf-8"))
        table = run.stdout.strip().splitlines()
        self.assertIn("PLAYBACK", table[0])
        self.assertRegex(table[2], r"^good +done +[0-9.]+ all is well$")
        self.assertTrue(all(len(row) <= 100 for row in table), table)

    def test_a_second_run_goes_on_where_the_first_stopped(self):
        self.rehearse("good")
        self.rehearse("good")
        self.assertEqual("run\n", (self.root / "runs").read_text(encoding="utf-8"))
        self.rehearse("good", "demo/once")
        self.assertEqual("run\n", (self.root / "runs").read_text(encoding="utf-8"))

    def test_one_experiment_can_be_asked_for(self):
        self.rehearse("good", "demo/once")
        self.assertEqual({"once"}, {line["experiment"] for line in self.lines()})

    def test_a_field_that_stays_empty_fails_a_rehearsal(self):
        run = self.rehearse("empty")
        self.assertEqual(1, run.returncode)
        self.assertIn("the field 'a.b.0' of 'result' is empty, and nothing says why", run.stderr)

    def test_no_result_fails_a_rehearsal(self):
        run = self.rehearse("silent")
        self.assertEqual(1, run.returncode)
        self.assertIn("demo/silent gave no result", run.stderr)

    def test_what_is_skipped_without_leave_fails_a_rehearsal(self):
        run = self.rehearse("skips")
        self.assertEqual(1, run.returncode)
        self.assertIn("demo/skips was skipped (there is no such thing), which it may not be", run.stderr)
        self.assertIn("demo/other was skipped (not here), which it may not be", run.stderr)

    def test_one_that_hangs_is_ended_with_all_it_started_and_the_next_one_runs(self):
        run = self.rehearse("hangs")
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.stdout, r"hangs +timed out")
        self.assertRegex(run.stdout, r"once +done")
        self.check_child_is_gone()
        self.assertEqual(1, self.lines()[0]["fields"]["n"])  # what it had said is kept

    def check_child_is_gone(self):
        child = (self.root / "child").read_text(encoding="utf-8").strip()
        state = pathlib.Path("/proc", child, "stat")  # or dead and not buried
        for _ in range(100):
            if not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX":
                return
            time.sleep(0.1)
        self.fail("a process that an experiment started goes on")

    def test_what_an_experiment_leaves_running_is_ended(self):
        run = self.rehearse("leaves")
        self.assertEqual(0, run.returncode, run.stderr)
        self.check_child_is_gone()

    def test_one_that_crashes_is_told_and_may_be_repeated(self):
        run = self.rehearse("crashes")
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.stdout, r"crashes +failed 139")
        before = len(self.lines())
        self.rehearse("crashes")
        self.assertEqual(before, len(self.lines()))
        self.rehearse("crashes", "--retry", "demo")
        self.assertLess(before, len(self.lines()))
        self.assertEqual("run\n", (self.root / "runs").read_text(encoding="utf-8"))

    def test_a_stage_ends_in_time_and_says_what_is_left(self):
        run = self.rehearse("short", GABLE_PROVE_SECONDS="4")
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.stdout, r"demo/hangs +left +no time was left")
        self.assertRegex(run.stdout, r"demo/once +left +no time was left")

    def test_a_folder_never_mixes_playback_and_hardware(self):
        self.rehearse("good")
        path = self.out / "demo.jsonl"
        path.write_text(path.read_text(encoding="utf-8").replace('"playback"', '"hardware"'), encoding="utf-8")
        run = self.rehearse("good")
        self.assertEqual(2, run.returncode)
        self.assertIn("name another folder with -o", run.stderr)

    def test_wrong_use_is_one_sentence(self):
        for arguments, said in ((("--fast",), "there is no option '--fast'"), (("nonsense",), "there is no stage 'nonsense'"),
                                (("-o",), "-o wants a folder")):
            with self.subTest(arguments):
                run = prove.prove(*arguments, root=self.root)
                self.assertEqual((2, 1), (run.returncode, len(run.stderr.strip().splitlines())), run.stderr)
                self.assertIn(said, run.stderr)

    def test_a_tree_that_is_not_whole_is_told(self):
        (self.root / "build" / "bin").mkdir(parents=True)
        run = prove.prove("-b", self.root / "build", "--rehearse", root=self.root)
        self.assertEqual(2, run.returncode)
        self.assertIn("lacks bin/gable: build the target 'prove'", run.stderr)


class Packed(unittest.TestCase):
    """What scripts/gpu/pack.sh packs is enough, away from the tree that was built."""

    def test_a_packed_tree_rehearses(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            packed = subprocess.run([prove.ROOT / "scripts" / "gpu" / "pack.sh", prove.BUILD, root / "build-prove"], env=prove.environment(),
                                    capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(0, packed.returncode, packed.stderr)
            self.assertRegex(packed.stderr, r"build-prove has [0-9]+ MB")
            shutil.copytree(prove.ROOT / "scripts" / "gpu", root / "scripts" / "gpu")
            shutil.copytree(prove.ROOT / "tests" / "gpu", root / "tests" / "gpu")
            (root / "tests" / "hazards").mkdir()
            shutil.copy(prove.ROOT / "tests" / "hazards" / "gpu.jsonl", root / "tests" / "hazards")
            run = subprocess.run([root / "scripts" / "gpu" / "prove.sh", "--rehearse", "-o", root / "out", "facts/about", "facts/endings",
                                  "truth/half"], env=prove.environment(), capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(0, run.returncode, run.stderr + run.stdout)
            self.assertRegex(run.stdout, r"endings +done .* 3 of 3 endings")
            packed_cupti = root / "build-prove" / "cuda-wheels" / "nvidia" / "cu13" / "lib"
            if packed_cupti.exists():  # the machine that packs may have no CUPTI
                self.assertEqual(["libcupti.so.13", "libnvperf_host.so", "libnvperf_target.so"], sorted(path.name for path in packed_cupti.iterdir()))
                self.assertEqual(b"\x7fELF", (packed_cupti / "libcupti.so.13").read_bytes()[:4])

    def test_a_rehearsal_builds_where_nothing_is_built(self):
        """With a cmake that brings along what is built already; tests/proof/fresh_test.py has the real one."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            shutil.copytree(prove.ROOT / "scripts" / "gpu", root / "scripts" / "gpu")
            shutil.copytree(prove.ROOT / "tests" / "gpu", root / "tests" / "gpu")
            (root / "tests" / "hazards").mkdir()
            shutil.copy(prove.ROOT / "tests" / "hazards" / "gpu.jsonl", root / "tests" / "hazards")
            (root / "CMakeLists.txt").touch()
            (root / "bin").mkdir()
            for path, text in ((root / "scripts" / "setup.sh", 'echo "setup $*" >>"$MADE"'),
                               (root / "bin" / "cmake", 'echo "cmake $*" >>"$MADE"; case $1 in --build) ln -s "$BUILT"/* "$2/" ;; -S) mkdir "$4" ;; esac')):
                path.write_text("#!/bin/bash\n" + text + "\n", encoding="utf-8")
                path.chmod(0o755)
            run = subprocess.run([root / "scripts" / "gpu" / "prove.sh", "--rehearse", "-o", root / "out", "sample"],
                                 env=prove.environment(PATH=f"{root / 'bin'}:{os.environ['PATH']}", MADE=str(root / "made"), BUILT=str(prove.BUILD)),
                                 capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(0, run.returncode, run.stderr + run.stdout)
            build = root / "build"
            self.assertEqual(["setup ", f"setup --cuda {build}", f"cmake -S {root} -B {build} -G Ninja -DGABLE_TESTS=ON -DCMAKE_BUILD_TYPE=Release",
                              f"cmake --build {build} --target prove"], (root / "made").read_text(encoding="utf-8").splitlines())
            self.assertRegex(run.stdout, r"sample +done +[0-9.]+ 8 of 8 numbers agree")

    def test_the_first_command_on_a_gpu(self):
        """What docs/gpu-proof.md names, rehearsed as it travels: its results are few and small."""
        line = re.search(r"^scripts/gpu/prove.sh --first.*$", (prove.ROOT / "docs" / "gpu-proof.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertIsNotNone(line)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            subprocess.run([prove.ROOT / "scripts" / "gpu" / "pack.sh", prove.BUILD, root / "build-prove"], env=prove.environment(),
                           capture_output=True, text=True, timeout=300, check=True)
            shutil.copytree(prove.ROOT / "scripts" / "gpu", root / "scripts" / "gpu")
            shutil.copytree(prove.ROOT / "tests" / "gpu", root / "tests" / "gpu")
            (root / "tests" / "hazards").mkdir()
            shutil.copy(prove.ROOT / "tests" / "hazards" / "gpu.jsonl", root / "tests" / "hazards")
            command = line.group(0).replace("--first", "--rehearse --first")
            run = subprocess.run(["bash", "-c", command], cwd=root, env=prove.environment(OUT=str(root / "out")), capture_output=True, text=True,
                                 timeout=600, check=False)
            self.assertEqual(0, run.returncode, run.stderr + run.stdout)
            self.assertRegex(run.stderr, r"prove: .*, Linux .*: counters and times; no call is refused")
            for name in ("sample", "runtime", "queue", "user_callbacks", "ranges_65536", "durations", "sampling_cost"):
                self.assertRegex(run.stdout, rf"\n{name} +(done|skipped)")
            results = list((root / "out").iterdir())
            self.assertEqual({"facts.jsonl", "sample.jsonl", "sample.json", "prove.log"}, {path.name for path in results})
            self.assertLess(max(path.stat().st_size for path in results), 1 << 20)

    def test_a_run_can_be_bounded(self):
        run = prove.prove("--rehearse", "--seconds", "1", "-o", "/dev/null/none", "sample")
        self.assertEqual(2, run.returncode)
        with tempfile.TemporaryDirectory() as folder:
            run = prove.prove("--rehearse", "--seconds", "2", "-o", folder, "sample")
            self.assertEqual(1, run.returncode)
            self.assertRegex(run.stdout, r"sample/sample +left +no time was left")
            self.assertIn("--seconds wants a number", prove.prove("--seconds", "soon").stderr)

    def test_without_a_build_the_way_out_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(prove.ROOT / "scripts" / "gpu", pathlib.Path(folder, "scripts", "gpu"))
            run = subprocess.run([pathlib.Path(folder, "scripts", "gpu", "prove.sh")], env=prove.environment(), capture_output=True, text=True,
                                 timeout=60, check=False)
        self.assertEqual(2, run.returncode)
        self.assertIn("build the target 'prove' here, or bring build-prove along, which scripts/gpu/pack.sh makes", run.stderr)


if __name__ == "__main__":
    unittest.main()
