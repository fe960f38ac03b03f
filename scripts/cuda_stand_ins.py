#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts a library without a function's body into PyTorch's folder for each of CUDA's that is missing: PyTorch does not load
without them, and calls none on a CPU. They are gigabytes.

    cuda_stand_ins.py FOLDER    torch/lib, of a PyTorch for CUDA that was installed without what it needs
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def missing_in(folder):
    """What its libraries need and is neither there nor in one of NVIDIA's packages nor of the system."""
    needed = set()
    for path in glob.glob(os.path.join(folder, "*.so*")):
        needed.update(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", path)))
    there = {os.path.basename(path) for path in glob.glob(os.path.join(folder, "*"))}
    there |= {os.path.basename(path) for path in glob.glob(os.path.join(folder, "..", "..", "nvidia", "*", "lib", "*"))}
    of_system = output("/sbin/ldconfig", "-p")
    return {name for name in needed - there if f"\t{name} " not in of_system and not name.startswith("libcuda.so")}


def stem_of(name):
    """libcublas.so.12 gives cublas, with which its functions begin."""
    return re.match(r"lib(\w+?)(-\w+)?\.so", name)[1]


def functions_of(folder, stems):
    """{stem: {version, which may be empty: its functions}} that the folder's libraries want."""
    wanted = collections.defaultdict(lambda: collections.defaultdict(set))
    owner = re.compile("(" + "|".join(sorted(map(re.escape, stems), key=len, reverse=True)) + ")[A-Z]", re.IGNORECASE)
    for path in glob.glob(os.path.join(folder, "*.so*")):
        for line in output("nm", "-D", "--undefined-only", "--with-symbol-versions", path).splitlines():
            function, _, version = line.split()[-1].partition("@")
            found = owner.match(function)
            stem = found and next((each for each in stems if each.lower() == found[1].lower()), None)
            if stem:
                wanted[stem][version.lstrip("@")].add(function)
    return wanted


def make(path, name, versions):
    with tempfile.TemporaryDirectory() as work:
        source, script = os.path.join(work, "functions.c"), os.path.join(work, "versions")
        with open(source, "w", encoding="utf-8") as file:
            for function in sorted(set().union(*versions.values())):
                file.write(f"void {function}(void) {{ __builtin_trap(); }}\n")
        with open(script, "w", encoding="utf-8") as file:
            for version, functions in versions.items():
                if version:
                    file.write(f"{version} {{ global: {'; '.join(sorted(functions))}; }};\n")
        named = [f"-Wl,--version-script={script}"] if any(versions) else []
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", path, f"-Wl,-soname,{name}", *named, source], check=True)


def main(folder):
    names = sorted(missing_in(folder))
    wanted = functions_of(folder, [stem_of(name) for name in names])
    for name in names:
        make(os.path.join(folder, name), name, wanted[stem_of(name)])


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    main(sys.argv[1])
