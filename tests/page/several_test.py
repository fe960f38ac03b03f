# SPDX-License-Identifier: Apache-2.0
"""The page of two runs, what changed from one to the other, and that of the ranks of one run."""
import os
import re
import shutil
import subprocess
import sys
import unittest

import made_reports
from axe_playwright_python.sync_playwright import Axe
from browser import CHROMIUM, GABLE, PageTest
from first_screen_reports import blocks

SCALES = {"us": 1e3, "ms": 1e6, "s": 1e9, "ns": 1}


def ns(text):
    """"−1.2 ms" """
    sign, number, unit = re.fullmatch(r"([+−]?)([0-9.]+) ?([a-z]+)?", text).groups()
    return (-1 if sign == "−" else 1) * float(number) * SCALES[unit or "ns"]


class TwoRuns(PageTest):
    def compare(self, a, b, **context):
        folder = os.path.dirname(self.write(a, b))
        files = [os.path.join(folder, f"report{side}.json") for side in (0, 1)]
        page = os.path.join(folder, "diff.html")
        done = subprocess.run([GABLE, "diff", *files, "--html", page], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.addCleanup(shutil.rmtree, folder, True)
        return self.open(path=page, tree=False, **{"viewport": {"width": 1440, "height": 900}, **context})

    def faster(self):
        """Two of the three blocks' convolutions take a quarter of the time, the relu is gone, a gelu is new, and the step is 0.9 ms shorter."""
        b = blocks()
        for row in [b["layers"][3], b["layers"][5]]:
            row["time_ns"] = {"self": 1e5, "total": 1e5, "busy": 1e5}
        for kernel in b["kernels"][:2]:
            kernel.update(made_reports.kernel(kernel["layer"], "conv_kernel", 1e10, 5e7, 1e5, "forward"))
        b["layers"][8]["path"] = ["Net", "gelu"]
        b["kernels"][3].update(made_reports.kernel(8, "gelu_kernel", 1e8, 1e8, 5e4, "forward"))
        b["step"]["wall_ns"]["mean"] = 1.1e6
        b["step"]["idle_ns"] = 3e5
        return b

    def test_the_verdict_is_of_both_and_sums_neither(self):
        page = self.compare(blocks(), self.faster())
        self.assertEqual(page.inner_text("h1"), "[playback] A: report0.json → B: report1.json")
        self.assertIn("A step: 2 ms → 1.1 ms, −900 us (−45 %)", page.inner_text("#compare .win"))
        facts = page.inner_text("#facts").splitlines()
        self.assertEqual([line[:3] for line in facts], ["A: ", "B: "])
        self.assertEqual(page.locator(".card").count(), 0)  # those are of one run
        self.assertTrue(page.title().endswith("report0.json -> report1.json"))

    def test_the_waterfall_adds_up_from_a_to_b(self):
        page = self.compare(blocks(), self.faster())
        said = page.get_attribute(".waterfall", "aria-label")
        start, end = (ns(text) for text in re.match(r"From (\S+ \S+) to (\S+ \S+):", said).groups())
        bars = {name: ns(value) for name, value in re.findall(r"([^,:]+(?:, \d[^,]*)*) ([+−][0-9.]+ [a-z]+)", said.split(":", 1)[1])}
        self.assertEqual((start, end), (2e6, 1.1e6))
        self.assertAlmostEqual(start + sum(bars.values()), end, delta=2e3)
        self.assertIn(-2e5, bars.values())  # the GPU idles for 0.2 ms less
        drawn = page.eval_on_selector_all(".waterfall .bar.gain", "bars => bars.map(bar => Number(bar.getAttribute('width')))")
        self.assertGreater(max(drawn), 10)

    def test_rows_say_what_is_new_gone_and_by_how_much(self):
        page = self.compare(blocks(), self.faster())
        rows = [" ".join(row.split()) for row in page.locator("#compare tbody tr").all_inner_texts()]
        conv = next(row for row in rows if "conv" in row)
        self.assertIn("×2", conv)
        self.assertIn("800 us 200 us −600 us −75 %", conv)
        self.assertTrue(any("relu" in row and "gone" in row and "−100 us" in row for row in rows), rows)
        self.assertTrue(any("gelu" in row and "new" in row and "+50 us" in row for row in rows), rows)
        self.assertFalse(any(row.startswith("2/conv") for row in rows))  # it did not change
        page.locator("#compare").get_by_role("button", name="Show all").click()
        self.assertTrue(any("~ 0" in " ".join(row.split()) for row in page.locator("#compare tbody tr").all_inner_texts()))

    def test_what_cannot_be_compared_is_said(self):
        other = self.faster()
        other["devices"][0].update(name="Another GPU", chip="GX999", compute_capability="8.0", sm_count=10)
        page = self.compare(blocks(), other)
        self.assertIn("Careful: ", page.inner_text("#compare"))

    def test_equal_runs_are_told_in_a_line(self):
        page = self.compare(blocks(), blocks())
        self.assertIn("as long as before", page.inner_text("#compare .win"))
        self.assertIn("No layer changed beyond the noise.", page.inner_text("#compare"))

    def test_the_page_is_readable_by_all(self):
        for scheme in ("light", "dark"):
            page = self.compare(blocks(), self.faster(), color_scheme=scheme)
            self.assertEqual([f"{each['id']}: {node['html'][:200]}" for each in Axe().run(page).response["violations"] for node in each["nodes"]], [])
        page = self.compare(blocks(), self.faster(), viewport={"width": 390, "height": 844})
        self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth"), 390)

    def test_names_do_no_harm(self):
        b = self.faster()
        b["layers"][8]["path"][-1] = "</script><img src=x onerror=alert(1)>"
        page = self.compare(blocks(), b)
        self.assertIn("<img src=x", page.locator("#compare").inner_text())
        self.assertEqual(page.locator("#compare img").count(), 0)


class Ranks(PageTest):
    def ranks(self, count, slow=None):
        made = []
        for rank in range(count):
            report = made_reports.net(1.4 if rank == slow else 1.0)
            report["run"].update(rank=rank, pid=100 + rank)
            made.append(report)
        return made

    def test_the_slowest_is_named_and_its_answer_shown(self):
        for count in (8, 64):
            page = self.open(*self.ranks(count, slow=3), tree=False, viewport={"width": 1440, "height": 900})
            said = page.inner_text("#verdict")
            self.assertIn("Rank 3 is the slowest: its kernels take 1.4 ms a step", said)
            self.assertIn("Of rank 3:", said)
            self.assertEqual(page.locator(".rank").count(), count)
            self.assertIn("Ranks differ most in Net/conv forward: 560 us on rank 3", said)
            card = page.locator(".card").first.bounding_box()
            self.assertLess(card["y"] + card["height"], 900)
            self.assertEqual(page.inner_text("h1"), "[playback] python main.py")  # one run has one title
            widths = page.eval_on_selector_all(".rank .stack", "bars => bars.map(bar => bar.getBoundingClientRect().width)")
            self.assertEqual(widths.index(max(widths)), 3)  # it stands out
            page.locator(".rank").nth(5).click()
            self.assertIn("Of rank 5:", page.inner_text("#verdict"))
            self.assertLess(page.locator("#advice li").count(), 8)  # of the one that is shown

    def test_equal_ranks_are_told_to_be(self):
        page = self.open(*self.ranks(4), tree=False)
        self.assertIn("No rank is slow", page.inner_text("#verdict"))
        self.assertNotIn("Ranks differ", page.inner_text("#verdict"))

    def test_processes_without_ranks_are_named_by_their_files(self):
        one, two = made_reports.net(), made_reports.net(1.4)
        two["run"]["pid"] += 1
        said = self.open(one, two, tree=False).inner_text("#verdict")
        self.assertIn("report1.json is the slowest", said)
        self.assertIn("Processes differ most in", said)

    def test_two_runs_are_not_one(self):
        page = self.open(made_reports.net(), made_reports.net(4), tree=False)
        self.assertEqual(page.inner_text("h1"), "[playback] 2 runs: report0.json, report1.json")
        self.assertEqual(len(page.inner_text("#facts").splitlines()), 2)
        self.assertEqual(page.locator(".rank").count(), 0)


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
