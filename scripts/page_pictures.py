#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the report page in docs/: the recording of a ResNet-50 training step, in light and dark.

    scripts/page_pictures.py GABLE      GABLE is the built program; runs with a Python that has Playwright
                                        (scripts/setup.sh --browser BUILD makes BUILD/browser/bin/python)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDING = "tests/data/recordings/resnet50-train.jsonl"


def page_of(gable, folder):
    page = pathlib.Path(folder) / "page.html"
    subprocess.run([os.path.abspath(gable), "profile", "-q", "--step-range", "^step$", "-o", f"{folder}/report.json", "--html", page,
                    "--playback", str(ROOT / RECORDING)], check=True, timeout=120, stderr=subprocess.DEVNULL)
    # A host's name and a date are no part of the picture.
    text = page.read_text(encoding="utf-8")
    text = text.replace(f'"hostname":"{os.uname().nodename}"', '"hostname":""')
    page.write_text(re.sub(r'"started_at":"[^"]*"', '"started_at":""', text), encoding="utf-8")
    return page


def main(gable):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = page_of(gable, folder)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            window = browser.new_page(viewport={"width": 1440, "height": 1000}, color_scheme=scheme)
            window.goto(f"file://{page}")
            window.locator(".dot[data-name$='layer4/2/conv2'].on, .dot[data-name$='layer4/2/conv2']").first.hover(force=True)
            window.screenshot(path=str(ROOT / "docs" / f"page-{scheme}.png"))
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
