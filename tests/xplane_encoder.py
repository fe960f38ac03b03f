# SPDX-License-Identifier: Apache-2.0
"""Writes XPlane files: protocol buffers by hand, as no test needs their package. A file is a list of planes:

    plane("/device:GPU:0", [lane("Stream #13(Compute)", [event("gemm", 100.5, 10, correlation_id=7)])], core_count=132)

Times are us of the file. Values are texts, numbers, or Ref("text"): a text that stands in the plane's table."""
import struct


class Ref(str):
    """A text that an event names by its number in the table of stats."""


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def number(field, value):
    """Protocol buffers leave out what is 0."""
    return varint(field << 3) + varint(value) if value else b""


def data(field, value):
    value = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return varint(field << 3 | 2) + varint(len(value)) + value


def event(name, ts, dur, /, shared=None, **stats):
    """`shared`: what all events of this name say."""
    return {"name": name, "ts": ts, "dur": dur, "stats": stats, "shared": shared or {}}


def lane(name, events, number=0, start_us=0):
    return {"name": name, "events": events, "id": number, "start_us": start_us}


def plane(name, lanes, /, **stats):
    return {"name": name, "lanes": lanes, "stats": stats}


class Names:
    def __init__(self):
        self.ids = {}

    def __getitem__(self, name):
        return self.ids.setdefault(name, len(self.ids) + 1)


def encode_stat(names, name, value):
    text = number(1, names[name])
    if isinstance(value, Ref):
        return text + number(7, names[str(value)])
    if isinstance(value, float):
        return text + varint(2 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return text + varint(4 << 3 if value < 2 ** 31 else 3 << 3) + varint(value)
    return text + data(5, value)


def picoseconds(us):
    return round(us * 10 ** 6)


def encode_event(names, stats, each, start_us):
    text = number(1, names[each["name"]])
    if each["ts"] is not None:
        text += number(2, picoseconds(each["ts"] - start_us))
    text += number(3, picoseconds(each["dur"]))
    return text + b"".join(data(4, encode_stat(stats, *stat)) for stat in each["stats"].items())


def encode_plane(number_of_plane, each):
    names, stats, lines, shared = Names(), Names(), [], {}
    for line in each["lanes"]:
        text = number(1, line["id"]) + data(2, line["name"]) + number(3, round(line["start_us"] * 1000))
        text += b"".join(data(4, encode_event(names, stats, one, line["start_us"])) for one in line["events"])
        lines.append(data(3, text))
        shared.update({one["name"]: one["shared"] for one in line["events"]})
    own = b"".join(data(6, encode_stat(stats, *stat)) for stat in each["stats"].items())
    tables = []
    for name, at in names.ids.items():
        text = number(1, at) + data(2, name) + b"".join(data(5, encode_stat(stats, *stat)) for stat in shared[name].items())
        tables.append(data(4, number(1, at) + data(2, text)))
    for name, at in stats.ids.items():
        tables.append(data(5, number(1, at) + data(2, number(1, at) + data(2, name))))
    # Names stand behind the events that have them.
    return number(1, number_of_plane) + data(2, each["name"]) + b"".join([*lines, *tables, own])


def encode(*planes, errors=(), warnings=(), hosts=("node-17",)):
    text = b"".join(data(1, encode_plane(place, each)) for place, each in enumerate(planes))
    for field, texts in ((2, errors), (3, warnings), (4, hosts)):
        text += b"".join(data(field, each) for each in texts)
    return text


def as_trace(*planes):
    """The same as the profiler's own JSON: all values are texts, names of GPUs and lanes come first."""
    events = []
    for pid, each in enumerate(planes, 1):
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": each["name"]}})
        for tid, line in enumerate(each["lanes"], 1):
            events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": line["name"]}})
    for pid, each in enumerate(planes, 1):
        for tid, line in enumerate(each["lanes"], 1):
            for one in line["events"]:
                stats = {key: str(value) for key, value in {**one["shared"], **one["stats"]}.items()}
                events.append({"ph": "X", "pid": pid, "tid": tid, "ts": one["ts"], "dur": one["dur"], "name": stats.pop("step_name", one["name"]),
                               "args": stats})
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": [*events, {}]}


def small():
    """Three steps of one kernel and a copy, with the host's calls: what fuzzing begins with."""
    details = "regs:32 static_shared:1024 dynamic_shared:512 grid:128,2,1 block:256,1,1 occ_pct:62.5"
    kernels, calls, steps = [], [], []
    for step in range(3):
        at, number_of_call = 1000 * step + 10, 10 * step + 5
        steps.append(event("train", at, 900, step_num=step, _r=1))
        calls.append(event("gemm", at + 20, 5, correlation_id=number_of_call, device_id=0))
        kernels.append(event("gemm", at + 40, 100.25, correlation_id=number_of_call, hlo_op=Ref("dot.4"), hlo_module=Ref("jit_step"),
                             kernel_details=Ref(details), name=Ref("jit(step)/jit(main)/jvp(MLP)/dot_general"), tf_op=Ref("XlaModule:")))
        kernels.append(event("MemcpyH2D", at + 200, 4, memcpy_details="kind_src:pinned kind_dst:device size:4096 dest:0 async:1"))
    return [plane("/host:metadata", [], jax_version="0.10.2"),
            plane("/device:GPU:0", [lane("Stream #13(Compute,MemcpyH2D)", kernels, 13, 5), lane("XLA Ops", [event("dot.4", 50, 100)], 92)],
                  core_count=132, clock_rate=1980000, compute_cap_major=9, compute_cap_minor=0, memory_size=85029158912,
                  memory_bandwidth=3352320000000, device_vendor="Nvidia"),
            plane("/host:CPU", [lane("python", steps, 77, 2), lane("Host Threads/78", calls, 78, 2)])]
