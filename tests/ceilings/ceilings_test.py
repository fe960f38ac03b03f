# SPDX-License-Identifier: Apache-2.0
"""`gable ceilings` from the command line to the next report, on the playback GPU: its kernels take the times that the recording
says. Values are computed here from the kernels' loops."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "recordings"))
import gable_run  # noqa: E402

PROGRAM = os.environ["GABLE_PROGRAM"]
HAS_GPU = os.path.exists("/dev/nvidiactl")
SMALL = os.path.join(gable_run.RECORDINGS, "small", "two_streams.jsonl")
SMS, CLOCK = 132, 1.98e9
# Threads, and operations of one in a round of its loop; a launch of playback takes 50 ms however many rounds it has, so that
# the first eight are enough.
FMA = SMS * 8 * 256 * 512 * 2 * 8 / 0.05
READ = SMS * 8 * 256 * 8 * 16 * 8 / 0.05


def kernel(name, time_ns):
    return json.dumps({"kernel": name, "name": "gable_roof_" + name, "grid": [SMS * 8, 1, 1], "block": [256, 1, 1],
                       "time_ns": time_ns})


class Ceilings(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.here = place.name
        self.folder = os.path.join(self.here, "cache", "gable")
        with open(SMALL, encoding="utf-8") as file:
            self.lines = file.read().splitlines()

    def recording(self, *lines, name="rec.jsonl"):
        path = os.path.join(self.here, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines[:1] + list(lines) + self.lines[1:]) + "\n")
        return path

    def variables(self, **more):
        kept = {key: value for key, value in os.environ.items() if key not in ("GABLE_OPTIONS", "GABLE_CEILINGS")}
        return {**kept, "XDG_CACHE_HOME": os.path.join(self.here, "cache"), **more}

    def ceilings(self, *arguments, code=0, **more):
        done = subprocess.run([PROGRAM, "ceilings", *arguments], capture_output=True, text=True, timeout=100,
                              env=self.variables(**more), cwd=self.here, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def profile(self, recording, **more):
        # The folder for reports is the tests' own.
        path = os.path.join(self.here, "report.json")
        done = subprocess.run([PROGRAM, "profile", "--playback", recording, "-o", path, "--step-range", "^step$", "--active", "1"],
                              capture_output=True, text=True, timeout=100, env=self.variables(**more), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, encoding="utf-8") as file:
            return gable_run.Report(gable_run.report_schema.parse(file.read()), done.stderr)

    @staticmethod
    def measured(report):
        return {each["name"]: each for each in report.document["ceilings"] if each["source"].startswith("measured")}

    def test_are_measured_kept_and_used_by_the_next_report(self):
        recording = self.recording(kernel("fp32", 50000000), kernel("dram_read", 50000000), kernel("dram_copy", 200000000))
        before = self.profile(recording)
        self.assertEqual(self.measured(before), {})
        done = self.ceilings("--playback", recording)
        self.assertTrue(done.stdout.startswith("[playback] Measured on no GPU. "), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^fp32 +[\d.]+ [A-Z]+/s +66\.9 TFLOP/s +\*1\.980 GHz +[\d.]+ %")
        self.assertRegex(done.stdout, r"Not measured, because its launches took no time: fp64 \(chains")
        self.assertLessEqual(max(map(len, done.stdout.splitlines()[:-1])), 100)
        self.assertIn("measuring 1 of ", done.stderr)
        self.assertRegex(done.stdout, r"(?m)^Launch latency: [\d.]+ [mun]s, spread [\d.]+ %\. From the call until ")
        path = os.path.join(self.folder, os.listdir(self.folder)[0])
        self.assertIn(f"Kept in {path}\n", done.stdout)
        self.assertTrue(os.path.basename(path).startswith("ceilings-playback-"), path)
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual(kept["source"], "playback")
        self.assertGreater(kept["launch_latency"]["ns"], 0)
        values = {(each["name"], each["how"].split(",")[0]): each for each in kept["ceilings"]}
        # Events of playback have milliseconds with the digits of a float.
        self.assertAlmostEqual(values["fp32", "chains of fma.rn.f32"]["value"] / FMA, 1, places=4)
        self.assertAlmostEqual(values["dram", "streaming read"]["value"] / READ, 1, places=4)
        # Both directions count, and it takes four times as long.
        self.assertAlmostEqual(values["dram", "streaming copy"]["value"] / (READ / 2), 1, places=4)
        self.assertTrue(all(each["steady"] and each["spread"] < 0.01 for each in kept["ceilings"]))

        after = self.profile(recording)
        roofs = self.measured(after)
        self.assertEqual(set(roofs), {"fp32", "dram"})
        self.assertAlmostEqual(roofs["dram"]["value"] / READ, 1, places=4)
        self.assertIn("[playback] streaming read", roofs["dram"]["source"])
        relu = after.layer(("step", "relu"), "none")
        self.assertEqual(relu["roof"]["source"], "measured")
        ratio = relu["roof"]["fraction"] / before.layer(("step", "relu"), "none")["roof"]["fraction"]
        self.assertAlmostEqual(ratio, (2 * 3201000000 * 6144 / 8) / roofs["dram"]["value"], places=3)
        self.assertTrue(any(re.search(r"`gable ceilings` measured: fp32, dram\.", note) for note in after.run["notes"]),
                        after.run["notes"])

    def test_copies_have_the_links_measured_roof(self):
        """Playback copies at 25.6 GB/s from and to pinned memory over PCIe 4.0 x16, and at a third of that otherwise."""
        links = os.path.join(gable_run.RECORDINGS, "small", "gpu_links.jsonl")
        before = {copy["device"]: copy["roof"] for copy in self.profile(links).document["copies"]}
        self.assertEqual({device: roof["ceiling"] for device, roof in before.items()}, {0: "pcie", 1: "pcie"})
        out = self.ceilings("--playback", links).stdout
        for name in ("host_to_device", "device_to_host"):
            self.assertRegex(out, rf"(?m)^{name} +25\.6 GB/s +31\.5 GB/s +- +81\.[12] % +0 %  copies, pinned, 16 MiB$")
        after = self.profile(links)
        copies = {copy["device"]: copy for copy in after.document["copies"]}
        self.assertEqual((copies[0]["roof"]["ceiling"], copies[0]["roof"]["source"]), ("host_to_device", "measured"))
        self.assertAlmostEqual(copies[0]["roof"]["fraction"], copies[0]["bytes_per_s"] / 25.6e9, places=2)

    def test_of_another_gpu_or_another_source_are_not_used(self):
        recording = self.recording(kernel("fp32", 50000000))
        self.ceilings("--playback", recording)
        other = self.recording(json.dumps({
            "device": 0, "name": "NVIDIA H200", "chip": "GH100", "compute_capability": [9, 0], "sm_count": 114,
            "sm_clock_max_hz": 1980000000, "memory_clock_max_hz": 3201000000, "memory_bus_bits": 6144,
            "memory_bytes": 150754820096, "l2_bytes": 62914560}), name="other.jsonl")
        self.assertEqual(self.measured(self.profile(other)), {})
        self.assertEqual(set(self.measured(self.profile(recording))), {"fp32"})
        self.assertEqual(self.measured(self.profile(recording, GABLE_CEILINGS="none")), {})
        elsewhere = os.path.join(self.here, "elsewhere")
        self.assertEqual(self.measured(self.profile(recording, GABLE_CEILINGS=elsewhere)), {})
        self.ceilings("--playback", recording, GABLE_CEILINGS=elsewhere)
        self.assertEqual(set(self.measured(self.profile(recording, GABLE_CEILINGS=elsewhere))), {"fp32"})
        # A file that says it comes from a GPU is no playback's.
        path = os.path.join(self.folder, os.listdir(self.folder)[0])
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"source": "playback"', '"source": "gpu"'))
        self.assertEqual(self.measured(self.profile(recording)), {})

    def test_no_more_blocks_are_launched_than_run_at_once(self):
        turing = json.dumps({
            "device": 0, "name": "Tesla T4", "chip": "TU104", "compute_capability": [7, 5], "sm_count": 40,
            "sm_clock_max_hz": 1590000000, "memory_clock_max_hz": 5001000000, "memory_bus_bits": 256,
            "memory_bytes": 15828320256, "l2_bytes": 4194304})
        done = self.ceilings("--playback", self.recording(turing, kernel("fp32", 50000000)))
        self.assertRegex(done.stdout, r"(?m)^fp16_tensor +- 65\.1 TFLOP/s .*  mma\.sync m16n8k8 f16$")
        with open(os.path.join(self.folder, os.listdir(self.folder)[0]), encoding="utf-8") as file:
            (roof,) = json.load(file)["ceilings"]
        # An SM of a T4 holds 1024 threads: 4 blocks of 256, not 8.
        self.assertAlmostEqual(roof["value"] / (40 * 4 * 256 * 512 * 2 * 8 / 0.05), 1, places=4)

    def test_are_not_profiled_themselves(self):
        library = os.path.join(os.path.dirname(PROGRAM), "..", "lib", "libgable_inject.so")
        self.assertTrue(os.path.exists(library))
        done = self.ceilings("--playback", self.recording(kernel("fp32", 50000000)), CUDA_INJECTION64_PATH=library)
        self.assertNotIn("gable:", done.stderr)
        self.assertEqual([name for name in os.listdir(self.here) if name.startswith("gable-")], [])

    def test_a_damaged_file_is_ignored_with_a_sentence(self):
        os.makedirs(self.folder)
        with open(os.path.join(self.folder, "ceilings-broken.json"), "w", encoding="utf-8") as file:
            file.write('{"gable_ceilings": 1, "sou')
        report = self.profile(self.recording())
        self.assertEqual(self.measured(report), {})
        notes = [note for note in report.run["notes"] if "ceilings-broken.json are ignored" in note]
        self.assertEqual(len(notes), 1, report.run["notes"])

    def test_above_the_theoretical_value_is_flagged_in_the_report(self):
        recording = self.recording(kernel("fp32", 50000000))
        self.ceilings("--playback", recording, "-o", "cache/gable/ceilings-mine.json")
        path = os.path.join(self.folder, "ceilings-mine.json")
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        kept["ceilings"][0]["value"] = 1.05 * SMS * 256 * CLOCK
        with open(path, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        report = self.profile(recording)
        self.assertTrue(any("roof fp32 of device 0 is 5 % above the theoretical one" in note for note in report.run["notes"]),
                        report.run["notes"])

    @unittest.skipUnless(HAS_GPU, "this machine has no GPU")
    def test_on_this_machines_gpu(self):
        done = self.ceilings("--device", "0")
        self.assertNotIn("playback", done.stdout)
        with open(os.path.join(self.folder, os.listdir(self.folder)[0]), encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual(kept["source"], "gpu")
        names = {each["name"] for each in kept["ceilings"]}
        self.assertLessEqual({"fp64", "fp32", "fp16", "dram", "l2", "l1"}, names, done.stdout)
        # Of every name the best: nothing may be far above the theoretical value, and little far below.
        shares = {}
        for name, share in re.findall(r"(?m)^(\w+) +[\d.]+ \w+/s +[\d.]+ \w+/s +\S+(?: GHz)? +([\d.]+) %", done.stdout):
            shares[name] = max(float(share), shares.get(name, 0))
        self.assertTrue(all(50 <= share <= 115 for share in shares.values()), done.stdout)

    @unittest.skipIf(HAS_GPU, "this machine has a GPU")
    def test_without_a_gpu(self):
        done = self.ceilings(code=1, GABLE_PLAYBACK="")
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        self.assertRegex(done.stderr, r"^gable: (No NVIDIA driver is installed here|The NVIDIA driver found no GPU)")

    def test_wrong_use(self):
        recording = self.recording(kernel("fp32", 50000000))
        for arguments in (("--device", "7", "--playback", recording), ("--playback", "nowhere.jsonl"), ("extra",),
                          ("--playback", recording, "-o", "rec.jsonl/below.json")):
            done = self.ceilings(*arguments, code=2)
            self.assertRegex(done.stderr.splitlines()[-1], r"^gable: .*\.", arguments)


if __name__ == "__main__":
    unittest.main(verbosity=2)
