# SPDX-License-Identifier: Apache-2.0
"""Traces of JAX's and TensorFlow's profiler, written as trace_events_to_json of TSL writes them: no categories, all arguments texts."""
import gzip
import json
import unittest

from import_run import ImportTest, kernel, layer, notes

HOST, GPU0, GPU1 = 701, 1, 2


def meta(pid, name, tid=None):
    lane = {} if tid is None else {"tid": tid}
    return {"ph": "M", "pid": pid, **lane, "name": "process_name" if tid is None else "thread_name", "args": {"name": name}}


def event(name, ts, dur, /, tid=13, pid=GPU0, **args):
    return {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, "args": args}


def details(grid="128,2,1", block="256,1,1", regs=32, static=1024, dynamic=512):
    return f"regs:{regs} static_shared:{static} dynamic_shared:{dynamic} grid:{grid} block:{block} occ_pct:62.5"


LANES = [meta(HOST, "/host:CPU"), meta(HOST, "python", 1), meta(GPU0, "/device:GPU:0"), meta(GPU0, "Stream #13(Compute,MemcpyH2D)", 13),
         meta(GPU0, "Stream #14(Compute)", 14), meta(GPU0, "Steps", 90), meta(GPU0, "XLA Modules", 91), meta(GPU0, "XLA Ops", 92),
         meta(GPU0, "TensorFlow Ops", 93), meta(GPU0, "TensorFlow Name Scope", 94)]
XLA = {"hlo_module": "jit_step", "correlation_id": "7", "context_id": "$$1", "tf_op": "XlaModule:"}
EVENTS = [
    event("$app.py:3 main", 0, 900, tid=1, pid=HOST),
    event("gemm_fusion_dot_4", 100.123, 10.5, **XLA, hlo_op="gemm_fusion_dot.4", kernel_details=details(),
          name="jit(step)/jit(main)/jvp(MLP)/Dense_0/dot_general[dimension_numbers=(((1,), (0,)), ((), ()))]"),
    event("gemm_fusion_dot_5", 120, 20.25, **XLA, hlo_op="gemm_fusion_dot.5", kernel_details=details(),
          name="jit(step)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general"),
    event("loop_add_fusion", 130, 2, tid=14, **XLA, hlo_op="loop_add_fusion", kernel_details=details(regs=2191500840)),
    event("MemcpyH2D", 90, 4, memcpy_details="kind_src:pinned kind_dst:device size:4096 dest:0 async:1", correlation_id="3"),
    event("Memset", 96, 1, Memset_details="kind:device num_bytes:128 async:1"),
    event("gemm_fusion_dot.4", 100, 11, tid=92), event("jit_step", 100, 45, tid=91), event("dot_general", 100, 11, tid=93),
    event("MLP", 100, 11, tid=94)]


