# SPDX-License-Identifier: Apache-2.0
"""The timeline that `gable report REC --trace` writes: against times worked out by hand, the format, and the playback GPU's own."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

GABLE = os.environ["GABLE_PROGRAM"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESNET = os.path.join(ROOT, "tests", "data", "recordings", "resnet50-train.jsonl")

# The Trace Event Format's rules for the phases in use.
NUMBER, TEXT = {"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}
COMMON = {"pid": {"type": "integer"}, "tid": {"type": "integer"}, "name": TEXT, "args": {"type": "object"}}


def phase(letter, required, **more):
    return {"properties": {"ph": {"const": letter}, **COMMON, **more}, "required": ["ph", "pid", "tid", "name", *required], "additionalProperties": False}


SCHEMA = {"type": "object", "required": ["traceEvents", "displayTimeUnit"], "properties": {
    "displayTimeUnit": {"enum": ["ms", "ns"]}, "otherData": {"type": "object", "additionalProperties": {"type": "string"}},
    "traceEvents": {"type": "array", "items": {"oneOf": [
        phase("X", ["ts", "dur", "cat"], ts=NUMBER, dur=NUMBER, cat=TEXT),
        phase("b", ["ts", "cat", "id"], ts=NUMBER, cat=TEXT, id=TEXT), phase("e", ["ts", "cat", "id"], ts=NUMBER, cat=TEXT, id=TEXT),
        phase("s", ["ts", "cat", "id"], ts=NUMBER, cat=TEXT, id={"type": "integer"}),
        phase("f", ["ts", "cat", "id", "bp"], ts=NUMBER, cat=TEXT, id={"type": "integer"}, bp={"const": "e"}),
        phase("M", ["args"])]}}}}

SMALL = """{"gable_recording": 1, "origin": "hand-written", "note": "for a timeline"}
{"kernel": "a", "name": "a", "grid": [1, 1, 1], "block": [32, 1, 1], "time_ns": 5000}
{"kernel": "b", "name": "b", "grid": [1, 1, 1], "block": [32, 1, 1], "time_ns": 1000}
{"sequence": "twice"}
{"op": "push", "name": "step"}
{"op": "push", "name": "conv", "domain": "gable", "direction": "backward"}
{"op": "launch", "kernel": "a"}
{"op": "pop", "domain": "gable"}
{"op": "launch", "kernel": "a", "scale": 2}
{"op": "launch", "kernel": "b", "stream": 1}
{"op": "copy", "kind": "h2d", "bytes": 4096, "time_ns": 700, "stream": 1}
{"op": "sync"}
{"op": "pop"}
{"op": "idle", "ns": 100}
{"end_sequence": "twice"}
{"op": "play", "sequence": "twice", "times": 2}
{"op": "start", "name": "across", "id": 1}
{"op": "graph_launch", "kernels": ["a", "b"], "thread": 1}
{"op": "end", "id": 1, "thread": 1}
"""


class Trace(unittest.TestCase):
    def setUp(self):
        os.makedirs(os.environ["GABLE_WORK"], exist_ok=True)
        self.folder = tempfile.mkdtemp(dir=os.environ["GABLE_WORK"])
        self.addCleanup(shutil.rmtree, self.folder)

    def run_report(self, *arguments, code=0):
        done = subprocess.run([GABLE, "report", *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def small(self):
        path = os.path.join(self.folder, "small.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SMALL)
        return path

    def trace(self, path):
        text = self.run_report(path, "--trace", "-")
        trace = json.loads(text)
        if len(trace["traceEvents"]) < 1000:
            jsonschema.validate(trace, SCHEMA)
        return trace

    def slices(self, trace, category):
        """[(name, thread or stream, start, end)] in ns."""
        return sorted(((event["name"], event["tid"], round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000))
                       for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] == category), key=lambda each: each[2:])

    def test_times_are_those_worked_out_by_hand(self):
        trace = self.trace(self.small())
        # A call takes 2 us, then its work starts when the stream is free.
        self.assertEqual(self.slices(trace, "kernel")[:3], [("a", 0, 2000, 7000), ("b", 1, 6000, 7000), ("a", 0, 7000, 17000)])
        self.assertEqual(self.slices(trace, "copy")[0], ("copy host to device", 1, 8000, 8700))
        # The context is waited for from 8 us on: until 17 us, when the second a ends. The next step begins 100 ns later.
        self.assertEqual([each for each in self.slices(trace, "call") if each[0] == "synchronize"][0], ("synchronize", 0, 8000, 17000))
        self.assertEqual(self.slices(trace, "layer"), [("conv", 0, 0, 2000), ("step", 0, 0, 17000), ("conv", 0, 17100, 19100), ("step", 0, 17100, 34100)])
        # The graph's kernels follow each other; the range around its launch is open from one thread to the other.
        self.assertEqual(self.slices(trace, "kernel")[-2:], [("a", 0, 36200, 41200), ("b", 0, 41200, 42200)])
        across = [(event["ph"], event["tid"], event["ts"]) for event in trace["traceEvents"] if event["ph"] in "be"]
        self.assertEqual(across, [("b", 0, 34.2), ("e", 0, 36.2)])

    def test_layers_arrows_and_names(self):
        trace = self.trace(self.small())
        events = trace["traceEvents"]
        layers = [event["args"]["layer"] for event in events if event["ph"] == "X" and event.get("cat") == "kernel"]
        self.assertEqual(layers[:3], ["step/conv", "step", "step"])
        self.assertEqual(layers[-1], "across")
        conv = next(event for event in events if event["name"] == "conv")
        self.assertEqual(conv["args"], {"direction": "backward"})
        starts = {event["id"] for event in events if event["ph"] == "s"}
        ends = [event["id"] for event in events if event["ph"] == "f"]
        self.assertEqual((starts, len(ends)), (set(ends), len(set(ends))))
        names = {event["args"]["name"] for event in events if event["ph"] == "M"}
        self.assertEqual(names, {"host [playback]", "GPU [playback]", "thread 0", "thread 1", "stream 0", "stream 1"})
        self.assertEqual(trace["otherData"]["source"], "playback")

    def test_slices_of_a_track_nest(self):
        trace = self.trace(RESNET)
        tracks = {}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                tracks.setdefault((event["pid"], event["tid"]), []).append((round(event["ts"] * 1000), -round(event["dur"] * 1000), event["name"]))
        for track in tracks.values():
            open_ends = []
            for start, minus, name in sorted(track):
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                self.assertTrue(not open_ends or start - minus <= open_ends[-1], f"{name} at {start} overlaps")
                open_ends.append(start - minus)

    def test_steps_are_as_busy_as_the_playback_gpu_measures(self):
        report = os.path.join(self.folder, "report.json")
        subprocess.run([GABLE, "profile", "-q", "--phases", "time", "--step-range", "^step$", "--active", "1", "-o", report, "--playback", RESNET],
                       check=True, timeout=120, stderr=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            measured = json.load(file)["step"]
        trace = self.trace(RESNET)
        borders = [round(event["ts"] * 1000) for event in trace["traceEvents"] if event["name"] == "step" and event["ph"] in "be"]
        self.assertEqual(len(borders), 80)
        start, end = borders[8:10]  # the first steps differ
        busy, last = 0, 0
        for _, _, begin, stop in self.slices(trace, "kernel"):
            if start <= begin < end:
                busy += max(0, stop - max(begin, last))
                last = max(last, stop)
        copies = sum(stop - begin for _, _, begin, stop in self.slices(trace, "copy") if start <= begin < end)
        self.assertEqual((busy, copies), (measured["busy_ns"], measured["copy_ns"]))

    def test_wrong_use_and_wrong_files(self):
        small = self.small()
        report = os.path.join(self.folder, "report.json")
        with open(report, "w", encoding="utf-8") as file:
            json.dump({"gable": {"schema": 2}}, file)
        for arguments, said in (((report, "--trace", "-"), "takes a recording, not a report"), ((small, small, "--trace", "-"), "takes one recording"),
                                ((small, "--trace", "-", "--csv", "x.csv"), "takes one recording"), (("/no/such", "--trace", "-"), "/no/such"),
                                ((small, "--trace", small), "would be overwritten")):
            self.assertIn(said, self.run_report(*arguments, code=2))
        with open(small, encoding="utf-8") as file:
            self.assertEqual(file.read(), SMALL)


if __name__ == "__main__":
    unittest.main()
