# SPDX-License-Identifier: Apache-2.0
"""The name by which programs know Gable's functions. All there is to it is in gable_profiler, as others have a package gable too."""
from gable_profiler import annotate, load_ipython_extension, profile, range, step

__all__ = ["annotate", "load_ipython_extension", "profile", "range", "step"]
