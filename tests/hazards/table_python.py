# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: what Python's modules do to a process."""
from table_case import ANY, WITH_CUDA, Case, python

CODE = {
    "print": "print(6 * 7)",
    "exit": "import sys; print('x'); sys.exit(5)",
    "exit with a text": "import sys; sys.exit('what went wrong')",
    "exception": "1 / 0",
    "atexit": "import atexit; atexit.register(print, 'at exit'); raise SystemExit(3)",
    "os._exit": "import os; print('x', flush=True); os._exit(7)",
    "os.abort": "import os; os.abort()",
    "os.kill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "faulthandler": "import faulthandler; faulthandler.enable(); faulthandler._sigsegv()",
    "faulthandler of another thread": "import faulthandler; faulthandler.enable(); faulthandler._fatal_error_c_thread()",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "deep recursion": "def f(): f()\ntry:\n  f()\nexcept RecursionError: print('deep')",
    "memory error": "try:\n  b'x' * (1 << 62)\nexcept MemoryError: print('too much')",
    "subprocess": "import subprocess; print(subprocess.run(['wc', '-l', 'in.txt'], capture_output=True, text=True).stdout)",
    "subprocess with closed descriptors": "import subprocess; print(subprocess.call(['sh', '-c', 'exit 4'], close_fds=True))",
    "subprocess in a new session": "import subprocess; print(subprocess.call(['sh', '-c', 'kill -9 $$'], start_new_session=True))",
    "subprocess with an empty environment": "import subprocess; print(subprocess.check_output(['/usr/bin/env'], env={'A': 'b'}))",
    "a hundred subprocesses": "import subprocess\nfor i in range(100): subprocess.check_call(['/bin/true'])\nprint('done')",
    "os.system": "import os; print(os.waitstatus_to_exitcode(os.system('exit 9')))",
    "os.popen": "import os; print(os.popen('echo popen').read())",
    "posix_spawn": "import os; p = os.posix_spawn('/bin/sh', ['sh', '-c', 'exit 3'], os.environ); print(os.waitpid(p, 0)[1] >> 8)",
    "fork": "import os, sys\np = os.fork()\nif p == 0: print('child'); sys.exit(4)\nprint(os.waitpid(p, 0)[1] >> 8)",
    "fork and _exit": "import os\np = os.fork()\nif p == 0: os._exit(4)\nprint(os.waitpid(p, 0)[1] >> 8)",
    "fork in a fork": "import os\np = os.fork()\nif p == 0:\n  q = os.fork()\n  os._exit(2 if q == 0 else os.waitpid(q, 0)[1] >> 8)\n"
                      "print(os.waitpid(p, 0)[1] >> 8)",
    "fork that parent does not wait for": "import os\nif os.fork() == 0:\n  import time; time.sleep(0.2); open('late.txt', 'w').write('late'); os._exit(0)\n"
                                          "import time\nwhile not os.path.exists('late.txt') or not os.path.getsize('late.txt'): time.sleep(0.02)",
    "vfork by exec in a child": "import os\np = os.fork()\nif p == 0: os.execvp('wc', ['wc', '-l', 'in.txt'])\nos.waitpid(p, 0)",
    "exec": "import os; os.execvp('wc', ['wc', '-l', 'in.txt'])",
    "exec of itself": "import os, sys\nif 'AGAIN' in os.environ: print('again'); sys.exit(6)\n"
                      "os.environ['AGAIN'] = '1'; os.execv(sys.executable, [sys.executable, '-c', 'import sys; print(1); sys.exit(6)'])",
    "exec with an empty environment": "import os; os.execve('/usr/bin/env', ['env'], {})",
    "double fork": "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork(): os._exit(0)\n  for n in range(64):\n    try: os.close(n)\n"
                   "    except OSError: pass\n  open('daemon.txt', 'w').write('x'); os._exit(0)\nos.wait()\n"
                   "while not os.path.exists('daemon.txt') or not os.path.getsize('daemon.txt'): time.sleep(0.02)",
    "multiprocessing fork": "import multiprocessing as m\nc = m.get_context('fork')\nwith c.Pool(2) as p: print(p.map(abs, range(-5, 5)))",
    "concurrent processes": "from concurrent.futures import ProcessPoolExecutor as P\nwith P(2) as p: print(list(p.map(abs, range(-5, 5))))",
    "shared memory": "from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=64); m.buf[0] = 7; print(m.buf[0]); "
                     "m.close(); m.unlink()",
    "manager": "import multiprocessing as m\nwith m.Manager() as g:\n  d = g.dict(); d[1] = 2; print(dict(d))",
    "threads": "import threading\nt = [threading.Thread(target=sum, args=(range(10000),)) for _ in range(32)]\n[x.start() for x in t]\n"
               "[x.join() for x in t]\nprint(threading.active_count())",
    "daemon threads": "import threading, time; threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); print('left')",
    "exit in a thread": "import threading, os; threading.Thread(target=lambda: os._exit(9)).start(); import time; time.sleep(5)",
    "exception in a thread": "import threading, sys; threading.excepthook = lambda a: print('hook', a.exc_type); t = threading.Thread("
                             "target=lambda: 1 / 0); t.start(); t.join()",
    "thread locals and fork": "import threading, os\nl = threading.local(); l.x = 1\nt = threading.Thread(target=lambda: os._exit(3) if os.fork() == 0 "
                              "else print(os.wait()[1] >> 8))\nt.start(); t.join()",
    "asyncio": "import asyncio\nasync def f(n): await asyncio.sleep(0.01 * n); return n\n"
               "async def g(): return await asyncio.gather(*map(f, range(10)))\nprint(asyncio.run(g()))",
    "asyncio subprocess": "import asyncio\nasync def f():\n  p = await asyncio.create_subprocess_exec('wc', '-l', 'in.txt', stdout=-1)\n"
                          "  print((await p.communicate())[0], p.returncode)\nasyncio.run(f())",
    "asyncio signals": "import asyncio, os, signal\nasync def f():\n  e = asyncio.Event()\n"
                       "  asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, e.set)\n  os.kill(os.getpid(), signal.SIGTERM)\n"
                       "  await e.wait(); print('term')\nasyncio.run(f())",
    "signal handler": "import os, signal; signal.signal(signal.SIGTERM, lambda *a: print('term')); os.kill(os.getpid(), 15); print('on')",
    "handler of USR2": "import os, signal; signal.signal(signal.SIGUSR2, lambda *a: print('usr2')); os.kill(os.getpid(), 12); print('on')",
    "keyboard interrupt": "import os, signal; signal.signal(2, signal.default_int_handler)\ntry: os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(5)\nexcept KeyboardInterrupt: print('int')",
    "ended by TERM": "import os, time; os.kill(os.getpid(), 15); time.sleep(5)",
    "ended by USR1": "import os, time; os.kill(os.getpid(), 10); time.sleep(5)",
    "handlers as they were": "import signal; print(signal.getsignal(1), signal.getsignal(10), signal.getsignal(14), signal.getsignal(17))",
    "signal mask": "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    "blocked signals": "import os, signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); os.kill(os.getpid(), 15); "
                       "print(signal.sigpending()); signal.sigwait([15]); print('took it')",
    "timers": "import signal, time; signal.signal(14, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2)",
    "profiling timer": "import signal\nn = []\nsignal.signal(27, lambda *a: n.append(1)); signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)\n"
                       "while len(n) < 5: pass\nsignal.setitimer(signal.ITIMER_PROF, 0); print('ticks')",
    "wakeup descriptor": "import os, signal; r, w = os.pipe(); os.set_blocking(w, False); signal.set_wakeup_fd(w); "
                         "signal.signal(10, lambda *a: None); os.kill(os.getpid(), 10); print(os.read(r, 1))",
    "close all descriptors": "import os; os.closerange(3, 65536); print('closed'); open('after.txt', 'w').write('x')",
    "close standard streams": "import os; os.close(0); os.close(1); os.close(2); os._exit(open('f.txt', 'w').fileno())",
    "lowest descriptors": "import os; print([os.dup(0) for _ in range(5)])",
    "mmap": "import mmap; f = open('in.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[:4] = b'LINE'; m.close(); print(f.read(4))",
    "resource limits": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)); print(resource.getrlimit(resource.RLIMIT_NOFILE))\n"
                       "try: fs = [open('in.txt') for _ in range(20)]\nexcept OSError as e: print(e.errno)",
    "limit on memory": "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\ntry: b = bytearray(1 << 31)\n"
                       "except MemoryError: print('limit')",
    "limit on time": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
    "limit on file size": "import resource, signal; signal.signal(25, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
                          "try: open('big.txt', 'wb', 0).write(b'x' * 200); open('big.txt', 'ab', 0).write(b'y')\nexcept OSError as e: print(e.errno)",
    "dumpable": "import ctypes; print(ctypes.CDLL(None).prctl(3))",
    "pty": "import os, pty; p, f = pty.fork()\nif p == 0: print('in a terminal'); os._exit(2)\nprint(os.read(f, 100)); print(os.waitpid(p, 0)[1] >> 8)",
    "chdir": "import os; os.chdir('/'); print(os.listdir('/proc/self/task') != [])",
    "working folder that is gone": "import os; os.mkdir('d'); os.chdir('d'); os.rmdir('../d'); print('x')",
    "umask": "import os; os.umask(0o77); open('p', 'w').close()",
    "setuid": "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); print(os.getuid()); open('in.txt').read()",
    "nice": "import os; print(os.nice(3))", "affinity": "import os; os.sched_setaffinity(0, {0}); print(len(os.sched_getaffinity(0)))",
    "selectors": "import selectors, socket; a, b = socket.socketpair(); s = selectors.DefaultSelector(); s.register(a, 1); b.send(b'x'); "
                 "print(len(s.select(1)))",
    "server and client": "import socket, threading; s = socket.create_server(('127.0.0.1', 0)); t = threading.Thread(target=lambda: "
                         "s.accept()[0].send(b'hello')); t.start(); c = socket.create_connection(s.getsockname()); print(c.recv(9)); t.join()",
    "http": "import http.server as h, threading, urllib.request as u; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); "
            "h.SimpleHTTPRequestHandler.log_message = lambda *a: None; threading.Thread(target=s.serve_forever, daemon=True).start(); "
            "print(len(u.urlopen('http://127.0.0.1:%d/in.txt' % s.server_port).read())); s.shutdown()",
    "sqlite3": "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t(a)'); print(c.execute('select count(*) from t').fetchall())",
    "ssl": "import ssl; print(ssl.create_default_context().verify_mode)", "hashlib": "import hashlib; print(hashlib.sha256(b'x').hexdigest())",
    "lzma": "import lzma; print(len(lzma.compress(b'x' * 100000)))", "zlib": "import zlib; print(zlib.crc32(b'x'))",
    "json": "import json; print(json.dumps({'a': [1, None]}))", "pickle": "import pickle; print(pickle.loads(pickle.dumps({1, 2})))",
    "decimal": "import decimal; print(decimal.Decimal(1) / 7)", "tempfile": "import tempfile; f = tempfile.NamedTemporaryFile(); print(f.tell())",
    "glob": "import glob; print(sorted(glob.glob('tree/**', recursive=True)))", "shutil": "import shutil; shutil.copytree('tree', 'copy'); shutil.rmtree('tree')",
    "tracemalloc": "import tracemalloc; tracemalloc.start(); x = [0] * 10000; print(tracemalloc.get_traced_memory()[1] > 0)",
    "sys.settrace": "import sys\nn = []\ndef t(f, e, a): n.append(e); return t\nsys.settrace(t)\ndef f(): return 1\nf(); sys.settrace(None); print(len(n))",
    "cProfile": "import cProfile; p = cProfile.Profile(); p.runcall(sum, range(10)); print(len(p.getstats()) > 0)",
    "gc": "import gc; gc.set_threshold(1); x = [[] for _ in range(1000)]; print(gc.isenabled())",
    "weakref at exit": "import weakref\nclass A: pass\na = A(); weakref.finalize(a, print, 'finalized')",
    "input": "print(input(), input())", "end of input": "try:\n  while True: input()\nexcept EOFError: print('end')",
    "broken pipe": "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1); print('x'); sys.stdout.flush()",
    "import of a name of ours": "import importlib.util; print(importlib.util.find_spec('no_such_module'))",
    "site": "import site; print(site.ENABLE_USER_SITE is not None)", "sys.flags": "import sys; print(sys.flags.optimize, sys.argv)",
    "getrandom": "import os; print(len(os.urandom(16)))", "monotonic": "import time; print(time.monotonic() > 0)",
    "ctypes callback": "import ctypes; c = ctypes.CDLL(None); T = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)\n"
                       "a = (ctypes.c_int * 3)(3, 1, 2); c.qsort(a, 3, 4, T(lambda x, y: ctypes.c_int.from_address(x).value - "
                       "ctypes.c_int.from_address(y).value)); print(list(a))",
    "dlopen and dlclose": "import ctypes, _ctypes\nfor i in range(20): _ctypes.dlclose(ctypes.CDLL('libz.so.1')._handle)\nprint('ok')",
    "exit of libc": "import ctypes; ctypes.CDLL(None).exit(5)", "quick_exit of libc": "import ctypes; ctypes.CDLL(None).quick_exit(5)",
    "clone": "import ctypes, os; l = ctypes.CDLL(None); p = l.syscall(57)\nif p == 0: l.syscall(231, 3)\nprint(os.waitpid(p, 0)[1] >> 8)",
    "unshare and fork": "import os, ctypes; print(ctypes.CDLL(None).unshare(0x20000000) in (0, -1)); print(os.getpid() > 0)",
}

