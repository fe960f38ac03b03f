# SPDX-License-Identifier: Apache-2.0
"""gable export: what is in the dataset, and who can read it. docs/dataset.md says which value stands where in a report."""
import copy
import json
import re
import shutil
import subprocess
import unittest

import synthetic
from fleets import GABLE, LONG, PYTHON, ROOT, FleetTest, layers_report, played

PAGE = (ROOT / "docs" / "dataset.md").read_text(encoding="utf-8")
ROWS = {"runs": lambda report: [report], "gpus": lambda report: report["devices"], "steps": lambda report: [report["step"]],
        "layers": lambda report: report["layers"], "kernels": lambda report: report["kernels"]}
TABLES = tuple(ROWS)


def columns(table):
    """(name, type, place in the report) as the page has them."""
    section = re.search(rf"^### {table}\n(.*?)(?=^### |\Z)", PAGE, re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r"^\| `(\w+)` \| ([\w ]+) \| [^|]*\| (?:`([\w.]+)`)? *\|$", section, re.MULTILINE)


def at(row, place):
    for name in place.split("."):
        row = None if row is None else row[name]
    return row


class Values(FleetTest):
    def test_every_value_is_the_reports(self):
        reports = {"layers": layers_report(self.folder), "communicator": played(self.folder, "small/communicator.jsonl", "--step-range", "^step"),
                   "gpu_state": played(self.folder, "small/gpu_state.jsonl"), "tensor_parts": played(self.folder, "small/tensor_parts.jsonl"),
                   "graph": played(self.folder, "small/graph.jsonl"), "devices": played(self.folder, "small/two_devices.jsonl")}
        for place, report in enumerate(reports.values()):
            report["run"]["pid"] = 100 + place
        reports["layers"]["layers"][0]["flops"]["total"] = 2 ** 60 + 1  # no double has it
        for name, report in reports.items():
            self.write(f"reports/{name}.json", report)
        self.gable("export", "reports", "--parquet", "data")
        known = {table: set() for table in TABLES}
        for name, report in reports.items():
            for table in TABLES:
                # Within a run the rows have the report's order.
                found = self.asked(f"SELECT * FROM 'data/{table}/*/*.parquet' WHERE run IN (SELECT run FROM 'data/runs/*/*.parquet' WHERE file = '{name}.json')")
                wanted = ROWS[table](report) if table != "steps" or report["run"]["unit"] == "step" else []
                self.assertEqual(len(found), len(wanted), (name, table))
                for column, kind, place in columns(table):
                    for row, origin in zip(found, wanted):
                        if not place:
                            continue
                        value = at(origin, place)
                        known[table].update([column] if value is not None else [])
                        if value is None or kind in ("string", "bool", "list of string", "list of int32"):
                            self.assertEqual(row[column], value, (name, table, column))
                        else:
                            self.assertEqual(float(row[column]), float(value), (name, table, column))
        # Had no report any value, this would prove nothing.
        for table, least in (("runs", 20), ("gpus", 12), ("steps", 15), ("layers", 30), ("kernels", 30)):
            self.assertGreaterEqual(len(known[table]), least, (table, sorted(known[table])))

    def test_a_collective_of_unknown_time_leaves_communication_unknown(self):
        report = played(self.folder, "small/communicator.jsonl", "--step-range", "^step")
        collective = next(kernel for kernel in report["kernels"] if kernel["roof"]["bound"] == "communication")
        collective["time_ns"] = dict.fromkeys(collective["time_ns"])
        self.write("reports/a.json", report)
        self.gable("export", "reports", "--parquet", "data")
        self.assertEqual(self.asked("SELECT communication_ns, compute_ns FROM 'data/steps/*/*.parquet'"), [{"communication_ns": None, "compute_ns": None}])

    def test_what_is_derived(self):
        template = layers_report(self.folder)
        report = played(self.folder, "small/communicator.jsonl", "--step-range", "^step")
        report["run"].update(rank=3, hostname="n1", pid=7, started_at="2026-03-02T08:00:00Z", command=["python", "train.py", "a b"], wall_time_s=90.5)
        self.write("reports/one/a.json", report)
        self.write("reports/one/b.json", template)
        self.gable("export", "reports", "--parquet", "data")
        run, = self.asked("SELECT * FROM 'data/runs/*/*.parquet' WHERE rank = 3")
        self.assertEqual((run["job"], run["file"], run["command"], run["gpus"], run["run"], run["process"], run["started_at"], run["measured_at"]),
                         ("one", "a.json", "python train.py 'a b'", 1, "n1:7:3:2026-03-02T08:00:00Z", "n1:7:3:2026-03-02T08:00:00Z",
                          "2026-03-02 08:00:00", "2026-03-02 08:01:30.500000"))
        root = next(layer for layer in report["layers"] if layer["parent"] is None)
        step, = self.asked("SELECT * FROM 'data/steps/*/*.parquet' WHERE rank = 3")
        collective = root["collectives"]["time_ns"]
        self.assertGreater(collective, 0)
        self.assertEqual((step["kernel_ns"], step["communication_ns"], step["compute_ns"], step["saving_ns"]),
                         (root["time_ns"]["total"], collective, root["time_ns"]["total"] - collective, root["saving_ns"]))
        # Every layer's own savings add up to the program's.
        totals = self.asked("SELECT sum(saving_self_ns) AS all_ns, max(saving_ns) AS root_ns FROM 'data/layers/*/*.parquet' WHERE rank IS NULL")[0]
        self.assertAlmostEqual(totals["all_ns"], totals["root_ns"], delta=1)
        self.assertGreater(totals["root_ns"], 0)
        works = [row["work"] for row in self.asked("SELECT DISTINCT work FROM 'data/runs/*/*.parquet'")]
        self.assertEqual(len(works), 2)  # other layers, other work

    def test_steps_of_old_reports_are_the_hosts(self):
        report = layers_report(self.folder)
        report["gable"]["schema"] = 1
        self.assertGreater(report["step"]["wall_ns"]["mean"], 0)
        report["step"].pop("host_ns")
        self.write("old.json", report)
        self.gable("export", "old.json", "--parquet", "data")
        step, = self.asked("SELECT wall_ns, host_ns, idle_ns, mfu, hfu FROM 'data/steps/*/*.parquet'")
        self.assertEqual(step, {"wall_ns": None, "host_ns": report["step"]["wall_ns"]["mean"], "idle_ns": None, "mfu": None, "hfu": None})

    def test_the_page_lists_what_there_is(self):
        self.write("reports/a.json", layers_report(self.folder))
        self.gable("export", "reports", "--parquet", "data")
        names = {"strings": "list of string"}
        for table in TABLES:
            there = self.python("import json, pyarrow.parquet, sys\nfile = next(__import__('pathlib').Path('data', sys.argv[1]).rglob('*.parquet'))\n"
                                "print(json.dumps([[field.name, str(field.type)] for field in pyarrow.parquet.ParquetFile(file).schema_arrow]))", table)
            said = [[name, {"timestamp": "timestamp[us]", "list of string": "list<element: string>", "list of int32": "list<element: int32>"}.get(kind, kind)]
                    for name, kind, _ in columns(table)]
            self.assertEqual(there, said, names)


