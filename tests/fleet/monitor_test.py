# SPDX-License-Identifier: Apache-2.0
"""gable monitor, read by Prometheus' own parser and by a collector that speaks OpenTelemetry's protocol."""
import copy
import http.client
import http.server
import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading
import time
import unittest

from fleets import GABLE, PYTHON, ROOT, FleetTest, layers_report, played

PARSE = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
print(json.dumps([[sample.name, sample.labels, sample.value] for family in text_string_to_metric_families(sys.stdin.read()) for sample in family.samples]))
"""
DECODE = """
import json, sys
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
request = ExportMetricsServiceRequest()
request.ParseFromString(sys.stdin.buffer.read())
print(json.dumps([[metric.name, metric.unit, {each.key: each.value.string_value for each in point.attributes}, point.as_double or point.as_int]
                  for resource in request.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics
                  for point in metric.gauge.data_points]))
"""


class OverUnix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


class Monitor(FleetTest):
    def setUp(self):
        super().setUp()
        report = layers_report(self.folder)
        report["run"].update(hostname="n1", pid=7, rank=3)
        report["step"].update(wall_ns={"mean": 2e9, "stddev": 0}, host_ns={"mean": 1e9, "stddev": 0}, mfu=0.25, hfu=None)
        report["step"]["exposed"] = {"compute_ns": 1.5e9, "communication_ns": 0, "copies_ns": 2.5e8, "idle_ns": 2.5e8, "saving_ns": {
            "compute": {"low": 1e9, "high": 1.25e9}, "communication": {"low": 0, "high": 0}, "copies": {"low": 0, "high": 2.5e8}, "host": {"low": 0, "high": 0}, "input": None,
            "waits": {"low": 0, "high": 0}}}
        report["devices"][0]["state"] = {"samples": 20, "idle_samples": 0, "sm_clock_hz": None, "memory_clock_hz": None, "power_w": None, "temperature_max_c": None,
                                         "throttled": {"any": 0.5, "power_cap": 0.5, "sw_thermal": 0, "hw_thermal": 0, "hw_slowdown": 0, "power_brake": 0, "sync_boost": 0}}
        report["run"]["lost"]["records"] = 4
        self.report = report
        self.write("reports/a.json", report)

    def parsed(self, text):
        """{(metric, its own labels): value}, of one process."""
        run = subprocess.run([PYTHON, "-c", PARSE], input=text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return {(name, *sorted((key, value) for key, value in labels.items() if key not in ("host", "pid", "rank"))): value
                for name, labels, value in json.loads(run.stdout)}

    def once(self, *words):
        return self.parsed(self.gable("monitor", *(words or ("reports",)))[0])

    def test_numbers_are_the_reports_in_base_units(self):
        found = self.once()
        for name, value in ((("gable_step_seconds",), 2), (("gable_step_host_seconds",), 1), (("gable_step_part_seconds", ("part", "compute")), 1.5),
                            (("gable_step_part_seconds", ("part", "communication")), 0), (("gable_step_part_seconds", ("part", "idle")), 0.25),
                            (("gable_step_saving_seconds", ("without", "compute")), 1.25), (("gable_flop_utilisation_ratio", ("of", "model")), 0.25),
                            (("gable_throttled_ratio", ("device", "0")), 0.5), (("gable_lost", ("what", "records")), 4), (("gable_lost", ("what", "windows")), 0)):
            self.assertEqual(found[name], value, name)
        block = next(layer for layer in self.report["layers"] if layer["path"] == ["step", "block"])
        self.assertAlmostEqual(found["gable_layer_seconds", ("device", "0"), ("direction", "none"), ("layer", "step/block")], block["time_ns"]["self"] / 1e9,
                               delta=1e-4 * block["time_ns"]["self"] / 1e9)
        self.assertAlmostEqual(sum(value for name, value in found.items() if name[0] == "gable_bound_ratio"), 1, delta=1e-3)
        info = next(dict(name[1:]) for name in found if name[0] == "gable_report_info")
        self.assertEqual((info["numbers_from"], info["unit"], info["gpu"]), ("playback", "step", self.report["devices"][0]["name"]))
        self.assertAlmostEqual(found["gable_report_timestamp_seconds",], time.time(), delta=3600)
        self.assertIn('host="n1",pid="7",rank="3"', self.gable("monitor", "reports")[0])

    def test_what_is_unknown_has_no_sample(self):
        found = self.once()
        for name in (("gable_flop_utilisation_ratio", ("of", "counted")), ("gable_step_saving_seconds", ("without", "input"))):
            self.assertNotIn(name, found)
        self.write("reports/a.json", played(self.folder, "small/no_steps.jsonl"))
        found = self.once()
        self.assertEqual({name[0] for name in found} & {"gable_step_seconds", "gable_layer_seconds", "gable_step_part_seconds"}, set())
        self.assertIn("gable_report_info", {name[0] for name in found})

    def test_the_newest_report_of_each_process_counts(self):
        newer, other = copy.deepcopy(self.report), copy.deepcopy(self.report)
        newer["step"]["wall_ns"]["mean"] = 3e9
        other["run"].update(pid=8, rank=None)
        path = self.write("reports/a-2.json", newer)
        self.write("reports/deeper/b.json", other)
        (self.folder / "reports" / "notes.json").write_text('{"mine": 1}', encoding="utf-8")
        os.utime(self.folder / "reports" / "a.json", (1, time.time() - 60))
        os.utime(path, (1, time.time() - 30))
        said, _ = self.gable("monitor", "reports")
        self.assertEqual(sorted(re.findall(r'^gable_step_seconds\{host="n1",pid="(\d)",rank="(\d?)"\} ([\d.]+)', said, re.MULTILINE)), [("7", "3", "3.0"), ("8", "", "2.0")])
        os.utime(path, (1, time.time() - 3 * 86400))  # older than a day: not taken from a folder
        self.assertEqual(self.step_of("reports"), "2.0")
        os.utime(self.folder / "reports" / "a.json", (1, time.time() - 4 * 86400))
        self.assertEqual(self.step_of("reports", "--max-age", "1000000"), "3.0")
        self.assertEqual(self.step_of("reports/a.json"), "2.0")  # what is named counts, however old

    def test_a_queue_that_has_only_begun_does_not_hide_the_one_before(self):
        begun = copy.deepcopy(self.report)
        begun["run"]["steps"].update(hw=0, flops=0, time=0)
        begun["step"]["wall_ns"] = None
        self.write("reports/a-2.json", begun)
        os.utime(self.folder / "reports" / "a.json", (1, time.time() - 60))
        self.assertEqual(self.step_of("reports"), "2.0")

    def step_of(self, *words):
        return re.search(r'^gable_step_seconds\{host="n1",pid="7",rank="3"\} (.*)$', self.gable("monitor", *words)[0], re.MULTILINE).group(1)

    def test_damaged_files_cost_a_sentence(self):
        (self.folder / "reports" / "cut.json").write_text('{"gable": {"schema": 2', encoding="utf-8")
        said, problem = self.gable("monitor", "reports", code=2)
        self.assertEqual(problem.count("\n"), 1)
        self.assertRegex(problem, r"^gable: reports/cut\.json is no report of Gable \(")
        self.assertIn("gable_step_seconds{", said)
        _, problem = self.gable("monitor", "nosuch.json", code=2)
        self.assertEqual(problem, "gable: There is no file nosuch.json.\n")
        for words, sentence in ((("--listen", "nowhere"), "--listen takes unix:PATH or HOST:PORT, not nowhere."),
                                (("--listen", "unix:" + str(self.folder / "reports" / "a.json")), "nobody can listen at"),
                                (("--textfile", "no/such.prom"), "No such file or directory.")):
            with self.subTest(words):
                self.assertIn(sentence, self.gable("monitor", "reports", *words, code=2)[1])
        self.assertEqual(json.loads((self.folder / "reports" / "a.json").read_text(encoding="utf-8")), self.report)

    def start(self, *words):
        process = subprocess.Popen([GABLE, "monitor", "reports", "--python", PYTHON, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until(self, condition):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError("it did not come")

    def assert_ends(self, process):
        process.send_signal(signal.SIGTERM)
        _, problem = process.communicate(timeout=60)
        self.assertEqual((process.returncode, problem), (0, ""))

    def test_a_text_file_is_kept_up_to_date(self):
        file = self.folder / "gable.prom"
        process = self.start("--textfile", str(file), "--interval", "0.2")
        self.until(file.exists)
        self.assertEqual(self.parsed(file.read_text(encoding="utf-8"))["gable_step_seconds",], 2)
        self.report["step"]["wall_ns"]["mean"] = 5e9
        self.write("reports/a.json", self.report)
        self.until(lambda: "} 5.0" in file.read_text(encoding="utf-8"))
        self.assert_ends(process)
        self.assertEqual(sorted(path.name for path in self.folder.glob("gable.prom*")), ["gable.prom"])

    def test_prometheus_is_answered_on_a_unix_socket(self):
        path = self.folder / "gable.socket"
        process = self.start("--listen", f"unix:{path}")
        self.until(path.exists)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)

        def asked():
            connection = OverUnix(str(path))
            connection.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers.get_content_type()), (200, "application/openmetrics-text"))
            text = answer.read().decode()
            connection.close()
            return self.parsed(text)
        self.assertEqual(asked()["gable_step_seconds",], 2)
        self.report["step"]["wall_ns"]["mean"] = 5e9
        self.write("reports/a.json", self.report)
        self.assertEqual(asked()["gable_step_seconds",], 5)
        self.assert_ends(process)
        self.assertFalse(path.exists())

    def test_an_opentelemetry_collector_gets_the_same(self):
        taken = []

        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                taken.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        said, _ = self.gable("monitor", "reports", "--otlp", f"http://127.0.0.1:{server.server_port}")
        self.assertEqual(said, "")
        (path, body), = taken
        self.assertEqual(path, "/v1/metrics")
        run = subprocess.run([PYTHON, "-c", DECODE], input=body, capture_output=True, timeout=60, check=True)
        sent = {(name, *sorted((key, value) for key, value in labels.items() if key not in ("host", "pid", "rank"))): value
                for name, _, labels, value in json.loads(run.stdout)}
        self.assertEqual({name: value for name, value in self.once().items()}, sent)
        units = {name: unit for name, unit, _, _ in json.loads(run.stdout)}
        self.assertEqual((units["gable_step_seconds"], units["gable_bound_ratio"]), ("s", "1"))

    def test_a_collector_that_is_not_there_is_told(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
            _, problem = self.gable("monitor", "reports", "--otlp", url, code=2)
        self.assertEqual(problem, f"gable: --otlp: {url} did not take the metrics.\n")


class Described(unittest.TestCase):
    def test_the_page_and_the_dashboard_know_every_metric(self):
        source = (ROOT / "tools" / "fleet" / "monitor.py").read_text(encoding="utf-8")
        metrics = {name: set(re.findall(r'"(\w+)"', own)) for name, own in re.findall(r'^    "(gable_\w+)": \(.*\((.*)\)\),$', source, re.MULTILINE)}
        self.assertEqual(len(metrics), 12)
        page = (ROOT / "docs" / "commands" / "monitor.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (`gable_.*?) \| (.*?) \|", page, re.MULTILINE)
        self.assertEqual({name: set(re.findall(r"`(\w+)`", labels)) for names, labels in rows for name in re.findall(r"`(\w+)`", names)}, metrics)
        dashboard = json.loads((ROOT / "docs" / "grafana.json").read_text(encoding="utf-8"))
        used = set()
        for panel in dashboard["panels"]:
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"] and panel["description"], panel["title"])
            for target in panel["targets"]:
                name = re.search(r"gable_\w+", target["expr"]).group()
                used.add(name)
                labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) | {label for by in re.findall(r"by \(([\w, ]+)\)", target["expr"]) for label in by.split(", ")}
                self.assertLessEqual(labels, metrics[name] | {"host", "pid", "rank"}, panel["title"])
        self.assertEqual(set(metrics) - used, {"gable_step_host_seconds", "gable_report_info"})


if __name__ == "__main__":
    unittest.main()
