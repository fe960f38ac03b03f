# SPDX-License-Identifier: Apache-2.0
"""The worked example, docs/example.md: its commands run as written, and print what the page shows."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "example.md").read_text(encoding="utf-8")
PROGRAM = pathlib.Path(os.environ["GABLE_PROGRAM"])
COMMAND, OUTPUT = re.compile(r"    (\S.*)"), re.compile(r"```\n(.*?)```\n", re.DOTALL)


def parts():
    """("command", line) and ("output", text), in the order of the page."""
    for block in re.split(r"(```\n.*?```\n)", PAGE, flags=re.DOTALL):
        if output := OUTPUT.fullmatch(block):
            yield "output", output[1]
        else:
            yield from (("command", line[1]) for line in map(COMMAND.fullmatch, block.splitlines()) if line)


class Example(unittest.TestCase):
    def test_the_page_shows_what_its_commands_print(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "tests").symlink_to(ROOT / "tests")
            variables = {key: value for key, value in os.environ.items() if key not in ("GABLE_OPTIONS", "COLUMNS")}
            variables |= {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "GABLE_CEILINGS": "none"}
            printed, commands, outputs, last = "", 0, 0, None
            for kind, text in parts():
                if (last, kind) == ("output", "command"):
                    printed = ""
                last = kind
                if kind == "output":
                    outputs += 1
                    with self.subTest(text=text):
                        self.assertIn(text, printed)
                    continue
                commands += 1
                done = subprocess.run(["bash", "-c", text], cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 0, text + "\n" + done.stderr)
                printed += done.stdout + done.stderr
            self.assertGreater(min(commands, outputs), 5)


if __name__ == "__main__":
    sys.exit(unittest.main())
