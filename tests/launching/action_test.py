# SPDX-License-Identifier: Apache-2.0
"""The GitHub Action, step by step as a runner takes it, in a repository of its own with the playback GPU."""
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

from launchers_test import BUILD, ROOT, blocks, machine

PYTHON = BUILD / "launching" / "bin" / "python"
ACTION = ROOT / "scripts" / "action"
RECORDING = ROOT / "tests" / "data" / "recordings" / "small" / "layers.jsonl"
OPTIONS = "--playback gpu.jsonl --step-range '^step$' --active 1"


def read_yaml(text):
    done = subprocess.run([PYTHON, "-c", "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"], input=text,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Runner:
    """What of GitHub's runner the action uses: inputs, steps in order, their outputs, `if`."""

    def __init__(self, environment, folder, github, inputs):
        self.action = read_yaml((ACTION / "action.yml").read_text(encoding="utf-8"))
        self.environment, self.folder = environment, folder
        self.values = {f"github.{name}": value for name, value in github.items()} | {"github.action_path": str(ACTION)}
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, unknown
        for name, declared in self.action["inputs"].items():
            self.values[f"inputs.{name}"] = inputs.get(name, self.put_in(declared.get("default", "")))
        self.log, self.used = "", []

    def put_in(self, text):
        return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: self.values.get(match.group(1), ""), text)

    def holds(self, condition):
        left, sign, right = re.fullmatch(r"([\w.]+) (==|!=) '(\w*)'", condition).groups()
        return (self.values.get(left, "") == right) == (sign == "==")

    def run(self):
        """Whether all steps succeeded."""
        for step in self.action["runs"]["steps"]:
            if "if" in step and not self.holds(step["if"]):
                continue
            if "uses" in step:
                self.used.append((step["uses"], {name: self.put_in(value) for name, value in step["with"].items()}))
                continue
            output = self.folder / "output"
            output.write_text("", encoding="utf-8")
            environment = self.environment | {name: self.put_in(value) for name, value in step["env"].items()} | {"GITHUB_OUTPUT": str(output)}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.put_in(step["run"])], cwd=self.folder / "head",
                                  env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
            self.log += done.stdout
            for line in output.read_text(encoding="utf-8").splitlines():
                name, value = line.split("=", 1)
                self.values[f"steps.{step['id']}.outputs.{name}"] = value
            if done.returncode != 0:
                return False
        return True

    def output(self, name):
        return self.put_in(self.action["outputs"][name]["value"])


class Hub(http.server.BaseHTTPRequestHandler):
    """GitHub's comments of one pull request."""
    comments, asked, forbidden = [], [], False

    def answer(self, value, code=200):
        self.send_response(403 if self.forbidden else code)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        self.asked.append(("GET", self.path, self.headers["Authorization"]))
        self.answer(self.comments if self.path.endswith("page=1") else [])

    def do_POST(self):
        self.asked.append(("POST", self.path, self.headers["Authorization"]))
        self.comments.append({"id": len(self.comments) + 1, "body": self.body()})
        self.answer({}, 201)

    def do_PATCH(self):
        self.asked.append(("PATCH", self.path, self.headers["Authorization"]))
        self.comments[int(self.path.split("/")[-1]) - 1]["body"] = self.body()
        self.answer({})

    def log_message(self, *_):
        pass


