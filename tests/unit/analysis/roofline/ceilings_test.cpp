// SPDX-License-Identifier: Apache-2.0
// Theoretical roofs: which there are, at which clock, and from what.
#include "analysis/roofline/ceilings.h"

#include <algorithm>

#include "analysis/roofline/chip_rates.h"
#include "analysis/roofline/roofline.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

const Ceiling* find(const std::vector<Ceiling>& ceilings, const std::string& name, SmClock clock) {
  const auto found = std::find_if(ceilings.begin(), ceilings.end(), [&](const Ceiling& each) {
    return each.name == name && each.clock == clock;
  });
  return found == ceilings.end() ? nullptr : &*found;
}

double value(const std::vector<Ceiling>& ceilings, const std::string& name,
             SmClock clock = SmClock::boost) {
  const Ceiling* ceiling = find(ceilings, name, clock);
  return ceiling == nullptr ? 0 : ceiling->value;
}

TEST(Ceilings, OfAnA100ToTheLastDigit) {
  const auto ceilings = theoretical_ceilings(a100());
  EXPECT_DOUBLE_EQ(value(ceilings, "fp32"), 108 * 128 * 1.41e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp64"), 108 * 64 * 1.41e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp16"), 108 * 512 * 1.41e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp32_no_fma"), 108 * 64 * 1.41e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp64_no_fma"), 108 * 32 * 1.41e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp16_no_fma"), 108 * 256 * 1.41e9);
  EXPECT_EQ(find(ceilings, "fp8_tensor", SmClock::boost), nullptr);          // it has none
  EXPECT_EQ(find(ceilings, "fp16_tensor_sparse", SmClock::boost), nullptr);  // nothing sparse ran
  EXPECT_EQ(ceilings.front().source,
            "theoretical: 108 SMs x 64 per clock x 1.41 GHz, the highest clock; CUDA C++ "
            "Programming Guide, \"Arithmetic Instructions\"");
  EXPECT_EQ(Roofline(ceilings).source(0, "dram"), "theoretical");
}

