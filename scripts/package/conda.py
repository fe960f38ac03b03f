#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A package for conda, mamba and pixi: conda.py STAGE OUT

STAGE is a folder made by stage.sh of a build of portable.sh. Runs in the environment of `scripts/setup.sh --package`, and needs no channel:
the package depends on nothing but the C library, as the others do. The same stage gives the same bytes. Prints the package's path.
"""
import datetime
import os
import pathlib
import re
import shutil
import sys
import tempfile

from rattler_build import assemble_package

MACHINES = {62: ("linux-64", "x86_64"), 183: ("linux-aarch64", "aarch64")}  # by ELF's numbers
# What prefixes have in common; the rest stays together in a folder of Gable's own.
SHARED = {"share/man": "share/man", "share/bash-completion": "share/bash-completion", "share/zsh": "share/zsh", "share/fish": "share/fish",
          "include/gable.h": "include/gable.h", "bin": "lib/gable/bin", "lib": "lib/gable/lib"}


def machine_of(program):
    with open(program, "rb") as file:
        return MACHINES[int.from_bytes(file.read(20)[18:20], "little")]


def version_of(stage):
    page = (stage / "share" / "man" / "man1" / "gable.1").read_text(encoding="utf-8")
    return re.search(r"\d+\.\d+\.\d+", page).group()


def main():
    stage, out = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    program = stage / "bin" / "gable"
    platform, machine = machine_of(program)
    docs = stage / "share" / "doc" / "gable-profiler"
    with tempfile.TemporaryDirectory() as work:
        files = pathlib.Path(work) / "files"
        for source, target in SHARED.items():
            (files / target).parent.mkdir(parents=True, exist_ok=True)
            if (stage / source).is_dir():
                shutil.copytree(stage / source, files / target, symlinks=True)
            else:
                shutil.copy2(stage / source, files / target)
        (files / "bin").mkdir()
        (files / "bin" / "gable").symlink_to("../lib/gable/bin/gable")
        shutil.copytree(docs, files / "share" / "doc" / "gable-profiler")
        made = assemble_package(
            name="gable-profiler", version=version_of(stage), target_platform=platform, build_string=f"{machine}_0", output_dir=pathlib.Path(work) / "out",
            files_dir=files, license="Apache-2.0", summary="Per-layer rooflines of unmodified CUDA programs in one run", depends=["__glibc >=2.28"],
            license_files=sorted((docs / "licenses").iterdir()), detect_prefix=False, compression_threads=1,
            timestamp=datetime.datetime.fromtimestamp(int(os.stat(program).st_mtime), datetime.timezone.utc))
        out.mkdir(parents=True, exist_ok=True)
        print(shutil.copy(made.path, out))


main()
