# SPDX-License-Identifier: Apache-2.0
"""A warning names the place in Python that stands innermost when it is given. Where a function of ours calls something in C++ for the
program, that place is made to be the program's own: what its filters of warnings hide stays hidden, and what it shows names the same line."""
import sys
import types

_MOST = 1000  # places that are kept
_made = {}


def _call(function, args, kwargs): return function(*args, **kwargs)  # noqa: E704  one line: it has the place's number


def caller(further=0):
    """The frame that called the function that asks, or one further out. None where no Python called it: PyTorch runs the backward of
    what is on a GPU on threads of its own."""
    try:
        return sys._getframe(further + 2)
    except ValueError:
        return None


def call_as_from(frame, function, args, kwargs):
    """function(*args, **kwargs), as if `frame` called it where it stands now."""
    if frame is None:
        return function(*args, **kwargs)
    code = frame.f_code
    place = (id(code), frame.f_lineno, id(frame.f_globals))
    kept = _made.get(place)
    if kept is None:
        if len(_made) >= _MOST:
            _made.clear()
        looks = _call.__code__.replace(co_filename=code.co_filename, co_firstlineno=frame.f_lineno, co_name=code.co_name)
        kept = _made[place] = (types.FunctionType(looks, frame.f_globals), code)  # kept, so that the id stays its own
    return kept[0](function, args, kwargs)
