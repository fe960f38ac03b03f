# SPDX-License-Identifier: Apache-2.0
"""The files of a dataset: TABLE/job=NAME/BLOCK.parquet below one folder. A block is some ranks of one job, and has one name in all tables."""
import glob
import json
import os
import urllib.parse

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from gable_fleet.tables import DATASET, TABLES

_MARK = "_gable_dataset.json"  # readers of Parquet pass over names that begin with _
_TYPES = {
    "string": pyarrow.string(), "double": pyarrow.float64(), "int32": pyarrow.int32(), "int64": pyarrow.int64(), "bool": pyarrow.bool_(),
    "timestamp": pyarrow.timestamp("us"), "strings": pyarrow.list_(pyarrow.string()), "ints": pyarrow.list_(pyarrow.int32()),
}
_SCHEMAS = {table: pyarrow.schema([pyarrow.field(name, _TYPES[kind], metadata={"meaning": meaning} if meaning else None)
                                   for name, kind, meaning, _ in columns]) for table, columns in TABLES.items()}


class NoDataset(Exception):
    """Why a folder is not used, in one sentence."""


def to_table(table, columns):
    """An Arrow table of Python's values."""
    schema = _SCHEMAS[table]
    arrays = []
    for field in schema:
        values = columns[field.name]
        if field.type == pyarrow.float64():
            values = [None if value is None else float(value) for value in values]  # Arrow refuses whole numbers above 2^53
        elif field.type == pyarrow.timestamp("us"):
            values = pyarrow.array(values, pyarrow.string()).cast(field.type)
        arrays.append(pyarrow.array(values, field.type))
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def write(table, path):
    pyarrow.parquet.write_table(table, path, compression="zstd")


class Dataset:
    def __init__(self, folder):
        self.folder = folder

    def create(self):
        """Makes the folder a dataset, if it is none yet."""
        if self._is_one():
            return
        if os.path.isdir(self.folder) and os.listdir(self.folder):
            raise NoDataset(f"{self.folder} has files, but is no dataset of Gable: name a new folder.")
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, _MARK), "w", encoding="utf-8") as file:
            json.dump({"gable_dataset": DATASET}, file)

    def open(self):
        if not self._is_one():
            raise NoDataset(f"{self.folder} is no dataset of Gable: make one with 'gable export REPORTS --parquet {self.folder}'.")

    def _is_one(self):
        try:
            with open(os.path.join(self.folder, _MARK), encoding="utf-8") as file:
                made = json.load(file)["gable_dataset"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if made != DATASET:
            raise NoDataset(f"{self.folder} was written by another version of Gable (dataset {made}, this program has {DATASET}): "
                            "export the reports into a new folder.")
        return True

    def path(self, table, job, block=""):
        return os.path.join(self.folder, table, "job=" + urllib.parse.quote(job, safe=" "), block)

    def files(self, table, jobs=None):
        """Its files, of these jobs or of all."""
        if jobs is None:
            return sorted(glob.glob(os.path.join(glob.escape(self.folder), table, "job=*", "*.parquet")))
        return [path for job in jobs for path in sorted(glob.glob(os.path.join(glob.escape(self.path(table, job)), "*.parquet")))]

    def jobs(self):
        folder = os.path.join(self.folder, "runs")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return [urllib.parse.unquote(name[len("job="):]) for name in names if name.startswith("job=")]

    def put(self, job, block, parts, runs):
        """Takes a block: files by table, written beside where they go to. What the dataset has of these runs is replaced. Returns how many
        of them it had. If this is cut off, putting the same block again leaves every run once."""
        replaced = self._remove(job, block, runs)
        for table, part in parts.items():
            os.replace(part, self.path(table, job, block))
        return replaced

    def _remove(self, job, block, runs):
        wanted, replaced = pyarrow.array(sorted(runs), pyarrow.string()), 0
        for path in self.files("runs", [job]):
            if os.path.basename(path) == block:
                replaced += pyarrow.parquet.read_metadata(path).num_rows  # names of blocks tell which runs are in them
                continue
            column = pyarrow.parquet.ParquetFile(path).read(columns=["run"])["run"]
            there = pyarrow.compute.sum(pyarrow.compute.is_in(column, wanted)).as_py()
            if not there:
                continue
            replaced += there
            for table in [name for name in TABLES if name != "runs"] + ["runs"]:  # runs last: a second try finds the block by it
                self._drop(self.path(table, job, os.path.basename(path)), wanted)
        return replaced

    @staticmethod
    def _drop(path, wanted):
        rows = pyarrow.parquet.ParquetFile(path).read()
        rows = rows.filter(pyarrow.compute.invert(pyarrow.compute.is_in(rows["run"], wanted)))
        if path.split(os.sep)[-3] == "runs" and rows.num_rows == 0:
            for table in TABLES:
                other = os.path.join(os.path.dirname(path), "..", "..", table, *path.split(os.sep)[-2:])
                if os.path.exists(other):
                    os.remove(other)
            return
        write(rows, path + ".part")
        os.replace(path + ".part", path)
