# SPDX-License-Identifier: Apache-2.0
"""Writes files as ncu, nsys and PyTorch's profiler would, of any size, for the benchmark of gable import.

    make_files.py ncu|nsys|kineto MEGABYTES OUT"""
import json
import os
import sqlite3
import sys

KERNELS = [f"void ns{i}::gemm_kernel<float, {i}, {i % 7}, true>(float const*, float const*, float*, int, int)" for i in range(40)]
LAYERS = [f"layer{i // 10}.{i % 10}" for i in range(120)]
SASS = "smsp__sass_thread_inst_executed_op_"
METRICS = [(SASS + op + "_pred_on.sum", "inst") for op in ("fadd", "fmul", "ffma", "hadd", "hmul", "hfma")] + [
    ("dram__sectors_read.sum", "sector"), ("dram__sectors_write.sum", "sector"), ("gpu__time_duration.sum", "ns"),
    ("sm__cycles_elapsed.max", "cycle")]


def ncu(out, size):
    head = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device",
            "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value")
    with open(out, "w", encoding="utf-8") as file:
        file.write("==PROF== Connected to process 1\n")
        file.write(",".join(f'"{name}"' for name in head) + "\n")
        launch = 0
        while file.tell() < size:
            for _ in range(200):
                kernel = KERNELS[launch % len(KERNELS)]
                front = (f'"{launch}","1","python3","127.0.0.1","{kernel}","1","7","(128, 1, 1)","({launch % 50 + 1}, 8, 1)","0","8.0",'
                         '"Command line profiler metrics"')
                file.write("".join(f'{front},"{metric}","{unit}","{1000 + launch % 9000:,}"\n' for metric, unit in METRICS))
                launch += 1


def nsys(out, size):
    if os.path.exists(out):
        os.remove(out)
    base = sqlite3.connect(out)
    base.executescript("""PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
      contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
      demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
      registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
      blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
      dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
      gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
      globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
      color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
      int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
      jsonText TEXT);""")
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(KERNELS + [f"gemm_kernel{i}" for i in range(40)] + ["cudaLaunchKernel"]))
    base.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.1.0.0')")
    pid, tid = 1 << 24, (1 << 24) | 1
    launch, now = 0, 1000
    while True:
        kernels, calls, ranges = [], [], []
        for _ in range(4000):
            begin = now
            for _ in range(4):
                name = launch % 40
                kernels.append((now + 5000, now + 5000 + 1000 + launch % 777, 0, 1, None, 7, launch, pid, name, name + 40, name, 1, 0, 64,
                                launch % 50 + 1, 8, 1, 128, 1, 1, 0, 0, 0, 0, launch, 0, None, 0))
                calls.append((now, now + 90, 1, tid, launch, 80, 0, None))
                calls.append((now + 95, now + 99, 1, tid, 1 << 24 | launch, 80, 0, None))
                launch += 1
                now += 100
            ranges.append((begin - 1, now, 59, None, None, None, LAYERS[launch // 4 % len(LAYERS)], tid, None, None, 0) + (None,) * 8)
            now += 10
        for table, rows in (("CUPTI_ACTIVITY_KIND_KERNEL", kernels), ("CUPTI_ACTIVITY_KIND_RUNTIME", calls), ("NVTX_EVENTS", ranges)):
            base.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
        base.commit()
        if os.path.getsize(out) >= size:
            break
    base.close()


def kineto(out, size):
    names = [json.dumps(name) for name in KERNELS]
    with open(out, "w", encoding="utf-8") as file:
        file.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, '
                   '"computeMinor": 0, "numSms": 108}],\n  "traceEvents": [\n')
        launch, now, first = 0, 1000000, True
        while file.tell() < size:
            text = []
            for _ in range(200):
                layer = LAYERS[launch // 2 % len(LAYERS)]
                text.append(f'  {{\n    "ph": "X", "cat": "user_annotation", "name": "{layer}", "pid": 10, "tid": 10,\n'
                            f'    "ts": {now}.125, "dur": 40.5,\n    "args": {{\n      "External id": {launch}\n    }}\n  }}')
                for _ in range(2):
                    text.append(f'  {{\n    "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 10,\n    "ts": {now + 2}.500, '
                                f'"dur": 12.250,\n    "args": {{\n      "External id": {launch},"Record function id": 0, "Concrete Inputs": ["", ""], '
                                '"Input type": ["float", "float"], "Input Strides": [[512, 1], [512, 1]], "Input Dims": [[128, 512], [512, 512]], '
                                f'"Ev Idx": {launch}\n    }}\n  }}')
                    text.append(f'  {{\n    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10,\n    '
                                f'"ts": {now + 5}.000, "dur": 4.100,\n    "args": {{\n      "External id": {launch}, "cbid": 211, "correlation": {launch}\n    }}\n  }}')
                    text.append(f'  {{\n    "ph": "s", "id": {launch}, "pid": 10, "tid": 10, "ts": {now + 5}.000,\n    "cat": "ac2g", "name": "ac2g"\n  }}')
                    text.append(f'  {{\n    "ph": "X", "cat": "kernel", "name": {names[launch % 40]}, "pid": 0, "tid": 7,\n    "ts": {now + 30}.001, '
                                f'"dur": {launch % 77 + 1}.375,\n    "args": {{\n      "External id": {launch},"queued": 0, "device": 0, "context": 1,\n      '
                                f'"stream": 7, "correlation": {launch},\n      "registers per thread": 32,\n      "shared memory": 0,\n      '
                                f'"blocks per SM": 4.272727,\n      "warps per SM": 17.09091,\n      "grid": [{launch % 50 + 1}, 8, 1],\n      '
                                '"block": [128, 1, 1],\n      "est. achieved occupancy %": 27\n    }\n  }')
                    text.append(f'  {{\n    "ph": "f", "id": {launch}, "pid": 0, "tid": 7, "ts": {now + 30}.001,\n    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }}')
                    launch += 1
                    now += 15
                now += 30
            file.write(("" if first else ",\n") + ",\n".join(text))
            first = False
        file.write("\n  ]\n}\n")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("ncu", "nsys", "kineto"):
        sys.exit(__doc__)
    globals()[sys.argv[1]](sys.argv[3], float(sys.argv[2]) * 1e6)
