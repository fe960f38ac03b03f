# SPDX-License-Identifier: Apache-2.0
"""The model of which a method calls a module, as model.generate() calls its encoder: nobody called the model itself, and yet the
module has its place in it.
"""
import sys
import weakref

from gable_profiler import _tree

_FRAMES_AROUND = 32  # looked at
_FUNCTION = 1  # CO_OPTIMIZED
_OURS = 3  # references to a frame's dict of locals while nobody else holds it


def _first_argument(frame):
    """`self`, in a method."""
    code = frame.f_code
    if code.co_argcount == 0 or not code.co_flags & _FUNCTION:
        return None
    values = frame.f_locals
    first = values.get(code.co_varnames[0])
    if type(values) is dict and sys.getrefcount(values) <= _OURS:
        values.clear()  # until Python 3.12 it is a copy, which would keep the program's tensors
    return first


class Holders:
    def __init__(self, torch):
        self._module_class = torch.nn.Module
        self._found = {}  # token of a module: (it, its holder, the names that lead from there), both weak references

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
        frame = sys._getframe(2)
        for _ in range(_FRAMES_AROUND):
            if frame is None:
                break
            first = _first_argument(frame)
            if issubclass(type(first), self._module_class) and id(first) not in seen:
                seen.add(id(first))
                found = next(((first, names) for inner, names in _tree.modules_below(first) if inner is module and names), found)
            frame = frame.f_back
        return found
