// SPDX-License-Identifier: Apache-2.0
// What `gable doctor` says about machines: the playback GPU in good health and with faults, this
// one, and chips that only CUPTI knows.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/tools/doctor/doctor_run.h"

#if GABLE_HAVE_INJECT

#include "collector/cupti/cupti_advice.h"

namespace gable::tests {
namespace {

TEST(Doctor, FindsNothingWrongWithAHealthyMachine) {
  const Ran ran = doctor_on("");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out.rfind("[playback] ", 0), 0U);
  EXPECT_EQ(row_of(ran.out, "library"), std::string("library ready ") + GABLE_LIBRARY);
  EXPECT_EQ(row_of(ran.out, "driver").rfind("driver ready for programs up to CUDA 1", 0), 0U);
  EXPECT_NE(row_of(ran.out, "CUPTI").find("/playback/libcupti.so.13 (CUDA 1"), std::string::npos);
  EXPECT_EQ(row_of(ran.out, "libnvperf"),
            "libnvperf ready libnvperf_host.so and libnvperf_target.so beside it");
  EXPECT_EQ(row_of(ran.out, "device"),
            "device ready 0: Playback H200, GH100, compute capability 9.0, 132 SMs, 151 GB");
  EXPECT_EQ(row_of(ran.out, "counters"), "counters ready permitted on device 0");
  for (const char* phase : {"hw:1..4", "flops", "time"}) {
    EXPECT_EQ(row_of(ran.out, phase).rfind(std::string(phase) + " ready ", 0), 0U) << ran.out;
  }
  EXPECT_NE(ran.out.find("\nEverything works here.\n"), std::string::npos);
  expect_narrow(ran.out);
}

TEST(Doctor, NamesTheRemedyWhereCountersAreReserved) {
  const Ran ran = doctor_on(R"({"fault": "no_permission"})");
  EXPECT_EQ(ran.code, 1);
  const std::string row = row_of(ran.out, "counters");
  EXPECT_EQ(row.rfind("counters limited ", 0), 0U) << ran.out;
  EXPECT_NE(row.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos) << row;
  EXPECT_EQ(row_of(ran.out, "hw:1..4"), "hw:1..4 missing does not run here: see counters");
  EXPECT_EQ(row_of(ran.out, "flops"), "flops missing does not run here: see counters");
  EXPECT_EQ(row_of(ran.out, "time").rfind("time ready ", 0), 0U) << ran.out;
  expect_narrow(ran.out);
}

TEST(Doctor, SaysWhoMayHoldTheCounters) {
  const Ran ran =
      doctor_on(R"({"fault": "call", "call": "cuptiRangeProfilerStart", "code": 26, "after": 0})");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(row_of(ran.out, "counters").find("dcgmi profile --pause"), std::string::npos)
      << ran.out;
}

TEST(Doctor, ADriverWithoutAGpuIsSaid) {
  const Ran ran = doctor_on(R"({"fault": "call", "call": "cuInit", "code": 100, "after": 0})");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(row_of(ran.out, "driver").find("CUDA_VISIBLE_DEVICES"), std::string::npos) << ran.out;
  EXPECT_EQ(row_of(ran.out, "time"), "time missing does not run here: see driver");
}

TEST(Doctor, AnotherToolsInjectionIsSaidAndNotLoaded) {
  const Ran ran = doctor_on("", "CUDA_INJECTION64_PATH=/opt/other/libTool.so");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(row_of(ran.out, "injection").find("/opt/other/libTool.so"), std::string::npos);
  EXPECT_NE(row_of(ran.out, "time").find("see injection"), std::string::npos) << ran.out;
}

TEST(Doctor, IsNotProfiledItself) {
  // What `eval "$(gable env)"` leaves; the loader tells what it opened.
  const std::string own = GABLE_LIBRARY;
  const Ran ran = doctor_on(
      "", "LD_DEBUG=files CUDA_INJECTION64_PATH=" + own + " NVTX_INJECTION64_PATH=" + own);
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_EQ(row_of(ran.out, "injection"), "");
  EXPECT_NE(ran.err.find("/playback/libcuda.so.1"), std::string::npos);
  EXPECT_EQ(ran.err.find("libgable_inject"), std::string::npos);
}

TEST(Doctor, WithoutADriverPointsToThePlaybackGpu) {
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr) {
    GTEST_SKIP() << "this machine has a driver";
  }
  const Ran ran = run_gable("doctor");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(row_of(ran.out, "driver").rfind("driver missing No NVIDIA driver is installed", 0), 0U)
      << ran.out;
  EXPECT_EQ(row_of(ran.out, "device"), "device unknown There is no driver to ask.");
  EXPECT_EQ(row_of(ran.out, "time"), "time missing does not run here: see driver");
  EXPECT_NE(ran.out.find("\nNext: gable profile --playback REC "), std::string::npos);
  expect_narrow(ran.out);
}

