// SPDX-License-Identifier: Apache-2.0
// Parts of a trace beside its events, and what its operators' inputs say.
#include "tools/import/kineto/kineto_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/base/wrong_use.h"
#include "tools/import/kineto/operator_inputs.h"

namespace gable {
namespace {

std::map<std::int32_t, DeviceInfo> devices_of(const std::string& text) {
  TextSource source(text, "a.json");
  JsonStream json(source);
  std::map<std::int32_t, DeviceInfo> devices;
  read_trace_devices(json, devices);
  EXPECT_EQ(json.next(), JsonStream::Token::end) << text;
  return devices;
}

TEST(TraceDevices, HaveTheirProperties) {
  const auto devices =
      devices_of(R"([{"id":0,"name":"NVIDIA H100","computeMajor":9,"computeMinor":1,"numSms":132,)"
                 R"("totalGlobalMem":85029158912,"more":[1]},7,{"id":3,"name":[1],"numSms":"x",)"
                 R"("totalGlobalMem":-1},{"id":4,"totalGlobalMem":1e18},{"id":1000000}])");
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices.at(0).name, "NVIDIA H100");
  EXPECT_EQ(devices.at(0).compute_major, 9);
  EXPECT_EQ(devices.at(0).compute_minor, 1);
  EXPECT_EQ(devices.at(0).sm_count, 132);
  EXPECT_EQ(devices.at(0).memory_bytes, 85029158912u);
  EXPECT_EQ(devices.at(3).id, 3);
  EXPECT_EQ(devices.at(3).name, "");
  EXPECT_EQ(devices.at(3).sm_count, 0);
  EXPECT_EQ(devices.at(3).memory_bytes, 0u);
  EXPECT_EQ(devices.at(4).memory_bytes, 0u);
  EXPECT_TRUE(devices_of("{\"a\":1}").empty());
  EXPECT_EQ(devices_of(R"([{"name":")" + std::string(4097, 'x') + R"("}])").at(0).name.size(),
            4096u);
  EXPECT_THROW((void)devices_of(R"([{"id":1000001}])"), WrongUse);
  EXPECT_THROW((void)devices_of(R"([{"numSms":-1}])"), WrongUse);
}

DeviceInfo board(const char* name, int sm_count = 4) {
  DeviceInfo device;
  device.name = name;
  device.sm_count = sm_count;
  return device;
}

TEST(TraceDevices, AreFoundByTheirNumber) {
  EXPECT_FALSE(trace_device({}, 0));
  const std::map<std::int32_t, DeviceInfo> two = {{0, board("NVIDIA A")}, {1, board("NVIDIA B")}};
  EXPECT_EQ(trace_device(two, 1)->name, "NVIDIA B");
  EXPECT_FALSE(trace_device(two, 2));
  // All alike: one that is missing is so, too.
  const auto same = trace_device({{0, board("NVIDIA A")}, {1, board("NVIDIA A")}}, 2);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->name, "NVIDIA A");
  EXPECT_EQ(same->id, 2);
  for (const auto part : {0, 1, 2, 3}) {
    DeviceInfo other = board("NVIDIA A");
    if (part == 0) other.compute_major = 9;
    if (part == 1) other.compute_minor = 9;
    if (part == 2) other.sm_count = 9;
    if (part == 3) other.memory_bytes = 9;
    EXPECT_FALSE(trace_device({{0, board("NVIDIA A")}, {1, other}}, 2)) << part;
  }
}

TEST(TraceDevices, OfAmdsTheNumberTellsNothing) {
  const auto mixed = trace_device({{0, board("AMD MI250")}, {1, board("AMD MI300")}}, 1);
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->name, "AMD GPU");
  EXPECT_EQ(mixed->id, 1);
  EXPECT_EQ(mixed->sm_count, 0);
  const auto alike = trace_device({{0, board("AMD MI300")}, {1, board("AMD MI300")}}, 9);
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->name, "AMD MI300");
  EXPECT_EQ(alike->id, 9);
}

TEST(TraceRanks, AreNumbersFrom0) {
  const auto rank_of = [](const std::string& text) {
    TextSource source(text, "a.json");
    JsonStream json(source);
    return read_trace_rank(json);
  };
  EXPECT_EQ(rank_of(R"({"backend":"nccl","rank":3,"world_size":8})").rank, 3);
  EXPECT_EQ(rank_of(R"({"backend":"nccl","rank":3,"world_size":8})").world_size, 8u);
  EXPECT_EQ(rank_of(R"({"rank":"0","world_size":"1"})").rank, 0);
  EXPECT_EQ(rank_of(R"({"rank":"0","world_size":"1"})").world_size, 1u);
  EXPECT_EQ(rank_of(R"({"rank":2147483647})").rank, 2147483647);
  for (const char* none : {"-1", "2147483648", "null", "[1]", R"("x")"})
    EXPECT_EQ(rank_of(R"({"rank":)" + std::string(none) + "}").rank, std::nullopt) << none;
  EXPECT_EQ(rank_of(R"({"world_size":0})").world_size, std::nullopt);
  EXPECT_EQ(rank_of("[1]").rank, std::nullopt);
}

