# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: programs in the surroundings that they are given, which Gable shares."""
import os

from table_case import Case, WAYS, WITH_CUDA


def within(code):
    """A shell that changes the surroundings and becomes what comes behind it."""
    return ("/bin/sh", "-c", code + '; exec "$@"', "sh")


JEMALLOC, TCMALLOC = (f"/usr/lib/x86_64-linux-gnu/{name}" for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"))
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def needs_root():
    return "" if os.geteuid() == 0 else "not root"


def needs_mounts():
    return "" if os.system("unshare -m true 2>/dev/null") == 0 else "no mounts of one's own allowed"


PROGRAMS = {
    "cat": (("cat", "in.txt"), True),
    "python": (("{python}", "-c", "import os, sys; print(len(open('in.txt').read())); sys.exit(3)"), True),
    "a shell with children": (("/bin/sh", "-c", "sort in.txt | wc -l; sh -c 'exit 4'; exit $?"), True),
    "a CUDA program": (("{hazard}", "return"), False),
}

# Name: (what stands before, what the whole has of Case's other parts)
SURROUNDINGS = {
    "8 files": (within("ulimit -n 8"), {}),
    "16 files": (within("ulimit -n 16"), {}),
    "1 GiB of addresses": (within("ulimit -v 1048576"), {}),
    # Enough for the program alone, and hardly for its GPU.
    "256 MiB of addresses": (within("ulimit -v 262144"), {"ways": WAYS[:1]}),
    "one process": (within("ulimit -u 1"), {}),
    "no process, as nobody": ((*within("ulimit -u 1"), *NOBODY), {"needs": ("setpriv", needs_root)}),
    "as nobody": (NOBODY, {"needs": ("setpriv", needs_root)}),
    "no core files": (within("ulimit -c 0"), {}),
    "a stack of 256 KiB": (within("ulimit -s 256"), {}),
    "a stack without limit": (within("ulimit -s unlimited"), {}),
    "a second of time": (within("ulimit -t 5"), {}),
    "files of 1 KiB": (within("ulimit -f 1"), {}),
    "no locked memory": (within("ulimit -l 0"), {}),
    "standard input closed": (within("exec <&-"), {}),
    "standard output closed": (within("exec >&-"), {}),
    "standard error closed": (within("exec 2>&-"), {}),
    "all three closed": (within("exec <&- >&- 2>&-"), {}),
    "standard output full": (within("exec >/dev/full"), {}),
    "standard error full": (within("exec 2>/dev/full"), {}),
    "standard error without a reader": (("{python}", "-c", "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 2); os.close(w); "
                                         "os.execvp(sys.argv[1], sys.argv[1:])"), {}),
    "end of input": ((), {"stdin": b""}),
    "its folder gone": (within("mkdir d; cd d; rmdir ../d; set -- /usr/bin/env -C .. \"$@\""), {}),
    "its folder read-only": ((*within("chmod 555 ."), *NOBODY), {"needs": ("setpriv", needs_root)}),
    "a disk that is full": (within("mount -t tmpfs -o size=4k none tmp; cat /dev/zero >tmp/full 2>/dev/null"),
                            {"needs": ("unshare", needs_mounts), "outside": ("unshare", "-m"), "varies": ("files",)}),
    "no /proc": (within("umount -l /proc"), {"needs": ("unshare", needs_mounts), "outside": ("unshare", "-m")}),
    "an empty /dev": (within("mount -t tmpfs none /dev"), {"needs": ("unshare", needs_mounts), "outside": ("unshare", "-m")}),
    "an empty /dev/shm": (within("mount -t tmpfs -o ro none /dev/shm"), {"needs": ("unshare", needs_mounts), "outside": ("unshare", "-m")}),
    "a pid namespace": (("unshare", "-pf"), {"needs": ("unshare", needs_mounts)}),
    "a network of its own": (("unshare", "-n"), {"needs": ("unshare", needs_mounts)}),
    "a user namespace": (("unshare", "-r"), {"needs": ("unshare", needs_mounts)}),
    "no HOME": (("env", "-u", "HOME", "-u", "TMPDIR"), {}),
    "an empty environment": (("env", "-i"), {}),
    "another locale": ((), {"variables": (("LC_ALL", "C"), ("LANG", "xx_YY.none"))}),
    "TMPDIR not there": ((), {"variables": (("TMPDIR", "/nonexistent"),)}),
    "PATH empty": (("/usr/bin/env", "PATH=/usr/bin:/bin", "CDPATH=.."), {}),
    "LD_BIND_NOW": ((), {"variables": (("LD_BIND_NOW", "1"),)}),
    "LD_DEBUG": ((), {"variables": (("LD_DEBUG", "libs"),), "varies": ("stderr",)}),
    "LD_DEBUG to a file": ((), {"variables": (("LD_DEBUG", "all"), ("LD_DEBUG_OUTPUT", "tmp/debug")), "varies": ("files",), "longer": True}),
    "LD_LIBRARY_PATH odd": ((), {"variables": (("LD_LIBRARY_PATH", "::/nonexistent:.:relative//..:"),)}),
    "GLIBC_TUNABLES": ((), {"variables": (("GLIBC_TUNABLES", "glibc.malloc.check=3:glibc.malloc.perturb=165"),)}),
    "an arena for all threads": ((), {"variables": (("MALLOC_ARENA_MAX", "1"), ("MALLOC_PERTURB_", "90"))}),
    "jemalloc": ((), {"variables": (("LD_PRELOAD", JEMALLOC),), "needs": (JEMALLOC,)}),
    "tcmalloc": ((), {"variables": (("LD_PRELOAD", TCMALLOC),), "needs": (TCMALLOC,)}),
    "SIGPIPE ignored": (("{python}", "-c", "import os, signal, sys; signal.signal(13, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"), {}),
    "SIGCHLD ignored": (("{python}", "-c", "import os, signal, sys; signal.signal(17, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"), {}),
    "all signals blocked": (("{python}", "-c", "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)); "
                             "os.execvp(sys.argv[1], sys.argv[1:])"), {}),
    "INT and TERM ignored": (within("trap '' INT TERM HUP USR1 USR2 QUIT"), {}),
    "nice 19": (("nice", "-n", "19"), {}),
    "one processor": (("taskset", "-c", "0"), {"needs": ("taskset",)}),
    "no new privileges": (("setpriv", "--no-new-privs"), {"needs": ("setpriv",)}),
    "no capabilities": (("setpriv", "--bounding-set=-all", "--inh-caps=-all"), {"needs": ("setpriv", needs_root)}),
    "a death signal of the parent": (("setpriv", "--pdeathsig", "KILL"), {"needs": ("setpriv",)}),
    "many open files": (within("exec 3<in.txt 4<in.txt 5<in.txt 6<in.txt 7<in.txt 8<in.txt 9<in.txt"), {}),
    "a session of its own": (("setsid", "-w"), {}),
    "by nohup": (("nohup",), {}),
    "within time limits": (("timeout", "100"), {}),
    "without address randomisation": (("setarch", "-R"), {"needs": ("setarch",)}),
    "a seccomp filter": (("{python}", "-c", "import ctypes, os, sys; ctypes.CDLL(None).prctl(38, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])"), {}),
}


def make_cases():
    for where, (before, more) in SURROUNDINGS.items():
        for number, (name, (command, gpu)) in enumerate(PROGRAMS.items()):
            how = dict(more)
            outer = (*how.pop("outside", ()), *before)
            usual = {"longer": number in (0, 2), "ways": WAYS if gpu else WITH_CUDA}
            if gpu or "ways" not in how:
                yield Case(f"{where}: {name}", command, outer=outer, gpu=gpu, **(usual | how))


CASES = list(make_cases())
