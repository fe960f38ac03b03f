#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clang's thread-safety analysis of the sources in the given folders: check_locks.py BUILD FOLDER...

With the compile commands of BUILD, but by clang++-14 and without making anything. Other warnings are other tools' work."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECK = ["clang++-14", "-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]


def commands(build, folders):
    """One command for each source, by its path."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in folders:
            continue
        arguments = shlex.split(entry["command"])[1:]
        at = arguments.index("-o")
        kept = [a for a in arguments[:at] + arguments[at + 2:] if a != "-c" and not a.startswith("-W")]
        found[path] = (CHECK + kept, entry["directory"])
    return found


def check(command):
    done = subprocess.run(command[0], cwd=command[1], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def main():
    build, folders = pathlib.Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    todo = commands(build, folders)
    if not todo:
        sys.exit(f"check_locks: {build}/compile_commands.json names no source in {', '.join(sorted(folders))}.")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [text for code, text in pool.map(check, todo.values()) if code != 0]
    if failed:
        sys.exit("\n".join(failed))
    print(f"lint: locks: {len(todo)} sources use what a mutex guards with it held")


if __name__ == "__main__":
    main()
