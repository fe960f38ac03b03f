// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/imported.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

TEST(ImportedShapes, EachIsThereOnce) {
  ShapeTable shapes;
  LaunchShape shape;
  shape.grid = {2, 3, 4};
  shape.block = {5, 6, 7};
  shape.dynamic_shared = 8;
  LaunchShape other = shape;
  other.block.z = 8;
  EXPECT_EQ(shapes.intern(shape), 0u);
  EXPECT_EQ(shapes.intern(other), 1u);
  EXPECT_EQ(shapes.intern({}), 2u);
  EXPECT_EQ(shapes.intern(other), 1u);
  EXPECT_EQ(shapes.intern(shape), 0u);
  EXPECT_EQ(shapes[1], other);
  EXPECT_EQ(shapes[2].grid, (Dim3{0, 0, 0}));
  EXPECT_EQ(shapes[2].block, (Dim3{0, 0, 0}));
  EXPECT_EQ(shapes[2].cluster, (Dim3{1, 1, 1}));
  EXPECT_EQ(shapes[2].dynamic_shared, 0u);
}

TEST(ImportedResources, TwoAnswersAreNone) {
  ResourceTable resources;
  resources.tell(1, 2, {32, 1024});
  resources.tell(1, 2, {32, 1024});
  EXPECT_EQ(resources.find(1, 2), (KernelResources{32, 1024}));
  EXPECT_EQ(resources.find(2, 1), KernelResources{});
  EXPECT_EQ(resources.find(0, 2), KernelResources{});
  EXPECT_EQ(resources.find(1, 0), KernelResources{});
  resources.tell(1, 2, {33, 1024});
  EXPECT_EQ(resources.find(1, 2), KernelResources{});
  resources.tell(1, 2, {33, 1024});
  EXPECT_EQ(resources.find(1, 2), KernelResources{});
}

TEST(ImportedKernelsOf, ComeByStepStartAndPlace) {
  ImportedKernels kernels;
  EXPECT_TRUE(kernels.empty());
  EXPECT_EQ(kernels.last_step(), 0u);
  const auto add = [&](std::uint32_t step, std::uint64_t start, FunctionId function,
                       std::int32_t device) {
    ImportedKernel kernel;
    kernel.step = step;
    kernel.start_ns = start;
    kernel.function = function;
    kernel.device = device;
    kernel.place = 77;  // it gets its own
    kernels.add(kernel);
  };
  add(2, 10, 5, 1);
  add(1, 30, 3, 0);
  add(1, 20, 5, 1);
  add(1, 20, 0, 1);
  ImportedKernel last;
  last.step = 1;
  last.start_ns = 20;
  last.place = 1;
  last.function = 9;
  kernels.add_at(last);
  EXPECT_EQ(kernels.size(), 5u);
  EXPECT_FALSE(kernels.empty());
  std::vector<std::pair<FunctionId, std::uint64_t>> seen;
  for (const auto* each = kernels.first(); each != nullptr; each = kernels.next())
    seen.emplace_back(each->function, each->place);
  EXPECT_EQ(seen, (std::vector<std::pair<FunctionId, std::uint64_t>>{
                      {9, 1}, {5, 2}, {0, 3}, {3, 1}, {5, 0}}));
  EXPECT_EQ(kernels.functions(), (std::set<FunctionId>{0, 3, 5, 9}));
  EXPECT_EQ(kernels.devices(), (std::set<std::int32_t>{0, 1}));
  EXPECT_EQ(kernels.last_step(), 2u);
}

TEST(ImportedCopies, ComeByStepAndPlace) {
  Imported imported;
  for (const auto& [step, place] : {std::pair{2u, 0u}, std::pair{1u, 5u}, std::pair{1u, 4u}}) {
    ImportedCopy copy;
    copy.step = step;
    copy.place = place;
    imported.copies.add(copy);
  }
  EXPECT_EQ(imported.copies.first()->place, 4u);
  EXPECT_EQ(imported.copies.next()->place, 5u);
  EXPECT_EQ(imported.copies.next()->step, 2u);
}

