# SPDX-License-Identifier: Apache-2.0
"""Describes the model: in a step that is waited for, what its operators have to do and its modules' tensors. Again where steps come
that launch other kernels, and where it generates text once for each kind of forward.

PyTorch shows every operator to a dispatch mode that stands by while modules and backward run. The mode runs the operator as
it would have run and tells the library its work, which gives it to the layer that a kernel launched there would belong to.
Where PyTorch might do anything else because a mode stands by, the model is not described. In a program that compiles, the code of
its compiled regions tells what each of their launches does; around them the mode stands by where PyTorch compiles and runs the same with it.
"""
import sys
import threading
import weakref

from gable_profiler import _call_places, _compiled_work, _dynamo, _library, _memory, _tree
from gable_profiler._formulas import NoFormulas
from gable_profiler._places import call_as_from, caller
from gable_profiler._work import Work, tensors_in, text_of_tensors

_MOST_PUT_OFF = 3  # times that a step is found unfit
_MOST_OPTIMIZERS = 64  # are known
_MOST_KINDS = 4  # of forwards are described each for itself
_COMPILES = "the program uses torch.compile"
_NOT_SEEN = ", and Gable did not see Inductor write its code"
_WROTE = ", and each step that could be described was one in which it compiled"
# Their backward, or what stands in for it, is computed in another order while a mode stands by. And the nodes that do it.
_OTHER_BACKWARD = ("prod", "cumprod", "logcumsumexp", "linalg_", "_linalg", "ctc", "_ctc", "_cudnn_ctc", "_cdist", "_embedding_bag")
# Types that run their operators on this rank's plain tensors, which the mode then sees.
_PASS_ON = ("DTensor", "AsyncCollectiveTensor")
_NORMS = ("linalg_vector_norm", "LinalgVectorNorm")  # the same with a mode and without
_APART = ("Prod", "Cumprod", "Logcumsumexp", "Linalg", "Ctc", "CudnnCtc", "Cdist", "EmbeddingBag")


def _text(tensors):
    return text_of_tensors(tensors).encode()


def _within(module):
    """It and the modules below it, of which some may have no hash, as PyTorch's own functions want."""
    return [module, *(inner for inner, _ in _tree.modules_below(module))]


def _parameters(modules):
    found = (each for inner in modules for each in inner._parameters.values() if each is not None)
    return list({id(each): each for each in found}.values())


def _compiles():
    frames, conversion = (sys.modules.get("torch._dynamo." + name) for name in ("eval_frame", "convert_frame"))
    backends = getattr(frames, "cached_backends", None) or {}  # None stands for functions that are kept out
    return bool(any(backend is not None for backend in backends.values()) or getattr(frames, "most_recent_backend", None) or
                getattr(conversion, "FRAME_COUNTER", 0))


