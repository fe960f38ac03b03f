# SPDX-License-Identifier: Apache-2.0
"""What `gable merge` makes of reports with known numbers."""
import copy
import json
import os
import unittest

import made_reports
import report_schema
from compare_case import CompareCase, slower, with_spread


def rank(report, number, host="node1", wall=2e6):
    out = copy.deepcopy(report)
    out["run"].update(rank=number, pid=1000 + number, hostname=host)
    out["step"]["wall_ns"]["mean"] = wall
    return out


class Merge(CompareCase):
    def merge(self, *reports, code=0):
        paths = [self.write(report, f"rank-{i}.json") for i, report in enumerate(reports)]
        done = self.gable("merge", *paths, "-o", "job.json", code=code)
        if code:
            self.assertFalse(os.path.exists(self.folder + "/job.json"))
            return done
        with open(self.folder + "/job.json", encoding="utf-8") as file:
            self.report = json.load(file)
        self.assertEqual(list(report_schema.problems(self.report)), [])
        self.layers = {("/".join(l["path"]), l["direction"]): l for l in self.report["layers"]}
        self.kernels = {k["name"]: k for k in self.report["kernels"]}
        return done

    def test_equal_ranks_give_what_one_has(self):
        self.merge(rank(self.net, 0), rank(self.net, 1))
        one = {k["name"]: k for k in self.net["kernels"]}
        for name, kernel in self.kernels.items():
            for field in ("flops", "bytes"):
                self.assertEqual(kernel[field], one[name][field], name)
            self.assertEqual(kernel["time_ns"]["total"], one[name]["time_ns"]["total"])
            self.assertEqual(kernel["launches"], 1)
            self.assertEqual(kernel["samples"]["time"], 6)
            self.assertIsNone(kernel["time_ns"]["median"])
        conv = self.layers[("Net/conv", "forward")]
        self.assertEqual(conv["flops"]["total"], 1e10)
        self.assertAlmostEqual(conv["roof"]["fraction"], 0.25)
        self.assertEqual(self.report["run"]["ranks"], [0, 1])
        self.assertEqual(len(self.report["devices"]), 1)
        # a job can be held against one of its ranks
        self.gable("check", "job.json", "--baseline", "rank-0.json", "--gate", "0", "--what", "time,dram,flops,roof")

    def test_means_spread_and_the_slowest(self):
        out = self.merge(rank(self.net, 0), rank(slower(self.net, "conv_kernel", 1.5), 1, "node2", 3e6), rank(self.net, 2)).stdout
        conv = self.layers[("Net/conv", "forward")]
        self.assertAlmostEqual(conv["time_ns"]["total"], (4e5 + 6e5 + 4e5) / 3)
        self.assertAlmostEqual(conv["flops_per_s"], 3e10 / 14e5 * 1e9)
        spread = conv["spread"]
        self.assertEqual((spread["gpus"], spread["min_ns"], spread["max_ns"], spread["slowest"]), (3, 4e5, 6e5, 1))
        self.assertAlmostEqual(spread["mean_ns"], 14e5 / 3)
        self.assertAlmostEqual(spread["stddev_ns"], (2e10 / 2.25) ** 0.5)
        self.assertEqual(self.report["run"]["processes"][1],
                         {"hostname": "node2", "pid": 1001, "rank": 1, "step_wall_ns": 3e6, "step_host_ns": 1.9e6, "gpu_time_ns": 1.2e6, "collectives": None})
        self.assertIn("[playback] 3 processes merged", out)
        self.assertIn("The slowest is rank 1 on node2: a step of 3.00 ms, 28.6 % above the mean.", out)
        first = out.splitlines().index(next(l for l in out.splitlines() if l.startswith("layer "))) + 1
        self.assertRegex(out.splitlines()[first], r"^Net/conv +forward +3 +400 us +467 us +600 us +rank 1 on node2$")
        # the root is the sum of what is below it
        parts = sum(l["time_ns"]["self"] for l in self.report["layers"])
        self.assertAlmostEqual(self.layers[("", "none")]["time_ns"]["total"], parts)

    def test_a_layer_of_some_ranks_counts_for_its_share(self):
        second = copy.deepcopy(self.net)  # a stage of a pipeline that has another layer
        second["layers"][2]["path"] = ["Net", "other"]
        self.merge(rank(self.net, 0), rank(second, 1))
        for name in ("Net/relu", "Net/other"):
            layer = self.layers[(name, "forward")]
            self.assertEqual((layer["time_ns"]["total"], layer["launches"], layer["spread"]["gpus"]), (5e4, 0.5, 1))
            self.assertAlmostEqual(layer["roof"]["fraction"], 0.5)

    def test_what_one_rank_does_not_know_stays_unknown(self):
        second = copy.deepcopy(self.net)
        second["kernels"][0]["bytes"] = dict.fromkeys(second["kernels"][0]["bytes"])
        self.merge(rank(self.net, 0), rank(second, 1))
        self.assertEqual(len([k for k in self.report["kernels"] if k["name"] == "relu_kernel"]), 2)
        relu = self.layers[("Net/relu", "forward")]
        self.assertEqual(relu["coverage"]["bytes"], 0.5)
        self.assertIsNone(relu["bytes_per_s"])

    def test_numbers_of_the_run_need_every_rank(self):
        first, second = rank(self.net, 0), rank(self.net, 1)
        for report, clock, slowdown in ((first, 1.5e9, {"hw:1": 2, "flops": 8}), (second, None, {"hw:1": None, "flops": 4, "time": 1.1})):
            report["devices"][0]["clocks_hz"] = {"sm_max": 2000000000, "sm_measured": clock, "memory_max": None}
            report["run"]["overhead"] = {"callbacks_ns": 1, "window_wall_ns": slowdown, "slowdown": slowdown}
        second["run"]["wall_time_s"] = None
        second["layers"][0]["coverage"]["time"] = 0.5  # of the other half's time nothing is known
        second["kernels"][0]["time_ns"]["min"] = None
        self.merge(first, second)
        run = self.report["run"]
        self.assertIsNone(run["wall_time_s"])
        self.assertEqual([each["gpu_time_ns"] for each in run["processes"]], [1e6, None])
        self.assertEqual(run["overhead"]["slowdown"], {"hw:1": None, "flops": 6, "time": 1.1})
        self.assertEqual(run["overhead"]["window_wall_ns"], {"hw:1": None, "flops": 6, "time": 1.1})
        self.assertIsNone(self.report["devices"][0]["clocks_hz"]["sm_measured"])
        times = self.kernels["relu_kernel"]["time_ns"]
        self.assertEqual((times["min"], times["max"]), (None, 1e5))

    def test_a_layer_without_kernels_is_0_only_where_it_was(self):
        for layer, time in ((made_reports.layer(7, 1, ["Net", "copies"], 0), 0), (made_reports.layer(7, 1, ["Net", "untimed"]), None)):
            ranks = [rank(self.net, 0), rank(self.net, 1)]
            for report in ranks:
                report["layers"].append(copy.deepcopy(layer))
            self.merge(*ranks)
            merged = self.layers["/".join(layer["path"]), "none"]
            self.assertEqual((merged["time_ns"]["total"], merged["launches"]), (time, time))

    def test_launches_weigh_means(self):
        few, many = copy.deepcopy(self.net), copy.deepcopy(self.net)
        many["kernels"][0] = made_reports.kernel(2, "relu_kernel", 4e8, 4e8, 2e5, "forward", launches=3, l2=8e8)
        self.merge(with_spread(rank(few, 0), 1e3), with_spread(rank(many, 1), 1e3))
        relu = self.kernels["relu_kernel"]
        self.assertEqual(relu["launches"], 2)
        self.assertEqual(relu["flops"]["total"], (1e8 + 3 * 4e8) / 4)
        self.assertEqual(relu["time_ns"]["mean"], (1e5 + 3 * 2e5) / 4)
        self.assertEqual(relu["time_ns"]["total"], (1e5 + 6e5) / 2)
        self.assertAlmostEqual(relu["time_ns"]["stddev"], (1e6 + 0.25e10) ** 0.5)  # 4 samples each

    def test_other_gpus_are_other_devices(self):
        second = rank(self.net, 1)
        second["devices"][0]["name"] = "Another GPU"
        self.merge(rank(self.net, 0), second)
        self.assertEqual([d["name"] for d in self.report["devices"]], ["Made-up GPU", "Another GPU"])
        convs = [l for l in self.report["layers"] if l["path"] == ["Net", "conv"] and l["direction"] == "forward"]
        self.assertEqual([(c["device"], c["time_ns"]["total"]) for c in convs], [(0, 4e5), (1, 4e5)])

    def test_what_does_not_belong_together(self):
        hardware, unit, scope = rank(self.net, 1), rank(self.net, 1), rank(self.net, 1)
        hardware["run"]["source"] = "cupti"
        unit["run"]["unit"] = "run"
        scope["run"]["scope"] = "range"
        for second, words in (
                (hardware, "one is from playback, the other from cupti: merge the reports of one run."),
                (unit, "one is per step, the other per run: give all of them the same steps (--step-range)."),
                (scope, "counters of one are by kernel, of the other by range: profile all of them with the same --scope."),
                (rank(self.net, 0), "rank 0 again: merge the reports of one run.")):
            done = self.merge(rank(self.net, 0), second, code=2)
            self.assertIn(words, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.merge(rank(self.net, 0), code=2)
        self.merge(rank(self.net, 0), rank(self.net, 1))
        self.assertIn("is a merged report already: merge the reports of the single processes.", self.gable("merge", "job.json", "rank-0.json", "-o", "again.json", code=2).stderr)
        self.assertIn("is being read and would be overwritten", self.gable("merge", "rank-0.json", "rank-1.json", "-o", "rank-0.json", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