class Taking(FleetTest):
    def runs(self):
        """How often each rank is in each table."""
        return {table: {row["rank"]: row["rows"] for row in
                        self.asked(f"SELECT rank, count(DISTINCT run) AS rows FROM 'data/{table}/*/*.parquet' GROUP BY rank ORDER BY rank")} for table in TABLES}

    def assert_once(self, ranks):
        for table, found in self.runs().items():
            self.assertEqual(found, {rank: 1 for rank in ranks}, table)
        for table in TABLES:
            rows, = self.asked(f"SELECT count(*) AS every, count(DISTINCT (run, to_json(t))) AS different FROM 'data/{table}/*/*.parquet' t")
            self.assertEqual(rows["every"], rows["different"], table)

    def test_a_run_is_in_it_once_however_often_it_is_exported(self):
        self.job(layers_report(self.folder), "job", ranks=12)
        reports = [f"reports/job/run-rank{rank}.json" for rank in range(12)]
        said, _ = self.gable("export", *reports[:8], "--parquet", "data")
        self.assertRegex(said, r"^8 reports \(\d+\.\d MB\) in data\. Next: gable fleet data\n$")
        self.assert_once(range(8))
        said, _ = self.gable("export", *reports[:8], "--parquet", "data")
        self.assertIn("; 8 of them replaced what was there", said)
        self.assert_once(range(8))
        changed = json.loads((self.folder / reports[6]).read_text(encoding="utf-8"))
        changed["run"]["total"]["flops"] = 77
        self.write(reports[6], changed)
        said, _ = self.gable("export", *reports[6:], "--parquet", "data")
        self.assertIn("; 2 of them replaced what was there", said)
        self.assert_once(range(12))
        self.assertEqual(self.asked("SELECT total_flops FROM 'data/runs/*/*.parquet' WHERE rank = 6"), [{"total_flops": 77}])
        said, _ = self.gable("export", "reports", "--parquet", "data")
        self.assertIn("12 reports", said)
        self.assert_once(range(12))
        self.assertEqual(len(list((self.folder / "data" / "layers" / "job=job").iterdir())), 1)  # empty blocks are gone

    def test_large_jobs_become_blocks_of_ranks(self):
        template = layers_report(self.folder)
        self.job(template, "large", ranks=300)
        self.gable("export", "reports", "--parquet", "data")
        names = sorted(path.name for path in (self.folder / "data" / "layers" / "job=large").iterdir())
        self.assertEqual([re.match(r"ranks-\d{6}-\d{6}(?=-[0-9a-f]{12}\.parquet$)", name).group() for name in names],
                         ["ranks-000000-000255", "ranks-000256-000299"])
        self.assert_once(range(300))

    def test_jobs_are_named_by_their_folders_or_by_the_user(self):
        template = layers_report(self.folder)
        self.job(template, "a job, 50 % done", ranks=1)
        self.job(template, "0012", ranks=1)
        self.gable("export", "reports", "--parquet", "data")
        self.gable("export", "reports/0012/run-rank0.json", "--parquet", "data", "--job", "../x='y'")
        jobs = [row["job"] for row in self.asked("SELECT DISTINCT job FROM read_parquet('data/runs/*/*.parquet', hive_types = {'job': VARCHAR}) ORDER BY job")]
        self.assertEqual(jobs, ["../x='y'", "0012", "a job, 50 % done"])
        fleet = json.loads(self.gable("fleet", "data", "--json", "-", "--job", "0012", "--job", "../x='y'")[0])
        self.assertEqual(sorted(row["job"] for row in fleet["jobs"]), ["../x='y'", "0012"])

    def test_what_is_no_run_costs_a_sentence_and_nothing_else(self):
        template = layers_report(self.folder)
        self.job(template, "job", ranks=2)
        newer, merged, predicted, damaged = (copy.deepcopy(template) for _ in range(4))
        newer["gable"]["schema"] = 3
        merged["run"]["processes"] = [{}, {}]
        predicted["run"]["source"] = "predicted"
        damaged["layers"][0].pop("time_ns")
        damaged["layers"][0]["path"] = 3
        for name, report in (("newer", newer), ("merged", merged), ("predicted", predicted), ("damaged", damaged), ("other", {"gable": {}}), ("list", [])):
            self.write(f"{name}.json", report)
        (self.folder / "cut.json").write_text(json.dumps(template)[:-9], encoding="utf-8")
        sentences = {"newer": "has schema 3, and this program knows up to 2: update Gable.", "merged": "was merged from 2 reports: export these instead.",
                     "predicted": "is a prediction, and no run.", "damaged": "is damaged, or no report of Gable (", "cut": "is damaged, or no report of Gable (",
                     "other": "is no report of Gable.", "list": "is no report of Gable."}
        for name, sentence in sentences.items():
            with self.subTest(name):
                said, problem = self.gable("export", "reports", f"{name}.json", "--parquet", f"data-{name}", code=2)
                self.assertEqual(problem.count("\n"), 1, problem)
                self.assertIn(f"{name}.json {sentence}", problem)
                self.assertIn("2 reports (", said)
        _, problem = self.gable("export", "reports", *(f"{name}.json" for name in sentences), "nosuch.json", "--parquet", "data", code=2)
        self.assertEqual(problem.count("\n"), 6)
        self.assertIn("3 further files were left out", problem)
        self.assert_once(range(2))

    def test_wrong_use_is_told(self):
        self.job(layers_report(self.folder), "job", ranks=1)
        (self.folder / "full").mkdir()
        (self.folder / "full" / "notes.txt").write_text("mine", encoding="utf-8")
        (self.folder / "empty").mkdir()
        for words, sentence in ((("reports", "--parquet", "full"), "full has files, but is no dataset of Gable: name a new folder."),
                                (("empty", "--parquet", "data"), "empty has no report in it or in its folders."),
                                (("nosuch", "--parquet", "data"), "There is no file nosuch."),
                                (("reports",), "gable export needs --parquet")):
            with self.subTest(words):
                said, problem = self.gable("export", *words, code=2)
                self.assertIn(sentence, problem)
                self.assertEqual(said, "")
        self.assertEqual([path.name for path in (self.folder / "full").iterdir()], ["notes.txt"])
        self.assertFalse((self.folder / "data").exists())
        _, problem = self.gable("export", "reports", "--parquet", "data", "--python", "/usr/bin/env-nosuch", code=2)
        self.assertIn("name one with --python", problem)

    def test_a_program_without_its_python_side_says_so(self):
        (self.folder / "bin").mkdir()
        shutil.copy(GABLE, self.folder / "bin" / "gable")
        for words, without in ((("export", "x", "--parquet", "y"), "nothing can be exported"), (("fleet", "y"), "no fleet can be shown")):
            run = subprocess.run([self.folder / "bin" / "gable", *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"Gable's Python side is not complete beside this program, so {without}: ", run.stderr)

    def test_a_converter_that_is_killed_is_told(self):
        self.job(layers_report(self.folder), "job", ranks=1)
        (self.folder / "sitecustomize.py").write_text("import os, sys\nif '--multiprocessing-fork' in sys.orig_argv:\n    os.kill(os.getpid(), 9)\n", encoding="utf-8")
        said, problem = self.gable("export", "reports", "--parquet", "data", code=2, PYTHONPATH=str(self.folder))
        self.assertEqual(said, "")
        self.assertEqual(problem, "gable: a process that converts reports was ended, probably for want of memory: run the command again with --processes 1.\n")

    def test_a_python_without_the_packages_is_told(self):
        self.job(layers_report(self.folder), "job", ranks=1)
        self.python("import json, venv\nvenv.create('bare')\nprint(json.dumps(None))")
        for words in (("export", "reports", "--parquet", "data"), ("fleet", "data")):
            _, problem = self.gable(*words, python=self.folder / "bare" / "bin" / "python", code=1)
            self.assertEqual(problem.count("\n"), 1, problem)
            self.assertRegex(problem, r"^gable: .*/bare/bin/python has no \w+: run '.*/bare/bin/python -m pip install ")


class Readers(FleetTest):
    """docs/dataset.md's examples, as they stand there."""

    def setUp(self):
        super().setUp()
        template = played(self.folder, "resnet50-train.jsonl", "--step-range", "^step$")
        for name in ("one", "two"):
            self.job(template, name, ranks=2)
        hot = layers_report(self.folder)
        hot["devices"][0]["state"] = {"samples": 20, "idle_samples": 0, "sm_clock_hz": {"mean": 1.2e9, "min": 1e9, "max": 1.3e9}, "memory_clock_hz": None,
                                      "power_w": None, "temperature_max_c": 90,
                                      "throttled": {"any": 0.5, "power_cap": 0.5, "sw_thermal": 0, "hw_thermal": 0, "hw_slowdown": 0, "power_brake": 0, "sync_boost": 0}}
        self.write("reports/one/hot.json", hot)
        self.gable("export", "reports", "--parquet", "data")

    def test_duckdbs_questions_have_answers(self):
        queries = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
        self.assertGreaterEqual(len(queries), 5)
        for query in queries:
            with self.subTest(query):
                rows = self.asked(query.replace("'layers/", "'data/layers/").replace("'runs/", "'data/runs/").replace("'gpus/", "'data/gpus/")
                                  .replace("'steps/", "'data/steps/").replace("'kernels/", "'data/kernels/"))
                self.assertGreater(len(rows), 0)

    def examples(self, wanted):
        there = [code for code in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE) if f"import {wanted}" in code]
        self.assertEqual(len(there), 1)
        return there[0].replace('"layers/"', '"data/layers/"')

    def read_by(self, module):
        """The rows of each job, as the example prints them."""
        code = re.sub(r"^print\((.*)\)$", r"print(__import__('json').dumps(str(\1)))", self.examples(module), flags=re.MULTILINE)
        said = self.python(code)
        for row in self.asked("SELECT job, count(*) AS rows FROM 'data/layers/*/*.parquet' GROUP BY job"):
            self.assertRegex(said, rf"{row['job']}\W.*\b{row['rows']}\b")

    def test_polars_reads_it(self):
        self.read_by("polars")

    def test_dask_reads_it(self):
        self.read_by("dask.dataframe")

    @unittest.skipUnless(LONG, "takes Java and Spark: GABLE_LONG_TESTS")
    def test_spark_reads_it(self):
        self.read_by("pyspark.sql")


