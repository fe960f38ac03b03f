# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/launching.md, with the real launchers, on one machine and the playback GPU."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import slurm

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["GABLE_BUILD"])
LONG = os.environ.get("GABLE_LONG_TESTS")
TORCH, RAY = BUILD / "torch" / "bin" / "python", BUILD / "hazards" / "bin" / "python"


def blocks(heading, language="sh"):
    """The fenced blocks below that heading, in order."""
    page = (ROOT / "docs" / "launching.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE).group(1)
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


def machine(folder, python):
    """The environment of a user in `folder`, where `python` and `gable` are these."""
    # Nothing of a launcher that this test itself may have been started by.
    mine = {name: value for name, value in os.environ.items()
            if not re.match(r"GABLE_|RANK|WORLD_SIZE|MASTER_|LOCAL_|OMPI_|PMI|SLURM_|LD_LIBRARY_PATH|PYTHON|.*_INJECTION64_PATH", name)}
    return mine | {"PATH": f"{BUILD / 'bin'}:{python.parent}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(BUILD / "lib" / "playback"),
                   "GABLE_PLAYBACK": str(ROOT / "tests" / "pytorch" / "gpu.jsonl"), "TMPDIR": folder, "PYTHONDONTWRITEBYTECODE": "1",
                   "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "HOSTNAME": "localhost"}


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "train.py").symlink_to(ROOT / "tests" / "launching" / "train.py")

    def type(self, command, python=TORCH, timeout=300, **more):
        if not os.access(python, os.X_OK):
            self.skipTest(f"{python} is missing: see scripts/setup.sh")
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=self.folder, env=machine(str(self.folder), python) | more,
                             capture_output=True, text=True, timeout=timeout, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    def reports(self):
        return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.folder.glob("run*.json"))}

    def assert_ranks(self, size):
        """A complete report of each, with the model's layers in both directions."""
        reports = self.reports()
        self.assertEqual(sorted(reports), sorted(f"run-rank{rank}.json" for rank in range(size)))
        for rank in range(size):
            run, layers = reports[f"run-rank{rank}.json"]["run"], reports[f"run-rank{rank}.json"]["layers"]
            self.assertEqual((run["rank"], run["complete"], run["unit"]), (rank, True, "step"))
            modules = {(layer["path"][-1], layer["direction"]) for layer in layers if layer["path"]}
            self.assertLessEqual({(name, way) for name in ("0", "1", "2") for way in ("forward", "backward")}, modules)

    def assert_one_table(self, text, size):
        self.assertEqual(len(re.findall(r"(?m)^layer .* saving\b", text)), 1, text)
        self.assertIn(f"sum over {size} processes", text)

    def assert_job(self, run, size):
        self.assertRegex(run.stdout, rf"(?m)^loss \S+ on {size}$")
        self.assert_ranks(size)
        self.assert_one_table(run.stderr, size)


