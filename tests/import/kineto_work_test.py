# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch's profiler: what operators and kernels have to do, by formula and by CUPTI's counters."""
import json
import unittest

from import_run import DATA, ImportTest, kernel, layer, run
from operator_traces import trace_of

OLD, COUNTERS = DATA / "kineto_old.json", DATA / "kineto_counters.json"


def call(name, start, duration, thread=10, correlation=900, **fields):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 10, "tid": thread, "ts": start, "dur": duration,
            "args": {"correlation": correlation, **fields}}


class Convolutions(ImportTest):
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


class Rows(ImportTest):
    """The report's operators: which ones launch which kernels, on what."""
    MM = {"Input Dims": [[4, 8], [8, 16]], "Input type": ["float", "c10::BFloat16"]}

    def rows(self, rows):
        report = self.report("--kineto", self.file("rows.json", json.dumps(trace_of(rows))))
        return report, {(row["name"], row["direction"]): row for row in report["operators"]}

    def test_shapes_calls_kernels_and_work(self):
        report, rows = self.rows([["aten::mm", 0, 0, 20, self.MM], ["aten::mm", 0, 30, 20, self.MM],
                                  ["aten::clamp", 0, 60, 20, {"Input Dims": [[4, 16], [], [], [1]], "Input type": ["float", "Scalar", "", "long int"]}]])
        mm, clamp = rows["aten::mm", "forward"], rows["aten::clamp", "forward"]
        self.assertEqual((mm["calls"], mm["launches"], mm["place"], mm["shared"]), (2, 2, None, False))
        self.assertEqual(mm["inputs"], [{"shape": [4, 8], "dtype": "float32"}, {"shape": [8, 16], "dtype": "bfloat16"}])
        self.assertEqual(mm["flops_analytic"], 2 * 2 * 4 * 8 * 16)
        self.assertEqual(clamp["inputs"], [{"shape": [4, 16], "dtype": "float32"}, {"shape": [1], "dtype": "int64"}])
        self.assertEqual((clamp["flops_analytic"], clamp["bytes_analytic"]), (0, None))
        for row in (mm, clamp):
            (launched,) = row["kernels"]
            of = report["kernels"][launched["kernel"]]
            self.assertEqual((of["layer"], launched["launches"]), (row["layer"], row["launches"]))
            self.assertEqual(row["time_ns"], of["time_ns"]["mean"] * row["launches"])

    def test_the_innermost_operator_launches(self):
        _, rows = self.rows([["aten::linear", 0, 0, 50, {"Input Dims": [[4, 8], [16, 8]], "Input type": ["float", "float"]}],
                             ["aten::addmm", 0, 10, 30, {"Input Dims": [[16], [4, 8], [8, 16]], "Input type": ["float"] * 3}]])
        self.assertEqual(rows["aten::addmm", "forward"]["flops_analytic"], 2 * 4 * 8 * 16)
        self.assertEqual(rows["aten::addmm", "forward"]["launches"], 1)

    def test_other_sizes_are_other_rows(self):
        report, _ = self.rows([["aten::relu", 0, 30 * i, 20, {"Input Dims": [[4, 8 + i % 2]], "Input type": ["float"]}] for i in range(4)])
        self.assertEqual(sorted((row["inputs"][0]["shape"], row["calls"]) for row in report["operators"]), [([4, 8], 2), ([4, 9], 2)])

    def test_a_program_of_its_own_has_unknown_work(self):
        _, rows = self.rows([["mine::gemm", 0, 0, 20, self.MM], ["aten::mm", 0, 30, 20, {}]])
        self.assertIsNone(rows["mine::gemm", "forward"]["flops_analytic"])
        self.assertEqual((rows["aten::mm", "forward"]["flops_analytic"], rows["aten::mm", "forward"]["inputs"]), (None, []))

    def test_without_sizes_there_are_none(self):
        report, rows = self.rows([["aten::mm", 0, 0, 20, {}]])
        self.assertEqual((report["operators"], rows), ([], {}))


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


if __name__ == "__main__":
    unittest.main()
