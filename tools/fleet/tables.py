# SPDX-License-Identifier: Apache-2.0
"""The dataset's tables: every column with its type, its meaning, and where a report has it (docs/report.md).

    python3 -m gable_fleet.tables     prints them as docs/dataset.md has them
"""
import datetime
import hashlib
import shlex

DATASET = 1  # rises when a reader of older datasets could misread a new one
NEWEST_SCHEMA = 2  # of reports

_FLOPS = ("fp64", "fp32", "fp16")


def _work(prefix=""):
    """Columns that layers and kernels share. Layers have sums per unit, kernels means of one launch."""
    return [
        *((f"flops_{name}", "double", f"FLOP of {name.upper()} on CUDA cores", ("flops", name)) for name in _FLOPS),
        ("flops_tensor", "double", "FLOP of tensor cores, all types; null if one is unknown", "flops_tensor"),
        ("flops", "double", "FLOP of all types", ("flops", "total")),
        *((f"bytes_{level}", "double", f"bytes at {level.upper()}", ("bytes", level)) for level in ("dram", "l2", "l1")),
        ("flops_per_s", "double", "FLOP/s", ("flops_per_s",)),
        ("bytes_per_s", "double", "bytes/s at DRAM", ("bytes_per_s",)),
        ("roof_fraction", "double", "least time under the roofs / time", ("roof", "fraction")),
        ("roof_bound", "string", "what limits it", ("roof", "bound")),
        ("roof_ceiling", "string", "the ceiling that decides", ("roof", "ceiling")),
        ("saving_ns", "double", "kernel time above the roofs, per unit", ("saving_ns",)),
        ("step_saving_low_ns", "double", "how much shorter a step would be at the roofs, at least", ("step_saving_ns", "low")),
        ("step_saving_high_ns", "double", "and at most", ("step_saving_ns", "high")),
        ("path_ns", "double", "the part of its time on the critical path", ("path_ns",)),
    ]


# Which process a row is of. The folder `job=NAME` adds the job.
_WHOSE = [
    ("run", "string", "the process and its queue; the same in all tables", "run"),
    ("rank", "int32", "its rank; null if it has none", "rank"),
]

