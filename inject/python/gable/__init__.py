# SPDX-License-Identifier: Apache-2.0
"""For programs that want to name their own layers and steps. Does nothing when the program is not being profiled."""
from gable._api import range, step

__all__ = ["range", "step"]
