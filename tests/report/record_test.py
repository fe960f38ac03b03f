# SPDX-License-Identifier: Apache-2.0
"""--record: what was written down from a run, played again, gives the same report; and says what it is and what it lacks."""

import json
import os
import unittest

import small
from gable_run import RECORDINGS, read_text, run_profile, work

# What a recording does not have: nobody wrote down when a thread waited, or how often a range was opened around launches. So the host
# that performs it is busy where the program's waited, and another chain is the critical path.
NOT_RECORDED = ("layer", "sync_ns", "path_ns", "step_saving_ns")


def copies_of(report):
    paths = {row["id"]: tuple(row["path"]) for row in report.document["layers"]}
    found = [dict(row, layer=paths.get(row["layer"])) for row in report.document["copies"]]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True, default=list))


class Record(small.SmallTest):
    def record(self, path, name, *options, environment=()):
        recording = work(name + ".rec.jsonl")
        run = run_profile(path, name + ".first", "--record", recording, *options, environment=environment)
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        self.assertTrue(os.path.exists(recording), run.err)
        return run, recording

    def again(self, recording, name, *options):
        run = run_profile(recording, name + ".again", *options)
        self.assertEqual((run.code, run.violations), (0, ""), run.err)
        return run.report

    def assert_same(self, first, again):
        """Kernels with times and counters to the last digit; layers, copies, devices and steps too."""
        self.assertEqual(first.kernels.keys(), again.kernels.keys())
        for key, row in first.kernels.items():
            for field, value in row.items():
                if field not in NOT_RECORDED:
                    self.assertEqual(again.kernels[key][field], value, (key, field))
        self.assertEqual(first.layers.keys(), again.layers.keys())
        for key, row in first.layers.items():
            for field in ("launches", "time_ns", "flops", "bytes", "roof"):
                self.assertEqual(again.layers[key][field], row[field], (key, field))
        self.assertEqual(first.document["devices"], again.document["devices"])
        self.assertEqual(copies_of(first), copies_of(again))
        # Consecutive ranges of one name are one in a recording, so that ranges in turn may say the steps there.
        found = {"border": 0, "period": 0}
        self.assertEqual({**first.run["steps"], **found}, {**again.run["steps"], **found})
        for field in ("wall_ns", "busy_ns", "idle_ns", "copy_ns"):
            self.assertEqual(first.document["step"][field], again.document["step"][field], field)

    def both(self, name, *options):
        path = name if os.path.isabs(name) else small.path_of(name)
        name = os.path.basename(name).removesuffix(".jsonl")
        first, recording = self.record(path, name, *options)
        report = self.again(recording, name, *options)
        self.assert_same(first.report, report)
        return first, recording, report

    def test_small_runs(self):
        for name in ("layers", "copies", "two_devices", "gpu_links", "two_threads", "two_streams", "graph", "graph_layers", "varying_work",
                     "launch_kinds", "start_end", "waits", "unknown_metric", "more_metrics", "two_contexts", "waves"):
            with self.subTest(name):
                self.both(name, *small.STEPS)

    def test_steps_that_nobody_named(self):
        for name in ("period", "no_steps", "once", "classes", "period_then_steps"):
            with self.subTest(name):
                self.both(name)

    def test_resnet50(self):
        """The whole step of a network: within its limit, and equal in every row."""
        first, recording, _ = self.both(os.path.join(RECORDINGS, "resnet50-train.jsonl"), "--step-range", "^step$")
        self.assertGreater(len(first.report.kernels), 400)
        self.assertLess(os.path.getsize(recording), 2_000_000)

    def test_steps_stand_in_it(self):
        """Played without the option that named them, the steps are the same."""
        first, recording = self.record(small.path_of("layers"), "named", *small.STEPS)
        report = self.again(recording, "named", "--active", "1")
        self.assert_same(first.report, report)
        self.assertEqual(report.run["unit"], "step")

    def test_says_where_it_is_from(self):
        """Nothing that was written down from playback passes for hardware's."""
        _, recording, again = self.both("layers", *small.STEPS)
        header = json.loads(read_text(recording).splitlines()[0])
        self.assertEqual(header["origin"], "playback")
        self.assertIn("of layers.jsonl; no GPU was involved", header["note"])
        self.assertEqual(again.run["source"], "playback")
        _, second = self.record(recording, "second", *small.STEPS)
        self.assertEqual(json.loads(read_text(second).splitlines()[0])["origin"], "playback")

    def test_what_was_not_collected_is_unknown(self):
        """A run without counters, played with them: no count is made up."""
        _, recording = self.record(small.path_of("layers"), "times", "--phases", "time", *small.STEPS)
        report = self.again(recording, "times", *small.STEPS)
        self.assertGreater(len(report.kernels), 0)
        for row in report.kernels.values():
            self.assertIsNone(row["bytes"]["dram"])
            self.assertIsNone(row["flops"]["fp32"])
        report = self.again(recording, "times", "--phases", "time", *small.STEPS)
        self.assertEqual({row["time_ns"]["mean"] for row in report.kernels.values()}, {10000, 40000})

    def test_values_of_single_launches(self):
        """A kind whose launches differ has each launch's own values, not only their mean."""
        _, recording, again = self.both("varying_work", *small.STEPS)
        own = [line for line in map(json.loads, read_text(recording).splitlines()) if line.get("op") == "launch" and "counters" in line]
        self.assertGreater(len(own), 0)
        self.assertTrue(any("mixed_work" in row["flags"] or row["flags"] for row in again.kernels.values()))

    def test_off_by_default(self):
        run = self.gable("layers")
        self.assertEqual(run.code, 0)
        self.assertFalse(any("recording" in note.lower() for note in run.report.run["notes"]), run.report.run["notes"])

    def test_a_former_recording_goes_and_nothing_else(self):
        _, recording = self.record(small.path_of("layers"), "former", *small.STEPS)
        before = read_text(recording)
        self.record(small.path_of("copies"), "former", *small.STEPS)
        self.assertNotEqual(read_text(recording), before)
        other = work("notes.txt")
        with open(other, "w", encoding="utf-8") as file:
            file.write("mine\n")
        run = run_profile(small.path_of("layers"), "refused", "--record", other)
        self.assertEqual(run.code, 2)
        self.assertIn("exists and is not a recording: give --record another name, or remove the file.", run.err)
        self.assertEqual(read_text(other), "mine\n")

    def test_what_cannot_be_had(self):
        run = run_profile(small.path_of("layers"), "scope", "--scope", "range", "--record", work("scope.jsonl"))
        self.assertEqual(run.code, 2)
        self.assertIn("--record, which keeps what each counted alone: leave one of them out.", run.err)
        run = run_profile(small.path_of("layers"), "folder", "--record", "/nowhere/at/all.jsonl")
        self.assertEqual(run.code, 2)
        self.assertIn("The folder /nowhere/at of --record does not exist", run.err)
        run = run_profile(small.path_of("layers"), "itself", "--record", small.path_of("layers"))
        self.assertEqual(run.code, 2)
        self.assertIn("--record names the recording that is played", run.err)


if __name__ == "__main__":
    unittest.main()