class Launchers(Job):
    def test_torchrun(self):
        (command,) = blocks("torchrun")[:1]
        self.assert_job(self.type(command), 2)

    def test_what_the_ranks_say_alike_is_said_once(self):
        """And what a later rank alone has to say stands below the table."""
        (command,) = blocks("torchrun")[:1]
        both = self.type(command, GABLE_PLAYBACK_FAULTS='{"fault":"no_permission"}')
        self.assertEqual(both.stderr.count("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"), 1, both.stderr)
        self.assertTrue(all("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in " ".join(report["run"]["notes"]) for report in self.reports().values()))
        (self.folder / "later.py").write_text("import os, runpy\nif os.environ['RANK'] == '1':\n"
                                              "    os.environ['GABLE_PLAYBACK_FAULTS'] = '{\"fault\":\"no_permission\"}'\n"
                                              "runpy.run_path('train.py', run_name='__main__')\n", encoding="utf-8")
        one = self.type(command.replace("train.py", "later.py"))
        self.assertNotIn("gable: cupti", one.stderr)
        self.assertRegex(one.stderr, r"(?m)^Note: In 1 of 2 processes: cuptiRangeProfilerEnable failed")

    @unittest.skipUnless(LONG, "eight times PyTorch")
    def test_torchrun_with_eight_ranks(self):
        command = blocks("torchrun")[0]
        eight = command.replace("--nproc-per-node 2", "--nproc-per-node 8")
        self.assertNotEqual(eight, command)
        self.assert_job(self.type(eight), 8)

    def test_mpirun(self):
        (command,) = blocks("mpirun")
        run = self.type(command)
        self.assert_job(run, 2)
        self.assertIn(f"Reports of 2 processes: {self.folder}/run-rank*.json", run.stderr)


@unittest.skipUnless(LONG, "starts a cluster")
class Slurm(Job):
    def setUp(self):
        super().setUp()
        missing = slurm.missing()
        if missing:
            self.skipTest(missing)
        cluster = slurm.Cluster(self.folder / "slurm")
        self.addCleanup(cluster.stop)
        self.variables = cluster.start()

    def test_srun(self):
        self.assert_job(self.type(blocks("Slurm")[0], **self.variables), 2)

    def test_a_job_script(self):
        self.type(blocks("Slurm")[1], **self.variables)
        log = (self.folder / "job.log").read_text(encoding="utf-8")
        self.assertRegex(log, r"(?m)^loss \S+ on 2$")
        self.assert_ranks(2)
        self.assert_one_table(log, 2)

    def test_a_job_whose_time_is_up(self):
        """Slurm's warning ends it before its time does, and there are the reports and the table."""
        script = blocks("Slurm")[1].replace("--time=10", "--time=1").replace("TERM@60", "TERM@50")
        run = self.type(script.strip() + " || true", TRAIN_STEPS="100000000", **self.variables)
        job = re.search(r"Submitted batch job (\d+)", run.stdout).group(1)
        self.assertRegex(self.type(f"scontrol show job {job}", **self.variables).stdout, r"JobState=FAILED .*")
        self.assertEqual([report["run"]["complete"] for report in self.reports().values()], [True, True])
        self.assert_one_table((self.folder / "job.log").read_text(encoding="utf-8"), 2)

    def test_the_variables(self):
        run = self.type(blocks("Slurm")[2], **self.variables)
        self.assert_ranks(2)
        self.assert_one_table(run.stdout, 2)

    def test_torchrun_on_each_node(self):
        command = blocks("torchrun")[1]
        self.assert_job(self.type(f"export SLURM_NNODES=1; {command}", **self.variables), 2)


@unittest.skipUnless(LONG, "starts a cluster")
class Ray(Job):
    ACTOR = """
import sys
sys.path.insert(0, LAUNCHING)

@ray.remote(num_cpus=1)
class Worker:
    def __init__(self):
        sys.path.insert(0, LAUNCHING)

    def work(self):
        from kernels import Gpu
        gpu = Gpu()
        for step in range(2000):
            gpu.launch("first" if step % 2 else "second")
        gpu.wait()
        return "done"

workers = [Worker.remote() for _ in range(2)]
print(ray.get([worker.work.remote() for worker in workers]))
del workers
import time
time.sleep(2)
ray.shutdown()
"""

    def test_an_actors_worker(self):
        (code,) = blocks("Ray", "python")
        self.assertIn("/tmp/reports/", code)
        reports = self.folder / "reports"
        reports.mkdir()
        program = code.replace("/tmp/reports/", f"{reports}/").replace("ray.init(", "ray.init(num_cpus=2, include_dashboard=False, ")
        (self.folder / "program.py").write_text(program + f"\nLAUNCHING = {str(ROOT / 'tests' / 'launching')!r}\n" + self.ACTOR,
                                                encoding="utf-8")
        run = self.type("python program.py", python=RAY)
        self.assertIn("['done', 'done']", run.stdout)
        written = [json.loads(path.read_text(encoding="utf-8")) for path in reports.glob("run-*.json")]
        self.assertEqual(len(written), 2, os.listdir(reports))
        for report in written:
            self.assertEqual({kernel["name"] for kernel in report["kernels"]}, {"first", "second"})
            self.assertTrue(report["run"]["complete"])


class Kubernetes(Job):
    def test_the_manifest(self):
        (manifest,) = blocks("Kubernetes", "yaml")
        (self.folder / "job.yaml").write_text(manifest, encoding="utf-8")
        self.type("kubernetes-validate --strict job.yaml", python=BUILD / "launching" / "bin" / "python")


if __name__ == "__main__":
    unittest.main()
