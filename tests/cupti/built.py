# SPDX-License-Identifier: Apache-2.0
"""The program and the library built with the headers of another release of CUDA: what includes CUPTI's headers is compiled
anew, everything else is the build's own."""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import tempfile

import wheels

FLAGS = ("-std=c++20", "-O0", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-DNDEBUG", "-Wall", "-Wextra", "-Werror")
# Precompiled: the headers are most of the work.
COMMON = ("collector/cupti/cupti_api.h", "algorithm", "atomic", "chrono", "functional", "map", "mutex", "optional", "thread")


def includes_cupti(path, known):
    """Whether a file includes one of CUPTI's headers, through others of the tree or itself."""
    if path not in known:
        known[path] = False
        found = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found = file.read()
        parts = re.findall(r'#include "((?:analysis|collector|inject|tools)/[^"]+)"', found)
        known[path] = "#include <cupti" in found or any(
            includes_cupti(os.path.join(wheels.SOURCE, part), known) for part in parts)
    return known[path]


def sources(*folders):
    known = {}
    return [path for folder in folders for path in sorted(glob.glob(os.path.join(wheels.SOURCE, folder, "*.cpp")))
            if folder == "inject" or includes_cupti(path, known)]


class Built:
    """bin/gable and lib/libgable_inject.so, built with the headers of one release."""

    def __init__(self, release):
        self.folder = tempfile.mkdtemp(prefix=f"built-{release}-", dir=os.environ["GABLE_WORK"])
        self.includes = [flag for folder in wheels.includes(release) for flag in ("-isystem", folder)]
        self.includes += ["-I" + wheels.SOURCE]
        common = os.path.join(self.folder, "common.h")
        with open(common, "w", encoding="utf-8") as file:
            file.writelines(f"#include <{name}>\n" for name in COMMON)
        self.compile("-x", "c++-header", common, "-o", common + ".gch")
        folders = {"collector": "collector/*", "inject": "inject", "tools": "tools/*"}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = {folder: list(pool.map(self.object_of, sources(pattern))) for folder, pattern in folders.items()}
        libraries = ["-Wl,--start-group", *os.environ["GABLE_LIBRARIES"].split(":"), "-Wl,--end-group"]
        for below in ("bin", "lib"):
            os.mkdir(os.path.join(self.folder, below))
        self.program = os.path.join(self.folder, "bin", "gable")
        self.run(*os.environ["GABLE_MAIN"].split(":"), *objects["tools"], *objects["collector"], *libraries, "-o", self.program,
                 "-lsqlite3", "-lz", "-ldl", "-pthread")
        self.run("-shared", *objects["inject"], *objects["collector"], *libraries, "-Wl,--gc-sections", "-Wl,-z,nodelete",
                 "-Wl,--version-script=" + os.path.join(wheels.SOURCE, "inject", "exports.map"), "-Wl,--exclude-libs,ALL",
                 "-o", os.path.join(self.folder, "lib", "libgable_inject.so"), "-ldl", "-pthread")
        os.symlink(os.environ["GABLE_PLAYBACK_FOLDER"], os.path.join(self.folder, "lib", "playback"))

    def run(self, *words):
        done = subprocess.run([os.environ["GABLE_COMPILER"], *words], capture_output=True, text=True, check=False, timeout=280)
        if done.returncode != 0:
            raise AssertionError(done.stderr[:4000])

    def compile(self, *words):
        self.run(*FLAGS, *self.includes, *words)

    def object_of(self, source):
        target = os.path.join(self.folder, os.path.relpath(source, wheels.SOURCE).replace(os.sep, "_") + ".o")
        self.compile("-include", os.path.join(self.folder, "common.h"), "-c", source, "-o", target)
        return target

    def remove(self):
        shutil.rmtree(self.folder)
