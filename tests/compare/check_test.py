# SPDX-License-Identifier: Apache-2.0
"""What `gable check` decides, by its exit code and its lines."""
import copy
import unittest

import made_reports
from compare_case import CompareCase, slower, with_spread, with_state


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
        self.assertIn("1 unclear", out)

    def test_work_and_roof(self):
        now = copy.deepcopy(self.net)  # its whole program says nothing of FLOPs: nobody knows that it did more
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
        self.assertIn("unknown: Net/relu (forward): dram 100 MB -> unknown: known only in the baseline", out)
        self.assertIn("1 unknown", out)

    def test_half_of_a_sum_is_not_held_against_all_of_it(self):
        base = copy.deepcopy(self.net)
        base["kernels"].append(made_reports.kernel(2, "relu_other", 1e8, 1e8, 1e5, "forward"))
        now = copy.deepcopy(base)
        now["kernels"][-1]["bytes"] = dict.fromkeys(now["kernels"][-1]["bytes"])
        out = self.check(now, "--what", "dram", "--gate", "0", baseline=base).stdout
        self.assertIn("unknown: Net/relu (forward): dram 200 MB -> unknown: known only in the baseline", out)
        out = self.check(base, "--what", "dram", baseline=now).stdout  # nor is all of it twice as much as a half
        self.assertNotIn("relu", out)
        now["kernels"][-1]["time_ns"] = dict.fromkeys(now["kernels"][-1]["time_ns"])
        out = self.check(now, baseline=base, code=1).stdout
        self.assertIn("unknown: Net/relu (forward): time 200 us -> -: known only in the baseline", out)
        self.assertIn("worse: whole program: coverage 17 -> 16 numbers, -5.88 % (gate 5 %); no longer known: 1 time", out)

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
        self.assertIn("No layer's dram is known in both reports: profile again so that both know it, or leave dram out of --what.", self.check(unknown, "--what", "dram", code=3).stdout)

    def test_a_step_that_takes_longer_is_worse(self):
        now = copy.deepcopy(self.net)
        now["step"]["wall_ns"]["mean"] *= 2
        now["step"]["idle_ns"] += 2e6
        out = self.check(now, code=1).stdout
        self.assertIn("worse: whole program: step 2.00 ms -> 4.00 ms, +100 % (gate 5 %, noise 0 ns)\n", out)
        self.assertIn("worse: whole program: idle 500 us -> 2.50 ms, +100 % of the step (gate 5 %)\n", out)
        self.assertIn("(step, idle, exposed, time, coverage)", out)
        self.assertNotIn("idle", self.check(now, "--what", "step", code=1).stdout)
        self.check(now, "--what", "time")
        self.check(now, "--layer", "Net/conv")  # these layers alone

    def test_a_report_that_lost_its_counters_is_worse(self):
        now = copy.deepcopy(self.net)
        for row in now["kernels"]:
            row["flops"] = {**dict.fromkeys(row["flops"]), "tensor": {}}
            row["bytes"] = dict.fromkeys(row["bytes"])
        out = self.check(now, code=1).stdout
        self.assertIn("worse: whole program: coverage 17 -> 8 numbers, -52.9 % (gate 5 %); no longer known: 5 dram, 4 flops;", out)
        self.check(now, "--what", "time")

    def test_numbers_that_got_lost_take_few_lines(self):
        layers = [made_reports.layer(0, None, [], 2e6)] + [made_reports.layer(i, 0, [f"l{i}"], 1e5) for i in range(1, 21)]
        base = made_reports.report(layers, [made_reports.kernel(i, f"k{i}", 1e8, 1e8, 1e5) for i in range(1, 21)])
        now = copy.deepcopy(base)
        for row in now["kernels"][:15]:
            row["bytes"] = dict.fromkeys(row["bytes"])
        out = self.check(now, "--what", "dram,coverage", baseline=base, code=1).stdout
        self.assertEqual(len([line for line in out.splitlines() if line.startswith("unknown: ")]), 9)
        self.assertIn("unknown: 7 more numbers, known only in the baseline\n", out)

    def test_another_amount_of_work_is_no_comparison(self):
        def of(flops):
            out = copy.deepcopy(self.net)
            out["layers"][0]["flops"]["total"], out["layers"][0]["coverage"]["flops"] = flops, 1
            return out
        half = slower(of(1.5e10), "conv_kernel", 0.5)
        out = self.check(half, baseline=of(3e10), code=3).stdout
        self.assertEqual(out, "no comparison: base.json does 30.0 GFLOP per step, now.json 15.0 GFLOP (-50.0 %): profile the same batch and "
                         "inputs, make a new baseline, or use --what flops,roof,coverage, which does not need equal work.\n")
        self.check(half, "--what", "flops,roof", baseline=of(3e10))
        self.check(half, "--what", "time", baseline=of(3e10), code=3)
        self.check(of(3.05e10), baseline=of(3e10))  # 1.6 %

    def test_a_slowdown_of_everything_is_one_line(self):
        now = copy.deepcopy(self.net)
        for i, kernel in enumerate(now["kernels"]):
            now = slower(now, kernel["name"], 1.08 + 0.01 * (i % 3))
        now["step"]["wall_ns"]["mean"] *= 1.09
        out = self.check(now, code=1).stdout.splitlines()
        self.assertEqual(out[0], "worse: everything takes 1.08 to 1.10 times as long: 7 numbers (gate 5 %)")
        self.assertEqual(len(out), 2, out)
        self.assertIn("7 worse by more than 5 %", out[1])
        text = self.check(now, "--markdown", "-", code=1).stdout
        self.assertIn("\nworse: everything takes 1.08 to 1.10 times as long: 7 numbers (gate 5 %)\n", text)
        self.assertNotIn("| worse |", text)

    def test_several_runs_of_a_side(self):
        olds = [self.write(slower(self.net, "conv_kernel", factor), f"old{i}.json") for i, factor in enumerate((1, 1.2))]
        news = [self.write(slower(self.net, "conv_kernel", factor), f"new{i}.json") for i, factor in enumerate((1.22, 1.24, 1.26))]
        out = self.gable("check", *news, "--baseline", *olds).stdout
        self.assertIn("unclear: Net/conv (forward): time 440 us -> 496 us, +12.7 % (gate 5 %, noise 0 ns, runs of one side differ by 80.0 us)", out)
        self.assertIn("the mean of 3 runs (new0.json, new1.json, new2.json) against the mean of 2 runs (old0.json, old1.json): a difference no larger than the one between the runs of one side is not a regression.", out)
        self.assertIn("worse: Net/conv", self.gable("check", *news, "--baseline", olds[0], code=1).stdout)
        self.gable("check", "--baseline", olds[1], news[0])  # the baseline first
        self.assertIn("given twice", self.gable("check", news[0], news[0], "--baseline", *olds, code=2).stderr)
        self.gable("check", news[0], "--baseline", news[0])

    def test_summary_for_a_pull_request(self):
        done = self.check(slower(self.net, "conv_kernel", 1.5), "--markdown", "-", code=1)
        self.assertIn("### [playback] gable check: 2 worse", done.stdout)
        self.assertIn("| worse | Net/conv | forward | time | 400 us | 600 us | +50.0 % |", done.stdout)
        self.assertIn("worse: Net/conv", done.stderr)

    def test_times_of_a_throttled_run_are_not_compared(self):
        now = with_state(slower(self.net, "conv_kernel", 1.5), throttled=0.62)
        sentence = "throttled (power cap, 62 % of samples); its times are not compared"
        self.assertIn(f"no comparison: now.json {sentence}", self.check(now, code=3).stdout)
        self.assertIn(f"no comparison: base.json {sentence}", self.check(self.net, baseline=now, code=3).stdout)
        self.assertIn("worse: Net/conv", self.check(with_state(slower(self.net, "conv_kernel", 1.5), throttled=0.05), code=1).stdout)
        # GPUs at their power limit are compared with each other, at one clock.
        base = with_state(self.net, throttled=0.7)
        self.assertIn("worse: Net/conv", self.check(now, baseline=base, code=1).stdout)
        self.assertIn(sentence, self.check(now, baseline=with_state(self.net, throttled=0.7, mhz=1800), code=3).stdout)
        # Bytes and numbers that are known are no times.
        self.assertIn("0 worse", self.check(now, "--what", "dram,coverage").stdout)
        # Of several runs of a side each is looked at.
        news = [self.write(self.net, "new0.json"), self.write(now, "new1.json")]
        out = self.gable("check", *news, "--baseline", self.write(self.net, "base.json"), code=3).stdout
        self.assertIn(f"no comparison: new1.json {sentence}", out)

    def test_another_clock_is_said(self):
        before = with_state(self.net, mhz=1900)
        self.assertIn("note: The mean SM clock of device 0 was 1900 MHz in base.json and 1860 MHz in now.json: times move with it.",
                      self.check(with_state(self.net, mhz=1860), baseline=before).stdout)
        self.assertNotIn("clock", self.check(with_state(self.net, mhz=1863), baseline=before).stdout)

    def test_wrong_use(self):
        for arguments in (["--gate", "-1"], ["--gate", "much"], ["--what", "speed"], ["--what", ""], ["--layer", "regex:("]):
            done = self.check(self.net, *arguments, code=2)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.gable("check", "now.json", code=2)
        self.gable("check", "now.json", "--baseline", "missing.json", code=2)


if __name__ == "__main__":
    unittest.main()