TEST(Doctor, TellsTheToolkitOfACupti) {
  const std::map<std::uint32_t, std::string> releases = {{0, "an unknown CUDA release"},
                                                         {18, "CUDA 12.1 or older"},
                                                         {20, "CUDA 12.2"},
                                                         {24, "CUDA 12.6"},
                                                         {28, "CUDA 12.9"},
                                                         {130001, "CUDA 13.0"},
                                                         {130500, "CUDA 13.5"}};
  for (const auto& [version, release] : releases) EXPECT_EQ(cuda_release(version), release);
}

TEST(Doctor, ACuptiThatIsNotThereIsOneSentence) {
  const Ran ran = run_gable("doctor --chip GH100 --cupti /nonexistent/libcupti.so.13");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("gable: The CUPTI asked for could not be opened (", 0), 0U) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
}

TEST(Doctor, ACuptiThatListsNoChipsIsSaid) {
  const Ran ran = doctor_on(
      R"({"fault": "call", "call": "cuptiProfilerHostGetSupportedChips", "code": 999, "after": 0})",
      {}, "--chip GH100");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find(" does not list its chips here, "), std::string::npos) << ran.err;
}

#ifdef GABLE_CUPTI_LIBRARY  // the toolkit's own, which needs no GPU for this

Ran real_doctor(const std::string& chip) {
  return run_gable("doctor --cupti '" GABLE_CUPTI_LIBRARY "' --chip " + chip);
}

TEST(DoctorChip, PrintsEveryPassWithItsMetrics) {
  const Ran ran = real_doctor("GH100");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind("GH100: 5 passes, each in windows of its own, as planned by", 0), 0U)
      << ran.out;
  std::map<std::string, std::set<std::string>> metrics;
  std::string phase;
  for (const std::string& line : lines_of(ran.out)) {
    std::smatch row;
    if (!std::regex_match(line, row, std::regex("(\\S+)? +(\\w+__\\w+\\.\\w+)  +(\\S.*)")))
      continue;
    if (row[1].length() > 0) phase = row[1];
    metrics[phase].insert(row[2]);
    EXPECT_NE(row[3], "-") << line;
  }
  ASSERT_EQ(metrics.size(), 5U) << ran.out;
  for (const char* group : {"hw:1", "hw:2", "hw:3", "hw:4"}) {
    EXPECT_EQ(metrics[group].count("dram__sectors_read.sum"), 1U) << ran.out;
    EXPECT_EQ(metrics[group].count("dram__sectors_write.sum"), 1U) << ran.out;
  }
  for (const char* op : {"fadd", "fmul", "ffma"}) {
    EXPECT_EQ(metrics["flops"].count("smsp__sass_thread_inst_executed_op_" + std::string(op) +
                                     "_pred_on.sum"),
              1U)
        << ran.out;
  }
}

TEST(DoctorChip, FitsTheTerminal) {
  for (const char* chip : {"TU102", "GA100", "AD102", "GB100", "GB202"}) {
    const Ran ran = real_doctor(chip);
    EXPECT_EQ(ran.code, 0) << chip << ran.err;
    expect_narrow(ran.out);
  }
}

TEST(DoctorChip, SaysWhatAChipCannotCount) {
  const Ran ran = real_doctor("GA10B");  // no memory of its own
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("\nNot counted on this chip: DRAM bytes read, DRAM bytes written"),
            std::string::npos)
      << ran.out;
}

TEST(DoctorChip, IsHonestAboutChipsThatOnlyCuptiPlansFor) {
  EXPECT_NE(real_doctor("GV100").out.find("Only the phase time runs there."), std::string::npos);
}

TEST(DoctorChip, TakesSmallLetters) {
  EXPECT_EQ(real_doctor("gh100").out, real_doctor("GH100").out);
}

TEST(DoctorChip, AnUnknownOneNamesTheValidOnes) {
  const Ran ran = real_doctor("H100");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("gable: There is no chip 'H100' in this CUPTI; --chip takes one of ", 0),
            0U)
      << ran.err;
  for (const char* chip : {"GA100", "GH100", "GB100"}) {
    EXPECT_NE(ran.err.find(chip), std::string::npos) << ran.err;
  }
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
}

#endif  // GABLE_CUPTI_LIBRARY

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
