# SPDX-License-Identifier: Apache-2.0
"""The report page in Firefox: the same answer, points and controls as in Chromium."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import first_screen_reports

GABLE = os.environ["GABLE_PROGRAM"]
WORK = os.environ["GABLE_WORK"]
MODULES = os.environ["GABLE_FIREFOX_MODULES"]
NODE = shutil.which("node")
MISSING = not NODE or not (shutil.which("firefox-esr") or shutil.which("firefox")) or not os.path.isdir(os.path.join(MODULES, "puppeteer-core"))


class Firefox(unittest.TestCase):
    def test_the_page_answers_there_too(self):
        os.makedirs(WORK, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            report, page = os.path.join(folder, "report.json"), os.path.join(folder, "page.html")
            with open(report, "w", encoding="utf-8") as file:
                json.dump(first_screen_reports.blocks(), file)
            subprocess.run([GABLE, "report", report, "--html", page], check=True, timeout=60, stdout=subprocess.DEVNULL)
            done = subprocess.run([NODE, os.path.join(os.path.dirname(os.path.abspath(__file__)), "firefox.mjs"), MODULES, page],
                                  capture_output=True, text=True, timeout=180, check=False, env={**os.environ, "HOME": folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen["wrong"], [])
        self.assertIn("conv of Net/0, Net/1, Net/2", seen["cards"][0])
        self.assertIn("Up to 900 us of the step (45 %)", seen["cards"][0])
        self.assertEqual(" ".join(seen["bar"][0].split()), "A step of 2 ms is compute 60 % · memory 5 % · copies 10 % · idle 25 %")
        self.assertEqual(sorted(seen["dots"]), ["Net/0/conv", "Net/relu"])
        self.assertIn("DRAM: 2 TB/s, theoretical", seen["labels"])
        self.assertEqual((seen["pinned"], seen["found"], seen["zoomed"]), (1, "2 rows found", True))
        self.assertTrue(seen["hash"].startswith("#pin="))
        self.assertLessEqual(seen["wide"], 1440)


if __name__ == "__main__":
    if MISSING:
        print("Skipped: no Firefox, node or puppeteer-core (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