@unittest.skipUnless(PYTHON.exists(), "scripts/setup.sh --launching was not run")
class Action(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.head = self.folder / "head"
        self.head.mkdir()
        for name in ("temp", "home"):
            (self.folder / name).mkdir()
        hub = type("Hub", (Hub,), {"comments": [{"id": 1, "body": "a person's"}], "asked": []})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), hub)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.hub = hub
        (self.folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}), encoding="utf-8")
        self.environment = machine(str(self.folder / "temp"), PYTHON) | {
            "HOME": str(self.folder / "home"), "RUNNER_TEMP": str(self.folder / "temp"), "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"), "GITHUB_REPOSITORY": "somebody/model",
            "GITHUB_API_URL": f"http://127.0.0.1:{server.server_address[1]}", "GIT_CONFIG_NOSYSTEM": "1",
            "PATH": f"{BUILD / 'bin'}:{BUILD / 'lib' / 'playback'}:{os.environ['PATH']}"}
        del self.environment["LD_LIBRARY_PATH"], self.environment["GABLE_PLAYBACK"]
        self.git("init", "--quiet", "--initial-branch=main")
        for name, value in (("user.name", "Somebody"), ("user.email", "somebody@example.org")):
            self.git("config", name, value)
        self.commit(RECORDING.read_text(encoding="utf-8"))
        self.base = self.git("rev-parse", "HEAD")

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.head, env=self.environment, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, recording):
        (self.head / "gpu.jsonl").write_text(recording, encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", "Change")

    @staticmethod
    def slower():
        """The convolution takes twice as long."""
        text = RECORDING.read_text(encoding="utf-8")
        changed = re.sub(r'("kernel": "conv".*"time_ns": )40000', r"\g<1>80000", text)
        assert changed != text
        return changed

    def run_action(self, base=None, **inputs):
        github = {"event.pull_request.base.sha": self.base if base is None else base, "token": "a token"}
        runner = Runner(self.environment, self.folder, github,
                        {"command": "gable-player gpu.jsonl", "options": OPTIONS, "runs": "2"} | inputs)
        self.good = runner.run()
        self.log = runner.log
        worktrees = self.git("worktree", "list").splitlines()
        self.assertEqual(len(worktrees), 1, "the base's checkout is taken away")
        return runner

    def summary(self):
        return (self.folder / "summary").read_text(encoding="utf-8")

    def test_a_head_that_is_as_fast(self):
        self.commit(RECORDING.read_text(encoding="utf-8"))
        runner = self.run_action()
        self.assertTrue(self.good, self.log)
        self.assertEqual(runner.output("result"), "passed")
        ((uses, given),) = runner.used
        self.assertTrue(uses.startswith("actions/upload-artifact@"))
        self.assertEqual(sorted(os.listdir(given["path"])), ["base-1.json", "base-2.json", "base.html", "check.txt", "diff.html", "diff.md",
                                                             "head-1.json", "head-2.json", "head.html", "summary.md"])
        self.assertEqual([method for method, *_ in self.hub.asked], ["GET", "POST"])
        self.assertEqual(self.hub.asked[1][1:], ("/repos/somebody/model/issues/7/comments", "Bearer a token"))
        self.assertEqual(self.hub.comments[1]["body"], "<!-- gable -->\n" + self.summary())
        order = re.findall(r"::group::(\w+), run (\d)", self.log)
        self.assertEqual(order, [("base", "1"), ("head", "1"), ("head", "2"), ("base", "2")])

    def test_a_slower_head_fails_and_its_comment_is_kept_up_to_date(self):
        self.commit(self.slower())
        runner = self.run_action()
        self.assertFalse(self.good, self.log)
        self.assertEqual(runner.output("result"), "worse")
        self.assertIn("::error::The head is slower than the base", self.log)
        self.assertIn("| worse | step/block | none | time | 100 us | 180 us |", self.hub.comments[1]["body"])
        self.commit(RECORDING.read_text(encoding="utf-8"))
        self.run_action()
        self.assertTrue(self.good, self.log)
        self.assertEqual([method for method, *_ in self.hub.asked], ["GET", "POST", "GET", "PATCH"])
        self.assertEqual(len(self.hub.comments), 2)
        self.assertIn("0 worse", self.hub.comments[1]["body"])

    def test_the_gate_and_further_options(self):
        self.commit(self.slower())
        self.run_action(gate="150")
        self.assertTrue(self.good, self.log)
        self.run_action(check="--what flops")
        self.assertTrue(self.good, self.log)

    def test_another_gpu_is_refused(self):
        device = (ROOT / "tests" / "pytorch" / "gpu.jsonl").read_text(encoding="utf-8").splitlines()[1]
        lines = RECORDING.read_text(encoding="utf-8").splitlines(keepends=True)
        self.commit("".join([lines[0], device.replace("Playback H200", "Another GPU") + "\n", *lines[1:]]))
        runner = self.run_action(comment="false")
        self.assertFalse(self.good, self.log)
        self.assertEqual(runner.output("result"), "refused")
        self.assertIn("### Gable: no comparison", self.summary())
        self.assertIn("no comparison", self.summary().split("\n", 1)[1])
        self.assertEqual(self.hub.asked, [])
        self.run_action(comment="false", refusal="pass")
        self.assertTrue(self.good, self.log)

    def test_a_program_that_fails_is_named_with_its_side(self):
        runner = self.run_action(command="gable-player gpu.jsonl; [[ $PWD != */base ]] || exit 3")
        self.assertEqual(runner.output("result"), "refused")
        self.assertIn("The program ended with exit code 3 on the base, in run 1 of 2.", self.summary())
        runner = self.run_action(command="true")
        self.assertIn("The program left no report on the base, in run 1 of 2", self.summary())

    def test_the_same_kernels_are_not_run_again(self):
        (self.head / "notes.md").write_text("words", encoding="utf-8")
        self.commit(RECORDING.read_text(encoding="utf-8"))
        runner = self.run_action(kernels="*.jsonl none/**", command="false")
        self.assertTrue(self.good, self.log)
        self.assertEqual(runner.output("result"), "same")
        self.assertEqual(runner.used, [])
        self.assertIn("The GPU's code is the same in base and head (1 files: *.jsonl none/**), so nothing was profiled.", self.hub.comments[1]["body"])
        self.commit(self.slower())
        self.assertEqual(self.run_action(kernels="*.jsonl").output("result"), "worse")

    def test_of_a_library_its_gpu_code_counts(self):
        """Built by the setup of each checkout."""
        source = 'const char code[] __attribute__((section(".nv_fatbin"))) = "%s"; const char *name() { return "%s"; }'

        def write(code, name):
            (self.head / "lib.c").write_text(source % (code, name), encoding="utf-8")
            self.commit(RECORDING.read_text(encoding="utf-8"))
        (self.head / ".gitignore").write_text("out\n", encoding="utf-8")
        write("kernel one", "first")
        self.base = self.git("rev-parse", "HEAD")
        setup = "mkdir -p out && cc -shared -fPIC -o out/lib.so lib.c"
        write("kernel one", "another string of the host's")
        self.assertEqual(self.run_action(setup=setup, kernels="out/*.so").output("result"), "same")
        write("kernel two", "first")
        self.assertEqual(self.run_action(setup=setup, kernels="out/*.so").output("result"), "passed")
        self.assertFalse(self.git("status", "--short", "--untracked-files=no"))

    def test_wrong_use_is_one_sentence(self):
        for inputs, sentence in (({"base": ""}, "There is no base to compare with"), ({"runs": "many"}, "runs takes a number from 1 to 99, not 'many'."),
                                 ({"setup": "false"}, "The setup failed on the base."), ({"kernels": "*.cubin"}, "No file matches kernels: *.cubin."),
                                 ({"base": "0" * 40}, "is not in this checkout and could not be fetched")):
            with self.subTest(inputs):
                self.run_action(**inputs)
                self.assertFalse(self.good)
                self.assertEqual(len(re.findall("::error::", self.log)), 1, self.log)
                self.assertIn(sentence, self.log)

    def test_a_token_that_may_not_comment_costs_a_warning(self):
        self.hub.forbidden = True
        self.run_action()
        self.assertTrue(self.good, self.log)
        self.assertIn("::warning::The summary could not be commented (HTTP 403): give the job permissions: pull-requests: write.", self.log)

    def test_the_workflow_on_the_page_gives_what_the_action_takes(self):
        (workflow,) = blocks("GitHub Actions", "yaml")
        steps = read_yaml(workflow)["jobs"]["gable"]["steps"]
        action = read_yaml((ACTION / "action.yml").read_text(encoding="utf-8"))
        given = [step["with"] for step in steps if step.get("uses", "").startswith("OWNER/gable/scripts/action@")]
        self.assertEqual(len(given), 1)
        self.assertLessEqual(set(given[0]), set(action["inputs"]))
        self.assertLessEqual({name for name, declared in action["inputs"].items() if declared.get("required")}, set(given[0]))


if __name__ == "__main__":
    unittest.main()
