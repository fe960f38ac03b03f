# SPDX-License-Identifier: Apache-2.0
"""What an operator has to do by its tensors: floating-point operations by formula, and bytes.

The formulas are those of torch.utils.flop_counter (2 for a multiply and an add): matrix multiplications, convolutions and
attention, forward and backward. What else PyTorch computes counts as 0: it is bound by its bytes. Operators that are known
to multiply matrices and have no formula, and operators that are not PyTorch's own, are unknown.

Bytes: each tensor that is read and each that is written, once for every operator, in the size of its type. Views move
nothing; of an expanded tensor only the elements that exist count; of a table that is looked up only what comes out.
"""
from math import prod

_OWN = frozenset(("aten", "prim", "prims", "c10d", "_c10d_functional", "_c10d_functional_autograd", "profiler", "inductor"))
_NO_FORMULA = ("_rnn", "rnn_layer", "_lstm", "_gru", "_cdist", "_fft", "linalg_", "_linalg", "sparse", "_grouped_mm", "_int_mm",
               "_weight_int", "quantized", "_transformer_encoder", "_native_multi_head", "triangular_solve", "cholesky",
               "attention", "bilinear", "ormqr")
_NOT_MATRICES = ("upsample_bilinear", "grid_sampler", "_upsample_bilinear")
_NOTHING_MOVES = frozenset(("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_",
                            "_efficientzerotensor", "record_stream", "_unsafe_view", "_reshape_alias", "lift_fresh", "sym_size",
                            "sym_stride", "sym_numel"))
_ONLY_WRITTEN = frozenset(("copy_", "zero_", "fill_", "uniform_", "normal_", "random_", "bernoulli_", "exponential_"))
_LOOKED_UP = frozenset(("embedding", "index_select", "gather", "index", "take"))


def _matrix_by_vector(matrix, vector, *args, out_val=None, **kwargs):
    return 2 * prod(matrix.shape)


def _added_matrix_by_vector(added, matrix, vector, *args, out_val=None, **kwargs):
    return 2 * prod(matrix.shape)


def _dot(a, b, *args, out_val=None, **kwargs):
    return 2 * prod(a.shape)


def _added_batches(added, a, b, *args, out_val=None, **kwargs):
    return 2 * prod(a.shape) * b.shape[-1]


class Formulas:
    """PyTorch's own, and those that it lacks."""

    def __init__(self, torch):
        from torch.utils import flop_counter
        aten = torch.ops.aten
        self._known = dict(flop_counter.flop_registry)
        attention, its_backward = flop_counter.sdpa_flop, flop_counter.sdpa_backward_flop
        for name, formula in (("mv", _matrix_by_vector), ("addmv", _added_matrix_by_vector), ("dot", _dot), ("vdot", _dot),
                              ("addbmm", _added_batches),
                              ("_scaled_dot_product_flash_attention_for_cpu", attention),
                              ("_scaled_dot_product_flash_attention_for_cpu_backward", its_backward),
                              ("_scaled_dot_product_fused_attention_overrideable", attention),
                              ("_scaled_dot_product_fused_attention_overrideable_backward", its_backward)):
            if hasattr(aten, name):
                self._known.setdefault(getattr(aten, name), formula)

    def __contains__(self, operator):
        return getattr(operator, "_overloadpacket", operator) in self._known

    def flops(self, operator, args, kwargs, out):
        """None: not known."""
        packet = getattr(operator, "_overloadpacket", operator)
        formula = self._known.get(packet)
        if formula is not None:
            return float(formula(*args, **kwargs, out_val=out))
        if getattr(operator, "namespace", "") not in _OWN:
            return None
        name = packet.__name__
        if any(part in name for part in _NO_FORMULA) and not name.startswith(_NOT_MATRICES):
            return None
        return 0.0


class Types:
    """The type that operations count as: which roof they are under."""

    def __init__(self, torch):
        self._names = {torch.float64: "fp64", torch.float16: "fp16", torch.bfloat16: "bf16"}
        for name in dir(torch):
            if name.startswith("float8_"):
                self._names[getattr(torch, name)] = "fp8"
        self._backends, self._float = torch.backends, torch.float32

    def __call__(self, operator, tensor):
        if tensor.dtype != self._float:
            return self._names.get(tensor.dtype, str(tensor.dtype).rpartition(".")[2])
        if not tensor.is_cuda:
            return "fp32"
        convolves = "convolution" in operator._overloadpacket.__name__
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
        self._looked_up = name in _LOOKED_UP
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
        return sum(sizes), written
