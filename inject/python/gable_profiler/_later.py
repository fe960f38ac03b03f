# SPDX-License-Identifier: Apache-2.0
"""Modules whose forward is a generator, a coroutine, or both: the call only makes it, and what it does runs later, in pieces. While a
piece runs, the module's layer is open.
"""
import sys
import types
import weakref

_RUNS_LATER = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def runs_later(module):
    code = getattr(getattr(module.forward, "__func__", module.forward), "__code__", None)
    return isinstance(code, types.CodeType) and code.co_flags & _RUNS_LATER != 0


class Body:
    """What one call of such a module made. `open_module()` opens its layer."""

    def __init__(self, library, open_module, ended):
        self._library, self._open_module, self._ended = library, open_module, ended
        self._around = []  # modules that were open at the call, from the outermost one: an event loop runs it beside them
        while library.gable_module_at(len(self._around)) != 0:
            self._around.append(library.gable_module_at(len(self._around)))
        self._around.reverse()

    def enter(self):
        """The depth to close."""
        first = 0
        if self._library.gable_module_at(0) == 0:
            for token in self._around:
                depth = self._library.gable_module_open(token)
                first = first or max(depth, 0)
        depth = self._open_module()
        return first or depth

    def leave(self, depth, ended):
        if depth > 0 and self._library.gable_close(depth) and ended and not self._around:
            self._ended()


def _pieces(inner, body, last=True):
    """As `yield from inner` would. `last`: the body has ended when this has."""
    step, given = inner.send, (None,)
    while True:
        depth, ended = body.enter(), True
        try:
            value = step(*given)
            ended = False
        except StopIteration as end:
            ended = last
            return end.value
        finally:
            body.leave(depth, ended)
        try:
            step, given = inner.send, ((yield value),)
        except GeneratorExit:
            depth = body.enter()
            try:
                inner.close()
            finally:
                body.leave(depth, True)
            raise
        except BaseException as problem:
            step, given = inner.throw, (problem,)


class _Pieces:
    def __init__(self, inner, body, last=True):
        self._inner, self._body, self._last = inner, body, last

    def __await__(self):
        return _pieces(self._inner, self._body, self._last)


async def _awaited(inner, body):
    return await _Pieces(inner, body)


def _begin(inner):
    """The event loop knows the generator that the program has, which closes this one: it is not to close both."""
    first, last = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return inner.asend(None)
    finally:
        sys.set_asyncgen_hooks(first, last)


async def _yielded(inner, body):
    step = _begin(inner)
    while True:
        try:
            value = await _Pieces(step, body, last=False)
        except StopAsyncIteration:
            return
        try:
            step = inner.asend((yield value))
        except GeneratorExit:
            await _Pieces(inner.aclose(), body)
            raise
        except BaseException as problem:
            step = inner.athrow(problem)


def follow(made, body):
    """What the program gets for what the call has made: the like of it."""
    if type(made) is types.GeneratorType:
        followed = _pieces(made, body)
    elif type(made) is types.CoroutineType:
        followed = _awaited(made, body)
        weakref.finalize(followed, made.close).atexit = False  # one that nobody awaits is warned of once
    elif type(made) is types.AsyncGeneratorType:
        followed = _yielded(made, body)
    else:
        return made
    followed.__name__, followed.__qualname__ = made.__name__, made.__qualname__
    return followed
