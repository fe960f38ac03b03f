# SPDX-License-Identifier: Apache-2.0
"""The tree keeps its rules, and each rule notices when it does not: test_tree_rules.py ROOT [unittest's arguments]."""
import sys
import unittest

import tree_rules as rules

ROOT = sys.argv.pop(1)
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


class TheTree(unittest.TestCase):
    def test_keeps_every_rule(self):
        files = rules.read_tree(ROOT)
        self.assertGreater(len(files), 50, "these are not all files of the repository")
        for folder in rules.ALLOWED:
            self.assertTrue(any(p.startswith(folder + "/") and p.endswith(".cpp") for p in files), folder)
        for rule in rules.ALL:
            with self.subTest(rule.__name__):
                problems = rule(files)
                self.assertEqual([], problems, "\n" + "\n".join(problems))


class TheRules(unittest.TestCase):
    def assert_includes(self, path, line, problems):
        self.assertEqual(problems, len(rules.include_problems({path: line})), f"{path}: {line}")

    def test_includes_point_one_way(self):
        for path, line in [("inject/a.cpp", '#include "collector/b.h"'), ("inject/a.cpp", '#include "analysis/b.h"'),
                           ("collector/a.cpp", '#include "analysis/b.h"'), ("tools/a.cpp", '#include "collector/metrics/plan.h"'),
                           ("tools/a.cpp", "#include <vector>"), ("tests/x/a.cpp", '#include "tools/b.h"')]:
            self.assert_includes(path, line, 0)
        for path, line in [("analysis/a.cpp", '#include "collector/b.h"'), ("analysis/a.h", '#include "tools/b.h"'),
                           ("collector/a.cpp", '#include "inject/b.h"'), ("tools/a.cpp", '#include "inject/b.h"'),
                           ("tools/a.cpp", '  #  include "collector/queue.h"'), ("inject/a.cpp", '#include "tools/b.h"'),
                           ("inject/a.cpp", '#include "tests/b.h"'), ("collector/a.cpp", '#include "b.h"')]:
            self.assert_includes(path, line, 1)

    def test_cuda_is_included_by_the_collector_alone(self):
        for header in ["cuda.h", "cupti.h", "nvtx3/nvToolsExt.h", "cuda_runtime_api.h", "generated_cuda_meta.h"]:
            self.assert_includes("collector/a.cpp", f"#include <{header}>", 0)
            self.assert_includes("tests/playback/a.cpp", f"#include <{header}>", 0)
            for folder in ["analysis", "tools", "inject"]:
                self.assert_includes(f"{folder}/a.cpp", f"#include <{header}>", 1)

    def test_every_source_has_its_licence(self):
        self.assertEqual([], rules.licence_problems({"a.cpp": LICENCE, "b.sh": "#!/bin/sh\n# " + LICENCE, "c.json": "{}"}))
        self.assertEqual(3, len(rules.licence_problems({"a.cpp": "int x;", "b.py": "", "c/CMakeLists.txt": "\n\n\n\n" + LICENCE})))

    def test_no_file_grows_too_long(self):
        self.assertEqual([], rules.length_problems({"a.cpp": "\n" * 400, "data.jsonl": "\n" * 9999}))
        self.assertEqual(1, len(rules.length_problems({"a.cpp": "\n" * 401})))

    def test_the_top_level_is_closed(self):
        self.assertEqual([], rules.top_level_problems({"README.md": "", "tools/a.cpp": "", ".github/x": ""}))
        self.assertEqual(2, len(rules.top_level_problems({"src/a.cpp": "", "notes.txt": ""})))

    def test_every_test_is_run_by_something(self):
        lists = {"tests/a/CMakeLists.txt": "add_test(NAME a COMMAND test_a.py)", "tests/b/CMakeLists.txt": "gable_unit_test(b)"}
        self.assertEqual([], rules.test_problems({**lists, "tests/a/test_a.py": "", "tests/b/x_test.cpp": ""}))
        self.assertEqual(2, len(rules.test_problems({**lists, "tests/a/test_b.py": "", "tests/c/x_test.cpp": ""})))


if __name__ == "__main__":
    unittest.main()
