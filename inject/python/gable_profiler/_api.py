# SPDX-License-Identifier: Apache-2.0
"""The functions that a program may call itself. None does anything while the program is not being profiled."""
import contextlib
import sys

from gable_profiler import _library

_BETWEEN_PATTERNS = "\x1f"


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
    """One step of the program's main loop ends, the next begins. From then on no other step is looked for."""
    library = _library.library()
    if library is not None:
        library.gable_step()


def annotate(module):
    """Only modules given to this function are layers from now on. Returns the module."""
    if _library.library() is not None and "torch" in sys.modules:
        from gable_profiler import _modules
        _modules.annotate(module)
    return module


def _whole(name, value, least, most=(1 << 31) - 1):
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most):
        raise ValueError(f"gable.profile: {name} takes a whole number from {least} to {most}, not {value!r}.")
    return -1 if value is None else value


def _patterns(name, value):
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple, set, frozenset)) or not all(isinstance(text, str) and text for text in listed):
        raise ValueError(f"gable.profile: {name} takes a pattern or a list of them, not {value!r}.")
    return _BETWEEN_PATTERNS.join(listed).encode("utf-8", "replace")


class profile:
    """Only what runs within the block is profiled, by the schedule given; what is left out is as the command line says.

    wait, warmup: steps before the first window; active: steps of each phase; repeat: how often; include, exclude: patterns of
    layers whose kernels are counted, or not. step() ends a step as gable.step() does; without it steps are found as ever.
    """

    def __init__(self, *, wait=None, warmup=None, active=None, repeat=None, include=(), exclude=()):
        self._schedule = (_whole("wait", wait, 0), _whole("warmup", warmup, 0), _whole("active", active, 1),
                          _whole("repeat", repeat, 1, 1000))
        self._patterns = (_patterns("include", include), _patterns("exclude", exclude))

    def __enter__(self):
        library = _library.library()
        if library is not None:
            library.gable_profile_begin(*self._schedule, *self._patterns)
        return self

    def __exit__(self, *problem):
        library = _library.library()
        if library is not None:
            library.gable_profile_end()

    def step(self):
        step()
