# SPDX-License-Identifier: Apache-2.0
"""What the report page's chart says by itself: names, roofs in words, points at one place, and what is above its roof."""
import itertools
import sys
import unittest

import made_reports
from browser import CHROMIUM, PageTest


def crowd():
    """Four equal layers in the same place, eight of other work, and one that is faster than its roof."""
    layers = [made_reports.layer(0, None, [], 2e6), made_reports.layer(20, 0, ["Net"], 2e6)]
    kernels = []
    for i in range(1, 5):
        layers.append(made_reports.layer(20 + i, 20, ["Net", f"block{i}"], 1e5, "forward"))
        layers.append(made_reports.layer(i, 20 + i, ["Net", f"block{i}", "conv"], 1e5, "forward"))
        kernels.append(made_reports.kernel(i, "conv_kernel", 1e9, 1e7, 1e5, "forward"))
    for i in range(5, 13):
        layers.append(made_reports.layer(i, 20, ["Net", f"linear{i}"], 1e4 * i, "backward" if i % 2 else "forward"))
        kernels.append(made_reports.kernel(i, f"gemm{i}", 2e8 * i, 1e6 * i * i, 1e4 * i, "backward" if i % 2 else "forward"))
    layers.append(made_reports.layer(13, 20, ["Net", "winograd"], 1e5, "forward"))
    kernels.append(made_reports.kernel(13, "winograd", 1.6e10, 1e7, 1e5, "forward"))
    for row in (each for each in layers if 0 < each["id"] < 20):
        kernel = next(each for each in kernels if each["layer"] == row["id"])
        row.update({key: kernel[key] for key in ("launches", "flops", "bytes", "intensity", "flops_per_s", "bytes_per_s", "roof", "saving_ns")})
        row["time_ns"]["self"] = row["time_ns"]["total"]
    return made_reports.report(layers, kernels)


