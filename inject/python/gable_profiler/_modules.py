# SPDX-License-Identifier: Apache-2.0
"""Follows the calls of modules: each opens the layer that has its place in the model."""
import functools
import weakref

from gable_profiler import _dynamo, _generation, _holders, _later, _regions, _running, _slot, _tree
from gable_profiler._places import caller

_BETWEEN_NAMES = b"\x1f"
_BEFORE_CLASS = b"\x1e"
_LOSS = "loss"
_RUNS_LATER = -1
_MOST_LEVELS = 64  # modules looked at, from the innermost open one outwards, for the one that holds a module


def _encoded(text):
    return text.encode("utf-8", "replace")


class Namer:
    """Tells the library, once for each place, what a module is called."""

    def __init__(self, torch, library, generation, holders):
        self._library = library
        self._holders = holders
        self._generation = generation
        self._alive = {}  # token: (weak reference, dotted name, names of levels around that are no layers)
        self._below = {}  # token: {id of a module below it: names that lead to it}
        self._paths = {}  # token: names that lead to the modules below
        self._loss_base = torch.nn.modules.loss._Loss
        self._chosen = set()  # tokens of the modules that are layers; empty: all are

    def __call__(self, module):
        """Opens the layer of a module that the library does not know here. Its depth; negative when that failed; None where the call
        only makes what runs later."""
        try:
            return None if _later.runs_later(module) else self._name(module, id(module))
        except Exception:  # a module with an odd __getattr__, say: it has no layer of its own
            return -1

    def body(self, module, ended):
        """What a call makes that runs later. Its token is one that the call itself does not look for, and no other module's."""
        token = id(module) + 1

        def open_module():
            try:
                return self._library.gable_module_open(token) or self._name(module, token)
            except Exception:
                return -1
        return _later.Body(self._library, open_module, lambda: ended(module))

    def module(self, token):
        """That is open under this token and has a name; else None."""
        known = self._alive.get(token)
        return known[0]() if known is not None else None

    def paths_below(self, module):
        """{"a.b": (the names that lead from the module to one below it, its class)}"""
        token = id(module)
        if token not in self._paths:
            self._paths[token] = {".".join(path): (path, _tree.class_name(inner)) for inner, path in _tree.modules_below(module)}
        return self._paths[token]

    def chooses(self):
        return bool(self._chosen)

    def _name(self, module, token):
        level, names, dotted, left_out = self._place(module, _tree.is_wrapper(module) and not _tree.is_compiled(module))
        names = (*left_out, *names)
        if self._chosen and id(module) not in self._chosen:
            names, left_out = (), names
        elif names:
            left_out = ()
        known = self._alive.get(token)
        if known is None or known[1:] != (dotted, left_out):  # a model that was called while it was built is a part of a larger one now
            self._alive[token] = (weakref.ref(module, lambda _, token=token: self._forget(token)), dotted, left_out)
        text = _BETWEEN_NAMES.join(map(_encoded, names))
        depth = self._library.gable_module_name(token, level, text, _encoded(dotted))
        if names and depth > 0:
            self._tell_compiled(module, dotted)
        return depth

    def _tell_compiled(self, module, dotted):
        """A compiled region is one layer, which lists the modules it was made of."""
        try:
            if not _tree.is_compiled(module):
                return
            inside, left_out = _tree.source_modules(module, dotted)
            listed = _BETWEEN_NAMES.join(_encoded(name) + _BEFORE_CLASS + _encoded(kind) for name, kind in inside)
            self._library.gable_module_compiled(id(module), listed, left_out)
        except Exception:  # the layer is open already, and stays
            pass

    def _place(self, module, is_none):
        """(level of the open module that holds it, names below that one, dotted name, names left out around it). `is_none`: it
        is no layer of its own."""
        for level in range(_MOST_LEVELS):
            token = self._library.gable_module_at(level)
            known = self._alive.get(token)
            parent = known[0]() if known is not None else None
            if token == 0:
                break
            if parent is None:
                continue
            names = self._names_below(token, parent, module)
            if names == () and (hasattr(parent, "_orig_mod") or _tree.is_compiled(parent)):
                return level, (), known[1], known[2]  # the layer of the compiled region is the module's own
            if names is None or (not names and not _tree.is_wrapper(parent)):
                continue
            if names and not is_none:
                return level, names, ".".join((*((known[1],) if known[1] else ()), *names)), known[2]
            if names:
                return level, (), "", known[2]
        if is_none:
            return -1, (), "", ()
        root = self._root_name(module)
        holder, names = self._holders(module) if root != _LOSS else (None, ())
        if holder is not None:
            return -1, (self._root_name(holder), *names), ".".join(names), ()
        return -1, (root,), "", ()

    def _names_below(self, token, parent, module):
        if id(module) not in self._below.get(token, ()):
            self._below[token] = {id(inner): path for inner, path in _tree.modules_below(parent)}
        return self._below[token].get(id(module))

    def _root_name(self, module):
        module = _tree.unwrapped(module)
        return _LOSS if isinstance(module, self._loss_base) else _tree.class_name(module)

    def name_anew(self, module):
        """At its next call."""
        for token in (id(module), id(module) + 1):
            if token in self._alive:
                self._forget(token)

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
        self._paths.pop(token, None)
        self._generation.forget(token)
        self._library.gable_module_gone(token)


