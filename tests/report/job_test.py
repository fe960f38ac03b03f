# SPDX-License-Identifier: Apache-2.0
"""A job whose ranks have a `gable profile` each, as with srun and mpirun: names that do not collide, and one table."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from small import STEPS, path_of

GABLE = os.environ["GABLE_PROGRAM"]
PLAYER = os.path.join(os.path.dirname(GABLE), "..", "lib", "playback", "gable-player")
LAUNCHERS = {"torchrun": ("RANK", "WORLD_SIZE"), "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
             "srun": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")}


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def start(self, rank, size, *options, launcher="srun", program=(PLAYER, path_of("layers"))):
        names = LAUNCHERS[launcher]
        clean = {name: value for name, value in os.environ.items()
                 if name != "GABLE_OPTIONS" and not any(name in pair for pair in LAUNCHERS.values())}
        command = [GABLE, "profile", "--playback", path_of("layers"), *STEPS, *options, "--", *program]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                env=clean | {names[0]: str(rank), names[1]: str(size)})

    def job(self, size, *options, **more):
        """What each rank's `gable profile` says on standard error."""
        said = []
        for running in [self.start(rank, size, *options, **more) for rank in reversed(range(size))]:
            out, err = running.communicate(timeout=300)
            self.assertEqual((running.returncode, out), (0, ""), err)
            said.insert(0, err)
        return said

    def files(self):
        return sorted(os.listdir(self.folder))

    def test_one_name_gives_each_rank_its_own(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher):
                said = self.job(3, "-o", f"{launcher}.json", launcher=launcher)
                self.assertEqual([name for name in self.files() if name.startswith(launcher)],
                                 [f"{launcher}-rank{rank}.json" for rank in range(3)])
                self.assertEqual(said[1:], ["", ""])

    def test_the_usual_name_has_the_rank_too(self):
        self.job(2)
        self.assertEqual(sorted(re.sub(r"^gable-.*-\d+-", "", name) for name in self.files()), ["rank0.json", "rank1.json"], self.files())

    def test_a_name_with_the_rank_stays(self):
        self.job(2, "-o", "%r-of-%q{SLURM_STEP_NUM_TASKS}.json")
        self.assertEqual(self.files(), ["0-of-2.json", "1-of-2.json"])

    def test_the_first_rank_prints_the_table_of_all(self):
        said = self.job(4, "-o", "run.json")
        self.assertIn("4 processes", said[0])
        self.assertIn(f"Reports of 4 processes: {self.folder}/run-rank*.json\n", said[0])
        self.assertIn("gable report " + os.path.join(self.folder, "run-rank*.json"), said[0])
        self.assertNotIn("There is no report", said[0])
        self.assertEqual(said[1:], [""] * 3)

    def test_the_first_rank_writes_the_page(self):
        said = self.job(2, "-o", "run.json", "-q", "--html", "page.html")
        self.assertEqual(self.files(), ["page.html", "run-rank0.json", "run-rank1.json"])
        self.assertIn("page.html", said[0])

    def test_a_rank_that_left_nothing_is_named(self):
        others = [self.start(1, 3, "-o", "run.json", program=("true",)), self.start(2, 3, "-o", "run.json")]
        said = [running.communicate(timeout=300)[1] for running in others]
        first = self.start(0, 3, "-o", "run.json").communicate(timeout=300)[1]
        self.assertIn("gable: There is no report of rank 1 yet, so the table is without.\n", first)
        self.assertIn("gable: No report was written: no CUDA kernel launch was seen", said[0])
        self.assertEqual(said[1], "")

    def test_the_reports_of_a_former_job_are_no_part(self):
        self.job(3, "-o", "run.json")
        for name in self.files():
            os.utime(os.path.join(self.folder, name), (1, 1))
        said = self.job(2, "-o", "run.json")
        self.assertIn("Reports of 2 processes", said[0])

    def test_with_ranks_that_write_nothing(self):
        said = self.job(4, "-o", "run.json", "--ranks", "1::2")
        self.assertEqual(self.files(), ["run-rank1.json", "run-rank3.json"])
        self.assertIn("Reports of 2 processes", said[0])
        self.assertNotIn("There is no report", said[0])

    def test_a_program_that_tells_its_rank_itself(self):
        """As one that sets RANK before it joins the others: the library is there before that."""
        program = (sys.executable, "-B", "-c", "import os; from kernels import Gpu; gpu = Gpu();"
                   "os.environ.update(RANK='1', WORLD_SIZE='2'); gpu.launch('work'); gpu.wait()")
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=os.path.join(os.path.dirname(__file__), "..", "launching")):
            running = self.start(0, 1, "-o", "run.json", program=program)
        err = running.communicate(timeout=300)[1]
        self.assertEqual(self.files(), ["run-rank1.json"], err)
        with open(os.path.join(self.folder, "run-rank1.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["run"]["rank"], 1)


if __name__ == "__main__":
    unittest.main()
