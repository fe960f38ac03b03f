// SPDX-License-Identifier: Apache-2.0
// Who may hold the counters, among processes that come and go while they are looked at.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT
#include "tools/doctor/doctor_holders.h"

namespace gable::tests {
namespace {

TEST(DoctorHolder, AProcessThatEndsMeanwhileIsNone) {
  const std::filesystem::path proc = temporary_folder() + "/proc";
  std::filesystem::create_directories(proc / "21");
  std::filesystem::create_directories(proc / "22/cmdline");  // it opens, and reading it fails
  std::ofstream(proc / "21/cmdline") << "/usr/bin/nv-hostengine";
  const auto holders = running_holders("", proc.string());
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders.front().pid, 21);
}

// A folder as /proc is, of processes that are made up.
class DoctorHolders : public testing::Test {
 protected:
  void process(const std::string& number, const std::string& command,
               const std::string& environment = "", const std::string& maps = "") {
    const std::filesystem::path folder = proc_ / number;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "cmdline") << command;
    std::ofstream(folder / "environ") << environment;
    std::ofstream(folder / "maps") << maps;
  }
  [[nodiscard]] std::string found(const std::string& library = "/ours.so") const {
    return described(running_holders(library, proc_.string()));
  }

  const std::filesystem::path proc_ = temporary_folder() + "/proc";
};

// The parts of a file of /proc end with a zero.
std::string parts(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += one + '\0';
  return text;
}

TEST_F(DoctorHolders, AreNamedByTheirProgramInTheOrderOfTheirNumbers) {
  EXPECT_EQ(found(), "");
  process("130", parts({"/opt/nvidia/ncu", "--set", "full"}));
  process("14", "nv-hostengine");
  process("9", parts({"/usr/bin/python3", "/opt/ncu"}));
  process("10", parts({"/usr/bin/ncu2"}));
  process("11x", parts({"ncu"}));
  process("self", parts({"ncu"}));
  process(std::to_string(getpid()), parts({"ncu"}));
  const std::string text = found();
  EXPECT_EQ(
      text.rfind("nv-hostengine (process 14): DCGM takes counters: `dcgmi profile --pause`", 0), 0U)
      << text;
  EXPECT_NE(text.find("; ncu (process 130): "), std::string::npos) << text;
  EXPECT_EQ(text.find("(process "), text.find("(process 14)")) << text;
  EXPECT_EQ(text.rfind("(process "), text.find("(process 130)")) << text;
}

TEST_F(DoctorHolders, AreProgramsIntoWhichALibraryIsInjected) {
  const std::string theirs = "CUDA_INJECTION64_PATH=/their.so", map = "7f00-7f01 r-xp /their.so\n";
  process("1", parts({"/bin/a"}), parts({"HOME=/", theirs, "PWD=/"}), map);
  process("2", parts({"b"}), parts({"HOME=/", theirs}), map);
  process("3", "c", "A=1" + std::string(1, '\0') + theirs, "first\n" + map);
  process("4", "handed_on", parts({theirs}), "7f00-7f01 r-xp /other.so\n");
  process("5", "without", parts({"HOME=/"}), map);
  process("6", "nothing", "", map);
  process("7", "other_name", parts({"MY_" + theirs}), map);
  process("8", "empty", parts({"CUDA_INJECTION64_PATH="}), map);
  process("11", "ours", parts({"CUDA_INJECTION64_PATH=/ours.so"}), "7f00-7f01 r-xp /ours.so\n");
  EXPECT_EQ(found(),
            "a (process 1): /their.so is injected into it; "
            "b (process 2): /their.so is injected into it; "
            "c (process 3): /their.so is injected into it");
}

TEST_F(DoctorHolders, OurLibraryIsOursByAnyName) {
  std::filesystem::create_directories(proc_);
  const std::string ours = (proc_ / "ours.so").string(), link = (proc_ / "link.so").string();
  std::ofstream(ours) << "library";
  std::filesystem::create_symlink(ours, link);
  process("1", "a", parts({"CUDA_INJECTION64_PATH=" + link}), link + "\n");
  EXPECT_EQ(found(ours), "");
  EXPECT_EQ(found("/gable/no/such.so"), "a (process 1): " + link + " is injected into it");
}

TEST_F(DoctorHolders, AreNoneWhereThereIsNoProc) {
  EXPECT_TRUE(running_holders("", (proc_ / "no").string()).empty());
}

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
