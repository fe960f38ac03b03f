# SPDX-License-Identifier: Apache-2.0
"""Files of ncu: decimal marks, what a program printed amid them, and files written again by others."""
import csv
import io
import re
import unittest

from import_run import ImportTest, kernel, notes, run
from ncu_pages import HEAD, NAME, row


class WrittenNumbers(ImportTest):
    """A locale's decimal mark, by what the file itself shows; what it does not show is asked for."""
    DRAM = "dram__bytes.sum"

    def values(self, *texts):
        rows = "".join(row(i, f"k{i}", self.DRAM, "byte", text) + row(i, f"k{i}", value="7") for i, text in enumerate(texts))
        report = self.report("--ncu", self.file("n.csv", HEAD + rows))
        return [kernel(report, f"k{i}")["bytes"]["dram"] for i in range(len(texts))]

    def test_the_decimal_mark_that_the_file_shows(self):
        for texts, wanted in ((("15,36", "1.234"), (15.36, 1234)), (("1.234", "0,5"), (1234, 0.5)), (("1.234,56", "7"), (1234.56, 7)),
                              (("1.000,5", "2.000"), (1000.5, 2000)), (("1,234", "1.5"), (1234, 1.5)), (("1.234", "0.5"), (1.234, 0.5)),
                              (("1,234", "5"), (1234, 5)), (("12.345.678", "1,234"), (12345678, 1.234)), (("12,34,567.5", "8"), (1234567.5, 8)),
                              (("1\u202f234,5", "1\u00a0234"), (1234.5, 1234)), (("1'234.5", "9"), (1234.5, 9)), (("1,234", "5,678"), (1234, 5678)),
                              # Blanks and apostrophes part the groups: the mark is of decimals.
                              (("1\u202f234", "1,234"), (1234, 1.234)), (("1,234", "12 345"), (1.234, 12345)), (("1.234", "1'234"), (1.234, 1234))):
            with self.subTest(texts):
                self.assertEqual(self.values(*texts), list(wanted))

    def test_a_whole_page(self):
        head = HEAD.split('"Section Name"')[0] + f'"{self.DRAM}","{NAME}"\n' + '"",' * 11 + '"byte","us"\n'
        rows = "".join(row(i, f"k{i}").split('"Command line')[0] + f'"{value}","1.024"\n' for i, value in enumerate(("3", "1.234", "2,75")))
        report = self.report("--ncu", self.file("raw.csv", head + rows))
        self.assertEqual([kernel(report, f"k{i}")["bytes"]["dram"] for i in range(3)], [3, 1234, 2.75])
        self.assertEqual(kernel(report, "k0")["time_ns"]["mean"], 1_024_000)

    def test_what_no_number_of_the_file_tells_is_asked_for(self):
        # Where numbers have no groups, three digits behind a comma are none either; and ncu prints no three decimals.
        for doubtful, other in (("1.234", "17"), ("1.234", "1234567"), ("1,234", "1234567"), ("1,234", "5.678"), ("1.234", "5,678")):
            said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value=doubtful) + row(1, value=other)))
            self.assertIn(f"'{doubtful}' may have decimals or groups of digits", said)
            self.assertIn("LC_ALL=C", said)

    def test_two_marks_in_one_file(self):
        said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value="15,36") + row(1, value="1.5")))
        self.assertIn("n.csv:3: '1.5' is not a number where the decimal mark is a comma", said)

    def test_each_output_in_a_file_has_a_mark_of_its_own(self):
        text = HEAD + row(0, "a", value="15,36") + row(1, "a", value="1.234") + HEAD + row(0, "b", value="1.5") + row(1, "b", value="1,234")
        report = self.report("--ncu", self.file("two.csv", text))
        self.assertEqual([kernel(report, name)["time_ns"]["total"] for name in "ab"], [15.36 + 1234, 1.5 + 1234])

    def test_marks_that_make_no_number(self):
        for text in ("1,2,3", "1.2.3,4", "..5", "1,23,45"):
            with self.subTest(text):
                said = self.refused("--ncu", self.file("n.csv", HEAD + row(0, value=text)))
                self.assertIn(f"n.csv:2: '{text}' is not a number", said)

    def test_text_is_unknown_wherever_it_stands(self):
        self.assertEqual(self.values("CachePreferNone", "nan", "15,36", "(!) n/a"), [None, None, 15.36, None])

    def test_signs_and_blanks_around_numbers(self):
        self.assertEqual(self.values("+5", " 6", "7\u00a0", "\u30008 ", "1\u2007234\u2007567", "+1,5"), [5, 6, 7, 8, 1234567, 1.5])

    def test_a_percent_sign_is_the_unit(self):
        def hit_rate(value, unit):
            return kernel(self.report("--ncu", self.file("p.csv", HEAD + row(0) + row(0, metric="L2 Hit Rate", unit=unit, value=value))), "k")["metrics"]["l2_hit_rate"]
        self.assertEqual([hit_rate("25%", "%"), hit_rate("25 %", ""), hit_rate("12,5%", "%")], [0.25, 0.25, 0.125])
        for unit, said in (("byte", "'5%' is not a number"), ("", None)):
            text = HEAD + row(0) + row(0, metric=self.DRAM, unit=unit, value="5%")
            if said:
                self.assertIn(said, self.refused("--ncu", self.file("p.csv", text)))
            else:
                self.assertIsNone(kernel(self.report("--ncu", self.file("p.csv", text)), "k")["bytes"]["dram"])
                self.assertIn(f"{self.DRAM} is in '%'", notes(self.parsed()))

    def test_numbers_that_are_not_understood_are_refused(self):
        for value in ("\u0661\u066c\u0662\u0663\u0664", "\uff15\uff10\uff10", "1_234", "1\u3000234", "0x10", "1e", "(5)", "1 2 3", "5 foo", "+-5", "5%"):
            for metric, unit in ((self.DRAM, "byte"), ("lts__t_tag_requests.sum", "request"), ("Duration", "ns"), ("Registers Per Thread", "register/thread")):
                with self.subTest(value, metric=metric):
                    said = self.refused("--ncu", self.file("n.csv", HEAD + row(0) + row(0, metric=metric, unit=unit, value=value)))
                    self.assertIn("n.csv:3: '", said)
                    self.assertIn(f"is not a number ({NAME if metric == 'Duration' else metric}): run ncu with LC_ALL=C", said)
        self.assertIn("out of range", self.refused("--ncu", self.file("n.csv", HEAD + row(0) + row(0, metric=self.DRAM, unit="byte", value="\u22125"))))

    def test_text_of_other_metrics_passes(self):
        text = HEAD + row(0) + "".join(row(0, metric=metric, unit="", value=value) for metric, value in
                                       (("Function Cache Configuration", "CachePreferNone"), ("device__attribute_display_name", "GPU \uff15 1_234"),
                                        ("launch__func_cache_config", "\u0661"), ("Driver", "535.104.05"), ("Policy", "1_2")))
        self.assertEqual(self.report("--ncu", self.file("t.csv", text))["devices"][0]["name"], "GPU \uff15 1_234")