class XlaTraces(ImportTest):
    def trace(self, *events, lanes=LANES):
        return self.file("host.trace.json", json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True},
                                                        "traceEvents": [*lanes, *events, {}]}))

    def test_kernels_are_what_ran_on_streams(self):
        report = self.report("--kineto", self.trace(*EVENTS))
        self.assertEqual(sorted(row["name"] for row in report["kernels"]), ["gemm_fusion_dot_4", "gemm_fusion_dot_5", "loop_add_fusion"])
        gemm = kernel(report, "gemm_fusion_dot_4")
        self.assertEqual(gemm["time_ns"]["mean"], 10500)
        self.assertEqual([gemm[key] for key in ("grid", "block", "registers", "shared_bytes")], [[128, 2, 1], [256, 1, 1], 32, 1536])
        # A profiler of AMD's writes numbers of registers that no GPU has.
        self.assertIsNone(kernel(report, "loop_add_fusion")["registers"])
        self.assertEqual(layer(report)["time_ns"]["total"], 10500 + 20250 + 2000)
        self.assertIn("times from JAX's or TensorFlow's profiler (host.trace.json)", notes(report))

    def test_layers_are_modules_scopes_and_operators(self):
        report = self.report("--kineto", self.trace(*EVENTS))
        path = ["jit_step", "MLP", "Dense_0", "dot_general"]
        forward = layer(report, *path, "gemm_fusion_dot.4", direction="forward")
        self.assertEqual(kernel(report, "gemm_fusion_dot_4")["layer"], forward["id"])
        layer(report, *path, "gemm_fusion_dot.5", direction="backward")
        self.assertEqual(kernel(report, "loop_add_fusion")["layer"], layer(report, "jit_step", "loop_add_fusion")["id"])

    def test_operators_of_tensorflow(self):
        report = self.report("--kineto", self.trace(event("sgemm", 10, 2, tf_op="model/dense/MatMul:MatMul", kernel_details=details())))
        self.assertEqual(kernel(report, "sgemm")["layer"], layer(report, "model", "dense", "MatMul")["id"])

    def test_copies(self):
        copies = self.report("--kineto", self.trace(*EVENTS))["copies"]
        self.assertEqual(sorted((copy["kind"], copy["bytes"], copy["time_ns"], copy["host_memory"]) for copy in copies),
                         [("host_to_device", 4096, 4000, "pinned"), ("memset", 128, 1000, None)])

    def test_steps(self):
        steps = [event("1", 100, 60, tid=90), event("2", 200, 60, tid=90)]
        later = [{**each, "ts": each["ts"] + 100} for each in EVENTS if each["tid"] == 13]
        outside = event("outside", 500, 5, kernel_details=details())
        report = self.report("--kineto", self.trace(*EVENTS, *later, outside, *steps))
        self.assertEqual((report["run"]["unit"], report["run"]["steps"]["seen"]), ("step", 2))
        self.assertEqual(kernel(report, "gemm_fusion_dot_4")["launches"], 1)
        self.assertEqual(kernel(report, "loop_add_fusion")["launches"], 0.5)
        self.assertIn("1 of 6 kernels ran outside of the steps", notes(report))

    def test_several_gpus_and_times_before_zero(self):
        lanes = [*LANES, meta(GPU1, "/device:GPU:1"), meta(GPU1, "Stream #20(Compute)", 20)]
        other = event("gemm_fusion_dot_4", -50.5, 7, pid=GPU1, tid=20, **XLA, kernel_details=details(grid="1,1,1"))
        report = self.report("--kineto", self.trace(*EVENTS, other, lanes=lanes))
        self.assertEqual(kernel(report, "gemm_fusion_dot_4", device=1)["time_ns"]["mean"], 7000)
        self.assertEqual(kernel(report, "gemm_fusion_dot_4", device=0)["time_ns"]["mean"], 10500)

    def test_packed_and_without_metadata(self):
        packed = self.file("perfetto_trace.json.gz", gzip.compress(json.dumps({"traceEvents": [*LANES, *EVENTS]}).encode()))
        self.assertEqual(layer(self.report("--kineto", packed))["time_ns"]["total"], 32750)

    def test_no_gpu(self):
        host = [meta(HOST, "/host:CPU"), meta(HOST, "python", 1)]
        said = self.refused("--kineto", self.trace(EVENTS[0], lanes=host))
        self.assertIn("is a trace of JAX's or TensorFlow's profiler with no GPU lane: nothing ran on a GPU", said)
        said = self.refused("--kineto", self.trace(event("fusion", 5, 5, pid=3, tid=3), lanes=[*host, meta(3, "/device:TPU:0"), meta(3, "XLA Ops", 3)]))
        self.assertIn("with no GPU lane: it is of another kind of device", said)
        # Lanes that have times again are none.
        self.assertIn("with no GPU lane", self.refused("--kineto", self.trace(event("jit_step", 100, 45, tid=91))))

    def test_traces_that_are_cut_at_a_million_events(self):
        one = json.dumps(event("k", 1, 1, kernel_details=details())) + ",\n"
        for count, cut in ((10 ** 6, True), (10 ** 6 + 1, False)):
            path = self.file("large.json", '{"traceEvents":[' + ",".join(json.dumps(each) for each in LANES) + ",\n" + one * count + "{}]}")
            self.assertEqual("as many events as its profiler ever writes, 1 million" in notes(self.report("--kineto", path)), cut)

    def test_bad_numbers(self):
        for bad in ("grid:0,1,1 block:1,1,1", "grid:1,1 block:1,1,1", "grid:a,b,c block:1,1,1", "grid:99999999999,1,1 block:1,1,1", ""):
            row = kernel(self.report("--kineto", self.trace(event("k", 1, 1, kernel_details=bad))), "k")
            self.assertIsNone(row["registers"])
            self.assertNotEqual(row["grid"], [0, 1, 1], bad)
        for fields in ({"ts": 1e30}, {"dur": -1}):
            self.assertIn("out of range", self.refused("--kineto", self.trace({**EVENTS[1], **fields})))


if __name__ == "__main__":
    unittest.main()
