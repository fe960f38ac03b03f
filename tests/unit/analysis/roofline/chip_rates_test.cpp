// SPDX-License-Identifier: Apache-2.0
// What holds for every row of the table of rates, whatever its source: a typing error breaks it.
#include "analysis/roofline/chip_rates.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <tuple>

namespace gable {
namespace {

using Tensor = ChipRates::Tensor;

std::string name_of(const ChipRates& chip) {
  return std::to_string(chip.major) + "." + std::to_string(chip.minor) + " " +
         std::string(chip.boards.empty() ? "other boards" : chip.boards);
}

TEST(ChipRatesOf, RatesArePowersOfTwo) {
  for (const ChipRates& chip : chip_rates()) {
    const Tensor& tensor = chip.tensor;
    for (const double rate :
         {chip.cores.fp64, chip.cores.fp32, chip.cores.fp16, tensor.fp64, tensor.tf32, tensor.bf16,
          tensor.fp16, tensor.fp8, tensor.fp6, tensor.fp4, tensor.int8, tensor.sparse,
          tensor.fp4_sparse, chip.caches.l1, chip.caches.l2_slice}) {
      if (rate == 0 || rate == 3 * 16384) continue;  // FP4 of Blackwell Ultra: half as much again
      EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(rate)))
          << name_of(chip) << ": " << rate;
    }
  }
}

// Half the bits, twice the rate; who has sparsity has it twice as fast.
TEST(ChipRatesOf, HalfTheBitsAreTwiceTheRate) {
  for (const ChipRates& chip : chip_rates()) {
    const Tensor& tensor = chip.tensor;
    if (tensor.tf32 > 0) {
      EXPECT_EQ(tensor.bf16, 2 * tensor.tf32) << name_of(chip);
    }
    if (tensor.bf16 > 0) {
      EXPECT_EQ(tensor.fp16, tensor.bf16) << name_of(chip);
    }
    if (tensor.fp16 > 0 && tensor.fp8 > 0) {
      EXPECT_EQ(tensor.fp8, 2 * tensor.fp16) << name_of(chip);
    }
    if (tensor.fp6 > 0) {
      EXPECT_EQ(tensor.fp6, tensor.fp8) << name_of(chip);
    }
    // Integers are summed in 32 bits on every board; of GeForce boards floating point is halved.
    if (tensor.int8 > 0 && tensor.fp16 > 0) {
      EXPECT_TRUE(tensor.int8 == 2 * tensor.fp16 || tensor.int8 == 4 * tensor.fp16)
          << name_of(chip);
    }
    for (const double times : {tensor.sparse, tensor.fp4_sparse})
      EXPECT_TRUE(times == 0 || times == 2) << name_of(chip);
    if (chip.cores.fp32 == 0) continue;  // nothing is known
    EXPECT_TRUE(chip.cores.fp32 == 128 || chip.cores.fp32 == 256) << name_of(chip);
    EXPECT_LE(chip.cores.fp64, chip.cores.fp32 / 2) << name_of(chip);
  }
}

// The row of the boards that no other names is the last of its chip: none would be found behind it.
TEST(ChipRatesOf, EveryRowIsThereOnceAndOtherBoardsAreTheLast) {
  std::set<std::tuple<int, int, std::string_view>> seen;
  std::set<std::pair<int, int>> closed;
  for (const ChipRates& chip : chip_rates()) {
    EXPECT_TRUE(seen.insert({chip.major, chip.minor, chip.boards}).second) << name_of(chip);
    EXPECT_FALSE(closed.contains({chip.major, chip.minor})) << name_of(chip);
    if (chip.boards.empty()) closed.insert({chip.major, chip.minor});
  }
  for (const auto& [major, minor, boards] : seen)
    EXPECT_TRUE(closed.contains({major, minor})) << major << "." << minor;
}

struct Device {
  const char *name, *chip;
  int major, minor, sm_count;
  double fp64, fp32, fp16_tensor, int8_tensor;  // 0: unknown, or there are none
};
void PrintTo(const Device& device, std::ostream* out) { *out << device.name << device.sm_count; }

class ChipRatesOfBoard : public ::testing::TestWithParam<Device> {};

// Boards of one compute capability have other rates, or no tensor cores at all.
TEST_P(ChipRatesOfBoard, AreThoseOfBoardsKnownToHaveThem) {
  const Device& wanted = GetParam();
  DeviceInfo device;
  device.name = wanted.name;
  device.chip = wanted.chip;
  device.compute_major = wanted.major;
  device.compute_minor = wanted.minor;
  device.sm_count = wanted.sm_count;
  const ChipRates* const rates = rates_of(device);
  ASSERT_NE(rates, nullptr);
  EXPECT_EQ(rates->cores.fp64, wanted.fp64);
  EXPECT_EQ(rates->cores.fp32, wanted.fp32);
  EXPECT_EQ(rates->tensor.fp16, wanted.fp16_tensor);
  EXPECT_EQ(rates->tensor.int8, wanted.int8_tensor);
}