# table: [(column, type, meaning, path in the row's object | name of a derived value)]
TABLES = {
    "runs": [
        *_WHOSE,
        ("process", "string", "host, pid, rank and start: a process has several runs where it was measured again", "process"),
        ("queue", "int32", "which of the process's queues of windows, from 1 on", ("run", "queue")),
        ("file", "string", "the report's file name", "file"),
        ("hostname", "string", "the node", ("run", "hostname")),
        ("pid", "int64", "", ("run", "pid")),
        ("started_at", "timestamp", "when the process started, UTC", "started_at"),
        ("measured_at", "timestamp", "when its report was written, UTC", "measured_at"),
        ("wall_time_s", "double", "from the one to the other, in s; the process may have run on", ("run", "wall_time_s")),
        ("command", "string", "secrets masked", "command"),
        ("source", "string", "cupti, import or playback; playback is no measurement of a GPU", ("run", "source")),
        ("unit", "string", "what values are per: step or run", ("run", "unit")),
        ("complete", "bool", "false: a snapshot of a program that still ran, or did not end well", ("run", "complete")),
        ("version", "string", "Gable's", ("gable", "version")),
        ("model", "string", "class of the module with most of the time; null if no module is known", "model"),
        ("work", "string", "digest of the layers' names: ranks with the same layers have the same", "work"),
        ("gpus", "int32", "how many GPUs it used", "gpus"),
        ("gpu_name", "string", "their names", "gpu_name"),
        ("steps_seen", "int64", "", ("run", "steps", "seen")),
        ("steps_timed", "int64", "", ("run", "steps", "time")),
        ("total_flops", "double", "as far as Gable watched", ("run", "total", "flops")),
        ("total_bytes_dram", "double", "as far as Gable watched", ("run", "total", "bytes_dram")),
        ("total_gpu_time_ns", "double", "as far as Gable watched", ("run", "total", "gpu_time_ns")),
        ("added_percent", "double", "the most that measuring can have added, in percent", ("run", "overhead", "added_percent")),
        *((f"lost_{name}", "int64", "", ("run", "lost", name)) for name in
          ("records", "ranges", "zero_timestamps", "windows", "unattributed_launches", "folded_keys", "folded_layers")),
        ("notes", "strings", "the report's sentences", ("run", "notes")),
    ],
    "gpus": [
        *_WHOSE,
        ("hostname", "string", "the node", "hostname"),
        ("device", "int32", "number within the process", ("id",)),
        ("name", "string", "", ("name",)),
        ("chip", "string", "", ("chip",)),
        ("sm_clock_max_hz", "double", "", ("clocks_hz", "sm_max")),
        ("sm_clock_hz", "double", "mean while it worked", ("state", "sm_clock_hz", "mean")),
        ("memory_clock_hz", "double", "mean while it worked", ("state", "memory_clock_hz", "mean")),
        ("power_w", "double", "mean while it worked", ("state", "power_w", "mean")),
        ("power_limit_w", "double", "", ("state", "power_w", "limit")),
        ("temperature_max_c", "double", "", ("state", "temperature_max_c")),
        *((f"throttled_{name}", "double", "share of readings", ("state", "throttled", name)) for name in
          ("any", "power_cap", "sw_thermal", "hw_thermal", "hw_slowdown", "power_brake", "sync_boost")),
        ("clock_samples", "int64", "readings while it worked", ("state", "samples")),
    ],
    "steps": [
        *_WHOSE,
        ("wall_ns", "double", "mean length of a step on the GPU's timeline", ("wall_ns", "mean")),
        ("wall_stddev_ns", "double", "", ("wall_ns", "stddev")),
        ("host_ns", "double", "mean length on the host's", ("host_ns", "mean")),
        *((f"{name}_ns", "double", "", (f"{name}_ns",)) for name in ("busy", "idle", "copy", "sync", "launch_latency")),
        ("mfu", "double", "model FLOP utilisation, 0 to 1", ("mfu",)),
        ("hfu", "double", "hardware FLOP utilisation, 0 to 1", ("hfu",)),
        ("model_flops", "double", "by formula", ("model_flops",)),
        ("kernel_ns", "double", "sum of all kernels' times, all GPUs", "kernel_ns"),
        ("communication_ns", "double", "of these, collectives; 0 if there are none", "communication_ns"),
        ("wait_ns", "double", "of these, before the last rank came; null without an import of all ranks", "wait_ns"),
        ("others_wait_ns", "double", "how long others waited for this rank", "others_wait_ns"),
        ("compute_ns", "double", "kernel_ns - communication_ns", "compute_ns"),
        ("saving_ns", "double", "kernel time above the roofs, all GPUs", "saving_ns"),
        *((f"exposed_{name}_ns", "double", "part of a recorded step", ("exposed", f"{name}_ns")) for name in
          ("compute", "communication", "copies", "idle")),
        *((f"path_{name}_ns", "double", "part of the critical path", ("critical_path", f"{name}_ns")) for name in
          ("kernels", "communication", "copies", "host", "input", "waits", "launches", "gaps", "unexplained")),
        *((f"without_{name}_{end}_ns", "double", f"how much shorter a step would be without, at {'least' if end == 'low' else 'most'}",
           ("exposed", "saving_ns", name, end)) for name in ("compute", "communication", "copies", "host", "input", "waits")
          for end in ("low", "high")),
        ("explained", "double", "share of the critical path that is explained", ("graph", "explained")),
    ],
    "layers": [
        *_WHOSE,
        ("device", "int32", "", ("device",)),
        ("id", "int64", "within the report", ("id",)),
        ("parent", "int64", "the layer around it; null for the root", ("parent",)),
        ("layer", "string", "its path, joined by /", "layer"),
        ("dotted", "string", "as PyTorch names the module", ("dotted",)),
        ("direction", "string", "none, forward, backward or recompute", ("direction",)),
        ("depth", "int32", "0 for the root", ("depth",)),
        ("calls", "double", "per unit", ("calls",)),
        ("launches", "double", "per unit", ("launches",)),
        ("time_ns", "double", "its kernels' times and those of the layers below", ("time_ns", "total")),
        ("self_ns", "double", "of its own kernels alone", ("time_ns", "self")),
        ("busy_ns", "double", "", ("time_ns", "busy")),
        ("cpu_ns", "double", "", ("cpu_ns",)),
        ("span_ns", "double", "", ("span_ns",)),
        ("time_source", "string", "", ("time_source",)),
        *_work(),
        ("saving_self_ns", "double", "saving_ns without the layers below", "saving_self_ns"),
        ("communication_ns", "double", "collectives in it and below", ("collectives", "time_ns")),
        ("wait_ns", "double", "", ("collectives", "wait_ns")),
        ("coverage_time", "double", "", ("coverage", "time")),
        ("coverage_flops", "double", "", ("coverage", "flops")),
        ("coverage_bytes", "double", "", ("coverage", "bytes")),
        ("flops_analytic", "double", "by formula", ("model", "flops_analytic")),
        ("bytes_analytic", "double", "by formula", ("model", "bytes_analytic")),
        ("parameters", "double", "", ("model", "parameters")),
    ],
    "kernels": [
        *_WHOSE,
        ("device", "int32", "", ("device",)),
        ("layer_id", "int64", "id in layers", ("layer",)),
        ("direction", "string", "", ("direction",)),
        ("name", "string", "", ("name",)),
        ("grid", "ints", "x, y, z", ("grid",)),
        ("block", "ints", "x, y, z", ("block",)),
        ("launches", "double", "per unit", ("launches",)),
        *((f"{name}_ns", "double", "" if name != "total" else "mean times launches", ("time_ns", name)) for name in
          ("mean", "median", "min", "max", "stddev", "total")),
        ("time_source", "string", "", ("time_source",)),
        *_work(),
        ("registers", "double", "of a thread", ("registers",)),
        ("waves", "double", "", ("waves",)),
        *((f"samples_{name}", "int64", "", ("samples", name)) for name in ("hw", "flops", "time")),
        ("flags", "strings", "", ("flags",)),
        ("again", "bool", "a graph's or range's row: its time is in other rows already", "again"),
        ("collective", "string", "kind of collective", ("collective", "kind")),
        ("collective_bytes", "double", "", ("collective", "bytes")),
        ("bus_bytes_per_s", "double", "", ("collective", "bus_bytes_per_s")),
        ("wait_ns", "double", "before the last rank came", ("collective", "wait_ns")),
    ],
}


