# SPDX-License-Identifier: Apache-2.0
"""Counts by Gable's formulas what PyTorch's operators have to do."""
import pathlib
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "inject" / "python"))
from gable_profiler._formulas import Formulas  # noqa: E402
from gable_profiler._work import Traffic, Types, tensors_in  # noqa: E402


class Counted(TorchDispatchMode):
    """What the operators within have to do."""

    def __init__(self):
        super().__init__()
        self.formulas, self.type_of = Formulas(torch), Types(torch)
        self.flops, self.unknown, self.types, self.read = 0.0, set(), {}, {}

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = operator(*args, **kwargs)
        tensors, name = tensors_in((args, kwargs, out), torch.is_tensor), operator._overloadpacket.__name__
        flops = self.formulas.flops(operator, args, kwargs, out, tensors)
        if flops is None:
            self.unknown.add(name)
        else:
            self.flops += flops
            if flops:
                self.types.setdefault(self.type_of(operator, tensors[0]), []).append(name)
        if all(each.layout == torch.strided for each in tensors):
            self.read[name] = Traffic(operator).bytes(args, kwargs, out, torch.is_tensor)[0]
        return out


def counted(function):
    with Counted() as counts:
        result = function()
    return result, counts


def measured(model, *args, pick=None, **kwargs):
    """(forward, backward, names of what is unknown) of a call; `pick` gives the tensor that backward begins with."""
    out, before = counted(lambda: model(*args, **kwargs))
    out = out if pick is None else pick(out)
    _, behind = counted(lambda: out.sum().backward())
    return before.flops, behind.flops, before.unknown | behind.unknown
