# SPDX-License-Identifier: Apache-2.0
"""Runs a program that says how far it is, and shows where every thread of it stands when it stops saying so."""
import glob
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PATIENCE_S = float(os.environ.get("GABLE_LOCK_PATIENCE", "120"))  # without a line from the program; no measure of its speed


class Stuck(Exception):
    pass


def _members(session):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found.append(int(path.split("/")[2]))
    return sorted(found)


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as problem:
        return f"({problem.strerror})"


def stacks(pid):
    """Of all threads: gdb's where there is one that may look, else what the kernel tells."""
    text = f"--- process {pid}: {_read(f'/proc/{pid}/cmdline').replace(chr(0), ' ')}\n"
    if shutil.which("gdb"):
        try:
            done = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "set pagination off", "-ex", "thread apply all bt 30"],
                                  capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ, DEBUGINFOD_URLS=""))
            lines = [line for line in done.stdout.split("\n") if line.startswith(("#", "Thread"))]
            if any(line.startswith("#") for line in lines):
                return text + "\n".join(lines) + "\n"
        except subprocess.TimeoutExpired:
            pass
    for task in sorted(glob.glob(f"/proc/{pid}/task/[0-9]*")):
        text += f"thread {os.path.basename(task)} {_read(task + '/comm')}: "
        text += ", ".join(f"{name} {_read(task + '/' + name)}" for name in ("wchan", "syscall", "stack")) + "\n"
    return text


def _show(session):
    members = _members(session)
    text = "".join(stacks(pid) for pid in members)
    for pid in members:  # Python programs write theirs to standard error
        if _read(f"/proc/{pid}/comm").startswith("python"):
            os.kill(pid, signal.SIGUSR1)
    time.sleep(1)
    return text


class Run:
    def __init__(self, code, lines, err):
        self.code, self.lines, self.err = code, lines, err


def run(command, environment, folder):
    """The run, once it has ended. Raises Stuck, with all stacks, when no line came for PATIENCE_S."""
    lines, said = queue.Queue(), []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=errors, text=True, start_new_session=True)

        def read():
            for line in process.stdout:
                lines.put(line.rstrip("\n"))
            lines.put(None)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        stuck = ""
        try:
            while True:
                line = lines.get(timeout=PATIENCE_S)
                if line is None:
                    break
                said.append(line)
            process.wait(timeout=PATIENCE_S)
        except (queue.Empty, subprocess.TimeoutExpired):
            stuck = _show(process.pid)
        finally:
            for pid in _members(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()
            process.stdin.close()
            reader.join(10)
            process.stdout.close()
        errors.seek(0)
        err = errors.read()
    if stuck:
        raise Stuck(f"{' '.join(command)}\nno progress for {PATIENCE_S:.0f} s after {said[-1:]}\n{stuck}--- standard error\n{err}")
    return Run(process.returncode, said, err)
