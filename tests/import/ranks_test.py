# SPDX-License-Identifier: Apache-2.0
"""Files of several ranks in one import: which kernels are one collective, what of each is waiting and what transfer, and what stays
unknown. The truth is drawn from fixed seeds (rank_traces.py)."""
import json
import os
import subprocess
import unittest
from collections import defaultdict

from import_run import PROGRAM, ImportTest, export_nsys, kernel, notes
from rank_traces import ALL, BROADCAST, EXCHANGE, GATHER, SCATTER, Job

WORLD4 = [("0", (0, 1, 2, 3))]
PAIRS = [("1", (0, 1)), ("2", (2, 3))]
ACROSS = [("3", (0, 2)), ("4", (1, 3))]
BODY = [(ALL, WORLD4, 1000), (GATHER, PAIRS, 200_000), (SCATTER, ACROSS, 300_000), (ALL, WORLD4, 1000)]


class RanksTest(ImportTest):
    def files(self, job, ranks=None, each=None, **options):
        return [self.file(f"rank{rank}.json", job.trace(rank, **options, **(each or {}).get(rank, {})))
                for rank in (range(job.ranks) if ranks is None else ranks)]

    def job(self, *arguments, **options):
        return self.report("--kineto", *self.files(*arguments, **options))

    def assert_truth(self, report, job, names, steps=None, within=0.001):
        """Means of a launch, over all ranks."""
        for name in names:
            launches = [launch for rank in range(job.ranks) for launch in job.exchanged(rank, name, steps)]
            row = kernel(report, name)["collective"]
            mean = sum(launch.wait for launch in launches) / len(launches)
            self.assertAlmostEqual(row["wait_ns"], mean, delta=within, msg=name)
            self.assertAlmostEqual(row["transfer_ns"], sum(launch.transfer for launch in launches) / len(launches), delta=within)
            if steps is None:
                self.assertAlmostEqual(row["wait_ns"] + row["transfer_ns"], kernel(report, name)["time_ns"]["mean"], delta=0.01)

    def assert_unknown(self, report, *names, why):
        for name in names:
            row = kernel(report, name)["collective"]
            self.assertTrue(row is None or (row["wait_ns"] is None and row["transfer_ns"] is None), row)
        self.assertIn(why, notes(report))

    def gable(self, *arguments, code=0, columns=160):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              env=dict(os.environ, COLUMNS=str(columns), GABLE_CEILINGS="none"))
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr


