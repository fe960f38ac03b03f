# SPDX-License-Identifier: Apache-2.0
"""The program and the library built with the headers of another release of CUDA: each folder with a source that includes CUPTI's
headers is compiled anew, at once, and everything else is the build's own."""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import tempfile

import wheels

FLAGS = ("-std=c++20", "-O0", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-DNDEBUG", "-Wall", "-Wextra", "-Werror",
         "-Wno-subobject-linkage", f"-DGABLE_VERSION=\"{os.environ['GABLE_VERSION']}\"")
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


def folders(*patterns):
    """The folders below these that need CUPTI's headers, with their sources."""
    known, found = {}, {}
    for pattern in patterns:
        for folder in sorted(glob.glob(os.path.join(wheels.SOURCE, pattern, ""))):
            sources = sorted(glob.glob(os.path.join(folder, "*.cpp")))
            if any(includes_cupti(path, known) for path in sources):
                found[os.path.relpath(folder, wheels.SOURCE)] = [path for path in sources if os.path.basename(path) != "main.cpp"]
    return found


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
        anew = {part: folders(part, part + "/*") for part in ("collector", "inject", "tools")}
        anew["tools"]["tools/commands"].append(os.environ["GABLE_COMMANDS"])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = {part: list(pool.map(self.object_of, found.items())) for part, found in anew.items()}
        replaced = {"libgable_" + folder.replace("/", "_") + ".a" for found in anew.values() for folder in found}
        libraries = [path for path in os.environ["GABLE_LIBRARIES"].split(":") if os.path.basename(path) not in replaced]
        libraries = ["-Wl,--start-group", *libraries, "-Wl,--end-group"]
        for below in ("bin", "lib"):
            os.mkdir(os.path.join(self.folder, below))
        self.program = os.path.join(self.folder, "bin", "gable")
        self.run(*os.environ["GABLE_MAIN"].split(":"), *objects["tools"], *objects["collector"], *libraries, "-o", self.program,
                 "-lsqlite3", "-lz", "-ldl", "-pthread")
        self.run("-shared", *objects["inject"], *objects["collector"], *libraries, "-Wl,--gc-sections", "-Wl,-z,nodelete",
                 "-Wl,--version-script=" + os.path.join(wheels.SOURCE, "inject", "exports.map"),
                 "-o", os.path.join(self.folder, "lib", "libgable_inject.so"), "-ldl", "-pthread")
        os.symlink(os.environ["GABLE_PLAYBACK_FOLDER"], os.path.join(self.folder, "lib", "playback"))

    def run(self, *words):
        done = subprocess.run([os.environ["GABLE_COMPILER"], *words], capture_output=True, text=True, check=False, timeout=280)
        if done.returncode != 0:
            raise AssertionError(done.stderr[:4000])

    def compile(self, *words):
        self.run(*FLAGS, *self.includes, *words)

    def object_of(self, folder):
        """Of a folder's name and its sources."""
        name, sources = folder
        target = os.path.join(self.folder, name.replace("/", "_"))
        with open(target + ".cpp", "w", encoding="utf-8") as file:
            file.writelines(f'#include "{path}"\n' for path in sources)
        self.compile("-include", os.path.join(self.folder, "common.h"), "-c", target + ".cpp", "-o", target + ".o")
        return target + ".o"

    def remove(self):
        shutil.rmtree(self.folder)
