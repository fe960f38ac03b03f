# SPDX-License-Identifier: Apache-2.0
"""What an operator has to do, by its tensors: what it moves, and the type that its operations count as.

Bytes: each tensor that is read and each that is written, once for every operator, in the size of its type. Views move
nothing; of an expanded tensor only the elements that exist count; of a table that is looked up only what comes out. What is not
stored as a plain array is unknown.
"""
from gable_profiler._formulas import Formulas

_NOTHING_MOVES = frozenset(("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_",
                            "_efficientzerotensor", "record_stream", "_unsafe_view", "_reshape_alias", "lift_fresh", "sym_size",
                            "sym_stride", "sym_numel"))
_ONLY_WRITTEN = frozenset(("copy_", "zero_", "fill_", "uniform_", "normal_", "random_", "bernoulli_", "exponential_"))
_LOOKED_UP = frozenset(("embedding", "index_select", "gather", "index", "take"))
_SUMMED_UP = frozenset(("_embedding_bag", "_embedding_bag_forward_only"))  # of each index a row, and one comes out for a bag


MOST_TENSORS = 16  # of inputs or outputs are named


def text_of(dtype, sizes):
    """float32[2,3,32,32]"""
    return f"{str(dtype).rpartition('.')[2]}[{','.join(map(str, sizes))}]"


def text_of_tensors(tensors):
    """float32[2,3,32,32];int64[2]"""
    return ";".join(text_of(tensor.dtype, tensor.shape) for tensor in tensors[:MOST_TENSORS])


class Types:
    """The type that operations count as: which roof they are under. `on_gpu`: as a GPU does them, wherever the tensors are."""

    def __init__(self, torch, on_gpu=False):
        self._names = {torch.float64: "fp64", torch.float16: "fp16", torch.bfloat16: "bf16", torch.complex128: "fp64",
                       torch.complex32: "fp16"}
        for name in dir(torch):
            if name.startswith("float8_"):
                self._names[getattr(torch, name)] = "fp8"
        self._backends, self._single = torch.backends, (torch.float32, torch.complex64)
        self._on_gpu = on_gpu

    def __call__(self, operator, tensor):
        if tensor.dtype not in self._single:
            return self._names.get(tensor.dtype, str(tensor.dtype).rpartition(".")[2])
        if not (tensor.is_cuda or self._on_gpu):
            return "fp32"
        convolves = "convolution" in getattr(operator, "_overloadpacket", operator).__name__
        allowed = self._backends.cudnn.allow_tf32 if convolves else self._backends.cuda.matmul.allow_tf32
        return "tf32" if allowed else "fp32"


def tensors_in(values, is_tensor, depth=3):
    """The tensors among arguments or results, in their order."""
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (list, tuple)):
        return [values] if is_tensor(values) else []
    found = []
    for value in values:
        if is_tensor(value):
            found.append(value)
        elif depth > 0 and isinstance(value, (list, tuple, dict)):
            found.extend(tensors_in(value, is_tensor, depth - 1))
    return found


def _size(tensor):
    """Bytes of the elements that exist."""
    elements = 1
    for length, stride in zip(tensor.shape, tensor.stride()):
        elements *= length if stride != 0 else min(length, 1)
    return elements * tensor.element_size()


class Traffic:
    """What an operator reads and writes."""

    def __init__(self, operator):
        name = operator._overloadpacket.__name__
        arguments = operator._schema.arguments
        self.none = bool(operator.is_view) or name in _NOTHING_MOVES
        self._looked_up, self._summed_up = name in _LOOKED_UP, name in _SUMMED_UP
        self.is_copy = name in ("copy_", "_to_copy")
        written = [i for i, each in enumerate(arguments) if each.alias_info is not None and each.alias_info.is_write]
        self._written = {arguments[i].name for i in written}
        self._places = [each.name for each in arguments if not each.kwarg_only]
        self._not_read = {arguments[i].name for i in written if arguments[i].kwarg_only or name in _ONLY_WRITTEN}

    def bytes(self, args, kwargs, out, counts):
        """(read, written); `counts` tells which objects are tensors that count."""
        outputs = {id(tensor): tensor for tensor in tensors_in(out, counts)}
        read = {}
        for name, value in (*zip(self._places, args), *kwargs.items()):
            tensors = tensors_in([value], counts)
            if name not in self._not_read:
                read.update((id(tensor), tensor) for tensor in tensors)
            if name in self._written:
                outputs.update((id(tensor), tensor) for tensor in tensors)
        written = sum(map(_size, outputs.values()))
        sizes = [_size(tensor) for tensor in read.values()]
        if self._looked_up and sizes:
            sizes[0] = min(sizes[0], written)
        if self._summed_up:
            table, indices = args[0], args[1]
            sizes[0] = min(sizes[0], indices.numel() * table.shape[-1] * table.element_size())
        return sum(sizes), written


class Work:
    """What operators have to do. `counts` tells which objects are tensors that count; `on_gpu` as in Types."""

    def __init__(self, torch, counts, on_gpu=False):
        self.formulas, self.type_of = Formulas(torch), Types(torch, on_gpu)
        self._counts, self._is_tensor, self._traffic = counts, torch.is_tensor, {}

    def knows(self, operator):
        """Whether it was asked for before."""
        return operator in self._traffic

    def of(self, operator, args, kwargs, out):
        """(a tensor of it, type, FLOPs, bytes read, bytes written), of which the numbers may be None: unknown. None: nothing."""
        moves = self._traffic.get(operator)
        if moves is None:
            moves = self._traffic[operator] = Traffic(operator)
        tensors = tensors_in((args, kwargs, out), self._counts)
        if moves.none or not tensors:
            return None
        if moves.is_copy and len({each.device for each in tensors_in((args, kwargs, out), self._is_tensor)}) > 1:
            return None  # a copy between devices is no kernel
        flops = self.formulas.flops(operator, args, kwargs, out, tensors)
        try:
            read, written = moves.bytes(args, kwargs, out, self._counts)
        except (RuntimeError, NotImplementedError):  # tensors without strides
            read = written = None
        return tensors[0], self.type_of(operator, tensors[0]), flops, read, written
