// SPDX-License-Identifier: Apache-2.0
// Kernels, devices, faults and switches of recordings, and the forms of their fields.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/recording/recording.h"

namespace gable::tests {
namespace {

const std::string kHeader = R"({"gable_recording": 1, "origin": "hand-written"})"
                            "\n";

std::unique_ptr<Recording> read(const std::string& lines) {
  auto result = parse_recording(kHeader + lines, "r");
  EXPECT_NE(result.recording, nullptr) << lines << ": " << result.error;
  return result.recording ? std::move(result.recording) : std::make_unique<Recording>();
}

bool is_wrong(const std::string& lines) {
  const auto result = parse_recording(kHeader + lines, "r");
  EXPECT_EQ(result.recording == nullptr, !result.error.empty());
  return result.recording == nullptr;
}

TEST(RecordedDefinitions, Header) {
  for (const char* origin : {"recorded", "playback", "converted", "generated", "hand-written"}) {
    const auto result =
        parse_recording(R"({"gable_recording": 1, "note": "n", "metrics": ["b", "a"],)"
                        R"( "comment": 5, "origin": ")" +
                            std::string(origin) + "\"}",
                        "file");
    ASSERT_NE(result.recording, nullptr) << result.error;
    EXPECT_EQ(result.recording->origin, origin);
    EXPECT_EQ(result.recording->note, "n");
    EXPECT_EQ(result.recording->path, "file");
    ASSERT_TRUE(result.recording->metrics);
    EXPECT_EQ(result.recording->metrics->size(), 2u);
    EXPECT_TRUE(result.recording->metrics->contains("a"));
  }
  EXPECT_FALSE(read("")->metrics);
  for (const char* wrong :
       {R"({"gable_recording": 1})", R"({"gable_recording": 0, "origin": "recorded"})",
        R"({"gable_recording": 1, "origin": "recorded", "metrics": "a"})",
        R"({"gable_recording": 1, "origin": "recorded", "metric": []})"})
    EXPECT_EQ(parse_recording(wrong, "r").recording, nullptr) << wrong;
}

TEST(RecordedDefinitions, Kernels) {
  const auto recording =
      read(R"({"kernel": "a", "name": "_Z1av", "grid": [1, 2, 2147483647], "block": [4, 5, 6], )"
           R"("cluster": [7, 8, 9], "dynamic_shared": 10, "registers": 255, "static_shared": 11, )"
           R"("time_ns": 0, "counters": {"x": 1.5, "y": null}, "unknown": ["z", "*"]})"
           "\n"
           R"({"kernel": "b"})");
  ASSERT_EQ(recording->kernels.size(), 2u);
  const RecordedKernel& a = recording->kernels[0];
  EXPECT_EQ(a.id, "a");
  EXPECT_EQ(a.name, "_Z1av");
  EXPECT_EQ(a.grid, (Dim3{1, 2, 2147483647}));
  EXPECT_EQ(a.block, (Dim3{4, 5, 6}));
  EXPECT_EQ(a.cluster, (Dim3{7, 8, 9}));
  EXPECT_EQ(a.dynamic_shared, 10u);
  EXPECT_EQ(a.registers, 255u);
  EXPECT_EQ(a.static_shared, 11u);
  EXPECT_EQ(a.time_ns, 0u);
  EXPECT_EQ(a.counters.at("x"), 1.5);
  EXPECT_TRUE(std::isnan(a.counters.at("y")));
  EXPECT_EQ(a.unknown, (std::vector<std::string>{"z", "*"}));
  const RecordedKernel& b = recording->kernels[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.grid, Dim3());
  EXPECT_EQ(b.time_ns, 1000u);
  for (const char* wrong :
       {R"({"kernel": "a", "grid": [2147483648, 1, 1]})", R"({"kernel": "a", "grid": 1})",
        R"({"kernel": "a", "grid": [1, 1, 1, 1]})", R"({"kernel": "a", "grid": [1, 1, "1"]})",
        R"({"kernel": "a", "registers": 65536})", R"({"kernel": "a", "counters": 1})",
        R"({"kernel": "a", "unknown": [1]})"})
    EXPECT_TRUE(is_wrong(wrong)) << wrong;
}

// Whole numbers may be written with a point or an exponent, as long as they are whole and fit.
TEST(RecordedDefinitions, WholeNumbers) {
  const auto time = [](const std::string& text) {
    return read(R"({"kernel": "k", "time_ns": )" + text + "}")->kernels.at(0).time_ns;
  };
  EXPECT_EQ(time("5.0"), 5u);
  EXPECT_EQ(time("1e3"), 1000u);
  EXPECT_EQ(time("0.0"), 0u);
  EXPECT_EQ(time("18446744073709551615"), 18446744073709551615u);
  for (const char* wrong : {"-1.0", "0.5", "9e15", "-1", "\"5\"", "null", "true"})
    EXPECT_TRUE(is_wrong(R"({"kernel": "k", "time_ns": )" + std::string(wrong) + "}")) << wrong;
  const auto shared = [](const std::string& text) {
    return R"({"kernel": "k", "dynamic_shared": )" + text + "}";
  };
  EXPECT_EQ(read(shared("4294967295"))->kernels.at(0).dynamic_shared, 4294967295u);
  EXPECT_TRUE(is_wrong(shared("4294967296")));
  EXPECT_TRUE(is_wrong(shared("4294967296.0")));
  const auto id = [](const std::string& text) {
    return R"({"op": "start", "name": "a", "id": )" + text + "}";
  };
  EXPECT_EQ(read(id("9223372036854775807"))->ops.at(0).id, 9223372036854775807);
  for (const char* wrong : {"-1", "-1.0", "9223372036854775808"})
    EXPECT_TRUE(is_wrong(id(wrong))) << wrong;
  const auto times = [](const std::string& text) {
    return R"({"fault": "call", "call": "f", "code": 1, "times": )" + text + "}";
  };
  EXPECT_EQ(read(times("-1"))->faults.at(0).times, -1);
  EXPECT_EQ(read(times("-1.0"))->faults.at(0).times, -1);
  for (const char* wrong : {"-2", "-2.0", "-9223372036854775808"})
    EXPECT_TRUE(is_wrong(times(wrong))) << wrong;
}

TEST(RecordedDefinitions, Devices) {
  const auto recording =
      read(R"({"device": 1, "name": "B", "chip": "GB100", "compute_capability": [10, 3], )"
           R"("sm_count": 148, "sm_clock_max_hz": 5, "memory_clock_max_hz": 6, )"
           R"("memory_bus_bits": 7, "memory_bytes": 8, "l2_bytes": 9, "pcie": [5, 8], )"
           R"("pcie_max": [6, 16], "nvlink": [18, 5]})"
           "\n"
           R"({"device": 0, "pcie": [4, 16]})");
  ASSERT_EQ(recording->devices.size(), 2u);
  const DeviceInfo& usual = recording->devices[0];
  EXPECT_EQ(usual.id, 0);
  EXPECT_EQ(usual.name, "NVIDIA H200");
  EXPECT_EQ(usual.chip, "GH100");
  EXPECT_EQ(usual.compute_major, 9);
  EXPECT_EQ(usual.compute_minor, 0);
  EXPECT_EQ(usual.sm_count, 132);
  EXPECT_EQ(usual.sm_clock_max_hz, 1'980'000'000u);
  EXPECT_EQ(usual.memory_clock_max_hz, 3'201'000'000u);
  EXPECT_EQ(usual.memory_bus_bits, 6144u);
  EXPECT_EQ(usual.memory_bytes, 150'754'820'096u);
  EXPECT_EQ(usual.l2_bytes, 62'914'560u);
  EXPECT_EQ(usual.links.pcie, (DeviceLinks::Pcie{4, 16}));
  EXPECT_EQ(usual.links.pcie_max, (DeviceLinks::Pcie{4, 16}));
  EXPECT_EQ(usual.links.nvlinks, std::nullopt);
  const DeviceInfo& other = recording->devices[1];
  EXPECT_EQ(other.id, 1);
  EXPECT_EQ(other.name, "B");
  EXPECT_EQ(other.chip, "GB100");
  EXPECT_EQ(other.compute_major, 10);
  EXPECT_EQ(other.compute_minor, 3);
  EXPECT_EQ(other.sm_count, 148);
  EXPECT_EQ(other.sm_clock_max_hz, 5u);
  EXPECT_EQ(other.memory_clock_max_hz, 6u);
  EXPECT_EQ(other.memory_bus_bits, 7u);
  EXPECT_EQ(other.memory_bytes, 8u);
  EXPECT_EQ(other.l2_bytes, 9u);
  EXPECT_EQ(other.links.pcie, (DeviceLinks::Pcie{5, 8}));
  EXPECT_EQ(other.links.pcie_max, (DeviceLinks::Pcie{6, 16}));
  EXPECT_EQ(other.links.nvlinks, 18);
  EXPECT_EQ(other.links.nvlink_version, 5);
  EXPECT_EQ(read(R"({"device": 0, "nvlink": [0, 99], "sm_count": 1})")->devices[0].links.nvlinks,
            0);
  for (const char* wrong :
       {R"({"device": -1})", R"({"device": 0, "sm_count": 0})", R"({"device": 0, "pcie": [5]})",
        R"({"device": 0, "pcie": 5})", R"({"device": 0, "pcie": [5, 100]})",
        R"({"device": 0, "nvlink": [-1, 4]})", R"({"device": 0, "nvlink": [100, 4]})",
        R"({"device": 0, "pcie": [-1, 4]})", R"({"device": 0, "nvlink": [1, -1]})"})
    EXPECT_TRUE(is_wrong(wrong)) << wrong;
}

TEST(RecordedDefinitions, Readings) {
  const auto recording =
      read(R"({"device": 0, "readings": [{"sm_clock_hz": 1, "memory_clock_hz": 2, "power_w": 3.5, )"
           R"("power_limit_w": 4, "temperature_c": 5, "reasons": []}, {}, {"reasons": ["idle", )"
           R"("clocks_set", "power_cap", "hw_slowdown", "sync_boost", "sw_thermal", "hw_thermal", )"
           R"("power_brake", "display"]}]})");
  const auto& readings = recording->readings.at(0);
  ASSERT_EQ(readings.size(), 3u);
  EXPECT_EQ(readings[0].sm_clock_hz, 1);
  EXPECT_EQ(readings[0].memory_clock_hz, 2);
  EXPECT_EQ(readings[0].power_w, 3.5);
  EXPECT_EQ(readings[0].power_limit_w, 4);
  EXPECT_EQ(readings[0].temperature_c, 5);
  EXPECT_EQ(readings[0].reasons, 0u);
  EXPECT_FALSE(readings[1].reasons || readings[1].sm_clock_hz || readings[1].power_w);
  EXPECT_EQ(readings[2].reasons, 0x1FFu);
  for (const auto& [word, reason] : {std::pair("idle", 0x1u), {"power_cap", 0x4u}}) {
    const auto one =
        read(R"({"device": 0, "readings": [{"reasons": [")" + std::string(word) + "\"]}]}");
    EXPECT_EQ(one->readings.at(0)[0].reasons, reason);
  }
  for (const char* wrong : {R"({"device": 0, "readings": {}})", R"({"device": 0, "readings": [1]})",
                            R"({"device": 0, "readings": [{"reasons": ["tired"]}]})",
                            R"({"device": 0, "readings": [{"volts": 1}]})",
                            R"({"device": 0, "readings": [{"power_w": "much"}]})"})
    EXPECT_TRUE(is_wrong(wrong)) << wrong;
}

TEST(RecordedDefinitions, Faults) {
  const auto fault = [](const std::string& fields) {
    return read("{\"fault\": " + fields + "}")->faults.at(0);
  };
  const RecordedFault call =
      fault(R"("call", "call": "cuptiFoo", "code": 1, "after": 2, "times": 3, "holder": "nsys")");
  EXPECT_EQ(call.fault, Fault::call);
  EXPECT_EQ(call.call, "cuptiFoo");
  EXPECT_EQ(call.code, 1);
  EXPECT_EQ(call.after, 2u);
  EXPECT_EQ(call.times, 3);
  EXPECT_EQ(call.holder, "nsys");
  const RecordedFault hang = fault(R"("hang", "call": "f")");
  EXPECT_EQ(hang.fault, Fault::hang);
  EXPECT_EQ(hang.call, "f");
  EXPECT_EQ(hang.after, 0u);
  EXPECT_EQ(hang.times, -1);
  const RecordedFault delay = fault(R"("delay", "call": "f", "ms": 7, "after": 1)");
  EXPECT_EQ(delay.fault, Fault::delay);
  EXPECT_EQ(delay.call, "f");
  EXPECT_EQ(delay.count, 7u);
  EXPECT_EQ(delay.after, 1u);
  for (const auto& [word, kind] : {std::pair("lose_records", Fault::lose_records),
                                   {"zero_timestamps", Fault::zero_timestamps},
                                   {"drop_ranges", Fault::drop_ranges},
                                   {"wrong_ctas", Fault::wrong_ctas}}) {
    const RecordedFault counted = fault("\"" + std::string(word) + R"(", "count": 4)");
    EXPECT_EQ(counted.fault, kind);
    EXPECT_EQ(counted.count, 4u);
    EXPECT_TRUE(is_wrong("{\"fault\": \"" + std::string(word) + "\"}"));
  }
  EXPECT_EQ(fault(R"("no_permission")").fault, Fault::no_permission);
  for (const char* why : {"architecture", "sli", "vgpu", "vgpu_disabled", "confidential_computing",
                          "cmp", "wsl", "mig"})
    EXPECT_EQ(fault(R"("unsupported", "why": ")" + std::string(why) + "\"").why, why);
  for (const char* wrong : {R"("call", "call": "f")", R"("call", "call": "f", "code": 0)",
                            R"("hang")", R"("delay", "call": "f")", R"("delay", "ms": 1)",
                            R"("no_permission", "count": 1)", R"("hang", "call": "f", "code": 1)"})
    EXPECT_TRUE(is_wrong("{\"fault\": " + std::string(wrong) + "}")) << wrong;
}

// Before the first operation they hold from the start; later ones are operations.
TEST(RecordedDefinitions, FaultsAndSwitchesHoldFromWhereTheyStand) {
  const auto recording = read(R"({"fault": "no_permission"})"
                              "\n"
                              R"({"switch": "a", "value": "1"})"
                              "\n"
                              R"({"sequence": "s"})"
                              "\n"
                              R"({"fault": "no_permission"})"
                              "\n"
                              R"({"switch": "b", "value": "2"})"
                              "\n"
                              R"({"end_sequence": "s"})"
                              "\n"
                              R"({"switch": "c", "value": "3"})"
                              "\n"
                              R"({"op": "sync"})"
                              "\n"
                              R"({"fault": "no_permission"})"
                              "\n"
                              R"({"switch": "d", "value": "4"})");
  EXPECT_EQ(recording->faults.size(), 3u);
  EXPECT_EQ(recording->initial_faults, 1u);
  EXPECT_EQ(recording->switches, (std::map<std::string, std::string>{{"a", "1"}, {"c", "3"}}));
  const auto& within = recording->sequences.at(0).ops;
  ASSERT_EQ(within.size(), 2u);
  EXPECT_EQ(within[0].kind, OpKind::fault);
  EXPECT_EQ(within[0].index, 1u);
  EXPECT_EQ(within[1].kind, OpKind::set_switch);
  EXPECT_EQ(within[1].name, "b");
  EXPECT_EQ(within[1].value, "2");
  ASSERT_EQ(recording->ops.size(), 3u);
  EXPECT_EQ(recording->ops[1].kind, OpKind::fault);
  EXPECT_EQ(recording->ops[1].index, 2u);
  EXPECT_EQ(recording->ops[2].name, "d");
}

TEST(RecordedDefinitions, SeveralFaultsAlone) {
  std::vector<RecordedFault> faults(1);
  std::map<std::string, std::string> switches = {{"a", "old"}, {"b", "old"}};
  EXPECT_EQ(parse_faults("\n# two\n{\"fault\": \"no_permission\"}\n"
                         "{\"fault\": \"lose_records\", \"count\": 2}\r\n"
                         "{\"switch\": \"a\", \"value\": \"new\"}\n",
                         "f", faults, switches),
            "");
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[2].count, 2u);
  EXPECT_EQ(switches, (std::map<std::string, std::string>{{"a", "new"}, {"b", "old"}}));
  EXPECT_EQ(parse_faults("\n{\"fault\": \"none\"}", "f", faults, switches),
            "f:2: there is no fault \"none\".");
  EXPECT_EQ(faults.size(), 3u);
}

TEST(RecordedDefinitions, SequencesAndDevicesAreOnce) {
  EXPECT_TRUE(
      is_wrong("{\"sequence\": \"s\"}\n{\"end_sequence\": \"s\"}\n{\"sequence\": \"s\"}\n"
               "{\"end_sequence\": \"s\"}"));
  EXPECT_TRUE(is_wrong("{\"sequence\": \"s\"}\n{\"end_sequence\": \"t\"}"));
  EXPECT_TRUE(is_wrong("{\"end_sequence\": \"t\"}"));
  const auto two = read(
      "{\"sequence\": \"s\"}\n{\"op\": \"sync\"}\n{\"end_sequence\": \"s\"}\n"
      "{\"sequence\": \"t\"}\n{\"op\": \"play\", \"sequence\": \"s\"}\n"
      "{\"end_sequence\": \"t\"}\n{\"op\": \"play\", \"sequence\": \"t\"}");
  EXPECT_EQ(two->sequences.at(1).name, "t");
  EXPECT_EQ(two->sequences.at(1).ops.at(0).index, 0u);
  EXPECT_EQ(two->ops.at(0).index, 1u);
}

}  // namespace
}  // namespace gable::tests