class NoRun(Exception):
    """Why a file is not taken, in one sentence."""


def checked(report, file):
    """The report, as the newest schema has it."""
    schema = report.get("gable", {}).get("schema") if isinstance(report, dict) and isinstance(report.get("gable"), dict) else None
    if not isinstance(schema, int) or not isinstance(report.get("run"), dict):
        raise NoRun(f"{file} is no report of Gable.")
    if schema > NEWEST_SCHEMA:
        raise NoRun(f"{file} has schema {schema}, and this program knows up to {NEWEST_SCHEMA}: update Gable.")
    if report["run"].get("processes"):
        raise NoRun(f"{file} was merged from {len(report['run']['processes'])} reports: export these instead.")
    if report["run"].get("source") == "predicted":
        raise NoRun(f"{file} is a prediction, and no run.")
    if schema == 1:  # its steps are the host's
        step = report.get("step") or {}
        report["step"] = {**step, "host_ns": step.get("wall_ns"), "wall_ns": None, "idle_ns": None, "mfu": None, "hfu": None}
    return report


def _sum(values):
    """None where one is unknown, or where there is none."""
    values = list(values)
    return sum(values) if values and None not in values else None


def _time(text, later_s=0):
    """For Arrow; None where it is unknown."""
    if not text or later_s is None:
        return None
    begun = datetime.datetime.strptime(text.rstrip("Z")[:19], "%Y-%m-%dT%H:%M:%S")
    return (begun + datetime.timedelta(seconds=later_s)).isoformat(timespec="microseconds")


def at(row, path):
    for key in path:
        if row is None:
            return None
        row = row.get(key)
    return row


