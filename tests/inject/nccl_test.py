# SPDX-License-Identifier: Apache-2.0
"""Collectives as NCCL's NVTX ranges tell of them, seen in the finished report."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import report_schema

HERE = os.path.dirname(os.path.abspath(__file__))


class Nccl(unittest.TestCase):
    def report(self, **variables):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = subprocess.run(
                [os.path.join(os.environ["GABLE_BUILD"], "bin", "gable"), "profile", "--playback", os.path.join(HERE, "nccl.jsonl"),
                 "--phases", "time", "-o", path, "--", os.environ["GABLE_NCCL_PROGRAM"]],
                capture_output=True, text=True, timeout=120, env=os.environ | variables)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        self.assertEqual(report_schema.problems(report), [])
        return report

    def test_a_communicator_that_was_made_holds_no_layer(self):
        """NCCL ends that range by a call of NVTX's extension: unheard, it would stay open around all that follows."""
        report = self.report()
        paths = [tuple(layer["path"]) for layer in report["layers"]]
        self.assertEqual(sorted(paths), [(), ("after",), ("step",), ("step", "NCCL:ncclAllReduce"), ("step", "NCCL:ncclGroupEnd")])
        self.assertEqual({tuple(l["path"]): l["launches"] for l in report["layers"]}[()], 5)

    def test_messages(self):
        rows = {row["name"]: row["collective"] for row in self.report()["kernels"]}
        self.assertIsNone(rows["work"])
        reduce = rows["ncclDevKernel_AllReduce_Sum_f32_RING_LL"]
        self.assertEqual((reduce["kind"], reduce["ranks"], reduce["bytes"], reduce["bus_bytes"]), ("all_reduce", 8, 6000, 10500))
        self.assertEqual(reduce["bus_bytes_per_s"], 10500 / 1000 * 1e9)
        gather = rows["ncclDevKernel_AllGather_RING_LL"]
        self.assertEqual((gather["kind"], gather["ranks"], gather["bytes"], gather["bus_bytes"]), ("all_gather", 2, 1000, 500))

    def test_one_machine_or_several(self):
        def on_one(**variables):
            return {row["collective"]["one_node"] for row in self.report(**variables)["kernels"] if row["collective"]}
        self.assertEqual(on_one(WORLD_SIZE="8", LOCAL_WORLD_SIZE="8"), {True})
        self.assertEqual(on_one(WORLD_SIZE="16", LOCAL_WORLD_SIZE="8"), {False})
        self.assertEqual(on_one(WORLD_SIZE="16", LOCAL_WORLD_SIZE="8", SLURM_STEP_NUM_NODES="1"), {False})
        self.assertEqual(on_one(SLURM_STEP_NUM_NODES="1"), {True})
        self.assertEqual(on_one(), {False})


if __name__ == "__main__":
    unittest.main()