FORKSERVER = ("import multiprocessing as m\nif __name__ == '__main__':\n  m.set_start_method('forkserver')\n"
              "  with m.Pool(2) as p: print(p.map(abs, [-1, -2]))\n")
FILES = {
    "spawn": "import multiprocessing as m\nif __name__ == '__main__':\n  m.set_start_method('spawn')\n  with m.Pool(2) as p: print(p.map(abs, [-1, -2]))\n",
    "a worker that dies": "import multiprocessing as m, os\ndef f(): os._exit(3)\nif __name__ == '__main__':\n  p = m.Process(target=f); p.start(); p.join(); "
                          "print(p.exitcode)\n",
    "a worker that is terminated": "import multiprocessing as m, time\nif __name__ == '__main__':\n  p = m.Process(target=time.sleep, args=(30,)); p.start(); "
                                   "p.terminate(); p.join(); print(p.exitcode)\n",
    "a sitecustomize of its own": "import sys, subprocess\nopen('tmp/sitecustomize.py', 'w').write('print(\"its own\")')\n"
                                  "print(subprocess.check_output([sys.executable, '-c', 'print(1)'], env={'PYTHONPATH': 'tmp', 'PYTHONDONTWRITEBYTECODE': '1'}))\n",
    "zip application": "import zipfile, subprocess, sys\nwith zipfile.ZipFile('a.zip', 'w') as z: z.writestr(zipfile.ZipInfo('__main__.py'), 'print(3)')\n"
                       "print(subprocess.check_output([sys.executable, 'a.zip']))\n",
}


