# SPDX-License-Identifier: Apache-2.0
"""The fleet's page, opened cold in Chromium without a network."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))
os.environ.setdefault("GABLE_BUILD", str(pathlib.Path(os.environ["GABLE_PROGRAM"]).resolve().parents[1]))

from browser import PageTest
from fleets import FleetTest, layers_report

import synthetic


class Page(FleetTest, PageTest):
    def setUp(self):
        super().setUp()
        template = layers_report(self.folder)
        path = "/".join(synthetic.victim(template)["path"])

        def change(report, day):
            if day == 3:
                next(layer for layer in report["layers"] if "/".join(layer["path"]) == path)["time_ns"]["self"] *= 1.5
        for day in (1, 2, 3):
            self.job(template, f"<b>night-{day}", ranks=40, day=f"2026-03-0{day}", slower={3: 0.2} if day == 2 else {},
                     change=lambda report, _: change(report, day))
        self.path_of_victim = path
        self.gable("export", "reports", "--parquet", "data")
        self.gable("fleet", "data", "--html", "fleet.html")

    def look(self, **context):
        """The page without a network. What it says on the console, or asks of a network, fails the test."""
        context = self.browser.new_context(**{"offline": True, "viewport": {"width": 1300, "height": 1100}, **context})
        self.addCleanup(context.close)
        page, wrong = context.new_page(), []
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith(("file://", "data:", "blob:")) else wrong.append(f"request: {request.url}"))
        self.addCleanup(lambda: self.assertEqual(wrong, []))
        page.goto("file://" + str(self.folder / "fleet.html"))
        page.wait_for_selector(".plot:not([hidden]) .js-plotly-plot .bglayer")
        return page

    def test_the_first_screen_answers(self):
        page = self.look()
        said = page.inner_text(".answers")
        self.assertIn(f"{self.path_of_victim}: +50", said)
        self.assertIn("since 2026-03-03", said)
        self.assertIn("rank 3 of <b>night-2 on node-00000: +", said)
        self.assertIn("of 120 GPUs", said)
        self.assertIn("All processes are from playback: no GPU was measured there.", page.inner_text("body"))
        bottom = page.eval_on_selector_all(".plots .plot:not([hidden]) .js-plotly-plot", "plots => Math.max(...plots.map(plot => plot.getBoundingClientRect().bottom))")
        self.assertLess(bottom, 1100)  # of the screen

    def test_plots_show_what_was_planted(self):
        page = self.look()
        strip = page.locator("section", has_text="Each square is a rank")
        data = strip.locator(".plot:not([hidden]) .js-plotly-plot").evaluate("plot => plot.data.map(trace => ({ type: trace.type, z: trace.z, x: trace.x && Array.from(trace.x), y: trace.y && Array.from(trace.y) }))")
        values = [value for row in data[0]["z"] for value in row if value is not None]
        self.assertEqual(len(values), 40)
        self.assertEqual(max(values), values[3])
        self.assertEqual((data[1]["x"], data[1]["y"]), ([3], [0]))  # and it alone has a frame
        titles = page.eval_on_selector_all(".plot:not([hidden]) .xtitle, .plot:not([hidden]) .ytitle", "titles => titles.map(title => title.textContent)")
        self.assertEqual(titles, ["place in the row", "row, by its first", "day (UTC)", "own kernels in a step, ms"])
        history = page.locator("section", has_text="Each day's median")
        days = history.locator(".plot:not([hidden]) .js-plotly-plot").evaluate("plot => [Array.from(plot.data[0].x), Array.from(plot.data[0].y)]")
        self.assertEqual(days[0], ["2026-03-01", "2026-03-02", "2026-03-03"])
        self.assertAlmostEqual(days[1][2] / days[1][0], 1.5, delta=0.02)
        # Another one is drawn at its full width when it is chosen.
        history.locator("select").select_option(index=1)
        shown = history.locator(".plot:not([hidden])")
        self.assertEqual(shown.count(), 1)
        page.wait_for_function("() => [...document.querySelectorAll('.plot:not([hidden]) .js-plotly-plot .bglayer')].every(layer => layer.getBoundingClientRect().width > 300)")

    def test_names_are_no_code(self):
        template, code = layers_report(self.folder), "</script><img src=x onerror=alert(1)><script>alert(2)</script>"
        for day in (1, 2):
            self.job(template, "evil", ranks=4, day=f"2026-03-0{day}", slower={1: 0.2}, change=lambda report, _: [
                report["run"].update(hostname=code), report["devices"][0].update(name=code),
                *(layer["path"].__setitem__(0, code) for layer in report["layers"][1:])])
            self.gable("export", "reports/evil", "--parquet", "evil", "--job", code + str(day))
        self.gable("fleet", "evil", "--html", "fleet.html")
        page = self.look()
        self.assertIn(code, page.inner_text("body"))
        for each in range(page.locator("select").count()):
            choices = page.locator("select").nth(each)
            for place in range(choices.locator("option").count()):
                choices.select_option(index=place)
        page.locator(".plot:not([hidden]) .js-plotly-plot .nsewdrag").first.hover()
        page.wait_for_timeout(300)

    def test_it_can_be_read_by_everybody(self):
        from axe_playwright_python.sync_playwright import Axe
        for scheme in ("light", "dark"):
            page = self.look(color_scheme=scheme)
            found = [problem for problem in Axe().run(page).response["violations"] if problem["impact"] in ("serious", "critical")]
            self.assertEqual([(problem["id"], [node["html"][:200] for node in problem["nodes"][:3]]) for problem in found], [], scheme)
        narrow = self.look(viewport={"width": 420, "height": 900})
        self.assertLessEqual(narrow.evaluate("() => document.documentElement.scrollWidth"), 420)


if __name__ == "__main__":
    unittest.main()
