#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the report page in docs/: the recording of a ResNet-50 training step, in light, in dark and on a phone, and
the page of two runs of the worked example; and of a fleet's page, whose jobs are made of that step's report.

    scripts/page_pictures.py GABLE      GABLE is BUILD/bin/gable; runs with a Python that has Playwright
                                        (scripts/setup.sh --browser BUILD makes BUILD/browser/bin/python), and needs scripts/setup.sh --fleet BUILD
"""
import json
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


def page_of_fleet(gable, folder):
    """A week of jobs of 256 ranks: in one layer some ranks are slow, another became slower, and so did a node."""
    sys.path.insert(0, str(ROOT / "tests" / "fleet"))
    import synthetic
    template = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    slower = next(layer for layer in template["layers"] if layer["path"][-2:] == ["2", "conv2"] and layer["direction"] == "forward")
    template["kernels"] = []
    for day in range(1, 8):
        if day == 5:
            slower["time_ns"]["self"] = round(slower["time_ns"]["self"] * 1.6)
        job = folder / "reports" / f"resnet50-{day}"
        job.mkdir(parents=True)
        for rank in range(256):
            report = synthetic.one_rank(template, rank, {41: 0.12, 170: 0.16}.get(rank, 0.07 if rank // 8 == 20 and day > 3 else 0))
            report["run"]["started_at"] = f"2026-03-{day:02}T08:00:00Z"
            (job / f"rank{rank}.json").write_text(json.dumps(report), encoding="utf-8")
    python = pathlib.Path(gable).parents[1] / "fleet" / "bin" / "python"
    run(gable, "export", folder / "reports", "--parquet", folder / "week", "--python", python)
    run(gable, "fleet", folder / "week", "--html", folder / "fleet.html", "--python", python)
    return folder / "fleet.html"


def main(gable):
    gable = os.path.abspath(gable)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = pathlib.Path(made)
        page, two = page_of(gable, folder), page_of_two(gable, folder)
        fleet = page_of_fleet(gable, folder)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def picture(name, of, width, height, scheme="light"):
            window = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            window.goto(f"file://{of}")
            window.wait_for_timeout(1500)  # plots are drawn after the page has come
            window.screenshot(path=str(ROOT / "docs" / f"{name}.png"))

        for scheme in ("light", "dark"):
            picture(f"page-{scheme}", page, 1440, 1000, scheme)
        picture("page-phone", page, 390, 844)
        picture("page-diff", two, 1440, 700)
        picture("page-fleet", fleet, 1440, 1000)
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
