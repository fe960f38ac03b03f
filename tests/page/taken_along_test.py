# SPDX-License-Identifier: Apache-2.0
"""The report page outside of its window: on paper, as a picture, as text in a ticket, as a link, and without scripts."""
import random
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import made_reports
import pypdf
from browser import CHROMIUM, PageTest

PAPERS = {"A4": (210, 297), "Letter": (215.9, 279.4)}  # mm
MARGIN = 12


class Paper(PageTest):
    def test_page_one_has_the_answer_the_chart_and_the_rows(self):
        for scheme in ("light", "dark"):
            page = self.open(made_reports.net(), tree=False, viewport={"width": 1440, "height": 900}, color_scheme=scheme)
            for paper in PAPERS:
                path = f"{self.folder()}/{paper}.pdf"
                page.pdf(path=path, format=paper, print_background=True)
                first = " ".join(pypdf.PdfReader(path).pages[0].extract_text().split())
                for text in ("[playback] python main.py", "A step of 2 ms is", "Up to ", "Try: ", "FP32: 100 TFLOP/s", "DRAM: 2 TB/s", "relu", "of roof", "secret"):
                    self.assertIn(text, first, f"{paper}, {scheme}")

    def test_roof_and_ridge_are_on_the_paper(self):
        page = self.open(made_reports.net(), tree=False, viewport={"width": 1440, "height": 900}, color_scheme="dark")
        page.emulate_media(media="print")
        for paper, (wide, _) in PAPERS.items():
            width = round((wide - 2 * MARGIN) / 25.4 * 96)
            page.set_viewport_size({"width": width, "height": 1000})
            for part in (".roof", ".ridge", ".axis.x", ".dot"):
                for box in page.eval_on_selector_all(f"#chart {part}", "parts => parts.map(part => { const box = part.getBoundingClientRect(); return [box.left, box.right]; })"):
                    self.assertGreaterEqual(box[0], 0, part)
                    self.assertLessEqual(box[1], width, f"{part} on {paper}")
            self.assertLessEqual(page.evaluate("() => document.documentElement.scrollWidth"), width)

    def test_paper_is_light_and_the_screen_is_as_before(self):
        page = self.open(made_reports.net(), tree=False, color_scheme="dark")
        background = lambda: page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        before = background()
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(background(), "rgb(255, 255, 255)")
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
        self.assertEqual(background(), before)


