# SPDX-License-Identifier: Apache-2.0
"""Where scripts/setup.sh --cupti-wheels put the CUPTIs of other releases of CUDA."""

import glob
import os
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TOO_OLD, OLDEST, NEWEST_PLANNING, CRASHING, NEWEST = "12.1", "12.6", "13.1", "13.2", "13.5"
RELEASES = ("12.6", "12.8", "12.9", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5")  # that take counters


def need_wheels():
    """Ends the test program as skipped, with a notice, where one of them is missing."""
    folder = os.environ["GABLE_CUPTI_WHEELS"]
    for release in (TOO_OLD, *RELEASES):
        if not glob.glob(os.path.join(folder, release, "nvidia", "*", "lib", "libcupti.so.1*")):
            print(f"Skipped: the CUPTI of CUDA {release} is not in {folder} (scripts/setup.sh --cupti-wheels puts it there).")
            sys.exit(SKIPPED)


def library(release):
    return glob.glob(os.path.join(os.environ["GABLE_CUPTI_WHEELS"], release, "nvidia", "*", "lib", "libcupti.so.1*"))[0]


def includes(release):
    """The wheels' folders of headers, then those that the build uses: what the wheels lack does not differ."""
    found = sorted(glob.glob(os.path.join(os.environ["GABLE_CUPTI_WHEELS"], release, "nvidia", "*", "include")))
    return found + [folder for folder in os.environ["GABLE_INCLUDES"].split(":") if folder]
