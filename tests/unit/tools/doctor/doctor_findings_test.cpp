// SPDX-License-Identifier: Apache-2.0
// What `gable doctor` finds on machines that differ from the playback GPU's in one thing.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/unit/tools/doctor/doctor_run.h"

#if GABLE_HAVE_INJECT
#include "tools/doctor/doctor_findings.h"

namespace gable::tests {
namespace {

std::string with_code(int code) {
  return R"({"fault": "call", "call": "cuInit", "code": )" + std::to_string(code) + "}";
}

void expect_row(const Ran& ran, const std::string& part, const std::string& begin) {
  EXPECT_EQ(row_of(ran.out, part).rfind(part + " " + begin, 0), 0U) << begin << "\n" << ran.out;
}

TEST(DoctorFindings, ADriverThatDoesNotStartIsSaidByItsError) {
  const std::pair<int, const char*> kErrors[] = {
      {100, "CUDA_VISIBLE_DEVICES"}, {34, "stub"}, {803, "reboot"}, {999, "error 999;"}};
  for (const auto& [code, word] : kErrors) {
    const Ran ran = doctor_on(with_code(code));
    expect_row(ran, "driver", "limited ");
    EXPECT_NE(row_of(ran.out, "driver").find(word), std::string::npos) << ran.out;
    expect_row(ran, "device", "unknown There is no driver to ask.");
    EXPECT_EQ(row_of(ran.out, "counters"), "");
    for (const char* phase : {"hw", "flops", "time"})
      expect_row(ran, phase, "missing does not run here: see driver");
  }
}

TEST(DoctorFindings, ACuptiMayBeAsNewAsTheDriver) {
  const std::pair<const char*, const char*> kDrivers[] = {{"13000", "for programs up to CUDA 13.0"},
                                                          {"13010", "for programs up to CUDA 13.1"},
                                                          {"14000", "for programs up to CUDA 14.0"},
                                                          {"0", "found"}};
  for (const auto& [version, said] : kDrivers) {
    const Ran ran = doctor_on("", std::string("GABLE_PLAYBACK_DRIVER=") + version, "");
    expect_row(ran, "driver", std::string("ready ") + said);
    expect_row(ran, "CUPTI", "ready ");
    EXPECT_NE(row_of(ran.out, "CUPTI").find("libcupti.so.13 (CUDA 13.0, API 130001)"),
              std::string::npos)
        << ran.out;
  }
}

TEST(DoctorFindings, ACuptiThatIsNewerThanTheDriverIsALimit) {
  const Ran ran = doctor_on("", "GABLE_PLAYBACK_DRIVER=12040");
  expect_row(ran, "driver", "ready for programs up to CUDA 12.4");
  expect_row(ran, "CUPTI", "limited ");
  const std::string row = row_of(ran.out, "CUPTI");
  EXPECT_NE(row.find("than the driver supports (CUDA 12.4): "), std::string::npos) << row;
  EXPECT_NE(row.find("of CUDA 12."), std::string::npos) << row;
  EXPECT_EQ(ran.code, 1);
}

TEST(DoctorFindings, ACuptiOfCuda12IsNotNewerThanItsDriver) {
  const Ran ran = doctor_on("", "GABLE_PLAYBACK_DRIVER=12040 GABLE_PLAYBACK_SWITCHES=cupti=12.8");
  expect_row(ran, "CUPTI", "ready ");
}

TEST(DoctorFindings, EveryDeviceHasARow) {
  const Ran ran =
      doctor_on(R"({"device": 1, "name": "Small", "chip": "GH100", "compute_capability": [8, 9], )"
                R"("sm_count": 1, "memory_bytes": 1000})"
                "\n"
                R"({"device": 2, "name": "Bare", "chip": "GH100", "compute_capability": [0, 0], )"
                R"("memory_bytes": 0})");
  EXPECT_EQ(row_of(ran.out, "device").rfind("device ready 0: Playback H200, GH100", 0), 0U);
  for (const char* row : {"ready    1: Small, GH100, compute capability 8.9, 1 SMs, 1.00 kB\n",
                          "ready    2: Bare, GH100, 132 SMs\n", "ready    permitted on device 0\n",
                          "ready    permitted on device 1\n"})
    EXPECT_NE(ran.out.find(row), std::string::npos) << row << ran.out;
  EXPECT_EQ(row_of(ran.out, "vGPU"), "");
}

TEST(DoctorFindings, AnythingThatIsNotReadyIsALimit) {
  for (const State state : {State::limited, State::missing, State::unknown}) {
    Examination part, phase;
    part.parts = {{"a", State::ready, ""}, {"b", state, ""}};
    phase.phases = part.parts;
    EXPECT_TRUE(part.limited());
    EXPECT_TRUE(phase.limited());
  }
  Examination good;
  EXPECT_FALSE(good.limited());
  good.parts = good.phases = {{"a", State::ready, ""}};
  EXPECT_FALSE(good.limited());
}

TEST(DoctorFindings, StatesAndVersionsAreWords) {
  EXPECT_STREQ(to_string(State::ready), "ready");
  EXPECT_STREQ(to_string(State::limited), "limited");
  EXPECT_STREQ(to_string(State::missing), "missing");
  EXPECT_STREQ(to_string(State::unknown), "unknown");
  CuptiApi api;
  api.version = 130001;
  EXPECT_EQ(version_of(api), "CUDA 13.0, API 130001");
  api.version = 1;
  EXPECT_NE(version_of(api).find(", API 1"), std::string::npos);
  api.version = 0;
  EXPECT_EQ(version_of(api).find("API"), std::string::npos);
}

TEST(DoctorFindings, AVirtualGpuNeedsTheHost) {
  const Ran ran =
      doctor_on("", "", "", R"({"device": 0, "name": "NVIDIA A100-4C", "chip": "GA100"})");
  expect_row(ran, "vGPU", "ready Device 0 ");
  EXPECT_NE(row_of(ran.out, "vGPU").find("enable_profiling=1"), std::string::npos) << ran.out;
}

TEST(DoctorFindings, WithoutItsEngineCuptiTakesNothing) {
  for (const auto& [code, time] : {std::pair{15, "missing does not run here: see counters"},
                                   {999, "missing does not run here: see counters"},
                                   {35, "ready "}}) {
    const Ran ran = doctor_on(R"({"fault": "call", "call": "cuptiProfilerInitialize", "code": )" +
                              std::to_string(code) + "}");
    expect_row(ran, "counters", "limited ");
    expect_row(ran, "hw", "missing does not run here: see counters");
    expect_row(ran, "time", time);
  }
}

// A copy of the playback CUPTI alone.
TEST(DoctorFindings, TheLibrariesBesideCuptiAreLookedFor) {
  const std::filesystem::path folder = temporary_folder(), from = GABLE_PLAYBACK_FOLDER;
  std::filesystem::copy_file(from / "libcupti.so.13", folder / "libcupti.so.13");
  const std::string more = "--cupti '" + (folder / "libcupti.so.13").string() + "'";
  const Ran both = doctor_on("", "", more);
  EXPECT_NE(row_of(both.out, "libnvperf").find("libnvperf_host.so and libnvperf_target.so"),
            std::string::npos)
      << both.out;
  std::filesystem::copy_file(from / "libnvperf_host.so", folder / "libnvperf_host.so");
  const Ran one = doctor_on("", "", more);
  EXPECT_EQ(row_of(one.out, "libnvperf").find("libnvperf_host.so and"), std::string::npos);
  EXPECT_NE(row_of(one.out, "libnvperf").find("libnvperf_target.so"), std::string::npos);
}

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