TEST(TraceWithoutKernels, SaysWhy) {
  const auto has = [](bool pytorch, const char* accelerator, std::size_t launches,
                      const char* piece) {
    const std::string said = trace_without_kernels("f", pytorch, accelerator, launches);
    return said.starts_with("f has no kernel") && said.find(piece) != std::string::npos;
  };
  EXPECT_TRUE(has(false, "XPU", 3, "not a trace of"));
  EXPECT_TRUE(has(true, "XPU", 3, "calls XPU,"));
  EXPECT_TRUE(has(true, "", 1, "but 1 call that launches"));
  EXPECT_TRUE(has(true, "", 2, "but 2 calls that launch"));
  EXPECT_TRUE(has(true, "", 0, "ProfilerActivity.CUDA"));
}

TEST(TraceParents, FormNoCircle) {
  TextSource source("", "a.json");
  const JsonStream json(source);
  check_parents(json, {{1, 2}, {2, 3}, {3, 0}, {4, 2}, {5, 99}, {0, 0}});
  EXPECT_THROW(check_parents(json, {{1, 1}}), WrongUse);
  EXPECT_THROW(check_parents(json, {{1, 2}, {2, 1}}), WrongUse);
  EXPECT_THROW(check_parents(json, {{9, 0}, {1, 2}, {2, 3}, {3, 2}}), WrongUse);
}

TEST(OperatorInputs, AreFoundByPlace) {
  TraceEvent event;
  event.dims = {{2, 3}, {}};
  event.types = {"float", "c10::Half", "", "long"};
  event.values = {"", "7", "[1, 2]", "[3]", "True", "[true, 0, False,1]", "x", "[1, x]", "-4"};
  EXPECT_EQ(sizes_of(event, 0), (Sizes{2, 3}));
  EXPECT_TRUE(sizes_of(event, 1).empty());
  EXPECT_TRUE(sizes_of(event, 2).empty());
  EXPECT_EQ(type_of(event, 0).type, "fp32");
  EXPECT_EQ(type_of(event, 1).bytes, 2);
  EXPECT_EQ(type_of(event, 2).type, "fp32");
  EXPECT_EQ(type_of(event, 3).bytes, 0);
  EXPECT_EQ(type_of(event, 4).type, "fp32");
  event.types = {"long", ""};
  EXPECT_EQ(type_of(event, 1).bytes, 0);
  EXPECT_EQ(number_at(event, 1), 7);
  EXPECT_EQ(number_at(event, 8), -4);
  for (const std::size_t none : {0u, 2u, 6u, 9u}) EXPECT_EQ(number_at(event, none), std::nullopt);
  EXPECT_EQ(list_at(event, 2, 2), (Sizes{1, 2}));
  EXPECT_EQ(list_at(event, 2, 3), std::nullopt);
  EXPECT_EQ(list_at(event, 3, 3), (Sizes{3, 3, 3}));
  for (const std::size_t none : {0u, 1u, 7u, 9u}) EXPECT_EQ(list_at(event, none, 2), std::nullopt);
  EXPECT_EQ(truths_at(event, 4), std::vector<bool>{true});
  EXPECT_EQ(truths_at(event, 5), (std::vector<bool>{true, false, false, true}));
  for (const std::size_t none : {0u, 1u, 6u, 7u, 9u})
    EXPECT_EQ(truths_at(event, none), std::nullopt) << none;
  EXPECT_EQ(elements({}), 1);
  EXPECT_EQ(elements({2, 3, 4}), 24);
  EXPECT_TRUE(is_sane({0, std::int64_t{1} << 40}));
  EXPECT_FALSE(is_sane({(std::int64_t{1} << 40) + 1}));
  EXPECT_FALSE(is_sane({1, -1}));
  const std::vector<std::pair<const char*, const char*>> types = {
      {"double", "fp64"},          {"c10::BFloat16", "bf16"},        {"c10::complex<float>", ""},
      {"c10::Float8_e5m2", "fp8"}, {"c10::Float4_e2m1fn_x2", "fp4"}, {"signed char", "int8"}};
  const double bytes[] = {8, 2, 8, 1, 1, 1};
  for (std::size_t i = 0; i < types.size(); ++i) {
    event.types = {types[i].first};
    EXPECT_EQ(type_of(event, 0).type, types[i].second);
    EXPECT_EQ(type_of(event, 0).bytes, bytes[i]);
  }
}

}  // namespace
}  // namespace gable
