# SPDX-License-Identifier: Apache-2.0
"""Two functions of the library as builtins of CPython's, for calls that every module makes: a call through ctypes takes ten
times as long. Elsewhere, and where anything is not as expected, they are called through ctypes.
"""
import ctypes
import sys

_ONE_ARGUMENT = 0x0008  # METH_O
_HANDED_OVER = ("PyLong_FromLong", "PyLong_AsLong", "PyBool_FromLong")


class _Method(ctypes.Structure):
    """PyMethodDef, the same in every CPython."""
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


_methods = []  # builtins point to theirs


def _builtin(function, name):
    method = _Method(name, ctypes.cast(function, ctypes.c_void_p), _ONE_ARGUMENT, None)
    _methods.append(method)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.addressof(method), None, None)


def _as_builtins(library):
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    library.gable_python(*(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _HANDED_OVER))
    return (_builtin(library.gable_builtin_open, b"open_module"), _builtin(library.gable_builtin_close, b"close_layer"))


def module_calls(library):
    """(open, close): open(module) opens the layer of a module within another one; its depth, 0 when it is an outermost one or
    has to be named, negative while nobody looks. close(depth) is true when that ended the outermost module."""
    try:
        functions = _as_builtins(library)
    except Exception:
        functions = None
    if functions is not None:
        return functions
    at, open_module = library.gable_module_at, library.gable_module_open
    return (lambda module: open_module(id(module)) if at(0) else 0), library.gable_close
