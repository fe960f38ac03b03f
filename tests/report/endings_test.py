# SPDX-License-Identifier: Apache-2.0
"""Ways in which a program can end, where a recording can carry them; tests/hazards has real programs for the rest (fork,
dlopen and dlclose, handlers of the program's own, SIGKILL)."""
import signal
import unittest

from small import SmallTest, gable_run, path_of


class Endings(SmallTest):
    def check(self, name, code):
        report = self.report(name, code=code, out="before the end\n")
        self.assert_plain_step(report)
        self.assert_steps(report, seen=9, hw=4, flops=1, time=1)
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


class TooShort(SmallTest):
    """One step of nine, and then the end: what was launched is not denied, and how much is missing is said."""
    ENOUGH = "9 steps of the same launches are enough"

    def end(self, how, code, *options):
        with open(path_of("nine_steps"), encoding="utf-8") as file:
            text = file.read().replace('"times": 9', '"times": 1')
        path = gable_run.work("one_step_%s.jsonl" % how)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + '{"op": "exit", "how": "%s", "code": %d}\n' % (how, code))
        return gable_run.run_profile(path, "one_step_%s" % how, *options)

    def check(self, how, code, *options):
        run = self.end(how, code, *options)
        self.assertNotIn("no CUDA kernel launch", run.err)
        self.assert_steps(run.report, needed=9)
        self.assertIn(self.ENOUGH, " ".join(run.err.split()))
        return run

    def test_one_step(self):
        run = self.check("return", 0, "--step-range", "^step$")
        self.assert_steps(run.report, seen=1, hw=0, flops=0, time=0)
        self.assert_noted(run.report, "The program ended before anything was measured: " + self.ENOUGH)
        self.assertIn("9 steps of the same launches are enough, and it had 1.", " ".join(run.err.split()))
        self.assertNotIn("gable doctor", run.err)

    def test_one_step_that_nobody_named(self):
        run = self.check("return", 0, "--window", "4")
        self.assertIn("--step-range", run.err)

    def check_without_report(self, how, code, ending):
        run = self.end(how, code, "--step-range", "^step$")
        self.assertIsNone(run.report)
        self.assertIn("the program launched kernels, but ended " + ending, run.err)

    def test_no_report_after_an_abort(self):
        self.check_without_report("abort", 0, "by signal 6")

    def test_no_report_after_a_crash(self):
        self.check_without_report("signal", signal.SIGSEGV, "by signal 11")

    def test_no_report_after_underscore_exit(self):
        self.check_without_report("_exit", 3, "by _exit")

    def test_a_signal_that_leaves_time_leaves_a_report(self):
        run = self.end("signal", signal.SIGTERM, "--step-range", "^step$")
        self.assertNotIn("no CUDA kernel launch", run.err)
        self.assertEqual(run.report.layer((), "none")["launches"], 9)


if __name__ == "__main__":
    unittest.main()
