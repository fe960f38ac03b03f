# SPDX-License-Identifier: Apache-2.0
"""Where a step of the program ends, without the program saying so.

Training: with the optimizer's step, or, where no optimizer of PyTorch's takes one, with the forward after a backward. Inference: with
the outermost forward. Work outside of modules gets a layer of its own: optimizer, zero_grad, and loss between the forward and what
follows it.
"""
import sys
import threading

from gable_profiler import _autograd, _dynamo, _library
from gable_profiler._places import call_as_from, caller

_NONE, _FORWARD = 0, 1
_BY_FORWARD, _BY_OPTIMIZER, _BY_OPTIMIZER_ANEW = range(3)  # what ended the step; anew: what ended others before was no step's end
_FORWARDS_WITHOUT_BACKWARD = 4  # of a module: then forwards are steps, also with gradients on or in a training program
_TIMES_AS_MANY = 2  # as it had before a backward, for the program that has gone back
_MOST_MODULES = 1024  # are counted
_MOST_OPTIMIZERS = 64  # are known to be followed by another one
_ROUNDS = 4  # of forward and backward that no optimizer's step followed: then the next forward begins a step
_ROUNDS_BESIDE_OPTIMIZERS = 32  # where there are some, which may wait for gradients to add up


class Steps:
    def __init__(self, torch, library, description):
        self._torch = torch
        self._library = library
        self._description = description
        self.regions = None  # that are compiled
        self._attached = False
        self.finder = None  # the thread that finds out how nodes are laid out, while it does
        self.stepping = Stepping(library)
        self._grad_enabled = torch.is_grad_enabled
        self._in_backward = getattr(torch._C, "_current_graph_task_id", lambda: -1)  # -1: no
        self._trains = False
        self._forwards = {}  # of each outermost module since the last backward or step of an optimizer
        self._most_now = 0  # of one module among these, with gradients on
        self._most_forwards = 0  # the same of all that a backward followed
        self._went_back = False  # since the last step ended
        self._rounds = 0  # of forward and backward, as long as no optimizer took a step
        self._zeroed_rounds = 0  # among these, in which gradients were set to zero
        self._zeroed = False  # in this one
        self._optimizer = 0  # id of the one that took a step last, if no forward or backward came since
        self._not_last = set()  # ids of optimizers that another one follows
        self._owes_border = False  # one of these took a step, and so far no other one followed

    def forward_begins(self):
        """Of an outermost module. After a backward that no optimizer's step followed, it may be the next step's."""
        self._goes_on()
        if not self._went_back or self._trains or self._in_backward() != -1:
            return
        self._went_back = False
        self._rounds += 1
        self._zeroed_rounds += self._zeroed
        self._zeroed = False
        if self._rounds < _ROUNDS:
            return
        if self._rounds < _ROUNDS_BESIDE_OPTIMIZERS and self._gradients_may_add_up():
            return
        self._border(_BY_FORWARD)

    def _gradients_may_add_up(self):
        """For an optimizer that will take a step. If they are set to zero, one has, in code that was compiled."""
        return self._zeroed_rounds < _ROUNDS and _optimizers_exist(self._torch.optim.Optimizer)

    def zeroed(self):
        self._zeroed = True

    def outermost_ended(self, module):
        forwards = self._forwards.get(id(module), 0) + 1
        if len(self._forwards) < _MOST_MODULES or forwards > 1:
            self._forwards[id(module)] = forwards
        self._description.fresh = False
        gradients, enough = self._grad_enabled(), _FORWARDS_WITHOUT_BACKWARD
        if gradients:
            enough = max(enough, _TIMES_AS_MANY * self._most_forwards + 1)
            self._most_now = max(self._most_now, forwards)
        are_steps = forwards >= enough or not (self._trains or gradients)
        if are_steps and not self.stepping.runs():  # an optimizer's step has its own end
            self._border(_BY_FORWARD)
        elif gradients:
            self._library.gable_open(b"loss", _FORWARD, 1)

    def _goes_on(self):
        """With a forward or a backward: no other optimizer follows the last one."""
        self._optimizer = 0
        if self._owes_border:
            self._border(_BY_OPTIMIZER)

    def backward_begins(self):
        self._goes_on()
        self._most_forwards = max(self._most_forwards, self._most_now)
        self._forwards, self._most_now = {}, 0
        self._went_back = True
        self._description.fresh = False
        if not self._attached:
            self._attached = True  # first, because finding out runs a backward itself
            self._attach()
        self._library.gable_backward(1)

    def attach_anew(self):
        self._attached = False

    def _attach(self):
        """On a thread of its own, where nothing that the program has switched on for its own thread is on: transforms of functorch,
        hooks on saved tensors, modes."""
        thread = threading.Thread(target=self._find_out, name="gable", daemon=True)  # a name: the program's keep their numbers
        try:
            thread.start()
        except RuntimeError:  # no more threads
            self._find_out()
        else:
            thread.join()

    def _find_out(self):
        self.finder = threading.get_ident()
        try:
            if _autograd.attach(self._torch, self._library):
                return
            why = "autograd's nodes are not laid out as in the versions that are known"
        except Exception as problem:
            why = f"{type(problem).__name__}: {problem}"
        finally:
            self.finder = None
        _library.say(f"Kernels of backward cannot be given to layers with PyTorch {self._torch.__version__}: {why}. Those of "
                     "forward are.")

    def optimizer_ended(self, optimizer):
        border = _BY_OPTIMIZER
        if self._optimizer not in (0, id(optimizer)):  # each has a part of the parameters, and the last one's step is the step's end
            if self._optimizer not in self._not_last and len(self._not_last) < _MOST_OPTIMIZERS:
                border = _BY_OPTIMIZER_ANEW
                self._not_last.add(self._optimizer)
        self._optimizer = id(optimizer)
        self._description.optimizer_ran(optimizer)
        self._trains = True
        self._forwards, self._most_now, self._went_back = {}, 0, False
        if id(optimizer) in self._not_last:
            self._owes_border = True
        else:
            self._border(border)

    def _border(self, how):
        self._owes_border = False
        self._library.gable_step_found(how)
        self._description.step_ended()
        self._description.step_began()
        self.regions.look()


