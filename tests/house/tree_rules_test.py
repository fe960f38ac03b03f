# SPDX-License-Identifier: Apache-2.0
"""The tree keeps its rules, and each rule notices when it does not: tree_rules_test.py ROOT [unittest's arguments]."""
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
        for path, line in [("inject/a.cpp", '#include "collector/x/b.h"'), ("inject/a.cpp", '#include "analysis/x/b.h"'),
                           ("collector/x/a.cpp", '#include "analysis/x/b.h"'), ("tools/x/a.cpp", '#include "collector/x/b.h"'),
                           ("tools/x/a.cpp", "#include <vector>"), ("tests/x/a.cpp", '#include "tools/x/b.h"')]:
            self.assert_includes(path, line, 0)
        for path, line in [("analysis/x/a.cpp", '#include "collector/x/b.h"'), ("analysis/x/a.h", '#include "tools/x/b.h"'),
                           ("collector/x/a.cpp", '#include "inject/b.h"'), ("tools/x/a.cpp", '#include "inject/b.h"'),
                           ("collector/x/a.cpp", '  #  include "tools/x/b.h"'), ("inject/a.cpp", '#include "tools/x/b.h"'),
                           ("inject/a.cpp", '#include "tests/b.h"'), ("collector/x/a.cpp", '#include "b.h"')]:
            self.assert_includes(path, line, 1)

    def test_cuda_is_included_where_it_is_met_alone(self):
        for header in ["cuda.h", "cupti.h", "nvtx3/nvToolsExt.h", "cuda_runtime_api.h", "generated_cuda_meta.h"]:
            for folder in ["collector/cupti", "tools/playback/driver", "tests/gpu"]:
                self.assert_includes(f"{folder}/a.cpp", f"#include <{header}>", 0)
            for folder in ["analysis/base", "tools/doctor", "inject", "collector/queue", "collector/session"]:
                self.assert_includes(f"{folder}/a.cpp", f"#include <{header}>", 1)

    def test_every_source_has_its_licence(self):
        self.assertEqual([], rules.licence_problems({"a.cpp": LICENCE, "b.sh": "#!/bin/sh\n# " + LICENCE, "c.json": "{}"}))
        self.assertEqual(3, len(rules.licence_problems({"a.cpp": "int x;", "b.py": "", "c/CMakeLists.txt": "\n\n\n\n" + LICENCE})))

    def test_folders_are_small_and_hold_the_sources(self):
        full = {f"tools/import/{i}.cpp": "" for i in range(40)}
        self.assertEqual([], rules.folder_problems({**full, "tools/CMakeLists.txt": "", "inject/entry.cpp": ""}))
        self.assertEqual(1, len(rules.folder_problems({**full, "tools/import/one_more.h": ""})))
        self.assertEqual(1, len(rules.folder_problems({"collector/beside.cpp": ""})))

    def test_no_file_hides_a_function_of_base_from_its_neighbours(self):
        base = {"analysis/base/display.h": "[[nodiscard]] std::string percent(const Maybe& share);\nconstexpr bool is_digit(char c) { return true; }\n"}
        self.assertEqual([], rules.hidden_name_problems({**base, "tools/a/b.cpp": "  return percent(1);\nint percents(int x) {}\n", "analysis/base/display.cpp": base["analysis/base/display.h"]}))
        self.assertEqual(2, len(rules.hidden_name_problems({**base, "tools/a/b.cpp": "std::string percent(double share) {\n}\nbool is_digit(char c) { return c; }\n"})))

    def test_the_oldest_python_can_read_what_is_installed(self):
        project = {"pyproject.toml": 'requires-python = ">=3.8"\n'}
        self.assertEqual([], rules.python_problems({**project, "inject/a.py": "if (x := 1): pass\n", "tests/b.py": "match 1:\n    case 1: pass\n"}))
        self.assertEqual(1, len(rules.python_problems({**project, "inject/a.py": "match 1:\n    case 1: pass\n"})))
        self.assertEqual(1, len(rules.python_problems({**project, "inject/a.py": "try: pass\nexcept* ValueError: pass\n"})))
        self.assertEqual(1, len(rules.python_problems({})))

    def test_names_are_alike(self):
        self.assertEqual([], rules.name_problems({"tests/a/x_test.py": "", "tools/a/b_2.cpp": "", "docs/B.py": ""}))
        self.assertEqual(2, len(rules.name_problems({"tests/a/test_x.py": "", "collector/a/Session.cpp": ""})))

    def test_the_top_level_is_closed(self):
        self.assertEqual([], rules.top_level_problems({"README.md": "", "tools/a.cpp": "", ".github/x": ""}))
        self.assertEqual(2, len(rules.top_level_problems({"src/a.cpp": "", "notes.txt": ""})))

    def test_every_test_is_run_by_something(self):
        lists = {"tests/a/CMakeLists.txt": "add_test(NAME x COMMAND a_test.py)", "tests/b/CMakeLists.txt": "gable_unit_test(b)"}
        self.assertEqual([], rules.test_problems({**lists, "tests/a/a_test.py": "", "tests/b/x_test.cpp": ""}))
        self.assertEqual(2, len(rules.test_problems({**lists, "tests/a/b_test.py": "", "tests/c/x_test.cpp": ""})))
        folders = {"tests/unit/a/CMakeLists.txt": "gable_folder_tests(a/b)\ngable_folder_tests(a/c x)\n"}
        tests = {f"tests/unit/a/{folder}/x_test.cpp": "" for folder in ("b", "c")}
        self.assertEqual([], rules.test_problems({**folders, **tests}))
        self.assertEqual(1, len(rules.test_problems({**folders, "tests/unit/a/d/x_test.cpp": ""})))


if __name__ == "__main__":
    unittest.main()
