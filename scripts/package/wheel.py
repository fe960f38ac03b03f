#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel of a build that portable.sh's compiler made: wheel.py BUILD STAGE OUT

BUILD is the build folder, STAGE what stage.sh made of it: its licences and its list of parts go into the wheel, which pip's build alone
does not give. Runs in the environment of `scripts/setup.sh --package`. The same build gives the same bytes. Prints the wheel's path.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env={**os.environ, **more})
    if done.returncode != 0:
        sys.exit(f"wheel: {words[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def built(build, arch, toolchain, into):
    """As `pip install .` makes it, in a build folder that is finished already."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "-w", into,
        f"--config-settings=build-dir={build}", f"--config-settings=cmake.args=--toolchain={toolchain}", ROOT,
        _PYTHON_HOST_PLATFORM=f"linux-{arch}")
    (wheel,) = into.glob("*.whl")
    return wheel


def complete(folder, stage, platform):
    """Licences and parts where installers look for them (PEP 639 and 770), and the platform that was compiled for."""
    (info,) = folder.glob("*.dist-info")
    docs = stage / "share" / "doc" / "gable-profiler"
    shutil.copytree(docs / "licenses", info / "licenses" / "licenses")
    (info / "sboms").mkdir()
    shutil.copy(docs / "sbom.spdx.json", info / "sboms")
    files = "".join(f"License-File: licenses/{path.name}\n" for path in sorted((docs / "licenses").iterdir()))
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    (info / "METADATA").write_text(metadata.replace("License-File: LICENSE\n", "License-File: LICENSE\n" + files, 1), encoding="utf-8")
    tags = (info / "WHEEL").read_text(encoding="utf-8")
    (info / "WHEEL").write_text(re.sub(r"^Tag: .*$", f"Tag: py3-none-{platform}", tags, flags=re.MULTILINE), encoding="utf-8")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def main():
    build, stage, out = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    toolchain = pathlib.Path(re.search(r"^CMAKE_TOOLCHAIN_FILE:\w+=(.*)$", cache, re.MULTILINE).group(1))
    arch = toolchain.parent.name
    platform = "manylinux_" + (toolchain.parent / "glibc").read_text(encoding="utf-8").strip().replace(".", "_") + "_" + arch
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        run(sys.executable, "-m", "wheel", "unpack", "-d", work / "unpacked", built(build, arch, toolchain, work))
        (folder,) = (work / "unpacked").iterdir()
        complete(folder, stage, platform)
        (work / "packed").mkdir()
        run(sys.executable, "-m", "wheel", "pack", "-d", work / "packed", folder)
        (wheel,) = (work / "packed").iterdir()
        # What it says of itself, read from its files by those who say what a wheel may need.
        said = " ".join(run(sys.executable, "-m", "auditwheel", "show", wheel).split())
        if f'"{platform}"' not in said:
            sys.exit(f"wheel: it is no {platform}: {said}")
        out.mkdir(parents=True, exist_ok=True)
        print(shutil.copy(wheel, out))


main()
