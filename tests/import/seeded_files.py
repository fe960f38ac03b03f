# SPDX-License-Identifier: Apache-2.0
"""Files of ncu, nsys, PyTorch's, JAX's and Triton's profilers of which the truth is known: drawn from a seed, written in the many ways in
which those tools, their options and their users' locales write them."""
import gzip
import json
import random
import sqlite3
from dataclasses import dataclass, field

from xplane_encoder import Ref, as_trace, encode, event, lane, plane

SASS = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
OPERATIONS = ("fadd", "fmul", "ffma", "hadd", "hmul", "hfma", "dadd", "dmul", "dfma")
SECTORS = ("dram__sectors_read.sum", "dram__sectors_write.sum")
LONG = "void at::native::vectorized_elementwise_kernel<4, " + "at::native::TensorIteratorBase::" * 20 + "{lambda(float)#%d}>(int, float)"
NAMES = ('gemm<float, (int)4>(float const*, float*)', 'with "quotes", and a comma(char *)', LONG % 1, LONG % 2, LONG % 3, "relu_kernel",
         "(anonymous namespace)::copy(int)", "ünïcode(double)")


@dataclass(frozen=True)
class Kernel:
    name: str
    grid: tuple
    block: tuple


@dataclass
class Launch:
    kernel: Kernel
    step: int  # from 1; 0: before the first one, or behind the last
    ns: int
    counts: dict = field(default_factory=dict)


class Truth:
    def __init__(self, seed):
        self.random = random.Random(seed)
        draw = self.random
        names = draw.sample(NAMES, draw.randint(2, len(NAMES)))
        self.kernels = [Kernel(name, (draw.choice((1, 3, 64, 1024)), draw.choice((1, 2)), 1), (draw.choice((32, 128)), 1, 1))
                        for name in names for _ in range(draw.randint(1, 3))]
        self.kernels = list(dict.fromkeys(self.kernels))
        self.steps = draw.randint(3, 5)
        body = [draw.choice(self.kernels) for _ in range(draw.randint(3, 12))]
        self.launches = [self.launch(kernel, step) for step in range(1, self.steps + 1) for kernel in body]
        self.before = [self.launch(kernel, 0) for kernel in body[-draw.randint(1, 3):]]

    def launch(self, kernel, step):
        draw = self.random
        most = 10 ** draw.randint(1, 9)
        counts = {SASS % name: draw.randint(1, most) for name in OPERATIONS} | {name: draw.randint(0, most) for name in SECTORS}
        return Launch(kernel, step, 4 * draw.randint(300, 3_000_000), counts)  # their cycles at 1.25 GHz are whole

    def sums(self):
        """By name, grid and block: launches, ns, FLOPs of the three types, DRAM bytes, of all launches in steps."""
        found = {}
        for launch in self.launches:
            row = found.setdefault(launch.kernel, {"launches": 0, "ns": 0, "fp32": 0, "fp16": 0, "fp64": 0, "dram": 0})
            row["launches"] += 1
            row["ns"] += launch.ns
            for kind, letter, width in (("fp32", "f", 1), ("fp16", "h", 2), ("fp64", "d", 1)):
                row[kind] += width * sum(weight * launch.counts[SASS % (letter + name)] for name, weight in (("add", 1), ("mul", 1), ("fma", 2)))
            row["dram"] += 32 * sum(launch.counts[name] for name in SECTORS)
        return found


# --- ncu

def grouped(digits, mark, sizes=(3,)):
    parts, i = [], 0
    while len(digits) > sizes[min(i, len(sizes) - 1)]:
        size = sizes[min(i, len(sizes) - 1)]
        parts.insert(0, digits[-size:])
        digits, i = digits[:-size], i + 1
    return mark.join([digits, *parts])


class Locale:
    """How a number is written: its decimal mark, the mark between groups, the sizes of groups."""
    ALL = {"C": (".", "", (3,)), "en": (".", ",", (3,)), "de": (",", ".", (3,)), "fr": (",", "\u202f", (3,)), "ch": (".", "\u2019", (3,)),
           "in": (".", ",", (3, 2)), "plain comma": (",", "", (3,))}

    def __init__(self, name):
        self.decimal, self.group, self.sizes = self.ALL[name]

    def write(self, value):
        whole, _, decimals = (str(value) if isinstance(value, int) else f"{value:.2f}").partition(".")
        return (grouped(whole, self.group, self.sizes) if self.group else whole) + (self.decimal + decimals if decimals else "")


HEAD = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]


def quoted(*fields):
    return ",".join('"' + str(each).replace('"', '""') + '"' for each in fields) + "\n"


