// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kinds/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gable {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view head;
  FileKind kind;
};

void expect_kinds(const std::vector<Case>& cases) {
  for (const Case& each : cases) EXPECT_EQ(kind_of_bytes(each.head), each.kind) << each.head;
}

TEST(FileKind, IsToldByTheFirstBytes) {
  expect_kinds({
      {"", FileKind::unknown},
      {"SQLite format 3\0"sv, FileKind::sqlite},
      {"SQLite format 3", FileKind::unknown},
      {"PK\x03\x04", FileKind::archive},
      {"\x28\xB5\x2F\xFD", FileKind::archive},
      {"\xFD\x37zXZ\0"sv, FileKind::archive},
      {"BZh9", FileKind::archive},
      {"\x1f\x8b", FileKind::archive},
      {"NVIDIA Tegra Profiler Report", FileKind::nsys_report},
      {"NVIDIA Tegra Profiler", FileKind::nsys_capture},
      {"QDSTRM", FileKind::nsys_capture},
      {"NVR\0"sv, FileKind::ncu_report},
      {"\x89HDF\r\n\x1a\n", FileKind::hdf5},
      {"PAR1", FileKind::parquet},
      {"ARROW1", FileKind::arrow},
      {"\xff\xff\xff\xff", FileKind::arrow},
  });
  EXPECT_EQ(kind_of_bytes(std::string(257, ' ') + "ustar"), FileKind::archive);
  EXPECT_EQ(kind_of_bytes(std::string(256, ' ') + "ustar"), FileKind::unknown);
  EXPECT_EQ(kind_of_bytes(std::string(258, ' ') + "ustar"), FileKind::unknown);
  EXPECT_EQ(kind_of_bytes(std::string(257, ' ')), FileKind::unknown);
}

TEST(FileKind, AnXPlaneFileBeginsWithANamedPlane) {
  expect_kinds({
      {"\x0a\x0d\x08\x01\x12\x09/host:CPU", FileKind::xplane},
      {"\x0a\x0b\x12\x09/host:CPU", FileKind::xplane},
      {"\x0a\x0b\x12\x0d/device:GPU:0", FileKind::xplane},
      {"\x0a\x81\x01\x08\x81\x01\x12\x01#", FileKind::xplane},
      {"\x0a\x01\x12\x10Task Environment", FileKind::xplane},
      {"\x0a\x01\x12\x02/x", FileKind::xplane},
      {"\x0a\x01\x12\x02/xyz", FileKind::xplane},
      {"\x0b\x01\x12\x02/x", FileKind::unknown},
      {"\x0a", FileKind::unknown},
      {"\x0a\x81", FileKind::unknown},
      {"\x0a\x01\x08", FileKind::unknown},
      {"\x0a\x01\x08\x81", FileKind::unknown},
      {"\x0a\x01\x13\x02/x", FileKind::unknown},
      {"\x0a\x01\x12", FileKind::unknown},
      {"\x0a\x01\x12\x00/x"sv, FileKind::unknown},
      {"\x0a\x01\x12\x03/x", FileKind::unknown},
      {"\x0a\x01\x12\x02x/", FileKind::unknown},
      {"\x0a\x01\x12\x02/\x01", FileKind::unknown},
      {"\x0a\x01\x12\x0fTask Environmen", FileKind::unknown},
  });
  const std::string longest = "/" + std::string(199, 'x');
  EXPECT_EQ(kind_of_bytes("\x0a\x01\x12\xc8\x01" + longest), FileKind::xplane);
  EXPECT_EQ(kind_of_bytes("\x0a\x01\x12\xc9\x01" + longest + "x"), FileKind::unknown);
}

TEST(FileKind, NcuIsToldByAnyOfItsLines) {
  expect_kinds({
      {"\"ID\",\"a\"", FileKind::ncu_csv},
      {"==PROF== Connected", FileKind::ncu_csv},
      {"==x\n\"ID\",\"a\"", FileKind::ncu_csv},
      {"a\n\n==PROF== x\n", FileKind::ncu_csv},
      {"a\"ID\",", FileKind::unknown},
      {"a\n ==PROF== x\n", FileKind::unknown},
      {"==PROF==x", FileKind::unknown},
  });
}

