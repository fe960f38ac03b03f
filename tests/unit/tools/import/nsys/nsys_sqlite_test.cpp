// SPDX-License-Identifier: Apache-2.0
// Kernels, copies, calls and ranges of an export: what they are, and which layer and step each is
// in.
#include "tests/unit/tools/import/nsys/nsys_file.h"

namespace gable {
namespace {

constexpr std::uint64_t kProcess = 1u << 24, kThread = kProcess + 1;

class NsysSqlite : public NsysFile {
 protected:
  void SetUp() override {
    NsysFile::SetUp();
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT,"
        " gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, clusterX INT,"
        " clusterY INT, clusterZ INT, dynamicSharedMemory INT, registersPerThread INT,"
        " staticSharedMemory INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT,"
        " dstKind INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, bytes INT, value INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT,"
        " correlationId INT, nameId INT);"
        "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT,"
        " textId INT, domainId INT)");
  }
  void kernel(const std::string& name, std::int64_t start, std::int64_t end, int correlation,
              const std::string& more = "4, 1, 1, 64, 1, 1, 0, 0, 0, 16, 32, 8", int device = 0,
              std::uint64_t process = kProcess) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + ", " +
        std::to_string(end) + ", " + std::to_string(device) + ", 1, 7, " +
        std::to_string(correlation) + ", " + std::to_string(process) + ", " + id(name) + ", " +
        id("short") + ", " + more + ")");
  }
  void call(std::int64_t start, std::int64_t end, int correlation,
            const std::string& name = "cudaLaunchKernel_v7000", std::uint64_t thread = kThread) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + ", " +
        std::to_string(end) + ", " + std::to_string(thread) + ", " + std::to_string(correlation) +
        ", " + id(name) + ")");
  }
  void range(const std::string& text, std::int64_t start, const std::string& end,
             std::uint64_t thread = kThread, int type = 59, int domain = 0) {
    run("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(start) + ", " + end + ", " +
        std::to_string(type) + ", '" + text + "', " + std::to_string(thread) + ", NULL, " +
        std::to_string(domain) + ")");
  }
  std::vector<ImportedKernel> kernels() {
    std::vector<ImportedKernel> all;
    for (const auto* each = imported.kernels.first(); each != nullptr;
         each = imported.kernels.next())
      all.push_back(*each);
    return all;
  }
  std::vector<ImportedCopy> copies() {
    std::vector<ImportedCopy> all;
    for (const auto* each = imported.copies.first(); each != nullptr; each = imported.copies.next())
      all.push_back(*each);
    return all;
  }
  std::string layer(LayerId id) const { return imported.layers.shown(id); }
  std::map<std::string, ImportedSpan> spans() {
    std::map<std::string, ImportedSpan> all;
    for (auto each = imported.spans.first(); each; each = imported.spans.next()) {
      ImportedSpan& sum = all[layer(each->layer)];
      sum.calls += each->calls;
      sum.cpu_ns += each->cpu_ns;
      sum.wait_ns += each->wait_ns;
    }
    return all;
  }
};

TEST_F(NsysSqlite, AKernelWithAllThatIsSaidOfIt) {
  kernel("gemm(float*)", 1000, 1500, 5, "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13", 3);
  ASSERT_EQ(read(), "");
  const ImportedKernel one = kernels().at(0);
  EXPECT_EQ(one.start_ns, 1000u);
  EXPECT_EQ(one.end_ns, 1500u);
  EXPECT_EQ(one.device, 3);
  EXPECT_EQ(one.stream, 7u);
  EXPECT_EQ(one.step, 0u);
  EXPECT_EQ(one.message, 0u);
  EXPECT_EQ(imported.functions.name(one.function), "gemm(float*)");
  const LaunchShape& shape = imported.shapes[one.shape];
  EXPECT_EQ(shape.grid, (Dim3{2, 3, 4}));
  EXPECT_EQ(shape.block, (Dim3{5, 6, 7}));
  EXPECT_EQ(shape.cluster, (Dim3{8, 9, 10}));
  EXPECT_EQ(shape.dynamic_shared, 11u);
  EXPECT_EQ(imported.resources.find(one.function, one.shape), (KernelResources{12, 13 + 11}));
  EXPECT_EQ(imported.without_call, 1u);
  EXPECT_FALSE(imported.has_calls);
  ASSERT_EQ(imported.times_from.size(), 1u);
  EXPECT_EQ(imported.times_from[0], "nsys (run.sqlite)");
  EXPECT_TRUE(imported.notes.empty());
}

