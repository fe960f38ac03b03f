# SPDX-License-Identifier: Apache-2.0
"""A machine as a newcomer has it, for tests: a HOME of its own, a virtual environment with PyTorch and torchvision in which nothing of
Gable's lies, and a GPU, which is the playback GPU of the build that is tried."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "first_contact"
TORCH_PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
TORCHVISION = pathlib.Path(TORCH_PYTHON).parents[2] / "torchvision" if TORCH_PYTHON else pathlib.Path()
# Of the machine that runs the test, only what finds programs, packages and the compiler's cache.
KEPT = re.compile(r"^(PATH|OMP_NUM_THREADS|LANG|LC_.*|TERM|TMPDIR|PYENV_ROOT|CUDA_HOME|CUDA_PATH|PIP_.*|SSL_.*|.*_(proxy|PROXY)|CCACHE_.*|CMAKE_.*_LAUNCHER)$")
FFMA, SECTORS, TIME_NS = 1 << 20, 1 << 12, 4000  # of every kernel
BLOCKS, THREADS = 8, 64
MODULES = ("Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d", "AdaptiveAvgPool2d", "Linear", "CrossEntropyLoss")
# Convolutions of a ResNet-50, by PyTorch's names.
CONVOLUTIONS = ["conv1"] + [f"layer{stage}.{block}.{name}" for stage, blocks in ((1, 3), (2, 4), (3, 6), (4, 3)) for block in range(blocks)
                            for name in ("conv1", "conv2", "conv3") + (("downsample.0",) if block == 0 else ())]


def why_not():
    """Why there is no such machine here; empty where there is."""
    if not os.path.exists(TORCH_PYTHON):
        return "no Python with PyTorch (scripts/setup.sh --torch BUILD makes one)"
    if not (TORCHVISION / "torchvision").is_dir():
        return f"no torchvision in {TORCHVISION} (scripts/setup.sh --torch BUILD puts it there)"
    return ""


class Machine:
    def __init__(self, folder, python=None):
        """`folder` holds what belongs to this machine alone; it is made anew. `python`: of a virtual environment that is there."""
        self.home = pathlib.Path(folder)
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        if python is None:
            subprocess.run([TORCH_PYTHON, "-m", "venv", "--without-pip", str(self.home / "venv")], check=True, timeout=200)
            python = self.home / "venv" / "bin" / "python"
        self.python = pathlib.Path(python)
        self._add_pytorch()
        self.gpu = self.home / "gpu.jsonl"
        self._write_gpu()
        self.stubs = self.home / "stubs"
        self.stubs.mkdir()
        (self.stubs / "srun").write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
        (self.stubs / "srun").chmod(0o755)

    def _add_pytorch(self):
        packages = subprocess.run([TORCH_PYTHON, "-c", "import torch; print(torch.__path__[0])"], check=True, capture_output=True,
                                  text=True, timeout=200).stdout.strip()
        own = next((self.python.parents[1] / "lib").glob("python*/site-packages"))
        (own / "pytorch.pth").write_text(f"{os.path.dirname(packages)}\n{TORCHVISION}\n", encoding="utf-8")
        shutil.copy(HERE / "machine" / "sitecustomize.py", own)

    def _write_gpu(self):
        lines = (ROOT / "tests" / "pytorch" / "gpu.jsonl").read_text(encoding="utf-8").splitlines()
        names = [f"{way}:{kind}" for way in ("forward", "backward") for kind in MODULES]
        for name in (*names, "convolution", "convolution_backward", "other"):
            lines.append(json.dumps({
                "kernel": name, "name": name, "grid": [BLOCKS, 1, 1], "block": [THREADS, 1, 1], "time_ns": TIME_NS,
                "counters": {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": FFMA, "dram__sectors_read.sum": SECTORS,
                             "dram__sectors_write.sum": SECTORS}}))
        self.gpu.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if KEPT.match(name)}
        if shutil.which("ccache"):
            kept.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
            kept.setdefault("CCACHE_DIR", subprocess.run(["ccache", "--get-config", "cache_dir"], check=True, capture_output=True,
                                                         text=True, timeout=60).stdout.strip())
        path = f"{self.python.parent}:{self.stubs}:{kept['PATH']}"
        return kept | {"HOME": str(self.home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"} | more

    def with_gpu(self, build, kernels="modules"):
        """What the environment of `build`'s machine has where there is a GPU."""
        return self.environment(LD_LIBRARY_PATH=str(pathlib.Path(build) / "lib" / "playback"), GABLE_PLAYBACK=str(self.gpu),
                                PLAYBACK_KERNELS=kernels, PLAYBACK_OPS=str(ROOT / "tests" / "pytorch"))

    @staticmethod
    def run(command, folder, environment, timeout=1200):
        """As from a terminal: SIGINT, which --then stop sends, is not ignored."""
        return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, timeout=timeout,
                              capture_output=True, text=True, check=False, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def same_output(text):
    """What a program prints, without the seconds it took."""
    return re.sub(r"\b(Time|Data) +[\d.]+( \( *[\d.]+\))?", r"\1", text)


def read_report(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def layers_of(report):
    """{(path, direction): row}"""
    return {(tuple(row["path"]), row["direction"]): row for row in report["layers"]}


def missing_convolutions(report, forward, backward):
    """The convolutions that lack their layer, or in it the kernel of that name, once a step and alone."""
    rows = {row["id"]: (row["dotted"], row["direction"]) for row in report["layers"]}
    found = {}
    for kernel in report["kernels"]:
        found.setdefault(rows[kernel["layer"]], []).append((kernel["symbol"], kernel["launches"]))
    return [(name, way) for name in CONVOLUTIONS for way, symbol in (("forward", forward), ("backward", backward))
            if (symbol, 1) not in found.get((name, way), ())]


if __name__ == "__main__":
    sys.exit("This is a part of the tests in tests/first_contact and tests/package.")
