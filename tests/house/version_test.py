# SPDX-License-Identifier: Apache-2.0
"""The version stands in CMakeLists.txt, and everything else has it from there: version_test.py ROOT GABLE."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

import tree_rules as rules

ROOT, GABLE = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
PLACE = "CMakeLists.txt"
# Compared below; and files that some version of Gable wrote.
MAY_NAME_IT = ("docs/report.md", "scripts/package/conda/recipe.yaml", "CHANGELOG.md", "tests/data/", "tests/fuzz/corpus/")


def named_elsewhere(files, version):
    """Sources that name the version of `files` themselves."""
    own = re.compile(rf"""["'= ]v?{re.escape(version)}["' ]""")
    return [f"{path} names the version {version}: take it from {PLACE}" for path, text in sorted(files.items())
            if path != PLACE and not path.startswith(MAY_NAME_IT) and own.search(text)]


class TheVersion(unittest.TestCase):
    def setUp(self):
        self.files = rules.read_tree(ROOT)
        found = re.findall(r"^project\(gable VERSION ([0-9]+\.[0-9]+\.[0-9]+) ", self.files[PLACE], re.MULTILINE)
        self.assertEqual(1, len(found), f"{PLACE} has one line project(gable VERSION X.Y.Z …)")
        self.version = found[0]

    def gable(self, *words):
        return subprocess.run([GABLE, *words], capture_output=True, text=True, check=True, timeout=100).stdout

    def test_no_source_names_it_again(self):
        problems = named_elsewhere(self.files, self.version)
        self.assertEqual([], problems, "\n" + "\n".join(problems))

    def test_a_source_that_names_it_is_seen(self):
        for text in (f'VERSION = "{self.version}"\n', f"version = '{self.version}'\n"):
            self.assertEqual(1, len(named_elsewhere({"inject/python/gable_profiler/a.py": text}, self.version)), text)

    def test_pip_reads_it_there(self):
        text = self.files["pyproject.toml"]
        self.assertRegex(text, r'(?m)^dynamic = \["version"\]$')
        section = text.split("[tool.scikit-build.metadata.version]")[1].split("\n[")[0]
        self.assertIn(f'input = "{PLACE}"', section)
        found = re.search(re.search(r"(?m)^regex = '(.*)'$", section)[1], self.files[PLACE])
        self.assertEqual(self.version, found["value"], "pyproject.toml reads another version than CMake")

    def test_the_program_and_its_reports_have_it(self):
        self.assertEqual(f"gable {self.version}\n", self.gable("--version"))
        report = json.loads(self.gable("import", "--ncu", str(ROOT / "tests/data/import/ncu_details.csv"), "-o", "-"))
        self.assertEqual(self.version, report["gable"]["version"], "the report's version is another than the program's")

    def test_the_pages_have_it(self):
        page = self.files["docs/report.md"]
        self.assertEqual([self.version], re.findall(r'"version": "([^"]*)"', page), "docs/report.md shows another version")

    def test_the_recipe_for_conda_has_it(self):
        recipe = self.files["scripts/package/conda/recipe.yaml"]
        self.assertEqual([self.version], re.findall(r'(?m)^  version: "([^"]*)"$', recipe), "scripts/package/conda/recipe.yaml has another version")

    def test_the_list_of_changes_ends_with_it(self):
        """The newest heading is Unreleased or this version, and no version that was released is newer."""
        headings = re.findall(r"^## (\S+)", self.files["CHANGELOG.md"], re.MULTILINE)
        self.assertIn(headings[0], ("Unreleased", self.version), "CHANGELOG.md begins with another version")
        released = [tuple(map(int, name.split("."))) for name in headings if name != "Unreleased"]
        self.assertEqual(sorted(released, reverse=True), released, "CHANGELOG.md: newest first")
        self.assertTrue(all(one <= tuple(map(int, self.version.split("."))) for one in released),
                        f"CHANGELOG.md has a version after {self.version}: raise it in {PLACE}")


if __name__ == "__main__":
    unittest.main()
