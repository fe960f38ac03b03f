#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clang's thread-safety analysis of sources: check_locks.py BUILD FOLDER|SOURCE...

With the compile commands of BUILD, but by clang++-14 and without making anything. Other warnings are other tools' work. A source
that reaches analysis/base/mutex.h by no include has no lock that could be checked, and is left out."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = ROOT / "analysis" / "base" / "mutex.h"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
CHECK = ["clang++-14", "-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]


def without_precompiled(arguments):
    """GCC's precompiled headers are none for clang; a source includes what it uses."""
    kept = []
    for argument in arguments:
        if argument.endswith("/cmake_pch.hxx") and kept and kept[-1] == "-include":
            kept.pop()
        else:
            kept.append(argument)
    return kept


def reaches_words(path, known):
    """Whether a file is, or includes by any way, what has the words that clang checks. `known`: answers so far."""
    if path not in known:
        known[path] = path == WORDS
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            file = next((f for f in (ROOT / name, path.parent / name) if f.exists()), None)
            if file and reaches_words(file.resolve(), known):
                known[path] = True
    return known[path]


def commands(build, wanted):
    """One command for each source that is wanted, or lies in a folder that is, by its path."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not path.is_relative_to(ROOT) or wanted.isdisjoint((path.relative_to(ROOT).parts[0], str(path.relative_to(ROOT)))):
            continue
        arguments = shlex.split(entry["command"])[1:]
        at = arguments.index("-o")
        kept = [a for a in arguments[:at] + arguments[at + 2:] if a != "-c" and not a.startswith("-W")]
        found[path] = (CHECK + without_precompiled(kept), entry["directory"])
    return found


def check(command):
    done = subprocess.run(command[0], cwd=command[1], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def main():
    build, wanted = pathlib.Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    todo = commands(build, wanted)
    if not todo:
        sys.exit(f"check_locks: {build}/compile_commands.json names no source in {', '.join(sorted(wanted))}.")
    known = {}
    todo = {path: command for path, command in todo.items() if reaches_words(path, known)}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [text for code, text in pool.map(check, todo.values()) if code != 0]
    if failed:
        sys.exit("\n".join(failed))
    print(f"lint: locks: {len(todo)} sources with locks use what a mutex guards with it held")


if __name__ == "__main__":
    main()
