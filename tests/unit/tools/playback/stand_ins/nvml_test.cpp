// SPDX-License-Identifier: Apache-2.0
// The playback libnvidia-ml, called as a program calls the real one: gpus.jsonl says what it tells.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tools/playback/driver/gpu.h"

extern "C" {
struct NvmlMemory {
  unsigned long long total, free, used;
};
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device);
int nvmlDeviceGetMemoryInfo(void* device, NvmlMemory* memory);
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* value);
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* value);
int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* value);
int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* value);
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* state);
int nvmlDeviceGetNvLinkVersion(void* device, unsigned link, unsigned* version);
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons);
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz);
int nvmlDeviceGetPowerUsage(void* device, unsigned* mw);
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* mw);
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius);
}

namespace gable {
namespace {

// As nvml.h has them.
constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kUnknown = 999;
constexpr unsigned kUntouched = 12345;

void* handle(std::uintptr_t place) { return reinterpret_cast<void*>(place); }

class Nvml : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("GABLE_PLAYBACK", GABLE_TEST_RECORDING, 1);
    setenv("GABLE_PLAYBACK_FREE_MEMORY", "900,80,7", 1);
    fired_ = testing::TempDir() + "gable-fired-XXXXXX";
    close(mkstemp(fired_.data()));
    setenv("GABLE_PLAYBACK_FIRED", fired_.c_str(), 1);
    for (const char* name : {"GABLE_PLAYBACK_FAULTS", "GABLE_PLAYBACK_SWITCHES"}) unsetenv(name);
  }
  static void TearDownTestSuite() { unlink(fired_.c_str()); }

