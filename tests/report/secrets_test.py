# SPDX-License-Identifier: Apache-2.0
"""A report and a recording tell no secret of the command line. detect-secrets, which others wrote, is the judge of what a secret is:
it finds every one of these in the command itself, and none in what Gable writes."""
import json
import os
import subprocess
import sys
import unittest

from small import SmallTest, path_of
import gable_run

PYTHON = os.environ["GABLE_SECRETS_PYTHON"]
HAZARD = os.environ["GABLE_HAZARD"]
BODY = "q7Zk" + "R2mX9bV4tL1wP8sD" + "6hJ3nF5cY0gT"  # made up, in parts, so that no scanner takes this file for a leak
HEX = "9f86d081" + "884c7d65" + "9a2feaa0" + "c55ad015"

# One line for each command, arguments apart by " | ".
COMMANDS = f"""
--api-key={BODY}
--password | {BODY}
{{"api_key": "{BODY}", "lr": 0.1}}
{{"api_key":"{BODY}"}}
{{'secret':'{BODY}'}}
-c | login(token='{BODY}')
-c | os.environ['HF_TOKEN'] = '{BODY}'
-c | export API_KEY='{BODY}'; python train.py
https://me:{BODY}@host.example/x
postgres://me:{BODY}@host.example:5432/x
AWS_ACCESS_KEY_ID=AKIA{BODY[:16].upper()}
push | AKIA{BODY[:16].upper()}
login | ghp_{BODY}{BODY[:4]}
--note=ghp_{BODY}{BODY[:4]}
xoxb-123456789012-123456789012-{BODY[:24]}
https://hooks.slack.com/services/T00000000/B00000000/{BODY[:24]}
sk_live_{BODY[:24]}
npm_{BODY}{BODY[:4]}
-----BEGIN RSA PRIVATE KEY-----
DefaultEndpointsProtocol=https;AccountName=me;AccountKey={(BODY * 3)[:86]}==;EndpointSuffix=core.example
--secret_key='{HEX}'
-e | SECRET_KEY='{HEX}'
glpat-{BODY[:20]}
-c | requests.get(url, auth=('me', '{BODY}'), password='{BODY}')
-c | bash -c "PASSWORD='{BODY}' sshpass -p {BODY} ssh host"
secret | set | HF_TOKEN | --password='{BODY}'
{{"env": [{{"name": "HF_TOKEN", "secret": "{BODY}"}}]}}
--api_keys | ghp_{BODY}{BODY[:4]} | ghp_{BODY}{BODY[:4]}
+trainer.logger.api_key='{BODY}'
git clone https://oauth2:{BODY}@host.example/x.git
""".strip().splitlines()


def findings(paths):
    """What detect-secrets finds in files: {path: kinds}."""
    folder = os.path.dirname(paths[0])
    done = subprocess.run([PYTHON, "-m", "detect_secrets", "scan", "--all-files", *map(os.path.basename, paths)], cwd=folder,
                          capture_output=True, text=True, timeout=300, check=True)
    results = json.loads(done.stdout)["results"]
    return {path: [found["type"] for found in results.get(os.path.basename(path), [])] for path in paths}


class Secrets(SmallTest):
    def run_with(self, arguments, name, *options):
        """The report of a program with these arguments."""
        out = gable_run.work(name)
        done = subprocess.run([os.environ["GABLE_PROGRAM"], "profile", "-q", "--playback", path_of("layers"), *options, "-o", out, "--",
                               HAZARD, "return", "1", *arguments], capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 3, done.stderr)
        return out

    def command_of(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)["run"]["command"]

    def test_no_secret_is_in_the_report(self):
        plain, reports = [], []
        for number, line in enumerate(COMMANDS):
            arguments = line.split(" | ")
            plain.append(gable_run.work(f"plain-{number}.json"))
            with open(plain[-1], "w", encoding="utf-8") as file:
                json.dump({"run": {"command": arguments}}, file, indent=1)
            reports.append(self.run_with(arguments, f"report-{number}.json"))
            shown = self.command_of(reports[-1])[3:]
            self.assertEqual(len(shown), len(arguments))
            for part in (BODY[:16], BODY[:16].upper(), HEX):
                self.assertNotIn(part, " ".join(shown))
        seen = findings(plain)
        self.assertEqual([line for line, path in zip(COMMANDS, plain) if not seen[path]], [], "the judge sees nothing in these")
        self.assertEqual({path: kinds for path, kinds in findings(reports).items() if kinds}, {})

    def test_the_command_can_be_left_out(self):
        record = gable_run.work("record.jsonl")
        self.assertEqual(self.command_of(self.run_with(["--lr", "0.1"], "out.json", "--no-command", "--record", record)), [])
        with open(record, encoding="utf-8") as file:
            self.assertNotIn("--lr", file.read())


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print(f"Skipped: detect-secrets is not in {PYTHON} (scripts/setup.sh --secrets BUILD puts it there).")
        sys.exit(77)
    unittest.main()
