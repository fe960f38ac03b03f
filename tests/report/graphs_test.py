# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: times of nodes in the layers where they were captured, counters of the graph as a whole in their common layer."""
import unittest

from small import CONV, PUSHED_NS, RELU, SmallTest, longer


class Graphs(SmallTest):
    def graph_rows(self, report):
        return [row for row in report.document["kernels"] if row["graph"] is not None]

    def assert_time_only(self, row, time_ns, launches):
        self.assertEqual((row["time_ns"]["total"], row["launches"]), (time_ns, launches))
        self.assertEqual((row["flops"]["total"], row["bytes"]["dram"], row["roof"]["bound"]), (None, None, "unknown"))
        self.assertEqual(row["coverage"], {"time": 1, "flops": 0, "bytes": 0})

    def check_layers(self, report, times):
        self.assert_nothing_lost(report)
        self.assert_time_only(report.layer(("model", "conv"), "none"), times * CONV["time"], times)
        self.assert_time_only(report.layer(("model", "relu"), "none"), times * RELU["time"], times)
        model = report.layer(("model",), "none")
        self.assert_work(model, times, CONV, RELU)
        self.assertEqual((model["launches"], model["time_ns"]["self"]), (2 * times, 0))
        self.assertEqual(model["flops_per_s"], (CONV["fp32"] + RELU["fp32"]) * 1000000000 / 50000)
        self.assertEqual(model["intensity"]["dram"], (CONV["fp32"] + RELU["fp32"]) / (CONV["dram"] + RELU["dram"]))
        (graph,) = self.graph_rows(report)
        self.assertEqual((graph["name"], graph["nodes"], graph["graph"], graph["launches"]), ("(graph of 2 kernels)", 2, 1, times))
        self.assertEqual((graph["time_ns"]["mean"], graph["flops"]["fp32"]), (50000, CONV["fp32"] + RELU["fp32"]))
        self.assertEqual((graph["grid"], graph["block"]), (None, None))
        self.assertEqual(report.document["layers"][graph["layer"]]["path"], ["model"])

    def test_nodes_have_the_layer_of_their_capture(self):
        run = self.gable("graph_layers")
        report = run.report
        self.check_layers(report, 2)
        self.assert_work(report.layer(("step", "loss"), "none"), 1, RELU)
        root = report.layer((), "none")
        # Not counted twice: 2 x 50 us in the graph and 10 us beside it.
        self.assertEqual((root["time_ns"]["total"], root["launches"]), (110000, 5))
        self.assertEqual(report.document["step"]["busy_ns"], 110000)
        self.assert_noted(report, "1 CUDA graph is counted as a whole")
        self.assertIn("model (graph of 2 kernels)", run.err)

    def test_a_graph_captured_again_and_again_is_one_graph(self):
        self.check_layers(self.report("graph_recaptured"), 1)

    def test_graphs_in_graphs_copies_and_updates(self):
        report = self.report("graph_kinds")
        self.assert_nothing_lost(report)
        self.assert_time_only(report.layer(("inner", "conv"), "none"), CONV["time"], 1)
        self.assert_time_only(report.layer(("outer", "relu"), "none"), RELU["time"], 1)
        # What replaced the conv is a relu, by its record; its counters are those of its graph, which is all of the layer.
        self.assert_work(report.layer(("late",), "none"), 1, RELU)
        self.assert_work(report.layer((), "none"), 1, CONV, RELU, RELU)
        self.assertEqual([(row["layer"], row["nodes"]) for row in self.graph_rows(report)],
                         [(0, 2), (report.layer(("late",), "none")["id"], 1)])
        (copy,) = report.document["copies"]
        self.assertEqual((copy["bytes"], copy["layer"]), (4096, report.layer(("outer", "relu"), "none")["id"]))

    def test_without_times_a_long_graph_has_the_counted_one(self):
        options = ("--step-range", "^step$", "--active", "1", "--phases", "hw,flops")
        report = self.gable(longer("graph_layers"), *options).report
        model = report.layer(("model",), "none")
        self.assertEqual((model["time_ns"]["total"], model["time_source"], model["coverage"]["time"]),
                         (100 * 100000 + 2 * PUSHED_NS, "hw", 1))
        self.assertIsNone(report.layer(("model", "conv"), "none")["time_ns"]["total"])
        self.assertEqual(model["flops"]["fp32"], 2 * (CONV["fp32"] + RELU["fp32"]))
        short = self.report("graph_layers", *options).layer(("model",), "none")
        self.assertEqual((short["time_ns"]["total"], short["flops"]["fp32"]), (None, model["flops"]["fp32"]))

    def test_what_is_not_told_is_not_guessed(self):
        """Graphs whose nodes nobody told of: their launches are counted, their kernels are in no layer."""
        for call in ("cuptiGetGraphNodeId", "cuptiGetGraphId", "cuptiGetGraphExecId"):
            with self.subTest(call):
                environment = {"GABLE_PLAYBACK_FAULTS": '{"fault":"call","call":"%s","code":999}' % call}
                report = self.report("graph_layers", environment=environment)
                self.assert_lost(report, unattributed_launches=18)  # two in each of the nine steps
                self.assert_noted(report, "18 CUDA graph launches are counted but not attributed")
                self.assert_work(report.layer((), "none"), 1, RELU)
                self.assertIsNone(report.document["step"]["busy_ns"])

    def test_a_lost_record_of_a_node(self):
        environment = {"GABLE_PLAYBACK_FAULTS": '{"fault":"lose_records","count":1}'}
        report = self.report("graph_layers", environment=environment)
        self.assert_lost(report, records=1, unattributed_launches=1)
        conv = report.layer(("model", "conv"), "none")
        self.assertEqual((conv["time_ns"]["total"], conv["launches"]), (2 * CONV["time"], 2))
        (graph,) = self.graph_rows(report)
        self.assertEqual((graph["samples"]["time"], graph["time_ns"]["mean"]), (1, 50000))


if __name__ == "__main__":
    unittest.main()
