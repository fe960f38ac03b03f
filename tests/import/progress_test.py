# SPDX-License-Identifier: Apache-2.0
"""The line that shows how far files have been read: on a pseudo terminal, of which a small model has what a user would see."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata
import unittest
import unittest.mock

from import_run import PROGRAM, ImportTest, export_nsys, run

HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
        '"Section Name","Metric Name","Metric Unit","Metric Value"\n')
ROW = ('"0","1","app","node1","k","1","7","(32, 1, 1)","(4, 1, 1)","0","8.0","Command line profiler metrics","gpu__time_duration.sum",'
       '"ns","10"\n')
LARGE = 9 << 20  # above the size from which on files have the line


class Screen:
    """A terminal's lines, and every state that its last one had while the program drew on it."""

    def __init__(self, columns):
        self.columns, self.lines, self.column, self.drawn = columns, [""], 0, []

    def show(self, text):
        for piece in re.findall(r"\x1b\[K|\x1b.|.", text, re.DOTALL):
            if piece == "\r":
                if self.lines[-1]:
                    self.drawn.append(self.lines[-1])
                self.column = 0
            elif piece == "\n":
                self.lines.append("")
            elif piece == "\x1b[K":
                self.lines[-1] = self.lines[-1][:self.column]
            else:
                assert piece.isprintable(), repr(piece)
                if self.column == self.columns:
                    self.lines.append("")
                    self.column = 0
                self.lines[-1] = self.lines[-1][:self.column] + piece + self.lines[-1][self.column + 1:]
                self.column += 2 if unicodedata.east_asian_width(piece) in "WF" else 1


def on_terminal(columns, *arguments, terminal="xterm", folder=None):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = dict(os.environ, GABLE_CEILINGS="none", TERM=terminal)
    with subprocess.Popen([PROGRAM, "import", *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave, env=environment,
                          cwd=folder) as program:
        os.close(slave)
        written = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the program has ended
                break
            if not piece:
                break
            written += piece
        os.close(master)
        code = program.wait(100)
    screen = Screen(columns)
    screen.show(written.decode())
    return code, screen


class Line(ImportTest):
    def counters(self, name="counters.csv", size=LARGE, end=""):
        return self.file(name, HEAD + ROW * (size // len(ROW) + 1) + end)

    def bars(self, screen):
        return [line for line in screen.drawn if "%" in line]

    def check_done(self, code, screen, out):
        self.assertEqual(code, 0)
        self.assertEqual(screen.lines, [f"Written: {out}", f"Next: gable report {out}", ""])

    def test_one_line_that_fills_up_and_goes_away(self):
        out = self.folder / "o.json"
        code, screen = on_terminal(200, "--ncu", self.counters("größe\x1b[31m.csv"), "-o", out)
        bars = self.bars(screen)
        self.assertGreater(len(bars), 10)
        percents = [int(re.fullmatch(r"\[#*\.*\] +(\d+) %  größe\\x1b\[31m\.csv", bar)[1]) for bar in bars]
        self.assertEqual(percents, sorted(set(percents)))
        self.assertEqual(percents[-1], 100)
        self.check_done(code, screen, out)

    def test_it_fits_narrow_terminals(self):
        file = self.counters("a-name-of-a-file-that-is-much-longer-than-the-terminal-is-wide-" + "x" * 90 + ".csv").name
        for columns, pattern in ((80, r"\[[#.]{24}\] +\d+ %  a-name.*….*x\.csv"), (40, r"\[[#.]{24}\] +\d+ %"), (20, r"\[[#.]{11}\] +\d+ %"),
                                 (8, r" *\d+ %")):
            with self.subTest(columns):
                _, screen = on_terminal(columns, "--ncu", file, "-o", "o", folder=self.folder)
                bars = self.bars(screen)
                self.assertGreater(len(bars), 10)
                for bar in bars:
                    self.assertLess(len(bar), columns)
                    self.assertRegex(bar, f"^{pattern}$")

    def test_nothing_is_left_of_it_when_the_file_is_refused(self):
        code, screen = on_terminal(300, "--ncu", self.counters(end=ROW[:40]), "-o", self.folder / "o.json")
        self.assertEqual(code, 2)
        self.assertGreater(len(self.bars(screen)), 10)
        self.assertEqual(len(screen.lines), 2, screen.lines)
        self.assertRegex(screen.lines[0], "^gable: .*: the file ends within a row: it was cut off.$")

    def test_rows_of_a_data_base(self):
        columns = "start, end, eventType, text, globalTid"
        rows = (f"INSERT INTO NVTX_EVENTS ({columns}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
                "SELECT 100000 + i, 100001 + i, 59, 'r', 1 FROM n")
        file = export_nsys(self.folder / "run.sqlite", rows, "CREATE TABLE more (x)", f"INSERT INTO more VALUES (zeroblob({LARGE}))")
        out = self.folder / "o.json"
        code, screen = on_terminal(200, "--nsys", file, "-o", out)
        self.assertGreater(len(self.bars(screen)), 3)
        self.check_done(code, screen, out)

    def test_small_files_and_terminals_that_cannot_go_back_have_none(self):
        out = self.folder / "o.json"
        for size, terminal in ((1, "xterm"), (LARGE, "dumb")):
            code, screen = on_terminal(200, "--ncu", self.counters(size=size), "-o", out, terminal=terminal)
            self.assertEqual(self.bars(screen), [])
            self.check_done(code, screen, out)

    def test_none_where_standard_error_is_no_terminal(self):
        out = self.folder / "o.json"
        with unittest.mock.patch.dict(os.environ, TERM="xterm"):
            done = run("--ncu", self.counters(), "-o", out)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, f"Written: {out}\nNext: gable report {out}\n")


if __name__ == "__main__":
    unittest.main()
