# SPDX-License-Identifier: Apache-2.0
"""Gable comes into a program that runs already: torch may be half imported, and a model may be in its forward."""
import sys
import threading

from gable_profiler import _dynamo
from gable_profiler._places import caller


def when_imported(module, then):
    """Calls then() as soon as the import of `module` has ended, which may have been long ago. It may have failed."""
    spec = getattr(module, "__spec__", None)
    if not getattr(spec, "_initializing", False):
        then()
        return
    kind = type(spec)

    class Spec(kind):
        """The import machinery writes to its spec when it is done."""

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name == "_initializing" and not value and type(self) is Spec:
                self.__class__ = kind
                then()

    spec.__class__ = Spec
    if not spec._initializing and type(spec) is Spec:  # another thread ended it just now
        spec.__class__ = kind
        then()


def _is_inside(frame, codes):
    while frame is not None:
        if id(frame.f_code) in codes:
            return True
        frame = frame.f_back
    return False


class Unfollowed:
    """Calls of modules that began before modules were followed: to Gable a module in the middle of a model would look like the
    outermost one."""

    def __init__(self, module_class):
        functions = (module_class.__call__, getattr(module_class, "_call_impl", None))
        self._codes = {id(function.__code__) for function in functions if hasattr(function, "__code__")}
        self.threads = set()  # within such a call

    def look(self):
        self.threads = {thread for thread, frame in sys._current_frames().items() if _is_inside(frame, self._codes)}

    def last(self, frame):
        """Whether there still are any, where this thread is in `frame`."""
        if _is_inside(frame, self._codes):
            return True
        frames = sys._current_frames()
        self.threads.discard(threading.get_ident())
        for thread in tuple(self.threads):
            if not _is_inside(frames.get(thread), self._codes):
                self.threads.discard(thread)
        return bool(self.threads)


def follow_calls(torch, module_class, followed):
    """`followed` becomes what calls a module, as soon as no thread is within a call that began before."""
    call = module_class.__call__
    unfollowed = Unfollowed(module_class)
    unfollowed.look()
    if not unfollowed.threads:
        module_class.__call__ = followed
        return

    def __call__(self, *args, **kwargs):
        if unfollowed.last(caller()):
            return call(self, *args, **kwargs)
        if module_class.__call__ is __call__:
            module_class.__call__ = followed
        return followed(self, *args, **kwargs)

    _dynamo.keep_out(torch, __call__, callees=True)
    _dynamo.keep_out(torch, Unfollowed.last, callees=False)
    module_class.__call__ = __call__
