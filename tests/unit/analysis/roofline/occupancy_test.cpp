// SPDX-License-Identifier: Apache-2.0
// Blocks of an SM and waves, against CUDA's own calculator (cuda_occupancy.h) where CUDA is there,
// and by hand.
#include "analysis/roofline/occupancy.h"

#include <array>
#include <climits>
#include <cstddef>

#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/roofline.h"
#include "tests/unit/analysis/profile_fixture.h"

#if __has_include(<cuda_occupancy.h>)
#define GABLE_HAS_CALCULATOR
#include <cuda_occupancy.h>
#endif

namespace gable::tests {
namespace {

DeviceInfo device(int major, int minor, int sm_count) {
  DeviceInfo made;
  made.compute_major = major;
  made.compute_minor = minor;
  made.sm_count = sm_count;
  return made;
}

KernelRow kernel(std::uint32_t blocks, std::uint32_t threads, double registers, double shared) {
  KernelRow row;
  row.name = "k";
  row.grid = {blocks, 1, 1};
  row.block = {threads, 1, 1};
  row.registers = registers;
  row.shared_bytes = shared;
  return row;
}

KernelRow filled(const DeviceInfo& device, KernelRow row) {
  fill_waves(device, row);
  return row;
}

#ifdef GABLE_HAS_CALCULATOR
// As cudaGetDeviceProperties gives it for GPUs of that compute capability.
struct Chip {
  int major, minor, threads, shared_kib, shared_of_block_kib;
};

int calculated(const Chip& chip, const KernelRow& row) {
  cudaOccDeviceProp gpu;
  gpu.computeMajor = chip.major;
  gpu.computeMinor = chip.minor;
  gpu.maxThreadsPerBlock = 1024;
  gpu.maxThreadsPerMultiprocessor = chip.threads;
  gpu.regsPerBlock = gpu.regsPerMultiprocessor = 65536;
  gpu.warpSize = 32;
  gpu.sharedMemPerBlock = std::size_t{48} << 10;
  gpu.sharedMemPerMultiprocessor = static_cast<std::size_t>(chip.shared_kib) << 10;
  gpu.numSms = 1;
  gpu.sharedMemPerBlockOptin = static_cast<std::size_t>(chip.shared_of_block_kib) << 10;
  gpu.reservedSharedMemPerBlock = chip.major >= 8 ? 1024 : 0;
  cudaOccFuncAttributes takes;
  takes.maxThreadsPerBlock = INT_MAX;
  takes.numRegs = static_cast<int>(*row.registers);
  takes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  takes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(*row.shared_bytes);
  takes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const auto answer = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &gpu, &takes, &state, static_cast<int>(row.block.x),
      static_cast<std::size_t>(*row.shared_bytes));
  return answer == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

TEST(Occupancy, IsThatOfCudasCalculator) {
  constexpr Chip kChips[] = {
      {5, 0, 2048, 64, 48},    {5, 2, 2048, 96, 48},    {5, 3, 2048, 64, 48},
      {6, 0, 2048, 64, 48},    {6, 1, 2048, 96, 48},    {6, 2, 2048, 64, 48},
      {7, 0, 2048, 96, 96},    {7, 2, 2048, 96, 96},    {7, 5, 1024, 64, 64},
      {8, 0, 2048, 164, 163},  {8, 6, 1536, 100, 99},   {8, 7, 1536, 164, 163},
      {8, 9, 1536, 100, 99},   {9, 0, 2048, 228, 227},  {10, 0, 2048, 228, 227},
      {10, 1, 1536, 228, 227}, {10, 3, 2048, 228, 227}, {11, 0, 1536, 228, 227},
      {12, 0, 1536, 100, 99},  {12, 1, 1536, 100, 99}};
  int compared = 0;
  for (const Chip& chip : kChips) {
    for (std::uint32_t threads = 1; threads <= 1024; threads += threads < 64 ? 7 : 45) {
      for (const int registers : {1, 16, 24, 32, 33, 40, 63, 64, 65, 96, 128, 168, 200, 255}) {
        for (const int shared : {0, 1, 128, 1000, 4096, 8193, 16384, 33000, 49152, 65536, 98304}) {
          if (shared > chip.shared_of_block_kib << 10) continue;
          const KernelRow row = kernel(1, threads, registers, shared);
          const int wanted = calculated(chip, row);
          if (wanted == 0) continue;  // it cannot be launched
          ASSERT_GT(wanted, 0);
          const KernelRow got = filled(device(chip.major, chip.minor, 1), row);
          ASSERT_EQ(got.blocks_per_sm, Maybe(wanted))
              << chip.major << '.' << chip.minor << ", " << threads << " threads, " << registers
              << " registers, " << shared << " bytes";
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 10000);
}
#endif

TEST(Occupancy, WavesAreBlocksOverThoseThatTheGpuHolds) {
  // 256 threads of 64 registers: 65536 / (256 x 64) = 4 blocks an SM.
  const KernelRow row = filled(device(9, 0, 132), kernel(1056, 256, 64, 0));
  EXPECT_EQ(row.blocks_per_sm, Maybe(4));
  EXPECT_EQ(row.waves, Maybe(2));
  EXPECT_FALSE(row.has_flag(kSmallGrid));
  EXPECT_EQ(filled(device(9, 0, 132), kernel(528, 256, 64, 0)).waves, Maybe(1));
  EXPECT_FALSE(filled(device(9, 0, 132), kernel(528, 256, 64, 0)).has_flag(kSmallGrid));
  EXPECT_TRUE(filled(device(9, 0, 132), kernel(527, 256, 64, 0)).has_flag(kSmallGrid));
}

TEST(Occupancy, WhatIsNotKnownStaysUnknown) {
  KernelRow row = kernel(132, 256, 64, 0);
  row.registers.reset();
  KernelRow done = filled(device(9, 0, 132), row);
  EXPECT_FALSE(done.blocks_per_sm || done.waves);
  EXPECT_FALSE(done.has_flag(kSmallGrid));  // a block on each SM may fill it
  row.grid = {131, 1, 1};
  EXPECT_TRUE(filled(device(9, 0, 132), row).has_flag(kSmallGrid));  // an SM has none at all
  EXPECT_FALSE(filled(device(9, 0, 0), row).has_flag(kSmallGrid));

  EXPECT_FALSE(filled(device(99, 0, 132), kernel(132, 256, 64, 0)).blocks_per_sm);
  KernelRow clusters = kernel(264, 256, 64, 0);
  clusters.cluster = {2, 1, 1};
  done = filled(device(9, 0, 132), clusters);
  EXPECT_EQ(done.blocks_per_sm, Maybe(4));
  EXPECT_FALSE(done.waves);
  KernelRow graph = kernel(10, 256, 64, 0);
  graph.graph = 1;
  EXPECT_FALSE(filled(device(9, 0, 132), graph).has_flag(kSmallGrid));
}

TEST(Occupancy, AnotherDeviceIsAnotherAnswer) {
  KernelRow row = filled(device(9, 0, 132), kernel(400, 256, 64, 0));
  EXPECT_TRUE(row.has_flag(kSmallGrid));
  fill_waves(device(8, 6, 10), row);
  EXPECT_EQ(row.waves, Maybe(10));
  EXPECT_FALSE(row.has_flag(kSmallGrid));
}

// FLOPs that the A100 can do in `least_ms`; so many waves.
KernelRow of_waves(double waves, double least_ms, double time_ms) {
  KernelRow row = kernel(1, 256, 64, 0);
  row.flops.fp32 = row.flops.total = 19.49184e12 * 1e-3 * least_ms;
  row.bytes.dram = 0;
  row.launches = 1;
  row.time_mean_ns = row.time_total_ns = time_ms * 1e6;
  row.waves = waves;
  Roofline(theoretical_ceilings(a100())).apply(row);
  return row;
}

TEST(Tail, IsTheIdleShareOfTheWavesAsFarAsTheRoofLeavesIt) {
  EXPECT_DOUBLE_EQ(*tail_share(of_waves(1.25, 0.3, 1)), 0.375);  // 0.75 of two waves
  EXPECT_DOUBLE_EQ(*tail_share(of_waves(1.25, 0.9, 1)), 1 - 0.9);
  EXPECT_DOUBLE_EQ(*tail_share(of_waves(4, 0.3, 1)), 0);
  EXPECT_DOUBLE_EQ(*tail_share(of_waves(0.5, 0.3, 1)), 0);  // nothing runs after the first wave
  EXPECT_FALSE(tail_share(kernel(1, 1, 1, 0)));
}

TEST(Tail, IsFlaggedAboveATenthOfTheTime) {
  EXPECT_TRUE(of_waves(1.25, 0.3, 1).has_flag(kTail));
  EXPECT_FALSE(of_waves(1.85, 0.3, 1).has_flag(kTail));   // 7.5 %
  EXPECT_FALSE(of_waves(1.25, 0.95, 1).has_flag(kTail));  // at its roof
  KernelRow again = of_waves(1.25, 0.3, 1);
  again.waves = 2;
  Roofline(theoretical_ceilings(a100())).apply(again);
  EXPECT_TRUE(again.flags.empty());
}

// On 8.0 an SM has 64 warps, 32 blocks, 65,536 registers and 164 KiB.
TEST(OccupancyLimit, NamesWhatIsFull) {
  const DeviceInfo a100 = device(8, 0, 108);
  const auto limit = [&](std::uint32_t threads, double registers, double shared) {
    const auto found = occupancy_limit(a100, kernel(1000, threads, registers, shared));
    return found ? std::pair(found->by, found->occupancy) : std::pair(std::string("unknown"), 0.0);
  };
  EXPECT_EQ(limit(256, 128, 0), std::pair(std::string("registers"), 0.25));
  EXPECT_EQ(limit(256, 32, 80 * 1024), std::pair(std::string("shared memory"), 0.25));
  EXPECT_EQ(limit(32, 16, 0), std::pair(std::string("blocks"), 0.5));
  EXPECT_EQ(limit(768, 16, 0), std::pair(std::string("warps"), 0.75));
  EXPECT_FALSE(occupancy_limit(a100, KernelRow()));
  // Two kernels of which ncu printed "Theoretical Occupancy": 100 % on a T4, 18.75 % on a GB200.
  EXPECT_EQ(occupancy_limit(device(7, 5, 40), kernel(1024, 256, 32, 0))->occupancy, 1);
  EXPECT_EQ(occupancy_limit(device(10, 0, 152), kernel(288, 384, 168, 205696))->occupancy, 0.1875);
}

}  // namespace
}  // namespace gable::tests
