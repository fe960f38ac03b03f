# SPDX-License-Identifier: Apache-2.0
"""Python runs this before the program, because `gable profile` and LD_PRELOAD put this folder on PYTHONPATH.

It only arranges that Gable wakes when the program imports torch, and hands over to the sitecustomize
that would have run otherwise.
"""
import os
import sys


def _is_here(path, here=os.path.dirname(os.path.abspath(__file__))):
    return os.path.abspath(path or os.curdir) == here


def _prepare():
    package_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # The program's own modules come first: nothing of Gable's may hide them.
    sys.path[:] = [path for path in sys.path if not _is_here(path)]
    if package_folder not in sys.path:
        sys.path.append(package_folder)
    try:
        from gable_profiler import _startup
        _startup.wait_for_torch()
    except Exception:  # the program runs without layers; the library says so
        pass


def _hand_over():
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  the program's own, where there is one
    except ImportError as problem:
        if problem.name != "sitecustomize":
            raise
    finally:
        if ours is not None:  # the import that brought us here wants a module under this name
            sys.modules.setdefault("sitecustomize", ours)


_prepare()
_hand_over()
