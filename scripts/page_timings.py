#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast the report page is with many kernels, each of another name: its size, how long it takes until all is there,
a step of zooming, a key in the search, and the mouse over a point (medians).

    scripts/page_timings.py GABLE [KERNELS...]      GABLE is the built program; default 10000 and 100000 kernels; runs with a Python
                                                    that has Playwright (scripts/setup.sh --browser BUILD makes BUILD/browser/bin/python)
"""
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "page"))
import made_reports

LAYERS, TIMES = 2000, 9
SEARCH = """text => { const search = document.querySelector("#search"), start = performance.now();
  search.value = text;
  search.dispatchEvent(new Event("input"));
  return performance.now() - start; }"""
ZOOM = """() => { const chart = document.querySelector("#chart"), box = chart.getBoundingClientRect(), start = performance.now();
  chart.dispatchEvent(new WheelEvent("wheel", { deltaY: -20, ctrlKey: true, clientX: box.x + 300, clientY: box.y + 200, bubbles: true, cancelable: true }));
  return performance.now() - start; }"""
HOVER = """far => { const chart = document.querySelector("#chart"), box = chart.getBoundingClientRect(), start = performance.now();
  chart.dispatchEvent(new MouseEvent("mousemove", { clientX: box.x + far, clientY: box.y + 200, bubbles: true }));
  return performance.now() - start; }"""


def report(kernels):
    made = random.Random(1)
    layers = [made_reports.layer(0, None, [], 1e6)] + [made_reports.layer(i, 0, [f"block{i}"], 1e5) for i in range(1, LAYERS + 1)]
    return made_reports.report(layers, [
        made_reports.kernel(1 + i % LAYERS, f"void sgemm_{i}x{i * 7 % 512}_kernel<float, {i}, Layout<{i % 13}>>(params)", 1e6 * 10 ** made.uniform(0, 4),
                            1e4 * 10 ** made.uniform(0, 4), 1e5 + i) for i in range(kernels)])


def measure(gable, browser, kernels, folder):
    source, page = folder / "report.json", folder / "page.html"
    source.write_text(json.dumps(report(kernels)), encoding="utf-8")
    subprocess.run([gable, "report", source, "--html", page], check=True, stdout=subprocess.DEVNULL)
    window = browser.new_page(viewport={"width": 1440, "height": 900})
    window.goto(f"file://{page}")
    ready = window.evaluate("() => performance.getEntriesByType('navigation')[0].domComplete")
    window.locator("#options summary").click()
    window.get_by_label("kernels", exact=True).check()
    median = lambda script, values: statistics.median(window.evaluate(script, value) for value in values)
    zoom, hover = median(ZOOM, [None] * TIMES), median(HOVER, [150 + 20 * i for i in range(TIMES)])
    search = median(SEARCH, [f"sgemm_{i}" for i in range(TIMES)])
    print(f"{kernels:>8}  {page.stat().st_size / 1e6:>5.2f} MB  {ready:>5.0f} ms  {zoom:>5.0f} ms  {search:>5.0f} ms  {hover:>5.0f} ms")


def main(gable, *counts):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        print(" kernels      size     ready      zoom    search     hover")
        for count in counts or (10_000, 100_000):
            measure(gable, browser, int(count), pathlib.Path(folder))
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
