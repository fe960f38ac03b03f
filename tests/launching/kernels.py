# SPDX-License-Identifier: Apache-2.0
"""Launches kernels on the playback GPU from Python, without any other package."""
import ctypes

_MODULE = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work() { ret; }\n"


class Gpu:
    def __init__(self):
        self._cuda, self._kernels = ctypes.CDLL("libcuda.so.1"), {}
        device, context, self._module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self._call("cuModuleLoadData", ctypes.byref(self._module), _MODULE)

    def _call(self, name, *arguments):
        code = getattr(self._cuda, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name} answers {code}")

    def launch(self, name):
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(kernel), self._module, name.encode())
        self._call("cuLaunchKernel", kernel, 8, 1, 1, 64, 1, 1, 0, None, None, None)

    def wait(self):
        self._call("cuCtxSynchronize")