def front(number, launch):
    size = "({}, {}, {})".format
    return [number, 1, "python3", "127.0.0.1", launch.kernel.name, 1, 7, size(*launch.kernel.block), size(*launch.kernel.grid), 0, "8.0"]


def ncu_files(truth, folder):
    """The launches' counters, spread over files; the paths, in the order in which they are given."""
    draw = truth.random
    metrics = [*truth.launches[0].counts]
    by_cycles = draw.random() < 0.5
    metrics += ["smsp__cycles_elapsed.avg", "smsp__cycles_elapsed.avg.per_second"] if by_cycles else ["gpu__time_duration.sum"]
    draw.shuffle(metrics)
    wanted = draw.choice((1, 2, 3, len(metrics)))
    parts = [metrics[i::wanted] for i in range(wanted)]
    paths = []
    for place, part in enumerate(parts):
        locale = Locale(draw.choice([*Locale.ALL]))
        launches = list(truth.launches)
        if place > 0 and draw.random() < 0.4:  # streams finished in another order
            launches.sort(key=lambda each: (each.kernel.name, each.kernel.grid))
        wide = draw.random() < 0.5
        # A figure with decimals is on every page, and tells the locale.
        shown = [*part, "sm__throughput.avg.pct_of_peak_sustained_elapsed"]
        text = "==PROF== Connected to process 1 (python3)\n\ufeffthe program prints, \"quoted\"\n"
        if wide:
            text += quoted(*HEAD, *shown) + quoted(*[""] * len(HEAD), *[unit_of(metric) for metric in shown])
            for i, launch in enumerate(launches):
                text += quoted(*front(i, launch), *[locale.write(value_of(launch, metric)) for metric in shown])
        else:
            text += quoted(*HEAD, "Section Name", "Metric Name", "Metric Unit", "Metric Value")
            for i, launch in enumerate(launches):
                for metric in shown:
                    text += quoted(*front(i, launch), "Command line profiler metrics", metric, unit_of(metric), locale.write(value_of(launch, metric)))
        text += "==PROF== Disconnected from process 1\n"
        path = folder / f"part{place}.csv"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def unit_of(metric):
    return {"smsp__cycles_elapsed.avg.per_second": "cycle/nsecond", "gpu__time_duration.sum": "ns", "smsp__cycles_elapsed.avg": "cycle"}.get(
        metric, "%" if metric.endswith("elapsed") else "sector" if "sectors" in metric else "inst")


def value_of(launch, metric):
    if metric == "gpu__time_duration.sum":
        return launch.ns
    if metric == "smsp__cycles_elapsed.avg":
        return launch.ns * 5 // 4
    if metric == "smsp__cycles_elapsed.avg.per_second":
        return 1.25
    return launch.counts.get(metric, 15.36)


# --- times

class Timeline:
    """Where calls and kernels stand: calls run ahead of the GPU, and before the first step the end of the one before still runs."""

    def __init__(self, truth, zero):
        self.ranges, self.calls, self.kernels = [], [], []  # of steps; (start, id, launch); (start, id, launch)
        host = gpu = zero
        number = 1000
        for launch in truth.before:
            self.kernels.append((gpu, number, launch))
            gpu += launch.ns + 100
            number += 1
        for step in range(1, truth.steps + 1):
            begin = host
            for launch in truth.launches:
                if launch.step != step:
                    continue
                host += 2000
                self.calls.append((host, number, launch))
                gpu = max(gpu, host + 5000)
                self.kernels.append((gpu, number, launch))
                gpu += launch.ns + 100
                number += 1
                host += 3000
            self.ranges.append((begin, host + 500, step))
            host += 1000


def nsys_file(truth, folder):
    draw = truth.random
    line = Timeline(truth, draw.choice((1_000_000, 1_000_000_000_000)))
    path = folder / "run.sqlite"
    base = sqlite3.connect(path)
    names = list(dict.fromkeys(kernel.name for kernel in truth.kernels))
    ids = {name: i for i, name in enumerate([*names, "cudaLaunchKernel_v7000"])}
    pid = 77 << 24
    base.executescript("""CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
      correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
      blockX INTEGER, blockY INTEGER, blockZ INTEGER, dynamicSharedMemory INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
      nameId INTEGER, returnValue INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, globalTid INTEGER,
      endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);""")
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, name) for name, i in ids.items()])
    kernels = [(start, start + launch.ns, 0, 1, 7, number, pid, ids[launch.kernel.name], ids[launch.kernel.name], *launch.kernel.grid,
                *launch.kernel.block, 0) for start, number, launch in line.kernels]
    calls = [(start, start + 900, 1, pid + 77, number, ids["cudaLaunchKernel_v7000"], 0) for start, number, _ in line.calls]
    if draw.random() < 0.5:  # the driver's call within the runtime's, as old exports have it
        calls += [(start + 10, start + 800, 0, pid + 77, number, ids["cudaLaunchKernel_v7000"], 0) for start, number, _ in line.calls]
    for rows in (kernels, calls):
        draw.shuffle(rows)
    base.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * 16)})", kernels)
    base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,?,?)", calls)
    base.executemany("INSERT INTO NVTX_EVENTS VALUES (?,?,59,NULL,?,?,NULL,NULL,0)",
                     [(start, end, "step", pid + 77) for start, end, _ in line.ranges])
    base.commit()
    base.close()
    return path