class Description:
    def __init__(self, torch, library):
        self._torch, self._library = torch, library
        self.running = False  # read at every call of a module
        self.fresh = False  # the step has begun, and nothing of the model has run in it
        self._kinds = set()  # of forwards that were described
        self._why_not = ""
        self._regions = None
        self._compiles = False  # it is their code that tells of their launches, in this step
        self._in_regions = set()  # threads that are in a launch of which such code has told
        self._has_mode = False  # in this step
        self._put_off = False  # to another step
        self._times_put_off = 0
        self._allocations = False  # are to be told
        self.memory = None  # of the step, where it is asked for
        self._no_allocator = False  # that tells anything
        self._optimizers = {}  # that have taken a step, weakly, by id
        self.places = None  # of the operators' calls in the program, where they are asked for
        self._mode = None
        self._seen = set()  # modules that can be described, by id, and those whose tensors were told
        self._plain = (torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.nn.Parameter))
        self._backward_differs = False
        for name, function in vars(Description).items():
            if hasattr(function, "__code__"):
                _dynamo.keep_out(torch, function, callees=name == "run_backward")

    def follow_regions(self, regions):
        self._regions = regions

    # --- steps

    def step_began(self):
        self.fresh = True
        if not self.running:
            self._begin(0)

    def forward_begins(self, kind):
        """Of text generation: it launches the kernels of its kind, whatever the step that was described had."""
        if kind in self._kinds or not (self.fresh or self.running) or len(self._kinds) >= _MOST_KINDS:
            return
        if self.running or self._begin(1):
            self._kinds.add(kind)

    def _begin(self, forward):
        wanted = self._library.gable_model_begin(forward)
        if not wanted:
            return False
        self._compiles = _compiles()
        self._has_mode = not self._compiles or _dynamo.bears_modes(self._torch)
        self._in_regions.clear()
        self._follow_memory(bool(wanted & 2))
        self.places = _call_places.Places(self._torch) if wanted & 4 else None
        self._seen.clear()
        self._why_not, self._put_off, self._backward_differs = "", False, False
        try:
            if self._compiles:
                if not self._regions.begin_telling(self._launch) and not self._has_mode:
                    self._library.gable_model_end((_COMPILES + _NOT_SEEN).encode())
                    return False
            if self._has_mode and self._mode is None:
                self._mode = _make_mode(self._torch, self._library, self)
            if self._capturing():
                raise RuntimeError("a stream captures")
        except Exception as problem:
            if self._compiles:
                self._regions.end_telling()
            self._library.gable_model_end(f"{type(problem).__name__}: {problem}".encode("utf-8", "replace"))
            return False
        self.running = True
        return True

    def _follow_memory(self, wanted):
        self._allocations, self.memory = wanted and not self._no_allocator, None
        if not wanted:
            return
        if self._compiles:
            _library.say("--memory: what holds memory is unknown, because the program uses torch.compile.")
        elif _memory.knows_ends(self._torch):
            optimizers = [each for each in (reference() for reference in self._optimizers.values()) if each is not None]
            self.memory = _memory.Memory(self._torch, self._library, optimizers)
        else:
            _library.say(f"--memory: PyTorch {self._torch.__version__} does not tell when memory is free again; what holds it is unknown. "
                         "It needs PyTorch 2.1.")

    def optimizer_ran(self, optimizer):
        if id(optimizer) in self._optimizers or len(self._optimizers) < _MOST_OPTIMIZERS:
            self._optimizers[id(optimizer)] = weakref.ref(optimizer)

    def step_ended(self):
        """After the library has heard of the border."""
        if not self.running and not self._why_not:
            return
        if self.running and self.memory is not None:
            self._of_memory(_memory.Memory.ended)
        self.memory = None
        self.running = False
        if self._compiles and not self._regions.end_telling() and not self._why_not:
            self._why_not, self._put_off = _COMPILES + _WROTE, True
        self._times_put_off += self._put_off
        puts_off = self._put_off and self._times_put_off <= _MOST_PUT_OFF  # each time measuring begins a step later
        end = self._library.gable_model_put_off if puts_off else self._library.gable_model_end
        end(self._why_not.encode("utf-8", "replace"))
        self._why_not = ""

    def give_up(self, why):
        if not self._why_not:
            self._why_not, self._put_off = why, why == _COMPILES
        self.running = False

    def failed(self, problem):
        self.give_up(str(problem) if isinstance(problem, NoFormulas) else f"{type(problem).__name__}: {problem}")

    def _capturing(self):
        return self._torch.cuda.is_initialized() and self._torch.cuda.is_current_stream_capturing()

    # --- calls

    def call_begins(self, module, args, kwargs):
        """Before the call of a module, while a description is made. What call_ends() is to be given, whatever comes of the call."""
        before = self._allocated() if self._allocations else None
        mode = self._mode_for(module, args, kwargs)
        if mode is not None:
            if self.memory is not None:
                self._of_memory(_memory.Memory.model_begins, module)
            mode.__enter__()
        return module, args, kwargs, mode, before

    def call_ends(self, call, *results):
        """After it. No result: it raised."""
        module, args, kwargs, mode, before = call
        if mode is not None:
            mode.__exit__(None, None, None)
        if self.running and results and not self._is_loss(module):  # of which nothing is described
            try:
                self._tell(module, args, kwargs, results[0])
                if before is not None:
                    self._library.gable_model_allocated(id(module), max(self._allocated() - before, 0))
            except Exception as problem:
                self.give_up(f"{type(module).__name__}: {type(problem).__name__}: {problem}")

    def _allocated(self):
        """Bytes that were ever taken from the caching allocator of the current device; None: it is not in use."""
        counted = _memory.statistics(self._torch)
        if counted is None:
            _library.say("--memory: PyTorch's caching allocator is not in use here; only the tensors that Gable sees count.")
            self._allocations, self._no_allocator = False, True
            return None
        return counted["allocated"]

    def _of_memory(self, tell, *what):
        """A failure of ours costs what is said of memory, and no more."""
        try:
            if self.memory is not None:
                tell(self.memory, *what)
        except Exception as problem:
            _library.say(f"--memory: {type(problem).__name__}: {problem}. What holds memory is unknown.")
            self.memory = None

    def operator_ran(self, args, kwargs, out):
        if self.memory is not None:
            self._of_memory(_memory.Memory.ran, args, kwargs, out)

    def _launch(self, works, symbols):
        """What a launch of a compiled region does that comes now: parts of it, where it stands for several. None: it has come."""
        if works is None:
            self._in_regions.discard(threading.get_ident())
            return
        try:
            self._in_regions.add(threading.get_ident())
            if self.running and works:
                self._tell_launch([work.at(symbols) for work in works])
        except Exception as problem:
            self.give_up(f"{type(problem).__name__}: {problem}")

    def tells(self):
        """Whether the mode tells what runs now on this thread."""
        return self.running and not (self._in_regions and threading.get_ident() in self._in_regions)

    def _tell_launch(self, works):
        library = self._library
        place = "" if self.places is None else self.places.of_trace(works[0].trace)
        names = list(dict.fromkeys(name for work in works for name in work.names))
        inputs = ";".join(work.inputs for work in works if work.inputs)
        library.gable_model_operator_begin(*(text.encode("utf-8", "replace") for text in (_compiled_work.listed(names), inputs, place)))
        for work in works:
            moved = -1 if work.bytes is None else work.bytes
            for kind, flops in work.flops.items() or (("fp32", 0),):
                library.gable_model_operator(work.device, kind.encode(), -1 if flops is None else flops, moved, 0)
                moved = 0

    def run_backward(self, frame, run, args, kwargs):
        """`frame` is where the program asks for it."""
        mode, apart = None, ()
        try:
            if self._has_mode and not self._stands_by():
                apart = self._set_apart(args[0]) if self._backward_differs else ()
                mode = self._mode
        except Exception as problem:
            self.failed(problem)
        if mode is None:
            return call_as_from(frame, run, args, kwargs)
        with mode:
            try:
                return call_as_from(frame, run, args, kwargs)
            finally:
                for handle in apart:
                    handle.remove()
                if apart and not self._is_ours():  # a node failed while the mode was away
                    self._torch._C._push_on_torch_dispatch_stack(mode)

    def _set_apart(self, roots):
        """The mode is away while nodes run that would do something else with it; what they do is unknown. Handles of the hooks."""
        handles, seen = [], set()
        nodes = [getattr(root, "grad_fn", None) or getattr(root, "node", None) for root in roots]
        while nodes:
            node = nodes.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            nodes.extend(below for below, _ in node.next_functions)
            if node.name().startswith(_APART) and not node.name().startswith(_NORMS):
                before, after = self._hooks_apart()
                handles += [node.register_prehook(before), node.register_hook(after)]
        return handles

    def _hooks_apart(self):
        away = []  # the mode, while the node runs

        def before(gradients):
            try:
                top = self._torch._C._len_torch_dispatch_stack() - 1
                if top >= 0 and self._torch._C._get_dispatch_stack_at(top) is self._mode:
                    away.append(self._torch._C._pop_torch_dispatch_stack(None))
            except Exception as problem:
                self.give_up(f"{type(problem).__name__}: {problem}")

        def after(results, gradients):
            if not away:
                return
            self._torch._C._push_on_torch_dispatch_stack(away.pop())
            try:
                tensor = next(iter(tensors_in((results, gradients), self._torch.is_tensor)), None)
                if self.running and tensor is not None:
                    self._library.gable_model_operator(tensor.device.index or 0, b"fp32", -1, -1, -1)
            except Exception as problem:
                self.give_up(f"{type(problem).__name__}: {problem}")

        return before, after

    def _stands_by(self):
        """True: the mode stands by on this thread already, or another one does, which is not ours to mix with."""
        return self._torch._C._len_torch_dispatch_stack() > 0

    def _mode_for(self, module, args, kwargs):
        """The mode, where this is an outermost call that may be described."""
        if not self._has_mode:
            return None
        try:
            if self._stands_by():
                if not self._is_ours():
                    self.give_up("the program runs in a dispatch mode of its own")
                return None
            if self._is_loss(module):
                return None  # loss functions are no part of the model, and PyTorch computes some another way then
            why_not = self._unfit(module, args, kwargs)
        except Exception as problem:
            why_not = f"{type(problem).__name__}: {problem}"
        if why_not:
            self.give_up(why_not)
            return None
        return self._mode

    def _is_loss(self, module):
        return isinstance(module, self._torch.nn.modules.loss._Loss)

    def _is_ours(self):
        return any(self._torch._C._get_dispatch_stack_at(i) is self._mode
                   for i in range(self._torch._C._len_torch_dispatch_stack()))

    def fits(self, kind):
        """Whether the mode sees what tensors of this type do."""
        return kind in self._plain or kind.__name__ in _PASS_ON

    def _unfit(self, module, args, kwargs):
        torch = self._torch
        if not self._compiles and _compiles():
            return _COMPILES
        if torch._C._functorch.peek_interpreter_stack() is not None or self._capturing():
            return "a stream captures, or functorch transforms the model"
        if torch._C._get_tracing_state() is not None:
            return "torch.jit traces the model"  # it would name values after those of the mode
        for tensor in tensors_in((args, kwargs), torch.is_tensor):
            if not self.fits(type(tensor)) or tensor.is_nested:
                return f"{type(module).__name__} is called with {type(tensor).__name__}"
        if id(module) in self._seen:
            return ""
        modules = _within(module)
        for inner in modules:
            if not self._compiles and (hasattr(inner, "_orig_mod") or getattr(inner, "_compiled_call_impl", None) is not None):
                return _COMPILES
            if isinstance(inner, torch.jit.ScriptModule):
                return f"{type(inner).__name__} is a script module"
        buffers = [each for inner in modules for each in inner._buffers.values() if each is not None]
        for tensor in (*_parameters(modules), *buffers):
            if not self.fits(type(tensor)):
                return f"{type(module).__name__} has parameters of type {type(tensor).__name__}"
        self._seen.add(id(module))
        return ""

    def _tell(self, module, args, kwargs, result):
        if -id(module) in self._seen:
            return  # of several calls the first
        self._seen.add(-id(module))
        is_tensor = self._torch.is_tensor
        parameters = _parameters(_within(module))
        types = sorted({str(each.dtype).rpartition(".")[2] for each in parameters})
        self._library.gable_model_module(id(module), _text(tensors_in((args, kwargs), is_tensor)),
                                         _text(tensors_in(result, is_tensor)), ";".join(types).encode(),
                                         sum(each.numel() for each in parameters))

    def saw(self, operator):
        """In forward: what comes is not to be described in backward where that would be another one."""
        name = operator._overloadpacket.__name__
        if name.startswith(_OTHER_BACKWARD) and not name.startswith(_NORMS):
            self._backward_differs = True


