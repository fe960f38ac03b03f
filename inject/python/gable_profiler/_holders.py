# SPDX-License-Identifier: Apache-2.0
"""The model of which a method calls a module, as model.generate() calls its encoder, or of which a function does that says
model.encoder: nobody called the model itself, and yet the module has its place in it.
"""
import sys
import weakref

from gable_profiler import _tree
from gable_profiler._places import caller

_FRAMES_AROUND = 32  # looked at
_FUNCTION = 1  # CO_OPTIMIZED
_OURS = 3  # references to a frame's dict of locals while nobody else holds it


def _named_in(frame, is_module):
    """(`self`, in a method, or what stands in its place; the other modules that the code has names for)"""
    code = frame.f_code
    if not code.co_flags & _FUNCTION:
        values = frame.f_globals
        return None, [values[name] for name in code.co_names if is_module(values.get(name))]
    values = frame.f_locals
    first = values.get(code.co_varnames[0]) if code.co_argcount > 0 else None
    others = [value for value in values.values() if value is not first and is_module(value)]
    if type(values) is dict and sys.getrefcount(values) <= _OURS:
        values.clear()  # until Python 3.12 it is a copy, which would keep the program's tensors
    others += [frame.f_globals[name] for name in code.co_names if is_module(frame.f_globals.get(name))]
    return (first if is_module(first) else None), others


class Holders:
    def __init__(self, torch):
        self._module_class = torch.nn.Module
        self._found = {}  # token of a module: (it, its holder, the names that lead from there), both weak references

    def _is_module(self, value):
        return issubclass(type(value), self._module_class)

    def __call__(self, module):
        """(holder, names from there), (None, ()) where there is none. Of an outermost module; looked for once."""
        token = id(module)
        found = self._found.get(token)
        if found is None:
            holder, names = self._look(module)
            found = self._found[token] = (weakref.ref(module, lambda _: self._found.pop(token, None)),
                                          None if holder is None else weakref.ref(holder), names)
        holder = None if found[1] is None else found[1]()
        return (None, ()) if holder is None else (holder, found[2])

    def _look(self, module):
        """Of several holders the outermost."""
        found, seen = (None, ()), {id(module)}
        frame = caller(1)
        for _ in range(_FRAMES_AROUND):
            if frame is None:
                break
            first, others = _named_in(frame, self._is_module)
            for holder in (first, *others):
                if holder is None or id(holder) in seen:
                    continue
                names = next((names for inner, names in _tree.modules_below(holder) if inner is module), ())
                if holder is first:
                    seen.add(id(holder))
                elif names and names[0] not in frame.f_code.co_names:
                    continue  # this code has both at hand, and does not take the one out of the other
                if names:
                    found = holder, names
            frame = frame.f_back
        return found
