# SPDX-License-Identifier: Apache-2.0
"""What the report page shows, checked in a browser against numbers that are known beforehand."""
import csv
import io
import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

import made_reports
from browser import CHROMIUM, GABLE, WORK, PageTest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Chart(PageTest):
    def test_dots_stand_where_the_axes_say(self):
        page = self.open(made_reports.net())
        page.get_by_label("kernels", exact=True).check()
        x, y = self.axis(page, "x"), self.axis(page, "y")
        dots = self.dots(page)
        self.assert_near(dots["relu_kernel", "dram", "closed"], (x(1), y(1e12)), "relu")
        self.assert_near(dots["conv_kernel", "dram", "closed"], (x(200), y(2.5e13)), "conv")
        self.assert_near(dots["conv_grad_kernel", "dram", "closed"], (x(200), y(5e13)), "its backward")
        self.assertIn(("cast_kernel", "dram", "strip"), dots)  # no FLOP: in the strip
        self.assertLess(dots["cast_kernel", "dram", "strip"][0], 50)
        self.assertNotIn("secret_kernel", self.names(page))
        self.assertIn("1 kernel of 5 not shown (5 % of the time): work, bytes or time unknown.", page.inner_text("#not-shown"))
        self.assertIn("circle: forward or none", page.inner_text("#legend"))

    def test_roofs_and_ridge_point_stand_where_the_axes_say(self):
        page = self.open(made_reports.net())
        x, y = self.axis(page, "x"), self.axis(page, "y")
        lines = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".roof")].map(roof =>
            [roof.dataset.roof, ["x1", "y1", "x2", "y2"].map(name => Number(roof.getAttribute(name)))]))""")
        self.assertEqual(sorted(lines), ["dram", "fp32"])  # no kernel uses tensor cores: their roof is not drawn
        self.assert_near(lines["fp32"][:2], (x(50), y(1e14)), "FP32's roof begins at the ridge point")
        self.assert_near(lines["dram"][2:], (x(50), y(1e14)), "DRAM's roof ends there")
        ridge = page.evaluate("() => { const m = document.querySelector('.ridge').transform.baseVal.consolidate().matrix; return [m.e, m.f]; }")
        self.assert_near(ridge, (x(50), y(1e14)), "the ridge point")
        labels = page.eval_on_selector_all(".roof-label", "labels => labels.map(label => label.textContent)")
        self.assertIn("DRAM: 2 TB/s", " ".join(labels))
        self.assertIn("FP32: 100 TFLOP/s", " ".join(labels))

    def test_levels_directions_and_points_are_switched(self):
        page = self.open(made_reports.net())
        self.assertEqual(self.names(page), ["Net/cast", "Net/conv", "Net/relu"])
        self.assertEqual(len(self.dots(page)), 3 + 1 - 1)  # conv twice under one name: forward and backward
        self.check(page, "L2")
        x, y = self.axis(page, "x"), self.axis(page, "y")
        self.assert_near(self.dots(page)["Net/relu", "l2", "closed"], (x(0.5), y(1e12)), "relu at L2")
        self.uncheck(page, "DRAM")
        self.assertEqual({level for _, level, _ in self.dots(page)}, {"l2"})
        self.check(page, "DRAM")
        self.uncheck(page, "forward")
        self.assertEqual(self.names(page), ["Net/conv"])
        self.uncheck(page, "backward")
        self.assertEqual(self.names(page), [])

    def test_precisions_are_switched_with_their_roofs(self):
        report = made_reports.net()
        report["kernels"].append(made_reports.kernel(3, "mma_kernel", 4e10, 5e7, 4e5, "forward", type="bf16_tensor"))
        page = self.open(report)
        self.check(page, "kernels")
        roofs = lambda: page.eval_on_selector_all(".roof", "lines => lines.map(line => line.dataset.roof).sort()")
        self.assertEqual(roofs(), ["bf16_tensor", "dram", "fp32"])
        self.uncheck(page, "FP32")
        self.assertEqual(roofs(), ["bf16_tensor", "dram"])
        self.assertEqual(self.names(page), ["cast_kernel", "mma_kernel"])

    def test_levels_of_a_kernel_are_joined_and_headroom_ends_at_the_roof(self):
        page = self.open(made_reports.net())
        self.check(page, "L2")
        self.check(page, "join levels")
        dots = self.dots(page)
        joined = page.eval_on_selector_all(".join", "lines => lines.map(line => ['x1', 'x2'].map(name => Number(line.getAttribute(name))))")
        self.assertTrue(any(abs(min(pair) - dots["Net/relu", "l2", "closed"][0]) < 1 and abs(max(pair) - dots["Net/relu", "dram", "closed"][0]) < 1
                            for pair in joined), joined)
        self.uncheck(page, "L2")
        self.check(page, "headroom")
        x, y = self.axis(page, "x"), self.axis(page, "y")
        ends = page.eval_on_selector_all(".headroom", "lines => lines.map(line => ['x2', 'y2'].map(name => Number(line.getAttribute(name))))")
        self.assertTrue(any(abs(end[0] - x(1)) < 1 and abs(end[1] - y(2e12)) < 1 for end in ends), ends)  # 1 FLOP/byte at 2 TB/s

    def test_time_and_work_lie_on_one_intensity_and_their_distance_is_the_fraction(self):
        page = self.open(made_reports.net())
        self.check(page, "kernels")
        self.check(page, "Both")
        x, y = self.axis(page, "x"), self.axis(page, "y")
        dots = self.dots(page)
        self.assert_near(dots["relu_kernel", "dram", "closed"], (x(1e8), y(1e8)), "work")
        self.assert_near(dots["relu_kernel", "dram", "open"], (x(2e8), y(2e8)), "time: half of the roof")
        self.assert_near(dots["conv_kernel", "dram", "open"], (x(2e8), y(4e10)), "time: a quarter of the roof")
        box = page.eval_on_selector(".box", "box => ['x', 'y', 'width', 'height'].map(name => Number(box.getAttribute(name)))")
        self.assert_near((box[0] + box[2], box[1]), (x(4000e-9 * 2e12), y(4000e-9 * 1e14)), "the overhead box")
        self.check(page, "Time")
        x, y = self.axis(page, "x"), self.axis(page, "y")
        self.assert_near(self.dots(page)["conv_kernel", "dram", "open"], (x(1e5), y(4e5)), "computing takes all of it, memory a quarter")
        self.check(page, "Complexity")
        self.assertEqual({shape for _, _, shape in self.dots(page)}, {"closed", "strip"})
        diagonal = page.eval_on_selector(".diagonal", "line => ['x1', 'y1', 'x2', 'y2'].map(name => Number(line.getAttribute(name)))")
        x, y = self.axis(page, "x"), self.axis(page, "y")
        at = (x(1e8) - diagonal[0]) / (diagonal[2] - diagonal[0])
        self.assertAlmostEqual(diagonal[1] + at * (diagonal[3] - diagonal[1]), y(5e9), delta=1)  # 50 FLOP/byte

    def test_zoom_keeps_dots_on_their_axes(self):
        page = self.open(made_reports.net())
        page.focus("#chart")
        page.keyboard.press("+")
        page.wait_for_timeout(100)
        x, y = self.axis(page, "x"), self.axis(page, "y")
        self.assert_near(self.dots(page)["Net/relu", "dram", "closed"], (x(1), y(1e12)), "relu")
        page.keyboard.press("0")
        self.assertEqual(page.evaluate("() => document.querySelectorAll('.dots .dot').length"), 3)

    def test_analytic_points_are_hollow(self):
        report = made_reports.net()
        model = {"inputs": None, "outputs": None, "dtypes": [], "parameters": None, "operators": 1, "flops_analytic": 1e9, "bytes_analytic": 1e8,
                 "types": {"fp32": 1e9}, "coverage": {"flops": 1, "bytes": 1}, "self": {"flops_analytic": 1e9, "bytes_analytic": 1e8, "types": {"fp32": 1e9}}, "flops_ratio": None, "bytes_ratio": None,
                 "intensity": 10, "flops_per_s": 2e13, "bytes_per_s": 2e12, "roof": made_reports.roof(), "saving_ns": None, "allocated_bytes": None}
        report["layers"][6].update(model=model, time_ns={"self": 5e4, "total": 5e4, "busy": 5e4})
        report["kernels"][4].update(flops={"fp64": None, "fp32": None, "fp16": None, "tensor": {}, "total": None},
                                    bytes={"dram": None, "dram_read": None, "dram_write": None, "l2": None, "l1": None})
        page = self.open(report)
        self.assertIn(("Net/secret", "dram", "open"), self.dots(page))
        self.assertIn("hollow: by formula, not counted", page.inner_text("#legend"))

    def test_two_reports_are_joined_by_solid_and_dashed_lines(self):
        page = self.open(made_reports.net(), made_reports.net(4))
        self.check(page, "Both")
        kinds = page.eval_on_selector_all(".sweep", "lines => lines.map(line => line.classList.contains('open'))")
        self.assertEqual((kinds.count(False), kinds.count(True)), (3, 3))  # relu, conv and its backward: work solid, time dashed
        style = page.eval_on_selector_all(".sweep", "lines => lines.map(line => [line.classList.contains('open'), getComputedStyle(line).strokeDasharray])")
        self.assertEqual({(is_open, dash != "none") for is_open, dash in style}, {(True, True), (False, False)})
        self.uncheck(page, "report1.json")
        self.assertEqual(page.locator(".sweep").count(), 0)


class Table(PageTest):
    def test_rows_are_sorted_by_saving_and_by_what_is_asked(self):
        report = made_reports.net()
        for row, saving in zip(report["layers"], (None, 9, 5, 7, 6, None, None)):
            row["saving_ns"] = saving
        page = self.open(report)
        leaves = lambda: [row[0].strip("▸▾ ") + " " + row[1] for row in self.rows(page) if row[0].strip("▸▾ ") in ("relu", "conv", "cast", "secret")]
        self.assertEqual(leaves()[:3], ["conv forward", "conv backward", "relu forward"])
        page.get_by_role("button", name="saving").click()
        self.assertEqual(leaves()[:3], ["relu forward", "conv backward", "conv forward"])  # upwards; unknown still last
        page.get_by_role("button", name="layer", exact=True).click()
        self.assertEqual(leaves()[0], "cast forward")

    def test_savings_are_of_a_step_where_steps_were_recorded(self):
        report = made_reports.net()
        report["step"].update(
            critical_path={"kernels_ns": 1.5e6, "communication_ns": 4e5, "copies_ns": 0, "host_ns": 1e5, "launches_ns": 0, "gaps_ns": 0, "unexplained_ns": 0},
            exposed={"compute_ns": 1.5e6, "communication_ns": 4e5, "copies_ns": 0, "idle_ns": 1e5, "saving_ns": {
                part: {"low": low, "high": high} for part, low, high in (("compute", 0, 1e6), ("communication", 3e5, 4e5), ("copies", 0, 0), ("host", 0, 0))}},
            graph={"steps": 3, "wall_ns": 2e6, "explained": 0.99, "replay_error": 0.02, "overlapped": 0.25, "edges": 1000, "violated_edges": 0,
                   "stream_waits_known": True})
        relu, conv, _, cast = report["layers"][2:6]
        relu.update(saving_ns=9e5, path_ns=0, step_saving_ns={"low": 0, "high": 0})
        conv.update(saving_ns=2e5, path_ns=4e5, step_saving_ns={"low": 0, "high": 1e5})
        cast.update(saving_ns=4e4, path_ns=2e4)  # not replayed: at most what is on the path
        page = self.open(report)
        text = page.inner_text("#step")
        self.assertIn("Critical path: kernels 75.0 %, communication 20.0 %, the host 5.00 %. Not hidden: ", text)
        self.assertIn("Not hidden: communication 400 us (without it a step would be 300-400 us shorter). Savings", text)
        self.assertIn("Savings replayed from 3 recorded steps, 99.0 % explained, replay error 2.00 %, 25.0 % of kernels' time beside others.", text)
        column = [head.strip() for head in page.locator("#table th").all_inner_texts()]
        place = next(i for i, head in enumerate(column) if head.startswith("saving"))
        shown = {(row[0].strip("▸▾ "), row[1]): row[place] for row in self.rows(page)}
        self.assertEqual([shown["conv", "forward"], shown["cast", "forward"], shown["relu", "forward"]], ["0-100 us", "0-20 us", "0"])
        names = [row[0].strip("▸▾ ") for row in self.rows(page)]
        self.assertLess(names.index("conv"), names.index("cast"))
        self.assertLess(names.index("cast"), names.index("relu"))

    def test_table_and_chart_mark_each_other(self):
        page = self.open(made_reports.net())
        page.locator("#table tr", has_text="relu").first.click()
        self.assertEqual(page.eval_on_selector_all(".dot.on", "dots => dots.map(dot => dot.dataset.name)"), ["Net/relu"])
        self.assertIn("dim", page.eval_on_selector(".dot[data-name='Net/conv']", "dot => dot.getAttribute('class')"))
        page.locator("#table tr", has_text="relu").first.click()  # once more lets go
        self.assertEqual(page.locator(".dot.on:not(:hover)").count() <= 1, True)
        page.locator(".dot[data-name='Net/conv']").first.click(force=True)
        pinned = page.eval_on_selector_all("#table tr.pinned", "rows => rows.map(row => row.cells[0].textContent)")
        self.assertEqual([text.strip("▸▾ ") for text in pinned], ["conv"])
        tip = page.inner_text("#tip")
        for part in ("Net/conv", "25 TFLOP/s", "25 % of FP32, theoretical", "200 FLOP/byte", "L1 unknown"):
            self.assertIn(part, tip)

    def test_what_metrics_collected_has_columns_and_lines(self):
        heads = "[...document.querySelectorAll('#table th')].map(each => each.textContent)"
        self.assertNotIn("occupancy", self.open(made_reports.net()).evaluate(heads))
        report = made_reports.net()
        unknown = dict.fromkeys(("occupancy", "warp_efficiency", "warp_efficiency_predicated", "branch_uniformity", "l1_hit_rate", "l2_hit_rate",
                                 "sectors_per_load", "sectors_per_store", "l2_sectors_per_request", "compute_throughput",
                                 "memory_throughput", "dram_throughput"))
        for row in (report["kernels"][0], report["layers"][2]):
            row["metrics"] = {**unknown, "occupancy": 0.25, "warp_efficiency": 0.75, "l2_hit_rate": 0.125, "sectors_per_load": 12,
                              "mix": {"integer": 0.2, "fp32": 0.5, "fp64": 0}, "memory_mix": {"local": 0.03}}
        report["kernels"][1]["metrics"] = {**unknown, "occupancy": 0.5, "mix": {}, "memory_mix": {}}
        page = self.open(report)
        shown = page.evaluate(heads)
        self.assertNotIn("L1 hits", shown)  # nobody knows them
        page.get_by_role("button", name="Open relu").click()
        rows = {row[0].strip("▸▾ "): row for row in self.rows(page)}
        for name in ("relu", "relu_kernel"):
            self.assertEqual([rows[name][shown.index(head)] for head in ("occupancy", "warp eff.", "L2 hits", "sectors/load")],
                             ["25 %", "75 %", "12.5 %", "12"])
        self.assertEqual(rows["cast"][shown.index("occupancy")], "unknown")
        page.get_by_role("button", name="occupancy").click()
        names = [row[0].strip("▸▾ ") for row in self.rows(page)]
        self.assertLess(names.index("relu"), names.index("cast"))  # unknown last
        page.locator(".dot[data-name='Net/relu']").first.hover(force=True)
        tip = " ".join(page.inner_text("#tip").split())
        for text in ("25 % of the warps that an SM holds", "warps 24 of 32 threads active", "cache hits L2 12.5 %", "sectors 12 for each load",
                     "thread instructions fp32 50 %, integer 20 %", "warp instructions local 3 %"):
            self.assertIn(text, tip)

    def test_a_compiled_region_names_its_modules(self):
        report = made_reports.net()
        modules = [{"name": f"block.{i}", "class": "Linear"} for i in range(14)]
        report["layers"][3]["compiled"] = {"modules": modules, "left_out": 3}
        page = self.open(report)
        page.locator(".dot[data-name='Net/conv']").first.hover(force=True)
        shown = page.inner_text("#tip")
        self.assertIn("block.0 (Linear), block.1 (Linear)", shown)
        self.assertIn("block.11 (Linear) and 5 more", shown)

    def test_a_pinned_parent_marks_all_below_it(self):
        page = self.open(made_reports.net())
        page.locator("#table tr", has_text="Net").first.click()
        self.assertEqual(page.locator(".dot.on").count(), 4)

    def test_kernels_of_a_layer_are_opened(self):
        page = self.open(made_reports.net())
        page.get_by_role("button", name="Open relu").click()
        self.assertIn("relu_kernel", [row[0].strip() for row in self.rows(page)])

    def test_search_finds_layers_and_kernels(self):
        page = self.open(made_reports.net())
        page.fill("#search", "GRAD")
        self.assertEqual([row[0].strip() for row in self.rows(page)], ["conv_grad_kernel"])
        self.assertEqual(page.inner_text("#found"), "1 row found")

    def test_a_search_in_the_flat_list_promises_nothing_twice(self):
        page = self.open(made_reports.net(), tree=False)
        page.fill("#search", "net")  # the name of what contains all others
        names = [row[0].strip("▸▾ ") for row in self.rows(page)]
        self.assertNotIn("Net", names)
        self.assertTrue(any("conv" in name for name in names), names)
        page.fill("#search", "conv_grad")
        self.assertEqual([row[0].strip() for row in self.rows(page)], ["conv_grad_kernel"])

    def test_copies_and_idle_time_have_rows(self):
        rows = {row[0]: row[2] for row in self.rows(self.open(made_reports.net()))}
        self.assertEqual(rows["no kernel runs (copies may)"], "500 us")
        self.assertEqual(rows["copies, host_to_device: 2, 4.1 kB"], "100 us")



class Page(PageTest):
    def test_playback_and_losses_are_said_at_the_top(self):
        report = made_reports.net()
        report["run"]["lost"] = {"records": 3, "windows": 0}
        report["run"]["notes"] = ["A sentence."]
        page = self.open(report)
        self.assertTrue(page.title().startswith("Gable [playback] python main.py"))
        self.assertEqual(page.inner_text("h1"), "[playback] python main.py")
        self.assertIn("Lost: 3 records", page.inner_text("#lost"))
        self.assertNotIn("windows", page.inner_text("#lost"))
        self.assertEqual(page.inner_text("#notes summary"), "1 note")
        self.assertEqual(self.open(made_reports.net()).inner_text("#lost"), "Nothing was lost.")

    def test_everything_by_keyboard(self):
        page = self.open(made_reports.net())
        page.focus("#chart")
        page.keyboard.press("ArrowRight")
        self.assertIn("Net/conv", page.inner_text("#tip"))  # the longest first
        page.keyboard.press("Enter")
        self.assertEqual(page.locator("#table tr.pinned").count(), 1)
        page.keyboard.press("Escape")
        self.assertEqual(page.locator("#table tr.pinned").count(), 0)
        self.assertTrue(page.locator("#tip").is_hidden())
        page.focus("#table tbody tr")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        self.assertEqual(page.locator("#table tr.pinned").count(), 1)

    def test_texts_can_be_read_in_light_and_dark(self):
        for scheme in ("light", "dark"):
            page = self.open(made_reports.net(), color_scheme=scheme)
            self.assertEqual(page.evaluate("() => document.documentElement.dataset.theme"), scheme)
            for selector in ("body", "#facts", ".unknown", ".axis text", ".roof-label", ".source"):
                ratio = page.evaluate("""selector => {
                    const luminance = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                        return .2126 * r + .7152 * g + .0722 * b; };
                    const node = document.querySelector(selector), style = getComputedStyle(node);
                    const a = luminance(node.closest("svg") ? style.fill : style.color), b = luminance(getComputedStyle(document.body).backgroundColor);
                    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }""", selector)
                self.assertGreaterEqual(ratio, 4.5, f"{selector} in {scheme}")
            page.click("#theme")
            self.assertNotEqual(page.evaluate("() => document.documentElement.dataset.theme"), scheme)

    def test_saved_csv_has_what_is_shown(self):
        page = self.open(made_reports.net())
        self.check(page, "kernels")
        self.uncheck(page, "backward")
        with page.expect_download() as download:
            page.click("#save-csv")
        self.assertEqual(download.value.suggested_filename, "gable-roofline-kernels.csv")
        with open(download.value.path(), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(io.StringIO(file.read())))
        self.assertEqual(sorted(row["name"] for row in rows), ["cast_kernel", "conv_kernel", "relu_kernel", "secret_kernel"])
        relu = next(row for row in rows if row["name"] == "relu_kernel")
        self.assertEqual((float(relu["flop_per_s"]), float(relu["roof_fraction"]), float(relu["saving_ns"]), relu["data"]), (1e12, 0.5, 5e4, "playback"))
        self.assertEqual(next(row for row in rows if row["name"] == "secret_kernel")["flops"], "")

    def test_saved_svg_stands_alone(self):
        page = self.open(made_reports.net())
        with page.expect_download() as download:
            page.click("#save-svg")
        with open(download.value.path(), encoding="utf-8") as file:
            text = file.read()
        root = xml.fromstring(text)
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual(len([node for node in root.iter() if "dot" in (node.get("class") or "").split()]), 4)
        self.assertIn("[playback]", root.find("{http://www.w3.org/2000/svg}title").text)
        self.assertNotIn("var(", text)
        self.assertIn("Arithmetic intensity [FLOP/byte]", text)

    def test_hostile_names_stay_names(self):
        names = ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "\"quotes' `and` ${more}", "<img src=x onerror=alert(3)>",
                 "\u202eright to left \u05e9\u05dc\u05d5\u05dd", "x" * 1_000_000, "=1+1", "__proto__", "a\nb\u2028c", "\ud83d\ude80"]
        layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(i + 1, 0, [name], 1e5) for i, name in enumerate(names)]
        kernels = [made_reports.kernel(i + 1, name, 1e8, 1e8, 1e5) for i, name in enumerate(names)]
        report = made_reports.report(layers, kernels)
        report["run"]["command"] = names[:4]
        report["run"]["notes"] = names[:4]
        path = self.write(report)
        with open(path, encoding="utf-8") as file:
            self.assertLess(len(file.read()), 1_500_000)
        page = self.open(path=path)
        shown = [row[0].strip("▸▾ ") for row in self.rows(page)]
        for name in names[:4]:
            self.assertIn(name, shown)
        self.assertEqual(page.evaluate("() => document.querySelectorAll('img, script').length"), 3)  # data, D3 and the page's own
        for key in ("ArrowRight",) * len(names):
            page.focus("#chart")
            page.keyboard.press(key)
            self.assertTrue(page.locator("#tip").is_visible())
        with page.expect_download() as download:
            page.click("#save-csv")
        with open(download.value.path(), encoding="utf-8", newline="") as file:
            self.assertIn("'=1+1", [row["name"] for row in csv.DictReader(io.StringIO(file.read()))])

    def test_ten_thousand_kernels(self):
        layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(i, 0, [f"block{i}"], 1e5) for i in range(1, 101)]
        kernels = [made_reports.kernel(1 + i % 100, f"kernel_{i % 500}", 1e6 * (1 + i % 977), 1e6 * (1 + i % 101), 1e5 + i) for i in range(10_000)]
        path = self.write(made_reports.report(layers, kernels))
        with open(path, encoding="utf-8") as file:
            self.assertLess(len(file.read()), 1_500_000)
        page = self.open(path=path)
        self.check(page, "kernels")
        # Reading the page's own canvas slows it down, and Chromium says so: a copy is read.
        painted = lambda: page.evaluate("""() => { const canvas = document.querySelector("#marks"), copy = new OffscreenCanvas(canvas.width, canvas.height);
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            return context.getImageData(0, 0, canvas.width, canvas.height).data.filter((value, i) => i % 4 === 3 && value > 100).length; }""")
        before = painted()
        self.assertGreater(before, 10_000)
        self.assertEqual(page.locator(".dot").count(), 0)  # so many are drawn on a canvas
        took = page.evaluate("() => { const start = performance.now(); document.querySelector('#search').value = 'kernel_7'; "
                             "document.querySelector('#search').dispatchEvent(new Event('input')); return performance.now() - start; }")
        print(f"page: 10,000 kernels, an answer to a search after {took:.0f} ms", file=sys.stderr)
        self.assertEqual(page.inner_text("#found"), f"{11 * 20} rows found")
        self.assertLess(painted(), before / 4)  # the others are faint
        page.focus("#chart")
        page.keyboard.press("ArrowRight")
        self.assertEqual(page.locator(".dot.on").count(), 1)  # what stands out is an element
        frames = page.evaluate("""() => { const chart = document.querySelector("#chart"), took = [];
            for (let i = 0; i < 10; ++i) {
              const start = performance.now();
              chart.dispatchEvent(new WheelEvent("wheel", { deltaY: -20, ctrlKey: true, clientX: 300, clientY: 400, bubbles: true, cancelable: true }));
              took.push(performance.now() - start);
            } return took.sort((a, b) => a - b)[5]; }""")
        print(f"page: 10,000 kernels, a step of zooming in {frames:.0f} ms", file=sys.stderr)

    def test_without_kernels_there_is_a_page(self):
        page = self.open(made_reports.report([made_reports.layer(0, None, [])], []))
        self.assertEqual(page.locator(".dot").count(), 0)


class Command(PageTest):
    def test_profile_writes_the_page_too(self):
        page = os.path.join(WORK, "profiled.html")
        recording = os.path.join(ROOT, "tests", "data", "recordings", "resnet50-train.jsonl")
        done = subprocess.run([GABLE, "profile", "-q", "--step-range", "^step$", "--active", "1", "-o", os.path.join(WORK, "profiled.json"), "--html", page,
                               "--playback", recording], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"Page: {page}\n", done.stderr)
        with open(page, encoding="utf-8") as file:
            self.assertLess(len(file.read()), 1_500_000)
        shown = self.open(path=page)
        self.assertTrue(shown.inner_text("h1").startswith("[playback]"))
        # The convolution of ResNet-50's head, 64 x 3 x 7 x 7 on 224 x 224: by published figures 236,027,904 FLOP an image.
        shown.fill("#search", "ResNet/conv1")
        row = next(row for row in self.rows(shown) if row[0].strip().endswith("ResNet/conv1") and row[1] == "forward")
        self.assertNotIn("unknown", row[7])
        self.assertGreater(sum(int(count) for count in shown.eval_on_selector_all(".dot", "dots => dots.map(dot => dot.dataset.count)")), 100)

    def test_a_report_is_not_overwritten_by_its_page(self):
        page = self.write(made_reports.net())
        report = os.path.join(os.path.dirname(page), "report0.json")
        for out, said in ((report, "is being read"), ("/no-such-folder/page.html", "cannot be written")):
            done = subprocess.run([GABLE, "report", report, "--html", out], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        with open(report, encoding="utf-8") as file:
            self.assertIn("gable", json.load(file))


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
