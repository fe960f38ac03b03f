# SPDX-License-Identifier: Apache-2.0
"""What the report page says where numbers are unknown, or known in part."""
import sys
import unittest

import made_reports
from browser import CHROMIUM, PageTest


class Unknown(PageTest):
    def test_unknown_is_unknown_and_never_zero(self):
        page = self.open(made_reports.net())
        row = next(row for row in self.rows(page) if "secret" in row[0])
        head = page.eval_on_selector_all("#table th", "cells => cells.map(cell => cell.textContent.replace(/ [▼▲]/, ''))")
        cells = dict(zip(head, row))
        self.assertEqual((cells["FLOP"], cells["of roof"], cells["saving"], cells["wait"]), ("unknown", "unknown", "unknown", "0"))

    def test_what_is_not_shown_has_its_reason(self):
        report = made_reports.net()
        relu = report["kernels"][0]
        relu["time_ns"] = dict.fromkeys(relu["time_ns"])
        report["layers"][0]["coverage"]["time"] = 0.8
        page = self.open(report)
        page.get_by_label("kernels", exact=True).check()
        # 50 us of the 900 us that are known, and one whose time is not.
        self.assertIn("2 kernels of 5 not shown (at least 5.56 % of the known time): work, bytes or time unknown.", page.inner_text("#not-shown"))
        self.assertIn("area: share of the known time", page.inner_text("#legend"))
        page = self.open(made_reports.net())
        page.get_by_label("kernels", exact=True).check()
        self.check(page, "L2")
        self.uncheck(page, "DRAM")
        self.assertIn("3 kernels of 5 not shown (50 % of the time): 2 with work, bytes or time unknown; 1 without a place", page.inner_text("#not-shown"))
        self.uncheck(page, "L2")
        self.assertIn("5 kernels of 5 not shown (100 % of the time): no level is chosen.", page.inner_text("#not-shown"))
        made = made_reports.net()
        made["kernels"][3]["bytes"]["l2"] = 1e8  # a cast: no FLOP, so it stands in DRAM's strip alone
        made["kernels"][0]["bytes"]["l2"] = 0
        page = self.open(made)
        page.get_by_label("kernels", exact=True).check()
        self.check(page, "L2")
        self.uncheck(page, "DRAM")
        self.assertIn("4 kernels of 5 not shown (60 % of the time): 2 with work, bytes or time unknown; "
                      "2 without a place on these axes: 0 bytes, or 0 FLOP while DRAM is not shown.", page.inner_text("#not-shown"))

    def test_copies_of_which_some_are_unknown_say_so(self):
        report = made_reports.net()
        known = report["copies"][0]
        report["copies"] += [{**known, "layer": 2, "time_ns": None}, {**known, "layer": 3, "time_ns": None},
                             {**known, "kind": "peer", "bytes": None}, {**known, "kind": "memset", "time_ns": None}]
        rows = {row[0]: row[2] for row in self.rows(self.open(report)) if row[0].startswith("copies")}
        self.assertEqual(rows, {"copies, host_to_device: 6, 12.3 kB": "at least 100 us, 2 unknown", "copies, peer: 2, unknown": "100 us",
                                "copies, memset: 2, 4.1 kB": "unknown"})
        report["copies"][1]["bytes"] = None
        self.assertIn("copies, host_to_device: 6, at least 8.19 kB, 1 unknown", [row[0] for row in self.rows(self.open(report))])

    def test_sums_of_which_a_part_is_unknown_say_so(self):
        report = made_reports.net()
        for layer, coverage in zip(report["layers"], ({}, {"time": 0.94, "flops": 0.5, "bytes": 0.96}, {"time": 0.95, "flops": None, "bytes": 0.1})):
            layer["flops"]["total"], layer["bytes"]["dram"] = 3e10, 2e8
            layer["coverage"].update(coverage)
        page = self.open(report)
        head = page.eval_on_selector_all("#table th", "cells => cells.map(cell => cell.textContent.replace(/ [▼▲]/, ''))")
        cells = {row[0].strip("▸▾ "): dict(zip(head, row)) for row in self.rows(page)}
        sums = lambda name: [cells[name][column] for column in ("time", "FLOP", "DRAM")]
        self.assertEqual(sums("Net"), ["at least 1 ms", "at least 30 G", "200 MB"])
        self.assertEqual(sums("relu"), ["100 us", "at least 30 G", "at least 200 MB"])

    def test_totals_are_of_all_reports_and_say_what_they_lack(self):
        one, two = made_reports.net(), made_reports.net()
        two["run"]["pid"] += 1  # of one run
        for report in (one, two):
            report["run"]["total"].update(flops=1e12, bytes_dram=1e9, gpu_time_ns=1e9)
            report["layers"][0]["coverage"] = {"time": 1, "flops": 1, "bytes": 1}
        self.assertIn("2 TFLOP, 2 GB DRAM, 2 s GPU time (extrapolated)", self.open(one, two).inner_text("#facts"))
        two["run"]["total"]["bytes_dram"] = None
        two["layers"][0]["coverage"].update(time=0.9, bytes=None)
        self.assertIn("2 TFLOP, at least 1 GB DRAM, at least 2 s GPU time", self.open(one, two).inner_text("#facts"))


if __name__ == "__main__":
    if not CHROMIUM:
        print("Skipped: no Chromium (scripts/setup.sh --browser BUILD).")
        sys.exit(77)
    unittest.main()
