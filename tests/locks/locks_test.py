# SPDX-License-Identifier: Apache-2.0
"""Programs that hold locks of others while Gable works in them must end, as they do without it (docs/locks.md)."""
import glob
import json
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import report_schema  # noqa: E402
import watched  # noqa: E402

BUILD = os.environ["GABLE_BUILD"]
LOCKS, CHECKED = os.environ["GABLE_LOCKS"], os.environ["GABLE_LOCKS_CHECKED"]
ROUNDS = int(os.environ.get("GABLE_LOCK_ROUNDS", "50"))
GABLE = os.path.join(BUILD, "bin", "gable")
RECORDING = os.path.join(HERE, "gpu.jsonl")
ENDLESS = ["--step-range", "^step", "--active", "1000000"]  # windows come and go until the program ends
BRIEF = ["--step-range", "^step", "--active", "1"]
SANITIZERS = os.environ.get("GABLE_SANITIZE", "")
FORKS = unittest.skipIf(SANITIZERS, "the sanitizers' own locks are not made for forks beside threads")
STANDS_BEFORE = unittest.skipIf(SANITIZERS, "the sanitizer has to be the first library")


class Locks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_profiled(self, command, options=ENDLESS, preload="", **variables):
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_")) and k != "PYTHONPATH"}
        environment.update(variables, HOME=self.folder)
        program = ["env", "LD_PRELOAD=" + preload, *command] if preload else command
        run = watched.run([GABLE, "profile", "--playback", RECORDING, *options, "-o", os.path.join(self.folder, "r-%p.json"), "--",
                           *program], environment, self.folder)
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("collecting stopped", run.err)
        self.assertNotIn("collecting met a problem", run.err)
        return run

    def report(self):
        paths = glob.glob(os.path.join(self.folder, "r-*.json"))
        self.assertEqual(len(paths), 1)
        with open(paths[0], encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(report_schema.problems(document), [])
        return document

    def run_program(self, name, rounds=ROUNDS, last="done", **more):
        run = self.run_profiled([LOCKS, name, str(rounds)], **more)
        self.assertEqual(run.lines[-1:], [last], run.err)
        return run

    def check_rules(self, name, **more):
        """Under a library that checks calls: which are wrong can be seen at any time, not only when a lock is held."""
        broken = os.path.join(self.folder, "broken")
        self.run_program(name, preload=CHECKED, LOCKS_BROKEN=broken, **more)
        if os.path.exists(broken):
            with open(broken, encoding="utf-8") as file:
                self.fail("rules of docs/locks.md were broken:\n" + "".join(sorted(set(file))))

    # The loader's locks

    def test_objects_come_and_go(self):
        self.run_program("objects")
        self.assertGreater(self.report()["run"]["steps"]["seen"], 0)

    def test_constructors_join_threads_that_launch(self):
        self.run_program("constructors")

    def test_the_first_launches_are_in_a_constructor(self):
        self.run_program("first_launch_in_constructor")
        self.assertGreater(self.report()["run"]["steps"]["seen"], 0)

    def test_cuda_starts_in_a_constructor(self):
        run = self.run_program("cuda_starts_in_constructor")
        self.assertEqual(run.err.count("did not return"), 0, run.err)
        self.assertGreaterEqual(self.report()["run"]["steps"]["seen"], ROUNDS)

    def test_a_constructor_waits_for_launching_threads(self):
        self.run_program("constructor_waits")

    @STANDS_BEFORE
    def test_the_loader_is_asked_where_that_harms_nobody(self):
        for name in ("objects", "first_launch_in_constructor"):
            with self.subTest(name):
                self.check_rules(name)

    @STANDS_BEFORE
    def test_at_the_end_neither(self):
        self.check_rules("objects", options=BRIEF)

    # Allocators of the program's

    @STANDS_BEFORE
    def test_an_allocator_that_asks_the_loader(self):
        for name in ("constructors", "constructor_waits", "objects"):
            with self.subTest(name):
                self.check_rules(name, LOCKS_CURIOUS_MALLOC="1")

    # Processes

    @FORKS
    def test_forks_beside_threads(self):
        self.run_program("forks")

    @FORKS
    def test_forks_before_cuda(self):
        self.run_program("forks_before_cuda")

    # The environment

    def test_variables_come_and_go(self):
        self.run_program("variables")

    @STANDS_BEFORE
    def test_threads_of_gable_read_no_variables(self):
        self.check_rules("variables", options=BRIEF)

    # Standard streams

    def test_the_list_of_streams_is_locked(self):
        self.run_program("streams", last=f"round {ROUNDS - 1}")
        self.assertGreater(self.report()["run"]["steps"]["seen"], 0)

    def test_standard_error_is_full(self):
        run = self.run_program("full_standard_error", GABLE_PLAYBACK_FAULTS='{"fault":"no_permission"}')
        sentence = "RestrictProfiling"
        self.assertNotIn("gable: ", run.err.split("[playback]")[0])
        self.assertTrue(any(sentence in note for note in self.report()["run"]["notes"]), self.report()["run"])

    # The interpreter's lock

    def run_python(self, name, **more):
        run = self.run_profiled([sys.executable, os.path.join(HERE, "threads.py"), name, str(ROUNDS)], **more)
        self.assertEqual(run.lines[-1:], ["done"], run.err)

    def test_the_interpreter_is_locked(self):
        self.run_python("lock_held")

    def test_standard_error_is_full_and_its_reader_waits_for_the_interpreter(self):
        self.run_python("error_is_read", GABLE_PLAYBACK_FAULTS='{"fault":"no_permission"}')
        self.assertTrue(any("RestrictProfiling" in note for note in self.report()["run"]["notes"]))

    def test_imports_in_threads(self):
        self.run_python("imports")

    @FORKS
    def test_forks_of_python(self):
        self.run_python("forks")


if __name__ == "__main__":
    unittest.main()