TEST(ImportedMessages, AreOfCollectivesAlone) {
  Imported imported;
  const FunctionId gemm = imported.functions.intern("gemm");
  const FunctionId reduce = imported.functions.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(name_message(imported, gemm, 4, 7), 0u);
  EXPECT_EQ(name_message(imported, reduce, 4, 7), 1u);
  EXPECT_EQ(name_message(imported, gemm, 4, 7), 0u);
  EXPECT_EQ(name_message(imported, reduce, 5, 8), 2u);
  ASSERT_EQ(imported.messages.size(), 2u);
  EXPECT_EQ(imported.messages[0].kind, Collective::all_reduce);
  EXPECT_FALSE(imported.messages[0].told);
  EXPECT_EQ(imported.messages[0].process, 4u);
  EXPECT_EQ(imported.messages[0].stream, 7u);
  EXPECT_EQ(imported.messages[1].process, 5u);
  EXPECT_EQ(imported.messages[1].group, 0u);
  EXPECT_TRUE(ImportedMessage{}.told);
}

TEST(ImportedLaunches, HaveTheKeyOfTheirShape) {
  Imported imported;
  imported.shapes.intern({});
  ImportedKernel kernel;
  kernel.shape = imported.shapes.intern({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 10});
  kernel.layer = 11;
  kernel.function = 12;
  kernel.device = 13;
  EXPECT_EQ(launch_key(imported, kernel),
            (LaunchKey{11, 12, 13, {1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 10}));
}

DeviceInfo whole_device() {
  DeviceInfo device;
  device.id = 3;
  device.name = "NVIDIA H100";
  device.chip = "GH100";
  device.compute_major = 9;
  device.compute_minor = 1;
  device.sm_count = 132;
  device.sm_clock_max_hz = 4;
  device.memory_clock_max_hz = 5;
  device.memory_bus_bits = 6;
  device.memory_bytes = 7;
  device.l2_bytes = 8;
  return device;
}

void expect_whole(const DeviceInfo& device) {
  EXPECT_EQ(device.name, "NVIDIA H100");
  EXPECT_EQ(device.chip, "GH100");
  EXPECT_EQ(device.compute_major, 9);
  EXPECT_EQ(device.compute_minor, 1);
  EXPECT_EQ(device.sm_count, 132);
  EXPECT_EQ(device.sm_clock_max_hz, 4u);
  EXPECT_EQ(device.memory_clock_max_hz, 5u);
  EXPECT_EQ(device.memory_bus_bits, 6u);
  EXPECT_EQ(device.memory_bytes, 7u);
  EXPECT_EQ(device.l2_bytes, 8u);
}

TEST(ImportedDevices, WhatOneFileDoesNotSayAnotherDoes) {
  DeviceInfo bare;
  bare.id = 3;
  for (const bool bare_first : {false, true}) {
    Imported imported;
    add_device(bare_first ? bare : whole_device(), "a", imported);
    add_device(bare_first ? whole_device() : bare, "b", imported);
    add_device(whole_device(), "b", imported);
    ASSERT_EQ(imported.devices.size(), 1u);
    expect_whole(imported.devices.at(3));
  }
  // Of what both say the first counts.
  Imported imported;
  add_device(whole_device(), "a", imported);
  DeviceInfo more = whole_device();
  more.sm_count = 133;
  more.id = 4;
  add_device(more, "b", imported);
  more.id = 3;
  add_device(more, "b", imported);
  expect_whole(imported.devices.at(3));
  EXPECT_EQ(imported.devices.at(4).sm_count, 133);
}

TEST(ImportedDevices, TwoGpusOfOneNumberAreRefused) {
  const auto refusal = [](const std::function<void(DeviceInfo&)>& change) -> std::string {
    Imported imported;
    add_device(whole_device(), "a", imported);
    DeviceInfo other = whole_device();
    change(other);
    try {
      add_device(other, "dir/b", imported);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  };
  const std::string major = refusal([](DeviceInfo& of) { of.compute_major = 8; });
  EXPECT_TRUE(major.starts_with("dir/b: device 3 is NVIDIA H100 of compute capability 8.1"))
      << major;
  EXPECT_NE(major.find("NVIDIA H100 of compute capability 9.1:"), std::string::npos);
  EXPECT_NE(refusal([](DeviceInfo& of) {
              of.compute_minor = 0;
              of.name = "";
            }).find("a GPU of compute capability 9.0"),
            std::string::npos);
  EXPECT_NE(refusal([](DeviceInfo& of) { of.name = "NVIDIA A100"; }).find("NVIDIA A100 of"),
            std::string::npos);
  // Nothing is said of it.
  EXPECT_EQ(refusal([](DeviceInfo& of) { of.compute_major = of.compute_minor = 0; }), "");
  EXPECT_EQ(refusal([](DeviceInfo& of) { of.name = ""; }), "");
}

}  // namespace
}  // namespace gable
