# SPDX-License-Identifier: Apache-2.0
"""Makes PyTorch for the CPU launch kernels, on the playback GPU, as PyTorch with CUDA does on a real one. Lies in the site-packages of
the test's virtual environment, as a machine's own sitecustomize: no program and no command knows of it.

PLAYBACK_KERNELS=operators: one kernel for each operator, by a mode of PyTorch's dispatcher. Gable describes no model while such a
mode stands by.
PLAYBACK_KERNELS=modules: one for each call of a module without children, and one for it in backward.
"""
import importlib.util
import os
import sys


def _kernels(kind):
    import torch
    sys.path.append(os.environ["PLAYBACK_OPS"])
    from playback_ops import launch

    _complete_torchvision(torch)
    if kind == "operators":
        return _of_operators(launch)
    return _of_modules(torch, launch)


def _complete_torchvision(torch):
    """torchvision's operators in C++ load into a PyTorch with CUDA alone; without them it does not find these two."""
    for folder in importlib.util.find_spec("torchvision").submodule_search_locations:
        try:
            torch.ops.load_library(os.path.join(folder, "_C.so"))
        except OSError:
            for name in ("nms", "qnms"):
                torch.library.define("torchvision::" + name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def _of_operators(launch):
    from torch.utils._python_dispatch import TorchDispatchMode
    named = {"aten::convolution", "aten::convolution_backward"}

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            name = function._schema.name
            launch(name[len("aten::"):] if name in named else "other")
            return result

    mode = Mode()
    mode.__enter__()
    return mode


def _of_modules(torch, launch):
    def launch_both(module, inputs, output):
        if next(module.children(), None) is None:
            kind = type(module).__name__
            launch("forward:" + kind)
            if output.requires_grad:
                output.register_hook(lambda gradient: launch("backward:" + kind))

    return torch.nn.modules.module.register_module_forward_hook(launch_both)


if os.environ.get("PLAYBACK_KERNELS"):
    _kept = _kernels(os.environ["PLAYBACK_KERNELS"])
