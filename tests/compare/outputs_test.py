# SPDX-License-Identifier: Apache-2.0
"""Where commands write: devices, links, a full disk, several outputs at once."""
import csv
import io
import json
import os
import subprocess
import unittest

from compare_case import GABLE, CompareCase


class Outputs(CompareCase):
    def setUp(self):
        super().setUp()
        self.path = self.write(self.net, "net.json")

    def run_into(self, where, *arguments):
        return subprocess.run([GABLE, *arguments], stdout=where, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def test_a_device_is_written_to_and_stays(self):
        master, terminal = os.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, terminal)
        name = os.ttyname(terminal)
        self.gable("report", self.path, "--markdown", name, "--top", "1")
        self.assertIn(b"Net/conv", os.read(master, 4096))
        self.assertEqual(name, os.ttyname(terminal))

    def test_a_device_is_no_report(self):
        self.assertEqual("gable: /dev/zero is a device, not a report.\n", self.gable("report", "/dev/zero", code=2).stderr)

    def test_a_link_stays_and_its_file_is_replaced(self):
        target, link = os.path.join(self.folder, "target.csv"), os.path.join(self.folder, "link.csv")
        with open(target, "w", encoding="utf-8") as file:
            file.write("old")
        os.symlink("target.csv", link)
        self.gable("report", self.path, "--csv", link)
        self.assertTrue(os.path.islink(link))
        with open(target, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("data,report,path"))

    def test_a_full_disk_is_said(self):
        commands = (["report", self.path], ["report", self.path, "--csv", "-"], ["diff", self.path, self.path],
                    ["check", self.path, "--baseline", self.path], ["predict", self.path, "--device", "H100"])
        for arguments in commands:
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = self.run_into(full, *arguments)
            self.assertEqual((2, "gable: Standard output could not be written to its end.\n"), (done.returncode, done.stderr), arguments)

    def test_nobody_listens(self):
        done = subprocess.run(["bash", "-c", '"$0" check "$1" --baseline "$1" >&-', GABLE, self.path], timeout=60, check=False)
        self.assertEqual(0, done.returncode)

    def test_standard_output_has_what_was_asked_for_alone(self):
        svg, markdown, html = (os.path.join(self.folder, name) for name in ("a.svg", "a.md", "a.html"))
        done = self.gable("report", self.path, "--csv", "-", "--svg", svg, "--html", html)
        self.assertNotIn(svg, done.stdout)
        self.assertIn(svg, done.stderr)
        self.assertEqual({"playback"}, {row["data"] for row in csv.DictReader(io.StringIO(done.stdout))})
        json.loads(self.gable("diff", self.path, self.path, "--json", "-", "--markdown", markdown, "--html", html).stdout)
        done = self.gable("predict", self.path, "--device", "H100", "--csv", "-", "--html", html)
        self.assertNotIn(html, done.stdout)
        self.assertEqual(f"Written: {svg}\n", self.gable("report", self.path, "--svg", svg).stdout)

    def test_two_outputs_of_one_name_are_refused(self):
        for arguments in (["report", self.path, "--csv", "-", "--svg", "-"], ["report", self.path, "--csv", "x", "--html", "x"],
                          ["diff", self.path, self.path, "--json", "x", "--markdown", "x"],
                          ["predict", self.path, "--device", "H100", "--csv", "x", "--html", "x"]):
            self.assertIn("both write to", self.gable(*arguments, code=2).stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "x")))

    def test_a_place_that_takes_no_file_is_said_before_the_work(self):
        ran = os.path.join(self.folder, "ran")
        profile = ["profile", "-o", self.folder, "--", "touch", ran]
        self.assertEqual(f"gable: --output takes a file name, and {self.folder} is a folder.\n", self.gable(*profile, code=2).stderr)
        self.assertIn("--html takes", self.gable("profile", "--html", self.folder, "--", "touch", ran, code=2).stderr)
        locked = os.path.join(self.folder, "locked")
        os.mkdir(locked, 0o555)
        if not os.access(locked, os.W_OK):  # root may write everywhere
            profile[2] = os.path.join(locked, "report.json")
            self.assertIn("Nothing can be written into", self.gable(*profile, code=2).stderr)
        self.assertFalse(os.path.exists(ran))
        self.assertIn("does not exist", self.gable("import", "--ncu", self.path, "-o", "none/x.json", code=2).stderr)

    def test_a_report_that_is_named_twice_does_not_count_twice(self):
        link = os.path.join(self.folder, "again.json")
        os.symlink(self.path, link)
        self.assertEqual(f"gable: {link} is given twice: name each report once.\n", self.gable("report", self.path, link, code=2).stderr)

    def test_what_is_read_is_not_written_over(self):
        counters = os.path.join(self.folder, "ncu.csv")
        with open(counters, "w", encoding="utf-8") as file:
            file.write('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
                       '"Section Name","Metric Name","Metric Unit","Metric Value"\n'
                       '"0","7","a","h","k(float *)","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","Command line profiler metrics",'
                       '"gpu__time_duration.sum","nsecond","5,000"\n')
        self.assertIn("would be overwritten", self.gable("import", "--ncu", counters, "-o", counters, code=2).stderr)
        self.assertEqual("import", json.loads(self.gable("import", "--ncu", counters, "-o", "-").stdout)["run"]["source"])


if __name__ == "__main__":
    unittest.main()
