# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu/prove.sh as the tests call it."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["GABLE_BUILD"])
PROVE = BUILD / "bin" / "gable_prove"
PLAYBACK = BUILD / "lib" / "playback"


def environment(**more):
    """Without what the machine has set for CUDA or Gable; the stages' time does not bound a slow machine."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_")) and k != "OUT"}
    return env | {"GABLE_PROVE_SECONDS": "600"} | more


def prove(*arguments, root=ROOT, **more):
    return subprocess.run([root / "scripts" / "gpu" / "prove.sh", "-b", BUILD, *arguments], env=environment(**more),
                          capture_output=True, text=True, timeout=800, check=False)


def part(*arguments, text=""):
    return subprocess.run([PROVE, *arguments], input=text, env=environment(), capture_output=True, text=True, timeout=60, check=False)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def played(recording, **more):
    """The environment of a program on the playback GPU."""
    return environment(LD_LIBRARY_PATH=str(PLAYBACK), GABLE_PLAYBACK=str(recording),
                       GABLE_PROVE_CUPTI=str(PLAYBACK / "libcupti.so.13"), **more)
