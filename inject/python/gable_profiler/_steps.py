# SPDX-License-Identifier: Apache-2.0
"""Where a step of the program ends, without the program saying so.

Training: with the optimizer's step. Inference: with the outermost forward. Work outside of modules gets a layer of its own:
optimizer, zero_grad, and loss between the forward and what follows it.
"""
import sys

from gable_profiler import _autograd, _dynamo, _library
from gable_profiler._places import call_as_from

_NONE, _FORWARD = 0, 1
_FORWARDS_WITHOUT_BACKWARD = 4  # in a row: then forwards are steps, also with gradients on or in a training program


class Steps:
    def __init__(self, torch, library, description):
        self._torch = torch
        self._library = library
        self._description = description
        self._attached = False
        self._grad_enabled = torch.is_grad_enabled
        self._trains = False
        self._forwards = 0  # outermost ones since the last backward or step of an optimizer

    def outermost_ended(self, module):
        self._forwards += 1
        self._description.fresh = False
        if self._forwards >= _FORWARDS_WITHOUT_BACKWARD or not (self._trains or self._grad_enabled()):
            self._border(by_optimizer=False)
        elif self._grad_enabled():
            self._library.gable_open(b"loss", _FORWARD, 1)

    def backward_begins(self):
        self._forwards = 0
        self._description.fresh = False
        if not self._attached:
            self._attached = True  # first, because finding out runs a backward itself
            self._attach()
        self._library.gable_open(None, _NONE, 0)

    def attach_anew(self):
        self._attached = False

    def _attach(self):
        try:
            found = _autograd.attach(self._torch, self._library)
        except Exception:
            found = False
        if not found:
            _library.say(f"Kernels of backward cannot be given to layers with PyTorch {self._torch.__version__}, which lays out "
                         "autograd's nodes differently. Those of forward are.")

    def optimizer_ended(self):
        self._trains = True
        self._forwards = 0
        self._border(by_optimizer=True)

    def _border(self, by_optimizer):
        self._library.gable_step_found(int(by_optimizer))
        self._description.step_ended()
        self._description.step_began()


def follow(torch, library, description):
    """Follows optimizers and backward; returns the Steps that wants to hear of forwards."""
    steps = Steps(torch, library, description)
    is_compiling = _dynamo.tests(torch)[1]
    open_range, close = library.gable_open, library.gable_close
    optimizer_class = torch.optim.Optimizer
    optimizers = sys.modules[optimizer_class.__module__]
    open_steps = []  # depths, for steps within steps

    def before_step(optimizer, args, kwargs):
        if not is_compiling():
            open_steps.append(open_range(b"optimizer", _NONE, 0))

    def after_step(optimizer, args, kwargs):
        if is_compiling():
            return
        if open_steps:
            close(open_steps.pop())
        if not open_steps:
            steps.optimizer_ended()

    optimizers.register_optimizer_step_pre_hook(before_step)
    optimizers.register_optimizer_step_post_hook(after_step)

    zero_grad = optimizer_class.zero_grad

    def zero_grad_followed(self, *args, **kwargs):
        if is_compiling():
            return zero_grad(self, *args, **kwargs)
        depth = open_range(b"zero_grad", _NONE, 0)
        try:
            return zero_grad(self, *args, **kwargs)
        finally:
            close(depth)

    zero_grad_followed.__name__, zero_grad_followed.__qualname__ = zero_grad.__name__, zero_grad.__qualname__
    zero_grad_followed.__doc__, zero_grad_followed.__wrapped__ = zero_grad.__doc__, zero_grad
    optimizer_class.zero_grad = zero_grad_followed

    variable = torch.autograd.Variable
    run_backward = variable._execution_engine.run_backward  # what backward() and grad() of every PyTorch call

    class Engine(type(variable._execution_engine)):
        def run_backward(self, *args, **kwargs):
            if not is_compiling():
                steps.backward_begins()
                if description.running:
                    return description.run_backward(sys._getframe(1), run_backward, args, kwargs)
            return call_as_from(sys._getframe(1), run_backward, args, kwargs)

    variable._execution_engine = Engine()
    return steps
