# SPDX-License-Identifier: Apache-2.0
"""gable fleet: it names what was planted, and nothing else."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

import synthetic
from fleets import BUILD, GABLE, LONG, PYTHON, ROOT, FleetTest, layers_report, played


def own_time_of(report, share):
    """Makes a rank's kernels take this much longer, all of them alike."""
    for row in report["layers"]:
        row["time_ns"] = {name: None if value is None else round(value * (1 + share)) for name, value in row["time_ns"].items()}


def layer_of(report, path):
    return next(layer for layer in report["layers"] if "/".join(layer["path"]) == path)


class Ranks(FleetTest):
    def slow(self, answers):
        return {(row["job"], row["rank"]): row for row in answers["slow_ranks"]}

    def test_stragglers_are_named_with_their_layers_and_nobody_else(self):
        template = layers_report(self.folder)
        self.job(template, "a", ranks=40, slower={3: 0.2, 17: 0.11})
        self.job(template, "b", ranks=40)
        answers = self.judged()
        found = self.slow(answers)
        self.assertEqual(list(found), [("a", 3), ("a", 17)])
        victim = synthetic.victim(template)
        for (_, rank), share in (((0, 3), 0.2), ((0, 17), 0.11)):
            row = found["a", rank]
            # The others' median is within 1 % of the template.
            self.assertAlmostEqual(row["slower"], share, delta=0.025)
            self.assertEqual((row["layer"], row["direction"], row["hostname"]), ("/".join(victim["path"]), victim["direction"], synthetic.node(rank)))
            self.assertGreater(row["layer_ns"], row["layer_middle_ns"])
        self.assertEqual(answers["fleet"]["slow"], 2)
        self.assertEqual({row["job"]: row["slow"] for row in answers["jobs"]}, {"a": 2, "b": 0})

    def test_like_is_compared_with_like(self):
        """Pipeline stages have other layers, other GPUs other speeds, and other days other jobs."""
        template = layers_report(self.folder)

        def stage(report, rank):
            if rank % 2:
                own_time_of(report, 1)
                report["layers"][-1]["path"][-1] += " of the other stage"
        self.job(template, "stages", change=stage)
        self.job(template, "gpus", change=lambda report, rank: rank % 2 and (own_time_of(report, 1), report["devices"][0].update(name="another GPU")))
        for day in ("2026-03-02", "2026-03-03"):
            self.job(template, "days", ranks=8, day=day, change=lambda report, rank: day == "2026-03-03" and own_time_of(report, 1))
            self.gable("export", "reports/days", "--parquet", "data")
        answers = self.judged()
        self.assertEqual(answers["slow_ranks"], [])
        self.assertEqual(answers["fleet"]["compared"], 16 + 16 + 8 + 8)

    def test_noise_is_no_straggler(self):
        """What is within four deviations of ranks that differ much is not named, and what is beyond is."""
        template = layers_report(self.folder)
        self.job(template, "noisy", ranks=40, change=lambda report, rank: own_time_of(report, (rank % 5) * 0.08 + (1.2 if rank == 33 else 0)))
        self.assertEqual(list(self.slow(self.judged())), [("noisy", 33)])

    def test_waiting_for_others_is_left_out_where_it_is_known(self):
        """A rank whose host is slow has kernels like the others, and exposes less communication: they wait for it."""
        template = layers_report(self.folder)

        def wait(report, rank):
            wall = report["step"]["wall_ns"]["mean"]
            report["step"]["exposed"] = {"compute_ns": wall / 2, "communication_ns": wall * (0.1 if rank == 5 else 0.3), "copies_ns": 0, "idle_ns": 0,
                                         "saving_ns": None}
        self.job(template, "waits", change=wait)
        row = self.slow(self.judged())["waits", 5]
        self.assertTrue(row["by_step"])
        self.assertAlmostEqual(row["slower"], 0.9 / 0.7 - 1, delta=0.01)

    def test_two_ranks_are_not_compared_and_unknown_is_not_zero(self):
        template = layers_report(self.folder)
        self.job(template, "pair", ranks=2, slower={1: 0.5})

        def unknown(report, _):
            for row in report["layers"]:
                row["time_ns"] = dict.fromkeys(row["time_ns"])
                row["saving_ns"] = None
            report["step"]["wall_ns"] = None
        self.job(template, "unknown", ranks=4, change=unknown)
        answers = self.judged()
        self.assertEqual((answers["fleet"]["compared"], answers["slow_ranks"]), (0, []))
        jobs = {row["job"]: row for row in answers["jobs"]}
        self.assertIsNone(jobs["unknown"]["lost_gpus"])
        self.assertGreater(jobs["pair"]["lost_gpus"], 0)
        said, _ = self.gable("fleet", "data")
        self.assertIn("No ranks can be compared", said)
        self.assertNotIn("No rank is slow", said)


