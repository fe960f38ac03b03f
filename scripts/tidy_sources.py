#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the sources clang-tidy shall read: tidy_sources.py BUILD [COMMIT].

All sources of ours in BUILD's compile commands; with COMMIT only those that changed since, or that include, directly or
through other headers of ours, one that did.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def our_sources(build):
    commands = json.loads((ROOT / build / "compile_commands.json").read_text())
    known = subprocess.run(["git", "ls-files", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = set(known.stdout.split("\n"))
    paths = {str(pathlib.Path(c["file"]).resolve()) for c in commands}
    inside = sorted(str(pathlib.Path(p).relative_to(ROOT)) for p in paths if p.startswith(str(ROOT) + "/"))
    return [p for p in inside if p in tracked]


def includes(path, seen):
    """Every file of ours that `path` includes, itself too."""
    if path in seen or not (ROOT / path).is_file():
        return seen
    seen.add(path)
    for name in INCLUDE.findall((ROOT / path).read_text(errors="replace")):
        includes(name, seen)
    return seen


def main():
    sources = our_sources(sys.argv[1])
    if len(sys.argv) > 2 and sys.argv[2]:
        diff = subprocess.run(["git", "diff", "--name-only", sys.argv[2]], cwd=ROOT, capture_output=True, text=True,
                              check=True)
        changed = set(diff.stdout.split("\n"))
        if ".clang-tidy" not in changed:
            sources = [s for s in sources if includes(s, set()) & changed]
    for source in sources:
        print(source)


main()
