# SPDX-License-Identifier: Apache-2.0
"""Follows the calls of modules: each opens the layer that has its place in the model."""
import weakref

from gable import _dynamo, _generation

_BETWEEN_NAMES = b"\x1f"
_MOST_LEVELS = 64  # modules looked at, from the innermost open one outwards, for the one that holds a module

# Attributes under which wrappers hold what they wrap: no level of the model that the user wrote.
_WRAPPED = frozenset(("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"))
_WRAPPERS_WITH_MODULE = frozenset(("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"))


def _is_wrapper(module):
    kind = type(module)
    if not kind.__module__.startswith("torch."):
        return False
    return kind.__name__ in _WRAPPERS_WITH_MODULE or kind.__name__ == "CheckpointWrapper"


def _children(parent):
    """Every module below `parent`: its id, and the names that lead to it."""
    found = {}
    waiting = [(parent, ())]
    while waiting:
        module, path = waiting.pop()
        if id(module) in found:
            continue  # it stands at several places: the first is its name, as in named_modules()
        found[id(module)] = path
        inner_is_wrapped = _is_wrapper(module)
        for name, child in reversed(module._modules.items()):
            if child is not None:
                wrapped = name in _WRAPPED or (inner_is_wrapped and name == "module")
                waiting.append((child, path if wrapped else (*path, name)))
    del found[id(parent)]
    return found


class Namer:
    """Tells the library, once for each place, what a module is called."""

    def __init__(self, torch, library, generation):
        self._library = library
        self._generation = generation
        self._alive = {}  # token: (weak reference, dotted name, names of levels around that are no layers)
        self._below = {}  # token: what _children() found
        self._loss_base = torch.nn.modules.loss._Loss
        self._chosen = set()  # tokens of the modules that are layers; empty: all are

    def __call__(self, module):
        """Opens the layer of a module that the library does not know here. Its depth; negative when that failed."""
        try:
            return self._name(module)
        except Exception:  # a module with an odd __getattr__, say: it has no layer of its own
            return -1

    def _name(self, module):
        token = id(module)
        level, names, dotted, left_out = self._place(module)
        names = (*left_out, *names)
        if self._chosen and token not in self._chosen:
            names, left_out = (), names
        elif names:
            left_out = ()
        if token not in self._alive:
            self._alive[token] = (weakref.ref(module, lambda _, token=token: self._forget(token)), dotted, left_out)
        text = _BETWEEN_NAMES.join(name.encode("utf-8", "replace") for name in names)
        return self._library.gable_module_name(token, level, text, dotted.encode("utf-8", "replace"))

    def _place(self, module):
        """(level of the open module that holds it, names below that one, dotted name, names left out around it)"""
        for level in range(_MOST_LEVELS):
            token = self._library.gable_module_at(level)
            known = self._alive.get(token)
            parent = known[0]() if known is not None else None
            if token == 0:
                break
            if parent is None:
                continue
            if getattr(parent, "_orig_mod", None) is module:
                return level, (), known[1], known[2]  # the layer of the compiled region is the module's own
            names = self._names_below(parent, module)
            if names is None or (not names and not _is_wrapper(parent)):
                continue
            if names and not _is_wrapper(module):
                return level, names, ".".join((*((known[1],) if known[1] else ()), *names)), known[2]
            if names:
                return level, (), "", known[2]
        if _is_wrapper(module):
            return -1, (), "", ()
        return -1, (self._root_name(module),), "", ()

    def _names_below(self, parent, module):
        token = id(parent)
        if id(module) not in self._below.get(token, ()):
            self._below[token] = _children(parent)
        return self._below[token].get(id(module))

    def _root_name(self, module):
        while hasattr(module, "_orig_mod"):
            module = module._orig_mod
        return "loss" if isinstance(module, self._loss_base) else type(module).__name__

    def choose(self, module):
        """Only chosen modules are layers; what was named before is named anew."""
        token = id(module)
        self._chosen.add(token)
        weakref.finalize(module, self._chosen.discard, token)
        for known in list(self._alive):
            self._forget(known)

    def _forget(self, token):
        self._alive.pop(token, None)
        self._below.pop(token, None)
        self._generation.forget(token)
        self._library.gable_module_gone(token)


_namer = None


def annotate(module):
    """From now on only modules given to this function are layers."""
    if _namer is not None:
        _namer.choose(module)


def follow(torch, library, outermost_ended, description):
    """Every call of a module opens and closes its layer. `outermost_ended(module)` follows the outermost one. While the model
    is described the call is `description`'s."""
    global _namer
    module_class = torch.nn.Module
    call, is_compiling = module_class.__call__, torch.compiler.is_compiling
    generation = _generation.Generation(torch, library)
    outermost_ones = generation.models
    open_module, close = library.gable_module_open, library.gable_close
    name = _namer = Namer(torch, library, generation)

    def __call__(self, *args, **kwargs):
        if is_compiling():  # a compiled region is one layer: nothing of ours gets into it
            return call(self, *args, **kwargs)
        token = id(self)
        around = generation.begin(token, args, kwargs) if token in outermost_ones else 0
        depth = open_module(token)
        if depth == 0:
            if token not in outermost_ones and library.gable_module_at(0) == 0:
                around = generation.begin(token, args, kwargs)
            depth = name(self)
        try:
            if description.running:
                return description.call_module(call, self, args, kwargs)
            return call(self, *args, **kwargs)
        finally:
            outermost = depth > 0 and close(depth)
            if around > 0:
                close(around)
            if outermost:
                outermost_ended(self)

    _dynamo.keep_out(torch, __call__, callees=True)
    for function in (Namer.__call__, Namer._forget, outermost_ended.__func__, generation.begin.__func__):
        _dynamo.keep_out(torch, function, callees=False)
    module_class.__call__ = __call__
