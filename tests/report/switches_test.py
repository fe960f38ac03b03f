# SPDX-License-Identifier: Apache-2.0
"""What only a real GPU can tell (docs/recordings.md, Switches): the finished report is the same under every answer. Where an
answer changes what can be known, what is lost is null and said, and nothing is wrong."""
import copy
import os
import unittest

from small import CONV, PUSHED_NS, RELU, STEPS, SmallTest, gable_run, longer, path_of

SWITCHES = {
    "range_order": ["reversed"],
    "same_name_ranges": ["separate"],
    "user_ranges": ["overlapping"],
    "ranged_threads": ["starter"],
    "graphs_in_auto_ranges": ["dropped", "ranged"],
    "graphs_in_replay": ["ranged"],
    "graph_clones": ["cloned", "untold"],
    "graph_records": ["captured"],
    "copies_in_auto_ranges": ["ranged"],
    "capture_in_window": ["drops_ranges"],
    "late_modules": ["unpatched"],
    "second_config": ["allowed", "refused"],
    "target_level": ["zero", "minimum"],
    "profiler_objects": ["one_per_context", "one"],
    "start_in_callback": ["refused"],
    "stop_thread": ["starter"],
    "current_context": ["own"],
    "permission_asked_at": ["initialize", "set_config", "start"],
    "sass_permission": ["not_needed"],
    "engine_start": ["keeps_activity"],
    "engine_end": ["resets_activity"],
    "activity_with_counters": ["works"],
    "kernel_records": ["silent", "one_missing"],
    "correlation": ["runtime"],
    "cupti": ["12.6", "12.8", "12.9", "13.1", "13.2", "13.3", "13.4", "13.5"],
    "older_driver": ["accepted"],
    "range_limit": ["size_2000", "config_2000", "start_2000"],
    "range_overflow": ["counted"],
    "user_range_time": ["exact"],
    "start_modules": ["loaded"],
}
AUTO = STEPS + ("--ranges", "auto")
# Name of the case: recording and options.
CASES = {
    "two_streams": ("two_streams", STEPS),
    "two_contexts": ("two_contexts", STEPS),
    "two_devices": ("two_devices", STEPS),
    "two_threads": ("two_threads", STEPS),
    "two_classes": ("two_classes", STEPS),
    "graph": ("graph", STEPS),
    "graph, automatic ranges": ("graph", AUTO),
    "graph_layers": ("graph_layers", STEPS),
    "graph_recaptured": ("graph_recaptured", STEPS),
    "layers, ranges": ("layers", STEPS + ("--scope", "range")),
    "layers, replay": ("layers", STEPS + ("--replay", "kernel")),
    "copies": ("copies", STEPS),
    "copies, automatic ranges": ("copies", AUTO),
    "module_in_step": ("module_in_step", STEPS),
    "capture_in_step": ("capture_in_step", STEPS),
    "context_in_window": ("context_in_window", STEPS),
    "no_permission": ("no_permission", STEPS),
    "lost_records": ("lost_records", STEPS),
    "unknown_metric": ("unknown_metric", STEPS),
}
# Cases for every change; the others, and the releases of CUPTI between these, are for scripts/nightly.sh.
MARKED = ("two_streams", "two_contexts", "two_threads", "two_classes", "graph_layers", "layers, ranges", "layers, replay", "copies",
          "module_in_step", "capture_in_step")
MARKED_CUPTIS = ("12.6", "13.1", "13.5")
EVERY_CASE = os.environ.get("GABLE_EVERY_CASE", "") not in ("", "0")
# Where the answer changes what can be known; tested one by one below.
DIFFERENT = {
    ("user_ranges", "two_streams"), ("ranged_threads", "two_threads"),
    ("copies_in_auto_ranges", "copies, automatic ranges"),
    ("capture_in_window", "capture_in_step"),
    ("profiler_objects", "two_contexts"), ("profiler_objects", "two_devices"), ("profiler_objects", "context_in_window"),
    ("permission_asked_at", "no_permission"), ("sass_permission", "no_permission"),
}
RANGE_TIMES = ("gpu__time_duration.sum", "sm__cycles_elapsed.avg")
EVERYWHERE = {"kernel_records", "correlation"}