class Matching(RanksTest):
    def test_each_group_waits_for_its_own_ranks(self):
        for seed in (1, 2, 3):
            job = Job(seed, 4, BODY)
            report = self.job(job)
            self.assert_truth(report, job, (ALL, GATHER, SCATTER))
            self.assertEqual(report["run"]["ranks"], [0, 1, 2, 3])
            self.assertNotIn("unknown", notes(report))

    def test_of_each_process_and_layer(self):
        job = Job(4, 4, BODY)
        report = self.job(job)
        for rank, process in enumerate(report["run"]["processes"]):
            self.assertEqual(process["rank"], rank)
            exchanged = job.exchanged(rank)
            for name, truth in (("wait_ns", "wait"), ("transfer_ns", "transfer")):
                self.assertAlmostEqual(process["collectives"][name], sum(getattr(launch, truth) for launch in exchanged) / job.steps, delta=0.1)
            self.assertAlmostEqual(process["collectives"]["time_ns"], sum(launch.end - launch.start for launch in exchanged) / job.steps, delta=0.1)
        root = report["layers"][0]["collectives"]
        for name in ("time_ns", "wait_ns", "transfer_ns"):
            self.assertAlmostEqual(root[name], sum(process["collectives"][name] for process in report["run"]["processes"]) / 4, delta=0.1)

    def test_without_sequence_numbers_steps_line_up(self):
        job = Job(5, 4, BODY)
        self.assert_truth(self.job(job, sequence=False), job, (ALL, GATHER, SCATTER))

    def test_clocks_do_not_matter_where_numbers_tell(self):
        job = Job(6, 4, BODY)
        clocks = {rank: {"clock": 7_000_000_000 * rank} for rank in range(4)}
        for options in ({}, {"sequence": False}):
            self.assert_truth(self.job(job, each=clocks, **options), job, (ALL, GATHER, SCATTER))

    def test_events_in_any_order_and_gpus_of_any_number(self):
        job = Job(7, 4, BODY)
        report = self.job(job, shuffle=True, each={rank: {"device": (5 * rank + 3) % 8} for rank in range(4)})
        self.assert_truth(report, job, (ALL, GATHER, SCATTER))
        job = Job(7, 4, BODY)
        self.assert_truth(self.report("--kineto", *reversed(self.files(job))), job, (ALL, GATHER, SCATTER))

    def test_a_clipped_trace_lines_up_by_sequence_numbers(self):
        job = Job(8, 2, [(ALL, [("0", (0, 1))], 1000)], steps=40)
        keep = {0: {"keep": lambda launch: launch.step >= 1}, 1: {"keep": lambda launch: launch.step < 39}}
        report = self.job(job, each=keep, steps=False)
        self.assert_truth(report, job, [ALL], steps=range(1, 39))
        self.assertIn("of 2 collective kernels are unknown: some ranks have another number", notes(report))
        # Of few launches one in ten is too many to speak for all.
        job = Job(8, 2, [(ALL, [("0", (0, 1))], 1000)], steps=10)
        few = self.job(job, each={0: {"keep": lambda launch: launch.step >= 1}}, steps=False)
        self.assertEqual([row["collective"]["wait_ns"] is None for row in few["kernels"] if row["name"] == ALL].count(True), 1)

    def test_a_clipped_trace_without_numbers_is_unknown(self):
        job = Job(9, 2, [(ALL, [("0", (0, 1))], 1000)], steps=10)
        keep = {0: {"keep": lambda launch: launch.step >= 1}}
        for options in ({"sequence": False}, {"said": False}):
            self.assert_unknown(self.job(job, each=keep, steps=False, **options), ALL, why="some ranks have another number of them")
        # As many on both sides, and not the same ones: clocks show it, or nothing does.
        keep[1] = {"keep": lambda launch: launch.step < 9}
        for options in ({"sequence": False}, {"said": False}):
            self.assert_unknown(self.job(job, each=keep, steps=False, **options), ALL, why="nothing tells which launches belong together")
            self.assert_truth(self.job(job, steps=False, **options), job, [ALL])

    def test_steps_of_which_one_rank_has_a_part(self):
        job = Job(10, 2, [(ALL, [("0", (0, 1))], 1000), (GATHER, [("0", (0, 1))], 5000)], steps=30)
        keep = {0: {"keep": lambda launch: launch.step > 0 or launch.kernel != ALL}}
        report = self.job(job, each=keep, sequence=False)
        self.assertIn("of 3 collective kernels are unknown: some ranks have another number", notes(report))
        self.assert_truth(report, job, [GATHER], steps=range(1, 30))

    def test_steps_of_other_numbers_are_others(self):
        job = Job(11, 2, [(ALL, [("0", (0, 1))], 1000)], steps=6)
        self.assert_unknown(self.job(job, sequence=False, each={1: {"first_step": 7}}), ALL, why="some ranks have another number of them")

    def test_sizes_that_differ_are_not_one(self):
        job = Job(12, 2, [(ALL, [("0", (0, 1))], 1000)])
        for options in ({}, {"sequence": False}):
            self.assert_unknown(self.job(job, each={1: {"In msg nelems": 1001}}, **options), ALL, why="or other sizes, in the same place")

    def test_names_alone(self):
        job = Job(13, 4, [(ALL, WORLD4, 1000), (GATHER, WORLD4, 200_000)])
        for options in ({}, {"steps": False}):
            report = self.job(job, said=False, **options)
            self.assert_truth(report, job, (ALL, GATHER))
            row = kernel(report, GATHER)["collective"]
            self.assertEqual((row["kind"], row["ranks"], row["bytes"], row["bus_bytes_per_s"]), ("all_gather", 4, None, None))

    def test_names_alone_do_not_tell_two_groups_apart(self):
        job = Job(14, 4, [(ALL, PAIRS, 1000)])
        self.assert_unknown(self.job(job, said=False), ALL, why="the files name no process groups, and the ranks are not done together")
        self.assert_truth(self.job(job), job, [ALL])

    def test_ranks_without_a_file(self):
        job = Job(15, 4, BODY)
        report = self.job(job, ranks=(0, 1))
        self.assert_unknown(report, ALL, SCATTER, why="not all ranks of their group have a file here")
        launches = [launch for rank in (0, 1) for launch in job.exchanged(rank, GATHER)]
        self.assertAlmostEqual(kernel(report, GATHER)["collective"]["wait_ns"], sum(each.wait for each in launches) / len(launches), delta=0.001)
        pair = Job(15, 2, [(ALL, [("0", (0, 1))], 1000)])
        self.assert_unknown(self.job(pair, said=False, world=128), ALL, why="not all ranks of their group have a file here")

    def test_where_a_rank_may_leave_early_nothing_is_known(self):
        job = Job(16, 4, [(ALL, WORLD4, 1000), (BROADCAST, WORLD4, 1000)])
        report = self.job(job)
        self.assert_unknown(report, BROADCAST, why="of 16 launches that broadcast, reduce, send or receive are unknown")
        self.assert_truth(report, job, [ALL])
        self.assertIn("In collectives a process waits at least ", notes(report))
        self.assertIn(" of a process, at least ", self.table())

    def test_all_to_all(self):
        job = Job(17, 4, [(EXCHANGE, WORLD4, 1000)])
        self.assert_truth(self.job(job), job, [EXCHANGE])
        self.assert_unknown(self.job(job, each={2: {"In split size": "[100, 900]"}}), EXCHANGE, why="unknown")
        self.assert_unknown(self.job(job, said=False), EXCHANGE, why="send or receive are unknown")

    def test_what_the_rule_gets_wrong_at_most(self):
        """Ranks that are done at other times: no mean is further off than they are apart."""
        job = Job(18, 4, BODY, steps=10, skew=4000)
        report = self.job(job)
        self.assert_truth(report, job, (ALL, GATHER, SCATTER), within=4000)
        for name in (ALL, GATHER, SCATTER):
            transfers = [launch.transfer for rank in range(4) for launch in job.exchanged(rank, name)]
            self.assertLessEqual(kernel(report, name)["collective"]["transfer_ns"], max(transfers))
            self.assertGreaterEqual(kernel(report, name)["collective"]["transfer_ns"], min(transfers))