TEST(Ceilings, AtTheMeasuredClockFirstAndTheHighestBeside) {
  const auto ceilings = theoretical_ceilings(a100(), 1.2e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp32", SmClock::measured), 108 * 128 * 1.2e9);
  EXPECT_DOUBLE_EQ(value(ceilings, "fp32", SmClock::boost), 108 * 128 * 1.41e9);
  EXPECT_EQ(ceilings.front().clock, SmClock::measured);
  EXPECT_NE(ceilings.front().source.find("1.2 GHz, the measured clock"), std::string::npos);
  EXPECT_EQ(std::count_if(ceilings.begin(), ceilings.end(),
                          [](const Ceiling& each) { return each.name == "dram"; }),
            1);  // no SM clock has a part in it
}

TEST(Ceilings, SparseRatesOfWhatRanSparse) {
  const auto ceilings = theoretical_ceilings(a100(), std::nullopt, {"fp16", "fp64"});
  EXPECT_DOUBLE_EQ(value(ceilings, "fp16_tensor_sparse"), 2 * value(ceilings, "fp16_tensor"));
  EXPECT_EQ(find(ceilings, "bf16_tensor_sparse", SmClock::boost), nullptr);
  EXPECT_EQ(find(ceilings, "fp64_tensor_sparse", SmClock::boost),
            nullptr);  // there is no such rate
}

TEST(Ceilings, GeForceTensorCoresAccumulateAtHalfRate) {
  DeviceInfo device = a100();
  device.compute_minor = 6;
  device.sm_count = 84;
  device.sm_clock_max_hz = 1800000000;
  device.name = "NVIDIA RTX A6000";
  EXPECT_DOUBLE_EQ(value(theoretical_ceilings(device), "fp16_tensor"), 84 * 1024 * 1.8e9);
  device.name = "NVIDIA GeForce RTX 3090";
  EXPECT_DOUBLE_EQ(value(theoretical_ceilings(device), "fp16_tensor"), 84 * 512 * 1.8e9);
}

TEST(Ceilings, WhatADeviceDoesNotSayIsUnknown) {
  DeviceInfo device = a100();
  device.compute_major = 99;
  EXPECT_EQ(theoretical_ceilings(device, 1e9).size(), 1u);  // memory alone
  device.memory_clock_max_hz = 0;
  EXPECT_TRUE(theoretical_ceilings(device).empty());
  device = a100();
  device.sm_clock_max_hz = 0;
  EXPECT_EQ(theoretical_ceilings(device).size(), 1u);
  device = a100();
  device.l2_bytes = 0;
  EXPECT_EQ(find(theoretical_ceilings(device), "l2", SmClock::boost), nullptr);
}

// What others measured with benchmarks of their own is below the roof, and not far below.
TEST(Ceilings, AreAboveWhatOthersMeasured) {
  struct Measured {
    const char* ceiling;
    double value;
  };
  const auto check = [](const DeviceInfo& device, const std::vector<Measured>& all) {
    const auto ceilings = theoretical_ceilings(device);
    for (const Measured& each : all) {
      const SmClock clock = std::string(each.ceiling) == "dram" ? SmClock::none : SmClock::boost;
      const double share = each.value / value(ceilings, each.ceiling, clock);
      EXPECT_LT(share, 1) << device.name << " " << each.ceiling;
      EXPECT_GT(share, 0.6) << device.name << " " << each.ceiling;
    }
  };
  DeviceInfo device;
  device.name = "Tesla V100-SXM2-16GB";
  device.compute_major = 7;
  device.sm_count = 80;
  device.sm_clock_max_hz = 1530000000;
  device.memory_clock_max_hz = 877000000;
  device.memory_bus_bits = 4096;
  device.l2_bytes = 6291456;
  // NERSC, Empirical Roofline Toolkit.
  check(device, {{"l1", 14336e9},
                 {"l2", 2996.77e9},
                 {"dram", 828.758e9},
                 {"fp64", 7068.86e9},
                 {"fp64_no_fma", 3535.79e9}});
  device.name = "NVIDIA H200";
  device.compute_major = 9;
  device.sm_count = 132;
  device.sm_clock_max_hz = 1980000000;
  device.memory_clock_max_hz = 3201000000;
  device.memory_bus_bits = 6144;
  check(device, {{"dram", 4028e9}, {"fp32", 59.5e12}, {"bf16_tensor", 686e12}});  // gpu-roofline
  device.name = "NVIDIA GeForce RTX 5090";
  device.compute_major = 12;
  device.sm_count = 170;
  device.sm_clock_max_hz = 2407000000;
  device.memory_clock_max_hz = 14001000000;
  device.memory_bus_bits = 512;
  check(device, {{"dram", 1503e9}, {"fp32", 95.8e12}});  // gpu-roofline
}

// Boards of 7.5 have tensor cores at the full rate, at half of it, or none: without a name the roof
// is unknown.
TEST(TheoreticalCeilings, NoBoardIsGuessedFromAComputeCapability) {
  DeviceInfo device;
  device.compute_major = 7;
  device.compute_minor = 5;
  device.sm_count = 40;
  device.sm_clock_max_hz = 1590000000;
  const auto has = [&](const std::string& name) {
    const auto ceilings = theoretical_ceilings(device);
    return std::any_of(ceilings.begin(), ceilings.end(),
                       [&](const Ceiling& each) { return each.name == name; });
  };
  EXPECT_TRUE(has("fp32"));
  EXPECT_FALSE(has("int8_tensor"));
  EXPECT_FALSE(has("fp16_tensor"));
  device.name = "NVIDIA GeForce GTX 1650";
  EXPECT_TRUE(has("fp32"));
  EXPECT_FALSE(has("int8_tensor"));
  EXPECT_FALSE(has("fp16_tensor"));
  device.name = "Tesla T4";
  EXPECT_TRUE(has("int8_tensor"));
  EXPECT_TRUE(has("fp16_tensor"));
}

TEST(ChipRates, EveryRowNamesItsSources) {
  for (const ChipRates& rates : chip_rates()) {
    EXPECT_FALSE(rates.cores.source.empty()) << rates.major << "." << rates.minor;
    EXPECT_FALSE(rates.tensor.source.empty()) << rates.major << "." << rates.minor;
    if (rates.caches.l1 > 0 || rates.caches.l2_slice > 0) {
      EXPECT_FALSE(rates.caches.source.empty()) << rates.major << "." << rates.minor;
    }
  }
}

}  // namespace
}  // namespace gable::tests