# CUDA starts while Python runs, as it does in reality.
IN_PYTHON = "import ctypes; ctypes.CDLL('{opens}').hazard_open_gpu()\n"
WITH_CUDA_INSIDE = {
    "return": "print(1)", "exit": "raise SystemExit(5)", "exception": "1 / 0", "os._exit": "import os; os._exit(4)", "os.abort": "import os; os.abort()",
    "keyboard interrupt": "import os, signal, time\ntry: os.kill(os.getpid(), signal.SIGINT); time.sleep(5)\nexcept KeyboardInterrupt: print('int')",
    "unhandled interrupt": "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(5)",
    "ended by TERM": "import os, time; os.kill(os.getpid(), 15); time.sleep(5)",
    "handlers": "import signal; print([signal.getsignal(n) for n in range(1, 32)])",
    "handlers set and restored": "import signal; print([signal.signal(n, signal.signal(n, signal.SIG_IGN)) for n in (2, 12, 15)])",
    "forkserver": FORKSERVER, "fork": FORKSERVER.replace("forkserver", "fork"), "spawn": FORKSERVER.replace("forkserver", "spawn"),
    "exec": "import os; os.execvp('wc', ['wc', '-l', 'in.txt'])", "close all descriptors": "import os; os.closerange(3, 65536); "
    "f = [open(f'{n}.txt', 'w') for n in range(40)]; [x.write('x') for x in f]; r, w = os.pipe(); os.write(w, b'pods'); "
    "import time; time.sleep(0.5); print(os.read(r, 9))",
    "high descriptors": "import os, time; os.closerange(3, 65536); r, w = os.pipe(); t = [os.dup2(r, n) for n in range(900, 1024)]; "
                        "os.write(w, b'oooopppp'); time.sleep(0.5); print(os.read(r, 99))",
    "asyncio": "import asyncio; asyncio.run(asyncio.sleep(0.05)); print('slept')",
    "subprocess": "import subprocess; print(subprocess.check_output(['wc', '-l', 'in.txt']))",
    "lowest descriptors": "import os; print(len({os.dup(0) for _ in range(5)}))",
    "a hundred forks": "import os\nfor n in range(100):\n  p = os.fork()\n  if p == 0: os._exit(n % 7)\n  assert os.waitpid(p, 0)[1] >> 8 == n % 7\nprint('all')",
}


