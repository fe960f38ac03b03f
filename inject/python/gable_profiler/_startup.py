# SPDX-License-Identifier: Apache-2.0
"""Waits for the program to import torch; until then Gable costs it nothing."""
import importlib.util
import os
import sys


class _Loader:
    """Loads a module as it would have been loaded, then lets Gable in."""

    def __init__(self, loader, watcher):
        self._loader, self._watcher = loader, watcher

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # From here on the program sees the loader it would have seen without us.
        module.__loader__ = module.__spec__.loader = self._loader
        try:
            self._loader.exec_module(module)
        except BaseException:
            sys.meta_path.insert(0, self._watcher)  # the program may try again
            raise
        self._watcher.then(module)


class Watcher:
    """Stands first on sys.meta_path until the module of that name is looked for. Then calls then(module)."""

    def __init__(self, name, then):
        self._name, self.then = name, then
        self._asking = False

    def find_spec(self, name, path=None, target=None):
        if name != self._name or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking = False
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec.loader = _Loader(spec.loader, self)
        return spec


library = ""  # its path, where CUDA has loaded it
_waiting = False  # or no longer: in this process Gable has begun
_started = False
_process = os.getpid()


def _start(torch):
    global _started
    if _started:
        return
    _started = True
    try:
        from gable_profiler import _torch
        _torch.start(torch)
    except Exception as problem:  # whatever is wrong with us is not the program's business
        from gable_profiler import _library
        _library.say(f"PyTorch's layers are not named: {type(problem).__name__}: {problem}")


def wait_for_torch():
    global _waiting
    if _waiting:
        return
    _waiting = True
    torch = sys.modules.get("torch")
    if torch is None:
        sys.meta_path.insert(0, Watcher("torch", _start))
    else:
        from gable_profiler import _running
        _running.when_imported(torch, lambda: _start_imported(torch))


def _start_imported(torch):
    if sys.modules.get("torch") is torch:
        _start(torch)
    else:  # that import failed; there may be another
        sys.meta_path.insert(0, Watcher("torch", _start))


def attach(path):
    """CUDA has started, and loaded the library from `path`. Called on the main thread, at any point of the program."""
    global library, _process
    library = path
    if not _waiting:
        wait_for_torch()
    elif _started and _process != os.getpid():
        from gable_profiler import _torch
        _torch.start_in_child()
    _process = os.getpid()