TEST(FileKind, ATraceIsToldByWhoWroteIt) {
  for (const char* key :
       {"\"schemaVersion\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\"", "\"cpu_op\"",
        "\"Operator\"", "\"user_annotation\"", "\"python_function\"", "\"cuda_runtime\"",
        "\"kernel\"", "\"Kernel\"", "ProfilerStep#", "\"/device:", "\"/host:", "\"hlo_module\""}) {
    EXPECT_EQ(kind_of_bytes(std::string("[{\"ph\"") + key), FileKind::trace) << key;
    EXPECT_EQ(kind_of_bytes(std::string("{\"traceEvents\"") + key), FileKind::trace) << key;
  }
  expect_kinds({
      {"{\"schemaVersion\":1", FileKind::trace},
      {"{\"deviceProperties\":1", FileKind::trace},
      {"{\"baseTimeNanoseconds\":1", FileKind::trace},
      {"{\"traceEvents\":[]}", FileKind::chrome_trace},
      {"{\"displayTimeUnit\":1", FileKind::chrome_trace},
      {"[{\"ph\":1", FileKind::chrome_trace},
      {"[{\"pi\":1", FileKind::unknown},
      {"[{\"ph\" \"NVTXRegions\"", FileKind::nsys_trace},
      {"[{\"ph\" \"cat\": \"cuda\" \"CUDA API ", FileKind::nsys_trace},
      {"[{\"ph\" \"cat\":\"cuda\" \"Device 0\"", FileKind::nsys_trace},
      {"[{\"ph\" \"cat\": \"nvtx\" \"NVTX ", FileKind::nsys_trace},
      {"[{\"ph\" \"cat\":\"nvtx\" \"NVTX ", FileKind::nsys_trace},
      {"[{\"ph\" \"cat\":\"nvtx\"", FileKind::chrome_trace},
      {"[{\"ph\" \"NVTX ", FileKind::chrome_trace},
      {"[{\"ph\" \"CPU HIP API\"", FileKind::rocprof},
      {"[{\"ph\" \"CPU HSA API\"", FileKind::rocprof},
  });
}

TEST(FileKind, JsonIsToldByItsKeys) {
  for (const char* key :
       {"\"NvtxEvent\"", "\"CudaEvent\"", "\"TraceProcessEvent\"", "\"GlobalProcessId\"",
        "\"CUPTI_ACTIVITY_", "\"StringIds\"", "\"globalTid\"", "\"GlobalTid\""})
    EXPECT_EQ(kind_of_bytes(std::string("{\"a\",") + key), FileKind::nsys_json) << key;
  expect_kinds({
      {"{\"message\":1}", FileKind::web_page},
      {"{ \n\"error\":1}", FileKind::web_page},
      {"{x\"error\":1}", FileKind::unknown},
      {"{\"rocprofiler-sdk-tool\"", FileKind::rocprof},
      {"{\"gable\":1,\"schema\":2}", FileKind::gable_report},
      {"{\"gable\":1}", FileKind::unknown},
      {"{\"schema\":1}", FileKind::unknown},
      {"{\"data\":[]", FileKind::nsys_json},
      {"{ \"data\":[]}\nx", FileKind::nsys_json},
      {"{\"data\":[\n]}", FileKind::unknown},
      {"{\"data\":[x\n}", FileKind::unknown},
      {"{\"other\":[]}", FileKind::unknown},
      {"{}", FileKind::unknown},
      {"[{\"frame\":1,\"metrics\":2}]", FileKind::hatchet},
      {"[{\"frame\":1,\"children\":2}]", FileKind::hatchet},
      {"[{\"frame\":1}]", FileKind::unknown},
      {"[{\"metrics\":1}]", FileKind::unknown},
      {"[{\"children\":1}]", FileKind::unknown},
      {" \t\n[{\"ph\":1", FileKind::chrome_trace},
      {"\xEF\xBB\xBF[{\"ph\":1", FileKind::chrome_trace},
      {"\xEF\xBB[{\"ph\":1", FileKind::unknown},
      {" ", FileKind::unknown},
  });
  // A server's answer is short.
  const std::string answer = "{\"message\":1";
  EXPECT_EQ(kind_of_bytes(answer + std::string(4095 - answer.size(), ' ')), FileKind::web_page);
  EXPECT_EQ(kind_of_bytes(answer + std::string(4096 - answer.size(), ' ')), FileKind::unknown);
}

TEST(FileKind, TextsOfOthersAreKnown) {
  expect_kinds({
      {"Time (%),Total Time (ns)", FileKind::nsys_summary},
      {" Time(%),Total Time (ns),x", FileKind::nsys_summary},
      {"version https://git-lfs.github.com/spec/v1", FileKind::lfs_pointer},
      {" \n<HTML>", FileKind::web_page},
      {"<!DocType html>", FileKind::web_page},
      {"<?xml", FileKind::web_page},
      {"<htm", FileKind::unknown},
      {"x<html", FileKind::unknown},
      {"==7== NVPROF is profiling process 7", FileKind::nvprof},
      {"a\n==7== NVPROF is profiling process 7\nb", FileKind::nvprof},
      {"a ==7== NVPROF is profiling process 7", FileKind::unknown},
      {"==7== NVPROF", FileKind::unknown},
      {"\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\"", FileKind::nvprof},
      {"Start,Duration,Grid X,", FileKind::nvprof},
      {"Type,Time(%),Time,Calls", FileKind::nvprof},
      {"x\n\"Time(%)\",\"Time\",\"Calls\",\"Avg\"\n", FileKind::nvprof},
      {"Index,KernelName,", FileKind::rocprof},
      {"Dispatch_ID,Kernel_Name,", FileKind::rocprof},
      {"Name,Calls,TotalDurationNs,", FileKind::rocprof},
      {"\"Kind\",\"Agent_Id\",", FileKind::rocprof},
      {"x\nCorrelation_Id,Dispatch_Id,\n", FileKind::rocprof},
      {"\n\nCodeObj,Vaddr,Instruction,", FileKind::rocprof},
      {"xIndex,KernelName,", FileKind::unknown},
      {"xStart,Duration,Grid X,", FileKind::unknown},
  });
}

}  // namespace
}  // namespace gable
