#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages of the command pages: man.py PAGES OUT VERSION DATE

docs/commands/NAME.md becomes OUT/gable-NAME.1, and gable.md becomes OUT/gable.1. Needs lowdown.
"""
import pathlib
import re
import subprocess
import sys


def plain(text):
    """Links become their text: a manual page has no other pages to lead to."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def cells(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def body(lines):
    """Tables of options become lists of terms, which fit every terminal; headings go up by one level."""
    out = []
    for line in lines:
        if re.match(r"\|\s*-+", line) or re.match(r"\| \w* ?\|( \w+)?\s*\|$", line):
            continue
        if line.startswith("|"):
            first, *rest = cells(line)
            terms = re.sub(r"`([^`]*)`", r"**\1**", first)
            out += ["", terms, "", ": " + " ".join(rest), ""]
        elif line.startswith("## "):
            out.append("# " + line[3:].upper())
        elif line.startswith("### "):
            out.append("## " + line[4:])
        else:
            out.append(line)
    return out


def manual(name, text):
    lines = [line for line in plain(text).splitlines() if not line.startswith("<!--")]
    while lines and (not lines[0] or lines[0].startswith("# ")):
        lines.pop(0)
    synopsis = []
    while lines and (not lines[0] or lines[0].startswith("    ")):
        synopsis.append(lines.pop(0))
    paragraph = " ".join(lines[:lines.index("")] if "" in lines else lines).replace("`", "")
    summary = re.split(r"(?<=[a-z0-9)])[.:;] ", paragraph + " ")[0].rstrip(". ")
    summary = summary[0].lower() + summary[1:]
    form = [*synopsis, ""] if synopsis else ["    gable COMMAND [options]", ""]
    others = "**gable**(1)" if name != "gable" else "**gable-profile**(1), **gable-report**(1), **gable-doctor**(1)"
    return "\n".join([f"# NAME\n\n{name} - {summary}\n\n# SYNOPSIS\n", *form, "# DESCRIPTION\n", *body(lines), "", "# SEE ALSO", "", others])


def main():
    pages, out, version, date = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    out.mkdir(parents=True, exist_ok=True)
    for page in sorted(pages.glob("*.md")):
        name = "gable" if page.stem == "gable" else "gable-" + page.stem
        made = subprocess.run(["lowdown", "-s", "-Tman", "--out-no-smarty", "--parse-no-intraemph", f"-mtitle={name}", "-msection=1",
                               f"-msource=gable {version}", f"-mdate={date}", "-mvolume=Gable"], input=manual(name, page.read_text(encoding="utf-8")), text=True, check=True,
                              capture_output=True)
        (out / (name + ".1")).write_text(made.stdout, encoding="utf-8")


main()
