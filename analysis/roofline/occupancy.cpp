// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/occupancy.h"

#include <algorithm>
#include <cmath>

namespace gable {
namespace {

constexpr double kWarp = 32, kRegisters = 65536, kWarpRegisters = 256, kKiB = 1024;

// What an SM has.
struct SmLimits {
  int major, minor;
  double warps, blocks, shared_kib;
};
constexpr SmLimits kLimits[] = {
    {5, 0, 64, 32, 64},   {5, 2, 64, 32, 96},   {5, 3, 64, 32, 64},   {6, 0, 64, 32, 64},
    {6, 1, 64, 32, 96},   {6, 2, 64, 32, 64},   {7, 0, 64, 32, 96},   {7, 2, 64, 32, 96},
    {7, 5, 32, 16, 64},   {8, 0, 64, 32, 164},  {8, 6, 48, 16, 100},  {8, 7, 48, 16, 164},
    {8, 9, 48, 24, 100},  {9, 0, 64, 32, 228},  {10, 0, 64, 32, 228}, {10, 1, 48, 24, 228},
    {10, 3, 64, 32, 228}, {11, 0, 48, 24, 228}, {12, 0, 48, 24, 100}, {12, 1, 48, 24, 100},
};

double up_to(double value, double unit) { return std::ceil(value / unit) * unit; }

struct Limit {
  double blocks;  // at once
  double warps;   // of a block
  double of_sm;   // warps that an SM can hold
  const char* by;
};

std::optional<Limit> limit_of(const DeviceInfo& device, const KernelRow& kernel) {
  const auto* sm = std::find_if(std::begin(kLimits), std::end(kLimits), [&](const SmLimits& each) {
    return each.major == device.compute_major && each.minor == device.compute_minor;
  });
  const double threads = static_cast<double>(kernel.block.count());
  if (sm == std::end(kLimits) || !kernel.registers || !kernel.shared_bytes || !(threads > 0))
    return std::nullopt;
  const double warps = std::ceil(threads / kWarp);
  Limit least{sm->blocks, warps, sm->warps, "blocks"};
  const auto at_most = [&least](double blocks, const char* by) {
    if (blocks >= least.blocks) return;
    least.blocks = blocks;
    least.by = by;
  };
  at_most(std::floor(sm->warps / warps), "warps");
  if (*kernel.registers > 0) {
    const double parts = sm->major == 6 && sm->minor == 0 ? 2 : 4;
    const double of_a_warp = up_to(*kernel.registers * kWarp, kWarpRegisters);
    at_most(std::floor(parts * std::floor(kRegisters / parts / of_a_warp) / warps), "registers");
  }
  const bool old = sm->major < 8;
  const double shared =
      old ? up_to(*kernel.shared_bytes, 256) : up_to(*kernel.shared_bytes + kKiB, 128);
  if (shared > 0) at_most(std::floor(sm->shared_kib * kKiB / shared), "shared memory");
  // It ran: what says otherwise is not of this kernel or not of this GPU.
  return least.blocks >= 1 ? std::optional(least) : std::nullopt;
}

}  // namespace

void fill_waves(const DeviceInfo& device, KernelRow& kernel) {
  kernel.blocks_per_sm = kernel.waves = std::nullopt;
  std::erase(kernel.flags, kSmallGrid);
  const double blocks = static_cast<double>(kernel.grid.count());
  if (kernel.counts_again() || !(blocks > 0)) return;
  if (const auto limit = limit_of(device, kernel)) kernel.blocks_per_sm = limit->blocks;
  if (device.sm_count <= 0) return;
  // Fewer clusters fit than their blocks would, as all blocks of one share a part of the GPU.
  if (kernel.blocks_per_sm && kernel.cluster.count() <= 1)
    kernel.waves = blocks / (device.sm_count * *kernel.blocks_per_sm);
  if (kernel.waves ? *kernel.waves < 1 : blocks < device.sm_count)
    kernel.flags.emplace_back(kSmallGrid);
}

std::optional<OccupancyLimit> occupancy_limit(const DeviceInfo& device, const KernelRow& kernel) {
  if (kernel.counts_again()) return std::nullopt;
  const auto limit = limit_of(device, kernel);
  if (!limit) return std::nullopt;
  return OccupancyLimit{limit->blocks * limit->warps / limit->of_sm, limit->by};
}

Maybe tail_share(const KernelRow& kernel) {
  if (!kernel.waves || !(*kernel.waves > 0)) return std::nullopt;
  if (*kernel.waves <= 1) return 0;
  const double idle = 1 - *kernel.waves / std::ceil(*kernel.waves);
  return std::clamp(1 - kernel.roof.fraction.value_or(0), 0.0, idle);
}

}  // namespace gable