  static void fault(const std::string& line) {
    std::vector<RecordedFault> faults;
    std::map<std::string, std::string> switches;
    ASSERT_EQ(parse_faults(line, "test", faults, switches), "");
    for (const auto& one : faults) playback::Gpu::get().control().add(one);
  }
  // The calls whose faults took effect, one a line.
  static std::string fired() {
    std::ifstream file(fired_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::string fired_;
};
std::string Nvml::fired_;

TEST_F(Nvml, StartsUnlessAFaultSaysOtherwise) {
  EXPECT_EQ(nvmlInit_v2(), kSuccess);
  fault(R"({"fault":"call","call":"nvmlInit_v2","code":9,"times":1})");
  EXPECT_EQ(nvmlInit_v2(), 9);
  EXPECT_EQ(nvmlInit_v2(), kSuccess);
}

TEST_F(Nvml, FaultsOfItsCallsTakeEffect) {
  void* device = nullptr;
  fault(R"({"fault":"call","call":"nvmlDeviceGetHandleByPciBusId_v2","code":4,"times":1})");
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:01:00.0", &device), 4);
  EXPECT_EQ(device, nullptr);
  fault(R"({"fault":"call","call":"nvmlDeviceGetMaxPcieLinkWidth","code":15,"times":1})");
  unsigned value = kUntouched;
  EXPECT_EQ(nvmlDeviceGetMaxPcieLinkWidth(handle(1), &value), 15);
  EXPECT_EQ(value, kUntouched);
  EXPECT_EQ(nvmlDeviceGetMaxPcieLinkWidth(handle(1), &value), kSuccess);
}

TEST_F(Nvml, DelaysOfItsCallsTakeEffect) {
  const std::string before = fired();
  fault(R"({"fault":"delay","call":"nvmlInit_v2","ms":1,"times":1})");
  fault(R"({"fault":"delay","call":"nvmlDeviceGetPowerUsage","ms":1,"times":1})");
  EXPECT_EQ(nvmlInit_v2(), kSuccess);
  unsigned value = 0;
  EXPECT_EQ(nvmlDeviceGetPowerUsage(handle(3), &value), kNotSupported);
  EXPECT_EQ(fired(), before + "nvmlInit_v2\nnvmlDeviceGetPowerUsage\n");
}

TEST_F(Nvml, FindsADeviceByItsPciAddress) {
  struct Case {
    const char* bus;
    int answer;
    std::uintptr_t device;
  };
  for (const Case& one : {Case{"0000:01:00.0", kSuccess, 1}, Case{"0000:0a:00.0", kSuccess, 10},
                          Case{"0000:10:00.0", kSuccess, 16}, Case{"0000:00:00.0", kUnknown, 0},
                          Case{"0000:11:00.0", kUnknown, 17}, Case{"0001", kUnknown, 0}}) {
    void* device = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(one.bus, &device), one.answer) << one.bus;
    EXPECT_EQ(device, handle(one.device)) << one.bus;
  }
  void* device = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(nullptr, &device), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:01:00.0", nullptr), kInvalidArgument);
}

TEST_F(Nvml, TellsOfNoOtherDevices) {
  unsigned value = kUntouched;
  EXPECT_EQ(nvmlDeviceGetCurrPcieLinkWidth(handle(0), &value), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetCurrPcieLinkWidth(handle(17), &value), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetCurrPcieLinkWidth(handle(16), &value), kNotSupported);
  EXPECT_EQ(value, kUntouched);
}

TEST_F(Nvml, TellsThePcieLinkAsItIsAndAtMost) {
  using Call = int (*)(void*, unsigned*);
  struct Case {
    Call call;
    unsigned first, second;
  };
  for (const Case& one :
       {Case{nvmlDeviceGetCurrPcieLinkGeneration, 4, 3}, Case{nvmlDeviceGetCurrPcieLinkWidth, 8, 4},
        Case{nvmlDeviceGetMaxPcieLinkGeneration, 5, 3},
        Case{nvmlDeviceGetMaxPcieLinkWidth, 16, 4}}) {
    unsigned value = 0;
    EXPECT_EQ(one.call(handle(1), &value), kSuccess);
    EXPECT_EQ(value, one.first);
    EXPECT_EQ(one.call(handle(2), &value), kSuccess);
    EXPECT_EQ(value, one.second);
    EXPECT_EQ(one.call(handle(3), &value), kNotSupported);
    EXPECT_EQ(value, one.second);
    EXPECT_EQ(one.call(handle(1), nullptr), kInvalidArgument);
  }
}

TEST_F(Nvml, TellsWhichNvLinksAreActive) {
  int state = -1;
  EXPECT_EQ(nvmlDeviceGetNvLinkState(handle(1), 2, &state), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetNvLinkState(handle(1), 1, nullptr), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetNvLinkState(handle(2), 0, &state), kNotSupported);
  EXPECT_EQ(nvmlDeviceGetNvLinkState(handle(3), 0, &state), kUnknown);
  EXPECT_EQ(state, -1);
  EXPECT_EQ(nvmlDeviceGetNvLinkState(handle(1), 0, &state), kSuccess);
  EXPECT_EQ(state, 1);
  state = -1;
  EXPECT_EQ(nvmlDeviceGetNvLinkState(handle(1), 1, &state), kSuccess);
  EXPECT_EQ(state, 1);
}

TEST_F(Nvml, TellsTheNvLinkVersionAsNvmlNumbersThem) {
  // nvmlNvlinkVersion_t: 1.0 is 1, 2.0 is 2, 2.2 is 3, 3.0 is 4, 3.1 is 5, 4.0 is 6 and 5.0 is 7.
  const std::map<std::uintptr_t, unsigned> values = {{4, 1}, {5, 2}, {1, 4}, {6, 6}, {7, 7}};
  for (const auto& [device, expected] : values) {
    unsigned version = 0;
    EXPECT_EQ(nvmlDeviceGetNvLinkVersion(handle(device), 0, &version), kSuccess) << device;
    EXPECT_EQ(version, expected) << device;
  }
  unsigned version = kUntouched;
  EXPECT_EQ(nvmlDeviceGetNvLinkVersion(handle(1), 2, &version), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetNvLinkVersion(handle(2), 0, &version), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetNvLinkVersion(handle(3), 0, &version), kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetNvLinkVersion(handle(9), 0, &version), kNotSupported);
  EXPECT_EQ(version, kUntouched);
  EXPECT_EQ(nvmlDeviceGetNvLinkVersion(handle(1), 1, nullptr), kInvalidArgument);
}

// The memory left, or the answer where it is none.
std::string memory(std::uintptr_t device) {
  NvmlMemory memory{1, 1, 1};
  const int answer = nvmlDeviceGetMemoryInfo(handle(device), &memory);
  if (answer != kSuccess) return "answer " + std::to_string(answer);
  return std::to_string(memory.free) + " of " + std::to_string(memory.total) + ", used " +
         std::to_string(memory.used);
}

TEST_F(Nvml, EveryQuestionTakesTheNextFreeMemory) {
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(handle(1), nullptr), kUnknown);  // takes none
  EXPECT_EQ(memory(17), "answer 2");
  EXPECT_EQ(memory(1), "900 of 150754820096, used 150754819196");
  EXPECT_EQ(memory(2), "80 of 150754820096, used 150754820016");
  EXPECT_EQ(memory(1), "7 of 150754820096, used 150754820089");
  EXPECT_EQ(memory(1), "7 of 150754820096, used 150754820089");
}

