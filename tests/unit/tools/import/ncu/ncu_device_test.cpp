// SPDX-License-Identifier: Apache-2.0
// What ncu says of the GPU, and what a block takes of it.
#include "tools/import/ncu/ncu_device.h"

#include <gtest/gtest.h>

#include "tools/base/wrong_use.h"
#include "tools/import/ncu/ncu_resources.h"

namespace gable {
namespace {

constexpr DecimalMark kPoint = DecimalMark::point;

struct Told {
  const char* attribute;
  const char* unit;
  const char* value;
};

bool take(NcuGpus& gpus, const Told& told, std::int32_t device = 2) {
  return gpus.take(device, std::string("device__attribute_") + told.attribute, told.unit,
                   told.value, kPoint);
}

DeviceInfo device_of(const std::vector<Told>& all) {
  Imported imported;
  NcuGpus gpus(imported);
  for (const Told& each : all) EXPECT_TRUE(take(gpus, each)) << each.attribute << each.value;
  gpus.finish("/x/a.csv");
  return imported.devices.at(2);
}

TEST(NcuGpus, EveryAttributeHasAPlace) {
  const DeviceInfo device = device_of({{"display_name", "", "NVIDIA H100"},
                                       {"compute_capability_major", "", "9"},
                                       {"compute_capability_minor", "", "1"},
                                       {"multiprocessor_count", "", "132"},
                                       {"clock_rate", "", "1980000"},
                                       {"memory_clock_rate", "", "2619000"},
                                       {"global_memory_bus_width", "", "5120"},
                                       {"l2_cache_size", "", "52,428,800"},
                                       {"total_memory", "", "85899345920"}});
  EXPECT_EQ(device.id, 2);
  EXPECT_EQ(device.name, "NVIDIA H100");
  EXPECT_EQ(device.compute_major, 9);
  EXPECT_EQ(device.compute_minor, 1);
  EXPECT_EQ(device.sm_count, 132);
  EXPECT_EQ(device.sm_clock_max_hz, 1'980'000'000u) << "clocks are kHz";
  EXPECT_EQ(device.memory_clock_max_hz, 2'619'000'000u);
  EXPECT_EQ(device.memory_bus_bits, 5120u);
  EXPECT_EQ(device.l2_bytes, 52'428'800u);
  EXPECT_EQ(device.memory_bytes, 85'899'345'920u);
}

TEST(NcuGpus, OfTwoThatTellTheSameTheFirstWithAValueCounts) {
  const DeviceInfo device = device_of({{"display_name", "", ""},
                                       {"display_name", "", "one"},
                                       {"display_name", "", "two"},
                                       {"clock_rate", "", "n/a"},
                                       {"max_gpu_frequency_khz", "", "5"},
                                       {"clock_rate", "", "6"},
                                       {"max_mem_frequency_khz", "", "7"},
                                       {"memory_clock_rate", "", "8"},
                                       {"fb_bus_width", "", "64"},
                                       {"global_memory_bus_width", "", "128"}});
  EXPECT_EQ(device.name, "one");
  EXPECT_EQ(device.sm_clock_max_hz, 5000u);
  EXPECT_EQ(device.memory_clock_max_hz, 7000u);
  EXPECT_EQ(device.memory_bus_bits, 64u);
}

TEST(NcuGpus, UnitsScaleWhatTheyFit) {
  const DeviceInfo device = device_of({{"clock_rate", "Ghz", "1.5"},
                                       {"memory_clock_rate", "cycle/usecond", "2"},
                                       {"l2_cache_size", "Mbyte", "50"},
                                       {"total_memory", "Gbyte", "80"},
                                       {"multiprocessor_count", "SM", "7"},
                                       {"fb_bus_width", "", "31.6"}});
  EXPECT_EQ(device.sm_clock_max_hz, 1'500'000'000u);
  EXPECT_EQ(device.memory_clock_max_hz, 2'000'000u);
  EXPECT_EQ(device.l2_bytes, 50'000'000u);
  EXPECT_EQ(device.memory_bytes, 80'000'000'000u);
  EXPECT_EQ(device.sm_count, 7);
  EXPECT_EQ(device.memory_bus_bits, 32u) << "rounded";
}

TEST(NcuGpus, WhatIsNoValueOfAnAttributeIsRefused) {
  Imported imported;
  NcuGpus gpus(imported);
  for (const Told& wrong : {Told{"clock_rate", "byte", "1"},
                            {"clock_rate", "cycle", "1"},
                            {"clock_rate", "cycle/inst", "1"},
                            {"clock_rate", "foo?", "1"},
                            {"l2_cache_size", "hz", "1"},
                            {"l2_cache_size", "byte/second", "1"},
                            {"l2_cache_size", "second", "1"},
                            {"l2_cache_size", "", "-1"},
                            {"l2_cache_size", "", "big"},
                            {"compute_capability_major", "", "1001"},
                            {"compute_capability_minor", "", "1001"},
                            {"multiprocessor_count", "", "1000001"},
                            {"clock_rate", "", "1000000001"},
                            {"max_gpu_frequency_khz", "", "1000000001"},
                            {"memory_clock_rate", "", "1000000001"},
                            {"max_mem_frequency_khz", "", "1000000001"},
                            {"global_memory_bus_width", "", "1000001"},
                            {"fb_bus_width", "", "1000001"},
                            {"l2_cache_size", "", "1000000000000001"},
                            {"total_memory", "", "1000000000000001"},
                            {"nothing_of_ours", "", "1"}})
    EXPECT_FALSE(take(gpus, wrong)) << wrong.attribute << " " << wrong.value << wrong.unit;
  for (const Told& most : {Told{"compute_capability_major", "", "1000"},
                           {"compute_capability_minor", "", "1000"},
                           {"multiprocessor_count", "", "1000000"},
                           {"clock_rate", "", "1000000000"},
                           {"max_gpu_frequency_khz", "", "1000000000"},
                           {"memory_clock_rate", "", "1000000000"},
                           {"max_mem_frequency_khz", "", "1000000000"},
                           {"global_memory_bus_width", "", "1000000"},
                           {"fb_bus_width", "", "1000000"},
                           {"l2_cache_size", "", "1000000000000000"},
                           {"total_memory", "", "1000000000000000"},
                           {"total_memory", "", "0"}})
    EXPECT_TRUE(take(gpus, most)) << most.attribute;
  EXPECT_FALSE(gpus.take(0, "sm__cycles_elapsed.max", "", "1", kPoint));
}

TEST(NcuGpus, LongNamesAreCutAndInOneLine) {
  const std::string name = "a\nb" + std::string(300, 'x');
  const DeviceInfo device = device_of({{"display_name", "", name.c_str()}});
  EXPECT_EQ(device.name.find('\n'), std::string::npos);
  EXPECT_EQ(device.name.size(), 200u);
}

TEST(NcuGpus, TitlesAndAttributesAreKnown) {
  EXPECT_TRUE(is_device_attribute("# SMs"));
  EXPECT_TRUE(is_device_attribute("device__attribute_fb_bus_width"));
  EXPECT_FALSE(is_device_attribute("device__attribute_fb_bus_widths"));
  EXPECT_FALSE(is_device_attribute("fb_bus_width"));
  EXPECT_FALSE(is_device_attribute("device__attribute_"));
  Imported imported;
  NcuGpus gpus(imported);
  EXPECT_TRUE(gpus.take(0, "# SMs", "SM", "108", kPoint));
  EXPECT_TRUE(gpus.has(0));
  EXPECT_FALSE(gpus.has(1));
  gpus.finish("a.csv");
  EXPECT_EQ(imported.devices.at(0).sm_count, 108);
  EXPECT_TRUE(imported.notes.empty()) << "no clock was told";
  EXPECT_FALSE(gpus.has(0)) << "the next file tells its own";
}

TEST(NcuGpus, TheFileThatTellsTheClockIsNamedOnce) {
  Imported imported;
  NcuGpus gpus(imported);
  for (const char* file : {"/x/a.csv", "/x/b.csv"}) {
    EXPECT_TRUE(take(gpus, {"clock_rate", "", "1"}));
    gpus.finish(file);
  }
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_NE(imported.notes[0].find("device 2 "), std::string::npos);
  EXPECT_NE(imported.notes[0].find(" a.csv"), std::string::npos);
  EXPECT_TRUE(take(gpus, {"display_name", "", "one"}));
  gpus.finish("/x/c.csv");
  EXPECT_TRUE(take(gpus, {"display_name", "", "other"}));
  EXPECT_THROW(gpus.finish("/x/d.csv"), WrongUse);
}

TEST(NcuResources, AreKnownWhenAllThreeAre) {
  for (const bool titles : {false, true}) {
    const auto name = [&](const char* metric, const char* title) {
      return titles ? title : metric;
    };
    const char* registers = name("launch__registers_per_thread", "Registers Per Thread");
    const char* fixed =
        name("launch__shared_mem_per_block_static", "Static Shared Memory Per Block");
    const char* dynamic =
        name("launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block");
    for (const char* each : {registers, fixed, dynamic}) EXPECT_TRUE(NcuResources::is_one(each));
    NcuResources resources;
    EXPECT_TRUE(resources.take(registers, "register/thread", "32", kPoint));
    EXPECT_FALSE(resources.known());
    EXPECT_TRUE(resources.take(fixed, "Kbyte/block", "1.024", kPoint));
    EXPECT_FALSE(resources.known());
    EXPECT_TRUE(resources.take(dynamic, "byte/block", "100", kPoint));
    EXPECT_EQ(resources.known(), (KernelResources{32, 1124}));
    resources.begin();
    EXPECT_TRUE(resources.take(fixed, "", "1", kPoint));
    EXPECT_TRUE(resources.take(dynamic, "", "2", kPoint));
    EXPECT_FALSE(resources.known()) << "those of another launch are not";
    EXPECT_TRUE(resources.take(registers, "", "7.6", kPoint));
    EXPECT_EQ(resources.known(), (KernelResources{8, 3}));
  }
  EXPECT_FALSE(NcuResources::is_one("launch__waves_per_multiprocessor"));
}

TEST(NcuResources, WhatIsOutOfRangeOrInAnotherUnitSaysNothing) {
  constexpr const char *kRegisters = "launch__registers_per_thread",
                       *kStatic = "launch__shared_mem_per_block_static";
  NcuResources resources;
  EXPECT_TRUE(resources.take("launch__shared_mem_per_block_dynamic", "", "0", kPoint));
  EXPECT_TRUE(resources.take(kStatic, "", "16777217", kPoint));
  EXPECT_TRUE(resources.take(kStatic, "", "-1", kPoint));
  EXPECT_TRUE(resources.take(kStatic, "", "n/a", kPoint));
  EXPECT_FALSE(resources.take(kStatic, "register/thread", "1", kPoint));
  EXPECT_FALSE(resources.take(kStatic, "what?", "1", kPoint));
  EXPECT_FALSE(resources.take(kRegisters, "byte/thread", "1", kPoint));
  EXPECT_TRUE(resources.take(kRegisters, "", "16777216", kPoint));
  EXPECT_FALSE(resources.known());
  EXPECT_TRUE(resources.take(kStatic, "", "16777216", kPoint));
  EXPECT_EQ(resources.known(), (KernelResources{1u << 24, 1u << 24}));
}

}  // namespace
}  // namespace gable
