# SPDX-License-Identifier: Apache-2.0
"""What `gable report` prints and writes for known reports: table, CSV, Markdown, SVG."""
import csv
import io
import json
import math
import os
import pty
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

import made_reports

GABLE = os.environ["GABLE_PROGRAM"]
SVG = "{http://www.w3.org/2000/svg}"


class Exports(unittest.TestCase):
    def setUp(self):
        os.makedirs(os.environ["GABLE_WORK"], exist_ok=True)
        self.folder = tempfile.mkdtemp(dir=os.environ["GABLE_WORK"])
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.write(made_reports.net())

    def write(self, report, name="report.json"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file)
        return path

    def report(self, *arguments, code=0):
        done = subprocess.run([GABLE, "report", *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def table(self, *arguments):
        """The names of the table's rows, in their order."""
        lines = self.report(self.path, *arguments).splitlines()
        self.assertTrue(all(len(line) <= 100 for line in lines), lines)
        first = next(i for i, line in enumerate(lines) if line.startswith(("layer ", "kernel ")))
        return [line.split()[0] + (" " + line.split()[1] if line.split()[1] in ("forward", "backward") else "")
                for line in lines[first + 1:lines.index("", first)]]

    def test_rows_are_sorted_and_chosen(self):
        # Savings: 300, 200, 50 and 10 us; fractions: 0.25, 0.5, 0.5 and 0.8.
        self.assertEqual(self.table(), ["Net/conv forward", "Net/conv backward", "Net/relu forward", "Net/cast forward", "Net/secret forward"])
        self.assertEqual(self.table("--sort", "name")[0], "Net/cast forward")
        self.assertEqual(self.table("--sort", "flops")[:2], ["Net/conv backward", "Net/conv forward"])
        self.assertEqual(self.table("--sort", "bytes")[-1], "Net/secret forward")
        self.assertEqual(self.table("--sort", "fraction")[0], "Net/conv forward")
        self.assertEqual(self.table("--sort", "fraction")[-1], "Net/secret forward")  # unknown last
        self.assertEqual(self.table("--top", "2"), ["Net/conv forward", "Net/conv backward"])
        self.assertEqual(self.table("--layer", "conv", "--layer", "*/cast"), ["Net/conv forward", "Net/conv backward", "Net/cast forward"])
        self.assertEqual(self.table("--layer", "regex:^Net/[rs]"), ["Net/relu forward", "Net/secret forward"])
        self.assertEqual(self.table("--kernels", "--layer", "Net")[:2], ["conv_kernel forward", "conv_grad_kernel backward"])

    def test_layers_of_a_depth_have_all_below_them(self):
        self.assertEqual(self.table("--depth", "1"), ["Net/*"])
        self.assertEqual(self.table("--depth", "2"), self.table())
        self.assertEqual(self.table("--depth", "2", "--layer", "conv"), ["Net/conv forward", "Net/conv backward"])

    def test_a_level_has_its_own_rates(self):
        line = next(line for line in self.report(self.path, "--level", "l2").splitlines() if line.startswith("Net/relu"))
        self.assertEqual(line.split()[5:7], ["2000", "0.500"])  # 2e8 bytes in 100 us; 1e8 FLOP
        line = next(line for line in self.report(self.path, "--level", "l1").splitlines() if line.startswith("Net/relu"))
        self.assertEqual(line.split()[5:7], ["-", "-"])

    def test_wrong_use_says_what_is_right(self):
        for arguments, said in ((("--sort", "size"), "takes saving, time, fraction, flops, bytes or name"), (("--level", "l3"), "takes dram, l2 or l1"),
                                (("--layer", "nothing"), "'nothing' matches no layer"), (("--layer", "regex:("), "--layer: "), (("--top", "0"), "--top"),
                                (("--depth", "1", "--csv", "-"), "--depth applies to the table's layers"), (("--depth", "1", "--kernels"), "leave out --kernels")):
            said_then = self.report(self.path, *arguments, code=2)
            self.assertIn(said, said_then)
            self.assertEqual(said_then.count("\n"), 1)

    def test_colours_are_for_terminals_alone(self):
        self.assertNotIn("\x1b", self.report(self.path))
        for environment, coloured in (({"TERM": "xterm"}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            mine, its = pty.openpty()
            subprocess.run([GABLE, "report", self.path], stdout=its, timeout=60, check=True, env={**os.environ, **environment})
            os.close(its)
            text = b""
            try:
                while chunk := os.read(mine, 65536):
                    text += chunk
            except OSError:
                pass  # the end of a terminal whose other side is closed
            os.close(mine)
            self.assertEqual(b"\x1b[35m[playback]" in text, coloured)
            self.assertEqual(re.search(rb"\x1b\[34mmemory", text) is not None, coloured)

    def test_columns_say_how_wide_lines_may_be(self):
        def longest(columns):
            done = subprocess.run([GABLE, "report", self.path], capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "COLUMNS": columns})
            return max(len(line) for line in done.stdout.splitlines() if not line.startswith("Next: "))
        self.assertLessEqual(longest("60"), 60)
        self.assertGreater(longest("150"), 100)
        for wrong in ("", "x", "-5", "3", "99999999999999999999"):
            self.assertIn(longest(wrong), range(80, 101), wrong)

    def test_csv_has_every_digit_and_leaves_unknown_empty(self):
        text = self.report(self.path, "--kernels", "--csv", "-")
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(text))}
        relu = rows["relu_kernel"]
        self.assertEqual([float(relu[name]) for name in ("flops", "dram_bytes", "l2_bytes", "time_ns", "flop_per_byte_dram", "flop_per_s", "roof_fraction", "saving_ns",
                                                         "compute_time_ns", "memory_time_ns", "overhead_box_ns", "share")],
                         [1e8, 1e8, 2e8, 1e5, 1, 1e12, 0.5, 5e4, 2000, 1e5, 4000, 0.1])
        self.assertEqual((relu["bound"], relu["ceiling"], relu["data"], relu["path"]), ("memory", "dram", "playback", "Net/relu"))
        self.assertEqual([rows["secret_kernel"][name] for name in ("flops", "flop_per_s", "roof_fraction", "saving_ns", "l1_bytes")], [""] * 5)
        self.assertEqual(float(rows["cast_kernel"]["flops"]), 0)  # known to be none

    def test_time_based_numbers_hold_what_the_method_promises(self):
        rows = csv.DictReader(io.StringIO(self.report(self.path, "--kernels", "--csv", "-")))
        for row in rows:
            if not row["compute_time_ns"] or float(row["flops"]) == 0:
                continue
            compute, memory, time = (float(row[name]) for name in ("compute_time_ns", "memory_time_ns", "time_ns"))
            self.assertEqual(max(compute, memory), time)
            # In units of work the point of the times has the intensity of the work, and lies further out by 1 / fraction.
            out_x, out_y = memory * 1e-9 * made_reports.DRAM, compute * 1e-9 * made_reports.COMPUTE
            self.assertAlmostEqual(out_y / out_x, float(row["flop_per_byte_dram"]), delta=1e-6 * out_y / out_x)
            self.assertAlmostEqual(out_y / float(row["flops"]), 1 / float(row["roof_fraction"]), places=6)

    def test_markdown_is_one_table_whatever_names_hold(self):
        report = made_reports.net()
        report["layers"][2]["path"][1] = "a|b `c` <i>*d*\nnext"
        lines = self.report(self.write(report, "odd.json"), "--markdown", "-").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        self.assertEqual({len(re.findall(r"(?<!\\)\|", line)) for line in rows}, {12})
        self.assertIn("**[playback] odd.json**", lines[0])
        self.assertTrue(any(r"Net/a\|b \`c\` \<i\>\*d\* next" in line for line in rows), rows)

    def test_markdown_shows_the_chart_that_is_written_beside_it(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            os.mkdir(f"{folder}/some charts")
            markdown, chart = f"{folder}/ticket.md", f"{folder}/some charts/roof.svg"
            self.report(self.path, "--markdown", markdown, "--svg", chart)
            with open(markdown, encoding="utf-8") as file:
                [shown] = re.findall(r"!\[Roofline chart\]\(<(.*)>\)", file.read())
            self.assertEqual(os.path.realpath(os.path.join(folder, shown)), os.path.realpath(chart))
        self.assertNotIn("![", self.report(self.path, "--markdown", "-"))

    def test_svg_has_points_where_its_axes_say(self):
        root = xml.fromstring(self.report(self.path, "--svg", "-"))
        ticks = [(node.text, float(node.get("x")), float(node.get("y"))) for node in root.iter(SVG + "text") if node.get("class") == "tick"]
        bottom = max(y for _, _, y in ticks)
        x_axis = [(float(text), x) for text, x, y in ticks if y == bottom]
        y_axis = [(float(text.split()[0]) * {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[text.split()[1]], y - 4) for text, x, y in ticks if y != bottom]

        def place(axis, value):
            (a, from_), (b, to) = axis[0], axis[-1]
            return from_ + (to - from_) * math.log(value / a) / math.log(b / a)

        points = {node.find(SVG + "title").text.partition(":")[0]: node for node in root.iter(SVG + "circle")}
        self.assertEqual(len(points), 4)  # secret is unknown
        for name, intensity, rate in (("Net/relu (forward)", 1, 1e12), ("Net/conv (forward)", 200, 2.5e13), ("Net/conv (backward)", 200, 5e13)):
            self.assertAlmostEqual(float(points[name].get("cx")), place(x_axis, intensity), delta=0.5, msg=name)
            self.assertAlmostEqual(float(points[name].get("cy")), place(y_axis, rate), delta=0.5, msg=name)
        self.assertLess(float(points["Net/cast (forward)"].get("cx")), 148)
        roofs = {node.get("data-roof"): node for node in root.iter(SVG + "line") if node.get("data-roof")}
        self.assertEqual(set(roofs), {"DRAM", "fp32"})
        self.assertAlmostEqual(float(roofs["fp32"].get("x1")), place(x_axis, 50), delta=0.5)
        areas = {name: float(node.get("r")) ** 2 for name, node in points.items()}
        self.assertAlmostEqual(areas["Net/conv (forward)"] / areas["Net/relu (forward)"], 4, places=1)  # 40 % of the time and 10 %
        self.assertIn("not shown, as a part is unknown: 1", "".join(root.itertext()))
        self.assertIn("[playback]", root.find(SVG + "title").text)

    def test_parts_that_are_unknown_are_said(self):
        report = made_reports.net()
        report["run"]["total"].update(flops=1e12, bytes_dram=1e9, gpu_time_ns=1e9)
        report["layers"][0]["coverage"] = {"time": 0.8, "flops": 0.5, "bytes": 1}
        report["kernels"].append(made_reports.kernel(2, "relu_other", None, 1e8, 1e5, "forward"))
        report["kernels"].append(made_reports.kernel(2, "relu_third", None, 1e8, 1e5, "forward", launches=2))
        report["kernels"][-1]["time_ns"] = dict.fromkeys(report["kernels"][-1]["time_ns"])
        path = self.write(report, "part.json")
        relu = {row["name"]: row for row in csv.DictReader(io.StringIO(self.report(path, "--csv", "-")))}["Net/relu"]
        self.assertEqual([float(relu[name]) for name in ("time_ns", "time_coverage", "flops", "flops_coverage", "dram_bytes", "dram_coverage")],
                         [2e5, 0.5, 1e8, 0.5, 4e8, 1])
        said = self.report(path, "--markdown", "-")
        self.assertIn("at least 1.00 TFLOP, 1.00 GB DRAM, at least 1.00 s GPU (extrapolated)", said)
        self.assertIn("| layer | direction | share of the known time | time |", said)
        self.assertRegex(said, r"\| Net/relu \| forward \| 18.2 % \| at least 200 us \|")
        self.assertRegex(self.report(path), r"(?m)^layer +direction +known time +TFLOP/s")
        self.assertIn("area: share of the known time", self.report(path, "--svg", "-"))
        whole = self.report(self.path, "--markdown", "-") + self.report(self.path) + self.report(self.path, "--svg", "-")
        self.assertNotIn("at least", whole)
        self.assertNotIn("known time", whole)

    def test_svg_is_xml_whatever_stands_in_it(self):
        """A share below what is shown is "<0.001 %", and a name may hold what XML has no place for."""
        report = made_reports.net()
        for kernel in report["kernels"]:
            if kernel["name"] == "relu_kernel":
                for part in kernel["time_ns"]:
                    kernel["time_ns"][part] = 0.01
        for layer in report["layers"]:
            if layer["path"][-1:] == ["relu"]:
                layer["path"] = layer["path"][:-1] + ["re<lu>&\uffff\ufffe"]
                layer["time_ns"] = dict.fromkeys(layer["time_ns"], 0.01)
        text = self.report(self.write(report), "--svg", "-")
        root = xml.fromstring(text)
        titles = [node.text for node in root.iter(SVG + "title")]
        self.assertIn("<0.001 % of the time", " ".join(titles))
        self.assertTrue(any("re<lu>&\ufffd\ufffd" in title for title in titles), titles)

    def test_several_reports_and_files_in_one_command(self):
        other = self.write(made_reports.net(2), "other.json")
        table = os.path.join(self.folder, "rows.csv")
        chart = os.path.join(self.folder, "chart.svg")
        said = self.report(self.path, other, "--csv", table, "--svg", chart)
        self.assertEqual(said, f"Written: {table}\nWritten: {chart}\n")
        with open(table, encoding="utf-8") as file:
            self.assertEqual([row["report"] for row in csv.DictReader(file)], ["report.json"] * 5 + ["other.json"] * 5)
        xml.parse(chart)


if __name__ == "__main__":
    unittest.main()