class Losses(FleetTest):
    def test_lost_gpus_are_the_share_of_the_step_above_the_roofs(self):
        template = layers_report(self.folder)
        self.job(template, "job", ranks=4)
        answers = self.judged()
        root, step = layer_of(template, ""), 1.25 * synthetic.total(template)
        job, = answers["jobs"]
        self.assertEqual(job["gpus"], 4)
        self.assertAlmostEqual(job["lost_gpus"], 4 * root["saving_ns"] / step, delta=0.02 * 4)
        # The layers' own losses are the job's.
        self.assertAlmostEqual(sum(row["lost_gpus"] for row in answers["layers"]), job["lost_gpus"], delta=1e-3)
        self.assertAlmostEqual(sum(row["gpus"] for row in answers["layers"]), 4 * synthetic.total(template) / step, delta=0.02 * 4)
        self.assertEqual(answers["layers"], sorted(answers["layers"], key=lambda row: -row["lost_gpus"]))
        self.assertNotIn("", {row["layer"] for row in answers["layers"]})  # no kernel is the program's own

    def test_every_gpu_of_a_process_counts(self):
        report = played(self.folder, "small/two_devices.jsonl", "--step-range", "^step")
        self.write("reports/job/run.json", report)
        answers = self.judged()
        self.assertEqual((answers["fleet"]["gpus"], answers["jobs"][0]["gpus"]), (2, 2))
        saved = sum(layer["saving_ns"] for layer in report["layers"] if layer["parent"] is None)
        self.assertGreater(saved, 0)
        self.assertAlmostEqual(answers["jobs"][0]["lost_gpus"], saved / report["step"]["wall_ns"]["mean"])
        self.assertAlmostEqual(sum(row["lost_gpus"] for row in answers["layers"]), answers["jobs"][0]["lost_gpus"])

    def test_a_process_that_was_measured_again_counts_once_and_has_a_history(self):
        template = layers_report(self.folder)
        for queue in range(1, 5):
            for rank in range(3):
                report = synthetic.one_rank(template, rank, 0)
                report["run"].update(queue=queue, wall_time_s=86400 * queue)
                if queue == 4:
                    own_time_of(report, 0.5)
                self.write(f"reports/server/run-rank{rank}-{queue}.json", report)
        answers = self.judged()
        self.assertEqual((answers["fleet"]["processes"], answers["fleet"]["runs"], answers["fleet"]["gpus"], answers["fleet"]["days"]), (3, 12, 3, 4))
        self.assertEqual((answers["jobs"][0]["processes"], answers["slow_ranks"]), (3, []))
        self.assertAlmostEqual(sum(row["gpus"] for row in answers["layers"]), 3 * 1.5 * synthetic.total(template) / (1.25 * synthetic.total(template)), delta=0.05)
        self.assertEqual({row["since"] for row in answers["slower_layers"]}, {"2026-03-06"})
        self.assertIn("step/block", {row["layer"] for row in answers["slower_layers"]})

    def test_a_queue_that_timed_nothing_does_not_hide_the_one_before(self):
        template = layers_report(self.folder)
        for queue in (1, 2):
            report = synthetic.one_rank(template, 0, 0)
            report["run"]["queue"] = queue
            if queue == 2:
                report["run"]["steps"]["time"] = 0
                report["step"]["wall_ns"] = None
            self.write(f"reports/server/run-{queue}.json", report)
        answers = self.judged()
        self.assertEqual((answers["fleet"]["processes"], answers["fleet"]["runs"]), (1, 2))
        self.assertGreater(answers["jobs"][0]["lost_gpus"], 0)

    def test_runs_without_steps_are_named_and_lose_nothing_known(self):
        template = layers_report(self.folder)
        self.job(template, "job", ranks=4, change=lambda report, rank: report["run"].update(unit="run", complete=False))
        answers = self.judged()
        self.assertIsNone(answers["jobs"][0]["lost_gpus"])
        self.assertEqual(answers["jobs"][0]["gpus"], 4)
        said, _ = self.gable("fleet", "data")
        for sentence in ("All processes are from playback: no GPU was measured there.", "All processes know no steps: their losses are unknown.",
                         "All processes have only a snapshot"):
            self.assertIn(sentence, said)


