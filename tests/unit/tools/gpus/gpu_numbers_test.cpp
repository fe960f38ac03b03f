// SPDX-License-Identifier: Apache-2.0
// The catalogue's numbers, a second time and as a table: whoever changes one has to change both.
#include <gtest/gtest.h>

#include "tools/gpus/gpu_catalogue.h"

namespace gable {
namespace {

struct Row {
  const char* name;
  double fp64, fp32, fp16;
  TensorPeaks tensor;  // fp64, tf32, bf16, fp16, fp8, int8, fp4
  double dram, memory_gb, memory_gb_too;
  int major, minor, sms;
  double mhz;
};

constexpr Row kRows[] = {
    {"GTX1080Ti", 0.354, 11.3, 0, {0, 0, 0, 0, 0, 0, 0}, 484, 11, 0, 6, 1, 28, 1582},
    {"V100", 7.8, 15.7, 31.4, {0, 0, 0, 125, 0, 0, 0}, 900, 32, 16, 7, 0, 80, 1530},
    {"V100-PCIe", 7, 14, 28, {0, 0, 0, 112, 0, 0, 0}, 900, 32, 16, 7, 0, 80, 1380},
    {"T4", 0.254, 8.1, 16.2, {0, 0, 0, 65, 0, 130, 0}, 320, 16, 0, 7, 5, 40, 1590},
    {"A100-40GB", 9.7, 19.5, 78, {19.5, 156, 312, 312, 0, 624, 0}, 1555, 40, 0, 8, 0, 108, 1410},
    {"A100-80GB", 9.7, 19.5, 78, {19.5, 156, 312, 312, 0, 624, 0}, 2039, 80, 0, 8, 0, 108, 1410},
    {"A30", 5.2, 10.3, 0, {10.3, 82, 165, 165, 0, 330, 0}, 933, 24, 0, 8, 0, 56, 1440},
    {"A10", 0.4875, 31.2, 31.2, {0, 62.5, 125, 125, 0, 250, 0}, 600, 24, 0, 8, 6, 72, 1695},
    {"A40", 0.584, 37.4, 37.4, {0, 74.8, 149.7, 149.7, 0, 299.3, 0}, 696, 48, 0, 8, 6, 84, 1740},
    {"A6000",
     0.605,
     38.71,
     38.71,
     {0, 77.42, 154.84, 154.84, 0, 309.68, 0},
     768,
     48,
     0,
     8,
     6,
     84,
     1800},
    {"RTX3090", 0.556, 35.6, 35.6, {0, 35.6, 71, 71, 0, 284, 0}, 936, 24, 0, 8, 6, 82, 1695},
    {"L4", 0.473, 30.3, 30.3, {0, 60, 121, 121, 242.5, 242.5, 0}, 300, 24, 0, 8, 9, 58, 2040},
    {"L40", 1.414, 90.5, 90.5, {0, 90.5, 181, 181, 362, 362, 0}, 864, 48, 0, 8, 9, 142, 2490},
    {"L40S", 1.431, 91.6, 91.6, {0, 183, 362, 362, 733, 733, 0}, 864, 48, 0, 8, 9, 142, 2520},
    {"RTX4090",
     1.29,
     82.6,
     82.6,
     {0, 82.6, 165.2, 165.2, 330.3, 660.6, 0},
     1008,
     24,
     0,
     8,
     9,
     128,
     2520},
    {"H100", 34, 67, 134, {67, 494.7, 989, 989, 1979, 1979, 0}, 3350, 80, 0, 9, 0, 132, 1980},
    {"H100-PCIe", 26, 51, 0, {51, 378, 756, 756, 1513, 1513, 0}, 2000, 80, 0, 9, 0, 114, 1755},
    {"H200", 34, 67, 134, {67, 494.7, 989, 989, 1979, 1979, 0}, 4800, 141, 0, 9, 0, 132, 1980},
    {"B200", 37, 75, 0, {37, 1125, 2250, 2250, 4500, 4500, 9000}, 8000, 180, 0, 10, 0, 148, 1965},
    {"RTX5090",
     1.637,
     104.8,
     104.8,
     {0, 104.8, 209.5, 209.5, 419, 838, 1676},
     1792,
     32,
     0,
     12,
     0,
     170,
     2407},
    {"A100-PCIe-80GB",
     9.7,
     19.5,
     78,
     {19.5, 156, 312, 312, 0, 624, 0},
     1935,
     80,
     0,
     8,
     0,
     108,
     1410},
    {"RTX3080", 0.465, 29.8, 29.8, {0, 29.8, 59.5, 59.5, 0, 238, 0}, 760, 10, 0, 8, 6, 68, 1710},
    {"RTX6000Ada",
     1.423,
     91.1,
     91.1,
     {0, 182.1, 364.2, 364.2, 728.5, 728.5, 0},
     960,
     48,
     0,
     8,
     9,
     142,
     2505},
    {"GH200-96GB", 34, 67, 134, {67, 494.7, 989, 989, 1979, 1979, 0}, 4000, 96, 0, 9, 0, 132, 1980},
    {"GH200-144GB",
     34,
     67,
     134,
     {67, 494.7, 989, 989, 1979, 1979, 0},
     4900,
     144,
     0,
     9,
     0,
     132,
     1980},
    {"GB200", 40, 80, 0, {40, 1250, 2500, 2500, 5000, 5000, 10000}, 8000, 186, 0, 10, 0, 152, 2062},
    {"B300", 1.25, 75, 0, {0, 1125, 2250, 2250, 4500, 0, 13500}, 8000, 288, 270, 10, 3, 148, 1965},
    {"RTX5070",
     0.483,
     30.9,
     30.9,
     {0, 30.9, 61.7, 61.7, 123.5, 246.9, 493.9},
     672,
     12,
     0,
     12,
     0,
     48,
     2512},
    {"RTXPRO6000",
     1.953,
     125,
     0,
     {0, 251.9, 503.8, 503.8, 1007.6, 1007.6, 2015.2},
     1792,
     96,
     0,
     12,
     0,
     188,
     2617},
    {"JetsonAGXOrin", 0, 5.3, 0, {0, 0, 0, 0, 0, 85, 0}, 204.8, 64, 0, 8, 7, 16, 1300},
    {"JetsonAGXThor", 0, 8.064, 0, {0, 0, 0, 0, 0, 0, 1035}, 273, 128, 0, 11, 0, 20, 1575},
};

TEST(GpuNumbers, StayAsTheyWereEntered) {
  const std::vector<GpuSpec>& all = gpu_catalogue();
  ASSERT_EQ(all.size(), std::size(kRows));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const GpuSpec& gpu = all[i];
    const Row& row = kRows[i];
    EXPECT_EQ(gpu.name, row.name);
    EXPECT_EQ(gpu.fp64, row.fp64) << row.name;
    EXPECT_EQ(gpu.fp32, row.fp32) << row.name;
    EXPECT_EQ(gpu.fp16, row.fp16) << row.name;
    EXPECT_EQ(gpu.tensor.fp64, row.tensor.fp64) << row.name;
    EXPECT_EQ(gpu.tensor.tf32, row.tensor.tf32) << row.name;
    EXPECT_EQ(gpu.tensor.bf16, row.tensor.bf16) << row.name;
    EXPECT_EQ(gpu.tensor.fp16, row.tensor.fp16) << row.name;
    EXPECT_EQ(gpu.tensor.fp8, row.tensor.fp8) << row.name;
    EXPECT_EQ(gpu.tensor.int8, row.tensor.int8) << row.name;
    EXPECT_EQ(gpu.tensor.fp4, row.tensor.fp4) << row.name;
    EXPECT_EQ(gpu.dram, row.dram) << row.name;
    EXPECT_EQ(gpu.memory_gb, row.memory_gb) << row.name;
    EXPECT_EQ(gpu.memory_gb_too, row.memory_gb_too) << row.name;
    EXPECT_EQ(gpu.compute_major, row.major) << row.name;
    EXPECT_EQ(gpu.compute_minor, row.minor) << row.name;
    EXPECT_EQ(gpu.sm_count, row.sms) << row.name;
    EXPECT_EQ(gpu.sm_clock_mhz, row.mhz) << row.name;
  }
}

}  // namespace
}  // namespace gable
