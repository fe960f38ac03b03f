# SPDX-License-Identifier: Apache-2.0
"""The functions that a program may call itself."""
import contextlib

from gable import _library


@contextlib.contextmanager
def range(name):
    """A layer of that name while the block runs."""
    library = _library.library()
    if library is None:
        yield
        return
    depth = library.gable_open(str(name).encode("utf-8", "replace"), 0, 0)
    try:
        yield
    finally:
        library.gable_close(depth)


def step():
    """One step of the program's main loop ends, the next begins."""
    library = _library.library()
    if library is not None:
        library.gable_step()
