# SPDX-License-Identifier: Apache-2.0
"""One program under the injected library on the playback GPU, started as the launcher would, and what it left."""
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import report_schema  # noqa: E402

BUILD = os.environ["GABLE_BUILD"]
LIBRARY = os.path.join(BUILD, "lib", "libgable_inject.so")
PLAYBACK = os.path.join(BUILD, "lib", "playback")
RECORDING = os.path.join(os.path.dirname(HERE), "hazards", "gpu.jsonl")


LATE_MS = 4500  # when a call that is late returns: nobody waits for it any more, and the program still runs


class Ended:
    def __init__(self, code, out, err, seconds, report, broken, fired):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds
        self.report, self.broken, self.fired = report, broken, fired

    @property
    def notes(self):
        return self.report["run"]["notes"] if self.report else []


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(command, folder, options="", faults="", environment=(), injected=True, timeout=120):
    """`folder` is the run's own and empty."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_"))}
    report, broken, fired = (os.path.join(folder, name) for name in ("report.json", "broken", "fired"))
    env.update(LD_LIBRARY_PATH=PLAYBACK, GABLE_PLAYBACK=RECORDING, GABLE_PLAYBACK_VIOLATIONS=broken,
               GABLE_PLAYBACK_FIRED=fired)
    if injected:
        env.update(CUDA_INJECTION64_PATH=LIBRARY, NVTX_INJECTION64_PATH=LIBRARY,
                   GABLE_OPTIONS=f"{options} --playback={RECORDING} -o {report}")
    if faults:
        env["GABLE_PLAYBACK_FAULTS"] = faults
    env.update(environment)
    began = time.monotonic()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += f"gable's test ended it after {timeout} s"
    seconds = time.monotonic() - began
    document = None
    if os.path.exists(report):
        document = report_schema.parse(read(report))
        wrong = report_schema.problems(document)
        if wrong:
            raise AssertionError(f"the report does not match the schema: {wrong}")
    return Ended(process.returncode, out, err, seconds, document, read(broken), read(fired).split())


def fault(kind, call, use, code=999, times=1, late_ms=LATE_MS):
    """A fault line: the use-th call of `call` fails, or never returns."""
    line = {"fault": kind, "call": call, "after": use - 1, "times": times}
    if kind == "call":
        line["code"] = code
    if kind == "delay":
        line["ms"] = late_ms
    return json.dumps(line)
