# SPDX-License-Identifier: Apache-2.0
"""Two ranks of real PyTorch under FSDP2, which imports much after the first launches, end. GABLE_LOCK_RUNS says how often."""
import glob
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "recordings")]
import gable_run  # noqa: E402
import watched  # noqa: E402

PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
PYTORCH = os.path.join(HERE, "..", "pytorch")
GPU = os.path.join(PYTORCH, "gpu.jsonl")
COMMAND = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", os.path.join(PYTORCH, "program.py"), "fsdp"]
RUNS = int(os.environ.get("GABLE_LOCK_RUNS", "1"))


def check(run, lines, folder):
    if run.code != 0 or run.lines != lines:
        raise SystemExit(f"It ended with {run.code} and wrote {run.lines}, not {lines}:\n{run.err}")
    ranks = []
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path, encoding="utf-8") as file:
            ranks.append(json.load(file)["run"]["rank"])
    if sorted(ranks) != [0, 1]:
        raise SystemExit(f"There are reports of ranks {ranks}, not of 0 and 1:\n{run.err}")


def main():
    if not os.path.exists(PYTHON):
        print("Skipped: there is no Python that has PyTorch (scripts/setup.sh --torch BUILD).")
        return gable_run.SKIPPED
    dropped = ("GABLE_OPTIONS", "PYTHONPATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    alone = dict(environment, LD_LIBRARY_PATH=os.path.join(os.environ["GABLE_BUILD"], "lib", "playback"), GABLE_PLAYBACK=GPU)
    with tempfile.TemporaryDirectory() as folder:
        lines = watched.run(COMMAND, alone, folder).lines
    for turn in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            check(watched.run([os.environ["GABLE_PROGRAM"], "profile", "--playback", GPU, "-o", os.path.join(folder, "%p.json"), "--",
                               *COMMAND], environment, folder), lines, folder)
        print(f"run {turn + 1} of {RUNS} ended", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
