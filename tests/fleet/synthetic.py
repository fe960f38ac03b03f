# SPDX-License-Identifier: Apache-2.0
"""Fleets with known stragglers, made of one real report: as report files, or at once as a dataset.

    synthetic.py reports TEMPLATE RANKS DIR     report files of one job
    synthetic.py dataset TEMPLATE RANKS DIR     a dataset of one job

Every rank has the template's layers and kernels. Its times are the template's, times a factor within 1 % of 1, but for the stragglers: their
times in one layer's own kernels are several times as long, so that the whole rank is 10 to 19 % slower.
"""
import copy
import json
import pathlib
import sys

STRAGGLERS = 10
RANKS_OF_A_NODE = 8
RANKS_OF_A_BLOCK = 256
STARTED = "2026-03-02T08:00:00Z"


def stragglers(ranks):
    """(rank, how much slower it is) by rank, spread over all of them."""
    return {7 + place * (ranks // STRAGGLERS): 0.10 + 0.01 * place for place in range(min(STRAGGLERS, ranks // 8))}


def factor(rank):
    """Within 1 % of 1; the same for a rank every time."""
    return 1 + ((rank * 2654435761) % 2001 - 1000) / 1e5


def victim(report):
    """The layer whose own kernels stragglers are slow in: not one of the longest, which would be named for that."""
    own = [layer for layer in report["layers"] if layer["time_ns"]["self"]]
    return min(own, key=lambda layer: layer["time_ns"]["self"])


def node(rank):
    return f"node-{rank // RANKS_OF_A_NODE:05}"


def total(report):
    return sum(layer["time_ns"]["total"] for layer in report["layers"] if layer["parent"] is None)


def one_rank(template, rank, slower, by=None):
    """The report of one rank; `by`: its factor, if not its own."""
    report, by = copy.deepcopy(template), by or factor(rank)
    report["run"].update(rank=rank, hostname=node(rank), pid=1000 + rank % RANKS_OF_A_NODE, started_at=STARTED, wall_time_s=3600)
    slow_layer, extra = victim(template), slower * total(template)
    above, layers = set(), {layer["id"]: layer for layer in report["layers"]}
    at = slow_layer["id"]
    while at is not None:
        above.add(at)
        at = layers[at]["parent"]
    for layer in report["layers"]:
        times = layer["time_ns"]
        added = extra if layer["id"] in above else 0
        for name, value in times.items():
            if value is not None:
                times[name] = round(value * by + (added if name != "self" or layer["id"] == slow_layer["id"] else 0))
        if layer["saving_ns"] is not None:
            layer["saving_ns"] = layer["saving_ns"] * by + added
    for kernel in report["kernels"]:
        own = extra if kernel["layer"] == slow_layer["id"] else 0
        if kernel["time_ns"]["total"]:
            scale = by + own / slow_layer["time_ns"]["self"]
            kernel["time_ns"] = {name: None if value is None else round(value * scale) for name, value in kernel["time_ns"].items()}
    # All ranks wait for the slowest.
    report["step"]["wall_ns"] = {"mean": round(1.25 * total(template)), "stddev": 0}
    report["step"]["exposed"] = report["step"]["critical_path"] = report["step"]["graph"] = None
    return report


def write_reports(template, ranks, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    slow = stragglers(ranks)
    for rank in range(ranks):
        (folder / f"run-rank{rank}.json").write_text(json.dumps(one_rank(template, rank, slow.get(rank, 0)), indent=1), encoding="utf-8")


def write_dataset(template, ranks, folder, job="synthetic"):
    """The same fleet without its kernels, faster than from files: DuckDB multiplies one rank's rows."""
    import duckdb
    from gable_fleet.dataset import Dataset, to_table
    from gable_fleet.tables import TABLES, Rows, checked
    dataset = Dataset(str(folder))
    dataset.create()
    rows = Rows(checked(one_rank(template, 0, 0, by=1), "template"), "run-rank0.json")
    tables = {table: to_table(table, rows.columns(table)) for table in TABLES if table != "kernels"}
    slow, layer, step = stragglers(ranks), victim(template), total(template)
    path, direction = "/".join(layer["path"]), layer["direction"]
    engine = duckdb.connect(":memory:")
    for table, one in tables.items():
        engine.register(f"one_{table}", one)
    engine.execute("CREATE TABLE slow (rank INTEGER, slower DOUBLE)")
    engine.executemany("INSERT INTO slow VALUES (?, ?)", sorted(slow.items()) or [(-1, 0.0)])
    engine.execute(f"""CREATE TABLE these AS SELECT n AS rank, coalesce(slower, 0) * {step} AS added, 1 + ((n * 2654435761) % 2001 - 1000) / 1e5 AS by,
        printf('node-%05d', n // {RANKS_OF_A_NODE}) AS hostname, 1000 + n % {RANKS_OF_A_NODE} AS pid FROM
        (SELECT unnest(range({ranks})) AS n) LEFT JOIN slow ON slow.rank = n""")
    in_path = f"(layer = '' OR starts_with('{path}/', layer || '/'))"
    is_victim = f"(layer = '{path}' AND direction = '{direction}')"
    process = f"t.hostname || ':' || t.pid || ':' || t.rank || ':{STARTED}'"
    changed = {
        "runs": f"{process} AS process, t.hostname AS hostname, t.pid AS pid",
        "gpus": "t.hostname AS hostname",
        "steps": "kernel_ns * t.by + t.added AS kernel_ns, compute_ns * t.by + t.added AS compute_ns, saving_ns * t.by + t.added AS saving_ns",
        "layers": f"time_ns * t.by + CASE WHEN {in_path} THEN t.added ELSE 0 END AS time_ns, self_ns * t.by + CASE WHEN {is_victim} THEN t.added ELSE 0 END "
                  f"AS self_ns, saving_self_ns * t.by + CASE WHEN {is_victim} THEN t.added ELSE 0 END AS saving_self_ns",
    }
    for table, what in changed.items():
        pathlib.Path(dataset.path(table, job)).mkdir(parents=True, exist_ok=True)
        for begin in range(0, ranks, RANKS_OF_A_BLOCK):
            end = min(ranks, begin + RANKS_OF_A_BLOCK)
            name = f"ranks-{begin:06}-{end - 1:06}-synthetic.parquet"
            engine.execute(f"""COPY (SELECT one.* REPLACE ({process} AS run, t.rank AS rank, {what})
                FROM these t CROSS JOIN one_{table} one WHERE t.rank >= {begin} AND t.rank < {end} ORDER BY t.rank)
                TO '{dataset.path(table, job, name)}' (FORMAT parquet, COMPRESSION zstd)""")


def main(arguments):
    if len(arguments) != 4 or arguments[0] not in ("reports", "dataset"):
        sys.exit(__doc__)
    what, template, ranks, folder = arguments
    (write_reports if what == "reports" else write_dataset)(json.loads(pathlib.Path(template).read_text(encoding="utf-8")), int(ranks), folder)


if __name__ == "__main__":
    main(sys.argv[1:])