def kineto_file(truth, folder):
    draw = truth.random
    line = Timeline(truth, draw.choice((-2_000_000, 0, 1_700_000_000_000_000_000 - draw.randint(0, 999))))
    us = (lambda ns: ns / 1000) if abs(line.ranges[0][0]) < 1e15 else lambda ns: json.loads(f"{ns // 1000}")
    whole = abs(line.ranges[0][0]) >= 1e15  # old traces have whole us
    events = []
    for start, number, launch in line.kernels:
        args = {"correlation": number, "device": 0, "stream": 7, "grid": [*launch.kernel.grid], "block": [*launch.kernel.block]}
        events.append({"ph": "X", "cat": "kernel", "name": launch.kernel.name, "pid": 0, "tid": 7, "ts": us(start),
                       "dur": launch.ns / 1000, "args": args})
    for start, number, launch in line.calls:
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": us(start), "dur": 0.9,
                       "args": {"correlation": number, "cbid": 211}})
    for start, end, step in line.ranges:
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 5, "tid": 5, "ts": us(start),
                       "dur": (end - start) // 1000 if whole else (end - start) / 1000})
    draw.shuffle(events)
    trace = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}
    text = json.dumps(events if draw.random() < 0.2 else trace)
    path = folder / ("trace.json.gz" if draw.random() < 0.5 else "trace.json")
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def xla_planes(truth):
    """What a JAX program's profile holds: work in two streams' lanes, calls and steps on the host."""
    draw = truth.random
    line = Timeline(truth, draw.choice((0, 1_000_000)))
    details = "regs:32 static_shared:0 dynamic_shared:0 grid:{},{},{} block:{},{},{} occ_pct:50".format
    lanes = {name: [] for name in ("Stream #13(Compute)", "Stream #14(Compute)")}
    for start, number, launch in line.kernels:
        lanes[draw.choice([*lanes])].append(event(launch.kernel.name, start / 1000, launch.ns / 1000, correlation_id=number,
                                                  kernel_details=Ref(details(*launch.kernel.grid, *launch.kernel.block)),
                                                  hlo_module=Ref("jit_step")))
    host = [event("cuLaunchKernel", start / 1000, 0.9, correlation_id=number) for start, number, _ in line.calls]
    host += [event("train", start / 1000, (end - start) / 1000, step_num=step, _r=1) for start, end, step in line.ranges]
    for events in (*lanes.values(), host):
        draw.shuffle(events)
    planes = [plane("/device:GPU:0", [lane(name, events, 13 + i) for i, (name, events) in enumerate(lanes.items())], core_count=108),
              plane("/host:CPU", [lane("python", host, 77)])]
    draw.shuffle(planes)
    return planes


def xplane_file(truth, folder):
    path = folder / ("run.xplane.pb.gz" if truth.random.random() < 0.5 else "run.xplane.pb")
    content = encode(*xla_planes(truth))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def xla_trace_file(truth, folder):
    path = folder / "run.trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps(as_trace(*xla_planes(truth))).encode()))
    return path


def proton_file(truth, folder):
    """Sums of kernels in scopes, which know no grids, blocks and steps."""
    draw = truth.random
    scopes = {}
    for launch in truth.launches:
        leaf = scopes.setdefault(draw.choice(("forward", "backward", "")), {}).setdefault(launch.kernel.name, [0, 0])
        leaf[0] += 1
        leaf[1] += launch.ns

    def frame(name, children, **metrics):
        return {"children": children, "frame": {"name": name, "type": "function"}, "metrics": metrics}
    tree = []
    for scope, leaves in scopes.items():
        kernels = [frame(name, [], **{"count": count, "device_id": "0", "device_type": "CUDA", "time (ns)": ns})
                   for name, (count, ns) in leaves.items()]
        tree += [frame(scope, kernels)] if scope else kernels
    path = folder / "run.hatchet"
    path.write_text(json.dumps([frame("ROOT", tree, **{"count": 0, "time (ns)": 0}), {"CUDA": {}}]))
    return path
