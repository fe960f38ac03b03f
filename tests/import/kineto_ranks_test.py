# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch's profiler: collectives, and the traces of several ranks."""
import json
import subprocess
import unittest

from import_run import DATA, PROGRAM, ImportTest, kernel, notes, run

NEW = DATA / "kineto_new.json"


class Collectives(ImportTest):
    """What PyTorch writes beside NCCL's kernels."""

    def message(self, world=2, devices=2, **fields):
        trace = json.loads(NEW.read_text())
        said = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2, "dtype": "Float",
                "In split size": "[]", "Out split size": "[]"} | fields
        for event in trace["traceEvents"]:
            if event.get("cat") == "kernel" and event["name"] == "gemm(float*)":
                event["name"] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                event["args"] |= {name: value for name, value in said.items() if value is not None}
        trace["deviceProperties"] = [trace["deviceProperties"][0] | {"id": i} for i in range(devices)]
        trace["distributedInfo"] = {"backend": "nccl", "rank": 0, "world_size": world}
        report = self.report("--kineto", self.file("m.json", json.dumps(trace)))
        row = next(row for row in report["kernels"] if row["name"].startswith("nccl"))
        self.assertEqual(row["roof"]["bound"], "communication")
        return row

    def test_bytes_on_the_bus(self):
        row = self.message()
        self.assertEqual({name: row["collective"][name] for name in ("kind", "ranks", "one_node", "bytes", "bus_bytes")},
                         {"kind": "all_reduce", "ranks": 2, "one_node": False, "bytes": 4000, "bus_bytes": 4000})
        self.assertAlmostEqual(row["collective"]["bus_bytes_per_s"], 4000 / row["time_ns"]["mean"] * 1e9, delta=1)
        self.assertEqual(self.message(**{"Group size": 8})["collective"]["bus_bytes"], 7000)
        self.assertEqual(self.message(dtype="BFloat16")["collective"]["bytes"], 2000)

    def test_a_gather_is_what_comes_out(self):
        gather = self.message(**{"Collective name": "_allgather_base", "Group size": 8, "Out msg nelems": 8000, "dtype": "Half"})
        self.assertEqual((gather["collective"]["kind"], gather["collective"]["bytes"], gather["collective"]["bus_bytes"]),
                         ("all_gather", 16000, 14000))
        scatter = self.message(**{"Collective name": "_reduce_scatter_base", "Group size": 8, "In msg nelems": 8000})
        self.assertEqual((scatter["collective"]["bytes"], scatter["collective"]["bus_bytes"]), (32000, 28000))

    def test_what_is_not_known(self):
        for unknown in ({"dtype": "Float9"}, {"dtype": None}, {"In msg nelems": None}, {"In split size": "[300, 700]"}):
            collective = self.message(**unknown)["collective"]
            self.assertEqual((collective["kind"], collective["bytes"], collective["bus_bytes"], collective["bus_bytes_per_s"]),
                             ("all_reduce", None, None, None), unknown)
        self.assertEqual(self.message(**{"In split size": "[500, 500]"})["collective"]["bytes"], 4000)
        alone = self.message(**{"Group size": None})["collective"]
        self.assertEqual((alone["ranks"], alone["bytes"], alone["bus_bytes"]), (None, 4000, None))
        self.assertIsNone(self.message(**{"Collective name": "barrier"})["collective"]["kind"])
        self.assertIsNone(self.message(**{"Collective name": None})["collective"])

    def test_whether_all_ranks_are_on_one_machine_is_not_told(self):
        """Ranks may use some of a machine's GPUs each: as many GPUs as ranks prove nothing."""
        for world in (2, 8, 16):
            self.assertFalse(self.message(world=world, devices=8)["collective"]["one_node"])


class Ranks(ImportTest):
    def rank(self, rank, device=0, name=None, scale=1):
        trace = json.loads(NEW.read_text())
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2} if rank is not None else {"backend": "nccl"}
        trace["deviceProperties"] = [{**trace["deviceProperties"][0], "id": i} for i in range(2)]
        for event in trace["traceEvents"]:
            if event.get("cat") in ("kernel", "gpu_memcpy"):
                event["args"]["device"] = device
                event["dur"] *= scale
        out = self.folder / (name or f"rank{rank}.json")
        run("--kineto", self.file(out.name + ".trace", json.dumps(trace)), "-o", out)
        return out

    def gable(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_the_header_names_it(self):
        self.assertEqual(self.report("--kineto", NEW)["run"]["rank"], 3)
        for unknown in (None, -1, "x", [1], 1 << 40):
            self.assertIsNone(json.loads(self.rank(unknown, name="r.json").read_text())["run"]["rank"], unknown)
        self.assertEqual(json.loads(self.rank("1", name="r.json").read_text())["run"]["rank"], 1)

    def test_two_merge(self):
        merged = self.folder / "merged.json"
        self.gable("merge", self.rank(0), self.rank(1, device=1, scale=2), "-o", merged)
        report = json.loads(merged.read_text())
        self.assertEqual(report["run"]["ranks"], [0, 1])
        self.assertEqual([process["rank"] for process in report["run"]["processes"]], [0, 1])
        self.assertNotIn(" on .", notes(report))
        shown = self.gable("report", self.folder / "rank0.json", self.folder / "rank1.json").stdout
        for rank in ("rank 0", "rank 1"):
            self.assertIn(rank, shown)

    def test_without_ranks_nothing_is_merged(self):
        said = self.gable("merge", self.rank(None, name="a.json"), self.rank(None, name="b.json"), "-o", self.folder / "m.json", code=2).stderr
        self.assertIn("names neither rank nor process: import the files of all ranks together (gable import --ranks)", said)

    def test_two_ranks_in_one_import_are_merged(self):
        files = [self.file(f"{rank}.json", json.dumps({"traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 2 + rank, "args": {}}],
            "distributedInfo": {"rank": rank}})) for rank in (0, 1)]
        report = self.report("--kineto", files[1], "--kineto", files[0])
        self.assertEqual(report["run"]["ranks"], [0, 1])
        self.assertEqual([process["gpu_time_ns"] for process in report["run"]["processes"]], [2000, 3000])
        self.assertEqual(report["kernels"][0]["time_ns"]["mean"], 2500)

    def test_ranks_on_different_gpus_are_compared(self):
        first, second = self.rank(0), self.rank(1, device=1, scale=2)
        table = self.gable("diff", first, second, "--json", "-").stdout
        rows = {row["name"]: row for row in json.loads(table)["layers"]}
        self.assertEqual({row["match"] for row in rows.values()}, {"same"})
        self.assertIn("relu", " ".join(rows))
        self.assertNotIn("only in", table)
        self.gable("check", second, "--baseline", first, "--what", "time", code=1)
        self.gable("check", first, "--baseline", first, "--what", "time")


if __name__ == "__main__":
    unittest.main()
