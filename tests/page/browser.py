# SPDX-License-Identifier: Apache-2.0
"""The report page in a real browser: Debian's Chromium, driven by Playwright."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from playwright.sync_api import sync_playwright

GABLE = os.environ["GABLE_PROGRAM"]
WORK = os.environ["GABLE_WORK"]
CHROMIUM = os.environ.get("GABLE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SCALES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def number(label):
    """What an axis says: "100 G", "0.1", "10 us", "1e-5"."""
    match = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?) ?([a-zA-Z]*)", label)
    return float(match[1]) * SCALES.get(match[2], 1)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(WORK, exist_ok=True)
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    def folder(self):
        folder = tempfile.mkdtemp(dir=WORK)
        self.addCleanup(shutil.rmtree, folder, True)
        return folder

    def write(self, *reports):
        folder = self.folder()
        paths = []
        for index, report in enumerate(reports):
            paths.append(os.path.join(folder, f"report{index}.json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump(report, file)
        page = os.path.join(folder, "page.html")
        done = subprocess.run([GABLE, "report", *paths, "--html", page], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"Page: {page}\n", ""))
        return page

    def open(self, *reports, path=None, tree=True, **context):
        """The page, looked at without a network, with the tree of layers unless its first screen is wanted. What it says on the
        console, or asks of a network, fails the test."""
        path = path or self.write(*reports)
        context = self.browser.new_context(**{"offline": True, "viewport": {"width": 1300, "height": 1100}, "accept_downloads": True, **context})
        self.addCleanup(context.close)
        page = context.new_page()
        wrong = []
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith(("file://", "data:", "blob:")) else wrong.append(f"request: {request.url}"))
        self.addCleanup(lambda: self.assertEqual(wrong, []))
        page.goto("file://" + path)
        page.wait_for_selector("#table tbody tr")
        page.locator("#options summary").click()
        if tree and page.get_by_label("tree", exact=True).count():
            self.check(page, "tree")
        return page

    def axis(self, page, which):
        """A function from a value to where it must be, in pixels of the plot, by the axis' own labels."""
        ticks = page.evaluate("""which => [...document.querySelectorAll(`.axis.${which} .tick`)].map(tick =>
            [tick.querySelector("text").textContent, tick.transform.baseVal.consolidate().matrix[which === "x" ? "e" : "f"]])""", which)
        named = [(number(text), place) for text, place in ticks if text]
        (first, from_), (last, to) = named[0], named[-1]
        self.assertGreaterEqual(len(named), 2, f"the axis {which} has fewer than two labels")
        from math import log
        for value, place in named:  # the labels agree with each other: the scale is logarithmic
            self.assertAlmostEqual(place, from_ + (to - from_) * log(value / first) / log(last / first), delta=0.6)
        return lambda value: from_ + (to - from_) * log(value / first) / log(last / first)

    def dots(self, page):
        """{(name, level, "open" | "closed"): (x, y)} in pixels of the plot."""
        found = page.evaluate("""() => [...document.querySelectorAll(".dot")].map(dot => { const m = dot.transform.baseVal.consolidate().matrix;
            return [dot.dataset.name, dot.dataset.level, dot.classList.contains("open") ? "open" : "closed", dot.closest(".strip-dots") !== null, m.e, m.f]; })""")
        return {(name, level, shape) if not strip else (name, level, "strip"): (x, y) for name, level, shape, strip, x, y in found}

    def check(self, page, label):
        page.get_by_label(label, exact=True).check()

    def uncheck(self, page, label):
        page.get_by_label(label, exact=True).uncheck()

    def names(self, page):
        return sorted({name for name, _, _ in self.dots(page)})

    def rows(self, page):
        return page.eval_on_selector_all("#table tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")

    def assert_near(self, got, wanted, what, pixels=1):
        for axis, a, b in zip("xy", got, wanted):
            self.assertAlmostEqual(a, b, delta=pixels, msg=f"{what}: {axis}")