class Days(FleetTest):
    def days(self, template, change, days=8, **more):
        for day in range(1, days + 1):
            self.job(template, f"night-{day}", ranks=6, day=f"2026-03-{day:02}", change=lambda report, rank: change(report, rank, day), **more)
        return self.judged()

    def test_a_layer_that_became_slower_is_named_with_its_day(self):
        template = layers_report(self.folder)
        path = "/".join(synthetic.victim(template)["path"])

        def change(report, _, day):
            layer_of(report, path)["time_ns"]["self"] *= 1.2 if day >= 4 else 1 + 0.004 * (day % 3)
            report["step"]["wall_ns"]["mean"] *= 1.001 ** (day % 2)
        answers = self.days(template, change)
        row, = answers["slower_layers"]
        self.assertEqual((row["layer"], row["since"], row["day"], row["days_before"]), (path, "2026-03-04", "2026-03-08", 7))
        self.assertAlmostEqual(row["slower"], 0.2, delta=0.01)
        self.assertEqual(answers["slower_nodes"], [])

    def test_other_work_and_noisy_days_are_not_named(self):
        template = layers_report(self.folder)
        path = "/".join(synthetic.victim(template)["path"])

        def change(report, _, day):
            if day >= 6:
                layer = layer_of(report, path)
                layer["time_ns"]["self"] *= 2
                layer["flops"]["total"] = layer["flops"]["total"] * 2 + 1
            report["step"]["wall_ns"]["mean"] *= (1, 1.3, 0.9, 1.25)[day % 4]
        self.assertEqual(self.days(template, change)["slower_layers"], [])

    def test_a_node_that_became_slow_is_named_with_its_day(self):
        template = layers_report(self.folder)

        def change(report, rank, day):
            report["run"]["hostname"] = f"n{rank}"
            if rank == 2 and day >= 7:
                own_time_of(report, 0.15)
        answers = self.days(template, change)
        row, = answers["slower_nodes"]
        self.assertEqual((row["hostname"], row["since"]), ("n2", "2026-03-07"))
        self.assertAlmostEqual(row["slower"], 0.15, delta=0.02)

    def test_one_day_has_nothing_to_compare_with(self):
        self.job(layers_report(self.folder), "job")
        self.judged()
        said, _ = self.gable("fleet", "data")
        self.assertIn("Layers cannot be compared with earlier days: all runs are of one day.", said)
        self.assertNotIn("Nothing became slower", said)


class Shown(FleetTest):
    def test_the_tables_fit_the_terminal(self):
        self.job(layers_report(self.folder), "a-job-with-quite-a-long-name", ranks=16, slower={3: 0.2})
        self.judged()
        for columns in (80, 120):
            said, _ = self.gable("fleet", "data", COLUMNS=str(columns))
            self.assertLessEqual(max(len(line.rstrip()) for line in said.splitlines()[1:]), columns)
            self.assertIn("rank 3", said)

    def test_names_steer_no_terminal_and_folders_have_any_name(self):
        template = layers_report(self.folder)

        def evil(report, _):
            for layer in report["layers"][1:]:
                layer["path"][0] = "\x1b[31mred\u202e"
            report["run"]["hostname"] = "\x1b]0;title\x07"
        self.job(template, "evil", ranks=4, slower={2: 0.3}, change=evil)
        self.gable("export", "reports", "--parquet", "a [1] *'s", "--job", "\x1b[2J")
        said, problem = self.gable("fleet", "a [1] *'s")
        self.assertEqual(problem, "")
        self.assertIn("rank 2", said)
        self.assertIn("\ufffd[31mred\ufffd", said)
        self.assertTrue(all(letter.isprintable() or letter == "\n" for letter in said))
        _, problem = self.gable("fleet", "a [1] *'s", "--job", "\x1b[2K", code=2)
        self.assertNotIn("\x1b", problem)

    def test_bad_use_is_told(self):
        self.job(layers_report(self.folder), "job", ranks=1)
        self.gable("export", "reports", "--parquet", "data")
        (self.folder / "newer").mkdir()
        (self.folder / "newer" / "_gable_dataset.json").write_text('{"gable_dataset": 2}', encoding="utf-8")
        for words, sentence in ((("nosuch",), "nosuch is no dataset of Gable: make one with 'gable export REPORTS --parquet nosuch'."),
                                (("newer",), "newer was written by another version of Gable (dataset 2, this program has 1)"),
                                (("data", "--job", "another"), "data has no job another; it has job."),
                                (("data", "--html", "no/such/folder.html"), "no/such/folder.html cannot be written: No such file or directory.")):
            with self.subTest(words):
                said, problem = self.gable("fleet", *words, code=2)
                self.assertEqual((said, problem.count("\n")), ("", 1))
                self.assertIn(sentence, problem)
        for block in (self.folder / "data" / "layers").rglob("*.parquet"):
            block.write_bytes(block.read_bytes()[:-20])
        _, problem = self.gable("fleet", "data", code=2)
        self.assertEqual(problem.count("\n"), 1)
        self.assertIn("Export the reports again.", problem)


