-- SPDX-License-Identifier: Apache-2.0
-- A small export of schema 3.x: one process, two threads, nested ranges in two domains, a copy, a kernel whose call is missing.
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.1.90'), ('EXPORT_SCHEMA_VERSION', '3.20.2');
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('API_TOKEN', 'hunter2'), ('Hostname', 'secret-host');
CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES (16777216, 'secret-process');
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'gemm(float *, int)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'relu(float *)'),
  (5, 'relu'), (6, 'registered'), (7, 'cudaMemcpyAsync_v3020');
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, chipName TEXT, cuDevice INTEGER, smCount INTEGER, clockRate INTEGER,
  memoryBandwidth INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, computeMajor INTEGER, computeMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'Tesla T4', 'TU104', 0, 40, 1590000000, 320064000000, 4194304, 15828320256, 7, 5);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER,
  gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, dynamicSharedMemory INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (2000, 2500, 0, 1, 7, 11, 16777216, 1, 2, 4, 1, 1, 128, 1, 1, 0),
  (3000, 3100, 0, 1, 7, 12, 16777216, 4, 5, 8, 1, 1, 256, 1, 1, 64),
  (4000, 4700, 0, 1, 7, 13, 16777216, 1, 2, 4, 1, 1, 128, 1, 1, 0),
  (9000, 9001, 0, 1, 7, 99, 16777216, 4, 5, 8, 1, 1, 256, 1, 1, 64);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER, copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5000, 5040, 0, 14, 16777216, 4096, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
-- Two rows for correlation 11, as old exports have: the driver's call within the runtime's. Correlation 12 of another process
-- is another call.
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (110, 118, 1, 16777217, 11, 3, 0), (112, 117, 0, 16777217, 11, 3, 0),
  (210, 215, 1, 16777217, 12, 3, 0), (10, 20, 1, 33554433, 12, 3, 0),
  (310, 315, 1, 16777218, 13, 3, 0), (220, 225, 1, 16777217, 14, 7, 0);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES
  (1, NULL, 75, NULL, 'mylib', 16777217, NULL, NULL, 3),
  (100, 300, 59, NULL, 'model', 16777217, NULL, NULL, 0),
  (105, 150, 59, NULL, 'aten::mm, seq = 12, op_id = 4', 16777217, NULL, NULL, 0),
  (205, 250, 59, NULL, 'aten::mm, seq = 13, op_id = 9, sizes = [[2, 2]]', 16777217, NULL, NULL, 0),
  (260, 290, 34, NULL, 'a mark', 16777217, NULL, NULL, 0),
  (300, NULL, 59, NULL, NULL, 16777218, NULL, 6, 3);
