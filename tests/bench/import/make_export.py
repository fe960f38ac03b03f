# SPDX-License-Identifier: Apache-2.0
"""Writes an export of nsys as one of a training run is: schema 3.x, the rows of several processes with a GPU each beside each other
in the order of their starts, in each process of a step 1,000 kernels, 2,500 calls, 60 copies, 30 waits, and ranges of the step, of
100 layers and of 1,000 operators two deep. SQLite itself makes the rows, 2 million a second or so.

    make_export.py MEGABYTES OUT [PROCESSES]

Two processes where no number is named."""
import os
import sqlite3
import sys

SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, chipName TEXT, smCount INTEGER, clockRate INTEGER,
  memoryBandwidth INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, computeMajor INTEGER, computeMinor INTEGER, cuDevice INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
  gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER,
  qmdBulkReleaseDone INTEGER, qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER, clusterX INTEGER,
  clusterY INTEGER, clusterZ INTEGER, clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER,
  maxActiveClusters INTEGER, sharedMemoryRequestedPercentage INTEGER, tensorSizeMinusOneElements TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER,
  srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER,
  graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
  int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
  jsonText TEXT, binaryData TEXT);
CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);
"""
KERNELS = 200
STEP = 1000         # kernels of a process
TICK = 10_000       # ns from launch to launch
EARLY = -5_000_000  # the first times lie before the session's zero
PROCESS = 281_476_838_981_632
CALLS = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaEventRecord", "cudaStreamSynchronize", "cuLaunchKernel")

# Kernel j of process p is launched at :first + j ticks; j = i / :processes.
PARTS = """
CREATE TEMP VIEW k AS SELECT i / {processes} AS j, i % {processes} AS p, {early} + i / {processes} * {tick} AS called, {process} + (i % {processes} << 24) AS pid
  FROM n;
"""
ROWS = {
    "CUPTI_ACTIVITY_KIND_KERNEL": """SELECT called + 6000 + j % 977, called + 8000 + j % 977 + j * 7919 % 9001, p, 1, 0, 7 + j % 17 / 16 * 8, 4 * j + 1, pid,
      j % {kernels}, {kernels} + j % {kernels}, j % {kernels}, 1, 1, 32 + j % 7, 1 + j % 50, 4, 1, 256, 1, 1, 0, 1024 * (j % 3), 0, 250871808, j, 32768, NULL, 0,
      NULL, NULL, NULL, NULL, 0, 0, 0, 1, 0, 0, NULL, '[]' FROM k ORDER BY 1""",
    "CUPTI_ACTIVITY_KIND_MEMCPY": """SELECT called + 7000, called + 9000 + j % 501, p, 1, 0, 7, 4 * j + 2, pid, 4096 + j % 8 * 65536, 1 + j % 2, NULL, 1, 2, NULL, NULL,
      NULL, NULL, NULL, NULL, NULL, 1 FROM k WHERE j % 1000 % 16 = 3 ORDER BY 1""",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": """SELECT called + 5000, called + 8000, p, 1, NULL, 7, 4 * j + 3, pid, NULL, 3, 4294967295, NULL FROM k WHERE j % 1000 % 33 = 5
      ORDER BY 1""",
    "CUPTI_ACTIVITY_KIND_RUNTIME": """SELECT called, called + 3000, 0, pid + 77, 4 * j + 1, {names}, 0, NULL FROM k
      UNION ALL SELECT called + 300, called + 2500, 0, pid + 77, 4 * j + 1, {names} + 4, 0, NULL FROM k
      UNION ALL SELECT called + 3200, called + 4300, 0, pid + 77, 4 * j + 2, {names} + 1 + (j % 1000 % 16 != 3), 0, NULL FROM k WHERE j % 2 = 1
      UNION ALL SELECT called + 4800, called + 8200, 0, pid + 77, 4 * j + 3, {names} + 3, 0, NULL FROM k WHERE j % 1000 % 33 = 5
      ORDER BY 1""",
    "NVTX_EVENTS": """SELECT called - 900, called - 900 + {step} * {tick} - 10, 59, NULL, NULL, NULL, 'step ' || (j / {step}), pid + 77, NULL, NULL, 0, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL, NULL FROM k WHERE j % {step} = 0
      UNION ALL SELECT called - 800, called - 800 + 10 * {tick} - 200, 59, NULL, NULL, NULL, NULL, pid + 77, NULL, {names} + 5 + j / 10 % 100, 0, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL, NULL FROM k WHERE j % 10 = 0
      UNION ALL SELECT called - 600, called + 8500, 59, NULL, NULL, NULL, 'aten::linear, op_id = ' || (2 * j), pid + 77, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL FROM k
      UNION ALL SELECT called - 300, called + 8300, 59, NULL, NULL, NULL, 'aten::addmm, op_id = ' || (2 * j + 1), pid + 77, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL FROM k
      ORDER BY 1""",
}


def make(out, size, processes):
    if os.path.exists(out):
        os.remove(out)
    base = sqlite3.connect(out, isolation_level=None)
    values = {"processes": processes, "early": EARLY, "tick": TICK, "process": PROCESS, "kernels": KERNELS, "names": 2 * KERNELS, "step": STEP}
    base.executescript(SCHEMA + PARTS.format(**values))
    names = [f"void at::native::kernel_{i}<float, {i}, at::native::Functor<float, {i % 7}>>(int, float const*, float*)" for i in range(KERNELS)]
    names += [f"kernel_{i}" for i in range(KERNELS)] + [*CALLS] + [f"layers.{i}.attention" for i in range(100)]
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(names))
    base.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.1.90')")
    for process in range(processes):
        base.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, ?, 'NVIDIA H100 80GB HBM3', 'GH100', 132, 1980000000, 3352320000000, 52428800, 85029158912, 9, 0, ?)",
                     (process, process))
    # Whole steps of all processes at a time: the rows of a table are in the order of their starts throughout.
    first, block = 0, 50 * STEP * processes
    small = block
    while small > STEP * processes and small * 450 > size / 4:
        small //= 2
    block = max(small // (STEP * processes), 1) * STEP * processes
    while True:
        base.execute("BEGIN")
        base.execute("DELETE FROM n")
        base.execute("INSERT INTO n WITH RECURSIVE c(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM c WHERE i < ?) SELECT i FROM c", (first, first + block - 1))
        for table, rows in ROWS.items():
            base.execute(f"INSERT INTO {table} " + rows.format(**values))
        base.execute("COMMIT")
        first += block
        if os.path.getsize(out) >= size:
            break
    base.close()
    return first


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    kernels = make(sys.argv[2], float(sys.argv[1]) * 1e6, int(sys.argv[3]) if len(sys.argv) == 4 else 2)
    print(f"{kernels} kernels, {os.path.getsize(sys.argv[2]) / 1e6:.0f} MB")