def what_counts(report, switch=None):
    """The report without what no two runs share, or what the answer is about."""
    document = copy.deepcopy(report.document)
    for field in ("started_at", "wall_time_s", "pid", "overhead", "command", "hostname"):
        document["run"].pop(field, None)
    for row in document["layers"]:
        row.pop("cpu_ns", None)  # real time of the player, not the recording's
    if switch == "ranged_threads":
        # The first window counts nothing for the library's own thread, is lost, and is taken again by the program's. A run that is
        # long enough has everything all the same.
        for field in ("total", "steps", "lost", "notes"):
            document["run"].pop(field)
    for row in document["kernels"]:
        if switch == "ranged_threads":
            row.pop("samples")
        if switch == "user_range_time":
            row["counters"] = {name: value for name, value in row["counters"].items() if name not in RANGE_TIMES}
    return document


class Switches(SmallTest):
    def run_case(self, case, switch=None, value=None):
        recording, options = CASES[case]
        environment = {"GABLE_PLAYBACK_SWITCHES": f"{switch}={value}"} if switch else {}
        out = "training\ndone\n" if recording == "two_streams" else ""
        return self.gable(recording, *options, environment=environment, out=out)

    def root(self, case, switch, value):
        report = self.run_case(case, switch, value).report
        return report, report.layer((), "none")

    def test_the_same_report(self):
        for case in CASES if EVERY_CASE else MARKED:
            plain = self.run_case(case).report
            for switch, values in SWITCHES.items():
                if switch in EVERYWHERE or (switch, case) in DIFFERENT:
                    continue
                usual = what_counts(plain, switch)
                for value in values:
                    if switch == "cupti" and not EVERY_CASE and value not in MARKED_CUPTIS:
                        continue
                    with self.subTest(case, **{switch: value}):
                        self.assertEqual(what_counts(self.run_case(case, switch, value).report, switch), usual)

    def test_one_window_shows_that_only_the_starters_launches_count(self):
        report = self.run_case("two_contexts", "ranged_threads", "starter").report
        self.assert_noted(report, "CUPTI counted nothing in it when a thread of Gable's asked; from now on the program's own threads ask.")
        # The first one of each context.
        self.assertEqual(report.run["lost"]["windows"], self.run_case("two_contexts").report.run["lost"]["windows"] + 2)

    def test_the_record_of_one_launch_never_comes(self):
        """Its time is the counted one, and says so; nothing else changes."""
        run = self.run_case("two_contexts", "kernel_records", "one_missing")
        self.assert_work(run.report.layer(("step", "conv"), "none"), 1, CONV, timed=False)
        self.assert_work(run.report.layer(("step", "relu"), "none"), 1, RELU)
        self.assert_lost(run.report, unattributed_launches=1)
        self.assert_noted(run.report, "Times of 1 kernel are unknown, because no time window saw them")

    def test_counted_times_are_upper_bounds_of_long_kernels(self):
        """Where no time window was measured. Automatic ranges are hardly longer than their kernels."""
        path = longer("two_contexts")
        for options, more in (((), 2 * PUSHED_NS), (("--ranges", "auto"), 0)):
            report = self.gable(path, *STEPS, "--phases", "hw,flops", *options).report
            conv = report.layer(("step", "conv"), "none")["time_ns"]["total"]
            self.assertEqual(conv, 100 * CONV["time"] + more / 2)
            relu = report.layer(("step", "relu"), "none")["time_ns"]["total"]
            self.assertEqual(relu, None if more else 100 * RELU["time"])
            self.assert_noted(report, "which are upper bounds")

    def test_steps_of_more_ranges_than_cupti_takes(self):
        """Nothing ends the counting. Steps that were named are counted by layers, those that nobody named give way to windows of
        launches, and these are cut where the ranges end."""
        kernels = open(path_of("layers"), encoding="utf-8").read().splitlines()
        kernels = [line for line in kernels if '"kernel": "relu", "name"' in line]
        step = ['{"op": "push", "name": "step"}'] + ['{"op": "launch", "kernel": "relu"}'] * 1700
        step += ['{"op": "sync"}', '{"op": "pop"}']
        lines = ['{"gable_recording": 1, "origin": "hand-written"}', *kernels, '{"sequence": "step"}', *step,
                 '{"end_sequence": "step"}', '{"op": "play", "sequence": "step", "times": 12}']
        path = gable_run.work("many_launches.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        for value in ("none", *SWITCHES["range_limit"]):
            for window, counted in (((), value == "none"), (("--window", "1000"), True)):
                with self.subTest(value, window=window):
                    run = gable_run.run_profile(path, "many", *(window or STEPS), "--active", "1", "--phases", "hw,flops",
                                                environment={"GABLE_PLAYBACK_SWITCHES": f"range_limit={value}"})
                    self.assertEqual((run.code, run.violations), (0, ""), run.err)
                    self.assertNotIn("CUPTI_ERROR", run.err)
                    kernel = run.report.kernels[("step",), "none", "_Z4reluPf", (64, 2, 1), (128, 1, 1)]
                    self.assertEqual(kernel["flops"]["fp32"], 16384 if counted else None, run.err)
                    self.assertEqual(run.report.run["scope"], "kernel" if counted else "range")
                    if not counted:  # steps that the user named stay: they are counted by layers
                        self.assertEqual(run.report.layer(("step",), "none")["flops"]["fp32"], 1700 * 16384)
                        self.assert_said(run, "The program's steps have 1700 launches, but CUPTI takes no more than 1024 ranges here. "
                                         "Counting continues with one range for each layer")
                    elif value != "none":  # the range that was taken for the step has too many launches
                        self.assertEqual(run.report.run["steps"]["border"], "launches")
                        self.assert_noted(run.report, "steps have 1700 launches, but CUPTI takes no more than 1024 ranges")

    def many_launches_in_a_row(self):
        layers = gable_run.read_text(path_of("layers")).splitlines()
        kernels = [line for line in layers if '"kernel": "relu", "name"' in line]
        lines = ['{"gable_recording": 1, "origin": "hand-written"}', *kernels, *['{"op": "launch", "kernel": "relu"}'] * 16000]
        path = gable_run.work("many_launches_in_a_row.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def test_windows_of_more_launches_than_cupti_takes_ranges(self):
        path = self.many_launches_in_a_row()
        for value, call in (("size_2000", "GetCounterDataSize"), ("config_2000", "SetConfig"), ("start_2000", "Start")):
            with self.subTest(value):
                run = gable_run.run_profile(path, "in_a_row", "--window", "2500", "--active", "1", "--phases", "hw,flops",
                                            environment={"GABLE_PLAYBACK_SWITCHES": f"range_limit={value}"})
                self.assertEqual((run.code, run.violations), (0, ""), run.err)
                sentence = (f"cuptiRangeProfiler{call} failed with CUPTI_ERROR_INVALID_OPERATION (7). Counting continues with fewer ranges: windows are of at most 1024 launches.")
                self.assertEqual(run.err.replace("\n", " ").count(sentence), 1, run.err)
                self.assertEqual(run.report.run["notes"].count(sentence), 1)
                self.assert_lost(run.report)
                self.assert_steps(run.report, hw=4, flops=1)
                (kernel,) = run.report.document["kernels"]
                self.assertEqual((kernel["flops"]["fp32"], kernel["bytes"]["dram"]), (RELU["fp32"], RELU["dram"]))

    def test_windows_that_need_more_memory_than_there_is(self):
        path = self.many_launches_in_a_row()
        fault = '{"fault":"call","call":"cuptiRangeProfilerGetCounterDataSize","code":8,"times":1}'
        run = gable_run.run_profile(path, "memory", "--window", "2500", "--active", "1", "--phases", "hw,flops",
                                    environment={"GABLE_PLAYBACK_FAULTS": fault})
        self.assert_said(run, "cuptiRangeProfilerGetCounterDataSize failed with CUPTI error 8. Memory for counters ran out; use a "
                         "smaller --window. Counting continues with fewer ranges: windows are of at most 1024 launches.")
        self.assertEqual(run.err.count("Counting continues"), 1, run.err)
        self.assert_steps(run.report, hw=4, flops=1)

    def test_no_kernel_records(self):
        """They never arrive, or bear other numbers than the launches: the counted durations stand in."""
        for switch, value in (("kernel_records", "silent"), ("correlation", "runtime")):
            with self.subTest(switch):
                report, root = self.root("two_contexts", switch, value)
                self.assert_plain_step(report, timed=False)
                self.assertIsNone(root["time_ns"]["busy"])
                self.assert_noted(report, "No time window was measured")
                self.assertGreaterEqual(report.run["lost"]["unattributed_launches"], 2)

    def test_nothing_may_start_in_a_callback(self):
        report, root = self.root("two_contexts", "start_in_callback", "refused_to_all")
        self.assertEqual((root["time_ns"]["total"], root["flops"]["fp32"], root["bytes"]["dram"]), (50000, None, None))
        self.assert_noted(report, "CUPTI_ERROR_INVALID_OPERATION (7)")

    def test_permission_is_asked_for_later(self):
        usual = what_counts(self.run_case("no_permission").report)
        usual["run"].pop("notes")
        for switch, value in [("permission_asked_at", v) for v in SWITCHES["permission_asked_at"]] + [("sass_permission", "not_needed")]:
            with self.subTest(value):
                report, _ = self.root("no_permission", switch, value)
                self.assert_noted(report, "NVreg_RestrictProfilingToAdminUsers=0")
                found = what_counts(report)
                found["run"].pop("notes")  # which name the call
                self.assertEqual(found, usual)

    def test_copies_in_automatic_ranges_shift_nothing(self):
        report, _ = self.root("copies, automatic ranges", "copies_in_auto_ranges", "ranged")
        self.assert_layers_instead(report, "ranges were dropped by CUPTI")
        self.assert_plain_step(report)

    def test_graphs_end_automatic_ranges(self):
        """Whatever CUPTI makes of a graph there: on an H200 such a window cannot be stopped."""
        run = self.run_case("graph, automatic ranges")
        self.assert_said(run, "CUPTI makes no automatic ranges of CUDA graphs, and one was launched. Counting continues with user ranges.")
        root = run.report.layer((), "none")
        counted = self.run_case("graph").report.layer((), "none")
        for part in ("flops", "bytes", "time_ns"):
            self.assertEqual({k: v for k, v in root[part].items() if k not in ("self", "l1")},
                             {k: v for k, v in counted[part].items() if k not in ("self", "l1")})

    def test_a_capture_drops_ranges_of_a_window_that_is_thrown_away_anyway(self):
        report, _ = self.root("capture_in_step", "capture_in_window", "drops_ranges")
        self.assert_plain_step(report)
        self.assert_lost(report, windows=1, ranges=1)

    def test_ranges_that_count_what_overlaps(self):
        """The thread blocks do not agree. Automatic ranges let no launch overlap another."""
        report, _ = self.root("two_streams", "user_ranges", "overlapping")
        self.assert_plain_step(report)
        self.assertEqual(report.run["scope"], "kernel")
        self.assert_noted(report, "Counting continues with CUPTI's automatic ranges")

    def test_ranges_of_one_thread_only(self):
        report, root = self.root("two_threads", "ranged_threads", "starter")
        self.check_no_counters(root, 90000)
        self.assert_noted(report, "count of thread blocks that does not match the grid. No more counters are taken.")

    def test_one_profiler_object_at_a_time(self):
        """The contexts of a GPU take turns, so that none is refused."""
        for case in ("two_contexts", "context_in_window"):
            for value in SWITCHES["profiler_objects"]:
                with self.subTest(case, value=value):
                    report, _ = self.root(case, "profiler_objects", value)
                    self.assert_plain_step(report)
                    self.assertEqual(report.run["lost"], self.run_case(case).report.run["lost"])

    def assert_layers_instead(self, report, reason):
        """Automatic ranges, which the user chose, did not fit: ranges of layers do."""
        self.assertEqual(report.run["scope"], "range")
        self.assert_noted(report, reason)
        self.assert_noted(report, "Counting continues with one range for each layer: counters are of layers, not of single kernels.")

    def check_no_counters(self, root, time_ns):
        self.assertEqual((root["time_ns"]["total"], root["flops"]["fp32"], root["bytes"]["dram"]), (time_ns, None, None))


if __name__ == "__main__":
    unittest.main()
