# SPDX-License-Identifier: Apache-2.0
"""The program `gable` beside this package, and the command of that name of an installation by pip, which becomes it."""
import os
import sys


def path():
    here = os.path.dirname(os.path.abspath(__file__))
    by_pip = os.path.join(here, "native", "bin", "gable")
    # Elsewhere this is lib/python/gable_profiler beside bin/.
    return by_pip if os.path.exists(by_pip) else os.path.join(here, "..", "..", "..", "bin", "gable")


def main():
    program = path()
    os.environ.setdefault("GABLE_PYTHON", sys.executable)  # for commands that are written in Python; pipx puts it on no PATH
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"gable: {program} does not start: {problem.strerror}; install the package again.")
