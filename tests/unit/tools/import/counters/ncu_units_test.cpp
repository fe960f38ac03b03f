// SPDX-License-Identifier: Apache-2.0
// Units as ncu prints them, with every prefix, and what is none.
#include "tools/import/counters/ncu_units.h"

#include <gtest/gtest.h>

#include <string>

namespace gable {
namespace {

constexpr const char* kOfTime = "gpu__time_duration.sum";
constexpr const char* kBytes = "dram__bytes_read.sum";
constexpr const char* kInstructions = "smsp__inst_executed.sum";
constexpr const char* kClock = "sm__cycles_elapsed.avg.per_second";

double scale_of(const std::string& unit) {
  const auto found = ncu_unit(unit);
  return found ? found->scale : -1;
}

TEST(NcuUnits, EveryPrefix) {
  const std::pair<const char*, double> prefixes[] = {
      {"", 1},        {"K", 1e3},     {"k", 1e3},     {"M", 1e6},    {"G", 1e9},
      {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"Ki", 1024},  {"Mi", 0x1p20},
      {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};
  for (const auto& [prefix, factor] : prefixes) {
    for (const char* base : {"byte", "bytes", "Byte", "B", "hz", "Hz", "inst", "sector", "cycle",
                             "block", "thread", "warp", "request"})
      EXPECT_EQ(scale_of(std::string(prefix) + base), factor) << prefix << base;
  }
  for (const char* plain : {"%", "", "register/thread", "SM", "thread inst", "wavefront", "sample"})
    EXPECT_EQ(scale_of(plain), 1) << plain;
}

TEST(NcuUnits, TimesAreNanosecondsAndRatesPerSecond) {
  const std::pair<const char*, double> times[] = {
      {"ns", 1},          {"nsecond", 1},     {"nanosecond", 1},
      {"us", 1e3},        {"usecond", 1e3},   {"useconds", 1e3},
      {"\xC2\xB5s", 1e3}, {"\xCE\xBCs", 1e3}, {"microsecond", 1e3},
      {"ms", 1e6},        {"msecond", 1e6},   {"millisecond", 1e6},
      {"s", 1e9},         {"sec", 1e9},       {"second", 1e9},
      {"Second", 1e9},    {"SECONDS", 1e9},   {"US", 1e3},
      {"Usecond", 1e3},   {"psecond", 1e-3},  {"ps", 1e-3},
      {"minute", 60e9},   {"min", 60e9},      {"Minute", 60e9},
      {"hour", 3600e9},   {"h", 3600e9},      {"day", 86400e9}};
  for (const auto& [name, ns] : times) {
    EXPECT_EQ(ncu_scale(kOfTime, name), ns) << name;
    EXPECT_DOUBLE_EQ(scale_of(std::string("Gbyte/") + name), 1e9 / (ns * 1e-9)) << name;
  }
  EXPECT_DOUBLE_EQ(*ncu_scale(kClock, "cycle/nsecond"), 1e9);
  EXPECT_DOUBLE_EQ(*ncu_scale(kClock, "Ghz"), 1e9);
}

TEST(NcuUnits, WhatMayBeTwoOrNoneIsNone) {
  for (const char* unit :
       {"Mfoo", "M", "Tib", "Mb", "Gb", "mbyte", "gbyte", "Msecond", "MS", "Ms", "Psecond", "byte/",
        "/second", "byte/second/second", "parsec", "\xD0\xBC\xD1\x81", "?", "Thready"})
    EXPECT_FALSE(ncu_unit(unit)) << unit;
}

TEST(NcuUnits, OfAnotherQuantity) {
  const std::pair<const char*, const char*> wrong[] = {{kOfTime, "cycle"},
                                                       {kOfTime, "byte"},
                                                       {kOfTime, "inst"},
                                                       {kOfTime, "%"},
                                                       {kOfTime, "second/second"},
                                                       {kBytes, "sector"},
                                                       {kBytes, "bit"},
                                                       {kBytes, "Kbit"},
                                                       {kBytes, "%"},
                                                       {kBytes, "second"},
                                                       {kBytes, "byte/second"},
                                                       {kInstructions, "byte"},
                                                       {kInstructions, "%"},
                                                       {kInstructions, "nsecond"},
                                                       {kInstructions, "inst/cycle"},
                                                       {kClock, "cycle"},
                                                       {kClock, "byte/second"},
                                                       {"dram__bytes.sum.per_second", "hz"},
                                                       {"dram__bytes.sum.per_second", "byte"},
                                                       {"l1tex__t_sector_hit_rate.pct", "sector"}};
  for (const auto& [metric, unit] : wrong) EXPECT_FALSE(ncu_scale(metric, unit)) << metric << unit;
  const std::pair<const char*, const char*> right[] = {
      {kInstructions, ""},
      {kOfTime, ""},
      {kInstructions, "inst"},
      {kInstructions, "thread"},
      {"l1tex__t_sector_hit_rate.pct", "%"},
      {"l1tex__t_sector_hit_rate.pct", ""},
      {"smsp__inst_executed.avg.per_cycle_active", "inst/cycle"},
      {"smsp__inst_executed.avg.per_cycle_active", ""},
      {"dram__bytes.sum.per_cycle_elapsed", "byte/cycle"},
      {"dram__bytes.sum.peak_sustained", "byte/cycle"},
      {"smsp__average_warp_latency.ratio", "cycle"},
      {"sm__cycles_elapsed.max", "cycle"}};
  for (const auto& [metric, unit] : right) EXPECT_EQ(ncu_scale(metric, unit), 1) << metric << unit;
}

}  // namespace
}  // namespace gable