class Chart(PageTest):
    def open_chart(self, report, **context):
        return self.open(report, tree=False, **{"viewport": {"width": 1440, "height": 900}, **context})

    def boxes(self, page, selector):
        return page.eval_on_selector_all(selector, """texts => texts.map(text => { const box = text.getBoundingClientRect();
            return { text: text.textContent, turned: (text.getAttribute("transform") || "").includes("rotate"), x: box.x, y: box.y, right: box.right, bottom: box.bottom }; })""")

    def test_points_at_one_place_are_one_and_a_click_spreads_them(self):
        page = self.open_chart(crowd())
        together = page.locator(".dot[data-count='4']")
        self.assertEqual(together.count(), 1)
        self.assertTrue(any(label.endswith("block*/conv ×4") for label in page.locator(".dot-label").all_text_contents()))
        together.click(force=True)
        self.assertEqual(page.locator(".dot[data-count='4']").count(), 0)
        places = {place for (name, _, _), place in self.dots(page).items() if name.endswith("/conv")}
        self.assertEqual(len(places), 4)  # each at a place of its own
        page.locator(".dot[data-name='Net/block2/conv']").click(force=True)
        self.assertIn("Net/block2/conv", page.inner_text("#tip"))
        page.focus("#chart")
        page.keyboard.press("Escape")
        self.assertEqual(page.locator(".dot[data-count='4']").count(), 1)

    def test_the_nearest_point_answers(self):
        page = self.open_chart(crowd())
        dot = page.locator(".dot[data-name='Net/winograd']").bounding_box()
        page.mouse.move(dot["x"] + dot["width"] / 2 + 4, dot["y"] - 12)  # beside it
        self.assertIn("Net/winograd", page.inner_text("#tip"))
        page.mouse.move(5, 5)
        self.assertFalse(page.locator("#tip").is_visible())

    def test_the_five_that_could_save_most_are_named_and_no_text_covers_another(self):
        for size in ((1440, 900), (390, 844)):
            page = self.open_chart(crowd(), viewport={"width": size[0], "height": size[1]})
            if size[0] > 1000:
                self.assertEqual(page.locator(".dot-label").count(), 5)
            texts = [box for box in self.boxes(page, "#chart .dot-label, #chart .roof-label, #chart .dot-count, #chart .region-label") if not box["turned"]]
            self.assertGreater(len(texts), 3)
            for a, b in itertools.combinations(texts, 2):
                apart = a["right"] <= b["x"] + 1 or b["right"] <= a["x"] + 1 or a["bottom"] <= b["y"] + 4 or b["bottom"] <= a["y"] + 4
                self.assertTrue(apart, f"{a['text']} covers {b['text']}")
            frame = page.locator("#chart").bounding_box()
            for text in texts:
                self.assertGreaterEqual(text["x"], frame["x"] - 1)
                self.assertLessEqual(text["right"], frame["x"] + frame["width"] + 1, text["text"])

    def test_roofs_say_in_words_how_they_are_known(self):
        report = crowd()
        report["ceilings"][0].update(source="theoretical: 100 SMs x 256 per clock x 1.98 GHz, the highest clock; a guide", clock="boost")
        report["ceilings"][2]["source"] = "measured: gable ceilings"
        page = self.open_chart(report)
        labels = page.locator(".roof-label").all_text_contents()
        self.assertIn("FP32: 100 TFLOP/s, theoretical at 1.98 GHz (boost clock)", labels)
        self.assertIn("DRAM: 2 TB/s, measured", labels)

    def test_measured_roofs_come_first(self):
        report = crowd()
        report["ceilings"].append({"device": 0, "kind": "memory", "name": "dram", "value": 1.8e12, "source": "measured: gable ceilings"})
        page = self.open_chart(report)
        dram = lambda: [label for label in page.locator(".roof-label").all_text_contents() if label.startswith("DRAM")]
        self.assertEqual(sorted(dram()), ["DRAM: 1.8 TB/s, measured", "DRAM: 2 TB/s, theoretical"])  # the theoretical FP32 roof is needed
        report["ceilings"] = [roof for roof in report["ceilings"] if roof["name"] != "fp32"]
        report["ceilings"].append({"device": 0, "kind": "compute", "name": "fp32", "value": 9e13, "source": "measured: gable ceilings"})
        self.assertEqual(self.open_chart(report).locator(".roof").count(), 2)

    def test_a_level_has_its_roof_or_says_that_none_is_known(self):
        report = crowd()
        for row in [each for each in report["layers"] if each["bytes"]["dram"]] + report["kernels"]:
            row["bytes"]["l1"] = row["bytes"]["l2"] = row["bytes"]["dram"] * 2
            row["intensity"]["l1"] = row["intensity"]["l2"] = row["intensity"]["dram"] / 2
        page = self.open_chart(report)
        self.check(page, "L2")
        self.assertEqual(page.locator(".roof.l2").count(), 1)
        self.assertNotIn("No roof", page.inner_text("#how"))
        self.check(page, "L1")
        self.assertIn("No roof of L1 is known; gable ceilings measures it.", page.inner_text("#how"))

    def test_what_is_above_its_roof_is_marked(self):
        page = self.open_chart(crowd())
        self.assertEqual(page.eval_on_selector_all(".dot.above", "dots => dots.map(dot => dot.dataset.name)"), ["Net/winograd"])
        self.assertIn("! above its roof", page.inner_text("#legend"))
        self.assertIn("!", page.locator(".dot-count").all_text_contents())

    def test_a_limit_can_be_filtered(self):
        page = self.open_chart(crowd())
        before = self.names(page)
        self.uncheck(page, "memory")
        after = self.names(page)
        self.assertLess(len(after), len(before))
        self.assertEqual(page.locator(".dot.limit-memory").count(), 0)
        self.assertNotIn("memory", {row[3] for row in self.rows(page) if len(row) > 3})

    def test_the_strip_has_an_axis_of_its_own_beside_that_of_the_plot(self):
        page = self.open_chart(made_reports.net())
        strip, axis = (page.locator(selector).bounding_box() for selector in (".strip-frame .strip", ".axis.y:not(.strip-axis) .domain"))
        self.assertLess(strip["x"] + strip["width"], axis["x"])
        self.assertIn("100 %", page.locator(".strip-axis").text_content())

    def test_every_view_says_how_to_read_it(self):
        page = self.open_chart(crowd())
        said = set()
        for view in ("Roofline", "Complexity", "Time", "Both"):
            self.check(page, view)
            said.add(page.inner_text("#how"))
        self.assertEqual(len(said), 4)
        self.assertNotIn("", said)


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
