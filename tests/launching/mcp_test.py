# SPDX-License-Identifier: Apache-2.0
"""gable mcp, asked by the client of the protocol's own SDK."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from launchers_test import BUILD, ROOT

PYTHON = BUILD / "launching" / "bin" / "python"
GABLE = BUILD / "bin" / "gable"
CLIENT = """
import anyio, json, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    command, calls = json.load(sys.stdin)
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(stdio_client(server)) as client:
        tools = await client.list_tools()
        out = {"tools": {tool.name: [tool.annotations.read_only_hint, sorted(tool.input_schema.get("required", []))] for tool in tools.tools},
               "instructions": client.instructions, "answers": []}
        for name, arguments in calls:
            answer = await client.call_tool(name, arguments)
            out["answers"].append([bool(answer.is_error), answer.structured_content, "".join(part.text for part in answer.content)])
        json.dump(out, sys.stdout)

anyio.run(main)
"""


@unittest.skipUnless(PYTHON.exists(), "scripts/setup.sh --launching was not run")
class Mcp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.outside = pathlib.Path(tempfile.mkdtemp(prefix="gable-mcp-")).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.outside)
        cls.folder = cls.outside / "reports"
        (cls.folder / "old").mkdir(parents=True)
        recording = ROOT / "tests" / "data" / "recordings" / "resnet50-train.jsonl"
        for name in ("now.json", "old/main.json"):
            subprocess.run([GABLE, "profile", "-q", "--playback", recording, "--step-range", "^step$", "-o", cls.folder / name], check=True,
                           capture_output=True, timeout=300)
        shutil.copy(cls.folder / "now.json", cls.outside / "secret.json")
        (cls.folder / "other.json").write_text('{"schema": 1}', encoding="utf-8")
        (cls.folder / "notes.txt").write_text("words", encoding="utf-8")

    def ask(self, *calls, python=PYTHON):
        command = [str(GABLE), "mcp", "--folder", str(self.folder), "--python", str(python)]
        done = subprocess.run([PYTHON, "-c", CLIENT], input=json.dumps([command, calls]), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def answer(self, name, **arguments):
        """(whether it is an error, the structured answer, its text)."""
        return self.ask((name, arguments))["answers"][0]

    def test_what_it_can_be_asked(self):
        said = self.ask()
        self.assertEqual({name: required for name, (_, required) in said["tools"].items()},
                         {"list_reports": [], "summary": ["report"], "operators": ["report"], "diff": ["after", "before"],
                          "check": ["baseline", "now"], "predict": ["gpu", "report"]})
        self.assertEqual({read_only for read_only, _ in said["tools"].values()}, {True})
        page = (ROOT / "docs" / "commands" / "mcp.md").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)), set(said["tools"]))
        self.assertIn("null is unknown", said["instructions"])

    def test_reports_are_found_and_nothing_else(self):
        _, listed, _ = self.answer("list_reports")
        self.assertEqual(sorted(each["report"] for each in listed["reports"]), ["now.json", "old/main.json"])
        self.assertEqual(listed["further_reports"], 0)

    def test_the_summary_is_that_of_the_command(self):
        failed, facts, _ = self.answer("summary", report="now.json", rows=3, sort="time")
        self.assertFalse(failed)
        told = subprocess.run([GABLE, "report", self.folder / "now.json", "--json-summary", "-", "--top", "3", "--sort", "time"], check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(facts, json.loads(told))
        self.assertEqual(len(facts["reports"][0]["rows"]), 3)
        _, facts, _ = self.answer("summary", report="old/main.json", layer="layer4", of="kernels")
        self.assertEqual(facts["reports"][0]["file"], "old/main.json")
        self.assertEqual({"kernel" in row for row in facts["reports"][0]["rows"]}, {True})

    def test_two_runs(self):
        answers = self.ask(("check", {"now": "now.json", "baseline": "old/main.json"}), ("diff", {"before": "old/main.json", "after": "now.json"}),
                           ("predict", {"report": "now.json", "gpu": "H100"}))["answers"]
        self.assertEqual([failed for failed, *_ in answers], [False] * 3)
        self.assertEqual(answers[0][1]["verdict"], "not worse")
        self.assertIn("main.json -> now.json", answers[1][2])
        self.assertIn("H100", answers[2][2])

    def test_what_is_wrong_is_said(self):
        cases = ((("summary", {"report": "none.json"}), "There is no file none.json"), (("summary", {"report": "other.json"}), "other.json"),
                 (("summary", {"report": "now.json", "layer": "no such layer"}), "matches no layer"), (("summary", {"report": "now.json", "rows": 0}), "rows"),
                 (("operators", {"report": "now.json"}), "There are no operators"), (("predict", {"report": "now.json", "gpu": "Z9"}), "Z9"))
        answers = self.ask(*(call for call, _ in cases))["answers"]
        for (call, sentence), (failed, _, text) in zip(cases, answers):
            with self.subTest(call):
                self.assertTrue(failed)
                self.assertIn(sentence, text)

    def test_it_reads_one_folder_and_writes_nothing(self):
        os.symlink(self.outside / "secret.json", self.folder / "link.json")
        self.addCleanup(os.remove, self.folder / "link.json")
        before = sorted(path.relative_to(self.outside) for path in self.outside.rglob("*"))
        cases = [("summary", {"report": name}) for name in ("../secret.json", str(self.outside / "secret.json"), "link.json", "old/../../secret.json")]
        cases += [("predict", {"report": "now.json", "gpu": str(self.outside / "gpu.json")}), ("predict", {"report": "now.json", "gpu": "../gpu.json"}),
                  ("summary", {"report": "--html=page.html"}), ("summary", {"report": "now.json", "layer": "--html=page.html"})]
        for call, (failed, _, text) in zip(cases, self.ask(*cases)["answers"]):
            with self.subTest(call):
                self.assertTrue(failed, text)
                self.assertNotIn("gable_summary", text)
        self.assertEqual(sorted(path.relative_to(self.outside) for path in self.outside.rglob("*")), before)

    def test_without_the_sdk_a_sentence_says_what_to_install(self):
        done = subprocess.run([GABLE, "mcp", "--python", BUILD / "torch" / "bin" / "python"], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r'^gable: \S+ has no MCP SDK, version 2: run \'\S+ -m pip install "mcp>=2,<3"\' [^\n]*\n$')

    def test_wrong_use(self):
        for words, sentence in ((("--folder", "/no/such"), "gable: --folder: there is no folder /no/such.\n"),
                                (("--python", "no-such-python"), "gable: The program 'no-such-python' was not found in PATH. This command needs")):
            done = subprocess.run([GABLE, "mcp", *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