class Synthetic(FleetTest):
    def test_a_synthetic_dataset_is_what_its_reports_become(self):
        """So that what is measured of the one holds for the other."""
        template = layers_report(self.folder)
        self.write("template.json", template)
        synthetic.write_reports(template, 24, self.folder / "reports" / "synthetic")
        self.gable("export", "reports", "--parquet", "exported")
        self.python("import json, sys\nsys.path[:0] = sys.argv[1:3]\nimport synthetic\n"
                    "synthetic.write_dataset(json.load(open('template.json')), 24, 'made')\nprint(json.dumps(None))",
                    str(ROOT / "tests" / "fleet"), str(PYTHON.parents[2] / "lib" / "python"))
        answers = [json.loads(self.gable("fleet", folder, "--json", "-")[0]) for folder in ("exported", "made")]
        for question in ("slow_ranks", "layers", "jobs"):
            self.assertEqual(len(answers[0][question]), len(answers[1][question]))
            for one, other in zip(answers[0][question], answers[1][question]):
                for name in one:
                    if isinstance(one[name], float):
                        self.assertAlmostEqual(one[name] / other[name], 1, delta=1e-3, msg=(question, name))  # reports have whole ns
                    else:
                        self.assertEqual(one[name], other[name], (question, name))


if __name__ == "__main__":
    unittest.main()
