# SPDX-License-Identifier: Apache-2.0
"""The command `gable` of an installation by pip: becomes the program that lies in this package."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native", "bin", "gable")
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"gable: {program} does not start: {problem.strerror}; install the package again.")
