#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the README's picture: what the program prints for the quickstart's recording, as it prints it.

    scripts/readme_picture.py GABLE [OUT]      GABLE is the built program; OUT is docs/first-table.svg unless given
"""
import html
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDING = "tests/data/recordings/resnet50-train.jsonl"
OPTIONS = ["--step-range", "^step$"]
COLUMN, LINE, MARGIN, TITLE = 8.4, 19, 16, 30
STYLE = """
  .page { fill: #14171c } .bar { fill: #232830 }
  text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d6dae0; white-space: pre }
  .title { fill: #9aa3ae } .prompt { fill: #7fd38a } .head { fill: #8ab4f8 } .note { fill: #9aa3ae } .source { fill: #f2b457 }
"""


def table(gable):
    """The lines that the program prints, without the path of the report, which depends on where one stands."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "GABLE_OPTIONS" and not k.endswith("_INJECTION64_PATH")}
        run = subprocess.run([os.path.abspath(gable), "profile", *OPTIONS, "-o", "report.json", "--playback", str(ROOT / RECORDING)],
                             cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if run.returncode != 0 or "[playback]" not in run.stderr:
        raise SystemExit(f"readme_picture: {gable} ended with {run.returncode} and printed\n{run.stderr}")
    return [line for line in run.stderr.splitlines() if not line.startswith("Report: ")]


def kind_of(line, before):
    if line.startswith("[playback]"):
        return "source"
    if line.startswith("layer  "):
        return "head"
    return "note" if line.startswith(("Next:", "Nothing", "Unknown:", "Not counted:", "Lost")) or before.startswith("[playback]") else ""


def svg(lines):
    prompt = f"$ gable profile --step-range '^step$' --playback …/{RECORDING.rsplit('/', 1)[1]}"
    rows = [("prompt", prompt), ("", "")]
    rows += [(kind_of(line, lines[i - 1] if i else ""), line) for i, line in enumerate(lines)]
    width = max(len(text) for _, text in rows) * COLUMN + 2 * MARGIN
    height = TITLE + len(rows) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
           f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
           "<title>gable profile on the playback GPU: the layers of a ResNet-50 training step</title>",
           f"<style>{STYLE}</style>",
           f'<rect class="page" width="100%" height="100%" rx="8"/><rect class="bar" width="100%" height="{TITLE}" rx="8"/>',
           f'<text class="title" x="{MARGIN}" y="20">ResNet-50, one training step, from playback: no GPU was involved</text>']
    for i, (kind, text) in enumerate(rows):
        if text:
            # The stated length keeps columns aligned whatever font is there.
            out.append(f'<text class="{kind}" x="{MARGIN}" y="{TITLE + MARGIN + (i + 1) * LINE - 5}" xml:space="preserve" '
                       f'textLength="{len(text) * COLUMN:.1f}" lengthAdjust="spacingAndGlyphs">{html.escape(text, quote=False)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs" / "first-table.svg"
    out.write_text(svg(table(sys.argv[1])), encoding="utf-8")


main()
