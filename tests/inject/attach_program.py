# SPDX-License-Identifier: Apache-2.0
"""Python programs that start CUDA in odd places: attach_program.py CASE. None of them knows Gable. The file that ATTACH_MARK names
gets a line for each process: whether Gable's Python side was there in the end. Runs on Python 2 too."""
import atexit
import ctypes
import os
import subprocess
import sys
import threading


def start_cuda(library=ctypes.CDLL):
    library("libcuda.so.1").cuInit(0)


def mark():
    for _ in range(10):  # whatever waits for the main thread has its turn
        pass
    with open(os.environ["ATTACH_MARK"], "a") as file:
        file.write("yes\n" if "gable_profiler._startup" in sys.modules else "no\n")


def plain():
    start_cuda()


def lock_held():
    start_cuda(ctypes.PyDLL)


def thread():
    threads = [threading.Thread(target=start_cuda) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def main_in_c():
    """The main thread is in C, without the interpreter's lock, while CUDA starts, and then ends."""
    done = threading.Event()
    worker = threading.Thread(target=lambda: (start_cuda(), done.set()))
    worker.start()
    done.wait(30)
    worker.join()


def subinterpreter():
    try:
        import _xxsubinterpreters as interpreters
        interpreters.run_string(interpreters.create(), "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)")
    except Exception:  # another version of Python
        start_cuda()


def forked():
    sys.stdout.flush()
    child = os.fork()
    start_cuda()
    if child == 0:
        mark()
        os._exit(3)
    print(os.waitpid(child, 0)[1])


def child():
    print(subprocess.call([sys.executable, __file__, "plain"]))
    start_cuda()


def at_exit():
    atexit.register(start_cuda)


class Late:
    cdll = ctypes.CDLL

    def __del__(self):
        self.cdll("libcuda.so.1").cuInit(0)


def finalizing():
    sys.late = Late()


def half_imported():
    """torch (one of ours, see below) starts CUDA in the middle of its import."""
    import torch
    print(torch.__version__)


def half_imported_by_thread():
    worker = threading.Thread(target=half_imported)
    worker.start()
    worker.join()


def failed_import():
    os.environ["TORCH_FAILS"] = "1"
    try:
        import torch  # noqa: F401
    except RuntimeError as problem:
        print(problem)
    del os.environ["TORCH_FAILS"]
    half_imported()


def interrupted():
    """What a signal's handler raises meanwhile is the program's."""
    import signal

    def handler(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, handler)
    try:
        start_cuda()
        os.kill(os.getpid(), signal.SIGALRM)
        for _ in range(1000):
            pass
        print("not interrupted")
    except KeyboardInterrupt:
        print("interrupted")


globals()[sys.argv[1]]()
if sys.argv[1] not in ("at_exit", "finalizing"):
    mark()
print("done")
sys.exit(7)