def script(name, text, **more):
    """Modules that start Python anew need a file."""
    return Case(f"python script: {name}", ("/bin/sh", "-c", 'printf %s "$1" >main.py; exec "$0" main.py', "{python}", text), **more)


OPTIONS = {"-I": ("-I",), "-S": ("-S",), "-E": ("-E",), "-O": ("-O",), "-X dev": ("-X", "dev"), "-v": ("-v",), "-m timeit": ("-m", "timeit", "-h"),
           "-m json.tool": ("-m", "json.tool", "--help"), "-m venv": ("-m", "venv", "--without-pip", "v")}

CASES = ([script(f"CUDA within: {name}", IN_PYTHON + code, gpu=False, ways=WITH_CUDA) for name, code in WITH_CUDA_INSIDE.items()]
         + [python(name, code) for name, code in CODE.items()]
         + [script(name, text) for name, text in FILES.items()]
         + [Case(f"python {name}", ("{python}", *options, *(() if options[0] == "-m" else ("-c", "print(1)"))),
                 varies=("stderr",) if name == "-v" else ("files",) if "venv" in name else ()) for name, options in OPTIONS.items()]
         + [Case("python: a program from standard input", ("{python}", "-"), stdin=b"print(1)\nraise SystemExit(8)\n"),
            script("forkserver", FORKSERVER, ways=(ANY,)),  # as the next one
            # Python takes SIGINT where nobody has; where CUDA runs before Python does, Gable has.
            python("unhandled interrupt", "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(5)", ways=(ANY,)),
            Case("python: interactive", ("{python}", "-i", "-q"), stdin=b"1 + 1\nexit(4)\n")])