INSTANTIATE_TEST_SUITE_P(
    All, ChipRatesOfBoard,
    ::testing::Values(
        Device{"Tesla V100-SXM2-16GB", "GV100", 7, 0, 80, 64, 128, 1024, 0},
        Device{"NVIDIA TITAN V", "", 7, 0, 80, 64, 128, 1024, 0},
        Device{"", "", 7, 0, 80, 64, 128, 1024, 0},
        Device{"NVIDIA CMP 100-210", "GV100", 7, 0, 80, 0, 0, 0, 0},
        Device{"Tesla T4", "TU104", 7, 5, 40, 4, 128, 1024, 2048},
        Device{"Quadro RTX 6000", "", 7, 5, 72, 4, 128, 1024, 2048},
        Device{"GRID RTX6000-8Q", "", 7, 5, 72, 4, 128, 1024, 2048},
        Device{"NVIDIA TITAN RTX", "", 7, 5, 72, 4, 128, 1024, 2048},
        Device{"NVIDIA GeForce RTX 2060", "TU106", 7, 5, 30, 4, 128, 512, 2048},
        Device{"NVIDIA GeForce GTX 1650", "TU117", 7, 5, 16, 4, 128, 0, 0},
        Device{"NVIDIA GeForce GTX 1660 Ti", "", 7, 5, 24, 4, 128, 0, 0},
        Device{"NVIDIA GeForce MX450", "", 7, 5, 14, 4, 128, 0, 0},
        Device{"NVIDIA T1000", "", 7, 5, 14, 4, 128, 0, 0},
        Device{"NVIDIA T400 4GB", "", 7, 5, 6, 4, 128, 0, 0},
        Device{"Quadro T2000", "TU117", 7, 5, 16, 4, 128, 0, 0},
        Device{"NVIDIA CMP 40HX", "TU106", 7, 5, 36, 0, 0, 0, 0},
        Device{"", "", 7, 5, 40, 4, 128, 0, 0},
        Device{"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "", 8, 0, 14, 64, 128, 2048, 4096},
        Device{"GRID A100-40C", "", 8, 0, 108, 64, 128, 2048, 4096},
        Device{"NVIDIA A800-SXM4-80GB", "", 8, 0, 108, 64, 128, 2048, 4096},
        Device{"NVIDIA CMP 170HX", "GA100", 8, 0, 70, 0, 0, 0, 0},
        Device{"", "", 8, 0, 108, 64, 128, 2048, 4096}, Device{"", "", 8, 0, 70, 0, 0, 0, 0},
        Device{"NVIDIA A10", "", 8, 6, 72, 4, 256, 1024, 2048},
        Device{"NVIDIA A10G", "", 8, 6, 80, 4, 256, 0, 0},
        Device{"NVIDIA A40-48Q", "", 8, 6, 84, 4, 256, 1024, 2048},
        Device{"NVIDIA RTX A4000", "", 8, 6, 48, 4, 256, 1024, 2048},
        Device{"NVIDIA RTX A2000 Laptop GPU", "", 8, 6, 20, 4, 256, 0, 0},
        Device{"NVIDIA GeForce RTX 3080 Laptop GPU", "", 8, 6, 48, 4, 256, 512, 2048},
        Device{"NVIDIA GeForce MX570", "", 8, 6, 16, 4, 256, 0, 0},
        Device{"NVIDIA CMP 90HX", "", 8, 6, 50, 0, 0, 0, 0}, Device{"", "", 8, 6, 84, 4, 256, 0, 0},
        Device{"NVIDIA L4", "", 8, 9, 58, 4, 256, 1024, 2048},
        Device{"NVIDIA L40S", "", 8, 9, 142, 4, 256, 1024, 2048},
        Device{"NVIDIA L40", "", 8, 9, 142, 4, 256, 512, 1024},
        Device{"NVIDIA L20", "", 8, 9, 92, 4, 256, 512, 1024},
        Device{"NVIDIA RTX 6000 Ada Generation", "", 8, 9, 142, 4, 256, 1024, 2048},
        Device{"NVIDIA GeForce RTX 4090", "", 8, 9, 128, 4, 256, 512, 2048},
        Device{"", "", 8, 9, 128, 4, 256, 0, 0},
        Device{"NVIDIA H100 80GB HBM3", "GH100", 9, 0, 132, 128, 256, 4096, 8192},
        Device{"NVIDIA GH200 480GB", "", 9, 0, 132, 128, 256, 4096, 8192},
        Device{"NVIDIA H800", "GH100", 9, 0, 132, 0, 256, 4096, 8192},
        Device{"NVIDIA H20", "GH100", 9, 0, 78, 0, 256, 0, 0},
        Device{"NVIDIA H20-3e", "", 9, 0, 78, 0, 256, 0, 0},
        Device{"", "", 9, 0, 132, 0, 256, 4096, 8192}, Device{"", "", 9, 0, 78, 0, 256, 0, 0},
        Device{"NVIDIA B200", "", 10, 0, 148, 128, 256, 8192, 16384},
        Device{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "", 12, 0, 188, 4, 256, 1024, 2048},
        Device{"NVIDIA GeForce RTX 5090", "", 12, 0, 170, 4, 256, 512, 2048},
        Device{"NVIDIA GeForce RTX 5090 D", "", 12, 0, 170, 4, 256, 0, 0},
        Device{"NVIDIA RTX PRO 6000D", "", 12, 0, 156, 4, 256, 0, 0}));

TEST(ChipRatesOf, AnUnknownChipHasNone) {
  DeviceInfo device;
  device.name = "NVIDIA L40S";
  device.compute_major = 99;
  EXPECT_EQ(rates_of(device), nullptr);
}

}  // namespace
}  // namespace gable
