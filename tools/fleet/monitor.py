# SPDX-License-Identifier: Apache-2.0
"""gable monitor: what the newest reports say, for Prometheus (OpenMetrics) and for OpenTelemetry. It reads files, in a process of its own."""
import argparse
import json
import logging
import os
import signal
import socket
import socketserver
import stat
import subprocess
import sys
import threading
import time
import wsgiref.simple_server

try:
    import prometheus_client
    import prometheus_client.core
    import prometheus_client.openmetrics.exposition as openmetrics
except ImportError as missing:
    sys.exit(f"gable: {sys.executable} has no {missing.name}: run '{sys.executable} -m pip install prometheus_client' (pip install "
             "'gable-profiler[fleet]' does), or name a Python that has it with --python.")

from gable_fleet.files import reports_in
from gable_fleet.text import plain

# Metric: (what it says, its unit, names of its own labels). Names end with the unit, as OpenMetrics wants it.
METRICS = {
    "gable_step_seconds": ("Mean length of a step on the GPU's timeline", "seconds", ()),
    "gable_step_host_seconds": ("Mean length of a step on the host", "seconds", ()),
    "gable_step_part_seconds": ("What a step divides into: compute, and communication, copies and idle time that no compute hides", "seconds", ("part",)),
    "gable_step_saving_seconds": ("How much shorter a step would be without it, at most", "seconds", ("without",)),
    "gable_flop_utilisation_ratio": ("Share of the GPUs' FLOPs that is used: by the model's formulas, or as counted", "ratio", ("of",)),
    "gable_bound_ratio": ("Share of the kernels' time that is limited by it", "ratio", ("bound",)),
    "gable_layer_seconds": ("Time of a layer's own kernels in a step", "seconds", ("layer", "direction", "device")),
    "gable_layer_saving_seconds": ("How much shorter a step would be with this layer at its roof, at most", "seconds", ("layer", "direction", "device")),
    "gable_throttled_ratio": ("Share of readings in which the GPU's clocks were held down", "ratio", ("device",)),
    "gable_lost": ("What the report lost", "", ("what",)),
    "gable_report_timestamp_seconds": ("When the report was written, in Unix time", "seconds", ()),
    "gable_report_info": ("The report: 1", "", ("program", "gpu", "numbers_from", "unit")),
}
_COMMON = ("host", "pid", "rank")


class NotDone(Exception):
    """Why, in one sentence."""


