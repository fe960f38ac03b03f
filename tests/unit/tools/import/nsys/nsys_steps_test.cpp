// SPDX-License-Identifier: Apache-2.0
// Records of steps that an export of nsys gives: its tables as calls and operations.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdio>

#include "analysis/step_graph/graph_builder.h"
#include "tools/import/nsys/nsys_sqlite.h"
#include "tools/import/records/imported.h"
#include "tools/streams/progress.h"

namespace gable {
namespace {

using Kind = RecordedCallKind;

class NsysSteps : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "gable_nsys_steps_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    (void)std::remove(path_.c_str());
    ASSERT_EQ(sqlite3_open(path_.c_str(), &base_), SQLITE_OK);
    run("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;"
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
        "INSERT INTO StringIds VALUES (1, 'gemm(float*)'), (2, 'cudaLaunchKernel_v7000'),"
        "(3, 'cudaEventRecord_v3020'), (4, 'cudaStreamWaitEvent_v3020'),"
        "(5, 'cudaMemcpyAsync_v3020'), (6, 'cudaStreamSynchronize_v3020'), (7, 'cuLaunchKernel');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT,"
        " gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, graphNodeId INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT,"
        " dstKind INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT,"
        " correlationId INT, nameId INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, contextId INT,"
        " streamId INT, correlationId INT, globalPid INT, eventId INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (contextId INT, streamId INT,"
        " correlationId INT, globalPid INT, eventId INT);"
        "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT,"
        " textId INT, domainId INT);"
        "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INT, processId INT, contextId INT,"
        " flag INT);"
        "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 1, 1, 3), (9, 1, 1, 2)");
    for (std::uint64_t step = 1; step <= 3; ++step) add_step(step);
  }
  void TearDown() override {
    sqlite3_close(base_);
    (void)std::remove(path_.c_str());
  }

  void run(const std::string& statements) {
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(base_, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK)
        << (error != nullptr ? error : "");
  }
  template <class... Values>
  void insert(const std::string& table, Values... values) {
    std::string row;
    ((row += (row.empty() ? "" : ", ") + std::to_string(values)), ...);
    run("INSERT INTO " + table + " VALUES (" + row + ")");
  }
  // A kernel on the legacy stream, and a copy behind it on another that the host waits for.
  void add_step(std::uint64_t step) {
    const std::uint64_t at = step * 100000, number = step * 10;
    const std::string runtime = "CUPTI_ACTIVITY_KIND_RUNTIME";
    run("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(at) + ", " +
        std::to_string(at + 90000) + ", 59, 'step " + std::to_string(step) +
        "', 16777217, NULL, 0)");
    insert(runtime, at + 1000, at + 3000, kThread, number, 2);
    insert(runtime, at + 1200, at + 2900, kThread, number, 7);  // the driver's within it
    insert("CUPTI_ACTIVITY_KIND_KERNEL", at + 6000, at + 46000, 0, 1, 7, number, kProcess, 1, 1, 4,
           1, 1, 64, 1, 1, 0);
    insert(runtime, at + 4000, at + 5000, kThread, number + 1, 3);
    insert("CUPTI_ACTIVITY_KIND_CUDA_EVENT", 1, 7, number + 1, kProcess, 3);
    insert(runtime, at + 6000, at + 7000, kThread, number + 2, 4);
    insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", at + 6000, at + 7000, 1, 9, number + 2, kProcess,
           3);
    insert(runtime, at + 8000, at + 9000, kThread, number + 3, 5);
    insert("CUPTI_ACTIVITY_KIND_MEMCPY", at + 47000, at + 50000, 0, 1, 9, number + 3, kProcess,
           4096, 2, 2, 1);
    insert(runtime, at + 10000, at + 52000, kThread, number + 4, 6);
    insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", at + 10000, at + 52000, 1, 9, number + 4,
           kProcess, 4294967295);
  }
  const StepRecord& read(const std::string& step_range = "^step") {
    imported.step_range = step_range;
    Progress progress(false);
    read_nsys_sqlite(path_, imported, progress);
    static const StepRecord none;
    return imported.step_records.empty() ? none : imported.step_records.front();
  }

  static constexpr std::uint64_t kProcess = 16777216, kThread = 16777217;
  Imported imported;

 private:
  sqlite3* base_ = nullptr;
  std::string path_;
};

