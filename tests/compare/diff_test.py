# SPDX-License-Identifier: Apache-2.0
"""What `gable diff` says of two reports whose differences are known."""
import copy
import json
import unittest

import made_reports
from compare_case import CompareCase, slower, with_spread, with_state


class Diff(CompareCase):
    def diff(self, a, b, *arguments):
        return self.gable("diff", self.write(a, "a.json"), self.write(b, "b.json"), *arguments).stdout

    def rows(self, a, b, kind="layers"):
        found = json.loads(self.diff(a, b, "--json", "-"))
        return {(row["name"], row["direction"]): row for row in found[kind]}

    def test_one_layer_is_slower(self):
        later = slower(self.net, "conv_kernel", 1.5)
        rows = self.rows(self.net, later)
        conv = rows[("Net/conv", "forward")]
        self.assertEqual((conv["time_ns"]["a"], conv["time_ns"]["b"]), (4e5, 6e5))
        self.assertAlmostEqual(conv["time_ns"]["change"], 0.5)
        self.assertEqual(conv["match"], "same")
        self.assertEqual(rows[("Net/conv", "backward")]["time_ns"]["change"], 0)
        table = self.diff(self.net, later).splitlines()
        first = next(i for i, line in enumerate(table) if line.startswith("layer ")) + 1
        self.assertRegex(table[first], r"^Net/conv +for +400 us +600 us +\+50.0 % +0 % +0 %")
        self.assertIn("1.00 ms -> 1.20 ms of kernels per step (+20.0 %", "\n".join(table))
        self.assertTrue(table[0].startswith("[playback] A:"), table[0])
        self.assertLessEqual(max(map(len, table)), 100)

    def test_work_and_roofs_stand_side_by_side(self):
        later = made_reports.net()
        later["kernels"][0] = made_reports.kernel(2, "relu_kernel", 1e8, 5e7, 1e5, "forward", l2=2e8)
        relu = self.rows(self.net, later)[("Net/relu", "forward")]
        self.assertEqual((relu["bytes_dram"]["a"], relu["bytes_dram"]["b"], relu["bytes_dram"]["change"]), (1e8, 5e7, -0.5))
        self.assertAlmostEqual(relu["roof_fraction"]["a"], 0.5)
        self.assertAlmostEqual(relu["roof_fraction"]["b"], 0.25)
        self.assertAlmostEqual(relu["saving_ns"]["a"], 5e4)
        self.assertAlmostEqual(relu["saving_ns"]["b"], 7.5e4)
        # what is unknown in both is never 0
        secret = self.rows(self.net, later)[("Net/secret", "forward")]
        self.assertEqual(secret["flops"], {"a": None, "b": None, "change": None})

    def test_a_sum_of_which_a_part_is_unknown_has_no_change(self):
        two = copy.deepcopy(self.net)
        two["kernels"].append(made_reports.kernel(2, "relu_other", 1e8, 1e8, 1e5, "forward"))
        half = copy.deepcopy(two)
        half["kernels"][-1]["time_ns"] = dict.fromkeys(half["kernels"][-1]["time_ns"])
        half["layers"][0]["coverage"]["time"] = 0.8
        relu = self.rows(two, half)[("Net/relu", "forward")]
        self.assertEqual(relu["time_ns"], {"a": 2e5, "b": None, "change": None, "noise": None})
        whole = json.loads(self.diff(two, half, "--json", "-"))["wholes"][0]
        self.assertEqual((whole["time_ns"]["a"], whole["time_ns"]["b"]), (1e6, None))
        self.assertIn("1.00 ms -> - of kernels per step", self.diff(two, half))
        # no share of what is not known
        self.assertIsNone(json.loads(self.diff(half, two, "--json", "-"))["layers"][0]["time_share"])

    def test_renamed_new_and_gone(self):
        later = copy.deepcopy(self.net)
        later["layers"][2]["path"] = ["Net", "activation"]  # relu's kernels under another name
        later["layers"][5]["path"] = ["Net", "convert"]
        later["kernels"][3]["name"] = "other_kernel"  # nothing says that this was cast
        rows = self.rows(self.net, later)
        self.assertEqual(rows[("Net/activation", "forward")]["match"], "renamed")
        self.assertEqual(rows[("Net/activation", "forward")]["before"], "Net/relu")
        self.assertEqual(rows[("Net/convert", "forward")]["match"], "new")
        self.assertEqual(rows[("Net/convert", "forward")]["time_ns"]["a"], None)
        self.assertEqual(rows[("Net/cast", "forward")]["match"], "gone")
        self.assertEqual(rows[("Net/cast", "forward")]["time_ns"]["b"], None)
        table = self.diff(self.net, later)
        self.assertIn("renamed: Net/relu -> Net/activation", table)
        self.assertIn("6 layers, 1 new, 1 gone, 1 renamed", table)

    def test_alike_layers_are_renamed_in_order(self):
        def blocks(names):
            layers = [made_reports.layer(0, None, [], 4e5)]
            layers += [made_reports.layer(i + 1, 0, [name], 1e5) for i, name in enumerate(names)]
            return made_reports.report(layers, [made_reports.kernel(i + 1, "k", 1e8, 1e8, 1e5) for i in range(len(names))])
        rows = self.rows(blocks(["a", "b"]), blocks(["x", "y"]))
        self.assertEqual([rows[(n, "none")]["before"] for n in "xy"], ["a", "b"])
        rows = self.rows(blocks(["a", "b"]), blocks(["x", "y", "z"]))  # which one is new nobody knows
        self.assertEqual({row["match"] for row in rows.values()}, {"new", "gone"})

    def test_kernels_of_another_shape(self):
        later = copy.deepcopy(self.net)
        later["kernels"][1]["grid"] = [16, 1, 1]
        rows = self.rows(self.net, later, "kernels")
        conv = rows[("conv_kernel", "forward")]
        self.assertEqual((conv["match"], conv["before"]), ("reshaped", "grid 8x1x1, block 128x1x1"))
        self.assertEqual(conv["layer"], "Net/conv")
        self.assertEqual(rows[("relu_kernel", "forward")]["match"], "same")

    def test_noise_is_twice_the_standard_error_of_the_difference(self):
        a, b = with_spread(self.net, 3e4), with_spread(slower(self.net, "conv_kernel", 1.1), 4e4)
        conv = self.rows(a, b)[("Net/conv", "forward")]
        self.assertAlmostEqual(conv["time_ns"]["noise"], 2 * (1.5e4 ** 2 + 2e4 ** 2) ** 0.5)  # 4 samples each
        self.assertIn("~+10.0 %", self.diff(a, slower(b, "relu_kernel", 3)))
        self.assertNotIn("~+10.0 %", self.diff(with_spread(self.net, 1e3), with_spread(slower(self.net, "conv_kernel", 1.1), 1e3)))
        once = self.rows(with_spread(self.net, 3e4, samples=1), b)[("Net/conv", "forward")]
        self.assertIsNone(once["time_ns"]["noise"])

    def test_another_gpu_is_said(self):
        later = copy.deepcopy(self.net)
        later["devices"][0]["name"] = "Another GPU"
        self.assertIn("Careful: A ran on Made-up GPU (100 SMs), B on Another GPU (100 SMs).", self.diff(self.net, later))

    def test_less_time_of_fewer_launches_is_not_faster(self):
        def of(launches, time):
            out = copy.deepcopy(self.net)
            out["kernels"][1] = made_reports.kernel(3, "conv_kernel", 1e10 / launches, 5e7 / launches, time / launches, "forward", launches=launches)
            return out
        before, after = of(100, 4e5), of(91, 4e5 * 0.91 * 1.03)
        conv = self.rows(before, after)[("Net/conv", "forward")]
        self.assertAlmostEqual(conv["time_ns"]["change"], 0.91 * 1.03 - 1)
        self.assertAlmostEqual(conv["launches"]["change"], -0.09)
        self.assertAlmostEqual(conv["time_per_launch_ns"]["change"], 0.03)
        table = self.diff(before, after)
        self.assertRegex(table, r"(?m)^layer +dir +time A +time B +change +launches +a launch +FLOP")
        self.assertRegex(table, r"(?m)^Net/conv +for +400 us +375 us +-6.27 % +-9.00 % +\+3.00 % +0 %")
        self.assertLessEqual(max(map(len, table.splitlines())), 100)
        self.assertIn("Columns left out (terminal too narrow): saving A, saving B.\n", table)
        self.assertNotIn("launches", self.diff(self.net, slower(self.net, "conv_kernel", 1.1)))

    def test_no_difference_is_one_line(self):
        self.assertEqual(self.diff(self.net, self.net),
                         "[playback] No difference: 5 layers, 1.00 ms of kernels a step.\n")
        untimed = copy.deepcopy(self.net)
        untimed["run"]["unit"] = "run"  # amounts of work may differ, but not those of two copies
        self.assertEqual(self.diff(untimed, untimed).count("\n"), 1)
        noisy = with_spread(self.net, 3e4)
        for report in (noisy, later := with_spread(slower(self.net, "conv_kernel", 1.01), 3e4)):
            report["step"]["wall_ns"]["stddev"] = 1e5
        later["step"]["wall_ns"]["mean"] *= 1.001
        self.assertEqual(self.diff(noisy, later),
                         "[playback] No difference beyond the noise: 5 layers, 1.00 ms of kernels a step.\n")
        later["step"]["wall_ns"]["mean"] *= 1.2
        text = self.diff(noisy, later)
        self.assertIn("step: 2.00 ms -> 2.40 ms", text)
        # What differs is the step: rows of zeros would say nothing.
        self.assertIn("No layer differs beyond the noise: 5 layers. With --sort time they are listed.\n", text)
        self.assertNotIn("Net/conv", text)
        self.assertNotIn("~: within", text)
        self.assertIn("Net/conv", self.diff(noisy, later, "--sort", "time"))

    def test_what_became_of_advice(self):
        self.net["ceilings"].append({**self.net["ceilings"][1], "name": "tf32_tensor", "value": 2 * made_reports.COMPUTE})
        later = copy.deepcopy(self.net)  # conv forward took the advice to use tensor cores, backward did not
        later["kernels"][1] = made_reports.kernel(3, "conv_kernel", 1e10, 5e7, 1e5, "forward", type="tf32_tensor")
        later["step"]["wall_ns"]["mean"] -= 3e5
        table = self.diff(self.net, later)
        self.assertIn("What became of the advice of A", table)
        self.assertRegex(table, r"(?m)^- tensor cores: predicted up to \d+ us, measured 300 us; 1 layer did not follow: Net/conv\n?.*\(backward\)")
        scores = {each["id"]: each for each in json.loads(self.diff(self.net, later, "--json", "-"))["advice"]}
        self.assertEqual(scores["tensor_cores"]["measured_ns"], 3e5)
        self.assertEqual(scores["tensor_cores"]["not_followed"], ["Net/conv (backward)"])
        self.assertLessEqual(sum(each["measured_ns"] for each in scores.values()), 3e5)
        self.assertEqual((scores["tensor_cores"]["shorter_ns"], scores["tensor_cores"]["shared_with"]), (3e5, []))
        later["step"]["wall_ns"]["mean"] += 3e5  # kernels got shorter, the step did not
        self.assertIn("but the step did not", self.diff(self.net, later).replace("\n", " "))
        self.assertEqual({each["measured_ns"] for each in json.loads(self.diff(self.net, later, "--json", "-"))["advice"]}, {0})
        self.assertNotIn("advice", self.diff(self.net, slower(self.net, "conv_kernel", 1.5)))

    def test_another_amount_of_work_is_said(self):
        before, after = copy.deepcopy(self.net), slower(self.net, "conv_kernel", 0.5)
        for report, flops in ((before, 3e10), (after, 1.5e10)):
            report["layers"][0]["flops"]["total"], report["layers"][0]["coverage"]["flops"] = flops, 1
        self.assertIn("Careful: A does 30.0 GFLOP per step, B 15.0 GFLOP (-50.0 %)", self.diff(before, after))

    def test_a_throttled_run_is_said(self):
        free, held = with_state(self.net), with_state(self.net, throttled=0.62, mhz=1400)
        sentence = "Careful: B throttled (power cap, 62 % of samples), so its times are those of a slower clock."
        self.assertIn(sentence, self.diff(free, held).replace("\n", " "))
        self.assertIn(sentence.replace("B ", "A "), self.diff(held, slower(self.net, "conv_kernel", 1.5)).replace("\n", " "))
        self.assertIn("Careful: B throttled", self.diff(free, held, "--markdown", "-"))
        self.assertEqual(json.loads(self.diff(free, held, "--json", "-"))["throttled"], ["B throttled (power cap, 62 % of samples)"])
        self.assertNotIn("Careful", self.diff(free, with_state(self.net, throttled=0.05)))
        self.assertIn("but the mean SM clocks of both agree.", self.diff(held, held))

    def test_patterns_and_order(self):
        later = slower(slower(self.net, "conv_kernel", 1.1), "cast_kernel", 2)
        lines = self.diff(self.net, later, "--sort", "name", "--layer", "*c*t").splitlines()
        self.assertIn("cast", lines[lines.index(next(l for l in lines if l.startswith("layer "))) + 1])
        self.assertFalse(any("relu" in line for line in lines))
        self.assertIn("matches no layer", self.gable("diff", "a.json", "b.json", "--layer", "nothing", code=2).stderr)

    def test_files(self):
        later = slower(self.net, "conv_kernel", 1.5)
        self.diff(self.net, later, "--html", "out.html", "--markdown", "out.md", "--json", "out.json")
        with open(self.folder + "/out.html", encoding="utf-8") as file:
            page = file.read()
        self.assertIn("a.json", page)
        self.assertIn("b.json", page)
        with open(self.folder + "/out.md", encoding="utf-8") as file:
            text = file.read()
        self.assertIn("| Net/conv | for | 400 us | 600 us | +50.0 % |", text)
        self.assertIn("[playback]", text)
        self.assertNotIn("Net/relu", text)  # a row of zeros
        self.assertIn("Left out: 4 layers without a difference beyond the noise.", text)

    def test_bad_input(self):
        good = self.write(self.net, "good.json")
        with open(self.folder + "/cut.json", "w", encoding="utf-8") as file:
            file.write(json.dumps(self.net)[:500])
        for arguments in ([good, "missing.json"], [good, "cut.json"], [good], [good, good, good], [good, good, "--sort", "size"]):
            done = self.gable("diff", *arguments, code=2)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