class Amid(ImportTest):
    """Rows amid what the program printed, which may end without a line end and begin with a quote; and files that another program wrote again."""
    DRAM = "dram__bytes_read.sum"
    RAW = HEAD.split('"Section Name"')[0] + f'"{NAME}","{DRAM}"\n'
    UNITS = '"",' * 11 + '"us","Kbyte"\n'
    PRINTED = ("progress 50% ", "epoch 1\r", "5,6,7,", '"hello" world ', '"hello', '"', '""', '"0","1', '"1", 2, ', "\r\r", "a\nb", 'x"5", ', '"ID", ', "1,\r", 'say ""5"", ')
    AFTER = ('"done", 1, 2\n', '"hello\n', '"', '"\n', '"5"\n', "5,6\n", '{"a": "1","2"}\n', "12", 'last "5', '"a","b","c"', "ID,x\n", "I", "\r", '"ok"\r\n')

    def raw(self, number, ns=3, kbytes=4):
        return row(number, f"k{number}").split('"Command line')[0] + f'"{ns}","{kbytes}"\n'

    def times_and_bytes(self, text, name="a.csv"):
        report = self.report("--ncu", self.file(name, text))
        return sorted((each["name"], each["launches"], each["time_ns"]["total"], each["bytes"]["dram_read"]) for each in report["kernels"])

    def test_rows_behind_what_a_program_printed(self):
        for printed in self.PRINTED:
            with self.subTest(printed):
                text = HEAD + row(0, "k0") + printed + row(0, "k0", self.DRAM, "byte", "7") + printed + row(1, "k1") + row(1, "k1", self.DRAM, "byte", "9")
                self.assertEqual(self.times_and_bytes(printed + text), [("k0", 1, 10, 7), ("k1", 1, 10, 9)])
                text = printed + self.RAW + printed + self.UNITS + printed + self.raw(0) + printed + self.raw(1)
                self.assertEqual(self.times_and_bytes(text), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])

    def test_what_a_program_printed_last(self):
        for printed in self.AFTER:
            with self.subTest(printed):
                if not printed.startswith('"') or len(printed) > 1:
                    self.assertEqual(self.times_and_bytes(HEAD + row(0, "k0") + printed), [("k0", 1, 10, None)])
                if printed not in ('"', "I", "12", 'last "5'):
                    self.assertEqual(self.times_and_bytes(printed + "\n" + HEAD + row(0, "k0")), [("k0", 1, 10, None)])

    def test_rows_behind_long_lines(self):
        """Around the borders at which the file is read."""
        for length in (*range(262_144 - 40, 262_144 + 4, 3), 700_000):
            front = "x" * (length - len(self.RAW + self.UNITS)) + " "
            self.assertEqual(self.times_and_bytes(self.RAW + self.UNITS + front + self.raw(0) + self.raw(1)), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])

    def rewritten(self, text, quoting, index, delimiter=","):
        """By a program that reads tables: no more lines but the table's."""
        out = io.StringIO()
        write = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        for i, fields in enumerate(csv.reader(io.StringIO(text))):
            numbers = [float(each) if re.fullmatch(r"[0-9.]+", each) else each for each in fields] if quoting == csv.QUOTE_NONNUMERIC else fields
            write.writerow((["" if i == 0 else i - 1] if index else []) + numbers)
        return out.getvalue()

    def test_files_that_another_program_wrote_again(self):
        details = HEAD + row(0, "k<a, b>(int)") + row(0, "k<a, b>(int)", self.DRAM, "byte", "7") + row(1, 'q"')
        raw = self.RAW + self.UNITS + self.raw(0) + self.raw(1)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL):
            for index in (False, True):
                with self.subTest(quoting=quoting, index=index):
                    self.assertEqual(self.times_and_bytes(self.rewritten(details.replace('q"', "q"), quoting, index)), [("k<a, b>(int)", 1, 10, 7), ("q", 1, 10, None)])
                    self.assertEqual(self.times_and_bytes(self.rewritten(raw, quoting, index)), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])
        spreadsheet = self.rewritten(raw, csv.QUOTE_MINIMAL, False).replace(",8.0,", ",8,").replace("\n", "\r\n")
        self.assertEqual(self.times_and_bytes("==PROF== Connected,,,,\r\n" + spreadsheet), [("k0", 1, 3000, 4000), ("k1", 1, 3000, 4000)])

    def test_other_separators_are_named(self):
        for delimiter, name in ((";", "semicolons"), ("\t", "tabs")):
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
                said = self.refused("--ncu", self.file("s.csv", self.rewritten(HEAD + row(0), quoting, False, delimiter)))
                self.assertIn(f"s.csv has {name} between its fields", said)
                self.assertIn("save it again with commas", said)

    def test_a_file_that_is_cut_anywhere(self):
        """Refused, or every whole row is there and no other."""
        details = HEAD + row(0, "k0") + "50% " + row(0, "k0", self.DRAM, "byte", "7") + row(1, "k1")
        raw = self.RAW + self.UNITS + self.raw(0) + "epoch\r" + self.raw(1)
        for text in (details, raw, self.rewritten(details.replace("50% ", ""), csv.QUOTE_MINIMAL, False)):
            refused = 0
            for length in range(len(text) - 130, len(text)):
                path = self.file("cut.csv", text[:length])
                done = run("--ncu", path, "-o", self.folder / "cut.json", check=False)
                lines = text[:length].splitlines(keepends=True)
                if done.returncode == 2:
                    self.assertRegex(done.stderr, rf"cut.csv:{text[:length].count(chr(10)) + 1}: .*cut off")
                    refused += 1
                else:
                    at = "" if text[length - 1] == "\n" else lines[-1]
                    self.assertTrue(at == "" or "epoch".startswith(at) or at in ("epoch\r", 'epoch\r"') or text[length] == "\n" and at[-1] == '"', at)
            self.assertGreater(refused, 100)

    def test_a_piece_of_a_row_is_refused(self):
        for lost in (4, 20):
            self.assertIn("p.csv:3: the", self.refused("--ncu", self.file("p.csv", HEAD + row(0) + row(1)[lost:] + row(2))))
        said = self.refused("--ncu", self.file("p.csv", HEAD + row(0) + row(1).replace('"1","7",', "")[4:] + row(2)))
        self.assertIn("p.csv:3: the line is part of a row whose rest is lost", said)
        self.assertIn("p.csv:2: the row has 16 fields", self.refused("--ncu", self.file("p.csv", HEAD + 'my "5",' + row(0))))
        for damaged in (row(1).replace('"app",', '"app"'), row(1).replace('"app"', '"app')):
            self.assertIn("p.csv:3", self.refused("--ncu", self.file("p.csv", HEAD + row(0) + damaged + row(2))))


if __name__ == "__main__":
    unittest.main()
