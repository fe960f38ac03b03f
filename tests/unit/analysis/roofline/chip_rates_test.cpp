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
  return std::to_string(chip.major) + "." + std::to_string(chip.minor) + " board " +
         std::to_string(static_cast<int>(chip.board));
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
    EXPECT_TRUE(chip.cores.fp32 == 128 || chip.cores.fp32 == 256) << name_of(chip);
    EXPECT_LE(chip.cores.fp64, chip.cores.fp32 / 2) << name_of(chip);
  }
}

TEST(ChipRatesOf, EveryBoardOfAChipIsThereOnce) {
  std::set<std::tuple<int, int, Board>> seen;
  for (const ChipRates& chip : chip_rates())
    EXPECT_TRUE(seen.insert({chip.major, chip.minor, chip.board}).second) << name_of(chip);
  EXPECT_TRUE(seen.contains({9, 0, Board::any}));
  for (const auto& [major, minor, board] : seen) {
    const bool both = seen.contains({major, minor, Board::geforce});
    EXPECT_EQ(seen.contains({major, minor, Board::professional}), both) << major << minor;
    EXPECT_EQ(seen.contains({major, minor, Board::unnamed}), both) << major << minor;
    if (both) {
      EXPECT_FALSE(seen.contains({major, minor, Board::any})) << major << minor;
    }
  }
}

// What both boards share is known of one without a name, and nothing else.
TEST(ChipRatesOf, OfABoardWithoutANameWhatBothBoardsShare) {
  DeviceInfo device;
  device.compute_major = 8;
  device.compute_minor = 9;
  const ChipRates* const unnamed = rates_of(device);
  ASSERT_NE(unnamed, nullptr);
  EXPECT_EQ(unnamed->tensor.int8, 2048);
  EXPECT_EQ(unnamed->tensor.sparse, 2);
  for (const double rate :
       {unnamed->tensor.tf32, unnamed->tensor.bf16, unnamed->tensor.fp16, unnamed->tensor.fp8})
    EXPECT_EQ(rate, 0);
  device.name = "NVIDIA GeForce RTX 4090";
  EXPECT_EQ(rates_of(device)->tensor.fp16, 512);
  device.name = "NVIDIA L40S";
  EXPECT_EQ(rates_of(device)->tensor.fp16, 1024);
  device.compute_major = 99;
  EXPECT_EQ(rates_of(device), nullptr);
}

}  // namespace
}  // namespace gable
