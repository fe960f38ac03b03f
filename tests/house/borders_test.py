# SPDX-License-Identifier: Apache-2.0
"""The compiler finds what a folder says that it uses, and nothing else: borders_test.py ROOT BUILD COMPILER."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import borders as house
import tree_rules as rules

ROOT, BUILD, COMPILER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


class TheBorders(unittest.TestCase):
    def setUp(self):
        self.borders = house.Borders(BUILD)

    def compile(self, folder, header):
        """What the compiler says of a source of `folder` that includes `header`."""
        roots = [word for root in self.borders.roots[folder] if str(root) != "/usr/include" for word in ("-I", str(root))]
        with tempfile.TemporaryDirectory() as here:
            source = pathlib.Path(here, "source.cpp")
            source.write_text(f'#include "{header}"\n', encoding="utf-8")
            done = subprocess.run([COMPILER, "-std=c++20", "-E", "-o", os.devnull, *roots, str(source)], text=True, capture_output=True, check=False,
                                  cwd="/")
        return done.stderr

    def test_no_include_crosses_one(self):
        problems = house.border_problems(rules.read_tree(ROOT), self.borders)
        self.assertEqual([], problems, "\n" + "\n".join(problems))

    def test_an_include_that_crosses_one_is_seen(self):
        for path, header in [("collector/queue/a.cpp", "collector/windows/windows.h"), ("analysis/events/a.h", "analysis/report/report.h"),
                             ("collector/cupti/a.h", "collector/layers/thread_state.h")]:
            self.assertEqual(1, len(house.border_problems({path: f'#include "{header}"'}, self.borders)), path)
        self.assertEqual(1, len(house.border_problems({"collector/elsewhere/a.cpp": ""}, self.borders)))
        self.assertEqual([], house.border_problems({"collector/queue/a.h": '#include "analysis/profile/profile.h"'}, self.borders))

    def test_the_compiler_does_not_find_what_lies_across(self):
        self.assertEqual("", self.compile("collector/queue", "collector/queue/phase_queue.h"))
        self.assertEqual("", self.compile("collector/queue", "analysis/profile/key_table.h"))
        self.assertRegex(self.compile("collector/queue", "collector/windows/windows.h"), "collector/windows/windows.h'?:? .*(No such file|not found)")

    def test_the_parts_point_one_way(self):
        self.assertGreater(len(self.borders.roots), 30, "these are not all folders")
        for folder in self.borders.roots:
            part = rules.folder_of(folder)
            for other in self.borders.visible(folder):
                self.assertIn(rules.folder_of(other), rules.ALLOWED[part], f"{folder} sees {other}")

    def test_the_page_has_every_folder_and_what_it_uses(self):
        page = (pathlib.Path(ROOT) / "docs" / "architecture.md").read_text(encoding="utf-8")
        rows = {found[0]: re.findall("`([^`]+)`", found[1]) for found in re.findall(r"^\| `([^`]+)` \|.*\|([^|]*)\|$", page, re.MULTILINE)}
        self.assertEqual(sorted(self.borders.roots), sorted(rows))
        for folder, uses in self.borders.uses.items():
            if uses:  # libraries that are made in another way say it in their own words
                self.assertEqual(sorted(uses), sorted(rows[folder]), folder)

    def test_folders_stand_on_floors(self):
        graph = house.Graph(rules.read_tree(ROOT))
        self.assertEqual(sorted(self.borders.roots), sorted(graph.floor))
        self.assertEqual([], graph.upward(), "\n" + "\n".join(graph.upward()))
        text = "\n".join(graph.lines())
        self.assertIn("includes that go up: none", text)
        self.assertEqual(graph.counts()[0], sum(graph.counts(part)[0] for part in rules.ALLOWED))

    def test_floors_and_counts_of_a_small_tree(self):
        files = {"analysis/a/a.h": "one\n", "analysis/b/b.cpp": '#include "analysis/a/a.h"\n', "analysis/b/b.h": "",
                 "tools/c/c.cpp": '#include "analysis/b/b.h"\n#include "analysis/a/a.h"\n', "tests/t.cpp": '#include "tools/c/c.h"\n'}
        graph = house.Graph(files)
        self.assertEqual({"analysis/a": 1, "analysis/b": 2, "tools/c": 3}, graph.floor)
        self.assertEqual([], graph.upward())
        self.assertEqual((3, 2, ("analysis/b", 2, 1), 0, 1), graph.counts("analysis"))
        self.assertEqual((4, 4, ("analysis/b", 2, 1), 1, 1), graph.counts())
        circle = house.Graph({**files, "analysis/a/a.cpp": '#include "analysis/b/b.h"\n', "analysis/0/0.cpp": '#include "analysis/b/b.h"\n'})
        self.assertEqual({"analysis/0": 2, "analysis/a": 1, "analysis/b": 1, "tools/c": 2}, circle.floor)
        self.assertEqual(2, len(circle.upward()))

    def test_the_root_is_in_no_path(self):
        for folder in self.borders.roots:
            self.assertFalse(self.borders.finds(folder, "CMakePresets.json"), folder)


if __name__ == "__main__":
    unittest.main()
