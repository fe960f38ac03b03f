# SPDX-License-Identifier: Apache-2.0
"""Ways in which a program can end, where a recording can carry them; tests/hazards has real programs for the rest (fork,
dlopen and dlclose, handlers of the program's own, SIGKILL)."""
import signal
import unittest

from small import SmallTest


class Endings(SmallTest):
    def check(self, name, code):
        report = self.report(name, code=code, out="before the end\n")
        self.assert_plain_step(report)
        self.assert_steps(report, seen=8, hw=4, flops=1, time=1)
        self.assert_nothing_lost(report)

    def test_exit_inside_ranges(self):
        self.check("exit_in_range", 7)

    def test_underscore_exit(self):
        self.check("underscore_exit", 8)

    def test_quick_exit(self):
        self.check("quick_exit", 9)

    def test_exception(self):
        self.check("exception", 128 + signal.SIGABRT)

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT)

    def test_signal(self):
        for _ in range(5):  # the signal may find the report half written
            self.check("signal", 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
