# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: servers and jobs of several processes, from PyPI (scripts/setup.sh --hazards), PyTorch's, and mpirun. Long form alone."""
import os

from table_case import ANY, WITH_CUDA, Case

BUILD = os.environ.get("GABLE_BUILD", os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "build-ci"))
OURS = os.path.join(BUILD, "hazards", "bin", "python")
TORCH = os.path.join(BUILD, "torch", "bin", "python")
# Each process that calls this has the GPU, after its start, as servers' workers do.
GPU = "import ctypes, os\ndef gpu(): ctypes.CDLL('{opens}').hazard_open_gpu()\n"
# Asks the server at the socket until it answers, then ends it.
ASK = r"""
import http.client, os, signal, socket, subprocess, sys, time
class Connection(http.client.HTTPConnection):
    def connect(self): self.sock = socket.socket(socket.AF_UNIX); self.sock.connect('s')
server = subprocess.Popen(sys.argv[1:])
for attempt in range(600):
    try: c = Connection('x'); c.request('GET', '/'); print(c.getresponse().read().decode()); break
    except OSError: time.sleep(0.05)
for _ in range(20): c = Connection('x'); c.request('GET', '/'); c.getresponse().read()
server.send_signal(signal.SIGTERM); print('ended with', server.wait(60))
"""
WSGI = GPU + "gpu_open = []\ndef app(environ, start):\n  if not gpu_open: gpu(); gpu_open.append(1)\n  start('200 OK', []); return [b'hello']\n"
ASGI = (GPU + "gpu_open = []\nasync def app(scope, receive, send):\n  if scope['type'] != 'http': return\n"
        "  if not gpu_open: gpu(); gpu_open.append(1)\n"
        "  await send({'type': 'http.response.start', 'status': 200, 'headers': []}); await send({'type': 'http.response.body', 'body': b'hello'})\n")
DASK = GPU + ("def f(x): gpu(); return x * 2\nif __name__ == '__main__':\n  from dask.distributed import Client\n"
              "  with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as c: print(c.gather(c.map(f, range(6))))\n")
DASK_KILLED = GPU + ("def f(x):\n  gpu()\n  os._exit(3)\nif __name__ == '__main__':\n  from dask.distributed import Client\n"
                     "  with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as c:\n"
                     "    try: c.submit(f, 1).result()\n    except Exception as e: print(type(e).__name__)\n")
RAY = GPU + ("import ray\nray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level='error')\n@ray.remote\ndef f(x): gpu(); return x * 2\n"
             "@ray.remote\nclass A:\n  def __init__(self): gpu()\n  def f(self): return 7\n"
             "print(ray.get([f.remote(i) for i in range(4)]), ray.get(A.remote().f.remote())); ray.shutdown()\n")
LOADER = GPU + ("import torch\nfrom torch.utils.data import DataLoader\nif __name__ == '__main__':\n  gpu()\n"
                "  print(sum(int(b.sum()) for b in DataLoader(torch.arange(64), batch_size=8, num_workers=2)))\n")
TRAIN = GPU + ("import torch\ntorch.manual_seed(0); gpu()\nm = torch.nn.Linear(8, 4); o = torch.optim.SGD(m.parameters(), 0.1)\n"
               "for _ in range(5):\n  l = m(torch.ones(2, 8)).square().mean(); o.zero_grad(); l.backward(); o.step()\nprint(round(l.item(), 6))\n")
SPAWN = GPU + ("import torch.multiprocessing as mp\ndef f(n): gpu(); raise ValueError('rank %d' % n) if n else None\nif __name__ == '__main__':\n"
               "  try: mp.spawn(f, nprocs=2)\n  except Exception as e: print(type(e).__name__)\n")
GLOO = GPU + ("import torch, torch.distributed as d, torch.multiprocessing as mp\ndef f(n):\n  gpu(); d.init_process_group('gloo', "
              "init_method='file://' + os.getcwd() + '/tmp/store', rank=n, world_size=2)\n  t = torch.ones(3) * (n + 1); d.all_reduce(t)\n"
              "  print(t.tolist()) if n == 0 else None; d.destroy_process_group()\nif __name__ == '__main__': mp.spawn(f, nprocs=2)\n")


def needs_package(python, package):
    def reason():
        if not os.access(python, os.X_OK):
            return "scripts/setup.sh --torch BUILD was not run" if python == TORCH else "scripts/setup.sh --hazards BUILD was not run"
        return "" if os.system(f"{python} -c 'import {package}' >/dev/null 2>&1") == 0 else f"no {package}"
    return reason


def script(name, python, package, text, *rest, **more):
    """Standard error has times and addresses of servers; their files are their own."""
    code = 'printf %s "$1" >main.py; shift; exec "$@"'
    return Case(name, ("/bin/sh", "-c", code, "sh", text, *(rest or (python, "main.py"))), gpu=False, ways=(ANY, *WITH_CUDA), longer=True,
                varies=("stderr", "files"), needs=(needs_package(python, package),), **more)


def mpi(name, command, ways=WITH_CUDA):
    return Case(f"mpirun: {name}", ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", "/bin/sh", "-c", command), gpu=False, ways=ways,
                longer=True, varies=("stderr", "files"), needs=("mpirun",))


CASES = [
    script("gunicorn", OURS, "gunicorn", WSGI, OURS, "-c", ASK, OURS, "-m", "gunicorn", "-w", "2", "-b", "unix:s", "main:app"),
    script("gunicorn, preloaded", OURS, "gunicorn", WSGI + "gpu(); gpu_open.append(1)\n", OURS, "-c", ASK, OURS, "-m", "gunicorn", "--preload",
           "-w", "2", "-b", "unix:s", "main:app"),
    script("uvicorn", OURS, "uvicorn", ASGI, OURS, "-c", ASK, OURS, "-m", "uvicorn", "--uds", "s", "--log-level", "error", "main:app"),
    script("uvicorn with workers", OURS, "uvicorn", ASGI, OURS, "-c", ASK, OURS, "-m", "uvicorn", "--uds", "s", "--workers", "2", "--log-level", "error",
           "main:app"),
    script("dask", OURS, "distributed", DASK),
    script("dask whose worker dies", OURS, "distributed", DASK_KILLED),
    script("ray", OURS, "ray", RAY),
    script("PyTorch: training", TORCH, "torch", TRAIN),
    script("PyTorch: workers of a loader", TORCH, "torch", LOADER),
    script("PyTorch: spawn with a rank that fails", TORCH, "torch", SPAWN),
    script("PyTorch: two ranks", TORCH, "torch", GLOO),
    mpi("one rank fails", '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || exit 7; true'),
    mpi("one rank is killed", '[ "$OMPI_COMM_WORLD_RANK" != 2 ] || kill -9 $$; true'),
    mpi("CUDA in each", "{hazard} return >/dev/null; [ $? = 3 ] && echo 3"),
    mpi("CUDA in each, one aborts", '{hazard} $([ "$OMPI_COMM_WORLD_RANK" = 1 ] && echo abort || echo return) >/dev/null; exit 0'),
]
