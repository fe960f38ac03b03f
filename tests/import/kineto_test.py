# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch's profiler, old and new, packed: steps, layers, calls, waits, and times before zero."""
import decimal
import gzip
import json
import re
import unittest

from import_run import DATA, ImportTest, kernel, layer, notes, run

NEW, OLD, COUNTERS = DATA / "kineto_new.json", DATA / "kineto_old.json", DATA / "kineto_counters.json"


def call(name, start, duration, thread=10, correlation=900, **fields):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 10, "tid": thread, "ts": start, "dur": duration,
            "args": {"correlation": correlation, **fields}}


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


if __name__ == "__main__":
    unittest.main()
