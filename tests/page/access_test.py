# SPDX-License-Identifier: Apache-2.0
"""The report page by axe-core's rules (https://github.com/dequelabs/axe-core), and by keyboard."""
import sys
import unittest

import made_reports
from axe_playwright_python.sync_playwright import Axe
from browser import CHROMIUM, PageTest
from first_screen_reports import blocks


class Access(PageTest):
    def assert_no_finding(self, page, what):
        found = [f"{each['id']}: {each['help']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
                 for each in Axe().run(page).response["violations"] for node in each["nodes"]]
        self.assertEqual(found, [], what)

    def test_axe_finds_nothing(self):
        for scheme in ("light", "dark"):
            for size in ({"width": 1440, "height": 900}, {"width": 390, "height": 844}):
                page = self.open(blocks(), tree=False, viewport=size, color_scheme=scheme)
                self.assert_no_finding(page, f"cards, {scheme}, {size}")
                page.locator(".card button").first.click()
                page.focus("#chart")
                page.keyboard.press("ArrowRight")
                self.assert_no_finding(page, f"something is pinned, {scheme}")
                self.check(page, "tree")
                self.assert_no_finding(page, f"tree, {scheme}")
            self.assert_no_finding(self.open(made_reports.net(), made_reports.net(4), tree=False, color_scheme=scheme), f"two reports, {scheme}")
            remembered = blocks()
            remembered["memory"] = made_reports.memory()
            self.assert_no_finding(self.open(remembered, tree=False, color_scheme=scheme), f"memory, {scheme}")
            lost = made_reports.net()
            lost["run"].update(lost={"records": 3}, notes=["a note"], complete=False)
            self.assert_no_finding(self.open(lost, tree=False, color_scheme=scheme), f"something lost, {scheme}")
            self.assert_no_finding(self.open(made_reports.report([made_reports.layer(0, None, [], 1e5)], [made_reports.kernel(0, "k", None, None, 1e5)]),
                                             tree=False, color_scheme=scheme), f"an empty chart, {scheme}")

    def test_points_are_reached_by_keyboard_and_told(self):
        page = self.open(made_reports.net(), tree=False)
        page.focus("#chart")
        page.keyboard.press("ArrowRight")
        self.assertEqual(page.locator("#tip[role=status]").count(), 1)  # a screen reader says what it shows
        self.assertIn("Net/", page.inner_text("#tip"))
        page.keyboard.press("Enter")
        self.assertEqual(page.locator("#table tr.pinned").count(), 1)

    def test_forced_colours_keep_what_colours_tell(self):
        page = self.open(made_reports.net(), tree=False, forced_colors="active")
        colours = page.eval_on_selector_all(".division .stack span", "parts => parts.map(part => getComputedStyle(part).backgroundColor)")
        self.assertGreater(len(set(colours)), 2)


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