TEST_F(NsysSteps, CallsAndOperations) {
  const StepRecord& record = read();
  ASSERT_EQ(imported.step_records.size(), 1u);
  const RecordedSteps& steps = record.steps;
  EXPECT_EQ(steps.borders, (std::vector<std::uint32_t>{0, 5, 10, 15}));
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < 5; ++i) kinds.push_back(steps.calls[i].kind);
  EXPECT_EQ(kinds, (std::vector{Kind::launch, Kind::event_record, Kind::stream_wait, Kind::launch,
                                Kind::stream_synchronize}));
  EXPECT_EQ(steps.calls[0].exit_ns, 103000u) << "the runtime's call, not the driver's";
  EXPECT_EQ(steps.calls[0].stream, 7u);
  EXPECT_EQ(steps.calls[1].stream, 7u);
  EXPECT_EQ(steps.calls[2].stream, 9u);
  EXPECT_EQ(steps.calls[2].event, steps.calls[1].event);
  EXPECT_NE(steps.calls[7].event, steps.calls[2].event) << "recorded again";
  EXPECT_EQ(steps.calls[4].stream, 9u);
  EXPECT_TRUE(record.stream_waits_known);
  ASSERT_EQ(steps.operations.size(), 6u);
  const RecordedOperation& copy = steps.operations[1];
  EXPECT_EQ(copy.kind, OperationKind::copy);
  EXPECT_EQ(copy.way, CopyWay::device_to_host);
  EXPECT_TRUE(copy.asynchronous);
  EXPECT_FALSE(copy.pageable);
  ASSERT_EQ(steps.streams.size(), 2u);
  EXPECT_TRUE(steps.streams[0].legacy);
  EXPECT_TRUE(steps.streams[1].non_blocking);
  EXPECT_EQ(record.work[steps.operations[0].key].key,
            launch_key(imported, *imported.kernels.first()));
}

TEST_F(NsysSteps, TheGraphOfThemHoldsTogether) {
  const StepGraph graph = build_step_graph(read().steps);
  EXPECT_EQ(graph.refused, RefusedInput{});
  for (const std::uint32_t violated : graph.violated) EXPECT_EQ(violated, 0u);
}

TEST_F(NsysSteps, PageableMemoryIsOnTheHostsSide) {
  run("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 1, dstKind = 0");
  EXPECT_TRUE(read().steps.operations.at(1).pageable);
}

TEST_F(NsysSteps, NodesOfAGraph) {
  run("UPDATE StringIds SET value = 'cudaGraphLaunch_v10000' WHERE id = 2;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 77");
  const StepRecord& record = read();
  EXPECT_EQ(record.steps.calls.at(0).kind, Kind::graph_launch);
  ASSERT_EQ(record.steps.graphs.size(), 1u);
  EXPECT_EQ(record.steps.graphs[0].nodes, (std::vector<std::uint64_t>{77}));
}

TEST_F(NsysSteps, StreamsThatAreNotListedBlock) {
  run("DELETE FROM TARGET_INFO_CUDA_STREAM WHERE streamId = 9");
  const auto& streams = read().steps.streams;
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_FALSE(streams[1].legacy);
  EXPECT_FALSE(streams[1].non_blocking);
}

TEST_F(NsysSteps, WithoutEventRecordsWaitsAreNotKnown) {
  run("DROP TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT");
  const StepRecord& record = read();
  EXPECT_EQ(record.steps.calls.at(2).kind, Kind::other);
  EXPECT_FALSE(record.stream_waits_known);
}

TEST_F(NsysSteps, SaysWhenInputWasFetched) {
  const auto range = [this](std::uint64_t from, const std::string& to, const std::string& name) {
    run("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(from) + ", " + to + ", 59, '" + name +
        "', 16777217, NULL, 0)");
  };
  const std::string fetch = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  range(50000, "60000", fetch);  // before the first step
  range(195000, "199000", fetch + ", op_id = 7");
  range(95000, "100500", fetch);
  range(150000, "150100", "enumerate(DataLoader)");
  range(296000, "NULL", fetch);  // still open when the recording ended
  const RecordedSteps& steps = read().steps;
  ASSERT_EQ(steps.inputs.size(), 2u);
  EXPECT_EQ(steps.inputs[0].start_ns, 195000u);
  EXPECT_EQ(steps.inputs[0].end_ns, 199000u);
  EXPECT_EQ(steps.inputs[0].thread, steps.calls[0].thread);
  EXPECT_EQ(steps.inputs[1].start_ns, 95000u);
}

TEST_F(NsysSteps, WithoutStepsNothingIsRecorded) {
  (void)read("");
  EXPECT_TRUE(imported.step_records.empty());
  EXPECT_TRUE(imported.steps.empty());
}

}  // namespace
}  // namespace gable
