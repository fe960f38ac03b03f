# SPDX-License-Identifier: Apache-2.0
"""Operators that launch kernels on the playback GPU, forward and backward, and compute on the CPU what they always compute.

The kernel's name says where it belongs: "forward:layer1.0.conv1". Whoever reads the report compares that with its layer.
"""
import ctypes

import torch

_cuda = _memory = None
_functions = {}
_MODULE = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work() { ret; }\n"


def _check(code, call):
    if code != 0:
        raise RuntimeError(f"{call} answers {code}")


def open_gpu():
    global _cuda, _context, _module
    if _cuda is not None:
        return
    _cuda = ctypes.CDLL("libcuda.so.1")
    device, _context, _module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    _check(_cuda.cuInit(0), "cuInit")
    _check(_cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    _check(_cuda.cuDevicePrimaryCtxRetain(ctypes.byref(_context), device), "cuDevicePrimaryCtxRetain")
    _check(_cuda.cuCtxSetCurrent(_context), "cuCtxSetCurrent")
    _check(_cuda.cuModuleLoadData(ctypes.byref(_module), _MODULE), "cuModuleLoadData")


def launch(name, blocks=8):
    open_gpu()
    _check(_cuda.cuCtxSetCurrent(_context), "cuCtxSetCurrent")  # autograd brings threads of its own
    function = _functions.get(name)
    if function is None:
        function = ctypes.c_void_p()
        _check(_cuda.cuModuleGetFunction(ctypes.byref(function), _module, name.encode()), "cuModuleGetFunction")
        _functions[name] = function
    _check(_cuda.cuLaunchKernel(function, blocks, 1, 1, 64, 1, 1, 0, None, None, None), "cuLaunchKernel")


def copy_to_gpu(size):
    """Memory that the copy goes to is made once: its address is of no interest."""
    open_gpu()
    global _memory
    if _memory is None:
        _memory = ctypes.c_uint64()
        _check(_cuda.cuMemAlloc_v2(ctypes.byref(_memory), 1 << 20), "cuMemAlloc")
    _check(_cuda.cuMemcpyHtoDAsync_v2(_memory, bytes(size), ctypes.c_size_t(size), None), "cuMemcpyHtoDAsync")


_operators = torch.library.Library("playback_gpu", "DEF")
_operators.define("launches(Tensor(a) value, str kernel) -> Tensor(a)")


def _launches(value, kernel):
    launch(kernel)
    return value.view_as(value)


_operators.impl("launches", _launches, "CompositeExplicitAutograd")


def launches(value, kernel):
    """`value`, from an operator that launches the kernel and, being a view, has nothing to do. Kernels of PyTorch's are all launched by
    operators."""
    open_gpu()
    _check(_cuda.cuCtxSetCurrent(_context), "cuCtxSetCurrent")  # at the latest here Dynamo does not go on
    inner = value
    for name in ("_local_tensor", "elem"):  # of a DTensor, and of what a collective has yet to fill
        inner = getattr(inner, name, inner)
    is_plain = type(inner) in (torch.Tensor, torch.nn.Parameter) and not inner.is_nested
    if not is_plain or torch._C._functorch.peek_interpreter_stack() is not None:
        launch(kernel)
        return value.view_as(value)
    launched = torch.ops.playback_gpu.launches(inner, kernel)
    return launched if inner is value else value.view_as(value)


class _Launching(torch.autograd.Function):
    """Backward is one of these, too: where the program differentiates gradients, it has a backward of its own."""

    @staticmethod
    def forward(context, value, direction, tag):
        context.tag = tag
        return launches(value, f"{direction}:{tag}")

    @staticmethod
    def backward(context, gradient):
        return _Launching.apply(gradient, "backward", context.tag), None, None


def launching(value, tag):
    """`value`, after a kernel of that tag; in backward a kernel too."""
    return _Launching.apply(value, "forward", tag)


def make_launching(model):
    """Every module without children launches a kernel that bears its dotted name, forward and backward."""
    for name, module in model.named_modules():
        if not list(module.children()):
            kind = type(module)
            module.tag = name
            module.__class__ = type(kind.__name__, (_LaunchingForward, kind), {"__module__": kind.__module__})
    return model


class _LaunchingForward:
    def forward(self, *args, **kwargs):
        return launching(super().forward(*args, **kwargs), self.tag)
