# SPDX-License-Identifier: Apache-2.0
"""What the kernels of a compiled region have to do, by the nodes of the graph that Inductor made them of.

A kernel that Inductor wrote moves each tensor that it reads or writes once, however many operators it does the work of; Inductor knows
which. Matrix products and the like have the formulas that they have outside of a compiled region.

Sizes that Inductor has left open are symbols, whose values the code knows when it runs. Until then they are never asked for: PyTorch would
take the answer for a promise, and compile again for other sizes.
"""
import functools
import math
import operator

from gable_profiler._work import MOST_TENSORS, Work, tensors_in, text_of, text_of_tensors

_MOST_NAMED = 3  # of what a kernel is made of
_MULTIPLY = ("mm", "linear", "conv", "attention")  # parts of names


def listed(names):
    """a + b + c + 2 more"""
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return " + ".join((*names[:_MOST_NAMED], *more))


class Done:
    """What one launch does."""
    __slots__ = ("names", "inputs", "trace", "device", "flops", "bytes", "complete")

    def __init__(self, names, device, trace=""):
        self.names, self.device, self.trace = names, device, trace
        self.inputs = ""
        self.flops = {}  # by type, if there are any; None: unknown
        self.bytes = None
        self.complete = None  # where sizes are open: gives what is done, by the values of symbols

    def at(self, symbols):
        """With the values that they have where it runs, by their names."""
        return self if self.complete is None else self.complete(symbols)

    def add(self, kind, flops):
        if flops != 0:
            before = self.flops.get(kind, 0)
            self.flops[kind] = None if flops is None or before is None else before + flops


def _are_numbers(sizes):
    return all(isinstance(size, int) or getattr(size, "is_Integer", False) for size in sizes)


def _number(size, symbols):
    """Of a size that is a number, or a term of symbols. None: of one that has no value."""
    if isinstance(size, int):
        return size
    value = size.subs({symbol: symbols[symbol.name] for symbol in size.free_symbols if symbol.name in symbols})
    return int(value) if value.is_Integer else None


def _numbers(sizes, symbols):
    found = [_number(size, symbols) for size in sizes]
    return None if None in found else found


def _value_of(node):
    return node.meta.get("val") if hasattr(node, "meta") else node


class _Tensor:
    """What a tensor of the graph is, without keeping it."""
    __slots__ = ("dtype", "counts", "shape", "stride")

    def __init__(self, tensor, counts):
        self.dtype, self.counts = tensor.dtype, counts
        self.shape, self.stride = tuple(map(_term, tensor.shape)), tuple(map(_term, tensor.stride()))

    def made(self, torch, symbols):
        shape, stride = _numbers(self.shape, symbols), _numbers(self.stride, symbols)
        return torch.empty_strided(shape, stride, dtype=self.dtype, device="meta")


def _term(size):
    return size if isinstance(size, int) else size.node.expr


class _Open:
    def __init__(self, size):
        self.term = _term(size)


class Reader:
    """Of graphs, while Inductor still has them."""

    def __init__(self, torch):
        self._torch = torch
        self._work = Work(torch, self._counts)
        self._on_gpu = torch.cuda.is_initialized()
        self._counting = {}  # tensors that are made of sizes that were open and count, by id
        self._work_when_run = None

    def _counts(self, value):
        return isinstance(value, self._torch.Tensor) and (value.is_cuda or not self._on_gpu)

    def read(self, graph, sources, launches):
        """Of each of `launches`: (a node of Inductor's schedule, whether it calls an operator, nodes of the graph that it does the work
        of, those among them that it was made for)."""
        self._on_gpu = self._torch.cuda.is_initialized()
        owners = _owners(launches)
        return [self._done(graph, sources, i, owners, *launch) for i, launch in enumerate(launches)]

    def _done(self, graph, sources, place, owners, scheduled, is_extern, nodes, own):
        device = scheduled.get_device()
        if (is_extern and own and own[-1].target is operator.getitem) or (device is not None and self._on_gpu and device.type != "cuda"):
            return None  # no kernel
        done = Done(_names(nodes, is_extern), getattr(device, "index", None) or 0,
                    next(filter(None, map(sources.trace, nodes)), ""))
        called = own[-1] if is_extern and own and hasattr(own[-1].target, "_schema") else None
        try:
            calls = [(node.target, *_values(self._torch, node)) for node in (nodes if called is None else (called,))
                     if owners.get(node) == place and node.op == "call_function"]
            tensors = [tensor for call in calls for tensor in tensors_in(call[1:], self._torch.is_tensor)]
            buffers = _buffers(graph, scheduled) if called is None else []
            if all(map(_are_numbers, (*((*each.shape, *each.stride()) for each in tensors), *(sizes for _, sizes, *_ in buffers)))):
                self._fill(done, self._work, calls, called is not None)
                if called is None:
                    done.inputs = _inputs(buffers, {})
                    done.bytes = None if is_extern else float(scheduled.get_read_write_buffers_sizes())  # it is its own affair
            else:
                moved = None if is_extern and called is None else _moved(graph, scheduled, buffers)
                kept = [self._without_values(call) for call in calls]
                done.complete = functools.partial(self._complete, done, kept, buffers, moved, called is not None)
        except Exception:  # another PyTorch
            done.flops, done.bytes = {"fp32": None}, None
        return done

    def _without_values(self, call):
        def kept(value):
            if self._torch.is_tensor(value):
                return _Tensor(value, self._counts(value))
            return _Open(value) if isinstance(value, self._torch.SymInt) else value
        return self._torch.utils._pytree.tree_map(kept, call)

    def _complete(self, done, calls, buffers, moved, is_called, symbols):
        if self._work_when_run is None:
            self._work_when_run = Work(self._torch, lambda value: id(value) in self._counting, self._on_gpu)
        counting = []

        def made(value):
            if isinstance(value, _Tensor):
                tensor = value.made(self._torch, symbols)
                if value.counts:
                    counting.append(tensor)
                    self._counting[id(tensor)] = tensor
                return tensor
            return _number(value.term, symbols) if isinstance(value, _Open) else value

        complete = Done(done.names, done.device, done.trace)
        try:
            self._fill(complete, self._work_when_run, self._torch.utils._pytree.tree_map(made, calls), is_called)
            if not is_called:
                complete.inputs = _inputs(buffers, symbols)
                sizes = None if moved is None else [(dtype, _numbers(sizes, symbols)) for dtype, sizes in moved]
                complete.bytes = None if sizes is None else float(sum(dtype.itemsize * math.prod(size) for dtype, size in sizes))
        except Exception:  # a symbol has no value here
            complete.flops, complete.bytes = {"fp32": None}, None
        finally:
            for tensor in counting:
                self._counting.pop(id(tensor), None)
        return complete

    def _fill(self, done, work, calls, is_called):
        for target, args, kwargs, out in calls:
            tensors = tensors_in((args, kwargs, out), self._torch.is_tensor)
            if is_called:
                done.inputs = text_of_tensors(tensors_in((args, kwargs), self._torch.is_tensor))
            if (getattr(target, "__module__", None) or "").startswith("torch._inductor"):
                self._add_replacement(done, work, target, (*args, *kwargs.values()), out)
                continue
            if not hasattr(target, "_schema"):
                if hasattr(target, "namespace"):  # none of Python's operators
                    flops = work.formulas.flops(target, args, kwargs, out, tensors)
                    done.add("fp32" if flops is None or not tensors else work.type_of(target, tensors[0]), flops)
                continue
            counted = work.of(target, args, kwargs, out)
            if counted is not None:
                _, kind, flops, read, written = counted
                done.add(kind, flops)
            if is_called:
                done.bytes = 0 if counted is None else None if read is None or written is None else read + written

    def _add_replacement(self, done, work, function, matrices, out):
        """Of a function that one of Inductor's passes has put in the place of several operators."""
        name = getattr(function, "__name__", "")
        if name != "mm_plus_mm":
            done.add("fp32", None if any(part in name for part in _MULTIPLY) else 0)
            return
        mm = self._torch.ops.aten.mm.default
        for pair in (matrices[:2], matrices[2:]):
            done.add(work.type_of(mm, pair[0]), work.formulas.flops(mm, pair, {}, out, pair))


