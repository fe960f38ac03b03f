// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/named_gpu.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/import/report/files.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

bool amd_by_its_kernels(const char* kernel) {
  Files files;
  files.timed("vector_add");
  files.timed(kernel);
  leave_out_foreign_gpus(files.imported);
  return files.imported.has_foreign_gpu;
}

TEST(ForeignGpus, KernelsOfAmdsLibrariesAreKnownByTheirNames) {
  for (const char* name : {"Cijk_Ailk_Bljk_SB", "__amd_rocclr_copyBuffer", "k.kd", "miopenGemm",
                           "MIOpenConv", "my_rocblas_gemm", "x_ck_tile::kentry"})
    EXPECT_TRUE(amd_by_its_kernels(name)) << name;
  for (const char* name : {"my_Cijk_", "x__amd_rocclr_", "k.kd2", "my_miopen", "rocblas", "MIO"})
    EXPECT_FALSE(amd_by_its_kernels(name)) << name;
}

DeviceInfo device(std::int32_t id, const char* name) {
  DeviceInfo device;
  device.id = id;
  device.name = name;
  device.compute_major = 9;
  device.compute_minor = 4;
  device.sm_count = 110;
  device.memory_clock_max_hz = 1'600'000'000;
  device.memory_bus_bits = 4096;
  device.memory_bytes = 64'000'000'000;
  return device;
}

Ceiling ceiling(std::int32_t device) {
  return {device, CeilingKind::memory, "dram", 1e12, "stated"};
}

TEST(ForeignGpus, WhatWouldBeTakenForNvidiasIsLeftOut) {
  Imported imported;
  imported.devices[0] = device(0, "AMD Instinct MI250X");
  imported.devices[1] = device(1, "NVIDIA H100 80GB HBM3");
  imported.devices[2] = device(2, "AMD Radeon Pro");
  imported.devices[3] = device(3, "AMD Instinct MI250X");
  for (const std::int32_t id : {0, 1, 2, 0}) imported.stated.push_back(ceiling(id));
  leave_out_foreign_gpus(imported);
  EXPECT_TRUE(imported.has_foreign_gpu);
  for (const std::int32_t id : {0, 2, 3}) {
    const DeviceInfo& amd = imported.devices[id];
    EXPECT_EQ(amd.compute_major, 0);
    EXPECT_EQ(amd.compute_minor, 0);
    EXPECT_EQ(amd.memory_clock_max_hz, 0u);
    EXPECT_EQ(amd.memory_bus_bits, 0u);
    EXPECT_EQ(amd.sm_count, 110);
    EXPECT_EQ(amd.memory_bytes, 64'000'000'000u);
  }
  EXPECT_EQ(imported.devices[0].name, "AMD Instinct MI250X");
  EXPECT_EQ(imported.devices[1].compute_major, 9);
  EXPECT_EQ(imported.devices[1].memory_bus_bits, 4096u);
  ASSERT_EQ(imported.stated.size(), 1u);
  EXPECT_EQ(imported.stated[0].device, 1);
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_EQ(Files::notes_with(imported.notes, {"(AMD Instinct MI250X, AMD Radeon Pro)"}), 1)
      << imported.notes[0];
}

TEST(ForeignGpus, ANameOfNvidiasGoesBeforeThoseOfKernels) {
  Files files;
  files.timed("Cijk_A");
  files.imported.devices[0] = device(0, "NVIDIA H100 80GB HBM3");
  leave_out_foreign_gpus(files.imported);
  EXPECT_FALSE(files.imported.has_foreign_gpu);
  EXPECT_TRUE(files.imported.notes.empty());
  EXPECT_EQ(files.imported.devices[0].compute_major, 9);
}

TEST(ForeignGpus, DevicesWithoutANameAreAmdsWhereKernelsAre) {
  Files files;
  ImportedKernel kernel = files.kernel("Cijk_A", 0, 1, Files::shape(4));
  for (const std::int32_t id : {0, 2}) {
    kernel.device = id;
    files.imported.kernels.add(kernel);
  }
  files.imported.devices[0] = device(0, "");
  files.imported.devices[1] = device(1, "NVIDIA H100 80GB HBM3");
  for (const std::int32_t id : {0, 1}) files.imported.stated.push_back(ceiling(id));
  leave_out_foreign_gpus(files.imported);
  EXPECT_EQ(files.imported.devices.at(0).name, "AMD GPU");
  EXPECT_EQ(files.imported.devices.at(0).compute_major, 0);
  EXPECT_EQ(files.imported.devices.at(1).name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(files.imported.devices.at(1).compute_major, 9);
  EXPECT_EQ(files.imported.devices.at(2).name, "AMD GPU");
  EXPECT_EQ(files.imported.devices.at(2).id, 2);
  ASSERT_EQ(files.imported.stated.size(), 1u);
  EXPECT_EQ(files.imported.stated[0].device, 1);
  EXPECT_EQ(Files::notes_with(files.imported.notes, {"AMD, by the names"}), 1);
}

TEST(ForeignGpus, ANamedOneSaysNothingOfThoseWithoutAName) {
  Files files;
  ImportedKernel kernel = files.kernel("Cijk_A", 0, 1, Files::shape(4));
  kernel.device = 5;
  files.imported.kernels.add(kernel);
  files.imported.devices[0] = device(0, "AMD Instinct MI250X");
  files.imported.devices[1] = device(1, "");
  leave_out_foreign_gpus(files.imported);
  EXPECT_EQ(files.imported.devices.at(1).name, "");
  EXPECT_EQ(files.imported.devices.at(1).compute_major, 9);
  EXPECT_EQ(files.imported.devices.at(5).name, "");
  EXPECT_EQ(files.imported.devices.at(5).id, 5);
}

TEST(ForeignGpus, OtherwiseNothingChanges) {
  Files files;
  files.timed("vector_add");
  leave_out_foreign_gpus(files.imported);
  EXPECT_FALSE(files.imported.has_foreign_gpu);
  EXPECT_TRUE(files.imported.notes.empty());
  EXPECT_TRUE(files.imported.devices.empty());
}

const GpuSpec& gpu(const char* name) {
  std::string error;
  const GpuSpec* found = find_gpu(name, error);
  if (found == nullptr) throw WrongUse(error);
  return *found;
}

std::string refusal(const GpuSpec& gpu, bool described, const DeviceInfo& device) {
  Imported imported;
  imported.devices[device.id] = device;
  try {
    name_gpu(gpu, described, imported);
  } catch (const WrongUse& problem) {
    return problem.what();
  }
  return {};
}

bool has(const std::string& text, std::initializer_list<const char*> pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](const char* piece) { return text.find(piece) != std::string::npos; });
}