def _model(layers):
    modules = [layer for layer in layers if layer["direction"] == "forward" and at(layer, ("model", "parameters")) and at(layer, ("time_ns", "total"))]
    most = max(modules, key=lambda layer: (layer["time_ns"]["total"], -layer["depth"]), default=None)
    if most is None:
        return None
    return most["path"][-1]  # the outermost's is its class


def _communication(report, roots):
    """Time of collectives; 0 if there are none, None if one's time is unknown."""
    if any(kernel["roof"]["bound"] == "communication" and kernel["time_ns"]["total"] is None for kernel in report["kernels"]):
        return None
    return sum(at(root, ("collectives", "time_ns")) or 0 for root in roots)


def _saving_self(layers):
    below = {}
    for layer in layers:
        below[layer["parent"]] = below.get(layer["parent"], 0) + (layer["saving_ns"] or 0)
    return [None if layer["saving_ns"] is None else max(0, layer["saving_ns"] - below.get(layer["id"], 0)) for layer in layers]


class Rows:
    """One report's rows."""

    def __init__(self, report, file):
        run, layers = report["run"], report["layers"]
        roots = [layer for layer in layers if layer["parent"] is None]
        kernel, communication = _sum(at(root, ("time_ns", "total")) for root in roots), _communication(report, roots)
        process = ":".join(str(word) for word in (run["hostname"], run["pid"], "" if run["rank"] is None else run["rank"], run["started_at"]))
        queue = run.get("queue") or 1
        self.run = process if queue == 1 else f"{process}#{queue}"
        self.rank = run["rank"]
        self._one = {
            "run": self.run, "rank": self.rank, "file": file, "process": process, "hostname": run["hostname"], "started_at": _time(run["started_at"]),
            "measured_at": _time(run["started_at"], run["wall_time_s"]),
            "command": shlex.join(run["command"]), "model": _model(layers), "gpus": len(report["devices"]),
            "gpu_name": " + ".join(sorted({device["name"] for device in report["devices"]})) or None,
            "work": hashlib.sha256("\n".join(sorted(f"{layer['direction']} {'/'.join(layer['path'])}" for layer in layers)).encode()).hexdigest()[:16],
            "kernel_ns": kernel, "communication_ns": communication, "compute_ns": None if None in (kernel, communication) else kernel - communication,
            "saving_ns": _sum(root["saving_ns"] for root in roots),
            "wait_ns": _sum(at(root, ("collectives", "wait_ns")) for root in roots),
            "others_wait_ns": _sum(at(root, ("collectives", "others_wait_ns")) for root in roots),
        }
        self._rows = {"runs": [report], "gpus": report["devices"], "steps": [report["step"]] if run["unit"] == "step" else [],
                      "layers": layers, "kernels": report["kernels"]}

    def columns(self, table):
        rows = self._rows[table]
        return {name: self._derived(where, rows) if isinstance(where, str) else self._at(rows, where) for name, _, _, where in TABLES[table]}

    def _derived(self, name, rows):
        if name == "flops_tensor":
            return [_sum(row["flops"]["tensor"].values()) for row in rows]
        if name == "layer":
            return ["/".join(row["path"]) for row in rows]
        if name == "saving_self_ns":
            return _saving_self(rows)
        if name == "again":
            return [row["graph"] is not None or row["ranges"] is not None for row in rows]
        return [self._one[name]] * len(rows)

    @staticmethod
    def _at(rows, path):
        for key in path:
            rows = [None if row is None else row.get(key) for row in rows]
        return rows


def page():
    """Lines of docs/dataset.md."""
    types = {"strings": "list of string", "ints": "list of int32"}
    for table, columns in TABLES.items():
        yield from ("", f"### {table}", "", "| column | type | meaning | in report.json |", "|---|---|---|---|")
        for name, kind, meaning, where in columns:
            place = "" if isinstance(where, str) else f"`{'.'.join(where)}`"
            yield f"| `{name}` | {types.get(kind, kind)} | {meaning} | {place} |"


if __name__ == "__main__":
    print("\n".join(page()))
