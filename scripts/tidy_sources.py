#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the sources clang-tidy shall read: tidy_sources.py BUILD FOLDER…

Those in the folders that BUILD's compile commands compile and git knows.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    build, folders = sys.argv[1], tuple(folder + "/" for folder in sys.argv[2:])
    commands = json.loads((ROOT / build / "compile_commands.json").read_text())
    compiled = {str(pathlib.Path(command["file"]).resolve()) for command in commands}
    known = subprocess.run(["git", "ls-files", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True)
    for path in known.stdout.splitlines():
        if path.startswith(folders) and str(ROOT / path) in compiled:
            print(path)


main()