TEST_F(NsysSqlite, ResourcesAreOfEachKernelAndShape) {
  kernel("a", 1, 2, 1);
  kernel("b", 3, 4, 2, "4, 1, 1, 64, 1, 1, 0, 0, 0, 16, 40, 0");
  kernel("b", 5, 6, 3, "5, 1, 1, 64, 1, 1, 0, 0, 0, 16, 48, 0");
  kernel("c", 7, 8, 4, "5, 1, 1, 64, 1, 1, 0, 0, 0, NULL, 48, 0");
  kernel("d", 9, 10, 5, "5, 1, 1, 64, 1, 1, 0, 0, 0, 16, NULL, 0");
  kernel("e", 11, 12, 6, "5, 1, 1, 64, 1, 1, 0, 0, 0, 16, 48, NULL");
  ASSERT_EQ(read(), "");
  std::vector<KernelResources> found;
  for (const ImportedKernel& each : kernels())
    found.push_back(imported.resources.find(each.function, each.shape));
  EXPECT_EQ(found, (std::vector<KernelResources>{{32, 24}, {40, 16}, {48, 16}, {}, {}, {}}));
}

TEST_F(NsysSqlite, ZeroAndNothingAreOneInSizes) {
  kernel("a", 1, 2, 1, "0, NULL, 4, 64, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL");
  ASSERT_EQ(read(), "");
  const LaunchShape& shape = imported.shapes[kernels().at(0).shape];
  EXPECT_EQ(shape.grid, (Dim3{1, 1, 4}));
  EXPECT_EQ(shape.cluster, (Dim3{1, 1, 1}));
  EXPECT_EQ(shape.dynamic_shared, 0u);
}

TEST_F(NsysSqlite, NamesAreDemangledElseShortElseNone) {
  kernel("a", 1, 2, 1);
  kernel("b", 3, 4, 2);
  kernel("c", 5, 6, 3);
  kernel("d", 7, 8, 4);
  run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = NULL WHERE correlationId = 2;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = NULL, shortName = NULL"
      " WHERE correlationId = 3;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 'as text' WHERE correlationId = 4");
  ASSERT_EQ(read(), "");
  std::vector<std::string> names;
  for (const auto& each : kernels()) names.push_back(imported.functions.name(each.function));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "short", "(unnamed)", "as text"}));
}

TEST_F(NsysSqlite, NumbersWithoutATableOfTextsAreNoNames) {
  kernel("a", 1, 2, 1);
  run("DROP TABLE StringIds");
  ASSERT_EQ(read(), "");
  EXPECT_EQ(imported.functions.name(kernels().at(0).function), "(unnamed)");
}

TEST_F(NsysSqlite, KindsOfCopies) {
  kernel("a", 1, 2, 1);
  run("CREATE TABLE ENUM_CUDA_MEM_KIND (id INT, name TEXT)");
  const std::pair<int, CopyKind> kinds[] = {{1, CopyKind::host_to_device},
                                            {2, CopyKind::device_to_host},
                                            {8, CopyKind::device_to_device},
                                            {10, CopyKind::peer},
                                            {11, CopyKind::host_to_device},
                                            {12, CopyKind::device_to_host},
                                            {13, CopyKind::device_to_device},
                                            {3, CopyKind::other},
                                            {14, CopyKind::other}};
  int at = 10;
  for (const auto& [kind, meant] : kinds) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" + std::to_string(at) + ", " +
        std::to_string(at + 3) + ", 2, 1, 7, " + std::to_string(at) + ", 16777216, " +
        std::to_string(at * 100) + ", " + std::to_string(kind) + ", NULL, NULL)");
    ++at;
  }
  run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (50, 55, 0, 1, 7, 50, 16777216, NULL, 2)");
  ASSERT_EQ(read(), "");
  const auto all = copies();
  ASSERT_EQ(all.size(), 10u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(all[i].record.kind, kinds[i].second) << kinds[i].first;
    EXPECT_EQ(all[i].record.start_ns, 10 + i);
    EXPECT_EQ(all[i].record.end_ns, 13 + i);
    EXPECT_EQ(all[i].record.bytes, (10 + i) * 100);
    EXPECT_EQ(all[i].record.device, 2);
    EXPECT_EQ(all[i].place, i);
    EXPECT_EQ(all[i].record.host == HostMemory::managed, kinds[i].first > 10 && kinds[i].first < 14)
        << kinds[i].first;
  }
  EXPECT_EQ(all[9].record.kind, CopyKind::memset);
  EXPECT_FALSE(all[9].record.bytes);
  EXPECT_EQ(all[9].record.end_ns, 55u);
}