class Shown(RanksTest):
    def setUp(self):
        super().setUp()
        self.job_of_late = Job(20, 4, BODY, steps=6, late=2)

    def test_rates_are_of_the_transfer(self):
        row = kernel(self.job(self.job_of_late), GATHER)["collective"]
        self.assertAlmostEqual(row["bus_bytes_per_s"], row["bus_bytes"] / row["transfer_ns"] * 1e9, delta=1)
        alone = kernel(self.report("--kineto", self.folder / "rank0.json"), GATHER)
        self.assertIsNone(alone["collective"]["wait_ns"])
        self.assertAlmostEqual(alone["collective"]["bus_bytes_per_s"], row["bus_bytes"] / alone["time_ns"]["mean"] * 1e9, delta=1)

    def test_the_late_rank_is_named(self):
        report = self.job(self.job_of_late)
        self.assertRegex(notes(report), r"; the transfer takes [^;]*\. \d+\.\d % of the waiting is for rank 2\.")
        wait, time = (report["layers"][0]["collectives"][name] for name in ("wait_ns", "time_ns"))
        table = self.table()
        self.assertIn("Collectives: ", table)
        self.assertIn(f"waiting for other ranks ({100 * wait / time:.1f} %)", table)
        self.assertIn("; they wait mostly for rank 2", table)
        out = self.folder / "again.json"
        self.assertIn("of the waiting is for rank 2", self.gable("import", "--kineto", *(self.folder / f"rank{i}.json" for i in range(4)), "-o", out))
        evenly = self.job(Job(21, 4, [(ALL, WORLD4, 1000)] * 4, steps=30))
        self.assertIn("In collectives a process waits", notes(evenly))
        self.assertNotIn("of the waiting is for", notes(evenly))

    def test_a_late_rank_of_one_group_is_named_by_who_waits_for_it(self):
        """Nobody of the other group waits; who waits least in all of the job is none of its business."""
        report = self.job(Job(22, 4, [(ALL, PAIRS, 1000)] * 3, steps=6, late=0))
        others = [process["collectives"]["others_wait_ns"] for process in report["run"]["processes"]]
        self.assertGreater(others[0], 5 * max(others[1:]))
        self.assertAlmostEqual(sum(others), sum(process["collectives"]["wait_ns"] for process in report["run"]["processes"]), delta=1)
        self.assertIn("of the waiting is for rank 0", notes(report))

    def test_advice_is_to_even_out_the_ranks(self):
        self.job(self.job_of_late)
        table = " ".join(self.gable("report", self.folder / "report.json", columns=400).split())
        self.assertIn("find what rank 2 takes longer for", table)
        self.assertIn(" of that waiting for other ranks. They reach ", table)
        self.assertIn(" on the bus in transfer", table)
        self.assertNotIn("bucket_cap_mb", table)
        # Where they do not wait, it is about bytes; where nobody knows, too.
        self.job(Job(23, 2, [(ALL, [("0", (0, 1))], 20_000_000)]))
        self.assertIn("bucket_cap_mb", self.table())

    def test_csv_and_page(self):
        self.job(self.job_of_late)
        out = self.folder / "report.csv"
        self.gable("report", self.folder / "report.json", "--csv", out)
        lines = out.read_text().splitlines()
        self.assertIn("wait_ns,transfer_ns,others_wait_ns", lines[0])
        page = self.folder / "report.html"
        self.gable("report", self.folder / "report.json", "--html", page)
        self.assertIn(" waiting for other ranks and ", page.read_text())

    def test_reports_of_single_ranks_merge_without_it(self):
        files = self.files(self.job_of_late)
        for i, file in enumerate(files):
            self.gable("import", "--kineto", file, "-o", self.folder / f"one{i}.json")
        merged = self.folder / "merged.json"
        self.gable("merge", *(self.folder / f"one{i}.json" for i in range(4)), "-o", merged)
        separate = json.loads(merged.read_text())
        together = self.report("--kineto", *files)
        self.assertIsNone(kernel(separate, ALL)["collective"]["wait_ns"])
        self.assertEqual(separate["run"]["processes"][0]["collectives"] | dict.fromkeys(("wait_ns", "transfer_ns", "others_wait_ns"), 0),
                         together["run"]["processes"][0]["collectives"] | dict.fromkeys(("wait_ns", "transfer_ns", "others_wait_ns"), 0))
        for name in (ALL, GATHER, "gemm(float*)"):
            self.assertEqual(kernel(separate, name)["time_ns"], kernel(together, name)["time_ns"])
        shown = self.gable("diff", merged, self.folder / "report.json")
        self.assertNotIn("only in", shown)

    def test_gpus_of_other_kinds(self):
        job = Job(22, 2, [(ALL, [("0", (0, 1))], 1000)])
        report = self.job(job, each={1: {"name": "Tesla V100-SXM2-16GB"}})
        self.assertEqual(len(report["devices"]), 2)
        waits = {row["device"]: row["collective"]["wait_ns"] for row in report["kernels"] if row["name"] == ALL}
        for rank in range(2):
            exchanged = job.exchanged(rank)
            self.assertAlmostEqual(waits[rank], sum(launch.wait for launch in exchanged) / len(exchanged), delta=0.001)