def _optimizers_exist(kind):
    """Or did: the first of a class has PyTorch put its hooks around the class's step()."""
    return getattr(getattr(kind, "step", None), "hooked", False) or any(map(_optimizers_exist, kind.__subclasses__()))


class Stepping:
    """The steps of optimizers that run, on each thread. They have the layer `optimizer`."""

    def __init__(self, library):
        self._open_range, self._close = library.gable_open, library.gable_close
        self._threads = threading.local()
        self.open = 0  # on any thread, and those that an exception ended

    def _steps(self):
        """[id of the frame that makes the step, depth of its layer or 0], from the outermost one."""
        return self._threads.__dict__.setdefault("steps", [])

    def _drop(self, step):
        self.open -= 1
        if step[1]:
            self._close(step[1])

    def runs(self):
        """Whether one does. Those that an exception ended are no more: nobody said so."""
        steps = self._steps() if self.open else None
        if not steps:
            return False
        running, frame = set(), caller()
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back
        while steps and steps[-1][0] not in running:
            self._drop(steps.pop())
        return bool(steps)

    def begin(self, frame):
        steps = self._steps()
        while steps and steps[-1][0] == id(frame):  # of one that an exception ended; its frame was at the same address
            self._drop(steps.pop())
        self.runs()
        self.open += 1
        steps.append([id(frame), 0 if any(depth for _, depth in steps) else self._open_range(b"optimizer", _NONE, 0)])

    def end(self, frame):
        """True when no other step is around it."""
        steps = self._steps()
        while steps:
            step = steps.pop()
            self._drop(step)
            if step[0] == id(frame):
                break
        return not steps

    def pause(self):
        """For what runs within a step and is no part of it. What resume() wants."""
        for step in self._steps():
            if step[1]:
                self._close(step[1])
                step[1] = 0
                return step
        return None

    def resume(self, step):
        if step is not None:
            step[1] = self._open_range(b"optimizer", _NONE, 0)


class _Closure:
    """What the program gave an optimizer that runs the model within its step: no part of the optimizer."""
    __slots__ = ("_closure", "_stepping")

    def __init__(self, closure, stepping):
        object.__setattr__(self, "_closure", closure)
        object.__setattr__(self, "_stepping", stepping)

    def __call__(self, *args, **kwargs):
        paused = self._stepping.pause()
        result = call_as_from(caller(), self._closure, args, kwargs)
        self._stepping.resume(paused)  # after an exception the step is over, too
        return result

    def __getattr__(self, name):
        return getattr(self._closure, name)

    def __setattr__(self, name, value):
        setattr(self._closure, name, value)


def _with_closure(stepping, args, kwargs):
    """(args, kwargs) of a step whose closure is followed; None where there is none."""
    if len(args) > 1 and callable(args[1]):
        return (args[0], _Closure(args[1], stepping), *args[2:]), kwargs
    if callable(kwargs.get("closure")):
        return args, dict(kwargs, closure=_Closure(kwargs["closure"], stepping))
    return None


def follow(torch, library, description):
    """Follows optimizers and backward; returns the Steps that wants to hear of forwards."""
    steps = Steps(torch, library, description)
    is_compiling = _dynamo.tests(torch)[1]
    open_range, close = library.gable_open, library.gable_close
    optimizer_class = torch.optim.Optimizer
    optimizers = sys.modules[optimizer_class.__module__]
    stepping = steps.stepping

    def before_step(optimizer, args, kwargs):
        if is_compiling():
            return None
        stepping.begin(caller())
        return _with_closure(stepping, args, kwargs)

    def after_step(optimizer, args, kwargs):
        if not is_compiling() and stepping.end(caller()):
            steps.optimizer_ended(optimizer)

    _dynamo.keep_out(torch, _Closure.__call__, callees=True)
    _dynamo.keep_out(torch, caller, callees=False)
    optimizers.register_optimizer_step_pre_hook(before_step)
    optimizers.register_optimizer_step_post_hook(after_step)

    zero_grad = optimizer_class.zero_grad

    def zero_grad_followed(self, *args, **kwargs):
        if is_compiling():
            return zero_grad(self, *args, **kwargs)
        steps.zeroed()
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
            if not is_compiling() and steps.finder != threading.get_ident():
                steps.backward_begins()
                try:
                    if description.running:
                        return description.run_backward(caller(), run_backward, args, kwargs)
                    return call_as_from(caller(), run_backward, args, kwargs)
                finally:
                    library.gable_backward(0)
            return call_as_from(caller(), run_backward, args, kwargs)

    variable._execution_engine = Engine()
    return steps