class Reports:
    """The newest report of each process. Files are read again when they change."""

    def __init__(self, program, paths, top, max_age_s):
        self._program, self._paths, self._top, self._max_age_s = program, paths, top, max_age_s
        self._read = {}  # by path: (time of change, (what it is worth, process, samples))
        self._lock = threading.Lock()
        self.problems = []

    def samples(self):
        """{metric: [(labels, value)]}; what is unknown has no sample."""
        with self._lock:
            self.problems, newest = [], {}
            files = list(self._files())
            self._read = {path: self._read[path] for path in files if path in self._read}
            for path in files:
                worth, process, samples = self._of(path)
                if process is not None and (process not in newest or newest[process][0] < worth):
                    newest[process] = worth, samples
            found = {name: [] for name in METRICS}
            for _, samples in newest.values():
                for name, labels, value in samples:
                    if value is not None:
                        found[name].append((labels, value))
            return found

    def _files(self):
        for name in self._paths:
            if not os.path.isdir(name):
                if not os.path.exists(name):
                    self.problems.append(f"There is no file {name}.")
                    continue
                yield name
                continue
            yield from filter(self._is_young, reports_in(name))

    def _is_young(self, path):
        try:
            return time.time() - os.path.getmtime(path) < self._max_age_s
        except OSError:
            return False

    def _of(self, path):
        try:
            changed = os.path.getmtime(path)
            if path not in self._read or self._read[path][0] != changed:
                self._read[path] = changed, self._taken(path, changed)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            self.problems.append(f"{path} is no report of Gable ({type(problem).__name__}: {problem}).")
            return (0, 0), None, []
        return self._read[path][1]

    def _taken(self, path, changed):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        done = subprocess.run([self._program, "report", path, "--json-summary", "-", f"--top={self._top}", "--sort=saving"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False, env={**os.environ, "NO_COLOR": "1"})
        if done.returncode != 0:
            said = done.stderr.strip()
            self.problems.append(said[len("gable: "):] if said.startswith("gable: ") else said)
            return (0, 0), None, []
        run = report["run"]
        common = {"host": run["hostname"], "pid": str(run["pid"]), "rank": "" if run["rank"] is None else str(run["rank"])}
        summary = json.loads(done.stdout)["reports"][0]
        # A queue that has only begun does not hide the one before.
        measured = any(run["steps"][phase] for phase in ("hw", "flops", "time"))
        return (measured, changed), (run["hostname"], run["pid"], run["rank"]), [(name, {**common, **labels}, value) for name, labels, value in facts(report, summary, changed)]


def facts(report, summary, changed):
    """(metric, its own labels, value in base units)."""
    def seconds(ns):
        return None if ns is None else ns / 1e9

    yield "gable_report_timestamp_seconds", {}, changed
    yield "gable_report_info", {"program": summary["program"], "gpu": " + ".join(sorted({device["name"] for device in report["devices"]})),
                                "numbers_from": summary["numbers_from"], "unit": summary["numbers_are_per"]}, 1
    for what, count in report["run"]["lost"].items():
        yield "gable_lost", {"what": what}, count
    for device in report["devices"]:
        throttled = (device["state"] or {}).get("throttled") or {}
        yield "gable_throttled_ratio", {"device": str(device["id"])}, throttled.get("any")
    for bound, share in (summary["time_share_by_bound"] or {}).items():
        yield "gable_bound_ratio", {"bound": bound}, share
    step = summary["step"]
    if step is None:
        return  # layers' times would be of the whole run
    yield "gable_step_seconds", {}, seconds(step["time_ns"])
    yield "gable_step_host_seconds", {}, seconds(step["host_ns"])
    yield "gable_flop_utilisation_ratio", {"of": "model"}, step["model_flop_utilisation"]
    yield "gable_flop_utilisation_ratio", {"of": "counted"}, step["counted_flop_utilisation"]
    exposed = report["step"]["exposed"] or {}
    for part in ("compute", "communication", "copies", "idle"):
        yield "gable_step_part_seconds", {"part": part}, seconds(exposed.get(f"{part}_ns"))
    for without, saving in (exposed.get("saving_ns") or {}).items():
        yield "gable_step_saving_seconds", {"without": without}, seconds((saving or {}).get("high"))
    for row in summary["rows"]:
        labels = {"layer": row["layer"], "direction": row["direction"], "device": str(row["device"])}
        yield "gable_layer_seconds", labels, seconds(row["time_ns"])
        yield "gable_layer_saving_seconds", labels, seconds((row["step_saving"] or {}).get("high_ns"))


class Collector:
    """What prometheus_client asks."""

    def __init__(self, reports):
        self._reports = reports

    def collect(self):
        for name, samples in self._reports.samples().items():
            meaning, unit, own = METRICS[name]
            if name.endswith("_info"):
                family = prometheus_client.core.InfoMetricFamily(name[:-len("_info")], meaning, labels=_COMMON)
                for labels, _ in samples:
                    family.add_metric([labels[each] for each in _COMMON], {each: labels[each] for each in own})
            else:
                family = prometheus_client.core.GaugeMetricFamily(name, meaning, labels=_COMMON + own, unit=unit)
                for labels, value in samples:
                    family.add_metric([labels[each] for each in _COMMON + own], value)
            yield family


def write_textfile(path, registry):
    """Whole or not at all: whoever collects it may read at any time."""
    text = openmetrics.generate_latest(registry)
    if path == "-":
        sys.stdout.buffer.write(text)
        return
    part = f"{path}.{os.getpid()}"
    with open(part, "wb") as file:
        file.write(text)
    os.replace(part, path)


class _Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass

    def address_string(self):
        return "local"


class _UnixServer(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    address_family = socket.AF_UNIX
    daemon_threads = True

    def server_bind(self):
        if os.path.exists(self.server_address) and stat.S_ISSOCK(os.stat(self.server_address).st_mode):
            os.remove(self.server_address)  # of one that was killed
        before = os.umask(0o177)  # for its user alone
        try:
            socketserver.TCPServer.server_bind(self)
        finally:
            os.umask(before)
        self.server_name, self.server_port = "localhost", 0
        self.setup_environ()

    def get_request(self):
        connection, _ = super().get_request()
        return connection, ("local", 0)


class _TcpServer(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


def listen(address, registry):
    application = prometheus_client.make_wsgi_app(registry)
    try:
        if address.startswith("unix:"):
            server = _UnixServer(address[len("unix:"):], _Quiet)
        else:
            host, _, port = address.rpartition(":")
            server = _TcpServer((host or "127.0.0.1", int(port)), _Quiet)
    except ValueError as problem:
        raise NotDone(f"--listen takes unix:PATH or HOST:PORT, not {address}.") from problem
    except OSError as problem:
        raise NotDone(f"--listen: nobody can listen at {address}: {problem.strerror}.") from problem
    server.set_app(application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def send_to(url, reports):
    """An OpenTelemetry exporter: a function that sends what there is now, and says whether that worked."""
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.metrics import Observation
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult
        from opentelemetry.sdk.resources import Resource
    except ImportError as missing:
        raise NotDone(f"{sys.executable} has no {missing.name}: run '{sys.executable} -m pip install opentelemetry-sdk "
                      "opentelemetry-exporter-otlp-proto-http'.") from missing
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # one sentence of ours says it
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader], resource=Resource.create({"service.name": "gable"}), shutdown_on_exit=False).get_meter("gable")
    now = {}
    for name, (meaning, unit, _) in METRICS.items():
        meter.create_observable_gauge(name, description=meaning, unit={"seconds": "s", "ratio": "1"}.get(unit, ""), callbacks=[
            lambda _, name=name: [Observation(value, {key: text for key, text in labels.items() if text}) for labels, value in now[name]]])
    exporter = OTLPMetricExporter(endpoint=url if url.rstrip("/").endswith("/v1/metrics") else url.rstrip("/") + "/v1/metrics", timeout=10)

    def send():
        now.update(reports.samples())
        return exporter.export(reader.get_metrics_data()) is MetricExportResult.SUCCESS
    return send


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--textfile", default="")
    parser.add_argument("--listen", default="")
    parser.add_argument("--otlp", default="")
    parser.add_argument("--interval", type=float, default=0)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--max-age", type=float, default=86400)
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop = threading.Event()
    try:
        return run(options, stop)
    except NotDone as problem:
        print(f"gable: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"gable: {problem.filename or options.textfile} cannot be written: {problem.strerror}.", file=sys.stderr)
    return 2


def run(options, stop):
    reports = Reports(options.program, options.paths, options.top, options.max_age)
    registry = prometheus_client.CollectorRegistry(auto_describe=False)
    registry.register(Collector(reports))
    send = send_to(options.otlp, reports) if options.otlp else None
    server = listen(options.listen, registry) if options.listen else None
    said = set()
    while True:
        if options.textfile or not (send or server):
            write_textfile(options.textfile or "-", registry)
        reached = send() if send else True
        if server and not (options.textfile or send):
            reports.samples()
        for sentence in reports.problems + ([] if reached else [f"--otlp: {options.otlp} did not take the metrics."]):
            if sentence not in said:
                said.add(sentence)
                print(f"gable: {plain(sentence)}", file=sys.stderr)
        if not options.interval and not server:
            return 2 if said else 0
        if stop.wait(options.interval or 60):
            break
    if server:
        server.shutdown()
        if options.listen.startswith("unix:"):
            os.remove(options.listen[len("unix:"):])
    return 0


if __name__ == "__main__":
    sys.exit(main())
