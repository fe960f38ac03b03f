# SPDX-License-Identifier: Apache-2.0
"""FLOPs by formula of what PyTorch's profiler wrote of operators (operator_traces.py), held against PyTorch's own counter."""
import json
import unittest

from import_run import ImportTest
from operator_traces import FILE, trace_of

# What PyTorch's counter does not know, or gets wrong.
BY_HAND = {
    # It takes all input channels for those of one group in the weight's gradient.
    "conv2d grouped": 3 * 64800,
    "conv2d depthwise": 3 * 34848,
    "conv_transpose2d grouped": 3 * 90720,
    "vectors": 2 * (5 * 7) * 2 + 2 * 9,
    "addbmm": 2 * 2 * 3 * 5 * 7,
    "int8": 2 * 32 * 16 * 24,
    "grouped": 2 * 32 * 16 * 24,
    # It counts attention only as CUDA has it: 2 products forward, 5 backward.
    "attention": 2 * 7 * 2 * 4 * 16 * 12 * 8,
    "attention with a mask": 2 * 7 * 2 * 4 * 16 * 12 * 8,
    "attention with shared heads": 2 * 7 * 2 * 4 * 16 * 12 * 8,
    # Projections of 32 to 96 and 32, two layers to 64 and back, and the attention of 4 heads.
    "encoder": 2 * 20 * (32 * 96 + 32 * 32 + 2 * 32 * 64) + 2 * 2 * (2 * 4 * 10 * 10 * 8),
}


class Operators(ImportTest):
    def test_flops_of_each(self):
        recorded = json.loads(FILE.read_text())
        self.assertTrue(recorded["torch"].startswith("2.13"), "BY_HAND is of this version")
        self.assertEqual(BY_HAND.keys() - recorded["cases"].keys(), set())
        for name, case in recorded["cases"].items():
            with self.subTest(name):
                report = self.report("--kineto", self.file("operators.json", json.dumps(trace_of(case["operators"]))))
                models = [row["model"]["flops_analytic"] for row in report["layers"] if row["depth"] == 1]
                self.assertNotIn(None, models)
                self.assertEqual(sum(models), BY_HAND.get(name, case["counter"]))

    def test_without_values_a_forward_has_its_backwards_sizes(self):
        case = json.loads(FILE.read_text())["cases"]["conv2d grouped"]
        for row in case["operators"]:
            row[4].pop("Concrete Inputs", None)
        for row in case["operators"]:
            if row[0] in ("aten::convolution", "aten::_convolution", "aten::conv2d"):
                row[4].pop("Input Dims", None)
        report = self.report("--kineto", self.file("old.json", json.dumps(trace_of(case["operators"]))))
        forward = [row["model"]["flops_analytic"] for row in report["layers"] if row["depth"] == 1 and row["direction"] == "forward"
                   and "conv" in row["path"][-1]]
        self.assertEqual(sum(forward), 64800)
        backward = [row["model"]["flops_analytic"] for row in report["layers"] if row["depth"] == 1 and row["direction"] == "backward"
                    and "conv" in row["path"][-1]]
        self.assertIn(None, backward)  # which gradients were wanted is not told

    def test_who_launches_a_kernel_and_has_no_formula(self):
        def flops(name, **more):
            operators = [["aten::linear", 0, 0, 50, {"Input Dims": [[4, 8], [6, 8], []], "Input type": ["float", "float", ""]}],
                         [name, 0, 100, 50, {"Input Dims": [[4, 8]], "Input type": ["float"], **more}]]
            report = self.report("--kineto", self.file("one.json", json.dumps(trace_of(operators))))
            return next(row["model"]["flops_analytic"] for row in report["layers"] if row["depth"] == 1 and name in row["path"][-1])
        for name in ("aten::relu", "aten::upsample_bilinear2d", "triton_poi_fused_add_0", "aten::_thnn_fused_lstm_cell", "c10d::allreduce_",
                     "aten::linalg_vector_norm"):
            self.assertEqual(flops(name), 0, name)
        for name in ("vllm::fused_experts", "flash_attn::_flash_attn_forward", "triton_tem_fused_mm_3", "aten::_weight_int4pack_mm",
                     "aten::_cudnn_rnn", "aten::cudnn_convolution", "aten::_cslt_sparse_mm", "aten::linalg_inv_ex", "aten::_linalg_svd"):
            self.assertIsNone(flops(name), name)

    def test_the_table_has_rates_where_bytes_are_unknown(self):
        case = json.loads(FILE.read_text())["cases"]["conv2d depthwise"]
        self.report("--kineto", self.file("conv.json", json.dumps(trace_of(case["operators"]))))
        rows = [line for line in self.table().splitlines() if "backward" in line and "conv" in line]
        self.assertTrue(rows and all(row.endswith("analytic") for row in rows), rows)

    def test_a_replayed_graph_has_unknown_work(self):
        def flops(call, twice=False):
            trace = trace_of([["aten::linear", 0, 0, 50, {"Input Dims": [[4, 8], [6, 8], []], "Input type": ["float", "float", ""]}],
                              ["aten::copy_", 0, 100, 50, {"Input Dims": [[4, 8]], "Input type": ["float"]}]])
            for event in trace["traceEvents"]:
                if event["cat"] == "cuda_runtime" and event["args"]["correlation"] == 2:
                    event["name"] = call
            if twice:
                trace["traceEvents"] += [{**event, "ts": 500} for event in trace["traceEvents"]
                                         if event["cat"] == "kernel" and event["args"]["correlation"] == 2]
            report = self.report("--kineto", self.file("graph.json", json.dumps(trace)))
            return next(row["model"]["flops_analytic"] for row in report["layers"] if row["path"][-1:] == ["aten::copy_"])
        self.assertEqual(flops("cudaLaunchKernel"), 0)
        self.assertIsNone(flops("cudaGraphLaunch"))
        self.assertIsNone(flops("hipGraphLaunch", twice=True))


if __name__ == "__main__":
    unittest.main()
