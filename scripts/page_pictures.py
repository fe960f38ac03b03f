#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the report page in docs/: the recording of a ResNet-50 training step, in light, in dark and on a phone, and
the page of two runs of the worked example.

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


def without_date(page):
    """A host's name and a date are no part of the picture."""
    text = page.read_text(encoding="utf-8")
    text = text.replace(f'"hostname":"{os.uname().nodename}"', '"hostname":""')
    page.write_text(re.sub(r'"started_at":"[^"]*"', '"started_at":""', text), encoding="utf-8")
    return page


def run(*command):
    subprocess.run([str(each) for each in command], check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def page_of(gable, folder):
    run(gable, "profile", "-q", "--step-range", "^step$", "-o", f"{folder}/report.json", "--html", f"{folder}/page.html", "--playback", ROOT / RECORDING)
    return without_date(folder / "page.html")


def page_of_two(gable, folder):
    run(sys.executable, ROOT / "tests" / "recordings" / "worked_example.py", folder / "example")
    for name in ("slow", "tf32"):
        run(gable, "profile", "-q", "--playback", folder / "example" / f"{name}.jsonl", "-o", folder / f"{name}.json")
    run(gable, "diff", folder / "slow.json", folder / "tf32.json", "--html", folder / "diff.html")
    return without_date(folder / "diff.html")


def main(gable):
    gable = os.path.abspath(gable)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = pathlib.Path(made)
        page, two = page_of(gable, folder), page_of_two(gable, folder)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def picture(name, of, width, height, scheme="light"):
            window = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            window.goto(f"file://{of}")
            window.screenshot(path=str(ROOT / "docs" / f"{name}.png"))

        for scheme in ("light", "dark"):
            picture(f"page-{scheme}", page, 1440, 1000, scheme)
        picture("page-phone", page, 390, 844)
        picture("page-diff", two, 1440, 700)
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