class Files(RanksTest):
    def test_a_rank_twice(self):
        job = Job(30, 2, [(ALL, [("0", (0, 1))], 1000)])
        first, second = self.files(job)
        again = self.file("again.json", job.trace(0))
        self.assertIn("again.json is of rank 0, and so is a file before it: give the trace of each rank once",
                      self.refused("--kineto", first, second, again))
        self.assertIn("give the trace of each rank once", self.refused("--kineto", first, again))

    def test_a_file_without_a_rank(self):
        job = Job(31, 2, [(ALL, [("0", (0, 1))], 1000)])
        nameless = json.loads(job.trace(1))
        del nameless["distributedInfo"]
        nameless = self.file("nameless.json", json.dumps(nameless))
        three = self.files(job)
        self.assertIn("nameless.json does not say which rank it is from, and other files are of 2 ranks", self.refused("--kineto", *three, nameless))

    def test_ranks_by_order(self):
        job = Job(32, 2, [(ALL, [("0", (0, 1))], 1000)])
        files = []
        for rank in range(2):
            trace = json.loads(job.trace(rank))
            del trace["distributedInfo"]
            files.append(self.file(f"{rank}.json", json.dumps(trace)))
        report = self.report("--ranks", "--kineto", *files)
        self.assert_truth(report, job, [ALL])
        self.assertEqual(report["run"]["ranks"], [0, 1])
        self.assertIn("numbered in the order in which files were given", notes(report))

    def test_counters_have_one_rank(self):
        job = Job(33, 2, [(ALL, [("0", (0, 1))], 1000)])
        counters = self.file("counters.csv", '"ID","Kernel Name","a"\n"0","k","1"\n')
        self.assertIn("does not say which rank it is from", self.refused("--kineto", *self.files(job), "--ncu", counters))
        self.assertIn("--ranks takes files with times", self.refused("--ranks", "--kineto", *self.files(job), "--ncu", counters))

    def test_ranks_with_and_without_steps(self):
        job = Job(34, 2, [(ALL, [("0", (0, 1))], 1000)])
        files = [self.file("0.json", job.trace(0)), self.file("1.json", job.trace(1, steps=False))]
        self.assertIn("one is per step, the other per run: give all of them the same steps (--step-range).", self.refused("--kineto", *files))


