# SPDX-License-Identifier: Apache-2.0
"""XPlane files of JAX's and TensorFlow's profilers, and that their reports agree with those of the traces that are made from them."""
import gzip
import json
import os
import unittest

from import_run import ImportTest, kernel, layer, notes
from xplane_encoder import Ref, as_trace, data, encode, event, lane, number, plane, small, varint

DETAILS = "regs:32 static_shared:1024 dynamic_shared:512 grid:128,2,1 block:256,1,1 occ_pct:62.5"
STREAM = "Stream #13(Compute,MemcpyH2D)"


def work(name, ts, dur, /, **stats):
    return event(name, ts, dur, **{"kernel_details": Ref(DETAILS), "hlo_module": Ref("jit_step"), **stats})


def gpu(*events, name="/device:GPU:0", stream=STREAM, **stats):
    return plane(name, [lane(stream, list(events), 13)], **stats)


def host(*events):
    return plane("/host:CPU", [lane("python", list(events), 77)])


def step(number_of_step, ts, dur):
    return event("train", ts, dur, step_num=number_of_step, _r=1)


def call(correlation, ts):
    return event("gemm", ts, 5, correlation_id=correlation, device_id=0)


class XplaneFiles(ImportTest):
    def space(self, *planes, name="host.xplane.pb", **more):
        return self.file(name, encode(*planes, **more))

    def both(self, *planes, options=()):
        """The report of the file and that of its trace, without what names the file."""
        reports = [self.report(option, self.file(name, content), *options) for option, name, content in
                   (("--kineto", "host.trace.json", json.dumps(as_trace(*planes))), ("--xplane", "host.xplane.pb", encode(*planes)))]
        for report in reports:
            report["run"]["notes"] = [note.replace(".trace.json", "").replace(".xplane.pb", "") for note in report["run"]["notes"]]
        self.assertEqual(*reports)
        return reports[1]

    def test_kernels_layers_and_copies(self):
        report = self.both(
            gpu(work("gemm_4", 100.123, 10.5, hlo_op=Ref("dot.4"), name=Ref("jit(step)/jit(main)/jvp(MLP)/Dense_0/dot_general[a=(1, 2)]")),
                work("gemm_5", 120, 20.25, hlo_op="dot.5", name="jit(step)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general"),
                work("sgemm", 150, 2, hlo_module="", tf_op=Ref("model/dense/MatMul:MatMul")),
                event("MemcpyH2D", 90, 4, memcpy_details="kind_src:pinned kind_dst:device size:4096 dest:0 async:1"),
                event("Memset", 96, 1, Memset_details="kind:device num_bytes:128 async:1")),
            plane("/device:GPU:1", [lane("Stream #20(Compute)", [work("gemm_4", -50.5, 7)], 20), lane("XLA Ops", [event("dot.4", 100, 11)], 92)]),
            host(event("$app.py:3 main", 0, 900)))
        gemm = kernel(report, "gemm_4", device=0)
        self.assertEqual([gemm[key] for key in ("grid", "block", "registers", "shared_bytes")], [[128, 2, 1], [256, 1, 1], 32, 1536])
        self.assertEqual(gemm["layer"], layer(report, "jit_step", "MLP", "Dense_0", "dot_general", "dot.4", direction="forward")["id"])
        layer(report, "jit_step", "MLP", "Dense_0", "dot_general", "dot.5", direction="backward")
        self.assertEqual(kernel(report, "sgemm")["layer"], layer(report, "model", "dense", "MatMul")["id"])
        self.assertEqual([kernel(report, "gemm_4", device=id_)["time_ns"]["total"] for id_ in (0, 1)], [10500, 7000])
        self.assertEqual(sorted((copy["kind"], copy["bytes"], copy["host_memory"]) for copy in report["copies"]),
                         [("host_to_device", 4096, "pinned"), ("memset", 128, None)])
        self.assertEqual({row["sync_ns"] for row in report["layers"]}, {None}, "the profilers record some waits and not others")

    def test_picoseconds_are_rounded_to_ns(self):
        for dur, ns in ((0.0004, 0), (0.0015, 2), (0.001499, 1), (0.000999, 1)):
            self.assertEqual(kernel(self.both(gpu(work("k", 1, dur), work("other", 9, 9))), "k")["time_ns"]["total"], ns)

    def test_steps_that_the_program_names(self):
        """Work is in the step in which it was launched, whenever it runs."""
        kernels = [work("gemm", 40, 10, correlation_id=5), work("gemm", 210, 20, correlation_id=6), work("gemm", 320, 40, correlation_id=7),
                   work("late", 330, 3, correlation_id=9), work("early", 11, 1, correlation_id=2)]
        report = self.both(gpu(*kernels), host(step(0, 10, 90), call(5, 20), call(6, 30), step(1, 110, 90), call(7, 120), call(9, 500)))
        self.assertEqual((report["run"]["unit"], report["run"]["steps"]["seen"]), ("step", 2))
        gemm = kernel(report, "gemm")
        self.assertEqual((gemm["launches"], gemm["time_ns"]["total"]), (1.5, (10000 + 20000 + 40000) / 2))
        self.assertEqual({row["name"] for row in report["kernels"]}, {"gemm"})
        self.assertIn("2 of 5 kernels ran outside of the steps", notes(report))

    def test_without_calls_the_time_on_the_gpu_decides(self):
        report = self.both(gpu(work("gemm", 40, 10), work("gemm", 210, 20), work("gemm", 600, 5)), host(step(0, 10, 90), step(1, 200, 90)))
        self.assertEqual((kernel(report, "gemm")["launches"], kernel(report, "gemm")["time_ns"]["mean"]), (1, 15000))

    def test_steps_by_lanes_of_old_profilers(self):
        """Each GPU has its own lane, and work of the same step at other times."""
        planes = [plane(f"/device:GPU:{id_}", [lane("Stream #1", [work("gemm", at, 5), work("gemm", at + 100, 7)], 1),
                                               lane("Steps", [event("a", at, 50, step_name="1"), event("b", at + 100, 50, step_name="2")], 90)])
                  for id_, at in ((0, 100), (3, 130))]
        report = self.both(*planes)
        self.assertEqual(report["run"]["steps"]["seen"], 2)
        self.assertEqual(report["step"]["host_ns"]["mean"], 80000, "from its first beginning to its last end")
        for id_ in (0, 3):
            self.assertEqual((kernel(report, "gemm", device=id_)["launches"], kernel(report, "gemm", device=id_)["time_ns"]["mean"]), (1, 6000))

    def test_a_range_of_the_host_as_step(self):
        planes = [gpu(work("gemm", 40, 10, correlation_id=5), work("gemm", 210, 20, correlation_id=6)),
                  host(step(0, 0, 900), event("epoch 3", 10, 50), call(5, 20), event("epoch 4", 110, 50), call(6, 120), event("$a.py:4 f", 9, 9))]
        report = self.both(*planes, options=("--step-range", "^epoch"))
        self.assertEqual((report["run"]["steps"]["seen"], kernel(report, "gemm")["launches"]), (2, 1))
        for option, file in (("--xplane", self.space(*planes)), ("--kineto", self.file("a.json", json.dumps(as_trace(*planes))))):
            said = self.refused(option, file, "--step-range", "^batch")
            self.assertIn("has no range that --step-range ^batch names: take one of its ranges, such as epoch #, train.", said)

    def test_the_gpu(self):
        report = self.report("--xplane", self.space(*small()))
        device = report["devices"][0]
        self.assertEqual([device[key] for key in ("id", "compute_capability", "sm_count", "memory_bytes")], [0, "9.0", 132, 85029158912])
        self.assertEqual(device["clocks_hz"]["sm_max"], 1980000000)
        self.assertEqual([(roof["value"], roof["source"]) for roof in report["ceilings"] if roof["name"] == "dram"],
                         [(3352320000000, "theoretical: memory_bandwidth in the XPlane file")])
        self.assertIn("fp32", {roof["name"] for roof in report["ceilings"]})
        self.assertEqual(report["run"]["steps"]["seen"], 3)
        named = self.report("--xplane", self.space(gpu(work("k", 1, 1), gpu_device_name="NVIDIA H100 80GB HBM3"), gpu(name="/device:GPU:1", core_count=4)))
        self.assertEqual([each["name"] for each in named["devices"]], ["NVIDIA H100 80GB HBM3"])
        other = self.report("--xplane", self.space(gpu(work("k", 1, 1), device_vendor="AMD", core_count=304, compute_cap_major=9, memory_bandwidth=10 ** 12)))
        self.assertEqual(other["ceilings"], [])
        self.assertIn("not one of NVIDIA's", notes(other))

    def test_attributes_out_of_range_are_unknown(self):
        wrong = {"core_count": -1, "clock_rate": 2 ** 62, "compute_cap_major": 2 ** 40, "memory_size": 2 ** 63, "memory_bandwidth": -5}
        device = self.report("--xplane", self.space(gpu(work("k", 1, 1), **wrong)))["devices"][0]
        self.assertEqual([device[key] for key in ("compute_capability", "sm_count", "memory_bytes")], [None] * 3)
        self.assertIsNone(device["clocks_hz"]["sm_max"])

    def test_what_is_no_kernel(self):
        report = self.both(gpu(work("k", 1, 2), event("MemoryResidency", 3, 4), event("whole", 5, 6, cuda_graph_exec_id=4)),
                           gpu(work("k", 10, 3), event("Buffer flush", 20, 5), name="/device:GPU:1", stream="CUPTI overhead"))
        self.assertEqual(sorted((row["name"], row["device"], row["time_ns"]["total"]) for row in report["kernels"]), [("k", 0, 2000), ("k", 1, 3000)])
        self.assertIn("1 launch of a CUDA graph was recorded as a whole: what ran in it is missing.", notes(report))

    def test_profilers_of_2020(self):
        report = self.both(gpu(event("k", 1, 2, annotation=Ref("replica_4/layer_5/dropout/GreaterEqual:GreaterEqual#shape=(half[4,384];half[])#"),
                                     kernel_details=Ref("regs:16 shm:0 grid:160,1,1 block:1024,1,1"))))
        self.assertEqual(kernel(report, "k")["layer"], layer(report, "replica_4", "layer_5", "dropout", "GreaterEqual")["id"])
        self.assertEqual(kernel(report, "k")["grid"], [160, 1, 1])
        self.assertIsNone(kernel(report, "k")["registers"], "shared memory as one number may be that of the kernel alone")

    def test_processes_that_the_program_started(self):
        """Their calls are numbered by themselves."""
        report = self.both(gpu(work("mine", 40, 1, correlation_id=5)), gpu(work("theirs", 45, 2, correlation_id=5), name="/device:GPU:1 [4711]"),
                           host(step(0, 10, 20), call(5, 20), step(1, 100, 20)), plane("/host:CPU [4711]", [lane("python", [call(5, 105)], 77)]))
        self.assertEqual([kernel(report, name)["launches"] for name in ("mine", "theirs")], [0.5, 0.5])
        steps = self.report("--xplane", self.space(gpu(work("mine", 40, 1, correlation_id=5)), host(step(0, 10, 20), call(5, 20), step(1, 100, 20)),
                                                   gpu(work("theirs", 45, 2, correlation_id=5), name="/device:GPU:1 [4711]")))
        self.assertEqual({row["name"] for row in steps["kernels"]}, {"mine"}, "without a call its time on the GPU decides, which is in no step")

    def test_what_all_events_of_a_name_say(self):
        report = self.both(gpu(event("k", 1, 2, shared={"hlo_module": Ref("jit_f"), "hlo_op": "a"}, kernel_details=Ref(DETAILS)),
                               event("k", 5, 2, shared={"hlo_module": Ref("jit_f"), "hlo_op": "a"}, hlo_op="b", kernel_details=Ref(DETAILS))))
        self.assertEqual({tuple(row["path"]) for row in report["layers"] if row["depth"] == 2}, {("jit_f", "a"), ("jit_f", "b")})

    def test_texts_that_look_like_numbers(self):
        """The profiler writes them as numbers."""
        report = self.both(gpu(work("k", 1, 2, hlo_op=12, name=7)))
        layer(report, "jit_step", "7", "12")

    def test_lines_of_a_stream_and_starts_of_lines(self):
        """One lane may be several lines, and each has a time of its own to count from."""
        lanes = [lane(STREAM, [work("k", at, 2)], 13, start) for at, start in ((10, 0), (10 ** 9 + 0.25, 10 ** 9), (40, 38))]
        self.assertEqual(kernel(self.both(plane("/device:GPU:0", lanes)), "k")["launches"], 3)

    def test_large_files_and_long_texts(self):
        names = ["k" * 700_000, "short"]
        events = [work(names[i % 2], 10 * i, 1 + i % 7, name=Ref("scope" * (i % 50))) for i in range(20000)]
        file = self.space(gpu(*events), plane("/host:other", [lane("x", [event("y", i, 1) for i in range(20000)])]))
        self.assertGreater(os.path.getsize(file), 1 << 20)
        report = self.report("--xplane", file)
        self.assertEqual(layer(report)["time_ns"]["total"], sum(1000 * (1 + i % 7) for i in range(20000)))
        self.assertEqual(sum(row["launches"] for row in report["kernels"]), 20000)

    def test_packed_and_by_other_options(self):
        plain, packed = encode(*small()), self.file("renamed", gzip.compress(encode(*small())))
        self.assertEqual(self.report("--xplane", packed)["kernels"], self.report("--xplane", self.file("a.pb", plain))["kernels"])
        for option in ("--nsys", "--ncu", "--kineto", "--proton"):
            self.assertIn("is an XPlane file of JAX's or TensorFlow's profiler: give it with --xplane.", self.refused(option, packed))
        self.assertIn("give it with --kineto", self.refused("--xplane", self.file("b.json", json.dumps(as_trace(*small())))))
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.assertIn("is a pipe, and an XPlane file is read twice: save it as a file first.", self.refused("--xplane", pipe))

    def test_no_gpu(self):
        said = self.refused("--xplane", self.space(plane("/host:metadata", []), host(step(0, 1, 2)), plane("Task Environment", [])))
        self.assertIn("is an XPlane file of JAX's or TensorFlow's profiler with no GPU lane: nothing ran on a GPU while it was recorded, or only "
                      "the host was traced; it has /host:CPU (1 lane).", said)
        tpu = plane("/device:TPU:0", [lane("XLA Ops", [event("fusion", 1, 2)]), lane("Steps", [event("1", 1, 2)])])
        said = self.refused("--xplane", self.space(tpu, host(step(0, 1, 2))))
        self.assertIn("with no GPU lane: it is of another kind of device; it has /device:TPU:0 (2 lanes), /host:CPU (1 lane).", said)
        for error, reason in (("node-17: Insufficient privilege to run libcupti (you need root permission).", "lets only administrators profile"),
                              ("node-17: No GPU detected.", "the profiler found no GPU"),
                              ("node-17: Failed to load libcupti (is it installed and accessible?)", "the profiler could not load CUPTI")):
            said = self.refused("--xplane", self.space(host(step(0, 1, 2)), errors=[error]))
            self.assertIn(reason, said)
            self.assertNotIn("node-17", said)
        # Lanes that have the time again are none.
        self.assertIn("with no GPU lane", self.refused("--xplane", self.space(gpu(work("k", 1, 1), stream="XLA Ops"))))

    def test_what_the_profiler_dropped(self):
        warning = ("Detected GPU events dropped on node-17: Profiler has collected 9 driver events and 7 device events. 31 events dropped because "
                   "total driver(callback) events reaches max; 40 events dropped because total device(activity) events reaches max;"
                   " 2 events dropped because cupti activity buffer full.")
        report = self.report("--xplane", self.space(gpu(work("k", 1, 1)), warnings=[warning]))
        self.assertIn("The profiler dropped 42 records of the GPU", notes(report))
        self.assertNotIn("node-17", self.text)
        report = self.report("--xplane", self.space(gpu(work("k", 1, 1)), warnings=[warning.split(";")[0] + "."]))
        self.assertNotIn("dropped", notes(report), "calls of the host that are missing change no time")

    def test_names_that_the_file_does_not_have(self):
        one = data(4, number(1, 99) + number(2, 10) + number(3, 5000) + data(4, number(1, 77) + data(5, "x")) + data(4, number(1, 1) + number(7, 2 ** 63)))
        space = data(1, data(2, "/device:GPU:0") + data(3, data(2, STREAM) + one) + data(5, number(1, 1) + data(2, number(1, 1) + data(2, "hlo_op"))))
        self.assertEqual(kernel(self.report("--xplane", self.file("a.pb", space)), "(unnamed)")["time_ns"]["total"], 5)

    def test_files_that_are_cut_off(self):
        whole = encode(*small())
        for end in [*range(1, 40), *range(40, len(whole), 97)]:
            said = self.refused("--xplane", self.file("a.pb", whole[:end]))
            self.assertRegex(said, r"the file ends within a (message|number): it was cut off|with no GPU lane")
        self.assertIn("was cut off", self.refused("--xplane", self.file("a.pb.gz", gzip.compress(whole)[:-20])))

    def test_damaged_files(self):
        def space(event_bytes=b"", lane_bytes=b"", plane_bytes=b"", table=b""):
            return data(1, data(2, "/device:GPU:0") + data(3, data(2, STREAM) + lane_bytes + data(4, number(1, 1) + number(3, 5) + event_bytes)) +
                        plane_bytes + table)
        most = (1 << 63) - 1
        for content, reason in (
                (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f/device:GPU:0", "longer than the message"),
                (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "not a number"),
                (b"\x0b\x0c", "not a field"), (b"\x00\x01", "not a field"),
                (data(1, data(2, "/device:GPU:0") + b"\x1a\x7fabc"), "longer than the message"),
                (data(1, data(2, "/device:GPU:0") + b"\x22" + varint(1 << 24 | 1) + bytes(1 << 24 | 1)), "longer than any in a profile"),
                (space(event_bytes=b"\x22\x7f"), "damaged"), (space(table=data(4, b"\x12\x05\x12\x7f")), "damaged"),
                (space(event_bytes=data(4, b"\x13")), "damaged"),
                (space(event_bytes=number(2, most), lane_bytes=number(3, most)), "out of range"), (space(event_bytes=number(3, -1)), "out of range"),
                (data(1, data(4, b"") + data(2, "/device:GPU:0")), "its name behind"),
                (data(1, data(2, "/device:GPU:0") + data(3, data(2, STREAM) + data(4, number(3, 5)) + number(3, 7))), "its name or time behind"),
                (b"".join(data(1, data(2, "/device:GPU:0") + data(3, b"")) for _ in range(5000)), "more planes"),
                (b"\x0a" * 100000, "longer than the message")):
            self.assertIn(reason, self.refused("--xplane", self.file("a.pb", content)), content[:60])
        # Events that stand for several have no time of their own, and unknown fields do not matter.
        many = data(4, number(1, 1) + number(5, 3) + number(3, 7))
        content = space(lane_bytes=many + data(15, "new") + varint(16 << 3 | 1) + bytes(8) + varint(17 << 3 | 5) + bytes(4))
        self.assertEqual(kernel(self.report("--xplane", self.file("a.pb", content)), "(unnamed)")["launches"], 1)


if __name__ == "__main__":
    unittest.main()
