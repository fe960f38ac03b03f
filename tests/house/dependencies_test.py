# SPDX-License-Identifier: Apache-2.0
"""What the build looks for is what the recipes for conda and Spack ask for, at the same versions: dependencies_test.py ROOT."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
CMAKE = "scripts/cmake/GableDependencies.cmake"
CONDA, SPACK = "scripts/package/conda/recipe.yaml", "scripts/package/spack/spack_repo/gable/packages/gable_profiler/package.py"
# By the name that CMake looks for: conda-forge's and Spack's.
NAMES = {
    "nlohmann_json": ("nlohmann_json", "nlohmann-json"),
    "CLI11": ("cli11", "cli11"),
    "ZLIB": ("zlib", "zlib-api"),
    "SQLite3": ("libsqlite", "sqlite"),
    "rapidjson/document.h": ("rapidjson", "rapidjson"),
    "protozero/pbf_reader.hpp": ("protozero", "protozero"),
}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def looked_for(text):
    """Name and least version, or "", of each package that CMake looks for."""
    found = {}
    for words in re.findall(r"foreach\(_package ([^)]*)\)", text):
        for name, *version, _ in (word.split(":") for word in words.split()):
            found[name] = version[0] if version else ""
    return found | {header: "" for header in re.findall(r"find_path\(\w+ (\S+)\)", text)}


def conda_asks_for(text):
    """Name and least version of each package in the lists of requirements."""
    lists = text.split("\nrequirements:")[1].split("\n  ignore_run_exports:")[0]
    return {name: version for name, version in re.findall(r"(?m)^    - ([\w-]+)(?: >=(\S+))?$", lists)}


def spack_asks_for(text):
    return {name: version for name, version in re.findall(r'depends_on\("([\w-]+)(?:@([\d.]+):)?', text)}


class Dependencies(unittest.TestCase):
    def setUp(self):
        self.wanted = looked_for(read(CMAKE))

    def test_each_has_its_names(self):
        self.assertEqual(sorted(NAMES), sorted(self.wanted), f"{CMAKE} looks for others: name them here and in the recipes")

    def test_both_recipes_ask_for_each_at_the_same_version(self):
        conda, spack = conda_asks_for(read(CONDA)), spack_asks_for(read(SPACK))
        for name, version in self.wanted.items():
            for place, asked, own in ((CONDA, conda, NAMES[name][0]), (SPACK, spack, NAMES[name][1])):
                with self.subTest(name, place=place):
                    self.assertIn(own, asked, f"{place} does not ask for {own}")
                    if version:
                        self.assertEqual(version, asked[own], f"{place} asks for another {own} than {CMAKE}")

    def test_cmake_is_as_new_as_the_build_asks(self):
        version = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", read("CMakeLists.txt"))[1]
        self.assertEqual(version, conda_asks_for(read(CONDA))["cmake"])
        self.assertEqual(version, spack_asks_for(read(SPACK))["cmake"])

    def test_both_recipes_take_the_same_d3(self):
        commits = [re.findall(r"\b[0-9a-f]{40}\b", text) for text in (read(CONDA), read("scripts/package/spack/spack_repo/gable/packages/d3/package.py"))]
        self.assertEqual(1, len(commits[0]))
        self.assertEqual(commits[0], commits[1])


if __name__ == "__main__":
    unittest.main()