_namer = None


def annotate(module):
    """From now on only modules given to this function are layers."""
    if _namer is not None:
        _namer.choose(module)


def follow(torch, library, steps, description):
    """Every call of a module opens and closes its layer, until all is measured. `steps` hears of the outermost ones. While the model
    is described the call is `description`'s."""
    global _namer
    module_class = torch.nn.Module
    stepping, forward_begins, outermost_ended = steps.stepping, steps.forward_begins, steps.outermost_ended
    call = module_class.__call__
    is_compiling = _dynamo.tests(torch)[1]
    holders = _holders.Holders(torch)
    generation = _generation.Generation(torch, library, description, holders)
    name = _namer = Namer(torch, library, generation, holders)
    steps.regions = regions = _regions.Regions(torch, library, name)
    description.follow_regions(regions)
    unfollowed = _running.Unfollowed(module_class)

    # The library calls these. None lets an exception of ours out.
    def begin_anew():
        try:
            unfollowed.look()
        except Exception:  # then a module may look like an outermost one
            pass

    def open_first(module, /, *args, **kwargs):
        """Of an outermost module, or of one that has to be named: its depth, 0 for none, and from bit 32 on that of what is opened
        around it; or _RUNS_LATER."""
        try:
            if is_compiling():  # torch.export runs it, and no kernel
                return 0
            if unfollowed.threads and unfollowed.last(caller()):
                return 0
            if stepping.open:
                stepping.runs()  # no more, where an exception ended the step
            if library.gable_module_at(0) == 0:
                regions.look()
                forward_begins()
            around = generation.begin(module, args, kwargs)
            depth = library.gable_module_open(id(module)) or name(module)
            if depth is None:
                if around > 0:
                    library.gable_close(around)
                return _RUNS_LATER
            return max(depth, 0) | around << 32
        except Exception:
            return 0

    def run_later(module, made, /):
        """What the program gets for what a call has made that runs later."""
        try:
            return _later.follow(made, name.body(module, outermost_ended))
        except Exception:
            return made

    def describe(module, /, *args, **kwargs):
        """Before a call. What `described` is to be given, if anything."""
        try:
            return description.call_begins(module, args, kwargs) if description.running else None
        except Exception as problem:
            description.failed(problem)
            return None

    def described(begun, /, *results):
        try:
            if begun is not None:
                description.call_ends(begun, *results)
        except Exception as problem:
            description.failed(problem)

    def ended(module, /):
        try:
            outermost_ended(module)
        except Exception:
            pass

    asked = (begin_anew, open_first, run_later, describe, described, ended)
    for function in (*asked, Namer.__call__, Namer._forget, Namer.body, _later.follow, outermost_ended.__func__, forward_begins.__func__,
                     generation.begin.__func__, _running.Unfollowed.look, _running.Unfollowed.last):
        _dynamo.keep_out(torch, function, callees=False)
    if not _slot.stand_before(library, call, getattr(module_class, "_call_impl", call), *asked):
        _wrap(torch, library, description, call, *asked[1:])
    _follow_compile(module_class)


def _wrap(torch, library, description, call, open_first, run_later, describe, described, ended):
    """In place of the library's own way, on a Python of another kind: a function around Module.__call__. It stays, because
    others may have wrapped it in turn, and torch.compile may have looked at it."""
    at, open_module, close = library.gable_module_at, library.gable_module_open, library.gable_close
    is_traced = _dynamo.tests(torch)[0]

    def __call__(self, *args, **kwargs):
        if is_traced():  # a compiled region is one layer: nothing of ours gets into it
            return call(self, *args, **kwargs)
        depth = open_module(id(self)) if at(0) else 0
        around = 0
        if depth == 0:
            opened = open_first(self, *args, **kwargs)
            if opened == _RUNS_LATER:
                return run_later(self, call(self, *args, **kwargs))
            depth, around = opened & 0x7fffffff, opened >> 32
        begun, results = describe(self, *args, **kwargs) if description.running else None, ()
        try:
            result = call(self, *args, **kwargs)
            results = (result,)
            return result
        finally:
            if begun is not None:
                described(begun, *results)
            outermost = depth > 0 and close(depth)
            if around > 0:
                close(around)
            if outermost:
                ended(self)

    _dynamo.keep_out(torch, __call__, callees=True)
    _running.follow_calls(torch, torch.nn.Module, __call__)


def _follow_compile(module_class):
    """A module that is compiled after its first call is named anew, as a compiled region."""
    compile_in_place = getattr(module_class, "compile", None)
    if compile_in_place is None:
        return

    @functools.wraps(compile_in_place)
    def compile(self, *args, **kwargs):
        result = compile_in_place(self, *args, **kwargs)
        _namer.name_anew(self)
        return result

    module_class.compile = compile
