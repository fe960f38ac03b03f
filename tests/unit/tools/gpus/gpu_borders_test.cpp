// SPDX-License-Identifier: Apache-2.0
// Where a device stops being a board, and a name stops being one of ours.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <tuple>
#include <utility>

#include "tools/gpus/gpu_catalogue.h"
#include "tools/gpus/gpu_file.h"

namespace gable {
namespace {

// 100 SMs of 9.1, 80 or 40 GB at 1000 GB/s.
GpuSpec board() {
  GpuSpec gpu;
  gpu.name = "Z1";
  gpu.memory_gb = 80;
  gpu.memory_gb_too = 40;
  gpu.dram = 1000;
  gpu.boards = "Z1-SXM4|Board Z";
  gpu.family = "Z1";
  gpu.form = "SXM4";
  gpu.compute_major = 9;
  gpu.compute_minor = 1;
  gpu.sm_count = 100;
  return gpu;
}

TEST(GpuBorders, AttributesThatAreKnownMustFit) {
  const auto fits = [](auto change) {
    DeviceInfo device;
    device.name = "NVIDIA Z1-SXM4";
    change(device);
    return could_be(board(), device);
  };
  EXPECT_TRUE(fits([](DeviceInfo&) {}));
  EXPECT_TRUE(fits([](DeviceInfo& device) { device.sm_count = 100; }));
  EXPECT_FALSE(fits([](DeviceInfo& device) { device.sm_count = 101; }));
  for (const auto& [major, minor, same] : {std::tuple{9, 1, true}, {9, 0, false}, {8, 1, false}})
    EXPECT_EQ(fits([&](DeviceInfo& device) {
                device.compute_major = major;
                device.compute_minor = minor;
              }),
              same);
  for (const auto& [mb, same] : {std::pair{71'999, false},
                                 {72'000, true},
                                 {87'200, true},
                                 {87'201, false},
                                 {35'999, false},
                                 {36'000, true},
                                 {43'600, true},
                                 {43'601, false}})
    EXPECT_EQ(fits([&](DeviceInfo& device) { device.memory_bytes = mb * 1'000'000ull; }), same)
        << mb;
  // Twice the clock, 1000 bit: 250 byte a clock.
  for (const auto& [khz, same] :
       {std::pair{3'799'999, false}, {3'800'001, true}, {4'199'999, true}, {4'200'001, false}})
    EXPECT_EQ(fits([&](DeviceInfo& device) {
                device.memory_clock_max_hz = khz * 1000ull;
                device.memory_bus_bits = 1000;
              }),
              same)
        << khz;
  EXPECT_TRUE(fits([](DeviceInfo& device) { device.memory_clock_max_hz = 5; }));
}

TEST(GpuBorders, WhatABoardDoesNotSaySpeaksAgainstNothing) {
  GpuSpec gpu = board();
  gpu.sm_count = 0;
  gpu.compute_major = 0;
  DeviceInfo device;
  device.name = "NVIDIA Z1-SXM4";
  device.sm_count = 7;
  device.compute_major = 3;
  EXPECT_TRUE(could_be(gpu, device));
}

bool named(const char* name, const GpuSpec& gpu = board()) {
  DeviceInfo device;
  device.name = name;
  return could_be(gpu, device);
}

TEST(GpuBorders, NamesOfBoardsEndWhereTheyEnd) {
  for (const char* name : {"Z1-SXM4", "NVIDIA Z1-SXM4-80GB", "Board Z", "x Board Z-1", "", "NVIDIA",
                           "NVIDIA Graphics Device", "GPU"})
    EXPECT_TRUE(named(name)) << name;
  for (const char* name : {"Board Z2", "Board", "Boarding Z", "NVIDIA Y1", "Board Z Ti"})
    EXPECT_FALSE(named(name)) << name;
}

TEST(GpuBorders, OfAFamilySizeAndFormTell) {
  for (const char* name : {"Z1", "NVIDIA Z1 80GB", "Z1 40G", "Z1 SXM4 x", "Z1 (80GB)", "Z1 PG509",
                           "Z1 11111GB", "Z1 GB", "Z1 80TB", "z1"})
    EXPECT_TRUE(named(name)) << name;
  for (const char* name : {"Z1 64GB", "Z1 64G", "Z1 1111GB", "Z1 PCIE", "Z1 SXM5", "Z1 HBM3",
                           "Z1 MIG 1g.5gb", "Z1 NVL", "Z1 Max-Q", "Z1 Laptop", "Z10", "Z1x"})
    EXPECT_FALSE(named(name)) << name;
  GpuSpec pcie = board();
  pcie.form = "PCIE|SXM2";
  pcie.boards = {};
  EXPECT_TRUE(named("Z1 PCIE", pcie));
  EXPECT_TRUE(named("Z1-SXM2", pcie));
  EXPECT_FALSE(named("Z1", pcie)) << "one for PCIe says so";
  EXPECT_FALSE(named("Z1 SXM4", pcie));
  GpuSpec any = board();
  any.form = {};
  any.boards = {};
  EXPECT_TRUE(named("Z1 SXM4", any));
  any.family = {};
  EXPECT_FALSE(named("Z1 SXM4", any));
  GpuSpec grace = board();
  grace.family = "GH200";
  EXPECT_TRUE(named("GH200 480GB", grace)) << "which is the memory of its CPU";
}

TEST(GpuBorders, OtherMakersWords) {
  for (const char* name : {"AMD", "a Radeon", "Instinct", "Intel", "ARC A770", "Ascend 910",
                           "Apple M2", "gfx90", "gfx9", "MI300", "MI210X", "MI300XX"})
    EXPECT_EQ(is_foreign_gpu(name), std::string(name) != "gfx9") << name;
  for (const char* name : {"gfxx90", "gfx", "MI30", "MIG 1g", "MI3X0", "MIX00", "MI30000X", "MI3",
                           "XAMD", "AMDX", "SEARCH"})
    EXPECT_FALSE(is_foreign_gpu(name)) << name;
}

TEST(GpuBorders, ADeviceWithoutANameNeedsAllThatTellsBoardsApart) {
  const auto known = [](int sms, int major, std::uint64_t memory, std::uint64_t hz,
                        std::uint32_t bits) {
    DeviceInfo device;
    device.sm_count = sms;
    device.compute_major = major;
    device.memory_bytes = memory;
    device.memory_clock_max_hz = hz;
    device.memory_bus_bits = bits;
    const GpuSpec* gpu = gpu_of_device(device);
    return gpu == nullptr ? std::string() : gpu->name;
  };
  constexpr std::uint64_t kMemory = 42'500'000'000, kHz = 1'215'000'000;
  EXPECT_EQ(known(108, 8, kMemory, 0, 0), "A100-40GB");
  EXPECT_EQ(known(108, 8, 0, kHz, 5120), "A100-40GB");
  EXPECT_EQ(known(0, 8, kMemory, kHz, 5120), "");
  EXPECT_EQ(known(108, 0, kMemory, kHz, 5120), "");
  EXPECT_EQ(known(108, 8, 0, kHz, 0), "");
  EXPECT_EQ(known(108, 8, 0, 0, 5120), "");
}

TEST(GpuBorders, AClockTellsWithinOnePercent) {
  const auto name = [](std::uint64_t mhz) {
    DeviceInfo device;
    device.compute_major = 7;
    device.sm_count = 80;
    device.memory_bytes = 17'000'000'000;
    device.sm_clock_max_hz = mhz * 1'000'000;
    const GpuSpec* gpu = gpu_of_device(device);
    return gpu == nullptr ? std::string() : gpu->name;
  };
  // Of 1530 and 1380 MHz.
  EXPECT_EQ(name(1515), "V100");
  EXPECT_EQ(name(1514), "");
  EXPECT_EQ(name(1545), "V100");
  EXPECT_EQ(name(1546), "");
  EXPECT_EQ(name(1367), "V100-PCIe");
  EXPECT_EQ(name(1366), "");
}

TEST(GpuBorders, NumbersOfAFileHaveBorders) {
  const auto error = [](const std::string& sms, const std::string& clock, const std::string& memory,
                        const std::string& dram, const std::string& fp32) {
    return gpu_from_json("{\"name\": \"a\", \"sm_count\": " + sms + ", \"sm_clock_hz\": " + clock +
                         ", \"memory_bytes\": " + memory + ", \"bytes_per_s\": {\"dram\": " + dram +
                         "}, \"flops_per_s\": {\"fp32\": " + fp32 + "}}")
        .error;
  };
  EXPECT_EQ(error("1", "1e6", "1e6", "1e6", "1e6"), "");
  EXPECT_EQ(error("100000", "1e11", "1e16", "1e17", "1e20"), "");
  EXPECT_NE(error("100001", "1e6", "1e6", "1e6", "1e6"), "");
  EXPECT_NE(error("1", "1.1e11", "1e6", "1e6", "1e6"), "");
  EXPECT_NE(error("1", "0.9e6", "1e6", "1e6", "1e6"), "");
  EXPECT_NE(error("1", "1e6", "1.1e16", "1e6", "1e6"), "");
  EXPECT_NE(error("1", "1e6", "0.9e6", "1e6", "1e6"), "");
  EXPECT_NE(error("1", "1e6", "1e6", "1.1e17", "1e6"), "");
  EXPECT_NE(error("1", "1e6", "1e6", "0.9e6", "1e6"), "");
  EXPECT_NE(error("1", "1e6", "1e6", "1e6", "1.1e20"), "");
  EXPECT_NE(error("1", "1e6", "1e6", "1e6", "0.9e6"), "");
  EXPECT_NE(error("\"1\"", "1e6", "1e6", "1e6", "1e6"), "");
}

TEST(GpuBorders, FilesThatDescribeNoGpuAreNamed) {
  const std::string path = testing::TempDir() + "gable_gpu_borders.json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  (void)std::fputs("[]", file);
  (void)std::fclose(file);
  const DescribedGpu none = read_gpu_file(path);
  EXPECT_FALSE(none.gpu);
  EXPECT_TRUE(none.error.starts_with(path + " describes no GPU: ")) << none.error;
  (void)std::remove(path.c_str());
}

}  // namespace
}  // namespace gable
