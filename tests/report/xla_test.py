# SPDX-License-Identifier: Apache-2.0
"""The ranges that XLA opens in programs of JAX and TensorFlow: layers by the program's own scopes."""
import unittest

from small import CONV, RELU, SmallTest

STEPS = ("--step-range", "hlo_module=jit_step", "--active", "1")
GEMM = CONV | {"time": 40000}


class Xla(SmallTest):
    def test_layers_are_the_scopes_with_their_pass(self):
        report = self.report("xla", *STEPS)
        step = ("jit_step",)
        self.assert_work(report.layer(step + ("MLP", "Dense_0", "dot_general", "gemm_fusion_dot.3"), "forward"), 1, GEMM)
        self.assert_work(report.layer(step + ("MLP", "Dense_0", "dot_general", "gemm_fusion_dot.4"), "backward"), 2, GEMM)
        self.assert_work(report.layer(step + ("MLP",), "forward"), 1, GEMM)
        self.assert_work(report.layer(step + ("MLP",), "backward"), 2, GEMM)
        self.assert_work(report.layer(step + ("optimizer", "add", "loop_add_fusion"), "none"), 1, RELU)
        self.assert_work(report.layer(step + ("copy.7",), "none"), 1, RELU)
        self.assert_work(report.layer(step, "none"), 1, GEMM, GEMM, GEMM, RELU, RELU)
        # What the compiler opens is no layer of the step, and no number of a range gets into a name.
        self.assertEqual({row["path"][0] for row in report.document["layers"] if row["path"]}, {"jit_step"})


if __name__ == "__main__":
    unittest.main()