DeviceInfo nameless(int major, int minor, int sms, std::uint64_t memory = 0) {
  DeviceInfo device;
  device.id = 3;
  device.compute_major = major;
  device.compute_minor = minor;
  device.sm_count = sms;
  device.memory_bytes = memory;
  return device;
}

TEST(NamedGpu, WhatTheFilesKnowSpeaksAgainstIt) {
  const GpuSpec& v100 = gpu("V100");  // 7.0, 80 SMs, 16 or 32 GB
  EXPECT_EQ(refusal(v100, false, nameless(7, 0, 80, 16'900'000'000)), "");
  EXPECT_EQ(refusal(v100, false, nameless(0, 0, 0)), "");
  EXPECT_TRUE(has(refusal(v100, false, nameless(8, 0, 80)),
                  {"Device 3", "8.0 in the files", "V100", "has 7.0"}));
  EXPECT_TRUE(has(refusal(v100, false, nameless(7, 5, 80)), {"7.5 in the files", "has 7.0"}));
  EXPECT_TRUE(has(refusal(v100, false, nameless(7, 0, 79)), {"79 SMs", "has 80"}));
  EXPECT_TRUE(has(refusal(v100, false, nameless(0, 0, 79)), {"79 SMs", "has 80"}));
  EXPECT_TRUE(has(refusal(v100, false, nameless(7, 0, 80, 40'000'000'000)), {"has another size"}));
  DeviceInfo other = nameless(7, 0, 80);
  other.name = "NVIDIA Tesla T4";
  EXPECT_TRUE(has(refusal(v100, false, other), {"Device 3", "is NVIDIA Tesla T4", "V100"}));
}

TEST(NamedGpu, ADescribedOneNeedsTheNumberOfSmsAlone) {
  GpuSpec mine;
  mine.name = "mine";
  mine.fp32 = 1;
  mine.sm_count = 80;
  DeviceInfo device = nameless(9, 0, 80, 1'000'000'000);
  device.name = "NVIDIA Tesla T4";
  EXPECT_EQ(refusal(mine, true, device), "");
  device.sm_count = 81;
  EXPECT_TRUE(has(refusal(mine, true, device), {"is NVIDIA Tesla T4", "mine"}));
  EXPECT_TRUE(has(refusal(mine, true, nameless(9, 0, 81)), {"81 SMs", "has 80"}));
  mine.sm_count = 0;
  EXPECT_EQ(refusal(mine, true, device), "");
  device.name = "AMD Instinct MI250X";
  EXPECT_NE(refusal(mine, true, device), "");
}

TEST(NamedGpu, ItsPeaksAreRoofsOfAllDevices) {
  Files files;
  ImportedKernel kernel = files.kernel("k", 0, 1, Files::shape(4));
  kernel.device = 1;
  files.imported.kernels.add(kernel);
  files.counted("k", 1);
  files.imported.counters[0].device = 2;
  const GpuSpec& v100 = gpu("V100");
  name_gpu(v100, false, files.imported);
  ASSERT_EQ(files.imported.devices.size(), 2u);
  for (const std::int32_t id : {1, 2}) {
    EXPECT_EQ(files.imported.devices.at(id).id, id);
    EXPECT_EQ(files.imported.devices.at(id).name, "V100-SXM2") << "the first of its boards";
  }
  const auto& stated = files.imported.stated;
  ASSERT_EQ(stated.size(), 14u) << "fp64, fp32, fp16, fp16_tensor, dram, pcie, nvlink of two";
  EXPECT_EQ(stated[0].device, 1);
  EXPECT_EQ(stated[11].device, 2);
  EXPECT_EQ(stated[11].name, "dram");
  EXPECT_EQ(stated[11].value, 900e9);
  EXPECT_EQ(stated[13].name, "nvlink");
  EXPECT_EQ(stated[13].value, 150e9);
  for (const std::size_t place : {11, 13})
    EXPECT_TRUE(has(stated[place].source, {"published peak of the V100 "})) << stated[place].source;
  EXPECT_TRUE(has(stated[11].source, {"theoretical: Tesla V100", "published peak of the V100 "}));
  EXPECT_TRUE(files.imported.gpu_is_named);
  EXPECT_EQ(Files::notes_with(files.imported.notes, {"named", "V100", "published", "data sheet"}),
            1);
}

TEST(NamedGpu, OneWithoutBoardsGivesItsName) {
  Imported imported;
  imported.devices[0].id = 0;
  GpuSpec plain;
  plain.name = "Z9";
  plain.fp32 = 2;
  name_gpu(plain, false, imported);
  EXPECT_EQ(imported.devices[0].name, "NVIDIA Z9");
}

TEST(NamedGpu, ADescribedOneLeavesNamesAlone) {
  Imported imported;
  imported.devices[0] = nameless(0, 0, 0);
  imported.devices[0].id = 0;
  imported.devices[1].id = 1;
  imported.devices[1].name = "Tesla V100-SXM2-16GB";
  GpuSpec mine;
  mine.name = "mine";
  mine.fp32 = 2;
  mine.source = "measured at home";
  name_gpu(mine, true, imported);
  EXPECT_EQ(imported.devices[0].name, "");
  ASSERT_EQ(imported.stated.size(), 2u);
  EXPECT_EQ(imported.stated[1].value, 2e12);
  EXPECT_TRUE(has(imported.stated[1].source, {"mine", "the user described"}));
  EXPECT_EQ(Files::notes_with(imported.notes, {"described", "mine", "its peaks", "measured"}), 1);
}

TEST(NamedGpu, AddsNothingToFilesThatNameThatBoard) {
  Imported imported;
  imported.devices[0].name = "Tesla V100-SXM2-16GB";
  name_gpu(gpu("V100"), false, imported);
  EXPECT_FALSE(imported.gpu_is_named);
  EXPECT_TRUE(imported.stated.empty());
  EXPECT_TRUE(imported.notes.empty());
  // One of two is enough to need it.
  imported.devices[1].id = 1;
  name_gpu(gpu("V100"), false, imported);
  EXPECT_TRUE(imported.gpu_is_named);
  EXPECT_EQ(imported.devices[0].name, "Tesla V100-SXM2-16GB");
}

}  // namespace
}  // namespace gable
