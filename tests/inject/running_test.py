# SPDX-License-Identifier: Apache-2.0
"""Modules are followed from the first call that is an outermost one, whatever runs at the moment in which Gable comes."""
import os
import sys
import threading
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["GABLE_BUILD"], "lib", "python"))
from gable_profiler import _running  # noqa: E402


def module_class():
    """A class that calls as torch.nn.Module does, and what `follow` writes down."""
    class Module:
        def __init__(self, name, *children):
            self.name, self.children, self.then = name, children, lambda: None

        def _call_impl(self, *args):
            self.then()
            for child in self.children:
                child(*args)
            return self.name

        def __call__(self, *args):
            return self._call_impl(*args)

    call, seen = Module.__call__, []

    def followed(self, *args):
        seen.append(self.name)
        return call(self, *args)

    return Module, seen, lambda: _running.follow_calls(types.SimpleNamespace(), Module, followed)


class FollowCalls(unittest.TestCase):
    def test_at_once_where_no_module_runs(self):
        module, seen, follow = module_class()
        model = module("model", module("child"))
        follow()
        self.assertEqual(model(1), "model")
        self.assertEqual(seen, ["model", "child"])

    def test_from_the_next_forward_where_one_runs(self):
        module, seen, follow = module_class()
        first, inner, last = module("first"), module("inner"), module("last")
        model = module("model", first, module("block", inner), last)
        inner.then = follow
        model(1)
        self.assertEqual(seen, [])
        inner.then = lambda: None
        model(1)
        self.assertEqual(seen, ["model", "first", "block", "inner", "last"])

    def test_a_forward_that_raises_is_over(self):
        module, seen, follow = module_class()
        inner = module("inner")
        model = module("model", inner)

        def fail():
            follow()
            raise ValueError

        inner.then = fail
        self.assertRaises(ValueError, model, 1)
        inner.then = lambda: None
        model(1)
        self.assertEqual(seen, ["model", "inner"])

    def test_replicas_on_threads_of_their_own(self):
        """The main thread is within a model whose replicas run on other threads: none of them is an outermost one."""
        module, seen, follow = module_class()
        replica = module("replica")
        model = module("model")

        def on_thread():
            thread = threading.Thread(target=replica, args=(1,))
            thread.start()
            thread.join()

        def first():
            follow()
            on_thread()

        model.then = first
        model(1)
        self.assertEqual(seen, [])
        model.then = lambda: None
        model(1)
        self.assertEqual(seen, ["model"])

    def test_threads_that_ended(self):
        module, seen, follow = module_class()
        inside, go_on = threading.Event(), threading.Event()
        other, model = module("other"), module("model")
        other.then = lambda: (inside.set(), go_on.wait(30))
        thread = threading.Thread(target=other, args=(1,))
        thread.start()
        inside.wait(30)
        follow()
        model(1)
        self.assertEqual(seen, [])
        go_on.set()
        thread.join()
        model(1)
        self.assertEqual(seen, ["model"])


if __name__ == "__main__":
    unittest.main()
