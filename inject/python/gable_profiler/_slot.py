# SPDX-License-Identifier: Apache-2.0
"""Puts the library in front of a function of Python, which stays what it is: CPython calls a function through a pointer in the
function object. Only where everything is as expected: CPython with its lock, and a function that has Python's own pointer.
"""
import ctypes
import sys
import types

_OFFSET_IN_TYPE = 56  # of tp_vectorcall_offset, since CPython 3.8 and on every machine of 64 bits
_NEEDED = ("PyLong_AsLong", "Py_IncRef", "Py_DecRef", "PyErr_Fetch", "PyErr_Restore")
_NEWER = "PyFunction_SetVectorcall"  # CPython 3.12


def _pointer(function, otherwise=None):
    found = getattr(ctypes.pythonapi, function, None)
    return ctypes.cast(found, ctypes.c_void_p).value if found is not None else otherwise


def _calls(function, inner, asked):
    """Of GableModuleCalls, member by member; None where anything is not as expected."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)() or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    offset = ctypes.c_ssize_t.from_address(id(types.FunctionType) + _OFFSET_IN_TYPE).value
    needed = [_pointer(name) for name in _NEEDED]
    if None in needed or offset % 8 != 0 or not 0 < offset <= types.FunctionType.__basicsize__ - 8:
        return None
    every = (_pointer, function, inner, *asked)
    if any(type(each) is not types.FunctionType for each in every):
        return None
    call = ctypes.c_size_t.from_address(id(_pointer) + offset).value  # CPython has one for all functions of Python
    if call == 0 or any(ctypes.c_size_t.from_address(id(each) + offset).value != call for each in every):
        return None
    # CPython 3.11 calls f(x) past the pointer where it sees that f is a function of Python, as in super().__call__(x).
    inner_slot = id(inner) + offset if sys.version_info[:2] == (3, 11) and inner is not function else 0
    return [id(function) + offset, id(function), id(inner), inner_slot, call, *needed, _pointer(_NEWER, 0), *map(id, asked)]


def stand_before(library, function, inner, *asked):
    """Calls of `function`, which calls `inner`, are the library's from now on; `asked` are what it asks of Python. False: that cannot
    be done here."""
    try:
        calls = _calls(function, inner, asked)
    except Exception:
        calls = None
    if calls is None:
        return False
    library.gable_modules_follow((ctypes.c_void_p * len(calls))(*calls))
    return True
