# SPDX-License-Identifier: Apache-2.0
"""Python programs that launch kernels in threads while they hold the interpreter's lock or the loader's: threads.py NAME ROUNDS."""
import ctypes
import faulthandler
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import sys
import sysconfig
import tempfile
import threading

import gable

_MODULE = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work() { ret; }\n"
_EXTENSIONS = ("_heapq", "_bisect", "_queue", "_json", "_opcode", "_statistics", "_crypt", "termios", "_contextvars")


class Gpu:
    """As one sees it that lets go of the interpreter's lock in calls, or keeps it."""

    def __init__(self, library):
        self._cuda = library("libcuda.so.1")
        device, self._context, module, self._kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self.use()
        self._call("cuModuleLoadData", ctypes.byref(module), _MODULE)
        self._call("cuModuleGetFunction", ctypes.byref(self._kernel), module, b"work")

    def _call(self, name, *arguments):
        code = getattr(self._cuda, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name} answers {code}")

    def use(self):
        self._call("cuCtxSetCurrent", self._context)

    def step(self):
        with gable.range("step"), gable.range("layer"):
            for _ in range(4):
                self._call("cuLaunchKernel", self._kernel, 8, 1, 1, 64, 1, 1, 0, None, None, None)
        self._call("cuCtxSynchronize")


def told(turn):
    print(f"round {turn}", flush=True)


def beside(bodies, meanwhile):
    enough, failed = threading.Event(), []

    def again(body):
        try:
            while not enough.is_set():
                body()
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=again, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    meanwhile()
    enough.set()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def stepping(gpu):
    def step():
        gpu.use()
        gpu.step()
    return step


def lock_held(rounds):
    """Launches and borders with the interpreter's lock held, beside others that have let go of it, and one that only computes."""
    keeping, letting = Gpu(ctypes.PyDLL), Gpu(ctypes.CDLL)

    def rest():
        for turn in range(rounds):
            keeping.use()
            keeping.step()
            sum(range(2000))
            told(turn)

    beside([stepping(keeping), stepping(letting), lambda: sum(range(2000))], rest)


def imports(rounds):
    """Each import opens an object that is new to the process, with the interpreter's lock held."""
    gpu = Gpu(ctypes.CDLL)
    folder = os.path.join(sysconfig.get_path("platstdlib"), "lib-dynload")
    name, path = next((name, os.path.join(folder, file)) for name in _EXTENSIONS
                      for file in (name + importlib.machinery.EXTENSION_SUFFIXES[0],) if os.path.exists(os.path.join(folder, file)))
    counter = iter(range(sys.maxsize))

    with tempfile.TemporaryDirectory() as copies:
        def load():
            copy = os.path.join(copies, f"{next(counter)}.so")
            shutil.copyfile(path, copy)
            spec = importlib.util.spec_from_file_location(name, copy)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
            os.unlink(copy)

        def rest():
            for turn in range(rounds):
                threads = [threading.Thread(target=load) for _ in range(2)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                told(turn)

        beside([stepping(gpu), stepping(gpu)], rest)


def forks(rounds):
    """Children of a program that launches in threads, as multiprocessing makes them."""
    gpu = Gpu(ctypes.CDLL)

    def rest():
        for turn in range(rounds):
            child = os.fork()
            if child == 0:
                with gable.range("in child"):
                    gable.step()
                os._exit(0)
            if os.waitpid(child, 0)[1] != 0:
                raise RuntimeError("a child failed")
            told(turn)

    beside([stepping(gpu), stepping(gpu)], rest)


def error_is_read(rounds):
    """Standard error is a pipe that is full, and its reader is a thread that needs the interpreter's lock, as in a notebook."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    kept = os.dup(2)
    os.dup2(writing, 2)
    wanted = threading.Semaphore(0)

    def until_it_blocks(call):
        try:
            while True:
                call()
        except BlockingIOError:
            pass

    def read():
        while wanted.acquire():
            until_it_blocks(lambda: os.read(reading, 4096))

    threading.Thread(target=read, daemon=True).start()
    gpu = Gpu(ctypes.PyDLL)
    sys.setswitchinterval(1000)  # in a step this thread keeps the lock
    for turn in range(rounds):
        os.set_blocking(writing, False)
        until_it_blocks(lambda: os.write(writing, bytes(4096)))
        os.set_blocking(writing, True)
        wanted.release()
        gpu.step()
        told(turn)
    os.dup2(kept, 2)


PROGRAMS = {"error_is_read": error_is_read, "lock_held": lock_held, "imports": imports, "forks": forks}

if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, file=open(os.dup(2), "w"), all_threads=True)
    PROGRAMS[sys.argv[1]](int(sys.argv[2]))
    print("done", flush=True)
