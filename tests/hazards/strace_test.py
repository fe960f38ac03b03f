# SPDX-License-Identifier: Apache-2.0
"""What a program without CUDA has of Gable: variables, and with LD_PRELOAD a library in its memory. strace shows each call that it makes
to the kernel: none is more, no thread, no file, no signal, no process group. Skipped where nobody may be traced."""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from hazards_test import GABLE, LIBRARY

PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else shutil.which("python3")
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}
# What the program is given, as it sees it.
ABOUT = r"""
import json, os, resource
status = dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
print(json.dumps({
    "signals": {name: status[name].strip() for name in ("SigBlk", "SigIgn", "SigCgt", "ShdPnd", "SigPnd")},
    "descriptors": sorted(set(os.listdir("/proc/self/fd"))), "threads": status["Threads"].strip(),
    "session": os.getsid(0), "leader": os.getpgrp() == os.getpid(), "umask": os.umask(0), "folder": os.getcwd(), "nice": os.nice(0),
    "limits": [resource.getrlimit(n) for n in range(16)], "groups": os.getgroups(), "children": os.listdir("/proc/self/task"
    ).__len__(), "variables": dict(os.environ)}))
"""


def may_trace():
    return bool(shutil.which("strace")) and subprocess.run(["strace", "-qo", "/dev/null", "true"], capture_output=True,
                                                           check=False).returncode == 0


def bare_environment():
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GABLE_", "CUDA_INJ", "NVTX_INJ", "LD_", "PYTHON"))}
    return env | {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def normal(line):
    line = re.sub(r"\s+", " ", re.sub(r"^(\d+) +", "", line.strip()))
    line = re.sub(r"0x[0-9a-f]+", "0x", line).replace(" )", ")")
    line = re.sub(r'getrandom\("[^"]*"', 'getrandom("', line)
    line = re.sub(r" ?/\* \d+ vars \*/ ?", "", line)
    return re.sub(r"set_tid_address\(0x\) += \d+", "set_tid_address", line)


@unittest.skipUnless(may_trace(), "strace is missing, or nobody may be traced here")
class Traced(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "in.txt"), "w", encoding="utf-8") as file:
            file.write("text\n")

    def calls(self, program, variables=(), launcher=(), preload=None):
        """What the process calls that becomes `program`, from its first call on."""
        trace = os.path.join(self.folder, "trace.txt")
        preloaded = ["-E", f"LD_PRELOAD={preload}"] if preload else []
        done = subprocess.run(["strace", "-f", "-q", "-o", trace, *preloaded, *launcher, *program], env=bare_environment() | dict(variables),
                              cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stdout, "text\n", done.stderr)
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        os.unlink(trace)
        # With several processes a call may be told in two lines.
        begun, whole = {}, []
        for line in lines:
            process = line.split(maxsplit=1)[0]
            if "<unfinished ...>" in line:
                begun[process] = line.split("<unfinished ...>")[0]
            elif " resumed>" in line:
                whole.append(begun.pop(process) + line.split(" resumed>", maxsplit=1)[1])
            else:
                whole.append(line)
        started = [line.split(maxsplit=1)[0] for line in whole if re.search(rf'execve\("[^"]*/{program[0]}", .* = 0$', line.strip())]
        self.assertEqual(len(started), 1, "".join(whole))
        of_program = [line for line in whole if line.startswith(started[0] + " ")]
        first = next(n for n, line in enumerate(of_program) if "execve(" in line and line.strip().endswith("= 0"))
        return [re.sub(r'execve\("[^"]*"', "execve(", re.sub(r"\s+=", " =", normal(line))) for line in of_program[first:]]

    def more_and_less(self, **how):
        before = collections.Counter(self.calls(["cat", "in.txt"]))
        after = collections.Counter(self.calls(["cat", "in.txt"], **how))
        return sorted((after - before).elements()), sorted((before - after).elements())

    def assert_library_alone(self, preload):
        more, _ = self.more_and_less(preload=preload)
        self.assertTrue(any(call.startswith("openat") for call in more))
        for call in more:
            # It and libraries of the C library, read and mapped by the loader; what the loader and C++ set up in memory.
            self.assertRegex(call, rf'^(openat\(AT_FDCWD, "({re.escape(preload)}|[^"]*/libm\.so\.6|[^"]*/lib(dl|pthread)\.so\.[02])", O_RDONLY\|O_CLOEXEC\) = 3'
                                   r'|read\(3, "\\177ELF.*|newfstatat\(3, "".*|pread64\(3,.*|mmap\(.*|mprotect\(.*|munmap\(.*|brk\(.*|close\(3\) = 0'
                                   r'|futex\(0x, FUTEX_WAKE_PRIVATE, 2147483647\) = 0|gettid\(\) = \d+)$')

    def test_variables_change_nothing(self):
        self.assertEqual(self.more_and_less(variables={name: LIBRARY for name in OURS}), ([], []))

    def test_gable_profile_changes_nothing(self):
        self.assertEqual(self.more_and_less(launcher=[GABLE, "profile", "-q", "--"]), ([], []))

    def test_preload_is_a_library_in_memory(self):
        self.assert_library_alone(LIBRARY)

    def test_what_a_library_does_is_seen(self):
        library = os.path.join(self.folder, "does.so")
        for does in ('open("/etc/hostname", O_RDONLY);', "setpgid(0, 0);", "signal(SIGTERM, SIG_IGN);", "fork() || (_exit(0), 0);",
                     "socket(AF_UNIX, SOCK_STREAM, 0);", "write(2, \"x\", 1);"):
            code = ("#include <fcntl.h>\n#include <signal.h>\n#include <sys/socket.h>\n#include <unistd.h>\n"
                    "__attribute__((constructor)) static void begin(void) { " + does + " }\n")
            subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", library], input=code, text=True, check=True)
            with self.subTest(does), self.assertRaises(AssertionError):
                self.assert_library_alone(library)


class Given(unittest.TestCase):
    """The same of what a program is given with its start."""

    def about(self, variables=(), launcher=()):
        done = subprocess.run([*launcher, PYTHON, "-S", "-c", ABOUT], env=bare_environment() | dict(variables), capture_output=True, text=True,
                              timeout=120, check=True, stdin=subprocess.DEVNULL)
        about = json.loads(done.stdout)
        return about.pop("variables"), about

    def test_variables_alone(self):
        variables, before = self.about()
        for way in ({"variables": {"LD_PRELOAD": LIBRARY}}, {"launcher": [GABLE, "profile", "-q", "--"]},
                    {"launcher": [GABLE, "profile", "-q", "--layers", "off", "--"]}):
            with self.subTest(way):
                seen, after = self.about(**way)
                self.assertEqual(after, before)
                more = {name for name in seen.keys() | variables.keys() if seen.get(name) != variables.get(name)}
                self.assertLessEqual(OURS, more)
                # How its options, its Python side, the library itself and what Kokkos loads reach it and what it starts.
                self.assertLessEqual(more - OURS, {"GABLE_OPTIONS", "PYTHONPATH"} | ({"KOKKOS_TOOLS_LIBS"} if "launcher" in way else {"LD_PRELOAD"}))


if __name__ == "__main__":
    unittest.main()
