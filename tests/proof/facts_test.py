# SPDX-License-Identifier: Apache-2.0
"""The stage `facts`: it can be rehearsed, its experiments tell one answer from the other, and the page shows hardware alone."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import prove

RECORDING = prove.ROOT / "tests" / "gpu" / "probe.jsonl"
PAGE = prove.ROOT / "docs" / "hardware-facts.md"
RESULTS = prove.ROOT / "tests" / "gpu" / "results"  # of real GPUs


def answer(name, switches="", faults=""):
    more = {"GABLE_PLAYBACK_SWITCHES": switches} if switches else {}
    if faults:
        more["GABLE_PLAYBACK_FAULTS"] = faults
    run = subprocess.run([prove.BUILD / "bin" / "gable_probe", name], env=prove.played(RECORDING, **more),
                         capture_output=True, text=True, timeout=120, check=True)
    return json.loads(run.stdout.splitlines()[-1])


class Facts(unittest.TestCase):
    def test_the_stage_can_be_rehearsed(self):
        with tempfile.TemporaryDirectory() as folder:
            run = prove.prove("--rehearse", "-o", folder, "facts")
            self.assertEqual(0, run.returncode, run.stderr + run.stdout)
            results = prove.lines(pathlib.Path(folder, "facts.jsonl"))
        answers = {line["experiment"] for line in results if line["what"] == "answer"}
        self.assertGreaterEqual(len(answers), 45)
        self.assertEqual({"playback"}, {line["source"] for line in results})
        ended = {line["experiment"] for line in results if line["what"] == "end"}
        skipped = {line["experiment"] for line in results if line["what"] == "skipped"}
        self.assertEqual(ended, answers | skipped)

    def test_each_answer_is_told_from_the_other(self):
        cases = [("same_name", "same_name_ranges=separate"),
                 ("user_launch", "user_ranges=overlapping"), ("threads", "ranged_threads=starter"), ("threads", "stop_thread=starter"),
                 ("graph_auto", "graphs_in_auto_ranges=ranged"), ("copies", "copies_in_auto_ranges=ranged"),
                 ("capture", "capture_in_window=drops_ranges"), ("late_module", "late_modules=unpatched"),
                 ("callbacks", "start_in_callback=refused"),
                 ("user_callbacks", "start_in_callback=refused"),
                 ("user_helper", "start_in_callback=refused_to_all"), ("user_helper", "ranged_threads=starter"), ("user_threads", "user_ranges=overlapping"),
                 ("queue", "kernel_records=silent"), ("many_records", "kernel_records=silent")]
        for name, switch in cases:
            with self.subTest(name=name, switch=switch):
                self.assertTrue(answer(name)["agrees"])
                self.assertFalse(answer(name, switch)["agrees"])

    def test_what_one_object_and_two_make_is_told(self):
        """Whatever they answer, an object for each configuration and turns for contexts do."""
        told = answer("second_config"), answer("second_config", "second_config=allowed")
        self.assertEqual([(each["agrees"], each["right"]) for each in told], [(True, 0), (True, 20)])
        self.assertFalse(answer("second_config", "late_modules=unpatched,kernel_records=silent")["agrees"])
        told = [answer("two_contexts", "profiler_objects=" + value) for value in ("one_started", "one_per_context")]
        self.assertEqual([(each["agrees"], each["second_started"]) for each in told], [(True, False), (True, True)])

    def test_order_of_ranges_is_told(self):
        self.assertEqual(40, answer("threads")["in_order"])
        reversed_order = answer("threads", "range_order=reversed")
        self.assertTrue(reversed_order["all_counted"])
        self.assertLess(reversed_order["in_order"], 40)

    def test_the_call_that_refuses_is_named(self):
        refused = answer("permission", faults='{"fault":"no_permission"}')
        self.assertEqual("cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", refused["refused"])
        refused = answer("permission", "permission_asked_at=start", '{"fault":"no_permission"}')
        self.assertTrue(refused["refused"].startswith("cuptiRangeProfilerStart"), refused)

    def test_a_place_that_hides_the_counters_is_named_and_no_defect(self):
        fields = answer("runtime", faults='{"fault":"no_permission"}')
        self.assertEqual((True, False, 3), (fields["agrees"], fields["counted"], fields["records"]))
        self.assertIn("times alone; refused first: cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", fields["says"])

    def test_a_place_without_a_chips_name_keeps_its_times(self):
        fields = answer("runtime", faults='{"fault":"call","call":"cuptiDeviceGetChipName","after":0,"times":-1,"code":999}')
        self.assertEqual((True, False), (fields["agrees"], fields["counted"]))
        self.assertIn("times alone; refused first: cuptiDeviceGetChipName answers CUPTI_ERROR_UNKNOWN (999)", fields["says"])

    def test_what_needs_counters_is_skipped_where_they_are_hidden(self):
        with tempfile.TemporaryDirectory() as folder:
            run = prove.prove("--rehearse", "-o", folder, "facts/queue", "facts/many_records", "truth/core", "sample",
                              GABLE_PROVE_FAULTS='{"fault":"no_permission"}')
            results = [line for file in ("facts", "truth", "sample") for line in prove.lines(pathlib.Path(folder, file + ".jsonl"))]
        self.assertIn("times alone; refused first: cuptiRangeProfilerEnable", run.stderr)
        skipped = {line["experiment"]: line["reason"] for line in results if line["what"] == "skipped"}
        self.assertEqual({"queue", "core"}, set(skipped), run.stderr + run.stdout)
        self.assertIn("this place hides the counters", skipped["queue"])
        answers = {line["experiment"]: line["fields"]["agrees"] for line in results if line["what"] == "answer"}
        self.assertEqual({"runtime": True, "many_records": True, "doctor": True, "sample": True}, answers)

    def test_too_many_ranges_name_the_call(self):
        refused = answer("ranges_1024", faults='{"fault":"call","call":"cuptiRangeProfilerSetConfig","after":0,"times":-1,"code":7}')
        self.assertFalse(refused["agrees"])
        self.assertEqual("cuptiRangeProfilerSetConfig: CUPTI_ERROR_INVALID_OPERATION (7)", refused["hw"]["refused"])
        self.assertFalse(answer("sass_user", faults='{"fault":"call","call":"cuptiRangeProfilerStart","after":1,"times":-1,"code":7}')["agrees"])

    def test_activity_beside_counters(self):
        fields = answer("activity_hw", "activity_with_counters=works")
        self.assertEqual((20, 0, 20, 20), tuple(fields[k] for k in ("records_before", "records_after_engine_start",
                                                                    "records_enabled_anew", "right")))
        kept = answer("activity_hw", "activity_with_counters=works,engine_start=keeps_activity")
        self.assertEqual(20, kept["records_after_engine_start"])


class Page(unittest.TestCase):
    def page(self, *results):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "facts.jsonl")
            path.write_text("".join(json.dumps(line) + "\n" for line in results), encoding="utf-8")
            run = prove.part("facts-page", path)
        self.assertEqual(0, run.returncode, run.stderr)
        return run.stdout

    def lines(self, source, agrees=True):
        head = {"stage": "facts", "experiment": "second_config", "source": source, "gpu": "A GPU", "driver": "1.2", "cuda": 13000, "cupti": 130001}
        return ({**head, "what": "answer", "says": "it takes a second one", "fields": {"agrees": agrees}},
                {**head, "what": "end", "exit": 0, "seconds": 1})

    def test_hardware_is_shown_with_its_versions(self):
        page = self.page(*self.lines("hardware"))
        self.assertIn("- `second_config` on A GPU, driver 1.2, CUDA 13000, CUPTI 130001: it takes a second one. As assumed.", page)
        self.assertIn("**Not as assumed.**", self.page(*self.lines("hardware", agrees=False)))

    def test_playback_is_never_shown(self):
        page = self.page(*self.lines("playback"))
        self.assertNotIn("it takes a second one", page)
        self.assertIn("No GPU has been asked yet.", page)

    def test_the_committed_page_is_made_of_the_committed_results(self):
        made = prove.part("facts-page", *sorted(RESULTS.glob("*-facts.jsonl")))
        self.assertEqual(made.stdout, PAGE.read_text(encoding="utf-8"), made.stderr)
        self.assertIn(" on NVIDIA H200, ", made.stdout)

    def test_the_committed_page_has_every_question_and_what_is_assumed_today(self):
        committed = PAGE.read_text(encoding="utf-8")
        made = self.page()
        pattern = r"^## (.*)$\n\n(Gable assumes: .*)$"
        self.assertEqual(re.findall(pattern, made, re.MULTILINE), re.findall(pattern, committed, re.MULTILINE))
        self.assertTrue(all(f"\n## E{i}: " in committed for i in range(1, 29)))


if __name__ == "__main__":
    unittest.main()