def _make_mode(torch, library, description):
    from torch.utils._python_dispatch import TorchDispatchMode
    on_gpu = torch.cuda.is_initialized()
    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key

    def counts(value):
        return isinstance(value, torch.Tensor) and (value.is_cuda or not on_gpu)

    work = Work(torch, counts)

    def is_made_of_others(operator):
        name = operator.name()
        return (operator not in work.formulas and has_kernel(name, composite) and
                not any(has_kernel(name, backend) for backend in ("CPU", "CUDA")))

    def tell(operator, args, kwargs, out):
        done = work.of(operator, args, kwargs, out)
        if done is not None:
            tensor, kind, *numbers = done
            library.gable_model_operator(tensor.device.index or 0, kind.encode(), *(-1 if each is None else each for each in numbers))

    def opened(operator, args, kwargs, frame):
        """Says that it begins: its name, its inputs, and where it was called. None: it is no operator that could be told."""
        try:
            inputs = _text(tensors_in((args, kwargs), torch.is_tensor))
            place = "" if description.places is None else description.places.of(frame)
            return library.gable_model_operator_begin(operator._schema.name.encode(), inputs, place.encode("utf-8", "replace"))
        except Exception:  # a tensor without sizes
            return None

    class Describing(TorchDispatchMode):
        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls):
            return True

        @classmethod
        def _should_skip_dynamo(cls):
            return False  # it is kept out below, without importing Dynamo

        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if not description.tells():
                return operator(*args, **kwargs)
            others = [each for each in types if each not in description._plain]
            if others:
                if any(each.__name__ == "FakeTensor" for each in others):
                    description.give_up(_COMPILES)  # it compiles right now
                elif not all(map(description.fits, others)):
                    description.give_up(f"there are tensors of type {others[0].__name__}")
                return NotImplemented
            region = _dynamo.region_of(torch, operator)
            if region is not None:
                with self:
                    return region(*args, **kwargs)
            if not hasattr(operator, "_schema"):  # an operator of a higher order
                description.give_up(f"{operator} has no formula")
                return operator(*args, **kwargs)
            if not work.knows(operator) and is_made_of_others(operator):
                with self:  # inference mode shows what others are made of
                    return operator._op_dk(composite, *args, **kwargs)
            frame = caller()
            outer = opened(operator, args, kwargs, frame)
            try:
                out = call_as_from(frame, getattr(operator, "_op", operator), args, kwargs)
                try:
                    description.saw(operator)
                    tell(operator, args, kwargs, out)
                    description.operator_ran(args, kwargs, out)
                except Exception as problem:
                    description.give_up(f"{operator}: {type(problem).__name__}: {problem}")
            finally:
                if outer is not None:
                    library.gable_model_operator_end(outer)
            return out

    _dynamo.keep_out(torch, Describing.__torch_dispatch__, callees=False)
    return Describing()