// What a device's calls for a reading answer, without that for the reasons.
std::string reading(std::uintptr_t device) {
  std::string all;
  const auto put = [&](const char* name, int answer, const unsigned& value) {
    all += std::string(all.empty() ? "" : " ") + name + " " +
           (answer == kSuccess ? std::to_string(value) : "answer " + std::to_string(answer));
  };
  unsigned value = kUntouched;
  put("sm", nvmlDeviceGetClockInfo(handle(device), 1, &value), value);
  put("memory", nvmlDeviceGetClockInfo(handle(device), 2, &value), value);
  put("power", nvmlDeviceGetPowerUsage(handle(device), &value), value);
  put("limit", nvmlDeviceGetEnforcedPowerLimit(handle(device), &value), value);
  put("celsius", nvmlDeviceGetTemperature(handle(device), 0, &value), value);
  return all;
}

TEST_F(Nvml, TheReasonsAreTheFirstOfAReading) {
  const std::string first = "sm 1410 memory 3202 power 690500 limit 700000 celsius 71";
  const std::string second = "sm 1500 memory 3202 power 1250 limit 650000 celsius 30";
  EXPECT_EQ(reading(1), first) << "before the first";
  for (const auto& [bits, others] :
       {std::pair{0x4ULL, first}, {0x101ULL, second}, {0x101ULL, second}}) {
    unsigned long long reasons = 0;
    EXPECT_EQ(nvmlDeviceGetCurrentClocksEventReasons(handle(1), &reasons), kSuccess);
    EXPECT_EQ(reasons, bits);
    EXPECT_EQ(reading(1), others);
    EXPECT_EQ(reading(1), others);
  }
}

TEST_F(Nvml, WhatAReadingDoesNotSayIsNotSupported) {
  unsigned long long reasons = kUntouched;
  EXPECT_EQ(nvmlDeviceGetCurrentClocksEventReasons(handle(2), &reasons), kNotSupported);
  EXPECT_EQ(reading(2), "sm answer 3 memory answer 3 power answer 3 limit answer 3 celsius 41");
  for (const std::uintptr_t none : {3, 4}) {  // an empty list, and no list
    EXPECT_EQ(nvmlDeviceGetCurrentClocksEventReasons(handle(none), &reasons), kNotSupported);
    EXPECT_EQ(reading(none),
              "sm answer 3 memory answer 3 power answer 3 limit answer 3 celsius answer 3");
  }
  EXPECT_EQ(reasons, kUntouched);
}

TEST_F(Nvml, AQuestionWithoutReasonsTakesAReadingToo) {
  unsigned watts = 0;
  for (const unsigned expected : {1000, 2000, 2000}) {
    unsigned long long reasons = 0;
    EXPECT_EQ(nvmlDeviceGetCurrentClocksEventReasons(handle(8), &reasons), kNotSupported);
    EXPECT_EQ(nvmlDeviceGetPowerUsage(handle(8), &watts), kSuccess);
    EXPECT_EQ(watts, expected);
  }
}

TEST_F(Nvml, HasTwoClocksAndOneSensor) {
  unsigned value = kUntouched;
  for (const unsigned type : {0, 3, 10, 20})
    EXPECT_EQ(nvmlDeviceGetClockInfo(handle(1), type, &value), kInvalidArgument) << type;
  for (const unsigned sensor : {1, 2})
    EXPECT_EQ(nvmlDeviceGetTemperature(handle(1), sensor, &value), kInvalidArgument) << sensor;
  EXPECT_EQ(value, kUntouched);
}

}  // namespace
}  // namespace gable
