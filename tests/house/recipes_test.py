# SPDX-License-Identifier: Apache-2.0
"""What CONTRIBUTING.md names exists, and the lists that its recipes keep in step agree: recipes_test.py ROOT BUILD."""
import fnmatch
import pathlib
import re
import sys
import unittest

import recipes
import tree_rules as rules

ROOT, BUILD = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))


def known_tests(folder=None):
    """Read as ctest reads them. A ctest within another takes the other's log away, of which scripts/test.sh prints the counts."""
    folder = folder or BUILD
    files = [*folder.glob("CTestTestfile.cmake"), *folder.glob("*_tests.cmake")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    # A program that lists tests and was not built.
    names = [f"{file.name}_NOT_BUILT" for file in folder.glob("*_include.cmake")
             if not file.with_name(file.name.replace("_include", "_tests")).exists()]
    names += [name.split()[0] for _, name in re.findall(r"^add_test\(\[(=*)\[(.*?)\]\1\]", text, re.MULTILINE)]
    return names + [name for below in re.findall(r'^subdirs\("([^"]+)"\)', text, re.MULTILINE) for name in known_tests(folder / below)]


def known_targets():
    """None where the build is none of Ninja's."""
    path = BUILD / "build.ninja"
    return set(re.findall(r"^build ([\w.-]+): phony", path.read_text(encoding="utf-8"), re.MULTILINE)) if path.exists() else None


def without_type(test):
    """Suite.Case of a test with parameters, which ctest calls Instance/Suite.Case/Value."""
    return re.sub(r"^(?:\w+/)?(\w+\.\w+)(?:/.*)?$", r"\1", test)


class ThePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        cls.page = recipes.Page(cls.text)
        cls.tests = known_tests()
        cls.built = not any(name.endswith("_NOT_BUILT") for name in cls.tests)  # all programs that list tests

    def test_paths_exist(self):
        paths = self.page.paths()
        self.assertGreater(len(paths), 40, "the page lost its paths, or this test no longer finds them")
        for path in paths:
            found = list(ROOT.glob(path.replace("NAME", "*")))
            self.assertTrue(found, f"CONTRIBUTING.md names {path}, which is not there")

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)#]+)\)", self.text):
            self.assertTrue("://" in target or (ROOT / target).exists(), f"CONTRIBUTING.md links to {target}, which is not there")

    def test_targets_and_programs_are_built(self):
        targets = known_targets()
        if targets is None:
            self.skipTest("only Ninja's targets are known")
        named = [target for value in self.page.options("--target") for target in value.split()]
        self.assertGreater(len(named), 4)
        for target in [*named, *self.page.programs()]:
            self.assertTrue(target in targets, f"CONTRIBUTING.md names {target}, which no build makes")

    def test_tests_are_found(self):
        patterns = list(self.page.options("--tests-regex"))
        self.assertGreater(len(patterns), 7)
        for pattern in patterns:
            for part in pattern.split("|"):
                if self.built or re.match(r"[\^a-z]", part):
                    self.assertTrue(any(re.search(part, name) for name in self.tests), f"CONTRIBUTING.md runs {part}, and no test matches")
        if not self.built:
            return
        for name in self.page.options("--gtest_filter"):
            self.assertTrue(any(fnmatch.fnmatch(without_type(test), name) for test in self.tests), f"CONTRIBUTING.md runs {name}, which is no test")
        for name in self.page.tests():
            self.assertTrue(any(name == without_type(test) for test in self.tests), f"CONTRIBUTING.md names the test {name}, which is not there")

    def test_methods_are_there(self):
        methods = self.page.methods()
        self.assertTrue(methods)
        for path, suite, method in methods:
            text = (ROOT / path).read_text(encoding="utf-8")
            self.assertRegex(text, rf"(?m)^class {suite}\(", path)
            self.assertRegex(text, rf"(?m)^    def {method}\(", path)

    def test_what_is_not_there_is_seen(self):
        page = recipes.Page("`tools/none.cpp` and `docs/NAME.md`\n```sh\ncmake --build build-ci --target a b && build-ci/bin/c --gtest_filter='D.*'\n"
                            "ctest --tests-regex '^e$|f'\npython3 -B tests/g_test.py H.test_i\n```\n`Jay.Kay`\n")
        self.assertEqual(["docs/NAME.md", "tests/g_test.py", "tools/none.cpp"], page.paths())
        self.assertEqual((["a b"], ["D.*"], ["^e$|f"]), tuple(list(page.options(name)) for name in ("--target", "--gtest_filter", "--tests-regex")))
        self.assertEqual((["c"], ["Jay.Kay"], [("tests/g_test.py", "H", "test_i")]), (page.programs(), page.tests(), page.methods()))