class Cluster(FleetTest):
    """A scheduler and two workers, each a process of its own, as `dask` starts them."""

    def start(self, *words):
        log = open(self.folder / f"{words[0]}.log", "a", encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen([PYTHON, "-m", "distributed.cli.dask_" + words[0], *words[1:]], stdout=log, stderr=log, cwd=self.folder,
                                   start_new_session=True)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)

    def test_a_cluster_gives_the_same_answers(self):
        template = layers_report(self.folder)
        for name, slower in (("a", {3: 0.2}), ("b", {}), ("c", {5: 0.3})):
            self.job(template, name, slower=slower)
        alone = self.judged()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        self.start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--protocol", "tcp")
        for _ in range(2):
            self.start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        workers = "import json, distributed, sys\nclient = distributed.Client(sys.argv[1])\nclient.wait_for_workers(2, timeout=60)\nprint(json.dumps(len(client.scheduler_info()['workers'])))"
        for _ in range(50):  # until the scheduler listens
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.2)
        self.assertEqual(self.python(workers, address), 2)
        shared = json.loads(self.gable("fleet", "data", "--json", "-", "--dask", address)[0])
        self.assertEqual({(row["job"], row["rank"]) for row in shared["slow_ranks"]}, {("a", 3), ("c", 5)})
        self.assertEqual(set(shared), set(alone))
        for question, answer in alone.items():
            for one, other in zip([answer] if isinstance(answer, dict) else answer, [shared[question]] if isinstance(answer, dict) else shared[question], strict=True):
                for name, value in one.items():
                    if isinstance(value, float):
                        self.assertAlmostEqual(other[name], value, delta=1e-9 * abs(value) + 1e-12, msg=(question, name))  # sums in another order
                    else:
                        self.assertEqual(other[name], value, (question, name))
        # Workers, and nobody else, read the files: without them there, a sentence says what workers need.
        (self.folder / "data" / "layers" / "job=a").rename(self.folder / "gone")
        (self.folder / "data" / "layers" / "job=a").mkdir()
        (self.folder / "data" / "layers" / "job=a" / "x.parquet").write_text("no Parquet", encoding="utf-8")
        said, problem = self.gable("fleet", "data", "--dask", address, code=2)
        self.assertEqual(said, "")
        self.assertIn("gable: --dask: a worker could not do its part: ", problem)

    def test_no_cluster_is_told(self):
        self.job(layers_report(self.folder), "job", ranks=1)
        self.judged()
        with socket.socket() as taken:  # nobody listens there
            taken.bind(("127.0.0.1", 0))
            _, problem = self.gable("fleet", "data", "--dask", f"tcp://127.0.0.1:{taken.getsockname()[1]}", code=2)
        self.assertIn("gable: --dask: no cluster answers at tcp://127.0.0.1:", problem)


class Scale(FleetTest):
    @unittest.skipUnless(LONG, "takes two minutes and 4 GB: GABLE_LONG_TESTS")
    def test_a_hundred_thousand_ranks(self):
        """What docs/dataset.md has numbers of; here the names of the slow ranks count, and not the time."""
        played(self.folder, "resnet50-train.jsonl", "--step-range", "^step$")
        run = subprocess.run([sys.executable, ROOT / "tests" / "fleet" / "scale.py", GABLE, PYTHON, self.folder / "resnet50-train.json", self.folder / "work"],
                             capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(BUILD / "lib" / "python")})
        print(run.stdout)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
