// SPDX-License-Identifier: Apache-2.0
// To whom the driver gives counters, as files and variables tell: no GPU is needed to say it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT
#include "tools/doctor/doctor_rights.h"

namespace gable::tests {
namespace {

constexpr const char* kNone = "0000000000000000";
constexpr const char *kAdmin = "0000000000200000", *kPerfmon = "0000004000000000";

class DoctorRights : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(root_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void machine(const std::string& reserved, const std::string& capabilities,
               const std::string& driver = "580.65.06") {
    write("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: " +
                                           reserved + "\nDmaRemapPeerMmio: 1\n");
    write("proc/self/status",
          "Name:\tgable\nCapPrm:\t" + std::string(kNone) + "\nCapEff:\t" + capabilities + "\n");
    write("proc/driver/nvidia/version",
          "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + driver + "  Sun Jul 20 2025\n");
  }
  [[nodiscard]] std::string said() const {
    std::string text;
    for (const Finding& one : examine_rights({root_, [this](const char* name) {
                                                const auto found = variables_.find(name);
                                                return found == variables_.end() ? std::string()
                                                                                 : found->second;
                                              }}))
      text += one.part + " " + to_string(one.state) + " " + one.text + "\n";
    return text;
  }
  void expect(const std::string& part) const {
    EXPECT_NE(said().find(part), std::string::npos) << said();
  }

  const std::string root_ = temporary_folder();
  std::map<std::string, std::string> variables_;
};

TEST_F(DoctorRights, WithoutADriverNothingIsSaid) { EXPECT_EQ(said(), ""); }

TEST_F(DoctorRights, OpenToAll) {
  machine("0", kNone);
  EXPECT_EQ(said(), "rights ready Counters are open to every user.\n");
}

TEST_F(DoctorRights, TheAdministratorHasThem) {
  machine("1", kAdmin);
  expect(
      "rights ready Counters are reserved for the administrator, and this user has CAP_SYS_ADMIN.");
}

TEST_F(DoctorRights, PerfmonIsEnoughForNewDriversAlone) {
  machine("1", kPerfmon, "565.57.01");
  expect("rights ready");
  machine("1", kPerfmon, "550.54.14");
  expect("rights limited");
}

TEST_F(DoctorRights, ADriverThatSaysNothingIsNotOpen) {
  machine("", kNone);
  EXPECT_EQ(said(), "");
  write("proc/driver/nvidia/params", "Other: 1\nXRmProfilingAdminOnly: 1\n");
  EXPECT_EQ(said(), "");
}

TEST_F(DoctorRights, TheBranchOfTheDriverStandsAfterAnyKernelModule) {
  const auto open = [this](const std::string& number) {
    machine("1", kPerfmon);
    write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64 " +
                                            number + "  Release Build\n");
  };
  open("565.57.01");
  expect("rights ready");
  expect("is enough from driver 565 on");
  open("564.99.01");
  expect("rights limited");
  write("proc/driver/nvidia/version", "NVRM version: 570\n");
  expect("rights limited");
}

TEST_F(DoctorRights, WhatToDoDependsOnThePlaceAndTheDriver) {
  machine("1", kNone, "565.57.01");
  write(".dockerenv", "");
  expect("--cap-add=SYS_ADMIN or --cap-add=PERFMON");
  variables_["SINGULARITY_CONTAINER"] = "/image.sif";
  expect("A container of Apptainer has the rights of its user");
  variables_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  expect("add PERFMON or SYS_ADMIN to securityContext.capabilities");
  expect("NVreg_RestrictProfilingToAdminUsers=0; docs/administrators.md says how.");
}

TEST_F(DoctorRights, WhatToDoDependsOnThePlace) {
  machine("1", kNone);
  expect("(RmProfilingAdminOnly is 1 in /proc/driver/nvidia/params). Run as root, or");
  write("run/.containerenv", "");
  expect("--cap-add=SYS_ADMIN or --cap-add=PERFMON");
  machine("1", kNone, "550.54.14");
  expect("Start this container with --cap-add=SYS_ADMIN, or have the host");
  variables_["APPTAINER_CONTAINER"] = "/image.sif";
  expect("A container of Apptainer has the rights of its user");
  variables_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  expect("add SYS_ADMIN to securityContext.capabilities");
}

TEST_F(DoctorRights, PartsOfAGpu) {
  variables_["NVIDIA_VISIBLE_DEVICES"] = "MIG-5c6f7a08-0000-5000-8000-000000000000";
  expect("MIG ready NVIDIA_VISIBLE_DEVICES names a part of a GPU.");
  variables_.clear();
  for (const char* whole : {"0,1", "GPU-1,MIG-2", "1MIG-2"}) {
    variables_["CUDA_VISIBLE_DEVICES"] = whole;
    EXPECT_EQ(said(), "") << whole;
  }
  variables_["CUDA_VISIBLE_DEVICES"] = "MIG-5c6f7a08";
  expect("MIG ready CUDA_VISIBLE_DEVICES names a part of a GPU.");
}

TEST_F(DoctorRights, NotSharedByWhatOnlyLooksLikeMps) {
  write("proc/77/comm", "my-nvidia-cuda-mps\n");
  write("proc/self/comm", "nvidia-cuda-mps\n");
  EXPECT_EQ(said(), "");
}

TEST_F(DoctorRights, AreThoseOfThisMachineHere) {
  const Surroundings here = Surroundings::here();
  EXPECT_EQ(here.root, "/");
  setenv("GABLE_TEST_HERE", "yes", 1);
  EXPECT_EQ(here.variable("GABLE_TEST_HERE"), "yes");
  unsetenv("GABLE_TEST_HERE");
  EXPECT_EQ(here.variable("GABLE_TEST_HERE"), "");
}

TEST_F(DoctorRights, SharedByMps) {
  write("proc/77/comm", "nvidia-cuda-mps\n");
  expect("MPS limited MPS runs here: CUPTI takes no counters");
  variables_["CUDA_MPS_PIPE_DIRECTORY"] = "/tmp/mps";
  expect("MPS limited CUDA_MPS_PIPE_DIRECTORY is set");
}

TEST_F(DoctorRights, VirtualGpus) {
  for (const char* name : {"NVIDIA A100-4C", "GRID T4-16Q", "NVIDIA L40S-48A"})
    EXPECT_TRUE(is_virtual_gpu(name)) << name;
  for (const char* name : {"NVIDIA A100-SXM4-80GB", "NVIDIA A100-PCIE-40GB", "Tesla V100-SXM2-16GB",
                           "NVIDIA H100 80GB HBM3", "Playback H200", "", "X-C", "X-12", "X-1CQ"})
    EXPECT_FALSE(is_virtual_gpu(name)) << name;
}

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT
