// SPDX-License-Identifier: Apache-2.0
// Theoretical roofs, board by board, against figures that the table of rates was not made from:
// data sheets, what profilers print, and what others measured or computed. Where a published
// figure and the table differ, docs/ceilings.md says why; those rows have a tolerance of their own.
#include "analysis/roofline/ceilings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

struct Published {
  const char* ceiling;
  double value;  // TFLOP/s, TOP/s or GB/s
  double share;  // ours / published; 1 unless they are known to differ
};

struct Case {
  const char* name;
  int major, minor, sm_count;
  double sm_mhz, memory_mhz;
  std::uint32_t bus_bits;
  double l2_mb;
  const char* source;
  std::vector<Published> published;
};

void PrintTo(const Case& board, std::ostream* out) { *out << board.name; }

// Clocks and bus widths are the attributes that drivers report for these boards.
const std::vector<Case> kBoards = {
    {"Tesla V100-SXM2-32GB",
     7,
     0,
     80,
     1530,
     877,
     4096,
     6,
     "V100 data sheet: 7.8, 15.7, 125, 900",
     {{"fp64", 7.8, 1}, {"fp32", 15.7, 1}, {"fp16_tensor", 125, 1}, {"dram", 900, 1}}},
    {"Tesla V100-PCIE-32GB",
     7,
     0,
     80,
     1380,
     877,
     4096,
     6,
     "V100 data sheet: 7, 14, 112, 900",
     {{"fp64", 7, 1}, {"fp32", 14, 1}, {"fp16_tensor", 112, 1}, {"dram", 900, 1}}},
    {"Tesla T4",
     7,
     5,
     40,
     1590,
     5001,
     256,
     4,
     "T4 data sheet: 8.1, 65, 130, 320",
     {{"fp32", 8.1, 1},
      {"fp64", 0.254, 1},
      {"fp16_tensor", 65, 1},
      {"int8_tensor", 130, 1},
      {"dram", 320, 1}}},
    {"NVIDIA GeForce RTX 2080 Ti",
     7,
     5,
     68,
     1545,
     7000,
     352,
     5.5,
     "reference board: 13.45 TFLOP/s, 616 GB/s",
     {{"fp32", 13.45, 1}, {"dram", 616, 1}}},
    {"NVIDIA A100-SXM4-40GB",
     8,
     0,
     108,
     1410,
     1215,
     5120,
     40,
     "A100 data sheet; memory as Nsight Systems prints it",
     {{"fp64", 9.7, 1},
      {"fp32", 19.5, 1},
      {"fp64_tensor", 19.5, 1},
      {"tf32_tensor", 156, 1},
      {"bf16_tensor", 312, 1},
      {"fp16_tensor", 312, 1},
      {"int8_tensor", 624, 1},
      {"dram", 1555.2, 1},
      {"l2", 7219, 1}}},
    {"NVIDIA A100-SXM4-80GB",
     8,
     0,
     108,
     1410,
     1593,
     5120,
     40,
     "A100 data sheet",
     {{"fp32", 19.5, 1}, {"bf16_tensor", 312, 1}, {"dram", 2039, 1}}},
    {"NVIDIA A100 80GB PCIe",
     8,
     0,
     108,
     1410,
     1512,
     5120,
     40,
     "A100 data sheet",
     {{"fp32", 19.5, 1}, {"bf16_tensor", 312, 1}, {"dram", 1935, 1}}},
    {"NVIDIA GeForce RTX 3080",
     8,
     6,
     68,
     1710,
     9501,
     320,
     5,
     "reference board: 29.77 TFLOP/s; memory as Nsight Systems prints it",
     {{"fp32", 29.77, 1}, {"dram", 760.08, 1}}},
    // Tensor rates are published at 1.83 GHz; the driver names 1.98 GHz as the highest clock.
    {"NVIDIA H100 80GB HBM3",
     9,
     0,
     132,
     1980,
     2619,
     5120,
     50,
     "H100 data sheet",
     {{"fp64", 34, 1},
      {"fp32", 67, 1},
      {"tf32_tensor", 494.7, 1.98 / 1.83},
      {"bf16_tensor", 989.4, 1.98 / 1.83},
      {"fp8_tensor", 1978.9, 1.98 / 1.83},
      {"int8_tensor", 1978.9, 1.98 / 1.83},
      {"dram", 3350, 1}}},
    // The data sheet rounds 2039 GB/s down.
    {"NVIDIA H100 PCIe",
     9,
     0,
     114,
     1755,
     1593,
     5120,
     50,
     "H100 data sheet: 26, 51, 756, 1513, 2000",
     {{"fp64", 26, 1},
      {"fp32", 51, 1},
      {"bf16_tensor", 756, 1.755 / 1.62},
      {"fp8_tensor", 1513, 1.755 / 1.62},
      {"dram", 2000, 2039.0 / 2000}}},
    {"NVIDIA H200",
     9,
     0,
     132,
     1980,
     3201,
     6144,
     60,
     "H200 data sheet",
     {{"fp64", 34, 1},
      {"fp32", 67, 1},
      {"bf16_tensor", 989.4, 1.98 / 1.83},
      {"dram", 4800, 4916.7 / 4800}}},
    {"NVIDIA B200",
     10,
     0,
     148,
     1965,
     3996,
     7680,
     126.5,
     "B200 in HGX: 37, 75, 1100, 2250, 4500, 9000",
     {{"fp64", 37, 1},
      {"fp32", 75, 1},
      {"tf32_tensor", 1100, 1.965 / 1.85},
      {"bf16_tensor", 2250, 1.965 / 1.85},
      {"fp8_tensor", 4500, 1.965 / 1.85},
      {"fp4_tensor", 9000, 1.965 / 1.85},
      {"int8_tensor", 4500, 1.965 / 1.85},
      {"dram", 8000, 7672.0 / 8000}}},
    {"NVIDIA L40S",
     8,
     9,
     142,
     2520,
     9001,
     384,
     96,
     "the chip's FP64 and FP32 in databases of boards",
     {{"fp64", 1.431, 1}, {"fp32", 91.6, 1}, {"dram", 864, 1}}},
    {"NVIDIA GeForce RTX 4090",
     8,
     9,
     128,
     2520,
     10501,
     384,
     72,
     "databases of boards: 82.58, 1.29, 660.6, 1008",
     {{"fp32", 82.58, 1}, {"fp64", 1.29, 1}, {"int8_tensor", 660.6, 1}, {"dram", 1008, 1}}},
    {"NVIDIA GeForce RTX 5070",
     12,
     0,
     48,
     2625,
     14001,
     192,
     48,
     "a user's manifest of its attributes: 32.26 TFLOP/s, 672.05 GB/s",
     {{"fp32", 32.26, 1}, {"dram", 672.05, 1}}},
    {"NVIDIA GeForce RTX 5090",
     12,
     0,
     170,
     2407,
     14001,
     512,
     96,
     "databases of boards: 104.8 TFLOP/s, 1792 GB/s",
     {{"fp32", 104.8, 1}, {"dram", 1792, 1}}},
};

DeviceInfo device_of(const Case& board) {
  DeviceInfo device;
  device.name = board.name;
  device.compute_major = board.major;
  device.compute_minor = board.minor;
  device.sm_count = board.sm_count;
  device.sm_clock_max_hz = static_cast<std::uint64_t>(board.sm_mhz * 1e6);
  device.memory_clock_max_hz = static_cast<std::uint64_t>(board.memory_mhz * 1e6);
  device.memory_bus_bits = board.bus_bits;
  device.l2_bytes = static_cast<std::uint64_t>(board.l2_mb * 1024 * 1024);
  return device;
}

double value_of(const std::vector<Ceiling>& ceilings, const std::string& name) {
  for (const Ceiling& each : ceilings) {
    if (each.name == name) return each.value;
  }
  return 0;
}

class BoardTest : public ::testing::TestWithParam<Case> {};

TEST_P(BoardTest, AgreesWithPublishedFigures) {
  const Case& board = GetParam();
  const std::vector<Ceiling> ceilings = theoretical_ceilings(device_of(board));
  for (const Published& each : board.published) {
    const bool memory = std::string(each.ceiling) == "dram" || std::string(each.ceiling) == "l2";
    const double published = each.value * (memory ? 1e9 : 1e12) * each.share;
    const double ours = value_of(ceilings, each.ceiling);
    // Published figures have two or three digits.
    EXPECT_NEAR(ours / published, 1, 0.02) << each.ceiling << ", " << board.source;
  }
}

INSTANTIATE_TEST_SUITE_P(Boards, BoardTest, ::testing::ValuesIn(kBoards), [](const auto& each) {
  std::string name = each.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace gable::tests