class Nsys(RanksTest):
    BODY = [(ALL, WORLD4, 1000), (GATHER, WORLD4, 200_000)]

    def assert_per_gpu(self, report, job, names):
        for name in names:
            rows = {row["device"]: row["collective"] for row in report["kernels"] if row["name"] == name}
            self.assertEqual(sorted(rows), list(range(job.ranks)))
            for rank, row in rows.items():
                exchanged = job.exchanged(rank, name)
                self.assertAlmostEqual(row["wait_ns"], sum(launch.wait for launch in exchanged) / len(exchanged), delta=0.001)

    def test_all_ranks_in_one_file(self):
        job = Job(40, 4, self.BODY, late=1)
        report = self.report("--nsys", job.nsys(self.folder / "all.sqlite", export_nsys))
        self.assert_per_gpu(report, job, (ALL, GATHER))
        self.assertIn("In collectives a GPU waits", notes(report))
        self.assertIn("of the waiting is for GPU 1", notes(report))
        self.assertIn("waiting for other ranks", self.table())

    def test_two_groups_in_one_file(self):
        job = Job(41, 4, [(ALL, PAIRS, 1000)])
        report = self.report("--nsys", job.nsys(self.folder / "all.sqlite", export_nsys))
        self.assertIn("the files name no process groups", notes(report))
        self.assertTrue(all(row["collective"] is None for row in report["kernels"]))

    def test_a_rank_that_was_attached_late(self):
        job = Job(42, 2, [(ALL, [("0", (0, 1))], 1000)], steps=9)
        job.launches[0] = [launch for launch in job.launches[0] if launch.step > 0]
        report = self.report("--nsys", job.nsys(self.folder / "all.sqlite", export_nsys))
        self.assertIn("some ranks have another number of them", notes(report))

    def test_a_file_for_each_rank(self):
        job = Job(43, 2, [(ALL, [("0", (0, 1))], 1000)])
        files = [job.nsys(self.folder / f"{rank}.sqlite", export_nsys, ranks=[rank]) for rank in range(2)]
        report = self.report("--ranks", "--nsys", *files)
        self.assert_truth(report, job, [ALL])
        self.assertEqual([process["rank"] for process in report["run"]["processes"]], [0, 1])
        files[1] = job.nsys(self.folder / "1.sqlite", export_nsys, ranks=[1], clock={1: 10_000_000})
        self.assert_unknown(self.report("--ranks", "--nsys", *files), ALL, why="the files' clocks do not agree")

    def test_one_gpu_says_nothing(self):
        report = self.report("--nsys", Job(44, 2, [(ALL, [("0", (0, 1))], 1000)]).nsys(self.folder / "one.sqlite", export_nsys, ranks=[0]))
        self.assertNotIn("aiting", notes(report))
        self.assertIsNone(kernel(report, ALL)["collective"])


if __name__ == "__main__":
    unittest.main()