def _values(torch, node):
    from torch.fx.node import map_arg
    return map_arg(node.args, _value_of), map_arg(node.kwargs, _value_of), _value_of(node)


def _owners(launches):
    """{node: the launch that does its work}: the operator itself, or what was made for it, or else the last one that does it."""
    calls, made, last = {}, {}, {}
    for i, (_, is_extern, nodes, own) in enumerate(launches):
        for node in own:
            (calls if is_extern else made).setdefault(node, i)
        for node in nodes:
            last[node] = i
    return {**last, **made, **calls}


def _names(nodes, is_extern):
    """Of the operator, or of those that a kernel stands for: as the program called them, before PyTorch took them apart."""
    names = []
    for node in nodes:
        if node.op != "call_function":  # an input, in another layout
            names.append("inductor::copy")
            continue
        called = (None if is_extern else node.meta.get("original_aten")) or node.target
        schema = getattr(called, "_schema", None)
        names.append(getattr(called, "__name__", str(called)) if schema is None else schema.name)
    return list(dict.fromkeys(names))


def _sizes_of(buffer):
    """None: it stands for no array, but for the order of two launches, say."""
    try:
        return buffer.get_size()
    except (AttributeError, NotImplementedError):
        return None


def _buffers(graph, scheduled):
    """[(type, sizes, whether it is read, name)] of the arrays that a kernel has to do with, those that it makes and uses up included."""
    written = {each for node in scheduled.get_nodes() for each in (getattr(node, "get_buffer_names", None) or node.get_names)()}
    read = {dependency.name for dependency in scheduled.read_writes.reads} - written
    found = []
    for name in sorted(read | written, key=lambda name: (name.startswith("buf"), len(name), name)):
        buffer = graph.name_to_buffer.get(name) or graph.graph_inputs.get(name)
        sizes = _sizes_of(buffer)
        if sizes is not None:
            found.append((buffer.get_dtype(), tuple(sizes), name in read, name))
    return found


def _inputs(buffers, symbols):
    read = [(dtype, _numbers(sizes, symbols)) for dtype, sizes, is_read, _ in buffers if is_read]
    return ";".join(text_of(dtype, sizes) for dtype, sizes in read[:MOST_TENSORS] if sizes is not None)


def _moved(graph, scheduled, buffers):
    """[(type, sizes)] of the arrays that a kernel moves. None: of one it moves only a part, or it is not known."""
    accesses = getattr(scheduled, "get_read_write_buffer_accesses", None)
    if accesses is None:
        return None
    moved, sizes_of_graph = accesses(True, True), graph.sizevars
    estimate = getattr(sizes_of_graph, "optimization_hint", None) or sizes_of_graph.size_hint  # its name in older PyTorch
    found = []
    for dtype, sizes, _, name in buffers:
        if name not in moved:
            continue
        whole = dtype.itemsize
        for size in sizes:
            whole *= estimate(size, fallback=0)
        if moved[name] != whole:
            return None
        found.append((dtype, sizes))
    return found