TEST_F(NsysSqlite, TheLayerIsThatOpenOnTheThreadAtTheCall) {
  range("outer", 100, "1000");
  range("inner", 300, "600");
  range("other", 0, "2000", kThread + 1);
  range("a mark", 250, "260", kThread, 34);
  call(150, 160, 1);
  call(300, 310, 2);
  call(300, 310, 2);  // the driver's
  call(700, 710, 3);
  call(1000, 1010, 4);
  call(400, 410, 5, "cudaLaunchKernel_v7000", kThread + 1);
  for (int i = 1; i <= 5; ++i) kernel("k", 2000 + i * 10, 2005 + i * 10, i);
  kernel("k", 3000, 3005, 9);
  ASSERT_EQ(read(), "");
  std::vector<std::string> layers;
  for (const auto& each : kernels()) layers.push_back(layer(each.layer));
  EXPECT_EQ(layers, (std::vector<std::string>{"outer", "outer/inner", "outer", "(no layer)",
                                              "other", "(no layer)"}));
  EXPECT_EQ(imported.without_call, 1u);
  EXPECT_TRUE(imported.has_calls);
  const auto all = spans();
  EXPECT_EQ(all.at("outer").calls, 1u);
  EXPECT_EQ(all.at("outer").cpu_ns, 900u);
  EXPECT_EQ(all.at("outer/inner").cpu_ns, 300u);
  EXPECT_EQ(all.at("other").cpu_ns, 2000u);
  for (const auto& [where, projection] : imported.projections)
    EXPECT_TRUE(layer(where.second) != "outer" || projection.span_ns == 2035 - 2010);
}

TEST_F(NsysSqlite, RangesThatAreOpenAtTheEndHoldWhatFollows) {
  range("open", 100, "NULL", kThread, 60);
  call(5000, 5010, 1);
  kernel("k", 6000, 6001, 1);
  ASSERT_EQ(read(), "");
  EXPECT_EQ(layer(kernels().at(0).layer), "open");
  EXPECT_EQ(spans().at("open").cpu_ns, 0u);
  EXPECT_EQ(spans().at("open").calls, 1u);
}

TEST_F(NsysSqlite, NamesOfRangesAndTheirDomains) {
  const std::string thread = std::to_string(kThread);
  run("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'lib', " + thread +
      ", NULL, 3),"
      "(0, NULL, 75, NULL, " +
      thread + ", " + id("byid") +
      ", 4),"
      "(0, NULL, 75, 'gable', " +
      thread +
      ", NULL, 5),"
      "(0, NULL, 75, 'foreign', " +
      std::to_string(kThread + (1u << 24)) + ", NULL, 6)");
  int at = 0;
  for (const auto& [text, domain] :
       std::vector<std::pair<std::string, int>>{{"plain", 0},
                                                {"plain", 3},
                                                {"plain", 4},
                                                {"plain", 5},
                                                {"plain", 6},
                                                {"op, sizes = [[1]]", 0},
                                                {"", 0}}) {
    at += 100;
    range(text, at, std::to_string(at + 50), kThread, 59, domain);
    call(at + 10, at + 20, at);
    kernel("k", at + 10000, at + 10001, at);
  }
  run("INSERT INTO NVTX_EVENTS VALUES (900, 950, 59, NULL, " + thread + ", " + id("of id") +
      ", 3), (960, 990, 59, NULL, " + thread + ", " + id("of id") + ", 0)");
  for (const int start : {910, 970}) {
    call(start, start + 1, start);
    kernel("k", start + 10000, start + 10001, start);
  }
  ASSERT_EQ(read(), "");
  std::vector<std::string> layers;
  for (const auto& each : kernels()) layers.push_back(layer(each.layer));
  EXPECT_EQ(layers, (std::vector<std::string>{"plain", "lib:plain", "byid:plain", "plain", "plain",
                                              "op", "(unnamed)", "lib:of id", "of id"}));
}

TEST_F(NsysSqlite, WaitsAreThoseOfTheOuterCalls) {
  range("net", 100, "1000");
  call(200, 300, 1, "cudaDeviceSynchronize_v3020");
  call(210, 290, 2, "cuCtxSynchronize");
  call(300, 320, 3, "cudaStreamSynchronize_v3020");
  call(1200, 1250, 4, "cudaDeviceSynchronize_v3020");
  call(205, 215, 5, "cudaDeviceSynchronize_v3020", kThread + 1);
  kernel("k", 150, 160, 9);
  ASSERT_EQ(read(), "");
  const auto all = spans();
  EXPECT_EQ(all.at("net").wait_ns, 120u);
  EXPECT_EQ(all.at("net").calls, 1u);
  EXPECT_EQ(all.at("(no layer)").wait_ns, 50u + 10);
}

