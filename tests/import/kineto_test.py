# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch's profiler: old and new, packed, steps, layers, backward, formulas, CUPTI's counters, and what is none."""
import decimal
import gzip
import json
import re
import subprocess
import unittest

from import_run import DATA, PROGRAM, ImportTest, kernel, layer, notes, run
from operator_traces import trace_of

NEW, OLD, COUNTERS = DATA / "kineto_new.json", DATA / "kineto_old.json", DATA / "kineto_counters.json"


class NewTraces(ImportTest):
    def test_steps_and_times_to_the_nanosecond(self):
        report = self.report("--kineto", NEW)
        self.assertEqual((report["run"]["unit"], report["run"]["steps"]["seen"]), ("step", 2))
        # Two steps: the second one's first kernel tells how long the first one was.
        self.assertEqual(report["step"]["wall_ns"], {"mean": 1000000, "stddev": None})
        self.assertEqual(report["step"]["host_ns"]["mean"], 900500)
        self.assertEqual(kernel(report, "gemm(float*)")["time_ns"]["mean"], 10500)
        self.assertEqual(kernel(report, "relu(float*)")["time_ns"]["mean"], 1250)
        self.assertEqual(layer(report)["time_ns"]["total"], 10500 + 1250 + 20000 + 2000)
        self.assertEqual(report["devices"][0]["name"], "NVIDIA A100-SXM4-40GB")

    def test_a_step_begins_with_its_main_streams_first_kernel(self):
        trace = json.loads(NEW.read_text())
        first = [event for event in trace["traceEvents"] if event.get("cat") == "kernel" and event["args"]["correlation"] in (11, 111)]
        # In the second step 5 us earlier.
        ahead = [{**event, "name": "ahead", "ts": ts, "dur": 1, "args": {**event["args"], "stream": 20}}
                 for event, ts in zip(first, (1055.0, 2050.0))]
        trace["traceEvents"] += ahead
        report = self.report("--kineto", self.file("ahead.json", json.dumps(trace)))
        self.assertEqual(report["step"]["wall_ns"]["mean"], 1000000)
        for event in ahead:
            event["args"]["stream"] = 7
        self.assertEqual(self.report("--kineto", self.file("ahead.json", json.dumps(trace)))["step"]["wall_ns"]["mean"], 995000)

    def test_steps_at_the_end_without_a_kernel_are_none(self):
        trace = json.loads(NEW.read_text())
        trace["traceEvents"].append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 10, "tid": 10, "ts": 2901.0,
                                     "dur": 49, "args": {}})
        report = self.report("--kineto", self.file("stub.json", json.dumps(trace)))
        self.assertEqual((report["run"]["steps"]["seen"], report["step"]["host_ns"]["mean"]), (2, 900500))
        self.assertIn("The last step has no kernel", notes(report))

    def test_layers_are_modules_and_their_operators(self):
        report = self.report("--kineto", NEW)
        linear = layer(report, "Net_0", "Linear_0", "aten::linear", direction="forward")
        self.assertEqual(kernel(report, "gemm(float*)")["layer"], linear["id"])
        self.assertEqual((linear["calls"], linear["cpu_ns"], linear["launches"]), (1, 80000, 1))
        self.assertEqual(linear["span_ns"], 10500)
        self.assertEqual(layer(report, "Net_0", "aten::relu")["time_ns"]["total"], 1250)

    def test_what_blocks_take(self):
        trace = json.loads(NEW.read_text())
        for event in trace["traceEvents"]:
            if event.get("cat") == "kernel" and event["name"] == "gemm(float*)":
                event["args"].update({"grid": [216, 1, 1], "block": [256, 1, 1], "registers per thread": 64, "shared memory": 50000})
        row = kernel(self.report("--kineto", self.file("blocks.json", json.dumps(trace))), "gemm(float*)")
        # An A100: 4 blocks by registers, 167,936 / 51,072 = 3 by shared memory.
        self.assertEqual([row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")], [64, 50000, 3, 216 / 324])

        def told(*registers):
            """Of the gemm's launches, one after the other."""
            values = iter(registers)
            for event in trace["traceEvents"]:
                if event.get("cat") == "kernel" and event["name"] == "gemm(float*)":
                    event["args"]["registers per thread"] = next(values)
            return self.file("told.json", json.dumps(trace))
        count = sum(event.get("cat") == "kernel" and event["name"] == "gemm(float*)" for event in trace["traceEvents"])
        self.assertGreater(count, 1)
        for unknown in ([-1] * count, ["x"] * count, [64] * (count - 1) + [65]):  # the last: two functions of one name
            row = kernel(self.report("--kineto", told(*unknown)), "gemm(float*)")
            self.assertEqual([row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")], [None] * 4, unknown)
        self.refused("--kineto", told(*[70000] * count))
        told(*[64] * count)
        for event in trace["traceEvents"]:
            event.get("args", {}).pop("shared memory", None)
        row = kernel(self.report("--kineto", self.file("unshared.json", json.dumps(trace))), "gemm(float*)")
        self.assertEqual([row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")], [None] * 4)

    def test_backward_has_the_layer_of_its_forward(self):
        report = self.report("--kineto", NEW)
        back = layer(report, "Net_0", "Linear_0", "aten::linear", direction="backward")
        self.assertEqual(kernel(report, "gemm_bwd(float*)")["layer"], back["id"])

    def test_optimizers_have_no_direction(self):
        report = self.report("--kineto", NEW)
        self.assertEqual(layer(report, "Optimizer.step#SGD.step", "aten::add_")["direction"], "none")

    def test_formulas_are_analytic_and_count_once(self):
        report = self.report("--kineto", NEW)
        model = layer(report, "Net_0", "Linear_0", "aten::linear", direction="forward")["model"]
        self.assertEqual(model["flops_analytic"], 2 * 8 * 16 * 32)
        self.assertEqual(model["bytes_analytic"], 4 * (8 * 16 + 16 * 32 + 8 * 32 + 32))
        self.assertAlmostEqual(model["flops_per_s"], 2 * 8 * 16 * 32 / 10500e-9)
        back = layer(report, "Net_0", "Linear_0", "aten::linear", direction="backward")["model"]
        self.assertEqual(back["flops_analytic"], 2 * 16 * 8 * 32)
        self.assertIsNone(layer(report)["flops"]["total"])  # nothing was counted

    def test_roofs_come_from_the_catalogue_and_cut_nothing_off(self):
        trace = json.loads(NEW.read_text())
        for event in trace["traceEvents"]:
            if event.get("cat") == "kernel" and event["name"] == "gemm(float*)":
                event["dur"] = 0.001  # 8,192 FLOP in 1 ns are 8.2 TFLOP/s; 4,224 bytes are 4.2 TB/s
        report = self.report("--kineto", self.file("fast.json", json.dumps(trace)))
        roofs = {roof["name"]: (roof["value"], roof["source"]) for roof in report["ceilings"]}
        self.assertEqual(roofs["dram"], (1555e9, "theoretical: A100 data sheet"))
        self.assertEqual(roofs["fp32"][0], 19.5e12)
        model = layer(report, "Net_0", "Linear_0", "aten::linear", direction="forward")["model"]
        moved = 4 * (8 * 16 + 16 * 32 + 8 * 32 + 32)
        self.assertAlmostEqual(model["roof"]["fraction"], moved / 1555e9 / 1e-9)
        self.assertGreater(model["roof"]["fraction"], 1)
        self.assertRegex(notes(report), "layers? (is|are) above the roof: Winograd")
        # another board of that chip has other clocks: nothing is known
        other = json.loads(NEW.read_text())
        other["deviceProperties"][0]["name"] = "NVIDIA A100X"
        self.assertEqual(self.report("--kineto", self.file("other.json", json.dumps(other)))["ceilings"], [])

    def test_copies(self):
        copies = self.report("--kineto", NEW)["copies"]
        self.assertEqual([(c["kind"], c["bytes"], c["time_ns"], c["count"]) for c in copies], [("host_to_device", 4096, 4500, 1)])

    def test_the_hosts_memory_and_the_rate_of_copies(self):
        def copies(name):
            trace = json.loads(NEW.read_text())
            for event in trace["traceEvents"]:
                if event.get("cat") == "gpu_memcpy":
                    event["name"] = name
            return [(c["host_memory"], c["bytes_per_s"]) for c in self.report("--kineto", self.file("m.json", json.dumps(trace)))["copies"]]
        self.assertEqual(copies("Memcpy HtoD (Pageable -> Device)"), [("pageable", 4096 / 4500 * 1e9)])
        self.assertEqual(copies("Memcpy HtoD (Pinned -> Device)"), [("pinned", 4096 / 4500 * 1e9)])
        self.assertEqual(copies("Memcpy HtoD (Managed -> Device)"), [("managed", 4096 / 4500 * 1e9)])
        self.assertEqual(copies("Memcpy HtoD"), [(None, 4096 / 4500 * 1e9)])

    def test_copies_of_which_one_has_no_size_have_none(self):
        trace = json.loads(NEW.read_text())
        for event in trace["traceEvents"]:
            if event.get("cat") == "gpu_memcpy":
                del event["args"]["bytes"]
        copies = self.report("--kineto", self.file("m.json", json.dumps(trace)))["copies"]
        self.assertEqual([(c["bytes"], c["bytes_per_s"], c["time_ns"]) for c in copies], [(None, None, 4500)])

    def test_a_kernel_outside_of_steps_is_told(self):
        report = self.report("--kineto", NEW)
        self.assertNotIn("outside(float*)", [row["name"] for row in report["kernels"]])
        self.assertIn("1 of 9 kernels ran outside of the steps", notes(report))
        self.assertIn("1 of 9 kernels (11.1 %) have no call in the file", notes(report))

    def test_packed(self):
        packed = self.file("t.json.gz", gzip.compress(NEW.read_bytes()))
        self.assertEqual(self.report("--kineto", packed)["run"]["total"], self.report("--kineto", NEW)["run"]["total"])

    def test_a_list_of_events_alone(self):
        events = json.loads(NEW.read_text())["traceEvents"]
        report = self.report("--kineto", self.file("list.json", json.dumps(events)))
        self.assertEqual(layer(report)["time_ns"]["total"], 33750)

    def test_metadata_and_environment_stay_out(self):
        for trace in (NEW, OLD):
            self.report("--kineto", trace)
            for word in ("hunter2", "API_TOKEN", "secret", "nccl", "/home"):
                self.assertNotIn(word, self.text)


def call(name, start, duration, thread=10, correlation=900, **fields):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 10, "tid": thread, "ts": start, "dur": duration,
            "args": {"correlation": correlation, **fields}}


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


class BeforeTheRecording(ImportTest):
    """The first step of the trace has calls 11 to 15, the second 111 to 115."""

    def trace(self, *events, drop=()):
        trace = json.loads(NEW.read_text())
        trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") not in drop] + list(events)
        return self.file("early.json", json.dumps(trace))

    @staticmethod
    def work(correlation, ts=1200, name="early(float*)", cat="kernel", **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": 100,
                "args": {"device": 0, "stream": 7, "correlation": correlation, "grid": [1, 1, 1], "block": [32, 1, 1], **args}}

    def test_the_end_of_the_step_before_is_in_no_step(self):
        plain = self.report("--kineto", NEW)
        early = [self.work(number, ts) for number, ts in ((3, 1200), (10, 1400))]
        copy = self.work(4, cat="gpu_memcpy", name="Memcpy DtoH (Device -> Pinned)", bytes=64)
        report = self.report("--kineto", self.trace(*early, copy))
        self.assertIn("2 kernels were launched before the recording began, and are left out of the steps.", notes(report))
        self.assertIn("1 copy was launched before the recording began, and is left out of the steps.", notes(report))
        for part in ("kernels", "copies", "layers", "step"):
            self.assertEqual(report[part], plain[part], part)
        self.assertEqual(report["run"]["lost"], plain["run"]["lost"])
        self.assertNotIn("before the recording", notes(plain))

    def test_a_missing_call_of_the_recording_is_no_early_one(self):
        report = self.report("--kineto", self.trace(self.work(112, 2200), self.work(40, 1400)))
        self.assertNotIn("before the recording", notes(report))
        self.assertEqual(kernel(report, "early(float*)", layer=0)["launches"], 0.5)

    def test_its_step_is_that_of_the_calls_around_it(self):
        # Call 12 of the first step is missing, and its kernel ran in the second.
        trace = json.loads(NEW.read_text())
        trace["traceEvents"] = [e for e in trace["traceEvents"] if not (e.get("cat") == "cuda_runtime" and e["args"]["correlation"] == 12)]
        for event in trace["traceEvents"]:
            if event.get("cat") == "kernel" and event["args"]["correlation"] == 12:
                event["ts"], event["name"] = 2500, "late(float*)"
        report = self.report("--kineto", self.file("late.json", json.dumps(trace)))
        self.assertEqual(report["run"]["steps"]["seen"], 2)
        self.assertEqual(kernel(report, "late(float*)")["launches"], 0.5)

    def test_nodes_of_a_graph_have_its_launch(self):
        node = {"graph node id": 7, "graph id": 1}
        launch = call("cudaGraphLaunch", 1100, 5, correlation=20)
        inside = self.trace(launch, self.work(20, **node), self.work(20, ts=1350, **node), self.work(2, **node))
        report = self.report("--kineto", inside)
        self.assertEqual(kernel(report, "early(float*)")["launches"], 1)  # two in one of two steps
        self.assertIn("1 kernel was launched before the recording began, and is left out", notes(report))

    def test_without_calls_time_is_all_there_is(self):
        report = self.report("--kineto", self.trace(self.work(3), drop=("cuda_runtime", "cuda_driver")))
        self.assertEqual(kernel(report, "early(float*)")["launches"], 0.5)
        self.assertNotIn("before the recording", notes(report))

    def test_without_steps_it_counts_and_is_told(self):
        trace = json.loads(self.trace(self.work(3)).read_text())
        trace["traceEvents"] = [e for e in trace["traceEvents"] if not e["name"].startswith("ProfilerStep")]
        report = self.report("--kineto", self.file("stepless.json", json.dumps(trace)))
        self.assertEqual(kernel(report, "early(float*)")["launches"], 1)
        self.assertIn("1 kernel was launched before the recording began, and counts here, as the file has no steps.", notes(report))

    def test_an_operator_of_the_file_is_known_to_be_in_it(self):
        operator = {"ph": "X", "cat": "cpu_op", "name": "aten::sin", "pid": 1, "tid": 10, "ts": 1700, "dur": 20, "args": {"External id": 77}}
        report = self.report("--kineto", self.trace(operator, self.work(3, ts=1710, **{"External id": 77})))
        self.assertEqual(kernel(report, "early(float*)")["launches"], 0.5)

    def test_nothing_else(self):
        step = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 10, "ts": 1000, "dur": 900, "args": {}}
        said = self.refused("--kineto", self.file("all.json", json.dumps([step, call("cudaDeviceSynchronize", 1100, 5, correlation=20), self.work(3)])))
        self.assertIn("all of its kernels were launched before the recording began", said)


class TimesBeforeZero(ImportTest):
    """Of traces with baseTimeNanoseconds, what began before it."""

    def moved(self, by, *arguments, source=NEW):
        # As text, so that no digit of a time is rounded.
        text = re.sub(r'"ts": ([0-9.]+)', lambda found: f'"ts": {decimal.Decimal(found[1]) - decimal.Decimal(by)}', source.read_text())
        self.assertNotEqual(text, source.read_text())
        report = self.report("--kineto", self.file("moved.json", text), *arguments)
        report["run"]["notes"] = [note.replace("moved.json", source.name) for note in report["run"]["notes"]]
        return report

    def test_they_are_read_as_others(self):
        for source in (NEW, OLD):
            plain = self.report("--kineto", source)
            # Before, on and across the zero; a fraction alone; -0.5 us has no digit before the point but 0.
            for by in ("1500", "5000", "1040.625", "2040.125", "100000.875", "0.5", "130.25"):
                with self.subTest((source.name, by)):
                    report = self.moved(by, source=source)
                    for part in ("kernels", "layers", "copies", "step", "run"):
                        self.assertEqual(report[part], plain[part], part)

    def test_named_steps_too(self):
        plain = self.report("--kineto", NEW, "--step-range", "Optimizer")
        self.assertEqual(self.moved("1700.125", "--step-range", "Optimizer")["kernels"], plain["kernels"])

    def test_counters_keep_their_order(self):
        plain = self.report("--kineto", COUNTERS)
        self.assertEqual(self.moved("100000", source=COUNTERS)["kernels"], plain["kernels"])


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
        self.assertIn("has no rank", said)

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


class Waits(ImportTest):
    def with_calls(self, *calls):
        trace = json.loads(NEW.read_text())
        trace["traceEvents"] += calls
        return self.report("--kineto", self.file("waits.json", json.dumps(trace)))

    def test_time_in_synchronising_calls_by_the_layer_that_was_open(self):
        report = self.with_calls(call("cudaStreamSynchronize", 1060, 7), call("cudaEventSynchronize", 1205, 20.5),
                                 call("cudaDeviceSynchronize", 1350, 30, thread=12), call("cudaStreamSynchronize", 1950, 40))
        # Of two steps; what lies between them is in none.
        self.assertEqual(report["step"]["sync_ns"], (7000 + 20500 + 30000) / 2)
        self.assertEqual(layer(report)["sync_ns"], (7000 + 20500 + 30000) / 2)
        self.assertEqual(layer(report, "Net_0", direction="forward")["sync_ns"], (7000 + 20500) / 2)
        self.assertEqual(layer(report, "Net_0", "Linear_0", "aten::linear", direction="forward")["sync_ns"], 7000 / 2)
        self.assertEqual(layer(report, "Net_0", direction="forward")["calls"], 1)

    def test_copies_and_waits_of_streams_are_none(self):
        report = self.with_calls(call("cudaMemcpy", 1060, 7), call("cudaStreamWaitEvent", 1205, 20), call("cudaEventQuery", 1230, 5))
        self.assertEqual(report["step"]["sync_ns"], 0)

    def test_a_call_within_a_call_counts_once(self):
        report = self.with_calls(call("cudaStreamSynchronize", 1060, 7), call("cuStreamSynchronize", 1061, 5, correlation=901))
        self.assertEqual(report["step"]["sync_ns"], 7000 / 2)

    def test_a_trace_without_calls_does_not_know(self):
        trace = json.loads(NEW.read_text())
        trace["traceEvents"] = [event for event in trace["traceEvents"] if not event.get("cat", "").startswith("cuda_")]
        report = self.report("--kineto", self.file("none.json", json.dumps(trace)))
        self.assertIsNone(report["step"]["sync_ns"])
        self.assertEqual([row["sync_ns"] for row in report["layers"] if row["sync_ns"] is not None], [])


class OldTraces(ImportTest):
    def test_old_names(self):
        report = self.report("--kineto", OLD)
        self.assertEqual(kernel(report, "conv_kernel")["time_ns"]["mean"], 9000)
        self.assertEqual(kernel(report, "conv_kernel")["grid"], [2, 2, 1])
        self.assertEqual([(c["kind"], c["bytes"]) for c in report["copies"]], [("memset", 128)])

    def test_without_modules_sizes_tell_layers_apart(self):
        report = self.report("--kineto", OLD)
        conv = layer(report, "aten::conv2d [2, 3, 8, 8] [4, 3, 3, 3]")
        self.assertEqual(kernel(report, "conv_kernel")["layer"], conv["id"])

    def test_an_operator_by_its_external_id_where_no_call_is(self):
        report = self.report("--kineto", OLD)
        self.assertEqual(kernel(report, "bn_kernel")["layer"], layer(report, "aten::batch_norm")["id"])

    def test_a_grid_that_the_profiler_did_not_know(self):
        trace = json.loads(OLD.read_text())
        for event in trace["traceEvents"]:
            if event.get("name") == "conv_kernel":
                event["args"] |= {"grid": [0, 0, 0], "block": [0, 0, 0]}
        row = kernel(self.report("--kineto", self.file("rocm.json", json.dumps(trace))), "conv_kernel")
        self.assertEqual((row["grid"], row["block"], row["time_ns"]["mean"]), (None, None, 9000))

    def amd(self, number, first):
        """As AMD's older profiler writes it: two operators with a call each, and no "correlation". `number`: the external id of a call and its
        kernels; operators are numbered from `first`."""
        events = []
        for i in range(4):
            at = 100 * i
            events += [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{i}", "pid": 9, "tid": 9, "ts": at, "dur": 90, "args": {"External id": first + i}},
                       {"ph": "X", "cat": "cuda_runtime", "name": "hipExtModuleLaunchKernel", "pid": 9, "tid": 9, "ts": at + 10, "dur": 5,
                        "args": {"External id": number(i)}},
                       {"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 2, "tid": 0, "ts": at + 20, "dur": 7 + i, "args": {"External id": number(i)}}]
        report = self.report("--kineto", self.file("amd.json", json.dumps({"traceEvents": events})))
        self.assertEqual([each["id"] for each in report["devices"]] or [row["device"] for row in report["kernels"]][:1], [2])
        return [layer(report, f"aten::op{i}")["time_ns"]["total"] for i in range(4)], notes(report)

    def test_calls_may_have_no_number_but_an_external_id(self):
        for number, first in ((lambda i: 2 + 2 * i, 1), (lambda i: 25 + i, 513)):  # the call's own
            times, said = self.amd(number, first)
            self.assertEqual(times, [7000, 8000, 9000, 10000])
            self.assertNotIn("no call", said)
        self.assertEqual(self.amd(lambda i: 3 + i, 3)[0], [7000, 8000, 9000, 10000])  # the operator's

    def conv(self, *events):
        trace = json.loads(OLD.read_text())
        trace["traceEvents"] += events
        return layer(self.report("--kineto", self.file("conv.json", json.dumps(trace))), "aten::conv2d [2, 3, 8, 8] [4, 3, 3, 3]",
                     direction="forward")["model"]

    def test_no_other_operator_tells_a_convolutions_output(self):
        # Neither resize_ within it nor the batch_norm that reads it: a view may lie between them.
        model = self.conv()
        self.assertIsNone(model["flops_analytic"])
        self.assertIsNone(model["bytes_analytic"])

    def test_its_own_backward_does(self):
        def backward(sequence=5, weight=(4, 3, 3, 3)):
            node = {"ph": "X", "cat": "Operator", "name": "CudnnConvolutionBackward", "pid": 10, "tid": "11", "ts": 400, "dur": 90,
                    "args": {"Sequence number": sequence, "Fwd thread id": 1, "Input Dims": [[2, 4, 4, 4]]}}
            inner = {**node, "name": "aten::cudnn_convolution_backward", "ts": 410, "dur": 70,
                     "args": {"Input Dims": [[2, 3, 8, 8], [2, 4, 4, 4], list(weight)], "Input type": ["float"] * 3}}
            return node, inner
        model = self.conv(*backward())
        self.assertEqual(model["flops_analytic"], 2 * 2 * 4 * 3 * 9 * 16)
        self.assertEqual(model["bytes_analytic"], 4 * (2 * 3 * 64 + 4 * 27 + 2 * 4 * 16))
        self.assertIsNone(self.conv(*backward(sequence=6))["flops_analytic"])
        self.assertIsNone(self.conv(*backward(weight=(4, 3, 1, 1)))["flops_analytic"])

    def test_a_backward_counts_for_each_gradient_that_it_computes(self):
        def flops(*parts):
            node = {"ph": "X", "cat": "Operator", "name": "CudnnConvolutionBackward", "pid": 10, "tid": "11", "ts": 400, "dur": 90,
                    "args": {"Sequence number": 5, "Fwd thread id": 1, "Input Dims": [[2, 4, 4, 4]]}}
            whole = {**node, "name": "aten::cudnn_convolution_backward", "ts": 405, "dur": 80,
                     "args": {"Input Dims": [[2, 3, 8, 8], [2, 4, 4, 4], [4, 3, 3, 3]], "Input type": ["float"] * 3}}
            inner = [{**node, "name": "aten::cudnn_convolution_backward_" + part, "ts": 410 + 20 * i, "dur": 10,
                      "args": {"Input Dims": [[], [2, 4, 4, 4], [4, 3, 3, 3]], "Input type": ["", "float", "float"]}}
                     for i, part in enumerate(parts)]
            trace = json.loads(OLD.read_text())
            kernel = {**node, "cat": "Kernel", "name": "backward_kernel", "pid": 0, "args": {"device": 0, "stream": 7, "correlation": 50}}
            trace["traceEvents"] += [node, whole, *inner, {**call("cudaLaunchKernel", 412, 2, correlation=50), "tid": "11"}, kernel]
            report = self.report("--kineto", self.file("conv.json", json.dumps(trace)))
            return layer(report, "aten::conv2d [2, 3, 8, 8] [4, 3, 3, 3]", direction="backward")["model"]["flops_analytic"]
        self.assertEqual(flops("weight"), 2 * 2 * 4 * 3 * 9 * 16)
        self.assertEqual(flops("input", "weight"), 2 * 2 * 2 * 4 * 3 * 9 * 16)
        self.assertIsNone(flops())


class ComputedAgain(ImportTest):
    """Checkpointed modules: backward runs their forward again."""

    @staticmethod
    def dims(*sizes):
        return {"Input Dims": [list(size) for size in sizes], "Input type": ["float"] * len(sizes)}

    def trace(self, extra=(), modules=False):
        sizes = self.dims((4, 8), (8, 16))
        rows = [  # name, thread, start, duration, args
            ["aten::mm", 0, 0, 50, {"Sequence number": 1, **sizes}],
            ["aten::relu", 0, 60, 20, {"Sequence number": 2, **self.dims((4, 16))}],
            # The node of relu: it needs what mm gave, and has it computed again.
            ["ReluBackward0", 1, 200, 100, {"Sequence number": 2, "Fwd thread id": 1}],
            ["aten::mm", 1, 210, 30, {"Sequence number": 3, **sizes}],
            ["aten::threshold_backward", 1, 250, 20, self.dims((4, 16))],
            ["MmBackward0", 1, 310, 60, {"Sequence number": 1, "Fwd thread id": 1}],
            ["aten::mm", 1, 320, 30, self.dims((8, 4), (4, 16))], *extra]
        trace = trace_of(rows)
        if modules:
            for start, length, thread, name in ((-2, 58, 0, "Block_0"), (-1, 56, 0, "Linear_0"), (205, 40, 1, "Block_0"),
                                                   (206, 38, 1, "Linear_0")):
                trace["traceEvents"].append({"ph": "X", "cat": "python_function", "name": "nn.Module: " + name, "pid": 1,
                                             "tid": thread, "ts": start, "dur": length, "args": {}})
        return self.report("--kineto", self.file("again.json", json.dumps(trace)))

    def test_by_the_numbers_of_operators(self):
        report = self.trace()
        flops = {(row["path"][-1], row["direction"]): row["model"]["flops_analytic"] for row in report["layers"] if row["depth"] == 1}
        work = 2 * 4 * 8 * 16
        mm = "aten::mm [4, 8] [8, 16]"
        self.assertEqual(flops, {(mm, "forward"): work, ("aten::relu", "forward"): 0, (mm, "recompute"): work,
                                 ("aten::relu", "backward"): 0, (mm, "backward"): work})

    def test_the_modules_are_those_of_the_forward(self):
        report = self.trace(modules=True)
        again = layer(report, "Block_0", "Linear_0", "aten::mm", direction="recompute")
        self.assertEqual((again["launches"], again["model"]["flops_analytic"]), (1, 2 * 4 * 8 * 16))
        self.assertEqual(layer(report, "aten::relu", direction="backward")["launches"], 1)

    def test_a_backward_of_the_backward_computes_nothing_again(self):
        # What backward does is recorded then: all of it has numbers.
        rows = [["aten::mm", 0, 0, 50, {"Sequence number": 1, **self.dims((4, 8), (8, 16))}],
                ["MmBackward0", 1, 200, 100, {"Sequence number": 1, "Fwd thread id": 1}],
                ["aten::empty", 1, 205, 2, {}],
                ["aten::mm", 1, 210, 30, {"Sequence number": 3, **self.dims((8, 4), (4, 16))}],
                ["aten::mm", 1, 250, 30, {"Sequence number": 5, **self.dims((4, 16), (16, 8))}]]
        report = self.report("--kineto", self.file("double.json", json.dumps(trace_of(rows))))
        self.assertEqual({row["direction"] for row in report["layers"] if row["depth"] == 1}, {"forward", "backward"})

    def test_a_backward_within_it_has_the_layer_of_what_was_computed_again(self):
        extra = [["aten::linear", 0, 90, 20, {"Sequence number": 7, **self.dims((4, 16), (2, 16))}],
                 ["CheckpointFunctionBackward", 1, 400, 200, {"Sequence number": 7, "Fwd thread id": 1}],
                 ["aten::detach", 1, 405, 5, self.dims((4, 16))],
                 ["aten::mm", 1, 420, 30, {"Sequence number": 8, **self.dims((4, 3), (3, 5))}],
                 ["MmBackward0", 1, 460, 60, {"Sequence number": 8, "Fwd thread id": 1}],
                 ["aten::mm", 1, 470, 30, self.dims((3, 4), (4, 5))]]
        report = self.trace(extra)
        again = layer(report, "aten::mm [4, 3] [3, 5]", direction="recompute")
        back = layer(report, "aten::mm [4, 3] [3, 5]", direction="backward")
        self.assertEqual((again["launches"], back["launches"]), (1, 1))
        self.assertEqual(back["model"]["flops_analytic"], 2 * 3 * 4 * 5)


class Operators(ImportTest):
    """Which work of operators counts, and whose it is."""
    SIZES = {"Input Dims": [[4, 8], [8, 16]], "Input type": ["float", "float"]}

    def test_what_launched_nothing_did_no_work_on_the_gpu(self):
        rows = [["aten::mm", 0, 0, 50, self.SIZES], ["aten::mm", 0, 100, 50, self.SIZES]]
        for drop in ({"kernel"}, {"kernel", "cuda_runtime"}):  # captured into a graph, and run by the CPU
            trace = trace_of(rows)
            trace["traceEvents"] = [event for event in trace["traceEvents"]
                                    if event["cat"] not in drop or event["args"]["correlation"] == 1]
            report = self.report("--kineto", self.file("idle.json", json.dumps(trace)))
            self.assertEqual(layer(report, "aten::mm [4, 8] [8, 16]")["model"]["flops_analytic"], 2 * 4 * 8 * 16)

    def test_products_of_fp32_on_tensor_cores_are_of_tf32(self):
        for name, types in (("ampere_sgemm_128x64_tn", {"fp32"}), ("cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4", {"tf32"})):
            trace = trace_of([["aten::mm", 0, 0, 50, self.SIZES]])
            for event in trace["traceEvents"]:
                if event["cat"] == "kernel":
                    event["name"] = name
            report = self.report("--kineto", self.file("tf32.json", json.dumps(trace)))
            self.assertEqual(set(layer(report, "aten::mm [4, 8] [8, 16]")["model"]["types"]), types)

    def test_work_is_of_the_gpu_that_did_it(self):
        trace = trace_of([["aten::mm", 0, 0, 50, self.SIZES], ["aten::mm", 1, 0, 50, self.SIZES]])
        for event in trace["traceEvents"]:
            if event["cat"] == "kernel":
                event["args"]["device"] = event["args"]["correlation"] - 1
        report = self.report("--kineto", self.file("two.json", json.dumps(trace)))
        rows = [row for row in report["layers"] if row["path"] == ["aten::mm [4, 8] [8, 16]"]]
        self.assertEqual([(row["device"], row["model"]["flops_analytic"]) for row in rows], [(0, 1024), (1, 1024)])

    def work(self, rows, kernel):
        trace = trace_of(rows)
        for event in trace["traceEvents"]:
            if event["cat"] == "kernel":
                event["name"] = kernel
        report = self.report("--kineto", self.file("work.json", json.dumps(trace)))
        return next(row["model"]["flops_analytic"] for row in report["layers"] if row["depth"] == 1)

    def test_functions_of_other_libraries_are_unknown(self):
        rows = [["FlashAttnFunc", 0, 0, 50, {"Input Dims": [[2, 8, 4, 16]], "Input type": ["float"]}]]
        self.assertIsNone(self.work(rows, "flash_fwd_kernel<Traits>"))
        # Functions of PyTorch's operators alone, and what PyTorch calls without its prefix.
        self.assertEqual(self.work([*rows, ["aten::mm", 0, 10, 20, self.SIZES]], "gemm"), 1024)
        self.assertEqual(self.work([["aten::detach", 0, 0, 50, {"Input Dims": [[2, 8]], "Input type": ["float"]}],
                                    ["detach", 0, 10, 20, {"Input Dims": [[2, 8]], "Input type": ["float"]}]], "copy"), 0)

    def test_sparse_products_are_unknown(self):
        rows = [["aten::_sparse_mm", 0, 0, 50, self.SIZES], ["aten::mm", 0, 10, 30, self.SIZES]]
        self.assertIsNone(self.work(rows, "gemm"))
        self.assertIsNone(self.work(rows[1:], "void cusparse::csrmm_kernel<float>"))

    def test_sizes_that_differ_from_step_to_step(self):
        """The same kernels, as those that go over tiles by themselves: the step's FLOPs are the mean, in whatever order."""
        for sizes in ((1, 2, 9), (9, 2, 1)):
            trace = trace_of([["aten::mm", 0, 100 * i + 10, 50, {"Input Dims": [[m, 8], [8, 16]], "Input type": ["float", "float"]}]
                              for i, m in enumerate(sizes)])
            for i in range(3):
                trace["traceEvents"] += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 0, "ts": 100 * i, "dur": 99,
                                          "args": {}},
                                         {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 0, "ts": 100 * i + 5,
                                          "dur": 80, "args": {"Python id": i + 1}}]
            report = self.report("--kineto", self.file("sizes.json", json.dumps(trace)))
            self.assertEqual(report["step"]["model_flops"], 2 * 8 * 16 * 4)
            self.assertEqual(layer(report, "Linear_0")["model"]["flops_analytic"], 2 * 8 * 16 * 4)
            self.assertEqual(layer(report, "Linear_0")["model"]["operators"], 1)

    def test_an_annotation_within_an_operator_has_its_work(self):
        trace = trace_of([["aten::mm", 0, 0, 50, self.SIZES],
                          ["c10d::allreduce_", 0, 100, 50, {"Input Dims": [[4, 8]], "Input type": ["float"]}]])
        trace["traceEvents"].append({"ph": "X", "cat": "user_annotation", "name": "nccl:all_reduce", "pid": 1, "tid": 0, "ts": 100,
                                     "dur": 40, "args": {}})
        report = self.report("--kineto", self.file("ddp.json", json.dumps(trace)))
        self.assertEqual(layer(report, "c10d::allreduce_", "nccl:all_reduce")["model"]["flops_analytic"], 0)

    def test_what_the_engine_of_autograd_runs_is_backward(self):
        rows = [["aten::mm", 0, 0, 50, self.SIZES],
                ["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 1, 100, 50, {}],
                ["torch::autograd::AccumulateGrad", 1, 101, 45, {}], ["aten::add_", 1, 110, 20, {}]]
        report = self.report("--kineto", self.file("engine.json", json.dumps(trace_of(rows))))
        self.assertEqual({row["path"][0][-14:]: row["direction"] for row in report["layers"] if row["depth"] == 1 and row["launches"]},
                         {"[4, 8] [8, 16]": "forward", "AccumulateGrad": "backward"})

    def test_a_linears_backward_is_in_its_layer(self):
        rows = [["aten::linear", 0, 0, 50, {"Sequence number": 4, "Input Dims": [[4, 8], [16, 8]], "Input type": ["float", "float"]}],
                ["aten::t", 0, 5, 5, {"Sequence number": 4}], ["aten::addmm", 0, 20, 20, {"Sequence number": 5}],
                ["AddmmBackward0", 1, 100, 50, {"Sequence number": 5, "Fwd thread id": 1}]]
        report = self.report("--kineto", self.file("linear.json", json.dumps(trace_of(rows))))
        self.assertEqual(layer(report, "aten::linear [4, 8] [16, 8]", direction="backward")["launches"], 1)


class Counters(ImportTest):
    def test_cupti_counters_by_the_order_of_launches(self):
        report = self.report("--kineto", COUNTERS)
        sgemm = kernel(report, "sgemm", layer=layer(report, "my_layer", "aten::mm #1")["id"])
        self.assertEqual(sgemm["flops"]["fp32"], 2000)
        self.assertIsNone(sgemm["time_ns"]["mean"])  # those in the trace are of the counting
        missing = kernel(report, "__missing__", layer=layer(report, "my_layer", "aten::relu")["id"])
        self.assertEqual(missing["counters"]["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"], 64)

    def test_moves_are_not_work(self):
        row = kernel(self.report("--kineto", COUNTERS), "__missing__")
        self.assertIsNone(row["flops"]["fp16"])
        self.assertIn("hfma_moves", row["flags"])

    def test_what_is_missing_is_unknown(self):
        row = kernel(self.report("--kineto", COUNTERS), "sgemm")
        self.assertIsNone(row["flops"]["fp64"])
        self.assertIsNone(row["bytes"]["dram"])


class BadInput(ImportTest):
    def trace(self, *events):
        return self.file("bad.json", '{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}")

    def event(self, **fields):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 2, "args": {}} | fields

    def test_no_kernel_within_a_step(self):
        said = self.refused("--kineto", self.trace(self.event(), self.event(cat="user_annotation", name="ProfilerStep#1", ts=100)))
        self.assertIn("No kernel in these files was launched within a step", said)

    def test_cut_off(self):
        text = NEW.read_text()
        for size in (20, len(text) // 2, len(text) - 4):
            with self.subTest(size):
                said = self.refused("--kineto", self.file("cut.json", text[:size]))
                self.assertIn(f"cut.json:{text[:size].count(chr(10)) + 1}: ", said)
                self.assertIn("cut off", said)
        packed = gzip.compress(NEW.read_bytes())
        self.assertIn("cut off", self.refused("--kineto", self.file("cut.json.gz", packed[:len(packed) // 2])))

    def test_damaged(self):
        packed = bytearray(gzip.compress(NEW.read_bytes()))
        packed[len(packed) // 2] ^= 0xFF
        said = self.refused("--kineto", self.file("damaged.json.gz", bytes(packed)))
        self.assertNotIn("<fd", said)

    def test_numbers_out_of_range_name_the_line(self):
        for fields in ({"ts": 1e30}, {"ts": -1e30}, {"ts": 5, "dur": -1}, {"args": {"grid": [1 << 40, 1, 1], "block": [1, 1, 1]}}, {"args": {"correlation": 1 << 70}},
                       {"ts": 9e15, "dur": 9e15}):
            with self.subTest(fields):
                said = self.refused("--kineto", self.trace(self.event(), self.event(**fields)))
                self.assertIn("bad.json:3: ", said)
                self.assertIn("out of range", said)

    def test_parents_in_a_circle(self):
        python = [self.event(cat="python_function", args={"Python id": i, "Python parent id": i % 3 + 1}) for i in (1, 2, 3)]
        said = self.refused("--kineto", self.trace(self.event(), *python))
        self.assertIn("circle", said)

    def test_no_kernel(self):
        self.assertIn("has no kernel: it is JSON, and no trace", self.refused("--kineto", self.trace()))
        said = self.refused("--kineto", self.trace(self.event(cat="cpu_op")))
        self.assertIn("has no kernel: nothing ran on a GPU while it was recorded", said)
        launch = self.event(cat="cuda_runtime", name="cudaLaunchKernel", args={"correlation": 5})
        said = self.refused("--kineto", self.trace(launch, launch | {"args": {"correlation": 6}}))
        self.assertIn("has no kernel, but 2 calls that launch some: the profiler got no records of the GPU", said)

    def test_a_kernel_without_a_duration_is_none_of_0_ns(self):
        endless = self.event()
        del endless["dur"]
        report = self.report("--kineto", self.trace(self.event(), self.event(), endless))
        self.assertEqual((kernel(report, "k")["launches"], kernel(report, "k")["time_ns"]["mean"]), (2, 2000))
        self.assertIn("1 kernel or copy has no duration in bad.json, and is left out.", notes(report))

    def test_other_files(self):
        self.assertIn("is empty", self.refused("--kineto", self.file("e.json", "")))
        self.assertIn("no traceEvents", self.refused("--kineto", self.file("a.json", '{"a": [1, 2, {"b": null}]}')))
        self.assertIn("no JSON", self.refused("--kineto", self.file("b.json", bytes(range(1, 256)) * 9)))
        self.assertIn("no trace", self.refused("--kineto", self.file("n.json", "17")))
        self.assertIn("SQLite", self.refused("--kineto", self.file("t.json", b"SQLite format 3\0" + bytes(100))))
        self.assertIn("--ncu", self.refused("--kineto", self.file("t.csv", '"ID","Process ID"\n')))

    def test_deep_nesting(self):
        self.assertIn("too deep", self.refused("--kineto", self.file("deep.json", "[" * 100000)))


if __name__ == "__main__":
    unittest.main()
