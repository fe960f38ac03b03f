// SPDX-License-Identifier: Apache-2.0
// CUPTIs and drivers that end the process that asks them, and what else keeps them from answering.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/tools/doctor/doctor_run.h"

#if GABLE_HAVE_INJECT
#include "tools/base/wrong_use.h"
#include "tools/doctor/doctor_elsewhere.h"

namespace gable::tests {
namespace {

std::string dying(int signal) { return "GABLE_TEST_SIGNAL=" + std::to_string(signal); }

TEST(DoctorElsewhere, ADriverThatEndsItsProcessIsSaid) {
  const std::string folder = temporary_folder();
  std::filesystem::create_symlink(GABLE_DYING_LIBRARY, folder + "/libcuda.so.1");
  const auto row = [&folder](int signal) {
    const Ran ran = run_gable("doctor", "LD_LIBRARY_PATH='" + folder + "' " + dying(signal));
    EXPECT_EQ(ran.code, 1) << ran.err;
    return row_of(ran.out, "driver");
  };
  const std::string ended = row(SIGKILL), slow = row(SIGALRM);
  EXPECT_EQ(ended.rfind("driver missing ", 0), 0U) << ended;
  EXPECT_NE(ended.find("(signal 9); does nvidia-smi work here?"), std::string::npos) << ended;
  EXPECT_EQ(slow.find("signal"), std::string::npos) << slow;
  EXPECT_NE(slow.find(" within 120 s; "), std::string::npos) << slow;
}

TEST(DoctorElsewhere, ACuptiThatEndsItsProcessWhileItIsOpenedIsNamed) {
  const std::string folder = temporary_folder(), cupti = folder + "/libcupti.so.13";
  std::filesystem::create_symlink(GABLE_DYING_LIBRARY, cupti);
  const Ran asked = run_gable("doctor --cupti '" + cupti + "'", dying(SIGSEGV));
  EXPECT_EQ(asked.code, 1) << asked.err;
  const std::string row = row_of(asked.out, "CUPTI");
  EXPECT_NE(row.find(cupti + " ended the process that asked it (signal 11)"), std::string::npos)
      << asked.out;
  // Of those that were found the next one answers.
  const Ran found = run_gable("doctor", "LD_LIBRARY_PATH='" + folder + "' " + dying(SIGSEGV));
  EXPECT_NE(found.out.find("libcupti.so.13 ended the process that asked it"), std::string::npos)
      << found.out;
}

TEST(DoctorElsewhere, TellsEverythingThatWasFound) {
  // In a process of its own, as the driver stays loaded.
  const auto end = ask_elsewhere(
      [](const Tell& tell) {
        unsetenv("CUDA_INJECTION64_PATH");
        unsetenv("GABLE_PLAYBACK");
        const auto driver = std::string(GABLE_PLAYBACK_FOLDER) + "/libcuda.so.1";
        if (dlopen(driver.c_str(), RTLD_NOW) == nullptr) return 3;
        const Examination found = examine_elsewhere(GABLE_PLAYBACK_FOLDER "/libcupti.so.13");
        for (const auto* list : {&found.parts, &found.phases})
          for (const Finding& one : *list)
            tell(one.part + "|" + to_string(one.state) + "|" + one.text + "\n");
        return found.has_gpu ? 10 : 11;
      },
      60);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 10);
  for (const char* line : {"libnvperf|ready|libnvperf_host.so and libnvperf_target.so beside it\n",
                           "counters|ready|permitted on device 0\n",
                           "\nhw:1..4|ready|DRAM, L2 and L1 bytes, tensor-core operations\n"
                           "flops|ready|FP64, FP32 and FP16 operations\n"
                           "time|ready|kernel and copy times without counters\n"})
    EXPECT_NE(end.told.find(line), std::string::npos) << end.told;
  EXPECT_EQ(end.told.rfind("library|", 0), 0U) << end.told;
}

// The exit code of a plan, and what was said.
std::string planned(const std::string& cupti, const PlanQuestion& plan) {
  testing::internal::CaptureStderr();
  const int code = plan_elsewhere(cupti, plan);
  return std::to_string(code) + " " + testing::internal::GetCapturedStderr();
}

TEST(DoctorPlanElsewhere, ACuptiThatIsNotThereIsTheReason) {
  const std::string said =
      planned("/gable/no/libcupti.so.13", [](const CuptiApi&, const auto&) { return 0; });
  EXPECT_EQ(said.rfind("1 gable: The CUPTI asked for could not be opened (", 0), 0U) << said;
}

#ifdef GABLE_CUPTI_LIBRARY  // the toolkit's own, which needs no GPU for this

TEST(DoctorPlanElsewhere, TheAnswerIsThatOfThePlan) {
  for (const int code : {0, 1, 7, 63, 65})
    EXPECT_EQ(planned(GABLE_CUPTI_LIBRARY, [code](const CuptiApi&, const auto&) { return code; }),
              std::to_string(code) + " ");
  EXPECT_EQ(planned(GABLE_CUPTI_LIBRARY,
                    [](const CuptiApi&, const auto&) -> int { throw WrongUse("No such chip."); }),
            "2 gable: No such chip.\n");
}

TEST(DoctorPlanElsewhere, NoAnswerIsALimit) {
  const std::string silent =
      planned(GABLE_CUPTI_LIBRARY, [](const CuptiApi&, const auto&) { return kNoAnswer; });
  EXPECT_EQ(silent.rfind("1 gable: The CUPTI " GABLE_CUPTI_LIBRARY " ", 0), 0U) << silent;
  EXPECT_NE(silent.find("does not list its chips here"), std::string::npos) << silent;
}

TEST(DoctorPlanElsewhere, APlanThatIsUnderWayGetsMoreTime) {
  EXPECT_EQ(planned(GABLE_CUPTI_LIBRARY,
                    [](const CuptiApi&, const std::function<void()>& under_way) {
                      alarm(0);
                      under_way();
                      return alarm(0) > 0 ? 3 : 4;
                    }),
            "3 ");
}

TEST(DoctorPlanElsewhere, ACuptiThatEndsItsProcessIsTheReason) {
  for (const int signal : {SIGKILL, SIGALRM}) {
    const std::string said = planned(
        GABLE_CUPTI_LIBRARY, [signal](const CuptiApi&, const auto&) { return std::raise(signal); });
    EXPECT_EQ(said.rfind("1 gable: The CUPTI " GABLE_CUPTI_LIBRARY " ", 0), 0U) << said;
    EXPECT_NE(said.find(signal == SIGALRM ? "within 120 s, as some" : "(signal 9), as some"),
              std::string::npos)
        << said;
  }
}

#endif  // GABLE_CUPTI_LIBRARY

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
