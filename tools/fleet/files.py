# SPDX-License-Identifier: Apache-2.0
"""Which files are reports."""
import os
import re


def reports_in(folder):
    """Paths of the reports in a folder and in its folders, by how they begin."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(".json") and _begins_like_one(path):
                yield path


def _begins_like_one(path):
    try:
        with open(path, "rb") as file:
            return re.match(rb'\s*\{\s*"gable"\s*:\s*\{', file.read(200)) is not None
    except OSError:
        return False
