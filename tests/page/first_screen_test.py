# SPDX-License-Identifier: Apache-2.0
"""What the report page says before anybody scrolls: which layer, what holds it, how much of a step it could give back, and what to do."""
import os
import re
import subprocess
import sys
import unittest

import made_reports
from browser import CHROMIUM, GABLE, PageTest
from first_screen_reports import blocks

NO_METRICS = ("occupancy", "warp_efficiency", "warp_efficiency_predicated", "branch_uniformity", "l1_hit_rate", "l2_hit_rate", "sectors_per_load",
              "sectors_per_store", "l2_sectors_per_request", "compute_throughput", "memory_throughput", "dram_throughput")
SIZES = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}


class FirstScreen(PageTest):
    def cards(self, page):
        return [" ".join(text.split()) for text in page.locator(".card").all_inner_texts()]

    def test_the_four_questions_are_answered_before_scrolling(self):
        for name, size in SIZES.items():
            page = self.open(blocks(), tree=False, viewport=size)
            card = page.locator(".card").first
            text = " ".join(card.inner_text().split())
            self.assertIn("conv of Net/0, Net/1, Net/2 forward, ×3", text)  # which layer
            self.assertIn("held by compute", text)  # by what
            self.assertIn("Up to 900 us of the step (45 %)", text)  # how much: three times 400 - 100 us, of 2 ms
            self.assertIn("Try: ", text)  # what to do
            box = card.bounding_box()
            self.assertLess(box["y"] + box["height"], size["height"], name)
            self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth"), size["width"], f"{name}: something is cut off at the side")

    def test_the_bar_of_a_step_adds_up_to_the_step(self):
        page = self.open(blocks(), tree=False)
        said = page.locator(".division p").inner_text()
        # 1.3 of 2 ms compute, 1.2 and 0.1 by kernels' time of 1.2 and 0.1 ms; copies and idle time as the step has them.
        self.assertEqual(" ".join(said.split()), "A step of 2 ms is compute 60 % · memory 5 % · copies 10 % · idle 25 %")
        widths = page.locator(".stack span").evaluate_all("parts => parts.map(part => part.getBoundingClientRect().width)")
        self.assertAlmostEqual(widths[0] / sum(widths), 0.6, delta=0.01)

    def test_an_idle_gpu_has_a_card_with_its_remedy(self):
        card = next(card for card in self.cards(self.open(blocks(), tree=False)) if card.startswith("The GPU is idle"))
        self.assertIn("Up to 500 us of the step (25 %)", card)
        self.assertIn("The GPU idles for 25.0 % of a step", card)

    def test_copies_are_said_to_be_unhidden_only_where_that_is_known(self):
        self.assertTrue(any(card.startswith("Copies that nothing hides") for card in self.cards(self.open(blocks(), tree=False))))
        report = blocks()
        report["step"].update(exposed=None, graph=None, critical_path=None)
        report["copies"][0]["time_ns"] = report["step"]["copy_ns"] = 6e5
        cards = self.cards(self.open(report, tree=False))
        self.assertTrue(any(card.startswith("Copies Up to") for card in cards), cards)

    def test_one_change_for_many_layers_has_a_card_where_it_saves_most(self):
        layers, kernels = [made_reports.layer(0, None, [], 4e6)], []
        for i in range(1, 11):
            layers.append(made_reports.layer(i, 0, [f"linear{i}"], 2e5, "forward"))
            kernels.append(made_reports.kernel(i, "ampere_sgemm_128x128_nn", 1e10 + 1e9 * i, 5e7, 2e5, "forward"))
        report = made_reports.report(layers, kernels)
        report["ceilings"].append({"device": 0, "kind": "compute", "name": "tf32_tensor", "value": 8 * made_reports.COMPUTE, "source": "theoretical: made up"})
        page = self.open(report, tree=False)
        first = self.cards(page)[0]
        self.assertRegex(first, r"^10 layers, such as linear\d+ Up to \S+ \S+ of kernels' time a step held by compute")
        self.assertIn("tensor cores", first)
        page.locator(".card button").first.click()
        self.assertEqual(page.locator("#table tr.pinned").count(), 10)

    def test_a_group_promises_no_more_than_its_members_have_on_the_critical_path(self):
        report = blocks()
        for row in report["layers"][3:8:2] + report["kernels"][:3]:
            row.update(path_ns=1e5, step_saving_ns={"low": 0, "high": 1e5})
        card = next(card for card in self.cards(self.open(report, tree=False)) if card.startswith("conv of"))
        self.assertIn("Up to 300 us of the step (15 %)", card)

    def test_what_is_selected_says_why_it_is_held(self):
        report = blocks()
        report["operators"] = [
            {"layer": report["kernels"][0]["layer"], "direction": "forward", "device": 0, "name": "aten::convolution",
             "inputs": [{"shape": [8, 3, 32, 32], "dtype": "float32"}], "place": "train.py:3 in <b>step</b>", "calls": 2, "launches": 2,
             "time_ns": 4e5, "flops": None, "flops_analytic": None, "bytes_analytic": None, "shared": False, "kernels": []}]
        page = self.open(report, tree=False)
        page.locator(".card button").first.click()
        page.mouse.move(1, 1)
        tip = " ".join(page.inner_text("#tip").split())
        self.assertIn("conv of Net/0, Net/1, Net/2 ×3; below, the first of them", tip)
        # 1e10 FLOP at 100 TFLOP/s, 5e7 byte at 2 TB/s
        self.assertIn("compute. Its FLOPs need 100 us at their roof, its DRAM bytes 25 us at theirs. It takes 400 us.", tip)
        self.assertIn("kernels conv_kernel 400 us ×1", tip)
        self.assertIn("operators aten::convolution ×2 on float32[8,3,32,32], 400 us, train.py:3 in <b>step</b> kernels", tip)

    def test_a_layer_that_takes_another_time_than_its_equals_is_told_apart(self):
        report = blocks()
        saved = {"saving_ns": 1e5, "path_ns": 2e5, "step_saving_ns": {"low": 1e5, "high": 1e5}}
        report["kernels"][1].update(made_reports.kernel(5, "conv_kernel", 1e10, 5e7, 2e5, "forward"), **saved)
        report["layers"][5].update(time_ns={"self": 2e5, "total": 2e5, "busy": 2e5}, **saved)
        cards = self.cards(self.open(report, tree=False))
        self.assertTrue(cards[0].startswith("conv of Net/0, Net/2 forward, ×2"), cards)

    def test_what_is_unknown_promises_nothing(self):
        report = made_reports.report([made_reports.layer(0, None, [], 1e5), made_reports.layer(1, 0, ["secret"], 1e5)],
                                     [made_reports.kernel(1, "secret_kernel", None, None, 1e5)])
        report["step"].update(idle_ns=None, copy_ns=None)
        report["copies"] = []
        page = self.open(report, tree=False)
        self.assertEqual(self.cards(page), [])
        self.assertIn("No saving is known. Unknown: the FLOPs of the kernel and the DRAM bytes of the kernel.", page.inner_text("#verdict"))
        self.assertIn("100 us of kernels' time are limit unknown 100 %", " ".join(page.inner_text("#verdict").split()))

    def test_a_card_pins_its_points_and_rows(self):
        page = self.open(blocks(), tree=False)
        page.locator(".card button").first.click()
        self.assertEqual(page.eval_on_selector_all(".dot.on", "dots => dots.map(dot => [dot.dataset.name, dot.dataset.count])"), [["Net/0/conv", "3"]])
        self.assertEqual(page.locator("#table tr.pinned").count(), 1)
        self.assertTrue(page.locator("#table tr.pinned").inner_text().strip("▸ ").startswith("conv of 0, 1, 2 ×3"))
        page.locator(".card button").first.click()  # once more lets go
        self.assertEqual(page.locator("#table tr.pinned").count(), 0)

    def test_the_table_begins_with_ten_layers_by_saving(self):
        layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(i, 0, [f"layer{i}"], 1e5 + i, "forward") for i in range(1, 25)] + [made_reports.layer(25, 0, ["other"], 1e5, "backward")]
        kernels = [made_reports.kernel(i, "work", 1e9, 1e6, 1e5 + i, "forward") for i in range(1, 25)] + [made_reports.kernel(25, "work", 1e9, 1e6, 1e4, "backward")]
        page = self.open(made_reports.report(layers, kernels), tree=False)
        names = [row[0] for row in self.rows(page) if row[0].startswith("layer")]
        self.assertEqual(names, [f"layer{i}" for i in range(24, 14, -1)])
        self.uncheck(page, "forward")  # the table lists what the chart shows
        self.assertEqual([row for row in self.rows(page) if row[0].startswith("layer")], [])
        self.check(page, "forward")
        page.get_by_role("button", name="Show more of 15 further rows").click()
        self.assertEqual(len([row for row in self.rows(page) if row[0].startswith("layer")]), 24)

    def test_equal_layers_are_one_row_that_opens(self):
        page = self.open(blocks(), tree=False)
        self.assertEqual(self.rows(page)[0][:5], ["▸conv of 0, 1, 2 ×3", "forward", "0-900 us", "compute", "25 %"])
        self.assertEqual(self.rows(page)[0][5], "1.2 ms")
        page.get_by_role("button", name="Open conv of 0, 1, 2").click()
        self.assertEqual([row[0] for row in self.rows(page)[:5]], ["▾conv of 0, 1, 2 ×3", "0/conv", "1/conv", "2/conv", "relu"])

    def test_what_is_unknown_is_equal_to_nothing(self):
        layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(9, 0, ["block"], 1e6)] + [
            made_reports.layer(i, 9, ["block", "conv"], 1e5, "forward") for i in range(1, 4)]
        page = self.open(made_reports.report(layers, [made_reports.kernel(i, "work", None, None, 1e5, "forward") for i in range(1, 4)]), tree=False)
        self.assertEqual(len([row for row in self.rows(page) if row[0] == "block/conv" or row[0] == "conv"]), 3)

    def test_many_equal_layers_are_named_by_what_they_share(self):
        layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(20, 0, ["Encoder_0"], 1e6)] + [
            made_reports.layer(10 + i, 20, ["Encoder_0", f"Layer_{i}"], 1e5) for i in range(1, 7)] + [
            made_reports.layer(i, 10 + i, ["Encoder_0", f"Layer_{i}", "Linear"], 1e5, "forward") for i in range(1, 7)]
        page = self.open(made_reports.report(layers, [made_reports.kernel(i, "work", 1e9, 1e6, 1e5, "forward") for i in range(1, 7)]), tree=False)
        self.assertIn("Encoder_0/Layer_*/Linear forward, ×6", self.cards(page)[0])

    def test_copies_beside_kernels_are_told_where_no_step_is_known(self):
        report = blocks()
        report["step"]["wall_ns"]["mean"] = None
        report["copies"][0]["time_ns"] = 5e6
        self.assertIn("Copies take 5 ms; whether kernels hide them is unknown", self.open(report, tree=False).inner_text(".division p"))

    def test_idle_time_and_copies_never_promise_the_same_time(self):
        report = blocks()
        report["step"].update(exposed=None, graph=None, critical_path=None, idle_ns=8e5, copy_ns=3e5)
        report["copies"][0]["time_ns"] = 3e5
        page = self.open(report, tree=False)
        cards = {card.split(" Up to ")[0]: card for card in self.cards(page)}
        self.assertIn("Up to 500 us of the step (25 %)", cards["The GPU is idle"])
        self.assertIn("up to 300 us of that for copies", cards["The GPU is idle"])
        self.assertIn("Up to 300 us of the step (15 %)", cards["Copies"])
        self.assertIn("Of the idle time up to 300 us may be copies", page.inner_text(".division p"))

    def test_a_host_that_takes_longer_than_the_kernels_has_a_card_where_no_step_was_timed(self):
        report = blocks()
        report["step"].update(exposed=None, graph=None, critical_path=None, idle_ns=None, copy_ns=None, sync_ns=2e5)
        report["step"]["wall_ns"]["mean"] = None
        report["step"]["host_ns"]["mean"] = 9e6
        report["copies"] = []
        page = self.open(report, tree=False)
        first = self.cards(page)[0]
        # 9 ms, of which it waits for 0.2, and kernels take 1.3
        self.assertIn("The host takes longer than the GPU Up to 7.5 ms a step", first)
        self.assertIn("The host takes 9 ms a step", page.inner_text(".division p"))

    def test_copies_of_a_run_without_steps_have_a_card(self):
        report = blocks()
        report["run"]["unit"] = "run"
        report["step"].update(exposed=None, graph=None, critical_path=None, idle_ns=None, copy_ns=None)
        report["step"]["wall_ns"]["mean"] = report["step"]["host_ns"]["mean"] = None
        report["copies"][0]["time_ns"] = 5e7
        first = self.cards(self.open(report, tree=False))[0]
        self.assertIn("Copies Up to 50 ms a run", first)
        self.assertIn("whether kernels hide them is unknown", first)

    def test_without_layers_cards_are_of_kernels(self):
        kernels = [made_reports.kernel(0, name, 1e10, 5e7, time) for name, time in (("void ns::stencil<float>(int)", 4e5), ("scale_kernel", 2e5))]
        page = self.open(made_reports.report([made_reports.layer(0, None, [], 6e5)], kernels), tree=False)
        self.assertTrue(self.cards(page)[1].startswith("void ns::stencil<float>(int) Up to 300 us"), self.cards(page))
        page.locator(".card button").first.click()
        self.assertEqual([row[0] for row in self.rows(page)][0], "void ns::stencil<float>(int)")
        self.assertEqual(page.locator("#table tr.pinned").count(), 1)

    def test_throughputs_of_ncu_tell_the_limit_where_flops_are_unknown(self):
        for throughputs, bound, saving in (((0.97, 0.6), "compute", "3 us"), ((0.2, 0.6), "memory", "40 us"), ((0.2, 0.1), "latency", "80 us")):
            metrics = {**dict.fromkeys(NO_METRICS), "mix": {}, "memory_mix": {}, "compute_throughput": throughputs[0], "memory_throughput": throughputs[1]}
            kernel = {**made_reports.kernel(0, "work", None, 1e6, 1e5), "metrics": metrics, "saving_ns": (1 - max(throughputs)) * 1e5}
            kernel["roof"] = {**kernel["roof"], "bound": bound}
            page = self.open(made_reports.report([made_reports.layer(0, None, [], 1e5)], [kernel]), tree=False)
            self.assertTrue(any(card.startswith(f"work Up to {saving}") for card in self.cards(page)), self.cards(page))
            page.locator(".card button").first.click()
            page.mouse.move(1, 1)
            self.assertIn(f"By ncu's throughputs its SMs do {throughputs[0] * 100:.0f} % of what they can", page.inner_text("#tip"))

    def test_the_terminal_folds_the_same_layers(self):
        def folds(texts):
            return sorted(int(found[1]) for found in (re.search(r"\s[x×](\d+)\s", text + " ") for text in texts) if found)
        report = blocks()
        report["layers"][5].update(time_ns={"self": 1e5, "total": 1e5, "busy": 1e5})  # no longer equal to the others
        report["kernels"][1].update(made_reports.kernel(5, "conv_kernel", 1e10, 5e7, 1e5, "forward"))
        for each in (blocks(), report):
            path = self.write(each)
            page = self.open(path=path, tree=False)
            told = subprocess.run([GABLE, "report", os.path.join(os.path.dirname(path), "report0.json")], capture_output=True, text=True, timeout=60, check=True).stdout
            table = told.split("layer  ", 1)[1].split("\n\n")[0].splitlines()
            self.assertEqual(folds(line for line in table if not line.startswith("x")), folds(row[0] for row in self.rows(page)))

    def test_what_is_selected_is_seen_without_scrolling(self):
        page = self.open(blocks(), tree=False, viewport=SIZES["desktop"])
        row = page.locator("#table tbody tr").first
        row.click()
        page.mouse.move(1, 1)
        where = page.locator("#tip dd").filter(has_text="Its FLOPs need").first.bounding_box()
        self.assertLess(where["y"] + where["height"], SIZES["desktop"]["height"])

    def test_a_layer_that_is_pinned_by_its_row_says_what_it_is(self):
        page = self.open(blocks(), tree=False)
        page.locator("#table tbody tr").filter(has_text="relu").click()
        page.mouse.move(1, 1)
        self.assertIn("relu", page.inner_text("#tip strong"))

    def test_rows_without_a_saving_are_listed_by_time(self):
        layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(i, 0, [f"layer{i}"], 1e4 * i) for i in range(1, 6)]
        page = self.open(made_reports.report(layers, [made_reports.kernel(i, "work", None, None, 1e4 * i) for i in range(1, 6)]), tree=False)
        self.assertEqual([row[0] for row in self.rows(page) if row[0].startswith("layer")], ["layer5", "layer4", "layer3", "layer2", "layer1"])

    def test_an_empty_chart_says_why_and_draws_no_axes(self):
        page = self.open(made_reports.report([made_reports.layer(0, None, [], 1e5), made_reports.layer(1, 0, ["secret"], 1e5)],
                                             [made_reports.kernel(1, "secret_kernel", None, None, 1e5)]), tree=False)
        self.assertIn("No point can be drawn. Unknown: the FLOPs of the kernel and the DRAM bytes of the kernel.", " ".join(page.locator("#chart .nothing").all_text_contents()))
        self.assertEqual(page.locator("#chart .tick").count(), 0)

    def test_without_an_answer_the_notes_say_what_would_give_one(self):
        report = made_reports.report([made_reports.layer(0, None, [], 1e5)], [made_reports.kernel(0, "secret_kernel", None, None, 1e5)], notes=["collect ncu --set roofline"])
        report["step"].update(idle_ns=None, copy_ns=None)
        report["copies"] = []
        report["ceilings"] = []
        page = self.open(report, tree=False, viewport=SIZES["desktop"])
        self.assertIn("roofs of the GPU", page.inner_text("#verdict"))
        note = page.get_by_text("collect ncu --set roofline")
        self.assertTrue(note.is_visible())
        self.assertLess(note.bounding_box()["y"], 400)

    def test_what_only_a_formula_knows_has_a_row_a_card_and_a_part_of_the_bar(self):
        report = made_reports.report([made_reports.layer(0, None, [], 1e5), made_reports.layer(1, 0, ["linear"], 1e5, "forward")],
                                     [made_reports.kernel(1, "gemm", None, None, 1e5, "forward")])
        known = {"flops_analytic": 5e9, "bytes_analytic": 1e6, "types": {"fp32": 5e9}}
        report["layers"][1].update(time_ns={"self": 1e5, "total": 1e5, "busy": 1e5}, model={
            "inputs": None, "outputs": None, "dtypes": [], "parameters": None, "operators": 1, **known, "coverage": {"flops": 1, "bytes": 1}, "self": known,
            "flops_ratio": None, "bytes_ratio": None, "intensity": 5e3, "flops_per_s": 5e13, "bytes_per_s": 1e10,
            "roof": made_reports.roof(0.5, "compute", "fp32", None, 5e4, 500), "saving_ns": 5e4, "allocated_bytes": None})
        report["step"].update(copy_ns=None)
        report["copies"] = []
        report["step"]["wall_ns"]["mean"] = report["step"]["host_ns"]["mean"] = None
        page = self.open(report, tree=False)
        self.check(page, "layers")
        row = next(row for row in self.rows(page) if row[0] == "linear")
        self.assertEqual(row[1:], ["forward", "50 us", "compute", "50 %", "100 us", "by formula"])
        self.assertIn("100 us of kernels' time are compute 100 %", " ".join(page.inner_text("#verdict").split()))
        self.assertIn("Up to 50 us of kernels' time a step", self.cards(page)[0])

    def test_colours_are_limits_and_the_legend_names_them(self):
        page = self.open(made_reports.net(), tree=False)
        colour = lambda name: page.eval_on_selector(f".dot[data-name='{name}']", "dot => getComputedStyle(dot).fill")
        self.assertNotEqual(colour("Net/conv"), colour("Net/relu"))
        self.assertTrue(page.inner_text("#legend").replace("\n", " ").startswith("compute · memory · "))

    def test_the_wheel_scrolls_and_zooms_only_with_ctrl(self):
        page = self.open(made_reports.net(), tree=False)
        place = lambda: self.dots(page)["Net/conv", "dram", "closed"]
        before = place()
        page.hover("#chart")
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(100)
        self.assertEqual(place(), before)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -200)
        page.keyboard.up("Control")
        page.wait_for_timeout(100)
        self.assertNotEqual(place(), before)

    def test_the_answer_of_several_reports_names_the_one_it_is_of(self):
        page = self.open(made_reports.net(), made_reports.net(4), tree=False)
        self.assertIn("Of report0.json:", page.inner_text("#verdict"))
        page.locator("#options").get_by_label("report0.json").uncheck()
        self.assertIn("Of report1.json:", page.inner_text("#verdict"))


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
