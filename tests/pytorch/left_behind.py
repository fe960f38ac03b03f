# SPDX-License-Identifier: Apache-2.0
"""Knows Gable: says when the calls of modules are followed, and when nothing is left of that. left_behind.py CASE"""
import ctypes
import os
import signal
import sys
import threading
import time
import types

import torch
from torch import nn

from playback_ops import make_launching

PATIENCE_S = 60
STEPS = 40
OFFSET = ctypes.c_ssize_t.from_address(id(types.FunctionType) + 56).value


def pointer(function):
    return ctypes.c_size_t.from_address(id(function) + OFFSET).value


CALL = nn.Module.__call__


def followed():
    return any(pointer(function) != pointer(pointer) for function in (CALL, nn.Module._call_impl))


class Model(nn.Module):
    """`meanwhile` is called in the middle of its forward."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)
        self.meanwhile = lambda: None

    def forward(self, x):
        x = self.first(x)
        self.meanwhile()
        return self.last(x)


def run(model, steps=STEPS):
    with torch.no_grad():
        for _ in range(steps):
            model(torch.ones(2, 4))


def until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def nothing():
    model = make_launching(Model())
    before = followed()
    run(model, 1)
    within = followed()
    run(model)
    print(before, within, followed(), nn.Module.__call__ is CALL)


def wrapped():
    """Another library wraps the call, and what is below it is taken away all the same."""
    model = make_launching(Model())
    calls = []

    def wrapper(self, *args, **kwargs):
        calls.append(type(self).__name__)
        return CALL(self, *args, **kwargs)
    run(model, 1)
    nn.Module.__call__ = wrapper
    run(model)
    print(followed(), nn.Module.__call__ is wrapper, len(calls))


def block():
    import gable
    model = make_launching(Model())
    run(model)
    before = followed()
    with gable.profile(wait=1, active=1):
        within = followed()
        run(model)
        after = followed()
    run(model, 1)
    print(before, within, after, followed())


def thread():
    """A further queue opens in the middle of a forward, on a thread, while the main thread waits in C."""
    from gable_profiler import _library
    model = make_launching(Model())
    seen = []

    def look(*_):
        """Within the last module of the forward that began before: it is not taken for an outermost one."""
        seen.append(_library.library().gable_module_at(0) == 0)
        handle.remove()

    def open_queue():
        nonlocal handle
        model.meanwhile = lambda: None
        os.kill(os.getpid(), signal.SIGUSR2)
        until(followed)
        seen.append(followed())
        handle = model.last.register_forward_hook(look)

    def work():
        run(model)
        time.sleep(1)  # the first queue's report is written
        seen.append(followed())
        model.meanwhile = open_queue
        run(model)
        seen.append(followed())
    handle = None
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    print(*seen)


def own_call():
    """Modules of a class with a call of its own, which asks for PyTorch's."""
    class Calling(nn.Linear):
        def __call__(self, x):
            return super().__call__(x)

    class Keywords(nn.Linear):
        def __call__(self, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    model = Model()
    model.first, model.last = Calling(4, 4), Keywords(4, 4)
    run(make_launching(model))
    print(followed())


if __name__ == "__main__":
    {"nothing": nothing, "wrapped": wrapped, "block": block, "thread": thread, "own_call": own_call}[sys.argv[1]]()
