# SPDX-License-Identifier: Apache-2.0
"""Builds scripts/package/conda/recipe.yaml with rattler-build: conda_recipe.py CUDA D3 CHANNEL OUT

The new folder CHANNEL becomes a channel with a package for each name that the recipe asks for: empty where this machine's compilers and
libraries stand in for those of conda-forge, and with the headers of the toolkit CUDA for NVIDIA's. The script D3 stands in for the
repository that the recipe fetches. The package, which has passed the recipe's tests, is in the new folder OUT, and its path is printed. Needs
patchelf, which conda-forge brings.
"""
import asyncio
import os
import pathlib
import subprocess
import sys
import tempfile

import rattler
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, ToolConfiguration, VariantConfig, assemble_package
from rattler_build.progress import ProgressCallback

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLATFORM, TARGET = {"x86_64": ("linux-64", "x86_64-linux"), "aarch64": ("linux-aarch64", "sbsa-linux")}[os.uname().machine]
cuda, d3, channel, out = (pathlib.Path(word).resolve() for word in sys.argv[1:])


def recipe_of(folder):
    """The recipe, where D3 is the one of this machine."""
    text = (ROOT / "scripts" / "package" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    repository = folder / "d3"
    repository.mkdir()
    (repository / "d3.min.js").write_bytes(d3.read_bytes())
    (repository / "LICENSE").write_text("D3's licence\n", encoding="utf-8")
    git = ["git", "-C", str(repository), "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "D3"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    lines = []
    for line in text.splitlines():
        key = line.strip().lstrip("- ").split(":")[0]
        if key in ("git", "rev"):
            line = line[:line.index(key)] + f"{key}: " + {"git": repository.as_uri(), "rev": commit}[key]
        elif key == "path":
            line = line[:line.index(key)] + f"path: {ROOT}"
        lines.append(line)
    path = folder / "recipe.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Stage0Recipe.from_file(path)


def render(recipe):
    variants = VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]})
    return recipe.render(variants, RenderConfig(PlatformConfig(target_platform=PLATFORM)))


def asked_for(variant):
    """Name and a version of each package that the recipe builds with."""
    wanted = variant.recipe.requirements.to_dict()
    for spec in (*wanted["build"], *wanted["host"]):
        name, _, version = spec.partition(" ")
        yield name, version.strip(">=.*") or "1"


class Log(ProgressCallback):
    """What the build says, to standard error."""

    def on_log(self, event):
        print(event.message, file=sys.stderr)


async def make_channel(packages, work):
    for place in (PLATFORM, "noarch"):
        (channel / place).mkdir(parents=True)
    for name, version in packages:
        files = work / "files" / name
        files.mkdir(parents=True)
        if name == "cuda-cupti-dev":
            (files / "targets").mkdir()
            (files / "targets" / TARGET).symlink_to(cuda)
        assemble_package(name=name, version=version, target_platform=PLATFORM, build_string="0", output_dir=channel / PLATFORM, files_dir=files)
    await rattler.index.index_fs(channel)


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        variant, = render(recipe_of(work))
        asyncio.run(make_channel(asked_for(variant), work))
        result = variant.run_build(ToolConfiguration(test_strategy="native"), output_dir=out, channels=[channel.as_uri()], progress_callback=Log())
        print(*result.packages)


main()
sys.stdout.flush()
os._exit(0)  # py-rattler's threads now and then crash an interpreter that ends