class TheLists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = rules.read_tree(ROOT)

    def test_agree(self):
        for rule in recipes.ALL:
            with self.subTest(rule.__name__):
                problems = rule(self.files)
                self.assertFalse(problems, "\n" + "\n".join(problems))

    def changed(self, rule, path, old, new, *expected):
        """`path` with `old` replaced, or without the file: the sentences that the rule then says begin with these."""
        files = dict(self.files)
        if old is None:
            del files[path]
        else:
            self.assertIn(old, files[path], f"{path}: this test plants its omission elsewhere now")
            files[path] = files[path].replace(old, new)
        self.says(rule, files, expected)

    def says(self, rule, files, expected):
        already = rule(self.files)
        problems = [problem for problem in rule(files) if problem not in already]
        self.assertEqual(len(expected), len(problems), problems)
        for sentence, problem in zip(expected, problems):
            self.assertTrue(problem.startswith(sentence), problem)

    def added(self, rule, path, *expected):
        """The same with a file that is new."""
        self.says(rule, {**self.files, path: ""}, expected)

    def test_a_metric_that_is_missing_is_named(self):
        rule, lookups = recipes.metric_problems, '"lts__t_sectors_lookup_hit.sum"'
        self.changed(rule, recipes.SETS, lookups, '"lts__t_bytes_new.sum"',
                     "docs/metrics.md lacks lts__t_bytes_new.sum", "the playback GPU does not know lts__t_bytes_new.sum: write tools/playback/",
                     "docs/metrics.md has lts__t_sectors_lookup_hit.sum, which is in no set")
        self.changed(rule, recipes.SETS, lookups, '"new__sass_metric.sum"', "docs/metrics.md lacks", "the playback GPU does not know",
                     "docs/metrics.md has")
        self.changed(rule, recipes.QUANTITIES, '{"l1tex__t_bytes.sum"', '{"l1tex__t_new.sum"', "docs/metrics.md lacks l1tex__t_new.sum, which counts bytes_l1")
        self.changed(rule, "analysis/events/quantities.h", "  bytes_l2,", "  bytes_l2,\n  bytes_l3,", recipes.QUANTITIES + " has no metric for Quantity::bytes_l3")
        self.changed(rule, recipes.SETS, '{"warps", "', '{"threads", "', "docs/commands/profile.md, --metrics, does not name the set `threads`",
                     "docs/commands/env.md, --metrics")
        self.changed(rule, "docs/report.schema.json", "^[a-z0-9]+__[a-z0-9_]+(", "^[k-z0-9]+__[a-z0-9_]+(",
                     "docs/report.schema.json allows no counter l1tex__t_sectors_lookup_hit.sum",
                     "docs/report.schema.json allows no counter l1tex__t_sectors.sum")

    def test_a_gpu_that_is_missing_is_named(self):
        rule = recipes.chip_problems
        self.changed(rule, recipes.CATALOGUE, '"RTX5090"', '"RTX6090"', "docs/commands/predict.md, --gpu, does not list `RTX6090`",
                     "docs/commands/predict.md, --gpu, lists `RTX5090`")
        self.changed(rule, recipes.RATES, "  return table;", "  add(13, 1, kOthers, {}, {}, {});\n  return table;",
                     "no board of compute capability 13.1 is held against analysis/roofline/chip_rates.cpp: add one to tests/unit/")
        self.changed(rule, recipes.CATALOGUE, ".compute_major = 11,", ".compute_major = 13,",
                     "analysis/roofline/chip_rates.cpp has no row for 13.0, the compute capability of JetsonAGXThor")
        self.changed(rule, recipes.PLANS, '{"GH100", ', '{"GH900", ', "docs/metrics.md has no part about GH900", recipes.PLANS + " has no row for GH100",
                     recipes.PRODUCTS + " names the chip GH100", recipes.TABLES + " names the chip GH100")

    def test_a_command_that_is_missing_is_named(self):
        rule = recipes.command_problems
        self.added(rule, "tools/commands/cmd_hello.cpp", "gable hello has no page: write docs/commands/hello.md")
        self.added(rule, "docs/commands/hello.md", "docs/commands/hello.md is the page of no command")
        self.changed(rule, "docs/commands/gable.md", "    gable dump REC", "    gable REC", "docs/commands/gable.md has no line `gable dump`")
        self.changed(rule, "README.md", "gable dump", "gable", "README.md does not name `gable dump`")

    def test_a_file_format_that_is_missing_is_named(self):
        rule = recipes.importer_problems
        self.changed(rule, recipes.IMPORT, '{"--nsys", ', '{"--new", ', *["gable import --new lacks"] * 7)
        self.changed(rule, "tests/fuzz/fuzz_ncu.cpp", None, None, "gable import --ncu lacks tests/fuzz/fuzz_ncu.cpp")
        self.changed(rule, "docs/import.md", "`--kineto` reads ", "", "gable import --kineto lacks docs/import.md: a part")
        self.changed(rule, "tests/import/CMakeLists.txt", "gable_import_test(nsys_test.py)", "", "gable import --nsys lacks tests/import/CMakeLists.txt")


if __name__ == "__main__":
    unittest.main()
