# SPDX-License-Identifier: Apache-2.0
"""Has torch.compile write code anew that is in its caches on disk, because code from there does not say what kernels come from.

Only the lookups of compiling itself find nothing. What is compiled is kept as ever, and a program that loads what it has kept on purpose
gets it.
"""
import functools
import inspect
import os
import sys

from gable_profiler import _dynamo, _library, _startup

CHOICE = "TORCHINDUCTOR_FX_GRAPH_CACHE"  # PyTorch's own. Who sets it has chosen.


class _Cache:
    """One of PyTorch's. `nothing` are arguments of its lookup with which it looks nowhere; compiling itself gives the one called
    `purpose` a value or not."""

    def __init__(self, module, name, lookup, nothing, purpose, compiling_gives_it):
        self.module, self.name, self.lookup, self.nothing = module, name, lookup, nothing
        self._purpose, self._compiling_gives_it = purpose, compiling_gives_it

    def is_compiling(self, arguments):
        return self._purpose not in arguments or (arguments[self._purpose] is not None) == self._compiling_gives_it


_CACHES = (
    # One that is asked for by the other, for an entry of its own, gets guards from it.
    _Cache("torch._inductor.codecache", "FxGraphCache", "_lookup_graph", {"local": False, "remote_cache": None}, "evaluate_guards", False),
    # Where an artifact is loaded there is no configuration.
    _Cache("torch._functorch._aot_autograd.autograd_cache", "AOTAutogradCache", "_lookup", {"local": False, "remote": False},
           "aot_config", True),
)

_passed_over = set()  # keys of entries


def begin(torch, wanted):
    """As long as `wanted()`."""
    if CHOICE in os.environ:
        return
    for cache in _CACHES:
        follow = functools.partial(_follow, torch, cache, wanted)
        if cache.module in sys.modules:
            follow(sys.modules[cache.module])
        else:
            sys.meta_path.insert(0, _startup.Watcher(cache.module, follow))


def _follow(torch, cache, wanted, module):
    try:
        owner = getattr(module, cache.name)
        original = getattr(owner, cache.lookup)
        signature = inspect.signature(original)
        if not set(cache.nothing) <= set(signature.parameters):
            return  # another PyTorch
        _write_once(torch, owner)

        @functools.wraps(original)
        def lookup(*args, **kwargs):
            try:
                if wanted():
                    call = signature.bind(*args, **kwargs)
                    if cache.is_compiling(call.arguments):
                        _pass_over(owner, call.arguments["key"])
                        call.arguments.update(cache.nothing)
                        args, kwargs = call.args, call.kwargs
            except Exception:  # it finds what there is
                pass
            return original(*args, **kwargs)

        _replace(torch, owner, cache.lookup, lookup)
    except Exception:  # another PyTorch: code from its caches is one layer
        pass


def _write_once(torch, owner):
    """Entries are not written a second time: the time that compiling took is in them, so each would be a file of its own."""
    original = getattr(owner, "_write_to_local_cache", None)
    if original is None:
        return  # older PyTorch

    @functools.wraps(original)
    def write(key, content):
        if key not in _passed_over or not _has(owner, key):
            original(key, content)

    _replace(torch, owner, "_write_to_local_cache", write)


def _replace(torch, owner, name, function):
    _dynamo.keep_out(torch, function, callees=True)
    setattr(owner, name, staticmethod(function))


def _has(owner, key):
    return os.path.isdir(owner._get_tmp_dir_for_key(key))


def _pass_over(owner, key):
    if not _has(owner, key):
        return
    if not _passed_over:
        _library.say("torch.compile writes code anew that its cache on disk has, because code from there does not say what kernels come "
                     f"from. Compiling takes longer. With {CHOICE}=1 the cache is used, and each compiled region is one layer.")
    _passed_over.add(key)
