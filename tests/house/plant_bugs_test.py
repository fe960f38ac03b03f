# SPDX-License-Identifier: Apache-2.0
"""The bugs that scripts/plant_bugs.py plants are small, and the same for the same seed: plant_bugs_test.py ROOT [unittest's arguments]."""
import itertools
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "scripts"))
import plant_bugs as bugs  # noqa: E402

SOURCE = '''// Copyright 1 < 2
#include <vector>
namespace gable {
/* a == b
   c && d; f(7); */
bool more(int a, int b) {
  static_assert(sizeof(int) == 4);
  say("left < right && 7");  // a + b == 3
  const char quote = '"', digits = '0';
  const auto text = R"(x < y
    z == 4;)";
  if (a < b) return true;
  const MutexLock hold(mutex_);
  total_ += a * 1'000;
  calls_.clear();
  return a == b || !known(a);
}
}
'''


OF_THE_TREE = bugs.bugs_in(ROOT)


def of_line(code, begins=True):
    return dict(bugs.bugs_of_line(code, bugs.code_only(code)[0], begins))


class TheOperators(unittest.TestCase):
    def test_each_changes_one_line_and_no_comment_or_text(self):
        drawn = list(itertools.chain.from_iterable(bugs.bugs_of("a.cpp", SOURCE)))
        self.assertGreater(len(drawn), 10)
        before = SOURCE.split("\n")
        for bug in drawn:
            after = bugs.planted(SOURCE, bug).split("\n")
            changed = [i for i, (old, new) in enumerate(zip(before, after)) if old != new]
            self.assertEqual([bug.line - 1], changed, bug)
            self.assertEqual(len(before), len(after))
        self.assertEqual({8, 12, 13, 14, 15, 16}, {bug.line for bug in drawn})
        for bug in drawn:
            if bug.line == 8:
                self.assertEqual(("statement left out", "  // a + b == 3"), (bug.operator, bug.after))

    def test_every_operator(self):
        self.assertEqual({"< to <=": "  if (a <= b) go(7);", "if negated": "  if (!(a < b)) go(7);", "7 to 8": "  if (a < b) go(8);",
                          "7 to 6": "  if (a < b) go(6);", "7 to 70": "  if (a < b) go(70);"}, of_line("  if (a < b) go(7);"))
        for line, operator, after in [
                ("  x = a >= b;", ">= to >", "  x = a > b;"), ("  x = a == b;", "== to !=", "  x = a != b;"),
                ("  x = a + b;", "+ to -", "  x = a - b;"), ("  x = a * b;", "* to /", "  x = a / b;"),
                ("  x = a && b;", "&& to ||", "  x = a || b;"), ("  while (more) {", "while negated", "  while (!(more)) {"),
                ("  return true;", "return true to return false", "  return false;"),
                ("  return a == b;", "return inverted", "  return !(a == b);"), ("  x = std::min(a, b);", "std::min to std::max", "  x = std::max(a, b);"),
                ("  const MutexLock hold(mutex_);", "lock left out", ""), ("  if (a) return;", "return left out", ""),
                ("  continue;", "continue left out", ""), ("  rows_.clear();", "statement left out", ""),
                ("  total += n;  // why", "statement left out", "  // why"), ("  x = 0.5;", "0.5 to 5", "  x = 5;")]:
            self.assertEqual(after, of_line(line).get(operator), line)

    def test_what_is_no_code_and_what_could_do_harm_is_left_alone(self):
        for line in ["#include <a>", "using A = B<3>;", "  // a < b", "  static_assert(a == 4);", "  assert(a < b);",
                     "  ::unlink(path);", "  if (a < b) kill(child, 9);", '#define A (a < b)', "}"]:
            self.assertEqual({}, of_line(line), line)
        # Types, references and parts of a longer statement are no operators and no statement.
        self.assertEqual({}, of_line("  std::vector<T>& rows(const T& a, T&& b);"))
        self.assertEqual({}, of_line("  other(a);", begins=False))
        self.assertEqual({}, of_line('  text = "a" + name + "b"', begins=False))


class TheDraw(unittest.TestCase):
    @staticmethod
    def drawn(seed, folders, count):
        return list(itertools.islice(bugs.draw(folders, seed), count))

    def test_the_same_seed_draws_the_same(self):
        self.assertEqual(self.drawn(7, OF_THE_TREE, 60), self.drawn(7, bugs.bugs_in(ROOT), 60))
        self.assertNotEqual(self.drawn(7, OF_THE_TREE, 60), self.drawn(8, OF_THE_TREE, 60))

    def test_folders_count_alike_and_no_line_comes_twice(self):
        lines = lambda name, count: [[bugs.Bug(f"{name}/a.cpp", i, "x", "a", "b")] for i in range(count)]
        drawn = self.drawn(1, {"large": lines("large", 10_000), "small": lines("small", 300)}, 400)
        small = sum(bug.path == "small/a.cpp" for bug in drawn)
        self.assertTrue(150 < small < 250, small)
        every = self.drawn(1, {"small": lines("small", 300)}, 1000)
        self.assertEqual(300, len({bug.line for bug in every}))
        self.assertEqual(300, len(every))

    def test_every_bug_of_the_tree_fits_its_line(self):
        for folder, lines in OF_THE_TREE.items():
            self.assertTrue(folder.startswith(bugs.PARTS), folder)
            for bug in itertools.chain.from_iterable(lines):
                self.assertNotEqual(bug.before, bug.after, bug)
                self.assertNotIn("\1", bug.after, bug)

    def test_tables_that_a_test_writes_are_left_out(self):
        written = {path for lines in OF_THE_TREE.values() for path, *_ in itertools.chain.from_iterable(lines)}
        self.assertNotIn("tools/playback/cupti/chip_tables.cpp", written)
        self.assertIn("tools/playback/cupti/chip_model.cpp", written)

    def test_every_folder_has_tests(self):
        programs = {p for _, others, _ in bugs.TESTS for p in others if p.startswith("test_")}
        for folder in OF_THE_TREE:
            self.assertTrue(any((folder + "/").startswith(place + "/") for place, _, _ in bugs.TESTS), folder)
        for program in programs:
            self.assertTrue(any(program == "test_" + "_".join(p.relative_to(ROOT / "tests/unit").parts)
                                for p in (ROOT / "tests/unit").rglob("*") if p.is_dir()), program)


class TheCount(unittest.TestCase):
    def test_equivalents_are_counted_apart(self):
        bug = bugs.Bug("tools/a/a.cpp", 1, "x", "a", "b")
        lines, share = bugs.summary([(bug, "someone", ""), (bug, "", ""), (bug, "", "because"), (bug, "someone", "")])
        self.assertEqual(["all", "4", "2", "1", "1"], lines[-1].split())
        self.assertAlmostEqual(200 / 3, share)

    def test_an_equivalent_has_a_reason(self):
        self.assertEqual({("a/b.cpp", "< to <=", "if (a < b) x = b;"): "They are equal then."},
                         bugs.read_equivalents("# What this is.\n\n# They are\n# equal then.\na/b.cpp: < to <=: if (a < b) x = b;\n"))
        with self.assertRaises(ValueError):
            bugs.read_equivalents("# What this is.\n\na/b.cpp: < to <=: if (a < b) x = b;\n")
        bugs.read_equivalents((ROOT / "scripts" / "plant_bugs.equivalent").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
