# SPDX-License-Identifier: Apache-2.0
"""Traces of the ranks of a job of which the truth is known: drawn from a seed. Each rank computes, comes to a collective, waits for the
last of its group, and all of them have what they need a transfer later."""
import json
import random
import sqlite3
from collections import defaultdict
from dataclasses import dataclass

ALL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
EXCHANGE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
BROADCAST = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
CALLED = {ALL: "allreduce", GATHER: "_allgather_base", SCATTER: "_reduce_scatter_base", EXCHANGE: "all_to_all", BROADCAST: "broadcast"}


@dataclass
class Launch:
    kernel: str
    step: int
    start: int
    end: int
    group: tuple = ()  # its ranks; empty: it computes
    group_name: str = ""
    elements: int = 0
    sequence: int = 0
    wait: int = 0
    transfer: int = 0


class Job:
    """`body`: the collectives of a step, each (kernel, groups, elements); groups are (name, ranks)."""

    def __init__(self, seed, ranks, body, steps=4, late=None, skew=0):
        draw = self.random = random.Random(seed)
        self.ranks, self.steps = ranks, steps
        self.launches = [[] for _ in range(ranks)]
        self.borders = [[] for _ in range(ranks)]  # of steps
        now = [1_000_000 + draw.randint(0, 50_000) for _ in range(ranks)]
        sequences = defaultdict(int)
        for step in range(steps):
            for rank in range(ranks):
                self.borders[rank].append(now[rank])
            for kernel, groups, elements in body:
                for rank in range(ranks):
                    work = draw.randint(20_000, 60_000) + (90_000 if rank == late else 0)
                    self.launches[rank].append(Launch("gemm(float*)", step, now[rank], now[rank] + work))
                    now[rank] += work + draw.randint(0, 900)
                for name, members in groups:
                    transfer = draw.randint(30_000, 40_000) + elements // 100
                    last = max(now[rank] for rank in members)
                    sequences[name] += 1
                    for rank in members:
                        end = last + transfer + (draw.randint(0, skew) if skew else 0)
                        self.launches[rank].append(Launch(kernel, step, now[rank], end, tuple(members), name, elements, sequences[name],
                                                          last - now[rank], end - last))
                        now[rank] = end + draw.randint(1_000, 3_000)
        for rank in range(ranks):
            self.borders[rank].append(now[rank])

    def exchanged(self, rank, kernel=None, steps=None):
        return [launch for launch in self.launches[rank] if launch.group and kernel in (None, launch.kernel)
                and (steps is None or launch.step in steps)]

    def trace(self, rank, *, said=True, sequence=True, steps=True, world=None, clock=0, device=None, keep=None, shuffle=False, first_step=0,
              name=None, **more):
        """`said`: PyTorch's arguments beside NCCL's kernels. `keep(launch)`: what the recording has of the GPU."""
        pid, device = 1000 + rank, rank if device is None else device
        events, correlation = [], 100

        def called(name, start, end, number):
            events.append({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": pid, "tid": 1, "ts": us(start + clock), "dur": us(end - start),
                           "args": {"correlation": number}})
        if steps:
            for step, (start, end) in enumerate(zip(self.borders[rank], self.borders[rank][1:])):
                events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{first_step + step}", "pid": pid, "tid": 1,
                               "ts": us(start + clock), "dur": us(end - start)})
        ahead = defaultdict(int)  # by step: the host launches ahead of the GPU, and waits for it at the end of a step
        for launch in self.launches[rank]:
            correlation += 1
            call = self.borders[rank][launch.step] - 500 + 2000 * ahead[launch.step]
            ahead[launch.step] += 1
            last = launch is self.launches[rank][-1] or self.launches[rank][correlation - 100].step != launch.step
            if last:
                called("cudaDeviceSynchronize", call + 500, launch.end + 200, 100_000 + launch.step)
            if keep is not None and not keep(launch):
                continue
            args = {"device": device, "context": 1, "stream": 20 if launch.group else 7, "correlation": correlation,
                    "grid": [8, 1, 1], "block": [512, 1, 1]}
            if launch.group and said:
                args |= {"Collective name": CALLED[launch.kernel], "In msg nelems": launch.elements, "Out msg nelems": launch.elements,
                         "Group size": len(launch.group), "dtype": "Float", "In split size": "[]", "Out split size": "[]",
                         "Process Group Name": launch.group_name, "Process Group Ranks": str(list(launch.group))} | more
                if sequence:
                    args["Seq"] = launch.sequence
            start = launch.start + clock
            events.append({"ph": "X", "cat": "kernel", "name": launch.kernel, "pid": device, "tid": args["stream"], "ts": us(start),
                           "dur": us(launch.end - launch.start), "args": args})
            called("cudaLaunchKernel", call, call + 400, correlation)
        # The border itself is the first kernel's start, and its call lies before.
        for event in events:
            if event["cat"] == "user_annotation":
                event["ts"] -= 0.6
        if shuffle:
            self.random.shuffle(events)
        return json.dumps({
            "schemaVersion": 1, "deviceProperties": [{"id": i, "name": name or "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0,
                                                      "numSms": 108} for i in range(8)],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world or self.ranks}, "traceEvents": events})

    def nsys(self, path, export, ranks=None, clock=None):
        """A process for each rank in one file, on a GPU of its own."""
        export(path)
        base = sqlite3.connect(path)
        tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
                      "NVTX_EVENTS", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"):
            if table in tables:
                base.execute(f"DELETE FROM {table}")
        names = {}

        def text(value):
            if value not in names:
                names[value] = 100_000 + len(names)
                base.execute("INSERT INTO StringIds (id, value) VALUES (?, ?)", (names[value], value))
            return names[value]
        for rank in range(self.ranks) if ranks is None else ranks:
            process = (100 + rank) << 24
            shift = clock[rank] if clock else 0
            for number, launch in enumerate(self.launches[rank], 1):
                base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, correlationId, globalPid, deviceId, contextId, streamId, "
                             "demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ) VALUES (?,?,?,?,?,1,?,?,?,8,1,1,512,1,1)",
                             (launch.start + shift, launch.end + shift, number, process, rank, 20 + rank if launch.group else 7,
                              text(launch.kernel), text(launch.kernel)))
        base.commit()
        base.close()
        return path


def us(ns):
    return ns / 1000
