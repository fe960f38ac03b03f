// SPDX-License-Identifier: Apache-2.0
// Synchronisation records, event records and streams of nsys's tables: which record a wait means.
#include "tools/calls/nsys_waits.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdio>

namespace gable {
namespace {

constexpr std::uint64_t kProcess = 9946ull << 24;
const char* const kAll = " WHERE start >= 0";

class NsysWaitsOf : public testing::Test {
 protected:
  void TearDown() override { (void)std::remove(path_.c_str()); }

  // The tables that the statements make.
  TracedSteps read(const std::string& statements, const std::string& where = kAll) {
    path_ = testing::TempDir() + "gable_nsys_waits_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    (void)std::remove(path_.c_str());
    sqlite3* base = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &base), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(base, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK)
        << (error != nullptr ? error : "");
    sqlite3_close(base);
    SqliteFile file(path_);
    memory = nsys_host_memory(file);
    NsysWaits waits(file,
                    {[](std::uint64_t, std::uint64_t correlation) { return 1000 + correlation; },
                     [](std::uint64_t, std::uint64_t context) {
                       return static_cast<std::uint32_t>(context) + 50;
                     }});
    TracedSteps steps;
    waits.read(where, steps);
    waits.read_streams({kProcess}, steps);
    return steps;
  }
  static std::string waits(const std::string& rows) {
    return "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, correlationId "
           "INT,"
           " globalPid INT, contextId INT, streamId INT, syncType INT, eventId INT, eventSyncId "
           "INT);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES " +
           rows + ";";
  }
  static std::string records(const std::string& rows) {
    return "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (correlationId INT, globalPid INT,"
           " contextId INT, streamId INT, eventId INT, eventSyncId INT);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES " +
           rows + ";";
  }
  std::map<std::uint64_t, HostMemory> memory;

 private:
  std::string path_;
};

TEST_F(NsysWaitsOf, WithoutTablesNothingIsSaid) {
  const TracedSteps steps = read("CREATE TABLE StringIds (id INT)");
  EXPECT_FALSE(steps.tells_waits);
  EXPECT_TRUE(steps.waits.empty());
  EXPECT_EQ(memory.at(0), HostMemory::pageable);
  EXPECT_EQ(memory.at(1), HostMemory::pinned);
  EXPECT_FALSE(memory.contains(2)) << "the GPU's";
}

TEST_F(NsysWaitsOf, AWaitMeansTheLastRecordBeforeIt) {
  const TracedSteps steps =
      read(waits("(10, 11, 20, 7, 1, 9, 2, 3, NULL)") +
           records("(25, 7, 1, 7, 3, NULL), (15, 7, 1, 8, 3, NULL), (12, 7, 1, 7, 3, NULL),"
                   "(18, 7, 1, 7, 4, NULL), (19, 8, 1, 7, 3, NULL)"));
  EXPECT_TRUE(steps.tells_waits);
  ASSERT_EQ(steps.waits.size(), 1u);
  const TracedWait& wait = steps.waits[0];
  EXPECT_EQ(wait.correlation, 1020u);
  EXPECT_EQ(wait.stream, 9u);
  EXPECT_EQ(wait.context, 51u);
  EXPECT_EQ(wait.record, 1015u);
  EXPECT_EQ(wait.record_stream, 8u);
  EXPECT_EQ(wait.record_context, 51u);
}

TEST_F(NsysWaitsOf, ItsOwnNumberOfTheRecordGoesBefore) {
  const TracedSteps steps = read(waits("(10, 11, 20, 7, 1, 9, 2, 3, 77)") +
                                 records("(12, 7, 1, 7, 3, 77), (15, 7, 1, 8, 3, 78)"));
  ASSERT_EQ(steps.waits.size(), 1u);
  EXPECT_EQ(steps.waits[0].record, 1012u);
}

TEST_F(NsysWaitsOf, NumbersThatStandForNoneAreNone) {
  const TracedSteps steps =
      read(waits("(10, 11, 20, 7, 1, 4294967295, 3, 4294967295, 4294967295),"
                 "(12, 13, 21, 7, 1, -1, 3, -1, -1), (14, 15, 0, 7, 1, 9, 3, 3, 0)") +
           records("(12, 7, 1, 7, 4294967295, 0)"));
  ASSERT_EQ(steps.waits.size(), 1u);
  EXPECT_EQ(steps.waits[0].stream, TracedWait::kUnknown);
  EXPECT_EQ(steps.waits[0].record, 0u);
}

TEST_F(NsysWaitsOf, OnlyRowsOfTheTime) {
  const std::string rows = "(10, 11, 20, 7, 1, 9, 3, 0, 0), (30, 31, 21, 7, 1, 9, 3, 0, 0)";
  EXPECT_EQ(read(waits(rows), " WHERE start >= 5 AND start < 30").waits.size(), 1u);
}

TEST_F(NsysWaitsOf, OldColumnsSuffice) {
  const TracedSteps steps = read(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, correlationId INT,"
      " globalPid INT, streamId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (10, 20, 7, 9)");
  ASSERT_EQ(steps.waits.size(), 1u);
  EXPECT_EQ(steps.waits[0].stream, 9u);
}

TEST_F(NsysWaitsOf, FlagsOfStreams) {
  const TracedSteps steps = read(
      "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INT, processId INT, contextId INT, flag INT);"
      "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 9946, 1, 3), (8, 9946, 1, 2), (9, 9946, 1, "
      "1),"
      "(10, 9946, 1, 0), (8, 1, 1, 1);"
      "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INT, processId INT, contextId INT);"
      "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (15, 9946, 2)");
  ASSERT_EQ(steps.streams.size(), 4u);
  EXPECT_EQ(steps.streams[0].stream, 15u);
  EXPECT_EQ(steps.streams[0].context, 52u);
  EXPECT_TRUE(steps.streams[0].legacy);
  EXPECT_TRUE(steps.streams[1].legacy);
  EXPECT_TRUE(steps.streams[2].non_blocking);
  EXPECT_FALSE(steps.streams[3].non_blocking);
  EXPECT_FALSE(steps.streams[3].legacy);
}

TEST_F(NsysWaitsOf, OverheadOfAFullQueueAlone) {
  const TracedSteps steps = read(
      "CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INT, name TEXT);"
      "INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES (3, 'OVERHEAD_CUPTI_BUFFER_FLUSH'),"
      "(8, 'OVERHEAD_COMMAND_BUFFER_FULL');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INT, end INT, correlationId INT,"
      " globalTid INT, overheadType INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (10, 15, 20, 7, 8), (20, 25, 21, 7, 3)");
  ASSERT_EQ(steps.full.size(), 1u);
  EXPECT_EQ(steps.full[0].start_ns, 10u);
  EXPECT_EQ(steps.full[0].end_ns, 15u);
  EXPECT_EQ(steps.full[0].correlation, 1020u);
}

TEST_F(NsysWaitsOf, MemoryHasTheNumbersThatTheFileSays) {
  read(
      "CREATE TABLE ENUM_CUDA_MEM_KIND (id INT, name TEXT);"
      "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN'),"
      "(1, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE'), (3, 'CUDA_MEMOPR_MEMORY_KIND_PINNED'),"
      "(5, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC')");
  using enum HostMemory;
  EXPECT_EQ(memory, (std::map<std::uint64_t, HostMemory>{
                        {0, unknown}, {1, pageable}, {3, pinned}, {5, managed}}));
}

}  // namespace
}  // namespace gable
