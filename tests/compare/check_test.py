# SPDX-License-Identifier: Apache-2.0
"""What `gable check` decides, by its exit code and its lines."""
import copy
import unittest

import made_reports
from compare_case import CompareCase, slower, with_spread


class Check(CompareCase):
    def check(self, now, *arguments, baseline=None, code=0):
        base = self.write(self.net if baseline is None else baseline, "base.json")
        return self.gable("check", self.write(now, "now.json"), "--baseline", base, *arguments, code=code)

    def test_the_same_is_good(self):
        out = self.check(self.net, "--what", "time,dram,flops,roof", "--gate", "0").stdout
        self.assertIn("0 worse by more than 0 %", out)
        self.assertIn("[playback]", out)

    def test_a_slower_layer_is_worse(self):
        out = self.check(slower(self.net, "conv_kernel", 1.06), code=1).stdout.splitlines()
        self.assertEqual(out[0], "worse: Net/conv (forward): time 400 us -> 424 us, +6.00 % (gate 5 %, noise 0 ns)")
        self.assertEqual(len(out), 2)  # the whole program is slower by less than the gate
        self.check(slower(self.net, "conv_kernel", 1.06), "--gate", "7")
        self.check(slower(self.net, "conv_kernel", 0.5))  # faster is not worse

    def test_the_whole_program_is_looked_at(self):
        out = self.check(slower(self.net, "conv_kernel", 1.06), "--gate", "2", code=1).stdout
        self.assertIn("worse: whole program: time 1.00 ms -> 1.02 ms, +2.40 %", out)

    def test_noise_makes_unclear(self):
        noisy = with_spread(self.net, 3e4)
        out = self.check(with_spread(slower(self.net, "conv_kernel", 1.06), 3e4), baseline=noisy).stdout
        self.assertIn("unclear: Net/conv (forward): time", out)
        self.assertIn("1 beyond it but within the noise", out)

    def test_work_and_roof(self):
        now = copy.deepcopy(self.net)
        now["kernels"][0]["bytes"]["dram"] *= 1.2
        now["kernels"][1]["roof"]["fraction"] *= 0.5
        now["kernels"][1]["flops"]["total"] *= 1.3
        now["kernels"][1]["flops"]["fp32"] *= 1.3
        self.assertIn("worse: Net/relu (forward): dram 100 MB -> 120 MB, +20.0 %", self.check(now, "--what", "dram", code=1).stdout)
        self.assertIn("worse: Net/conv (forward): flops 10.0 GFLOP -> 13.0 GFLOP", self.check(now, "--what", "flops", code=1).stdout)
        self.check(now)  # times are the same
        relu = copy.deepcopy(self.net)  # the roof of a layer follows from its kernels' times and work
        relu["kernels"][0]["roof"]["memory_ns"] *= 0.5
        for field in ("dram", "dram_read"):
            relu["kernels"][0]["bytes"][field] *= 0.5
        self.assertIn("worse: Net/relu (forward): roof 50.0 % -> 25.0 %, -50.0 %", self.check(relu, "--what", "roof", code=1).stdout)

    def test_a_number_that_is_lost_is_said(self):
        now = copy.deepcopy(self.net)
        now["kernels"][0]["bytes"] = dict.fromkeys(now["kernels"][0]["bytes"])
        out = self.check(now, "--what", "dram").stdout
        self.assertIn("unknown: Net/relu (forward): dram 100 MB -> unknown: known in the baseline alone", out)
        self.assertIn("1 no longer known", out)

    def test_half_of_a_sum_is_not_held_against_all_of_it(self):
        base = copy.deepcopy(self.net)
        base["kernels"].append(made_reports.kernel(2, "relu_other", 1e8, 1e8, 1e5, "forward"))
        now = copy.deepcopy(base)
        now["kernels"][-1]["bytes"] = dict.fromkeys(now["kernels"][-1]["bytes"])
        out = self.check(now, "--what", "dram", "--gate", "0", baseline=base).stdout
        self.assertIn("unknown: Net/relu (forward): dram 200 MB -> unknown: known in the baseline alone", out)
        out = self.check(base, "--what", "dram", baseline=now).stdout  # nor is all of it twice as much as a half
        self.assertNotIn("relu", out)
        now["kernels"][-1]["time_ns"] = dict.fromkeys(now["kernels"][-1]["time_ns"])
        out = self.check(now, baseline=base).stdout
        self.assertIn("unknown: Net/relu (forward): time 200 us -> -: known in the baseline alone", out)

    def test_what_changes_by_the_gate_is_let_pass(self):
        base, now = (copy.deepcopy(self.net) for _ in range(2))
        base["kernels"][0]["bytes"]["dram"], now["kernels"][0]["bytes"]["dram"] = 100, 105  # 105 / 100 - 1 > 0.05
        self.check(now, "--what", "dram", "--gate", "5", baseline=base)
        self.check(now, "--what", "dram", "--gate", "4.99", baseline=base, code=1)

    def test_small_layers_are_left_out_unless_named(self):
        base = copy.deepcopy(self.net)
        base["kernels"][3]["time_ns"].update(mean=500, total=500)
        base["layers"][5]["time_ns"].update(total=500, busy=500)
        now = slower(base, "cast_kernel", 2)
        self.assertIn("1 layers below 0.1 %", self.check(now, baseline=base).stdout)
        out = self.check(now, "--layer", "Net/cast", baseline=base, code=1).stdout
        self.assertIn("worse: Net/cast (forward): time", out)

    def test_a_named_layer_counts_with_what_is_below(self):
        now = slower(self.net, "conv_kernel", 1.5)
        out = self.check(now, "--layer", "Net", "--gate", "10", code=1).stdout
        self.assertIn("worse: Net: time 1.00 ms -> 1.20 ms", out)
        self.assertIn("worse: Net/conv (forward)", out)
        self.check(now, "--layer", "relu")
        self.assertIn("matches no layer", self.check(now, "--layer", "nothing", code=2).stderr)

    def test_no_comparison(self):
        gpu, source, unit, names, unknown = (copy.deepcopy(self.net) for _ in range(5))
        gpu["devices"][0]["name"] = "Another GPU"
        source["run"]["source"] = "cupti"
        unit["run"]["unit"] = "run"
        for layer, kernel in zip(names["layers"][2:], names["kernels"]):
            layer["path"], kernel["name"] = ["Other", *layer["path"][1:]], "another_kernel"
        for row in unknown["kernels"] + unknown["layers"]:
            row["bytes"] = dict.fromkeys(row["bytes"])
        for now, words in ((gpu, "Another GPU"), (source, "playback"), (unit, "per step"), (names, "no layer with kernels in common")):
            out = self.check(now, code=3).stdout
            self.assertIn("no comparison: ", out)
            self.assertIn(words, out)
            self.assertNotIn("worse", out)
        self.assertIn("known dram", self.check(unknown, "--what", "dram", code=3).stdout)

    def test_summary_for_a_pull_request(self):
        done = self.check(slower(self.net, "conv_kernel", 1.5), "--markdown", "-", code=1)
        self.assertIn("### [playback] gable check: 2 worse", done.stdout)
        self.assertIn("| worse | Net/conv | forward | time | 400 us | 600 us | +50.0 % |", done.stdout)
        self.assertIn("worse: Net/conv", done.stderr)

    def test_wrong_use(self):
        for arguments in (["--gate", "-1"], ["--gate", "much"], ["--what", "speed"], ["--what", ""], ["--layer", "regex:("]):
            done = self.check(self.net, *arguments, code=2)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.gable("check", "now.json", code=2)
        self.gable("check", "now.json", "--baseline", "missing.json", code=2)


if __name__ == "__main__":
    unittest.main()
