# SPDX-License-Identifier: Apache-2.0
"""The table of hazards is green, and would be red.

GABLE_EVERY_CASE=1   every program by every way in, which takes minutes"""
import os
import subprocess
import tempfile
import unittest

import table
from table_case import ANY, INJECTION, PRELOAD, PROFILE, Case, bash, shell

EVERY_CASE = os.environ.get("GABLE_EVERY_CASE", "") not in ("", "0")


class Programs(unittest.TestCase):
    def test_all_do_the_same(self):
        summary = table.try_all(table.all_cases(), EVERY_CASE, tell=table.show)
        print(f"\n{summary}", flush=True)
        self.assertEqual(summary.red, [])
        self.assertGreater(summary.tried, 200)
        # Most programs had a session of Gable's in them, and it was alive to their end.
        self.assertGreater(summary.reports, summary.tried // 4)

    def test_long_form_has_two_hundred_programs_by_two_ways(self):
        cases = table.all_cases()
        self.assertEqual(len({case.name for case in cases}), len(cases))
        self.assertGreaterEqual(len([case for case in cases if len(case.ways) > 1]), 200)


class Differences(unittest.TestCase):
    """What the table is for: each of these was put into a library, which is loaded as Gable's is."""

    def red(self, spoils, program="echo out; echo err >&2; exit 3", **more):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "spoils.so")
            code = ("#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                    "static void at_end(void) { " + spoils + " }\n__attribute__((constructor)) static void begin(void) { atexit(at_end); }\n")
            subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", library], input=code, text=True, check=True)
            before, table.LIBRARY = table.LIBRARY, library
            try:
                summary = table.try_all([bash("spoilt", program, ways=(ANY, PRELOAD), **more)], True)
            finally:
                table.LIBRARY = before
        self.assertEqual(summary.tried, 2)
        return [" ".join(differences) for _, _, differences in summary.red]

    def test_nothing(self):
        self.assertEqual(self.red(""), [])

    def test_exit_code(self):
        for difference in self.red("_exit(4);"):
            self.assertIn("ends with 4, not 3", difference)

    def test_signal(self):
        for difference in self.red("kill(getpid(), SIGTERM);"):
            self.assertIn("ends with -15, not 3", difference)

    def test_standard_output(self):
        self.assertEqual(len(self.red('write(1, "x", 1);')), 2)

    def test_standard_error(self):
        self.assertEqual(len(self.red('write(2, "x\\n", 2);')), 2)
        self.assertEqual(self.red('write(2, "gable: a sentence\\n", 18);'), [])

    def test_file(self):
        for difference in self.red('open(".part", O_CREAT | O_WRONLY, 0600);'):
            self.assertIn("files that differ: .part", difference)

    def test_mode_of_a_file(self):
        self.assertEqual(len(self.red('chmod("in.txt", 0600);')), 2)

    def test_no_end(self):
        before, table.LONGEST_S = table.LONGEST_S, 1
        try:
            self.assertEqual(len(self.red("sleep(30);")), 2)
        finally:
            table.LONGEST_S = before


class Ways(unittest.TestCase):
    def test_each_leads_in(self):
        for case, ways in ((shell("a program", "cat in.txt"), (PRELOAD, INJECTION, PROFILE)),
                           (Case("hazard", ("{hazard}", "return"), gpu=False), (PRELOAD, INJECTION, PROFILE))):
            for way in ways:
                with self.subTest(way), tempfile.TemporaryDirectory() as base:
                    tried = table.try_case(case, (way,), base, 1)
                    self.assertEqual(tried.results, {way: []})
                    self.assertGreater(tried.reports, 0)

    def test_a_program_can_be_run_by_hand(self):
        with tempfile.TemporaryDirectory() as base:
            lines = list(table.by_hand(shell("a program", "cat; echo err >&2; exit 3", stdin=b"first\n"), base))
            self.assertEqual(len(lines), 2 * 5)
            for about, line in zip(lines[::2], lines[1::2]):
                done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=120, check=True)
                self.assertEqual((done.stdout.splitlines()[-2:], about[0]), (["first", "ended with 3"], "#"), line)
                self.assertIn("err\n", done.stderr)

    def test_what_is_missing_is_counted(self):
        summary = table.try_all([shell("x", "true", "no-such-program", ways=(ANY, PRELOAD))], True)
        self.assertEqual(str(summary), "hazards: 0 tried, 0 the same, 2 skipped (no no-such-program: 2)")


if __name__ == "__main__":
    unittest.main()