TEST_F(NsysSqlite, StepsAreRangesOfThatName) {
  imported.step_range = "^step";
  for (const int step : {1, 2, 3}) {
    range("step " + std::to_string(step), step * 1000, std::to_string(step * 1000 + 900));
    call(step * 1000 + 100, step * 1000 + 110, step);
    kernel("k", step * 1000 + 950, step * 1000 + 960, step);
    run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (" + std::to_string(step * 1000 + 500) +
        ", " + std::to_string(step * 1000 + 510) + ", 0, 1, 7, " + std::to_string(step) +
        ", 16777216, 64, 0)");
  }
  call(100, 110, 7);
  kernel("k", 950, 960, 7);
  ASSERT_EQ(read(), "");
  ASSERT_EQ(imported.steps.size(), 3u);
  EXPECT_EQ(imported.steps[0].start_ns, 1000u);
  EXPECT_EQ(imported.steps[2].start_ns, 3000u);
  std::map<std::uint64_t, std::uint32_t> by_start;
  for (const auto& each : kernels()) by_start[each.start_ns] = each.step;
  EXPECT_EQ(by_start,
            (std::map<std::uint64_t, std::uint32_t>{{950, 0}, {1950, 1}, {2950, 2}, {3950, 3}}));
  for (const auto& each : copies()) {
    EXPECT_EQ(each.step, each.record.start_ns / 1000);
    EXPECT_TRUE(each.placed);
  }
  EXPECT_NE(read().find("import each by itself"), std::string::npos);
}

TEST_F(NsysSqlite, TimesBeforeTheSessionsZeroAreMoved) {
  kernel("a", -500, -400, 1);
  kernel("b", 100, 150, 2);
  ASSERT_EQ(read(), "");
  const auto all = kernels();
  EXPECT_EQ(all[0].start_ns, 1u) << "a record at 0 would be one without a time";
  EXPECT_EQ(all[0].end_ns, 101u);
  EXPECT_EQ(all[1].start_ns, 601u);
}

TEST_F(NsysSqlite, WorkThatWasCalledBeforeTheRecordingIsSaid) {
  call(100, 110, 20);
  call(120, 130, 21);
  kernel("k", 90, 95, 19);
  kernel("k", 200, 205, 20);
  kernel("k", 210, 215, 21);
  run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (80, 85, 0, 1, 7, 18, 16777216, 64, 0)");
  ASSERT_EQ(read(), "");
  EXPECT_EQ(imported.notes.size(), 2u);
  EXPECT_TRUE(notes_have("1 kernel"));
  EXPECT_TRUE(notes_have("1 copy"));
  EXPECT_EQ(imported.without_call, 1u);
  EXPECT_FALSE(copies().at(0).placed);
}

TEST_F(NsysSqlite, SeveralFilesFollowEachOther) {
  kernel("a", 100, 110, 1);
  run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (80, 85, 0, 1, 7, 18, 16777216, 64, 0)");
  ASSERT_EQ(read(), "");
  ASSERT_EQ(read(), "");
  ASSERT_EQ(kernels().size(), 2u);
  EXPECT_EQ(kernels()[0].place, 0u);
  EXPECT_EQ(kernels()[1].place, 1u);
  EXPECT_EQ(copies()[1].place, 1u);
}

TEST_F(NsysSqlite, KernelsOfNcclAreMessages) {
  kernel("ncclDevKernel_AllReduce_Sum_f32", 100, 110, 1, "4, 1, 1, 64, 1, 1, 0, 0, 0, 16, 32, 8", 0,
         kProcess);
  ASSERT_EQ(read(), "");
  ASSERT_EQ(kernels().at(0).message, 1u);
  EXPECT_EQ(imported.messages.at(0).stream, 7u);
}

TEST_F(NsysSqlite, WholeGraphsAreSaidToBeMissing) {
  kernel("a", 100, 110, 1);
  run("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1), (2)");
  ASSERT_EQ(read(), "");
  EXPECT_TRUE(notes_have("2 launches of CUDA graphs"));
}

TEST_F(NsysSqlite, WhatIsBrokenIsRefused) {
  kernel("a", 100, 99, 1);
  EXPECT_NE(read().find("ends before it starts"), std::string::npos);
  run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 100");
  range("x", 10, "9");
  EXPECT_NE(read().find("range ends before it starts"), std::string::npos);
  run("UPDATE NVTX_EVENTS SET end = 10");
  EXPECT_EQ(read(), "");
  for (const char* column : {"gridX", "blockX", "correlationId", "end", "start"}) {
    run(std::string("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN ") + column + " TO gone");
    EXPECT_NE(read().find(std::string("has no column ") + column), std::string::npos) << read();
    run(std::string("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN gone TO ") + column);
  }
}

TEST_F(NsysSqlite, OtherFilesAreRefused) {
  run("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE StringIds");
  EXPECT_NE(read().find("not an export of nsys"), std::string::npos);
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    run(std::string("CREATE TABLE ") + table + " (name TEXT, value TEXT)");
    EXPECT_NE(read().find("nsys recorded no kernel"), std::string::npos);
    run(std::string("DROP TABLE ") + table);
  }
  EXPECT_NE(nsys_rep_sentence("/x/run.nsys-rep").find("-o run.sqlite /x/run.nsys-rep`"),
            std::string::npos);
}

}  // namespace
}  // namespace gable
