# SPDX-License-Identifier: Apache-2.0
"""What the report page says of memory: its chart over a step's operators, and what is held at the highest point."""
import sys
import unittest

import made_reports
from browser import CHROMIUM, PageTest, number
from first_screen_reports import blocks


def remembering(peak=8e9, **more):
    report = blocks()
    report["memory"] = made_reports.memory(peak, **more)
    return report


class Memory(PageTest):
    def text(self, page):
        return " ".join(page.inner_text("#memory").split())

    def test_how_much_where_and_for_what(self):
        text = self.text(self.open(remembering(), tree=False))
        self.assertIn("Memory of a step: 8 GB at most Device 0, as PyTorch's allocator counts it, after each operator.", text)
        self.assertIn("since the program began, within operators too: 16 GB. It has 24 GB of the GPU's memory.", text)
        self.assertIn("At the highest point: not seen in tensors 4 GB · activations 3 GB · optimizer state 1 GB", text)
        self.assertIn("Net/{0..2}/conv activations 6 3 GB 37.5 %", text)
        self.assertIn("- optimizer state 1 1 GB 12.5 %", text)

    def test_the_chart_is_drawn_to_its_axes(self):
        page = self.open(remembering(), tree=False)
        labels = page.locator("svg.memory .axis").nth(1).locator(".tick text").all_text_contents()
        ticks = page.locator("svg.memory .axis").nth(1).locator(".tick").evaluate_all(
            "ticks => ticks.map(tick => Number(/,([0-9.]+)/.exec(tick.getAttribute('transform'))[1]))")
        values = [number(label.removesuffix("B")) for label in labels]
        a_byte = (ticks[0] - ticks[-1]) / (values[-1] - values[0])
        peak = float(page.locator("svg.memory .held-peak").get_attribute("cy"))
        self.assertAlmostEqual((ticks[0] - peak) / a_byte, 8e9, delta=5e7)
        titles = page.locator("svg.memory .axis-title").all_text_contents()
        self.assertEqual(titles, ["Operators of the step, in their order", "Memory taken [byte]"])

    def test_the_mouse_asks_for_a_point(self):
        page = self.open(remembering(), tree=False)
        page.locator("svg.memory").scroll_into_view_if_needed()
        box = page.locator("svg.memory").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2)
        self.assertIn("4 GB after aten::mm", " ".join(page.inner_text("#memory .pointed").split()))

    def test_nothing_of_the_chart_above_lies_on_it(self):
        page = self.open(remembering(), tree=False, viewport={"width": 1440, "height": 700})
        page.locator("#memory h2").scroll_into_view_if_needed()
        page.evaluate("() => document.querySelector('#memory h2').scrollIntoView({block: 'start'})")
        top = page.evaluate("""() => {
            const box = document.querySelector("svg.memory").getBoundingClientRect();
            return Boolean(document.elementFromPoint(box.left + box.width / 4, box.top + 40).closest("#memory"));
        }""")
        self.assertTrue(top)

    def test_on_a_phone_nothing_is_cut_off(self):
        page = self.open(remembering(), tree=False, viewport={"width": 390, "height": 844})
        self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth"), 390)

    def test_of_several_ranks_the_one_that_is_shown(self):
        ranks = [remembering(peak) for peak in (8e9, 16e9)]
        for rank, report in enumerate(ranks):
            report["run"].update(rank=rank, pid=100 + rank)
        page = self.open(*ranks, tree=False)
        self.assertIn("Memory of a step: 8 GB at most Device 0 of rank 0,", self.text(page))
        page.locator("button.rank").nth(1).click()
        self.assertIn("Memory of a step: 16 GB at most Device 0 of rank 1,", self.text(page))
        self.check(page, "rank 0")
        self.assertIn("Memory of a step: 16 GB at most Device 0 of rank 1, which has the highest peak,", self.text(page))

    def test_names_are_no_code(self):
        report = remembering(name="<img src=x onerror=alert(1)>")
        report["memory"]["held"][0]["path"] = ["</script><b>Net</b>"]
        page = self.open(report, tree=False)
        self.assertIn("after <img src=x onerror=alert(1)>", page.locator("svg.memory").text_content())
        self.assertEqual(page.locator("#memory img, #memory td b").count(), 0)

    def test_what_was_not_asked_for_is_not_there(self):
        self.assertFalse(self.open(blocks(), tree=False).locator("#memory").is_visible())

    def test_a_report_without_points_has_a_page(self):
        report = remembering()
        report["memory"]["timeline"] = []
        self.assertFalse(self.open(report, tree=False).locator("#memory").is_visible())


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
