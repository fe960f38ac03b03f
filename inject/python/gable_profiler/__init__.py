# SPDX-License-Identifier: Apache-2.0
"""For programs that name layers and steps themselves. Does nothing while the program is not being profiled."""
from gable_profiler._api import annotate, profile, range, step

__all__ = ["annotate", "load_ipython_extension", "profile", "range", "step"]


def load_ipython_extension(shell):
    """%load_ext gable"""
    from gable_profiler import _notebook
    _notebook.load(shell)