class Files(PageTest):
    def saved(self, page, button):
        with page.expect_download() as download:
            page.click(button)
        return download.value.path()

    def test_a_picture_says_what_it_is_of(self):
        page = self.open(made_reports.net(), tree=False)
        root = ElementTree.parse(self.saved(page, "#save-svg")).getroot()
        texts = " ".join(" ".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text"))
        for said in ("[playback] python main.py", "Made-up GPU", "Roofline of layers. Roofs: FP32, DRAM theoretical.", "compute memory", "area: share of the time"):
            self.assertIn(said, " ".join(texts.split()))
        self.assertNotIn("var(", ElementTree.tostring(root, encoding="unicode"))

    def test_a_picture_in_points(self):
        with open(self.saved(self.open(made_reports.net(), tree=False, viewport={"width": 1440, "height": 900}), "#save-png"), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(int.from_bytes(head[16:20], "big"), 1000)

    def test_a_picture_of_many_points_has_them_all(self):
        made = random.Random(1)
        layers = [made_reports.layer(0, None, [], 1e6)]
        kernels = [made_reports.kernel(0, f"kernel_{i}", 1e6 * 10 ** made.uniform(0, 4), 1e4 * 10 ** made.uniform(0, 4), 1e5) for i in range(10_000)]
        page = self.open(made_reports.report(layers, kernels), tree=False)
        root = ElementTree.parse(self.saved(page, "#save-svg")).getroot()
        dots = [node for node in root.iter() if "dot" in (node.get("class") or "").split()]
        self.assertEqual(sum(int(dot.get("data-count")) for dot in dots), 10_000)
        self.assertEqual(page.locator(".dot").count(), 0)  # on the page they are on the canvas again

    def test_the_answer_as_markdown(self):
        report = made_reports.net()
        report["layers"][2]["path"][-1] = "relu|<b>"
        page = self.open(report, tree=False, permissions=["clipboard-read", "clipboard-write"])
        page.click("#copy-markdown")
        page.wait_for_function("() => document.querySelector('#copy-markdown').textContent === 'Copied'")
        lines = page.evaluate("() => navigator.clipboard.readText()").splitlines()
        self.assertEqual(lines[0], r"**\[playback\] python main.py**")
        self.assertTrue(any(line.startswith("A step of 2 ms is ") for line in lines))
        self.assertTrue(any(re.match(r"- \*\*.*\*\*: Up to .*; Try: ", line) for line in lines))
        table = [line for line in lines if line.startswith("|")]
        self.assertEqual(table[0], "| layer | direction | saving | bound | of roof | time | work |")
        self.assertTrue(any(line.startswith(r"| Net/relu\|\<b\> | forward |") for line in table), table)
        for line in table:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 8, line)


class Link(PageTest):
    def address(self, page, *parts):
        """Once it has these parts: it follows the view a moment later, and on a busy machine a longer one."""
        for _ in range(80):
            page.wait_for_timeout(250)
            if all(part in page.url for part in parts):
                return page.url
        self.fail(f"the address never had {parts}: {page.url}")

    def settled_address(self, page, zoomed):
        """Once the zoom has glided to its end, which takes longer on a busy machine."""
        same = 0
        for _ in range(80):
            before = page.url
            page.wait_for_timeout(250)
            same = same + 1 if page.url == before and ("zoom=" in before) == zoomed else 0
            if same == 4:
                return before
        self.fail(f"the address never came to rest {'with' if zoomed else 'without'} a zoom: {page.url}")

    def test_a_link_leads_to_the_same_view(self):
        path = self.write(made_reports.net())
        page = self.open(path=path, tree=False)
        self.assertNotIn("#", self.address(page))
        self.check(page, "kernels")
        self.uncheck(page, "backward")
        page.fill("#search", "conv")
        page.locator(".dot[data-name='conv_kernel']").click(force=True)
        url = self.address(page, "points=kernels", "direction=", "search=conv", "pin=")
        other = self.open(path=f"{path}#{url.split('#')[1]}", tree=False)
        self.assertEqual(other.locator("#search").input_value(), "conv")
        self.assertTrue(other.get_by_label("kernels", exact=True).is_checked())
        self.assertFalse(other.get_by_label("backward", exact=True).is_checked())
        self.assertEqual(other.eval_on_selector_all(".dot.on", "dots => dots.map(dot => dot.dataset.name)"), ["conv_kernel"])
        self.assertEqual(self.names(other), self.names(page))

    def test_a_link_leads_to_the_same_zoom(self):
        path = self.write(made_reports.net())
        page = self.open(path=path, tree=False)
        page.focus("#chart")
        for _ in range(3):
            page.keyboard.press("+")
        url = self.settled_address(page, zoomed=True)
        ticks = "[...document.querySelectorAll('.axis.x .tick text')].map(each => each.textContent).filter(text => text)"
        shown = page.evaluate(ticks)
        other = self.open(path=f"{path}#{url.split('#')[1]}", tree=False)
        self.assertEqual(other.evaluate(ticks), shown)
        self.assertNotEqual(self.open(path=path, tree=False).evaluate(ticks), shown)
        other.keyboard.press("Escape")
        other.focus("#chart")
        other.keyboard.press("0")
        self.settled_address(other, zoomed=False)

    def test_a_link_to_what_is_not_there_shows_the_page(self):
        for end in ("zoom=9e9~0~0", "zoom=2~x~", "pin=7:3:0l9", "view=__proto__&points=nothing&sort=-evil&level=dram~<img>", "%E0%A4%A", "pin=0::", "report=9"):
            page = self.open(path=self.write(made_reports.net()) + "#" + end, tree=False)
            self.assertIn("[playback]", page.inner_text("h1"))


class WithoutScripts(PageTest):
    def test_the_answer_stands_there(self):
        report = made_reports.net()
        report["step"]["idle_ns"] = 5e5
        context = self.browser.new_context(java_script_enabled=False, offline=True)
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(f"file://{self.write(report)}")
        text = page.inner_text("body")
        self.assertIn("A step: 2.00 ms", text)
        self.assertRegex(text, "up to [0-9.]+ us a step: The GPU idles for ")

    def test_chart_and_rows_stand_there(self):
        context = self.browser.new_context(java_script_enabled=False, offline=True, viewport={"width": 1000, "height": 900})
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto("file://" + self.write(made_reports.net()))
        self.assertGreater(page.locator(".still svg circle").count(), 3)
        self.assertIn("Net/relu", page.locator(".still table").inner_text())
        self.assertFalse(page.locator("main").is_visible())


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
